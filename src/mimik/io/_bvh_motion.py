"""From the text of a BVH file to one figure's skeleton and motion, still in the file's units and axes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from mimik._types import Array, BoolArray, IntArray
from mimik.errors import FileError, OptionError, one_of
from mimik.io._bvh_euler import channels_to_quats
from mimik.io._bvh_numbers import NumberError, ParsedNumbers, parse_numbers
from mimik.io._bvh_text import BvhJoint, BvhText
from mimik.rotation import quat_slerp

NanRule = Literal["repair", "error"]

_MOVES_M = 1e-5  # joints that stay within a hundredth of a millimetre do not slide
_LARGEST = 1e9
_JOINT_FRAMES_FREE = 2_000_000  # joints times frames that any file may ask for, whatever its size


@dataclass(slots=True)
class FileMotion:
    """One figure as the file has it: lengths in file units, axes of the file.

    translations (T, J, 3) holds the places of all joints in their parents' frames, or None without any such channel.
    """

    names: tuple[str, ...]
    parents: IntArray
    offsets: Array
    tips: Array
    rotations: Array
    root: Array
    translations: Array | None
    notes: list[str]


def read_motion(text: BvhText, path: Path, *, figure: int | str, nan: NanRule) -> FileMotion:
    """Pick a figure and turn its channels into rotations and positions; raises FileError or OptionError."""
    if nan not in ("repair", "error"):
        raise OptionError(one_of("nan rule", nan, ("repair", "error")))
    notes = list(text.notes)
    joints = _figure_joints(text, figure, notes)
    names = _unique_names([joint.name for _, joint in joints], notes)
    index = {old: new for new, (old, _) in enumerate(joints)}
    parents = np.array([index.get(joint.parent, -1) for _, joint in joints], dtype=np.int64)
    offsets = np.array([joint.offset for _, joint in joints])
    tips = _tips([joint for _, joint in joints], parents, notes)
    values, has_nan = _frame_values(text, path, nan, notes)
    members = [joint for _, joint in joints]
    _check_scales(members, values, notes)
    rotations = channels_to_quats(values, *_rotation_columns(members))
    places = _places(members, values, offsets)
    if has_nan:
        _repair(members, values, rotations, places, offsets)
    root = np.tile(offsets[0], (len(values), 1)) if 0 not in places else places.pop(0)
    translations = _all_places(places, offsets, len(values), root)
    return FileMotion(names, parents, offsets, tips, rotations, root, translations, notes)


def drop_still_translations(motion: FileMotion, metres: float) -> None:
    """Fold joints that never leave their place into the offsets; keep translations only where some joint slides."""
    moves = motion.translations
    if moves is None:
        return
    spread = np.ptp(moves[:, 1:], axis=0).max(axis=1) if len(moves) else np.zeros(len(motion.names) - 1)
    sliding = np.flatnonzero(spread * metres > _MOVES_M) + 1
    for j in range(1, len(motion.names)):
        if j not in sliding and len(moves):
            motion.offsets[j] = np.median(moves[:, j], axis=0)
            moves[:, j] = motion.offsets[j]
    if not len(sliding):
        motion.translations = None
        return
    shown = ", ".join(motion.names[j] for j in sliding[:5]) + (", ..." if len(sliding) > 5 else "")
    motion.notes.append(f"{len(sliding)} joints besides the root move in their parents' frames: {shown}")


def _figure_joints(text: BvhText, figure: int | str, notes: list[str]) -> list[tuple[int, BvhJoint]]:
    roots = [joint.name for joint in text.joints if joint.parent < 0]
    if isinstance(figure, str):
        if figure not in roots:
            raise OptionError(one_of("figure of this file", figure, roots))
        figure = roots.index(figure)
    if not 0 <= figure < len(roots):
        raise OptionError(f"figure={figure}: this file has figures 0 to {len(roots) - 1}")
    if len(roots) > 1:
        notes.append(f"{len(roots)} figures: {', '.join(roots)}; read {roots[figure]!r} (figure= picks another)")
    return [(i, joint) for i, joint in enumerate(text.joints) if joint.figure == figure]


def _unique_names(names: list[str], notes: list[str]) -> tuple[str, ...]:
    taken, unique, renamed = set(names), [], []
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = count = seen.get(name, 0) + 1
        new = name
        while count > 1 and new in taken:
            new, count = f"{name}_{count}", count + 1
        if new != name:
            renamed.append(f"{name!r} -> {new!r}")
            seen[name] = count - 1
        taken.add(new)
        unique.append(new)
    if renamed:
        notes.append(f"{len(renamed)} joint names stand twice and were numbered: {', '.join(renamed[:5])}")
    return tuple(unique)


def _tips(joints: list[BvhJoint], parents: IntArray, notes: list[str]) -> Array:
    """Return (J, 3) ends of leaf bones; NaN without an end site or with one of no length."""
    leaf = np.bincount(parents[1:], minlength=len(joints)) == 0
    tips = np.array([joint.end if joint.end and any(joint.end) else (np.nan,) * 3 for joint in joints])
    if (np.isfinite(tips[:, 0]) & ~leaf).any():
        notes.append("end sites of joints that have children are left out")
    tips[~leaf] = np.nan
    return tips


def _frame_values(text: BvhText, path: Path, nan: NanRule, notes: list[str]) -> tuple[Array, bool]:
    """Return the channel values (T, C) of all figures, and whether some are not finite."""
    columns = text.column_count
    if columns == 0 or not text.has_motion:
        return np.zeros((0, columns)), False
    try:
        start, line = text.numbers_start, text.numbers_line
        parsed = parse_numbers(text.data, columns=columns, start=start, first_line=line)
    except NumberError as error:
        raise FileError(path, error.message, line=error.line, frame=error.row) from None
    if parsed.odd_line and nan == "error":
        raise FileError(path, "a value is not a finite number", line=parsed.odd_line, frame=parsed.odd_row)
    _check_size(parsed.values, path)
    frames, joints = len(parsed.values), len(text.joints)
    if frames * joints > _JOINT_FRAMES_FREE + 2 * len(text.data):
        raise FileError(path, f"{frames} frames of {joints} joints are far more than its {columns} channels carry")
    _note_oddities(text, parsed, notes)
    return parsed.values, parsed.odd_line > 0


def _check_size(values: Array, path: Path) -> None:
    """Refuse finite values that no channel holds; one look at the extremes suffices for nearly every file."""
    if not values.size or max(values.max(), -values.min()) <= _LARGEST:
        return
    large = np.isfinite(values) & (np.abs(values) > _LARGEST)
    if large.any():
        raise FileError(path, f"a channel value exceeds {_LARGEST:g}", frame=int(np.argwhere(large)[0, 0]))


def _note_oddities(text: BvhText, parsed: ParsedNumbers, notes: list[str]) -> None:
    frames = len(parsed.values)
    if text.frames_text != str(frames):
        said = text.frames_text[:20] or "nothing"
        notes.append(f"the header says {said} frames, the file holds {frames}; all {frames} are read")
    if parsed.leftover:
        notes.append(f"the last frame, on line {parsed.broken_line}, breaks off and is left out")
    if parsed.glued_line:
        notes.append(f"numbers run together from line {parsed.glued_line} on; parted at their signs")
    if parsed.odd_line:
        bad = int((~np.isfinite(parsed.values)).any(axis=1).sum())
        notes.append(f"{bad} frames, the first on line {parsed.odd_line}, hold nan; filled in between their neighbours")


def _check_scales(joints: list[BvhJoint], values: Array, notes: list[str]) -> None:
    columns = [j.first_column + k for j in joints for k, (kind, _) in enumerate(j.channels) if kind == "scale"]
    if columns and len(values) and np.ptp(values[:, columns], axis=0).max() > 1e-6:
        notes.append("scale channels change over time; scale is left out")


def _rotation_columns(joints: list[BvhJoint]) -> tuple[IntArray, IntArray, IntArray]:
    """Return starts (J + 1,), and column and axis of every rotation channel in order."""
    starts, columns, axes = [0], [], []
    for joint in joints:
        for k, (kind, axis) in enumerate(joint.channels):
            if kind == "rotation":
                columns.append(joint.first_column + k)
                axes.append(axis)
        starts.append(len(columns))
    return np.array(starts), np.array(columns, dtype=np.int64), np.array(axes, dtype=np.int64)


def _places(joints: list[BvhJoint], values: Array, offsets: Array) -> dict[int, Array]:
    """Return (T, 3) of every joint with position channels; they replace the offset, axis by axis."""
    places = {}
    for j, joint in enumerate(joints):
        moved = [(joint.first_column + k, axis) for k, (kind, axis) in enumerate(joint.channels) if kind == "position"]
        if moved:
            places[j] = np.tile(offsets[j], (len(values), 1))
            for column, axis in moved:
                places[j][:, axis] = values[:, column]
    return places


def _repair(joints: list[BvhJoint], values: Array, rotations: Array, places: dict[int, Array], offsets: Array) -> None:
    """Fill frames that hold nan from the nearest whole frames on either side, joint by joint."""
    frames = np.arange(len(values))
    for j, joint in enumerate(joints):
        columns = slice(joint.first_column, joint.first_column + len(joint.channels))
        bad: BoolArray = np.logical_not(np.isfinite(values[:, columns]).all(axis=1))
        if not bad.any():
            continue
        if bad.all():
            rotations[:, j] = (0.0, 0.0, 0.0, 1.0)
            if j in places:
                places[j][:] = offsets[j]
            continue
        before, after, share = _neighbours(bad)
        rotations[bad, j] = quat_slerp(rotations[before, j], rotations[after, j], share)
        if j in places:
            for axis in range(3):
                places[j][bad, axis] = np.interp(frames[bad], frames[~bad], places[j][~bad, axis])


def _neighbours(bad: BoolArray) -> tuple[IntArray, IntArray, Array]:
    """Return for every bad frame the nearest good ones before and after, and where it lies between them."""
    good, holes = np.flatnonzero(~bad), np.flatnonzero(bad)
    at = np.searchsorted(good, holes)
    before, after = good[np.maximum(at - 1, 0)], good[np.minimum(at, len(good) - 1)]
    before = np.where(at == 0, after, before)
    return before, after, np.clip((holes - before) / np.maximum(after - before, 1), 0.0, 1.0)


def _all_places(places: dict[int, Array], offsets: Array, frames: int, root: Array) -> Array | None:
    if not places:
        return None
    translations = np.broadcast_to(offsets, (frames, *offsets.shape)).copy()
    translations[:, 0] = root
    for j, place in places.items():
        translations[:, j] = place
    return translations
