"""How several bones leave one joint: hips and spine the pelvis, neck and collars the chest, as a take shows it.

The length of a bone is not enough there: what stays rigid is the fork as a whole, and where its prongs point differs
from body to body and from one idea of a joint to another.
"""

import numpy as np

from mimik._types import Array
from mimik.goals.layouts import RolePoints
from mimik.rig.rig import Rig
from mimik.rig.role_space import tpose_positions
from mimik.rig.roles import BODY_ROLES
from mimik.rotation import procrustes

FORKS = {"pelvis": ("left_hip", "right_hip", "spine1"), "spine3": ("left_collar", "right_collar", "neck")}
"""Joint -> the joints its bones lead to: left, right, middle."""

_FEWEST_FRAMES, _MOST_FRAMES = 10, 1000
_SHORT = 0.02  # metres; a shorter prong has no direction to speak of
_SAME = np.deg2rad(3.0)  # prongs that point the same way to within this, and what noise leaves open, are the rig's own
_BENT_BY_NOISE = 0.2  # radians by which a mean fork may be bent, per noise over its shortest prong
_ROUNDS = 6


def fork_bones(
    rig: Rig, points: RolePoints, bone_length: Array, noise: float, *, symmetric: bool = True
) -> dict[str, Array]:
    """Return role -> bone (3,) from its joint's parent in the T-pose, world axes, for forks that are not the rig's own.

    bone_length (22,) and noise are metres; symmetric makes both sides alike. Forks the rig lacks, or whose joints the
    layout only comes near to, are left out.
    """
    places = tpose_positions(rig)
    bones: dict[str, Array] = {}
    for joint, ends in FORKS.items():
        rows = [BODY_ROLES.index(role) for role in (joint, *ends)]
        if (points.trust[rows] < 1.0).any() or not _has_fork(rig, joint, ends):
            continue
        seen = points.positions[:, rows[1:]] - points.positions[:, rows[:1]]  # (T, 3, 3)
        seen = seen[np.isfinite(seen).all(axis=(1, 2))]
        seen = seen[:: max(1, len(seen) // _MOST_FRAMES)]
        own = places[[rig.roles[role] for role in ends]] - places[rig.roles[joint]]
        lengths = bone_length[rows[1:]]
        if len(seen) < _FEWEST_FRAMES or min(lengths.min(), np.linalg.norm(own, axis=1).min()) < _SHORT:
            continue
        ways = _mean_fork(seen, _unit(own) * lengths[:, None], symmetric=symmetric)
        apart = float(np.arccos(np.clip((ways * _unit(own)).sum(axis=1), -1.0, 1.0)).max())
        doubt = noise / float(lengths.min()) * (3.0 / np.sqrt(len(seen)) + _BENT_BY_NOISE)
        if apart > _SAME + doubt:
            bones |= dict(zip(ends, ways * lengths[:, None]))
    return bones


def _has_fork(rig: Rig, joint: str, ends: tuple[str, ...]) -> bool:
    return joint in rig.roles and all(r in rig.roles and rig.parents[rig.roles[r]] == rig.roles[joint] for r in ends)


def _mean_fork(seen: Array, own: Array, *, symmetric: bool) -> Array:
    """Return the directions (3, 3) in which the prongs seen (T, 3, 3) point when they stand as the rig's own do."""
    shape = own
    for _ in range(_ROUNDS):
        turned = np.einsum("tij,tnj->tni", procrustes(seen, np.broadcast_to(shape, seen.shape)), seen)
        shape = np.median(turned, axis=0)
    shape = shape @ procrustes(shape, own).T
    if not symmetric:
        return _unit(shape)
    left, right, middle = shape
    flip = np.array([-1.0, 1.0, 1.0])
    left, middle = 0.5 * (left + flip * right), middle * [0.0, 1.0, 1.0]
    return _unit(np.array([left, flip * left, middle]))


def _unit(v: Array) -> Array:
    return np.asarray(v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-9))
