"""A clip as the text of a BVH file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np

from mimik._types import Array, IntArray
from mimik.errors import FileError, OptionError, one_of
from mimik.io._bvh_axes import turn_quats
from mimik.io._bvh_euler import euler_curves, reframe_quats
from mimik.io._bvh_numbers import NumberError, format_rows
from mimik.io._frame_rate import frame_time_text
from mimik.motion.clip import Clip
from mimik.rig.kinematics import forward_kinematics
from mimik.rotation import IDENTITY, quat_apply, quat_inv

RestChoice = Literal["tpose", "file"]

_STILL_M = 1e-9
_DEEPEST_INDENT = 60


def bvh_pieces(
    clip: Clip, path: Path, *, scale: float, turn: Array, rest: RestChoice, order: str, decimals: int
) -> tuple[Iterator[bytes], list[str]]:
    """Return the file's text in pieces of bounded size, and notes on what it cannot hold.

    `scale` is metres per unit, `turn` the matrix from file axes to ours. Raises OptionError, and FileError while the
    pieces are taken.
    """
    if rest not in ("tpose", "file"):
        raise OptionError(one_of("rest choice", rest, ("tpose", "file")))
    if not (isinstance(decimals, int) and 1 <= decimals <= 9):
        raise OptionError(f"decimals={decimals!r}: must be a whole number from 1 to 9")
    q_world_zero = _zero_pose(clip, rest)
    sliding = _sliding_joints(clip)
    values, orders = _channel_values(clip, q_world_zero, sliding, scale=scale, turn=turn, order=order)
    head = _hierarchy(clip, q_world_zero, sliding, scale=scale, turn=turn, orders=orders, decimals=decimals + 3)
    head += f"MOTION\nFrames: {clip.frame_count}\nFrame Time: {frame_time_text(clip.fps)}\n"
    return _pieces(head, values, decimals, path), _lost(clip, rest)


def _pieces(head: str, values: Array, decimals: int, path: Path) -> Iterator[bytes]:
    yield head.encode("utf-8", errors="replace")
    try:
        yield from format_rows(values, decimals=decimals)
    except NumberError as error:
        raise FileError(path, error.message, frame=error.row) from None


def _zero_pose(clip: Clip, rest: RestChoice) -> Array:
    """Return the world rotations (J, 4) that zero rotation shall stand for."""
    if rest == "tpose":
        return clip.rig.q_world_tpose
    skeleton = clip.rig.skeleton
    q_world, _ = forward_kinematics(skeleton.parents, skeleton.offsets, skeleton.rest, skeleton.offsets[0])
    return q_world


def _sliding_joints(clip: Clip) -> IntArray:
    """Return the joints besides the root that leave their place."""
    if clip.translations is None:
        return np.zeros(0, dtype=np.int64)
    away = np.abs(clip.translations - clip.rig.offsets).max(axis=(0, 2), initial=0.0) > _STILL_M
    away[0] = False
    return np.flatnonzero(away)


def _parent_frames(clip: Clip, q_world_zero: Array) -> Array:
    """Return the zero pose's world rotation of every joint's parent (J, 4); the identity for the root."""
    frames = q_world_zero[clip.rig.parents]
    frames[0] = IDENTITY
    return frames


def _hierarchy(
    clip: Clip,
    q_world_zero: Array,
    sliding: IntArray,
    *,
    scale: float,
    turn: Array,
    orders: list[str],
    decimals: int,
) -> str:
    """Lay the bones out in the zero pose: each offset turned into world axes, then file axes."""
    skeleton = clip.rig.skeleton
    offsets = quat_apply(_parent_frames(clip, q_world_zero), skeleton.offsets) @ turn / scale
    offsets[0] = 0.0  # the root's place is in its channels; some programs would add the two
    tips = np.nan_to_num(quat_apply(q_world_zero, skeleton.tips) @ turn / scale)
    leaf = np.bincount(skeleton.parents[1:], minlength=skeleton.joint_count) == 0
    lines, last_depth = ["HIERARCHY"], -1
    for j, depth in [*_depth_first(skeleton.parents), (-1, 0)]:
        lines += [_tabs(d) + "}" for d in range(last_depth, depth - 1, -1)]
        if j < 0:
            break
        tabs, last_depth = _tabs(depth), depth
        moves = j == 0 or j in sliding
        rotations = " ".join(f"{letter}rotation" for letter in orders[j])
        channels = f"6 Xposition Yposition Zposition {rotations}" if moves else f"3 {rotations}"
        lines += [f"{tabs}{'JOINT' if j else 'ROOT'} {_one_line(skeleton.names[j])}", f"{tabs}{{"]
        lines += [f"{tabs}\tOFFSET {_triple(offsets[j], decimals)}", f"{tabs}\tCHANNELS {channels}"]
        if leaf[j]:
            lines += [
                f"{tabs}\tEnd Site",
                f"{tabs}\t{{",
                f"{tabs}\t\tOFFSET {_triple(tips[j], decimals)}",
                f"{tabs}\t}}",
            ]
    return "\n".join(lines) + "\n"


def _channel_values(
    clip: Clip, q_world_zero: Array, sliding: IntArray, *, scale: float, turn: Array, order: str
) -> tuple[Array, list[str]]:
    """Return (T, C) in file order: positions in file units where a joint moves, then degrees; and Euler orders."""
    frames = _parent_frames(clip, q_world_zero)
    to_file = np.ascontiguousarray(turn.T)
    local = reframe_quats(
        turn_quats(to_file, frames), turn_quats(to_file, clip.rotations), turn_quats(to_file, quat_inv(q_world_zero))
    )
    degrees, orders = euler_curves(local, order)
    values = np.empty((clip.frame_count, 3 * (len(frames) + 1 + len(sliding))))
    column = 0
    for j, _ in _depth_first(clip.rig.parents):
        if j == 0 or j in sliding:
            place = clip.root if j == 0 or clip.translations is None else quat_apply(frames[j], clip.translations[:, j])
            values[:, column : column + 3] = place @ turn / scale
            column += 3
        values[:, column : column + 3] = degrees[:, j]
        column += 3
    return values, orders


def _depth_first(parents: IntArray) -> list[tuple[int, int]]:
    """Return (joint, depth) in the order in which BVH nests them."""
    children: list[list[int]] = [[] for _ in parents]
    for j in range(1, len(parents)):
        children[parents[j]].append(j)
    order, stack = [], [(0, 0)]
    while stack:
        j, depth = stack.pop()
        order.append((j, depth))
        stack += [(child, depth + 1) for child in reversed(children[j])]
    return order


def _tabs(depth: int) -> str:
    return "\t" * min(depth, _DEEPEST_INDENT)


def _triple(vector: Array, decimals: int) -> str:
    return " ".join(f"{v:z.{decimals}f}" for v in vector)


def _one_line(name: str) -> str:
    return " ".join(name.split()) or "joint"


def _lost(clip: Clip, rest: RestChoice) -> list[str]:
    rig, notes = clip.rig, []
    if rig.skin is not None:
        notes.append("BVH holds no mesh: the skin is left out")
    if rig.limits is not None:
        notes.append("BVH holds no joint limits")
    if not np.allclose(np.abs(_zero_pose(clip, rest)[:, 3]), 1.0, atol=1e-9):
        notes.append("joints get world-aligned axes: BVH has no rest rotations")
    changed = [name for name in rig.names if _one_line(name) != name]
    if changed:
        notes.append(f"{len(changed)} joint names with unusual blanks were changed, such as {changed[0]!r}")
    return notes
