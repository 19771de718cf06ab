"""Small skeletons and rigs the tests share."""

import numpy as np

from mimik.rig import Skeleton
from mimik.rotation import quat_normalize

SEED = 20240


def chain(length: int = 5) -> Skeleton:
    """Return a straight chain of joints 0.1 m apart along Y."""
    offsets = np.zeros((length, 3))
    offsets[1:, 1] = 0.1
    tips = np.full((length, 3), np.nan)
    tips[-1] = [0.0, 0.1, 0.0]
    return Skeleton.build([f"j{i}" for i in range(length)], np.arange(length) - 1, offsets, tips=tips)


def random_tree(rng: np.random.Generator, count: int = 20) -> Skeleton:
    """Return a random tree with random bones and random rest rotations."""
    parents = [-1, *(int(rng.integers(0, j)) for j in range(1, count))]
    offsets = rng.normal(size=(count, 3)) * 0.2
    return Skeleton.build([f"joint {j}" for j in range(count)], parents, offsets, rest=random_quats(rng, count))


def random_quats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Return uniformly random unit quaternions of shape (*shape, 4)."""
    return quat_normalize(rng.normal(size=(*shape, 4)))
