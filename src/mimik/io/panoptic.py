"""CMU Panoptic Studio JSON: a folder of body3DScene files, one a frame; centimetres, Y down."""

import os
import re
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from mimik.errors import FileError
from mimik.goals.keypoints import Keypoints
from mimik.io._json_points import Person, as_numbers, load_json
from mimik.io._people import follow_person, frame_files, spread
from mimik.io._points import TakeOptions, check_size, finish_take
from mimik.io.openpose import begins_with, unseen_to_nan

_LAYOUTS = {"joints19": "panoptic19", "joints15": "panoptic15"}


def sniff(path: Path) -> bool:
    """Say whether the file, or the first file of the folder, begins like Panoptic's."""
    return begins_with(path, b'"bodies"')


def read_keypoints(
    path: str | os.PathLike[str], *, person: int | None = None, **options: Unpack[TakeOptions]
) -> Keypoints:
    """Read one person's joints; `person` counts from 0 by how long and large each is seen. Raises FileError."""
    path = Path(path)
    files, frames, notes = frame_files(path) if path.is_dir() else ([path], np.zeros(1, dtype=np.int64), [])
    scenes = []
    fps: float | None = None
    for file in files:
        value = load_json(file, limit=20_000_000)
        scenes.append(_bodies(file, value))
        fps = fps or _rate(value)
    points, names, told = follow_person(path, scenes, person=person)
    check_size(path, int(frames[-1]) + 1, points.shape[1])
    places, confidence = unseen_to_nan(spread(points, frames), lowest=-1e-9)
    return finish_take(
        path,
        None,
        places,
        options,
        confidence=confidence,
        fps=fps,
        likely_units="cm",
        likely_up="-y",
        likely_layout=names[0],
        notes=[*notes, *told],
    )


def _bodies(file: Path, value: Any) -> list[Person]:
    bodies = value.get("bodies") if isinstance(value, dict) else None
    if not isinstance(bodies, list):
        raise FileError(file, 'has no list "bodies", so it is no Panoptic frame')
    people = []
    for body in bodies:
        key = next((key for key in _LAYOUTS if isinstance(body, dict) and body.get(key)), None)
        flat = as_numbers(body[key]) if key else None
        if key is None or flat is None or flat.shape != (4 * int(key[6:]),):
            raise FileError(file, f"has a body without {' or '.join(_LAYOUTS)} of x, y, z, confidence each")
        identity = body.get("id")
        is_number = isinstance(identity, int) and not isinstance(identity, bool)
        people.append(Person(flat.reshape(-1, 4), (_LAYOUTS[key],), identity if is_number else None))
    return people


def _rate(value: Any) -> float | None:
    """Return the frame rate of `fpsType`: hd_29_97, vga_25."""
    numbers = re.findall(r"\d+", str(value.get("fpsType", ""))[:40])
    rate = float(".".join(numbers[:2])) if numbers else 0.0
    return rate if 1.0 <= rate <= 1000.0 else None
