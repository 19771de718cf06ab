"""3D points in plain JSON: EasyMocap's `keypoints3d` (folder or file), lists of frames, trajectories by name.

Points are [x, y, z], [x, y, z, confidence] with 0 for unseen, or {"x": .., "y": .., "z": ..}. What is written is an
object with names, fps and positions in metres, Y up.
"""

import json
import os
from pathlib import Path
from typing import Unpack

import numpy as np

from mimik.errors import FileError
from mimik.goals.axes import UNITS, UP_AXES
from mimik.goals.keypoints import Keypoints
from mimik.io._json_points import Person, load_json, read_people
from mimik.io._json_take import JsonTake, read_take
from mimik.io._people import follow_person, frame_files, spread
from mimik.io._points import TakeOptions, check_size, finish_take
from mimik.io._rows import rate_of_times
from mimik.io.files import atomic_write
from mimik.io.openpose import unseen_to_nan

_WANTED = 'a list of frames of [x, y, z], {"positions": ...}, {"frames": ...} or EasyMocap\'s keypoints3d'


def sniff(path: Path) -> bool:
    """Say whether the suffix is JSON's, or the folder holds JSON files."""
    return path.is_dir() or path.suffix.lower() == ".json"


def read_keypoints(
    path: str | os.PathLike[str], *, person: int | None = None, **options: Unpack[TakeOptions]
) -> Keypoints:
    """Read one person's points; `person` counts from 0 by how long and large each is seen. Raises FileError."""
    path = Path(path)
    if path.is_dir():
        return _read_folder(path, person, options)
    take = read_take(load_json(path))
    if take is None:
        raise FileError(path, f"holds no 3D points; known shapes: {_WANTED}")
    return finish_json_take(path, take, person, options)


def finish_json_take(
    path: Path,
    take: JsonTake,
    person: int | None,
    options: TakeOptions,
    *,
    likely_layout: str = "",
    likely_units: str = "",
    likely_up: str = "",
) -> Keypoints:
    """Choose the person and make keypoints of a take read from JSON."""
    points, own_names, notes = follow_person(path, take.frames, person=person)
    check_size(path, len(points), points.shape[1])
    names: tuple[str, ...] | None = take.names or own_names or None
    if names is not None and len(names) != points.shape[1]:
        raise FileError(path, f"lists {len(names)} names for {points.shape[1]} points")
    places, confidence = unseen_to_nan(points)
    if take.up in (*UP_AXES, "x", "y", "z") and "up" not in options:
        options = {**options, "up": take.up, "mirrored": options.get("mirrored", False)}
    if take.units in UNITS and "units" not in options:
        options = {**options, "units": take.units}
    return finish_take(
        path,
        names,
        places,
        options,
        confidence=confidence,
        fps=take.fps if take.fps is not None else rate_of_times(take.times) if take.times is not None else None,
        likely_units=take.units or likely_units,
        likely_up=likely_up,
        likely_layout=likely_layout,
        notes=notes,
    )


def write_keypoints(keypoints: Keypoints, path: str | os.PathLike[str]) -> list[str]:
    """Write names, fps, positions (T, K, 3) in metres, Y up, null for missing, and confidence if there is one."""
    places = np.round(keypoints.positions, 7)
    value = {
        "names": list(keypoints.names),
        "fps": keypoints.fps,
        "layout": keypoints.layout,
        "units": "m",
        "up": "y",
        "positions": [[[None] * 3 if p[0] != p[0] else p for p in frame] for frame in places.tolist()],
    }
    if keypoints.confidence is not None:
        value["confidence"] = np.round(keypoints.confidence, 5).tolist()
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    return []


def _read_folder(path: Path, person: int | None, options: TakeOptions) -> Keypoints:
    files, frames, notes = frame_files(path)
    people: list[list[Person]] = [read_people(load_json(file, limit=20_000_000)) for file in files]
    points, names, told = follow_person(path, people, person=person)
    check_size(path, int(frames[-1]) + 1, points.shape[1])
    places, confidence = unseen_to_nan(spread(points, frames))
    return finish_take(path, names or None, places, options, confidence=confidence, notes=[*notes, *told])
