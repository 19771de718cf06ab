"""Other frame rates and other lengths: rotations by slerp, positions linearly; original frames stay exact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mimik._types import Array, IntArray
from mimik.errors import OptionError
from mimik.goals.keypoints import Keypoints
from mimik.motion.clip import Clip
from mimik.rotation import quat_slerp


def resample(clip: Clip, fps: float) -> Clip:
    """Return the clip at another frame rate, over the same time; frames that meet original ones are exactly those."""
    index, share = _frame_places(clip.frame_count, clip.fps, fps)
    if fps == clip.fps:
        return clip
    after = np.minimum(index + 1, clip.frame_count - 1)
    rotations = clip.rotations[index].copy()
    between = share > 0
    first, second = clip.rotations[index[between]], clip.rotations[after[between]]
    rotations[between] = quat_slerp(first, second, share[between, None])
    moves = None if clip.translations is None else _blend(clip.translations, index, after, share)
    root = _blend(clip.root, index, after, share)
    return replace(clip, rotations=rotations, root=root, translations=moves, fps=fps, solution=None)


def resample_keypoints(take: Keypoints, fps: float) -> Keypoints:
    """Return the take at another frame rate; a point is missing where a neighbour it lies between is."""
    index, share = _frame_places(take.frame_count, take.fps, fps)
    if fps == take.fps:
        return take
    after = np.minimum(index + 1, take.frame_count - 1)
    confidence = None if take.confidence is None else _blend(take.confidence, index, after, share)
    return replace(take, positions=_blend(take.positions, index, after, share), confidence=confidence, fps=fps)


def trim(clip: Clip, start: float = 0.0, end: float | None = None) -> Clip:
    """Return the part of a clip from `start` to `end` seconds (its end unless given); raises OptionError when empty."""
    first = round(max(start, 0.0) * clip.fps)
    last = clip.frame_count if end is None else min(clip.frame_count, round(end * clip.fps))
    if last <= first:
        raise OptionError(f"nothing lies between {start} s and {end} s; the clip lasts {clip.duration:.3f} s")
    return clip[first:last]


def _frame_places(count: int, fps: float, new_fps: float) -> tuple[IntArray, Array]:
    """Return for each new frame the original frame before it and how far it lies towards the next."""
    if not (np.isfinite(new_fps) and 0 < new_fps <= 10_000):
        raise OptionError(f"fps is {new_fps}; it must be above 0 and at most 10000")
    new_count = int(np.floor((count - 1) * new_fps / fps + 1e-6)) + 1 if count else 0
    place = np.arange(new_count) * (fps / new_fps)
    near = np.round(place)
    place = np.where(np.abs(place - near) < 1e-6, near, place)
    index = np.minimum(np.floor(place).astype(np.int64), max(count - 1, 0))
    return index, place - index


def _blend(values: Array, index: IntArray, after: IntArray, share: Array) -> Array:
    weight = share.reshape(-1, *[1] * (values.ndim - 1))
    return np.where(weight == 0, values[index], (1.0 - weight) * values[index] + weight * values[after])
