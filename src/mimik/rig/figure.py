"""A human figure in T-pose: where its joints and ends lie, as fractions of standing height.

Segment lengths follow the anthropometric tables of Drillis and Contini (Winter, Biomechanics and Motor Control of
Human Movement); joint depths, hands and feet are our own. Every built-in rig is this figure under other names.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mimik._types import Array


@dataclass(frozen=True, slots=True)
class Proportions:
    """Lengths and heights of a figure as fractions of its standing height; depths are towards the front."""

    ankle_height: float = 0.042
    shin: float = 0.243
    thigh: float = 0.245
    hip_width: float = 0.052  # from the middle to one side, as shoulder_width
    hip_drop: float = 0.036  # pelvis joint above the hip joints
    trunk: float = 0.278  # pelvis joint to neck base
    neck: float = 0.060
    collar_width: float = 0.014
    shoulder_width: float = 0.101
    shoulder_drop: float = 0.026  # shoulder joint below neck base
    upper_arm: float = 0.168
    forearm: float = 0.146
    hand: float = 0.106
    foot: float = 0.152  # heel to toe tip


# along the trunk from pelvis to neck base: fraction of its length, depth as fraction of height
_TRUNK_POINTS = {"spine1": (0.20, -0.006), "spine2": (0.42, -0.012), "spine3": (0.64, -0.014), "neck": (1.0, -0.012)}
# finger: knuckle from the wrist (along, forwards) and three bones, in hand lengths
_FINGERS = {
    "index": (0.49, 0.135, (0.225, 0.135, 0.115)),
    "middle": (0.50, 0.0, (0.240, 0.150, 0.110)),
    "ring": (0.475, -0.085, (0.220, 0.145, 0.110)),
    "pinky": (0.435, -0.180, (0.175, 0.105, 0.100)),
}
_THUMB_BASE = (0.15, -0.05, 0.16)
_THUMB_BONES = (0.25, 0.17, 0.14)
_THUMB_TURN = np.deg2rad(40.0)


def figure_points(height: float = 1.75, proportions: Proportions | None = None) -> Mapping[str, Array]:
    """Return point name -> world position (3,) in metres: T-pose, palms down, facing +Z, soles at y = 0.

    Names are roles, and `head_top`, `left_hand_tip`, `left_toe_tip`, `left_heel`, `left_thumb_tip`, `left_index_tip`
    ..., `left_middle0` (metacarpal bases of the four fingers), `left_inner_collar` (where SMPL has its collar).
    """
    p = proportions or Proportions()
    points = {f"left_{name}": at for name, at in {**_leg(p), **_arm(p)}.items()}
    points.update({"right_" + name[5:]: at * _at(-1.0, 1.0, 1.0) for name, at in points.items()})
    points.update(_middle(p))
    top = points["head_top"][1]
    return {name: np.asarray(at, dtype=np.float64) * (height / top) for name, at in points.items()}


def _at(x: float, y: float, z: float) -> Array:
    return np.array([x, y, z])


def _hip_height(p: Proportions) -> float:
    return p.ankle_height + p.shin + p.thigh


def _middle(p: Proportions) -> dict[str, Array]:
    pelvis = _hip_height(p) + p.hip_drop
    points = {"pelvis": _at(0.0, pelvis, 0.0)}
    for name, (along, depth) in _TRUNK_POINTS.items():
        points[name] = _at(0.0, pelvis + along * p.trunk, depth)
    head = points["neck"] + _at(0.0, p.neck, 0.012)
    skull = 0.096  # skull base to crown hardly varies with stature among adults of one proportion
    points.update(
        head=head,
        jaw=head + _at(0.0, 0.004, 0.012),
        head_top=head + _at(0.0, skull, 0.004),
        left_eye=head + _at(0.018, 0.034, 0.048),
        right_eye=head + _at(-0.018, 0.034, 0.048),
    )
    return points


def _leg(p: Proportions) -> dict[str, Array]:
    hip = np.array([p.hip_width, _hip_height(p), 0.002])
    knee = hip - _at(0.0, p.thigh, 0.0)
    ankle = knee - _at(0.0, p.shin, 0.0)
    ball = ankle + _at(0.0, 0.013 - p.ankle_height, 0.46 * p.foot)
    return {
        "hip": hip,
        "knee": knee,
        "ankle": ankle,
        "foot": ball,
        "toe_tip": ball + _at(0.0, -0.013, 0.28 * p.foot),
        "heel": np.array([ankle[0], 0.0, ankle[2] - 0.26 * p.foot]),
    }


def _arm(p: Proportions) -> dict[str, Array]:
    neck = _hip_height(p) + p.hip_drop + p.trunk
    collar = np.array([p.collar_width, neck - p.shoulder_drop, 0.012])
    shoulder = np.array([p.shoulder_width, neck - p.shoulder_drop, -0.010])
    wrist = shoulder + _at(p.upper_arm + p.forearm, 0.0, 0.0)
    inner = _at(0.4 * p.shoulder_width, shoulder[1] - np.tan(np.deg2rad(8.0)) * 0.6 * p.shoulder_width, -0.010)
    points = {
        "collar": collar,
        "inner_collar": inner,
        "shoulder": shoulder,
        "elbow": shoulder + _at(p.upper_arm, 0.0, 0.0),
        "wrist": wrist,
        "hand_tip": wrist + _at(p.hand, 0.0, 0.0),
    }
    for finger, (along, forwards, bones) in _FINGERS.items():
        knuckle = _at(along, 0.0, forwards)
        points[f"{finger}0"] = wrist + p.hand * (knuckle * _at(0.25, 1.0, 0.7))
        points.update(_finger(finger, wrist + p.hand * knuckle, p.hand * np.array(bones), np.array([1.0, 0.0, 0.0])))
    out = np.array([np.cos(_THUMB_TURN), -0.15, np.sin(_THUMB_TURN)])
    base = wrist + p.hand * np.array(_THUMB_BASE)
    points.update(_finger("thumb", base, p.hand * np.array(_THUMB_BONES), out / np.linalg.norm(out)))
    return points


def _finger(finger: str, base: Array, bones: Array, direction: Array) -> dict[str, Array]:
    reach = np.concatenate([[0.0], np.cumsum(bones)])
    names = (f"{finger}1", f"{finger}2", f"{finger}3", f"{finger}_tip")
    return {name: base + r * direction for name, r in zip(names, reach)}
