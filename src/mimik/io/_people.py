"""Frames of several people: files in the order of their numbers, and the one person to follow."""

import os
import re
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mimik._types import Array, IntArray
from mimik.errors import FileError, OptionError
from mimik.io._json_points import Person

MAX_FILES = 500_000
_MOST_PEOPLE = 30
_FRAMES_REMEMBERED = 90


def frame_files(folder: Path) -> tuple[list[Path], IntArray, list[str]]:
    """Return the folder's JSON files in order, the frame of each counted from 0, and notes.

    The last number in a file's name is its frame. Numbers that are missing leave a gap of unseen frames.
    """
    try:
        files = [entry for entry in folder.iterdir() if entry.suffix.lower() == ".json" and entry.is_file()]
    except OSError as error:
        raise FileError(folder, f"cannot be listed: {error.strerror}") from None
    if not files:
        raise FileError(folder, "holds no .json file")
    if len(files) > MAX_FILES:
        raise FileError(folder, f"holds {len(files)} files; at most {MAX_FILES} are read")
    numbers = [re.findall(r"\d+", entry.stem) for entry in files]
    if all(numbers):
        keys = [int(found[-1][-15:]) for found in numbers]
        if len(set(keys)) == len(files):
            order = np.argsort(keys)
            frames = np.array(keys, dtype=np.int64)[order]
            frames -= frames[0]
            return [files[i] for i in order], *_gaps(frames)
    files.sort(key=lambda entry: [int(t[-15:]) if t.isdigit() else t for t in re.split(r"(\d+)", entry.name)])
    return files, np.arange(len(files)), ["file names hold no frame numbers of their own: taken in the order of names"]


def follow_person(
    path: str | os.PathLike[str], frames: Sequence[Sequence[Person]], *, person: int | None = None
) -> tuple[Array, tuple[str, ...], list[str]]:
    """Return points and confidence (T, K, 4) of one person through all frames, the names if given, and notes.

    person   which one, counted from 0 in the order of how long and how large each is seen; the first unless given
    Raises FileError where frames hold different numbers of points, OptionError for a person who is not there.
    """
    _check_people(path, frames)
    tracks = _tracks(frames)
    if not tracks:
        raise FileError(path, "holds no 3D points of a person in any frame")
    tracks.sort(key=lambda track: -sum(size for _, _, size in track))
    chosen = person or 0
    if not 0 <= chosen < len(tracks):
        raise OptionError(f"person={person}: {len(tracks)} people are seen, numbered from 0")
    track = tracks[chosen]
    points = np.full((len(frames), *track[0][1].points.shape), np.nan)
    for frame, one, _ in track:
        points[frame] = one.points
    notes = []
    if len(tracks) > 1:
        seen = ", ".join(str(len(t)) for t in tracks[:6]) + (", ..." if len(tracks) > 6 else "")
        notes.append(
            f"{len(tracks)} people are seen (in {seen} of {len(frames)} frames); person {chosen} is taken, the one seen"
            " longest and largest unless person= says otherwise"
        )
    return points, track[0][1].names, notes


def spread(points: Array, frames: IntArray) -> Array:
    """Return points (T, K, 4) put at their frames, NaN in between."""
    if len(frames) == 0 or frames[-1] == len(points) - 1:
        return points
    out = np.full((int(frames[-1]) + 1, *points.shape[1:]), np.nan)
    out[frames] = points
    return out


def _gaps(frames: IntArray) -> tuple[IntArray, list[str]]:
    missing = int(frames[-1]) + 1 - len(frames)
    if missing == 0:
        return frames, []
    steps = np.diff(frames)
    if len(steps) and (steps == steps[0]).all():  # every n-th frame was kept
        return np.arange(len(frames)), []
    if missing > 3 * len(frames) + 100:
        note = "the file names leave out more frames than they hold: frames are taken as following one another"
        return np.arange(len(frames)), [note]
    return frames, [f"{missing} frames are missing between the files and count as unseen"]


def _check_people(path: str | os.PathLike[str], frames: Sequence[Sequence[Person]]) -> None:
    first: Person | None = None
    for t, people in enumerate(frames):
        if len(people) > _MOST_PEOPLE:
            raise FileError(path, f"holds {len(people)} people; at most {_MOST_PEOPLE} are read", frame=t)
        for one in people:
            first = first or one
            if one.points.shape != first.points.shape:
                raise FileError(path, f"has {len(one.points)} points, earlier frames {len(first.points)}", frame=t)
            if one.names != first.names:
                raise FileError(path, "names other points than earlier frames", frame=t)


_Sight = tuple[int, Person, float]
_Track = list[_Sight]


def _tracks(frames: Sequence[Sequence[Person]]) -> list[_Track]:
    """Link people over time by their identity, or else each to the nearest one in the frames before."""
    if all(len(people) <= 1 for people in frames):
        alone = [(t, one, 1.0) for t, people in enumerate(frames) for one in people]
        return [alone] if any(_size(one.points) > 0 for _, one, _ in alone) else []
    named = all(one.identity is not None for people in frames for one in people)
    by_identity: dict[int, _Track] = {}
    tracks: list[_Track] = []
    recent: list[_Track] = []
    for t, people in enumerate(frames):
        here = [(t, one, size) for one in people if (size := _size(one.points)) > 0]
        if named:
            for sight in here:
                by_identity.setdefault(sight[1].identity or 0, []).append(sight)
        elif here:
            recent = [track for track in recent if t - track[-1][0] <= _FRAMES_REMEMBERED][-_MOST_PEOPLE:]
            begun = _link(recent, here)
            tracks += begun
            recent += begun
    return list(by_identity.values()) + tracks


def _size(points: Array) -> float:
    """Return the diagonal of the box around the seen points, 0 for fewer than two."""
    seen = points[np.isfinite(points[:, :3]).all(axis=1), :3]
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.linalg.norm(seen.max(axis=0) - seen.min(axis=0))) if len(seen) > 1 else 0.0


def _link(tracks: list[_Track], here: list[_Sight]) -> list[_Track]:
    """Add what is seen in a frame to the tracks so that all together move least; return tracks begun for the rest.

    A person may move by half a body a frame of absence, by two bodies at most.
    """
    far = 1e30
    cost = np.full((len(here), len(tracks)), far)
    if tracks:
        now = np.stack([one.points[:, :3] for _, one, _ in here])
        before = np.stack([track[-1][1].points[:, :3] for track in tracks])
        size = np.array([size for _, _, size in here])[:, None]
        absent = here[0][0] - np.array([track[-1][0] for track in tracks])
        with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a person without a point in common is far
            apart = np.nanmedian(np.linalg.norm(now[:, None] - before, axis=3), axis=2) / size
        near = apart < np.minimum(0.5 * absent, 2.0)
        cost[near] = apart[near]
    from scipy.optimize import linear_sum_assignment  # 20 MB, wanted only where people are told apart

    linked = {int(i): int(k) for i, k in zip(*linear_sum_assignment(cost)) if cost[i, k] < far}
    for i, k in linked.items():
        tracks[k].append(here[i])
    return [[sight] for i, sight in enumerate(here) if i not in linked]
