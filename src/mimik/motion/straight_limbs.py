"""Straight limbs that keep their twist: where an arm or a leg hardly bends, noise says how it bends, not the body.

The turn of a whole limb about itself is followed through time: frames in which it bends clearly say what it is, frames
in which the bend drowns in the noise take it from those around them. No joint leaves its place by more than the bend
itself, which is of the size of the noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.linalg import solveh_banded

from mimik._types import Array, BoolArray
from mimik.motion.clip import Clip
from mimik.motion.foot_lock import turn_between
from mimik.rig.rig import Rig
from mimik.rotation import quat_apply, quat_between, quat_inv, quat_mul, rotvec_to_quat, twist_angle

LIMBS = tuple(
    (trunk, *(f"{side}_{part}" for part in parts))
    for trunk, parts in (("spine3", ("shoulder", "elbow", "wrist")), ("pelvis", ("hip", "knee", "ankle")))
    for side in ("left", "right")
)
"""Trunk, start, middle and end role of each limb."""

_CALM = 0.03
"""Seconds over which the twist of a clearly bent limb is followed; longer, the less it bends."""
_CLEAR = 0.3
"""Radians by which the bend's direction may be wrong before it counts for less than half."""
_LEAST = 1e-4


def steady_straight_limbs(clip: Clip, noise: float, *, known_ends: Mapping[str, BoolArray] | None = None) -> Clip:
    """Return the clip with the twist of nearly straight arms and legs taken from frames where they bend.

    noise       standard deviation of the joints in metres; 0 leaves the clip alone
    known_ends  end role -> (T,) whether its own turn was seen (hand or foot landmarks); elsewhere it follows the limb
    Limbs of which the rig lacks a joint are left alone.
    """
    if noise <= 0.0 or clip.frame_count < 3:
        return clip
    roles = clip.rig.roles
    q_world, q_local = np.array(clip.world().rotations), np.array(clip.rotations)
    places = clip.positions()
    for trunk, start, middle, end in LIMBS:
        if any(role not in roles for role in (trunk, start, middle, end)):
            continue
        a, b, c = (roles[role] for role in (start, middle, end))
        turn, weight = limb_twist(clip.rig, q_world, places, (roles[trunk], a, b, c), noise)
        change = (1.0 - weight) * _wrapped(followed(turn, weight, clip.fps) - turn)
        upper, lower = (_unit(places[:, j] - places[:, i]) for i, j in ((a, b), (b, c)))
        turn_between(clip, q_world, q_local, a, b, rotvec_to_quat(change[:, None] * upper))
        about_lower = rotvec_to_quat(change[:, None] * lower)
        turn_between(clip, q_world, q_local, b, c, about_lower)
        own = np.zeros(clip.frame_count, dtype=bool) if known_ends is None or end not in known_ends else known_ends[end]
        q_world[:, c] = np.where(own[:, None], q_world[:, c], quat_mul(about_lower, q_world[:, c]))
        q_local[:, c] = quat_mul(quat_inv(q_world[:, clip.rig.parents[c]]), q_world[:, c])
    return replace(clip, rotations=q_local)


def limb_twist(
    rig: Rig, q_world: Array, places: Array, joints: tuple[int, int, int, int], noise: float
) -> tuple[Array, Array]:
    """Return the limb's turn about itself (T,) against the trunk, radians, and how sure it is (T,), 0 to 1."""
    trunk, a, b, c = joints
    bone = _unit(places[:, b] - places[:, a])
    turned = [quat_mul(q_world[:, j], quat_inv(rig.q_world_tpose[j])) for j in (trunk, a)]
    rest = rig.tpose().to_world().positions
    along = _unit(rest[b] - rest[a])
    now = quat_apply(quat_inv(turned[0]), bone)
    carried = quat_mul(turned[0], quat_between(np.broadcast_to(along, now.shape), now))
    turn = twist_angle(quat_mul(quat_inv(carried), turned[1]), along)
    line = places[:, c] - places[:, a]
    bend = np.linalg.norm(np.cross(places[:, b] - places[:, a], _unit(line)), axis=1)
    doubt = 1.2 * noise / np.maximum(bend, 1e-6) / _CLEAR
    return turn, 1.0 / (1.0 + doubt**2)


def followed(turn: Array, weight: Array, fps: float) -> Array:
    """Return the angles (T,) nearest to `turn` by weight (T,) that change little from frame to frame."""
    stiff = (_CALM * fps) ** 2
    weight = np.maximum(weight, _LEAST)
    bands = np.zeros((2, len(turn)))
    bands[0, 1:] = -stiff
    bands[1] = weight + 2.0 * stiff
    bands[1, [0, -1]] -= stiff
    parts = np.stack([weight * np.cos(turn), weight * np.sin(turn)], axis=1)
    x, y = solveh_banded(bands, parts).T
    return np.asarray(np.arctan2(y, x))


def _wrapped(angle: Array) -> Array:
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


def _unit(vectors: Array) -> Array:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
