"""Knees and elbows as hinges: where their axes lie, measured from motion.

The normal of the plane in which a limb bends is its hinge, whatever the axes of the joints are called. It tells how a
thigh or an upper arm is turned about itself where the rest pose says nothing, or says something else than usual.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mimik._types import Array
from mimik.rotation import quat_apply, quat_inv

SIDES = (("left", 1.0), ("right", -1.0))
LIMBS = (("hip", "knee", "ankle"), ("shoulder", "elbow", "wrist"))

_BENT = np.sin(np.deg2rad(20.0))
_FEWEST = 8


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
    """Return the hinge of each knee and elbow (by role) that bends at least 20 degrees in some frames.

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
