"""Knees and elbows as hinges: where their axes lie, measured from motion.

The normal of the plane in which a limb bends is its hinge, whatever the axes of the joints are called. It tells how a
thigh or an upper arm is turned about itself where the rest pose says nothing, or says something else than usual.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from mimik._types import Array
from mimik.rig.rig import Rig
from mimik.rotation import quat_apply, quat_inv, quat_mul, rotvec_to_quat

SIDES = (("left", 1.0), ("right", -1.0))
LIMBS = (("hip", "knee", "ankle"), ("shoulder", "elbow", "wrist"))

ELBOW_TILT = np.deg2rad(30.0)
"""Angle of an elbow's hinge from the vertical in the T-pose, palms down: the forearm bends forwards and up."""

_STEADY = np.deg2rad(15.0)  # wander of the axis beyond which it is no hinge
_PRONATES = np.deg2rad(1.0)  # more wander in the forearm's frame than in the upper arm's: pronation shows
_LOOSE = np.deg2rad(3.0)  # wander beyond which a knee turns about more than one axis
_BENT = np.sin(np.deg2rad(25.0))
_FEWEST = 10


@dataclass(frozen=True, slots=True, eq=False)
class Hinge:
    """The bending axis of one knee or elbow.

    upper, lower  (3,) unit axis in the frames of the joints above and below (hip and knee, shoulder and elbow):
                  normal of the plane, along upper bone x lower bone
    spread        how much the axis wanders in each of the two frames, radians; small in both for a true hinge
    frames        how many frames it was seen in
    """

    upper: Array
    lower: Array
    spread: tuple[float, float]
    frames: int


def measure_hinges(q_world: Array, p_world: Array, roles: Mapping[str, int]) -> dict[str, Hinge]:
    """Return the hinge of each knee and elbow (by role) that bends at least 25 degrees in some frames.

    q_world (T, J, 4) and p_world (T, J, 3) are a motion in world axes. Only places are used to find the plane, so that
    pronation within an elbow joint does no harm to the upper axis.
    """
    found = {}
    for side, _ in SIDES:
        for limb in LIMBS:
            names = [f"{side}_{part}" for part in limb]
            if all(n in roles for n in names):
                hinge = _measure(q_world, p_world, [roles[n] for n in names])
                if hinge is not None:
                    found[names[1]] = hinge
    return found


def usual_hinge(role: str) -> tuple[Array, Array]:
    """Return the bone's direction and the hinge's (3,) in the canonical T-pose, for `left_knee`, `right_elbow` ..."""
    sign = 1.0 if role.startswith("left_") else -1.0
    if role.endswith("_knee"):
        return np.array([0.0, -1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    return np.array([sign, 0.0, 0.0]), np.array([0.0, -sign * np.cos(ELBOW_TILT), sign * np.sin(ELBOW_TILT)])


def hinge_turns(roles: Mapping[str, int], q_world_tpose: Array, hinges: Mapping[str, Hinge]) -> dict[str, float]:
    """Return role -> radians about its bone from where its hinge lies in this T-pose to where hinges usually lie.

    Two rigs' T-poses may look alike and still differ in how an upper arm is turned about itself. The angle is given for
    the joint above a hinge, and for the one below where that shows no pronation. Unsteady axes and knees that turn
    about all axes are left out: where they bend says nothing of a zero.
    """
    turns, loose = {}, loose_hinges(hinges)
    for lower, hinge in hinges.items():
        if lower in loose:
            continue
        upper = lower.replace("knee", "hip").replace("elbow", "shoulder")
        bone, usual = usual_hinge(lower)
        limits = (_STEADY, _STEADY if lower.endswith("_knee") else hinge.spread[0] + _PRONATES)
        for role, axis, wander, most in zip((upper, lower), (hinge.upper, hinge.lower), hinge.spread, limits):
            if wander < most:
                now = quat_apply(q_world_tpose[roles[role]], axis)
                turns[role] = float(
                    np.arctan2(bone @ np.cross(now, usual), now @ usual - (now @ bone) * (usual @ bone))
                )
    return turns


def loose_hinges(hinges: Mapping[str, Hinge]) -> frozenset[str]:
    """Return the knees that turn about all axes, as bodies fitted to surfaces have them."""
    return frozenset(role for role, hinge in hinges.items() if role.endswith("_knee") and hinge.spread[0] > _LOOSE)


def with_usual_hinges(rig: Rig) -> Rig:
    """Return the rig with its T-pose's limbs turned about their bones so that knees and elbows bend as usual.

    Networks infer twist from the plane in which a limb bends; on a rig whose hinges lie elsewhere their answer would be
    off by a constant angle. Poses of the returned rig fit the rig itself: only what counts as zero twist differs.
    """
    if not rig.hinge_turns:
        return rig
    turn = np.zeros((rig.joint_count, 3))
    owned = set(rig.roles.values())
    by_joint = {rig.roles[role]: (role, angle) for role, angle in rig.hinge_turns.items() if role in rig.roles}
    for joint in range(rig.joint_count):
        if joint in by_joint:
            role, angle = by_joint[joint]
            turn[joint] = angle * usual_hinge(role.replace("hip", "knee").replace("shoulder", "elbow"))[0]
        elif joint not in owned and rig.parents[joint] >= 0:
            turn[joint] = turn[rig.parents[joint]]  # twist bones and the like ride on their bone
    return replace(rig, q_world_tpose=quat_mul(rotvec_to_quat(turn), rig.q_world_tpose), hinge_turns={})


def _measure(q_world: Array, p_world: Array, joints: list[int]) -> Hinge | None:
    upper, lower, end = joints
    normal = np.cross(_unit(p_world[:, lower] - p_world[:, upper]), _unit(p_world[:, end] - p_world[:, lower]))
    sine = np.linalg.norm(normal, axis=-1)
    bent = sine > _BENT
    if bent.sum() < _FEWEST:
        return None
    weight = sine[bent]
    axes = [quat_apply(quat_inv(q_world[bent, j]), _unit(normal[bent])) for j in (upper, lower)]
    mean = [robust_direction(a, weight) for a in axes]
    wander = [float(np.median(np.arccos(np.clip(a @ m, -1.0, 1.0)))) for a, m in zip(axes, mean)]
    return Hinge(mean[0], mean[1], (wander[0], wander[1]), int(bent.sum()))


def robust_direction(directions: Array, weights: Array) -> Array:
    """Return the unit direction (3,) around which directions (N, 3) gather; outliers lose their weight."""
    mean = _unit((directions * weights[:, None]).sum(axis=0))
    for _ in range(8):
        away = 1.0 - np.clip(directions @ mean, -1.0, 1.0)
        mean = _unit((directions * (weights / (0.02 + away))[:, None]).sum(axis=0))
    return mean


def _unit(v: Array) -> Array:
    norm = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.asarray(v / np.where(norm > 1e-9, norm, 1.0))
