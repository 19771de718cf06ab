"""The person's bone lengths and the noise of the keypoints, from a whole take."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from mimik._types import Array
from mimik.errors import GoalError
from mimik.rig.roles import BODY_PARENTS, BODY_ROLES

_RIGID = tuple(
    BODY_ROLES.index(f"{side}_{part}") for side in ("left", "right") for part in ("knee", "ankle", "elbow", "wrist")
)
_FEWEST_FRAMES = 3
_IQR_OF_NORMAL = 1.349


@dataclass(frozen=True, slots=True, eq=False)
class BoneFit:
    """Bone lengths of one person, fitted over a take.

    lengths     (22,) metres from each role's parent role to it; NaN where either is never seen, and for the pelvis
    left_right  (22,) the same before left and right were pooled
    spread      (22,) robust standard deviation of each length over the frames, metres
    frames      (22,) number of frames each was seen in
    noise       standard deviation of a keypoint's coordinates in metres, from limb bones; NaN with too few frames
    """

    lengths: Array
    left_right: Array
    spread: Array
    frames: Array
    noise: float


def fit_bone_lengths(positions: Array, confidence: Array | None = None, *, symmetric: bool = True) -> BoneFit:
    """Fit bone lengths to role positions (T, 22, 3), NaN where missing, weighted by confidence (T, 22).

    Each length is the weighted median over the frames, less the lengthening that noise causes; left and right are
    pooled by their frames and spread unless `symmetric` is False. Raises GoalError for another shape.
    """
    positions = np.asarray(positions, dtype=np.float64)
    if positions.ndim != 3 or positions.shape[1:] != (len(BODY_ROLES), 3):
        raise GoalError(f"role positions have shape {positions.shape}; they must be (frames, {len(BODY_ROLES)}, 3)")
    weight = np.ones(positions.shape[:2]) if confidence is None else np.asarray(confidence, dtype=np.float64)
    middle = np.full(len(BODY_ROLES), np.nan)
    spread = np.full(len(BODY_ROLES), np.nan)
    frames = np.zeros(len(BODY_ROLES))
    for j, parent in enumerate(BODY_PARENTS):
        if parent < 0:
            continue
        with np.errstate(invalid="ignore"):
            lengths = np.linalg.norm(positions[:, j] - positions[:, parent], axis=1)
        known = np.isfinite(lengths) & (np.minimum(weight[:, j], weight[:, parent]) > 0)
        frames[j] = known.sum()
        if known.any():
            low, middle[j], high = _quantiles(lengths[known], np.minimum(weight[:, j], weight[:, parent])[known])
            spread[j] = (high - low) / _IQR_OF_NORMAL
    noise = _noise(spread, frames)
    own = _without_lengthening(middle, spread)
    return BoneFit(_pooled(own, spread, frames) if symmetric else own, own, spread, frames, noise)


def _quantiles(values: Array, weights: Array) -> tuple[float, float, float]:
    """Return the weighted quartiles."""
    order = np.argsort(values)
    share = np.cumsum(weights[order])
    low, middle, high = np.interp([0.25, 0.5, 0.75], (share - 0.5 * weights[order]) / share[-1], values[order])
    return float(low), float(middle), float(high)


def _without_lengthening(middle: Array, spread: Array) -> Array:
    """Return the length (...,) behind the median and spread of lengths that noise at both ends made longer.

    What was seen is the size of a vector with normal noise in all three directions. Where noise is little, its median
    is longer by one variance over the length; where it is as large as the bone, both follow from the table.
    """
    length, wide = _noisy_lengths()
    ratio = np.nan_to_num(spread) / np.maximum(middle, 1e-9)
    little = 1.0 - (1.0 - length[0]) * (ratio / wide[0]) ** 2
    share = np.where(ratio < wide[0], little, np.interp(ratio, wide, length))
    return np.asarray(middle * share)


@lru_cache(maxsize=1)
def _noisy_lengths() -> tuple[Array, Array]:
    """Return true length and spread, both over the median length seen, from little noise to noise twice the length."""
    true = np.geomspace(20.0, 0.5, 80)  # in standard deviations of a coordinate
    seen = np.linspace(0.0, 25.0, 5001)
    above, below = seen - true[:, None], seen + true[:, None]
    with np.errstate(under="ignore"):
        bells = np.exp(-0.5 * above**2) - np.exp(-0.5 * below**2)
    share = ndtr(above) + ndtr(below) - 1.0 - bells / (np.sqrt(2.0 * np.pi) * true[:, None])  # not longer than `seen`
    low, middle, high = (np.array([np.interp(q, row, seen) for row in share]) for q in (0.25, 0.5, 0.75))
    return true / middle, (high - low) / (_IQR_OF_NORMAL * middle)


def _noise(spread: Array, frames: Array) -> float:
    """Return the noise of one coordinate: a bone has two ends, so its length varies by the square root of two more."""
    limbs = [spread[j] for j in _RIGID if frames[j] >= _FEWEST_FRAMES and np.isfinite(spread[j])]
    return float(np.median(limbs) / np.sqrt(2.0)) if limbs else float("nan")


def _pooled(lengths: Array, spread: Array, frames: Array) -> Array:
    """Average left and right, each weighted by how many frames it was seen in and how little it varied."""
    pooled = lengths.copy()
    certainty = frames / (np.nan_to_num(spread) ** 2 + 1e-6)
    for j, role in enumerate(BODY_ROLES):
        if not role.startswith("left_"):
            continue
        other = BODY_ROLES.index("right_" + role[5:])
        both = np.array([j, other])
        known = both[np.isfinite(lengths[both])]
        if len(known):
            pooled[both] = np.average(lengths[known], weights=certainty[known] + 1e-12)
    return pooled
