"""Gaps of knees and elbows whose neighbours are seen: the triangle of the limb says all but which way it bends."""

import numpy as np

from mimik._types import Array, BoolArray
from mimik.goals._repair_kernels import fill_gaps
from mimik.goals.layouts import Layout

# the joints of a limb, and the axis of the trunk (left, up, forward) that it lies along in the T-pose
_HINGES = ((("shoulder", "elbow", "wrist"), 0), (("hip", "knee", "ankle"), 1))
_TINY = 1e-9


def fill_hinges(positions: Array, layout: Layout, frame: Array | None) -> None:
    """Fill elbows and knees of positions (T, K, 3) in place where both their neighbours are known.

    The bones keep their usual lengths; the way the limb bends, measured in the trunk's axes (T, 3, 3) carried along by
    the line between the neighbours, turns from where it was last seen to where it is seen next.
    """
    for names, axis in _HINGES:
        for side in ("left", "right"):
            points = [layout.point(f"{side}_{name}") for name in names]
            sign = 1.0 if axis == 0 and side == "left" else -1.0
            if None not in points:
                _fill_hinge(positions, [p for p in points if p is not None], frame, axis, sign)


def _fill_hinge(positions: Array, limb: list[int], frame: Array | None, axis: int, sign: float) -> None:
    start, middle, end = (positions[:, k] for k in limb)
    known = np.asarray(np.isfinite(positions[:, limb]).all(axis=2))
    whole = np.asarray(known.all(axis=1))
    gap = known[:, 0] & known[:, 2] & ~known[:, 1]
    if not gap.any() or not whole.any():
        return
    upper, lower = (float(np.median(np.linalg.norm(middle - p, axis=1)[whole])) for p in (start, end))
    line, reach = _unit(end - start)
    axes = _carried(line, np.broadcast_to(np.eye(3), (len(line), 3, 3)) if frame is None else frame, axis, sign)
    across = np.einsum("tji,tj->ti", axes, middle - start)
    across[:, axis] = 0.0  # along the line
    pole = np.where(whole[:, None], across, 0.0)
    track = np.ascontiguousarray(pole)
    fill_gaps(track, whole, len(track), False, True)
    way, size = _unit(np.einsum("tij,tj->ti", axes, track))
    reach = np.clip(reach, abs(upper - lower) + _TINY, upper + lower)
    along = (upper**2 - lower**2 + reach**2) / (2.0 * reach)
    out = np.sqrt(np.maximum(upper**2 - along**2, 0.0))
    place = start + along[:, None] * line + out[:, None] * way
    rows: BoolArray = gap & (size > _TINY) & np.isfinite(place).all(axis=1)
    positions[rows, limb[1]] = place[rows]


def _carried(line: Array, trunk: Array, axis: int, sign: float) -> Array:
    """Return the trunk's axes (T, 3, 3) turned by the least turn that lays one of them, times `sign`, along `line`.

    Where they point opposite ways the turn is no longer the least, and still continuous but for that very point.
    """
    rest = sign * trunk[:, :, axis]
    turn = np.cross(rest, line)[:, :, None]
    cosine = np.einsum("ti,ti->t", rest, line)[:, None, None]
    along = np.einsum("tik,tij->tkj", turn, trunk) / np.maximum(1.0 + cosine, 1e-3)
    return np.asarray(
        trunk * cosine + np.cross(turn[:, :, 0][:, None], trunk.transpose(0, 2, 1)).transpose(0, 2, 1) + turn * along
    )


def _unit(vectors: Array) -> tuple[Array, Array]:
    size = np.linalg.norm(vectors, axis=1)
    return vectors / np.maximum(size, _TINY)[:, None], size
