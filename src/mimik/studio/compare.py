"""Two figures against each other: how far their joints are apart and turned, joint by joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mimik._types import Array, IntArray
from mimik.errors import OptionError
from mimik.rig.rig import Rig
from mimik.rotation import geodesic, quat_inv, quat_mul
from mimik.studio.actor import Actor


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """The joints two rigs have in common.

    names  what they are called (roles where both know them, joint names otherwise); a, b their indices in either rig
    """

    names: tuple[str, ...]
    a: IntArray
    b: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """Distance (N,) in metres between paired joints and angle (N,) in radians between their turns from the T-pose."""

    names: tuple[str, ...]
    distance: Array
    angle: Array


def pair_joints(a: Rig, b: Rig) -> Pairing:
    """Pair the joints of two rigs, by role and, for joints without one, by name."""
    names = [role for role in a.roles if role in b.roles]
    left, right = [a.roles[n] for n in names], [b.roles[n] for n in names]
    free_a, free_b = set(range(a.joint_count)) - set(left), set(range(b.joint_count)) - set(right)
    other = {b.names[j]: j for j in free_b}
    for j in sorted(free_a):
        if a.names[j] in other:
            names.append(a.names[j])
            left.append(j)
            right.append(other[a.names[j]])
    return Pairing(tuple(names), np.array(left, dtype=np.int64), np.array(right, dtype=np.int64))


def difference(a: Actor, b: Actor, pairing: Pairing, seconds: float) -> Difference:
    """Compare two figures at a moment."""
    if a.rig is None or b.rig is None:
        raise OptionError("only figures are compared, not bare keypoints")
    (q_a, p_a), (q_b, p_b) = a.joints_at(seconds), b.joints_at(seconds)
    turn_a = quat_mul(q_a[pairing.a], quat_inv(a.rig.q_world_tpose[pairing.a]))
    turn_b = quat_mul(q_b[pairing.b], quat_inv(b.rig.q_world_tpose[pairing.b]))
    distance = np.linalg.norm(p_a[pairing.a] - p_b[pairing.b], axis=1)
    return Difference(pairing.names, distance, geodesic(turn_a, turn_b))


def error_colors(values: Array, worst: float) -> Array:
    """Return sRGB bytes (N, 3) from green (0) over yellow to red (`worst` and more)."""
    t = np.clip(values / max(worst, 1e-9), 0.0, 1.0)
    red, green = np.clip(2.0 * t, 0.0, 1.0), np.clip(2.0 - 2.0 * t, 0.0, 1.0)
    return np.stack([60 + 180 * red, 60 + 140 * green, np.full_like(t, 70.0)], axis=-1).astype(np.uint8)
