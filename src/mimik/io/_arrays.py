"""Points in NumPy files: which array holds them, and their shape put right."""

import os
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from mimik._types import Array
from mimik.errors import FileError
from mimik.io._points import check_size
from mimik.io._rows import rate_of_times
from mimik.io.files import open_npy, open_npz

_POINT_KEYS = (
    *(
        "pose_world_landmarks",
        "world_landmarks",
        "positions_3d",
        "keypoints_3d",
        "keypoints3d",
        "joints_3d",
        "joints3d",
    ),
    *("positions", "joints", "keypoints", "landmarks", "poses_3d", "pose3d", "data", "arr_0"),
)
_RATE_KEYS = ("fps", "frame_rate", "framerate", "mocap_framerate", "mocap_frame_rate")
_NAMES_KEYS = ("names", "joint_names", "keypoint_names", "labels")


def holds_points(path: Path, counts: Collection[int]) -> bool:
    """Say whether a .npy or .npz has an array of points of one of these counts; only headers are read."""
    try:
        if path.suffix.lower() == ".npy":
            with path.open("rb") as stream:
                return _as_points_shape(_header_shape(stream), counts) is not None
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist()[:100]:
                with archive.open(name) as stream:
                    if _as_points_shape(_header_shape(stream), counts) is not None:
                        return True
    except Exception:  # a broken file is the reader's to explain; here it only holds no points
        return False
    return False


def load_points(
    path: str | os.PathLike[str], counts: Collection[int], what: str
) -> tuple[Array, Array | None, float | None, tuple[str, ...]]:
    """Return positions (T, K, 3), confidence (T, K) or None, frames a second or None, and names.

    Takes (T, K, 3), (T, K, 4) with a confidence, (T, 3 K), (K, 3), (K, 3, T) and (1, T, K, 3).
    Raises FileError that lists the arrays found when none has K in `counts`.
    """
    arrays = {"array": open_npy(path)} if os.fspath(path).lower().endswith(".npy") else open_npz(path)
    order = sorted(arrays, key=lambda k: _POINT_KEYS.index(k) if k in _POINT_KEYS else len(_POINT_KEYS))
    for key in order:
        shape = _as_points_shape(arrays[key].shape, counts)
        if shape is not None and arrays[key].dtype.kind in "fiu" and arrays[key].size:
            check_size(path, arrays[key].size // 3, 1)
            points = _shaped(arrays[key], shape)
            confidence = points[..., 3] if points.shape[2] > 3 else None
            return points[..., :3], confidence, _rate(arrays), _names(arrays)
    found = ", ".join(f"{k} {arrays[k].dtype} {arrays[k].shape}" for k in list(arrays)[:8])
    wanted = ", ".join(str(n) for n in sorted(counts))
    raise FileError(path, f"holds no {what}: needed is an array (frames, points, 3) of {wanted} points; found: {found}")


def _header_shape(stream: Any) -> tuple[int, ...]:
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    return tuple(shape) if dtype.kind in "fiu" else ()


def _as_points_shape(shape: tuple[int, ...], counts: Collection[int]) -> tuple[int, int] | None:
    """Return (points, numbers a point) of an array of points, negative numbers a point for (K, 3, T)."""
    while len(shape) > 3 and shape[0] == 1:
        shape = shape[1:]
    if len(shape) == 3 and shape[1] in counts and shape[2] in (3, 4, 5):
        return shape[1], shape[2]
    if len(shape) == 3 and shape[0] in counts and shape[1] == 3:
        return shape[0], -3
    if len(shape) == 2 and shape[0] in counts and shape[1] in (3, 4):
        return shape[0], shape[1]
    if len(shape) == 2:
        return next(((shape[1] // n, n) for n in (3, 4) if shape[1] % n == 0 and shape[1] // n in counts), None)
    return None


def _shaped(array: np.ndarray[Any, Any], shape: tuple[int, int]) -> Array:
    with np.errstate(all="ignore"):
        values = np.asarray(array, dtype=np.float64)
    while values.ndim > 3:
        values = values[0]
    points, numbers = shape
    if numbers < 0:
        return np.ascontiguousarray(np.moveaxis(values, 2, 0))
    return values.reshape(-1, points, numbers)


def _rate(arrays: dict[str, np.ndarray[Any, Any]]) -> float | None:
    for key in _RATE_KEYS:
        if key in arrays and arrays[key].size == 1 and arrays[key].dtype.kind in "fiu":
            value = float(arrays[key].reshape(()))
            return value if np.isfinite(value) and 0 < value <= 1e5 else None
    for key in ("time", "times", "timestamps"):
        if key in arrays and arrays[key].ndim == 1 and arrays[key].dtype.kind in "fiu":
            return rate_of_times(arrays[key].astype(np.float64))
    return None


def _names(arrays: dict[str, np.ndarray[Any, Any]]) -> tuple[str, ...]:
    for key in _NAMES_KEYS:
        if key in arrays and arrays[key].ndim == 1 and arrays[key].dtype.kind == "U":
            return tuple(str(name) for name in arrays[key])
    return ()
