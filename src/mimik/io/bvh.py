"""BVH, all dialects: the text format of motion capture.

Read: any order and number of channels a joint, positions on any joint, several figures, odd names, metres to inches,
Y or Z up, numbers that are missing or broken. What had to be guessed or repaired stands in the notes.

Written: zero rotation is the T-pose, metres (true size in Blender) or centimetres, continuous Euler curves, a frame
time that reads back as the same rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mimik._types import Array
from mimik.errors import FileError, MimikError
from mimik.io._bvh_axes import guess_units, guess_up, metres_per_unit, turn_quats, up_turn
from mimik.io._bvh_motion import FileMotion, NanRule, drop_still_translations, read_motion
from mimik.io._bvh_text import BvhText, parse_bvh
from mimik.io._bvh_write import RestChoice, bvh_pieces
from mimik.io._frame_rate import fps_from_frame_time
from mimik.io.files import atomic_write, read_bytes
from mimik.motion.clip import Clip
from mimik.rig.build import build_rig
from mimik.rig.kinematics import forward_kinematics
from mimik.rig.rig import Rig
from mimik.rig.skeleton import Skeleton
from mimik.rotation import identity_quat, matrix_to_quat, quat_mul

_GUESS_FRAMES = 200


def read_clip(
    path: Path,
    *,
    units: str | float = "auto",
    up: str = "auto",
    fps: float | None = None,
    figure: int | str = 0,
    nan: NanRule = "repair",
    encoding: str | None = None,
    roles: Mapping[str, str | int] | None = None,
) -> Clip:
    """Read the motion of a BVH file. Metres, Y up.

    units     "m", "cm", "mm", "in", "cmu" or metres per unit; "auto" from the body's size
    up        "y", "z", "x", "-y", "-z" or "-x"; "auto" from where the head stands above the feet
    fps       frames a second instead of the file's frame time
    figure    which ROOT, by number or name, where a file has several
    nan       "repair" fills frames that hold nan from their neighbours, "error" refuses them
    encoding  of joint names, when they are not UTF-8
    roles     role -> joint, before what is recognised

    Raises FileError with line or frame for a file that is not BVH, OptionError for an option that is none.
    """
    text = parse_bvh(read_bytes(path), path, encoding=encoding)
    if not text.has_motion:
        raise FileError(path, "has no MOTION section; it holds a rig only")
    body = _read_body(text, path, units=units, up=up, figure=figure, nan=nan, roles=roles)
    notes = list(body.notes)
    rate = _frame_rate(text, fps, notes)
    rig = replace(body.rig, source=path)
    body.rotations.setflags(write=False)  # the clip may keep the very array
    return Clip(rig, body.rotations, body.root, rate, path.stem, body.translations, tuple(notes))


def read_rig(
    path: Path,
    *,
    units: str | float = "auto",
    up: str = "auto",
    figure: int | str = 0,
    encoding: str | None = None,
    roles: Mapping[str, str | int] | None = None,
) -> Rig:
    """Read the rig of a BVH file; its motion, if any, only helps to recognise it. Options as for `read_clip`."""
    text = parse_bvh(read_bytes(path), path, encoding=encoding)
    body = _read_body(text, path, units=units, up=up, figure=figure, nan="repair", roles=roles)
    return replace(body.rig, source=path, notes=(*body.notes, *body.rig.notes))


def write_clip(
    clip: Clip,
    path: Path,
    *,
    units: str | float = "m",
    up: str = "y",
    rest: RestChoice = "tpose",
    order: str = "ZXY",
    decimals: int = 6,
) -> list[str]:
    """Write a clip as BVH and return what BVH cannot hold.

    units     "m" opens at true size in Blender, most other programs expect "cm"; or metres per unit
    up        "y", or another axis to turn the whole file to
    rest      what zero rotation means: "tpose" the canonical T-pose, "file" the rest pose of the clip's rig
    order     Euler order such as "ZXY" or "ZYX", or "auto": for each joint the one that stays clear of gimbal lock
    decimals  of the numbers in the motion, 1 to 9

    Raises OptionError for an option that is none, FileError when the file cannot be written.
    """
    pieces, notes = bvh_pieces(
        clip, path, scale=metres_per_unit(units), turn=up_turn(up), rest=rest, order=order, decimals=decimals
    )
    with atomic_write(path) as temporary, temporary.open("wb") as stream:
        for piece in pieces:
            stream.write(piece)
    return notes


@dataclass(frozen=True, slots=True)
class _Body:
    """One figure in metres, Y up."""

    rig: Rig
    rotations: Array
    root: Array
    translations: Array | None
    notes: tuple[str, ...]


def _read_body(
    text: BvhText,
    path: Path,
    *,
    units: str | float,
    up: str,
    figure: int | str,
    nan: NanRule,
    roles: Mapping[str, str | int] | None,
) -> _Body:
    motion = read_motion(text, path, figure=figure, nan=nan)
    _scale(motion, units)
    world_turn, joints_turn = _turns(motion, up)
    notes = tuple(motion.notes)
    offsets = motion.offsets @ joints_turn.T
    offsets[0] = world_turn @ motion.offsets[0]
    q_turn = matrix_to_quat(world_turn @ joints_turn.T)
    rotations = turn_quats(joints_turn, motion.rotations)
    if not np.array_equal(world_turn, joints_turn):
        rotations[:, 0] = quat_mul(q_turn, rotations[:, 0])
    root = motion.root @ world_turn.T
    translations = motion.translations
    if translations is not None:
        translations = translations @ joints_turn.T
        translations[:, 0] = root
    try:
        skeleton = Skeleton.build(motion.names, motion.parents, offsets, tips=motion.tips @ joints_turn.T)
        rig = build_rig(skeleton, name=path.stem, roles=roles, motion=(rotations, root, translations))
    except MimikError as error:
        raise FileError(path, str(error)) from None
    return _Body(rig, rotations, root, translations, notes)


def _scale(motion: FileMotion, units: str | float) -> None:
    """Turn lengths into metres."""
    if units == "auto":
        moves = motion.translations
        offsets = motion.offsets if moves is None or not len(moves) else np.median(moves[:: _step(moves)], axis=0)
        metres, note = guess_units(motion.parents, offsets, motion.tips)
        motion.notes.append(note)
    else:
        metres = metres_per_unit(units)
    drop_still_translations(motion, metres)
    motion.offsets *= metres
    motion.tips *= metres
    motion.root *= metres
    if motion.translations is not None:
        motion.translations *= metres


def _turns(motion: FileMotion, up: str) -> tuple[Array, Array]:
    """Return the turn of the world and the turn of the joints' own axes.

    They differ where rest and motion stand along different axes; after both turns the rest stands Y up as well.
    """
    step = _step(motion.rotations)
    skeleton = Skeleton.build(motion.names, motion.parents, motion.offsets)
    q_rest = identity_quat(len(motion.names))
    moves = None if motion.translations is None else motion.translations[::step]
    _, p_motion = forward_kinematics(
        motion.parents, motion.offsets, motion.rotations[::step], motion.root[::step], moves
    )
    _, p_rest = forward_kinematics(motion.parents, motion.offsets, q_rest, motion.offsets[0])
    guess = guess_up(skeleton, p_rest, p_motion)
    if up == "auto":
        up = guess.up
        if guess.note:
            motion.notes.append(guess.note)
    return up_turn(up), up_turn(guess.rest_up or up)


def _step(frames: Array) -> int:
    """Return a stride that leaves a few hundred frames, enough to guess from."""
    return max(1, len(frames) // _GUESS_FRAMES)


def _frame_rate(text: BvhText, fps: float | None, notes: list[str]) -> float:
    if fps is not None:
        return fps
    rate = fps_from_frame_time(text.frame_time_text)
    if rate is None:
        notes.append(f"frame time {text.frame_time_text[:20]!r} is no time; 30 frames a second taken (fps= settles it)")
        return 30.0
    return rate
