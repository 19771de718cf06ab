"""OpenPose JSON with 3D points: a folder of one file a frame, or a single file.

`people[].pose_keypoints_3d` is a flat list of x, y, z, confidence in BODY_25 or COCO-18 order; hands are read where
they are given. A confidence of 0 means unseen. Files with 2D points only cannot be used, and the error says so.
"""

import os
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from mimik._types import Array
from mimik.errors import FileError
from mimik.goals.keypoints import Keypoints
from mimik.goals.layouts import LAYOUTS
from mimik.io._json_points import Person, as_numbers, load_json
from mimik.io._people import follow_person, frame_files, spread
from mimik.io._points import TakeOptions, check_size, finish_take

_FINGERS = ("thumb", "forefinger", "middle_finger", "ring_finger", "pinky_finger")
_HAND = ("hand_root", *(f"{finger}{k}" for finger in _FINGERS for k in (1, 2, 3, 4)))
_PARTS = ("pose", "hand_left", "hand_right")
_LAYOUT_OF = {25: "body25", 18: "coco18", 17: "coco17", 26: "halpe26"}


def sniff(path: Path) -> bool:
    """Say whether the file, or the first file of the folder, begins like OpenPose's."""
    return begins_with(path, b'"people"')


def begins_with(path: Path, word: bytes) -> bool:
    """Say whether `word` stands in the first 4 kB of a file or of the first JSON file of a folder."""
    try:
        if path.is_dir():
            path = next(entry for entry in path.iterdir() if entry.suffix.lower() == ".json")
        with path.open("rb") as stream:
            return word in stream.read(4096)
    except (OSError, StopIteration):
        return False


def read_keypoints(
    path: str | os.PathLike[str], *, person: int | None = None, **options: Unpack[TakeOptions]
) -> Keypoints:
    """Read one person's 3D points.

    person   which one where several are seen, counted from 0 by how long and large each is seen
    Raises FileError for 2D-only files, broken JSON (with the file's name) and differing numbers of points.
    """
    path = Path(path)
    if path.is_dir():
        files, frames, notes = frame_files(path)
        raw = [_people(file, load_json(file, limit=20_000_000)) for file in files]
    else:
        whole = load_json(path)
        items = whole if isinstance(whole, list) else [whole]
        files, frames, notes = [path], np.arange(len(items)), []
        raw = [_people(path, item, frame=t) for t, item in enumerate(items)]
    people, names = _with_hands(raw)
    points, _, told = follow_person(path, people, person=person)
    check_size(path, int(frames[-1]) + 1, points.shape[1])
    points = spread(points, frames)
    body = _LAYOUT_OF.get(points.shape[1] - len(names), "")
    point_names = [*LAYOUTS[body].names, *names] if body else None
    seen, confidence = unseen_to_nan(points)
    return finish_take(
        path,
        point_names,
        seen,
        options,
        confidence=confidence,
        likely_layout=body,
        likely_up="-y",
        notes=[*notes, *told],
    )


def unseen_to_nan(points: Array, *, lowest: float = 0.0) -> tuple[Array, Array | None]:
    """Return places (T, K, 3), NaN where the confidence is `lowest` or less, and confidence (T, K) if any is given."""
    places, confidence = points[..., :3].copy(), points[..., 3]
    if not np.isfinite(confidence).any():
        places[(places == 0.0).all(axis=-1)] = np.nan
        return places, None
    with np.errstate(invalid="ignore"):
        places[(confidence <= lowest) | ((places == 0.0).all(axis=-1) & ~(confidence > 0))] = np.nan
    top = np.nanmax(confidence)
    confidence = np.nan_to_num(confidence, nan=0.0, posinf=0.0, neginf=0.0)
    return places, np.clip(confidence / top if top > 1.0 and np.isfinite(top) else confidence, 0.0, 1.0)


def _people(path: Path, value: Any, *, frame: int | None = None) -> list[dict[str, Any]]:
    """Return the raw people of one frame that have 3D points; an error where they have 2D points only."""
    people = value.get("people") if isinstance(value, dict) else None
    if not isinstance(people, list):
        raise FileError(path, 'has no list "people", so it is no OpenPose frame', frame=frame)
    found = []
    for one in people:
        if not isinstance(one, dict):
            raise FileError(path, "has a person that is no object", frame=frame)
        parts: dict[str, Any] = {"id": one.get("person_id")}
        for part in _PARTS:
            flat = one.get(f"{part}_keypoints_3d") or []
            array = as_numbers(flat)
            if array is None or array.ndim != 1 or len(array) % 4:
                raise FileError(path, f"{part}_keypoints_3d is no flat list of x, y, z, confidence", frame=frame)
            parts[part] = array.reshape(-1, 4)
        if len(parts["pose"]):
            found.append(parts)
        elif one.get("pose_keypoints_2d") or one.get("pose_keypoints"):
            raise FileError(
                path,
                "holds 2D keypoints only (pose_keypoints_3d is empty); 3D is needed: triangulate several cameras"
                " (OpenPose --3d, Pose2Sim, EasyMocap) or use a 3D lifter, then load its output",
                frame=frame,
            )
    return found


def _with_hands(frames: list[list[dict[str, Any]]]) -> tuple[list[list[Person]], list[str]]:
    """Join body and those hands that are seen anywhere; return people by frame and the names of the hands' points."""
    sides = [
        side
        for side in ("left", "right")
        if any(len(one[f"hand_{side}"]) == len(_HAND) for people in frames for one in people)
    ]
    names = [f"{side}_{name}" for side in sides for name in _HAND]
    unseen = np.zeros((len(_HAND), 4))
    joined = []
    for people in frames:
        here = []
        for one in people:
            hands = [one[f"hand_{side}"] for side in sides]
            hands = [hand if len(hand) == len(_HAND) else unseen for hand in hands]
            here.append(Person(np.concatenate([one["pose"], *hands]), (), _identity(one["id"])))
        joined.append(here)
    return joined, names


def _identity(value: Any) -> int | None:
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
