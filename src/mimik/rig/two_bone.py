"""Analytic inverse kinematics of a two-bone limb: thigh and shin, upper arm and forearm. Any batch shape, metres."""

import numpy as np

from mimik._types import Array
from mimik.rotation import matrix_to_quat, quat_apply, quat_between, quat_mul, rotvec_to_quat

_TINY = 1e-9


def solve_two_bone(
    start: Array, target: Array, pole: Array, upper: Array, lower: Array, hinge: Array, *, reach: float = 0.9995
) -> tuple[Array, Array]:
    """Return T-pose-relative world rotations (..., 4) of both bones that bring the limb's end to `target`.

    start, target, pole   (..., 3) world; the middle joint bends towards the direction `pole`
    upper, lower, hinge   (3,) bones and flexion axis in the T-pose; a turn about +hinge flexes
    A target out of reach is approached along its direction, up to `reach` of the limb's length. A pole along the limb
    gives some bend plane.
    """
    a, b = float(np.linalg.norm(upper)), float(np.linalg.norm(lower))
    along = target - start
    distance = np.linalg.norm(along, axis=-1, keepdims=True)
    direction = _unit(along)
    distance = np.clip(distance, abs(a - b) + 1e-6 * (a + b), reach * (a + b))
    side = _across(pole, direction)
    cosine = np.clip((a * a + distance**2 - b * b) / (2 * a * distance), -1.0, 1.0)
    upper_dir = cosine * direction + np.sqrt(1.0 - cosine**2) * side
    lower_dir = (distance * direction - a * upper_dir) / b
    normal = _unit(np.cross(side, direction))
    return _aim(upper, hinge, upper_dir, normal), _aim(lower, hinge, _unit(lower_dir), normal)


def adjust_two_bone(start: Array, middle: Array, end: Array, target: Array, hinge: Array) -> tuple[Array, Array]:
    """Return world rotations (..., 4) to apply to both bones so that the limb's end moves from `end` to `target`.

    The limb keeps its bend plane and its twist: the middle joint opens or closes about its own normal, then the whole
    limb swings the shortest way. `hinge` (..., 3) is the flexion axis now, taken where the limb is straight.
    The identity, exactly, where the target is the end. A target out of reach is approached along its direction.
    """
    upper, lower = middle - start, end - middle
    a, b = np.linalg.norm(upper, axis=-1), np.linalg.norm(lower, axis=-1)
    span = np.linalg.norm(end - start, axis=-1)
    wanted = np.linalg.norm(target - start, axis=-1)
    wanted = np.where(wanted == span, span, np.clip(wanted, np.abs(a - b) + 1e-6, (a + b) * (1 - 1e-6)))
    normal = np.cross(upper, lower)
    bent = np.linalg.norm(normal, axis=-1) > 1e-4 * a * b
    normal = _unit(np.where(bent[..., None], normal, hinge))
    open_start = _corner(a, wanted, b) - _corner(a, span, b)
    open_middle = _corner(a, b, wanted) - _corner(a, b, span)
    turn_upper = rotvec_to_quat(-normal * open_start[..., None])
    turn_lower = rotvec_to_quat(-normal * (open_start + open_middle)[..., None])
    reached = quat_apply(turn_upper, upper) + quat_apply(turn_lower, lower)
    swing = quat_between(reached, target - start)
    moved = (np.abs(target - end).max(axis=-1) > 0)[..., None]
    identity = np.array([0.0, 0.0, 0.0, 1.0])
    return (
        np.where(moved, quat_mul(swing, turn_upper), identity),
        np.where(moved, quat_mul(swing, turn_lower), identity),
    )


def _corner(a: Array, b: Array, opposite: Array) -> Array:
    """Angle between sides a and b of a triangle whose third side is `opposite`."""
    return np.arccos(np.clip((a * a + b * b - opposite**2) / np.maximum(2 * a * b, _TINY), -1.0, 1.0))


def _unit(v: Array) -> Array:
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    fallback = np.broadcast_to(np.array([0.0, 0.0, 1.0]), v.shape)
    return np.where(length > _TINY, v / np.maximum(length, _TINY), fallback)


def _across(v: Array, direction: Array) -> Array:
    """Return the unit part of v square to a unit direction; some normal where v lies along it."""
    least = np.eye(3)[np.abs(direction).argmin(axis=-1)]
    square = v - (v * direction).sum(-1, keepdims=True) * direction
    spare = least - (least * direction).sum(-1, keepdims=True) * direction
    length = np.linalg.norm(square, axis=-1, keepdims=True)
    return _unit(np.where(length > 1e-9 * np.linalg.norm(v, axis=-1, keepdims=True) + _TINY, square, spare))


def _aim(bone: Array, hinge: Array, direction: Array, normal: Array) -> Array:
    """Rotation (..., 4) that turns `bone` onto `direction` and the hinge, made square to it, onto `normal`."""
    rest = _frame(_unit(bone), hinge)
    now = _frame(direction, normal)
    return matrix_to_quat(now @ np.swapaxes(rest, -1, -2))


def _frame(along: Array, hinge: Array) -> Array:
    across = _across(hinge, along)
    return np.stack([along, across, np.cross(along, across)], axis=-1)
