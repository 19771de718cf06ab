"""Random bodies to pose training motion on: children to tall adults, other spines, shoulders and feet."""

import numpy as np

from mimik._types import Array
from mimik.rig.builtin import builtin_rig
from mimik.rig.roles import BODY_MIRROR
from mimik.solve.dense.body import LANDMARK_OFFSET, STATURE_OFFSETS, RoleBody, role_body

ARMS, LEGS, SPINE = (16, 17, 18, 19, 20, 21), (1, 2, 4, 5, 7, 8, 10, 11), (3, 6, 9, 12, 13, 14, 15)
SHARE_PLAIN = 0.25
"""Share of bodies that keep a built-in rig's directions and change in size only."""


def random_bodies(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Return T-pose offsets (N, 22, 3) and landmark places (N, 22, 3) of left-right symmetric bodies, metres."""
    bases = np.stack([role_body(builtin_rig(name)).offsets for name in ("humanoid", "cmu")])
    offsets = bases[rng.integers(0, len(bases), count)]
    plain = rng.random(count) < SHARE_PLAIN
    bent = _bend(rng, _stretch(rng, offsets))
    offsets = np.where(plain[:, None, None], offsets, bent) * np.exp(rng.normal(0.0, 0.16, (count, 1, 1)) - 0.06)
    offsets = np.where(np.arange(count)[:, None, None] % 8 == 0, bases[0] * 1.0, offsets)
    return offsets, _landmarks(rng, offsets)


def bodies_around(rng: np.random.Generator, body: RoleBody, count: int) -> tuple[Array, Array]:
    """Return offsets and landmark places like `random_bodies`, near one body: its directions, other sizes."""
    bone = rng.normal(0.0, 0.04, (count, 22, 1))
    bone[:, np.arange(22) > BODY_MIRROR] = bone[:, BODY_MIRROR][:, np.arange(22) > BODY_MIRROR]
    offsets = body.offsets * np.exp(bone + rng.normal(0.0, 0.08, (count, 1, 1)))
    offsets[::4] = body.offsets
    return offsets, _landmarks(rng, offsets)


def _stretch(rng: np.random.Generator, offsets: Array) -> Array:
    """Change lengths: by group, by bone, and the widths of hips, shoulders and collars by axis."""
    count = len(offsets)
    scale = np.ones((count, 22, 1))
    for group in (ARMS, LEGS, SPINE):
        scale[:, group] *= np.exp(rng.normal(0.0, 0.07, (count, 1, 1)))
    scale *= np.exp(rng.normal(0.0, 0.06, (count, 22, 1)))
    for joint in (10, 12, 13, 15, 3):  # feet, neck, collars, head, first spine bone vary most between rigs
        scale[:, joint] *= np.exp(rng.normal(0.0, 0.2, (count, 1)))
    stretched = offsets * scale
    axes = np.exp(rng.normal(0.0, 0.25, (count, 22, 3)))
    for joint in (1, 13, 16):
        stretched[:, joint] *= axes[:, joint]
    shift = np.zeros_like(offsets)
    shift[:, (1, 3, 13, 16)] = rng.normal(0.0, 0.02, (count, 4, 3)) * (1.0, 1.0, 1.2)
    shift[:, 3, 0] = 0.0
    return _symmetric(stretched + shift)


def _bend(rng: np.random.Generator, offsets: Array) -> Array:
    """Turn bones a little: sloping arms, other feet, a curved spine."""
    count = len(offsets)
    tilt_deg = np.full(22, 4.0)
    tilt_deg[[10, 13]], tilt_deg[[12, 15]] = 9.0, 7.0
    turn = rng.normal(0.0, 1.0, (count, 22, 3)) * np.deg2rad(tilt_deg)[:, None]
    slope = rng.normal(-0.05, 0.07, (count, 1))
    turn[:, (16, 18, 20), 2] += slope  # an arm hangs a few degrees below the horizontal as a whole
    turn[:, (0, 3, 6, 9, 12, 15), 1:] = 0.0  # the middle bends forward and back only
    return _symmetric(offsets + np.cross(turn, offsets))


def _symmetric(offsets: Array) -> Array:
    """Make the right side the mirror of the left."""
    mirrored = offsets[:, BODY_MIRROR] * (-1.0, 1.0, 1.0)
    left = np.arange(22) < BODY_MIRROR
    right = np.arange(22) > BODY_MIRROR
    middle = ~left & ~right
    out = np.where(right[None, :, None], mirrored, offsets)
    out[:, middle, 0] = 0.0
    return out


def _landmarks(rng: np.random.Generator, offsets: Array) -> Array:
    """Place landmarks: scaled with the body, every head, hand and foot a little different, sides alike."""
    count = len(offsets)
    scale = np.linalg.norm(offsets[:, 1:], axis=2).sum(axis=1)[:, None, None] / STATURE_OFFSETS
    places = LANDMARK_OFFSET * np.exp(rng.normal(0.0, 0.07, (count, 1, 1)))
    places = places * np.exp(rng.normal(0.0, 0.07, (count, 22, 1))) + rng.normal(0.0, 0.004, (count, 22, 3))
    left = [2, 4, *range(6, 22, 2)]
    right = [k + 1 for k in left]
    places[:, right] = places[:, left] * (-1.0, 1.0, 1.0)
    places[:, :2, 0] = 0.0
    return places * scale
