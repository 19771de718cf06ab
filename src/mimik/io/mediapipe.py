"""MediaPipe world landmarks (33 points) in JSON, CSV and npz, in the shapes people save them.

Metres, origin between the hips in every frame (no root motion), Y down, Z away from the camera. The landmarks of the
image, which run from 0 to 1, are no places in space: a file with only those is refused with the reason.
"""

import os
import re
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from mimik.errors import FileError
from mimik.goals.keypoints import Keypoints
from mimik.io._arrays import holds_points, load_points
from mimik.io._json_points import load_json
from mimik.io._json_take import read_take
from mimik.io._points import TakeOptions, check_size, finish_take
from mimik.io.csv import read_table
from mimik.io.json3d import finish_json_take

_COUNTS = (33,)
_IMAGE_ONLY = re.compile(r"^(normalized_?|image_?)?pose_?landmarks$|^normalized_?landmarks$", re.IGNORECASE)
_WORLD = re.compile(r"world", re.IGNORECASE)
_POINT_OF_33 = re.compile(
    rb"left_?foot_?index|landmark_?32\b|\bx_?32\b|world_?landmarks|pose_?landmarks", re.IGNORECASE
)


def sniff(path: Path) -> bool:
    """Say whether names or shapes in the file are MediaPipe's."""
    if path.suffix.lower() == ".npz":
        return holds_points(path, _COUNTS)
    try:
        with path.open("rb") as stream:
            return _POINT_OF_33.search(stream.read(65536)) is not None
    except OSError:
        return False


def read_keypoints(
    path: str | os.PathLike[str], *, person: int | None = None, **options: Unpack[TakeOptions]
) -> Keypoints:
    """Read one person's world landmarks. Raises FileError, also where only landmarks of the image are there."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return read_table(path, options, likely_up="-y")
    if suffix in (".npz", ".npy"):
        return _read_arrays(path, options)
    value = load_json(path)
    if _only_image_landmarks(value):
        raise FileError(
            path,
            "holds landmarks of the image only (pose_landmarks, from 0 to 1); save pose_world_landmarks, in metres",
        )
    take = read_take(_world_only(value))
    if take is None:
        raise FileError(path, "holds no landmarks; needed: frames of 33 points with x, y, z")
    return finish_json_take(path, take, person, options, likely_units="m", likely_up="-y")


def _read_arrays(path: Path, options: TakeOptions) -> Keypoints:
    positions, confidence, fps, _ = load_points(path, _COUNTS, "MediaPipe landmarks")
    check_size(path, len(positions), positions.shape[1])
    if confidence is not None:
        confidence = np.nan_to_num(confidence)
    return finish_take(
        path,
        None,
        positions,
        options,
        confidence=confidence,
        fps=fps,
        likely_layout="mediapipe",
        likely_units="m",
        likely_up="-y",
    )


def _only_image_landmarks(value: Any) -> bool:
    """Say whether some key names landmarks of the image and none those of the world, in the first frame."""
    keys = _keys(value, 6)
    return any(_IMAGE_ONLY.match(key) for key in keys) and not any(_WORLD.search(key) for key in keys)


def _keys(value: Any, depth: int) -> set[str]:
    if depth == 0:
        return set()
    if isinstance(value, dict):
        inner = [_keys(item, depth - 1) for item in list(value.values())[:50]]
        return {str(key) for key in value}.union(*inner)
    if isinstance(value, list) and value:
        return _keys(value[0], depth - 1)
    return set()


def _world_only(value: Any, depth: int = 8) -> Any:
    """Return the value without what lies beside world landmarks in an object, other than times and rates."""
    if depth == 0:
        return value
    if isinstance(value, dict):
        world = [key for key in value if _WORLD.search(str(key)) and isinstance(value[key], list | dict)]
        if world:
            kept = {key: item for key, item in value.items() if not isinstance(item, list | dict)}
            return kept | {"landmarks": _unwrapped(value[world[0]])}
        return {key: _world_only(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict | list):
        return [_world_only(item, depth - 1) for item in value]
    return value


def _unwrapped(value: Any) -> Any:
    """Return the list inside {"landmark": [...]}, as protocol buffers print it."""
    if isinstance(value, dict):
        return next((item for item in value.values() if isinstance(item, list)), value)
    return value
