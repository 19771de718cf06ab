"""A take in one JSON value: frames as a list, an object with a list of frames, or one trajectory a point."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mimik._types import Array
from mimik.io._json_points import Person, as_numbers, as_points, read_people

_FRAMES_KEYS = ("frames", "data", "motion", "take", "results", "landmarks_per_frame")
_TRAJECTORY_KEYS = ("positions", "keypoints3d", "keypoints", "joints", "points", "landmarks", "pose_world_landmarks")
_NAMES_KEYS = ("names", "joint_names", "keypoint_names", "labels", "joints_names", "landmark_names", "markers")
_RATE_KEYS = ("fps", "frame_rate", "framerate", "frameRate", "FrameRate", "frequency", "rate")
_TIME_KEYS = ("time", "timestamp", "t", "timestamp_ms", "timestampMs", "time_ms")
_FRAME_ID_KEYS = ("frame", "frame_id", "frame_index", "frameIndex", "image_id", "timestamp", "time")


@dataclass(frozen=True, slots=True)
class JsonTake:
    """Frames of people and what stands beside them; `times` in seconds where the frames say them."""

    frames: list[list[Person]]
    names: tuple[str, ...] = ()
    fps: float | None = None
    times: Array | None = None
    units: str = ""
    up: str = ""
    layout: str = ""


def read_take(value: Any) -> JsonTake | None:
    """Return the frames in a JSON value, None where nothing in it is a point."""
    about = value if isinstance(value, dict) else {}
    items, names = _frames(value)
    if items is None:
        return None
    frames = [read_people(item) for item in items]
    if not any(frames):
        return None
    listed = next((about[key] for key in _NAMES_KEYS if isinstance(about.get(key), list)), None)
    if listed and all(isinstance(name, str) for name in listed):
        names = tuple(listed)
    words = {key: about[key] for key in ("units", "up", "layout") if isinstance(about.get(key), str)}
    return JsonTake(frames, names, _rate(about), _times(items), **words)


def _frames(value: Any, depth: int = 8) -> tuple[list[Any] | None, tuple[str, ...]]:
    """Return the list of frames, one value each, and point names when each point has its own trajectory."""
    if isinstance(value, dict):
        for key in _FRAMES_KEYS:
            if isinstance(value.get(key), list) and value[key]:
                return _frames(value[key], depth)
        for key in _TRAJECTORY_KEYS:
            if isinstance(value.get(key), list) and value[key]:
                return _with_confidence(value[key], value.get("confidence")), ()
            if isinstance(value.get(key), dict) and value[key] and depth:
                return _frames(value[key], depth - 1)
        return _trajectories(value)
    if not isinstance(value, list) or not value:
        return None, ()
    if as_points(value) is not None:
        return [value], ()
    if all(isinstance(item, dict) and "name" in item for item in value):
        return [value], ()
    if all(isinstance(item, dict) for item in value) and _one_frame(value):
        return [value], ()
    return value, ()


def _one_frame(items: list[dict[str, Any]]) -> bool:
    """Say whether a list of objects is the people of one frame: each has its own id and none says its frame."""
    ids = [item.get("id", item.get("person_id")) for item in items]
    if any(key in items[0] for key in _FRAME_ID_KEYS) or not all(isinstance(one, int) for one in ids):
        return False
    return len(set(ids)) == len(ids)


def _trajectories(value: dict[str, Any]) -> tuple[list[Any] | None, tuple[str, ...]]:
    """Turn name -> [[x, y, z], ...] of equal lengths into frames; a plain name -> point object is one frame."""
    tracks = {
        str(name): array
        for name, item in value.items()
        if isinstance(item, list) and (array := as_numbers(item)) is not None
        if array.ndim == 2 and array.shape[1] in (3, 4)
    }
    if tracks and len({array.shape for array in tracks.values()}) == 1:
        stacked = np.stack(list(tracks.values()), axis=1)
        return stacked.tolist(), tuple(tracks)
    return [value], ()


def _with_confidence(frames: list[Any], confidence: Any) -> list[Any]:
    """Add a separate (T, K) confidence to frames (T, K, 3)."""
    weights = as_numbers(confidence) if isinstance(confidence, list) else None
    places = as_numbers(frames) if weights is not None else None
    if weights is None or places is None or places.ndim != 3 or weights.shape != places.shape[:2]:
        return [frames] if as_points(frames) is not None else frames
    joined: list[Any] = np.concatenate([places[..., :3], weights[..., None]], axis=2).tolist()
    return joined


def _rate(about: dict[str, Any]) -> float | None:
    for key in _RATE_KEYS:
        value = about.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e5:
            return float(value)
    return None


def _times(items: list[Any]) -> Array | None:
    """Return the frames' times in seconds where every frame says one."""
    if not items or not isinstance(items[0], dict):
        return None
    key = next((key for key in _TIME_KEYS if key in items[0]), None)
    times = as_numbers([item.get(key) if isinstance(item, dict) else None for item in items]) if key else None
    if key is None or times is None or times.ndim != 1:
        return None
    return times * (1e-3 if key.lower().endswith("ms") else 1.0)
