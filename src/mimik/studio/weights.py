"""Skin weights: each vertex belongs to the bone it lies on, then ownership spreads along the surface like heat.

Spreading along the surface, not through space, keeps the two thighs, or an arm and the ribs, apart.
"""

import numba as nb
import numpy as np

from mimik._types import Array, IntArray
from mimik.studio.parts import PartTable
from mimik.studio.skinmesh import INFLUENCES


def skin_weights(owner: IntArray, faces: IntArray, spread: float) -> tuple[IntArray, Array]:
    """Return bones (V, 4) and weights (V, 4) from the bone (V,) each vertex lies on.

    `spread` is the width of the blend at a joint, in edges of the mesh.
    """
    bones, column = np.unique(owner, return_inverse=True)
    weights = np.zeros((len(owner), len(bones)), dtype=np.float32)
    weights[np.arange(len(owner)), column] = 1.0
    rounds = int(np.clip(np.ceil(2.0 * spread**2), 2, 60))
    start, neighbours = neighbour_table(faces, len(owner))
    weights = _spread(weights, start, neighbours, rounds)
    return _strongest(weights, bones)


def owning_bones(parts: PartTable, part: IntArray, t: Array) -> IntArray:
    """Return the bone (V,) at place `t` (V,) of `part` (V,)."""
    station = (parts.station_t[part] <= t[:, None]).sum(axis=1) - 1
    return parts.station_bone[part, np.maximum(station, 0)]


def neighbour_table(faces: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Return (V + 1,) starts and the neighbours of each vertex, one after another."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    keys = np.unique(np.concatenate([edges[:, 0] * count + edges[:, 1], edges[:, 1] * count + edges[:, 0]]))
    start = np.searchsorted(keys, np.arange(count + 1) * count)
    return start.astype(np.int64), keys % count


def _strongest(weights: Array, bones: IntArray) -> tuple[IntArray, Array]:
    """Keep the strongest influences of each vertex and let them sum to one."""
    if weights.shape[1] < INFLUENCES:
        missing = INFLUENCES - weights.shape[1]
        weights = np.pad(weights, ((0, 0), (0, missing)))
        bones = np.pad(bones, (0, missing), mode="edge")
    best = np.argsort(-weights, axis=1)[:, :INFLUENCES]
    kept = np.take_along_axis(weights, best, axis=1).astype(np.float64)
    kept[kept < 0.01] = 0.0
    return bones[best].astype(np.int64), kept / kept.sum(axis=1, keepdims=True)


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def _spread(weights: Array, start: IntArray, neighbours: IntArray, rounds: int) -> Array:
    """Replace every vertex's weights by the mean of its own and its neighbours', `rounds` times."""
    other = np.empty_like(weights)
    for _ in range(rounds):
        for v in range(len(weights)):
            share = np.float32(1.0) / np.float32(1 + start[v + 1] - start[v])
            other[v] = weights[v]
            for n in range(start[v], start[v + 1]):
                other[v] += weights[neighbours[n]]
            other[v] *= share
        weights, other = other, weights
    return weights
