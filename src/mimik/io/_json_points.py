"""Points in JSON of any shape: as lists, as objects with x, y, z, by name, one person or several."""

import json
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from mimik._types import Array
from mimik.errors import FileError
from mimik.io.files import read_text

MAX_JSON_BYTES = 200_000_000
_CONFIDENCE_KEYS = ("visibility", "confidence", "score", "c", "conf", "likelihood", "v")
_POINT_KEYS = (
    *("pose_world_landmarks", "poseWorldLandmarks", "world_landmarks", "worldLandmarks", "pose_landmarks_3d"),
    *("keypoints3d", "keypoints_3d", "keypoints3D", "joints3d", "joints_3d", "joints19", "joints15"),
    *("keypoints", "landmarks", "positions", "joints", "points", "markers"),
)
_PEOPLE_KEYS = ("people", "bodies", "persons", "annots", "instances")
_ID_KEYS = ("id", "person_id", "track_id", "personID")


@dataclass(frozen=True, slots=True)
class Person:
    """One person in one frame: x, y, z, confidence (K, 4), NaN where a point or its confidence is not given."""

    points: Array
    names: tuple[str, ...] = ()
    identity: int | None = None


def load_json(path: str | os.PathLike[str], *, limit: int = MAX_JSON_BYTES) -> Any:
    """Return what a JSON file holds. Raises FileError with the line where it breaks off."""
    try:
        return json.loads(read_text(path, limit=limit))
    except json.JSONDecodeError as error:
        raise FileError(path, f"is no JSON: {error.msg}", line=error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise FileError(path, f"is no JSON that can be read: {error}") from None


def read_people(value: Any, *, stride: int = 4, depth: int = 12) -> list[Person]:
    """Return the people of one frame; none where nothing in it is a point.

    stride   numbers a point in flat lists
    depth    levels of lists and objects that are looked into
    """
    if depth == 0:
        return []
    inner = {"stride": stride, "depth": depth - 1}
    if isinstance(value, dict):
        for key in _PEOPLE_KEYS:
            if isinstance(value.get(key), list):
                return [person for item in value[key] for person in read_people(item, **inner)]
        for key in _POINT_KEYS:
            if value.get(key) is not None:
                return _with_identity(read_people(value[key], **inner), value)
        named = _named_points(value)
        return [named] if named is not None else []
    if isinstance(value, list):
        points = as_points(value, stride=stride)
        if points is not None:
            return [Person(points)]
        if value and all(isinstance(item, dict) and "name" in item for item in value):
            named = _named_points({str(item["name"]): item for item in value})
            return [named] if named is not None else []
        return [
            person for item in value[:1000] if isinstance(item, dict | list) for person in read_people(item, **inner)
        ]
    return []


def as_points(value: Any, *, stride: int = 4) -> Array | None:
    """Return (K, 4) of a list of [x, y, z], [x, y, z, c], {x, y, z} or of a flat list; None for anything else."""
    if not isinstance(value, list) or not value:
        return None
    if isinstance(value[0], dict):
        if "name" in value[0] or not all(isinstance(p, dict) and {"x", "y", "z"} <= set(p) for p in value):
            return None
        keys = [key for key in _CONFIDENCE_KEYS if key in value[0]][:1]
        value = [[p["x"], p["y"], p["z"], *(p.get(key) for key in keys)] for p in value]
    array = as_numbers(value)
    if array is None:
        return None
    if array.ndim == 1 and len(array) >= 2 * stride and len(array) % stride == 0:
        array = array.reshape(-1, stride)
    if array.ndim != 2 or array.shape[1] < 3 or array.shape[1] > 5:
        return None
    if array.shape[1] == 3:
        return np.concatenate([array, np.full((len(array), 1), np.nan)], axis=1)
    return array[:, :4]


def as_numbers(value: Any) -> Array | None:
    """Return an array of a nested list of numbers, null as NaN; None where it is ragged or holds anything else."""
    try:
        return np.array(value, dtype=np.float64)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None


def _named_points(value: dict[str, Any]) -> Person | None:
    """Read an object of name -> point, skipping what is no point."""
    names, rows = [], []
    for name, item in value.items():
        if isinstance(item, dict):
            point = as_points([{k: v for k, v in item.items() if k != "name"}])
        elif isinstance(item, list) and len(item) in (3, 4) and not isinstance(item[0], list | dict):
            point = as_points([item])
        else:
            point = None
        if point is not None:
            names.append(str(name))
            rows.append(point[0])
    return Person(np.array(rows), tuple(names)) if rows else None


def _with_identity(people: list[Person], value: dict[str, Any]) -> list[Person]:
    """Give a person the identity its object states, and names where the object lists them."""
    identity = next((value[key] for key in _ID_KEYS if key in value), None)
    if isinstance(identity, list):
        identity = identity[0] if identity else None
    if isinstance(identity, bool) or not isinstance(identity, int) or identity < 0:
        identity = None
    return [Person(p.points, p.names, identity if p.identity is None else p.identity) for p in people]
