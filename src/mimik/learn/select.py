"""Choose frames by diversity: hours of walking must not drown the cartwheels.

Poses become points of a feature space (joint positions and end orientations in the pelvis' frame). Greedy k-centre
picks centres that lie far apart, every pose joins its nearest centre, and each cell gives at most so many frames that
the total is right. Rare poses are kept whole, common ones thinned.
"""

import numpy as np
import numpy.typing as npt

from mimik._types import Array, IntArray
from mimik.rig.roles import BODY_PARENTS, BODY_ROLES
from mimik.rotation import quat_apply, quat_inv

Features = npt.NDArray[np.float32]

END_ROLES = ("head", "left_wrist", "right_wrist", "left_foot", "right_foot")
END_REACH = 0.12  # metres: a turned hand weighs as much as a hand moved by about this
_CHUNK = 16384


def pose_features(rotations: Array, offsets: Array) -> Features:
    """Return one feature vector per pose, metres.

    `rotations` (N, 22, 4) is D_world, `offsets` (22, 3) the T-pose offsets of one body used for all poses, so that
    equal poses of a child and a tall adult are equal. Turning the person changes only the direction of gravity.
    """
    inverse = quat_inv(rotations[:, 0])
    place = np.zeros((*rotations.shape[:2], 3))
    for r in range(1, len(BODY_ROLES)):
        parent = BODY_PARENTS[r]
        place[:, r] = place[:, parent] + quat_apply(rotations[:, parent], offsets[r])
    ends = [BODY_ROLES.index(role) for role in END_ROLES]
    axes = [quat_apply(rotations[:, ends], np.eye(3)[k]) * END_REACH for k in range(2)]
    up = np.broadcast_to([0.0, 0.5, 0.0], (len(rotations), 1, 3))
    points = np.concatenate([place[:, 1:], *axes, up], axis=1)  # (N, 21 + 10 + 1, 3)
    return quat_apply(inverse[:, None], points).reshape(len(rotations), -1).astype(np.float32)


def k_centres(features: Features, count: int, rng: np.random.Generator) -> IntArray:
    """Pick `count` rows that lie far apart, each the one farthest from those before it (Gonzalez' 2-approximation)."""
    count = min(count, len(features))
    chosen = np.empty(count, dtype=np.int64)
    chosen[0] = rng.integers(len(features))
    square = np.einsum("nd,nd->n", features, features)
    distance = np.full(len(features), np.inf, dtype=np.float32)
    for k in range(count):
        if k:
            chosen[k] = int(np.argmax(distance))
        centre = features[chosen[k]]
        np.minimum(distance, square - 2.0 * (features @ centre) + centre @ centre, out=distance)
    return chosen


def nearest_centre(features: Features, centres: Features) -> IntArray:
    """Return for each row the index of the nearest centre."""
    half = 0.5 * np.einsum("kd,kd->k", centres, centres)
    parts = [np.argmax(features[i : i + _CHUNK] @ centres.T - half, axis=1) for i in range(0, len(features), _CHUNK)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def select_diverse(
    features: Features, target: int, *, cells: int = 2048, sample: int = 30_000, seed: int = 0
) -> IntArray:
    """Return about `target` sorted frame indices, spread evenly over the kinds of pose; all of them if there are fewer.

    `cells` centres are found among `sample` random frames. Inside a cell frames are taken at even steps of time.
    """
    if len(features) <= target:
        return np.arange(len(features))
    rng = np.random.default_rng(seed)
    subset = features[np.sort(rng.choice(len(features), min(sample, len(features)), replace=False))]
    cell = nearest_centre(features, subset[k_centres(subset, min(cells, target), rng)])
    cap = frames_per_cell(np.bincount(cell), target)
    order = np.argsort(cell, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(cell))[:-1])
    picked = [g if len(g) <= cap else g[np.linspace(0, len(g) - 1, cap).astype(np.int64)] for g in groups]
    return np.sort(np.concatenate(picked))


def frames_per_cell(counts: IntArray, target: int) -> int:
    """Return the largest cap for which the cells give at most `target` frames together (at least 1)."""
    low, high = 1, int(counts.max())
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(counts, middle).sum()) <= target:
            low = middle
        else:
            high = middle - 1
    return low
