"""Swapped sides: frames in which left and right of a limb, the legs, the arms or the whole body change places."""

from collections.abc import Sequence

import numpy as np

from mimik._types import Array, IntArray
from mimik.goals._repair_kernels import best_labels
from mimik.goals.layouts import Layout

# chains of pairs that a bone joins, and the sites that change sides along with one of them
_CHAINS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "legs": (("hip", ()), ("knee", ()), ("ankle", ("foot", "heel", "big_toe", "small_toe"))),
    "arms": (
        ("shoulder", ("collar",)),
        ("elbow", ()),
        ("wrist", ("index_knuckle", "middle_knuckle", "pinky_knuckle", "thumb_knuckle", "hand_tip")),
    ),
    "face": (("ear", ("eye",)),),
}
_METRES_MOVED = 0.05  # motion that costs 1
_METRES_OFF_LENGTH = 0.03  # deviation from a bone's length that costs 1,
_LENGTH_FREE = 0.02  # beyond this much and twice the usual deviation
_MOST_MOVED, _MOST_OFF = 0.5, 0.3
_USUAL_MOVES = 1.0  # or this many times what is usual between two frames, where that is more
_CHANGE = 3.0  # cost of a pair changing sides
_SWAPPED = 0.002  # cost a frame of a pair being swapped: of two halves the shorter is called swapped


def undo_swaps(positions: Array, confidence: Array, layout: Layout, fps: float) -> tuple[Array, Array, dict[str, int]]:
    """Return positions (T, K, 3) and confidence (T, K) with sides put right, and the number of frames swapped by part.

    A change of sides is taken as swapped where undoing it makes the motion continuous and keeps bone lengths.
    """
    positions, confidence = positions.copy(), confidence.copy()
    counts: dict[str, int] = {}
    whole = np.ones(len(positions), dtype=bool)
    parts = 0
    for part, chain in _CHAINS.items():
        pairs = [_pair(layout, site) for site, _ in chain]
        known = [i for i, pair in enumerate(pairs) if pair is not None]
        if not known or len(positions) < 3:
            continue
        labels = _label([pairs[i] for i in known], positions, fps)  # type: ignore[misc]
        swapped = labels > 0
        if part != "face":
            parts += 1
            whole &= labels == 2 ** len(known) - 1
        if swapped.any():
            counts[part] = int(swapped.sum())
        for bit, i in enumerate(known):
            rows = np.flatnonzero(labels >> bit & 1)
            for site in (chain[i][0], *chain[i][1]):
                _exchange(positions, confidence, _pair(layout, site), rows)
    if parts == 2 and whole.any():
        counts["whole body"] = int(whole.sum())
    return positions, confidence, counts


def _pair(layout: Layout, site: str) -> tuple[int, int] | None:
    left, right = layout.point(f"left_{site}"), layout.point(f"right_{site}")
    return None if left is None or right is None else (left, right)


def _exchange(positions: Array, confidence: Array, pair: tuple[int, int] | None, rows: IntArray) -> None:
    if pair is None or len(rows) == 0:
        return
    left, right = pair
    for array in (positions, confidence):
        array[rows, left], array[rows, right] = array[rows, right], array[rows, left].copy()


def _label(pairs: Sequence[tuple[int, int]], positions: Array, fps: float) -> IntArray:
    """Return (T,) bit masks of the pairs that are swapped."""
    frames, states = len(positions), 2 ** len(pairs)
    bits = np.arange(states)[:, None] >> np.arange(len(pairs)) & 1  # (S, P)
    stay = np.zeros((frames, len(pairs)))
    change = np.zeros((frames, len(pairs)))
    for p, (left, right) in enumerate(pairs):
        stay[:, p], change[:, p] = _motion_cost(positions[:, left], positions[:, right], fps)
    change_cost = np.where(bits, change[:, None] + _CHANGE, stay[:, None]).sum(axis=2)
    state_cost = np.broadcast_to(_SWAPPED * bits.sum(axis=1), (frames, states)).copy()
    for p in range(1, len(pairs)):
        straight, crossed = _length_cost(positions, pairs[p - 1], pairs[p])
        state_cost += np.where(bits[:, p] != bits[:, p - 1], crossed[:, None], straight[:, None])
    labels = np.zeros(frames, dtype=np.int64)
    best_labels(state_cost, change_cost, np.zeros((frames, states), dtype=np.int64), labels)
    return labels


def _motion_cost(left: Array, right: Array, fps: float) -> tuple[Array, Array]:
    """Return (T,) costs of staying on the same sides and of changing them since both were last seen.

    The way from right to left goes on where sides stay and turns round where they change, wherever the body moves.
    """
    across = left - right
    before, age = _last_seen(across)
    known = np.isfinite(before).all(axis=1) & np.isfinite(across).all(axis=1)
    weight = known / (1.0 + 5.0 * age / fps)
    stay, change = (np.nan_to_num(np.linalg.norm(across + sign * before, axis=1)) for sign in (-1.0, 1.0))
    usual = np.minimum(stay, change)[known]
    scale = max(_METRES_MOVED, _USUAL_MOVES * float(np.median(usual))) if len(usual) else _METRES_MOVED
    return tuple(weight * np.minimum(moved, _MOST_MOVED) / scale for moved in (stay, change))


def _last_seen(track: Array) -> tuple[Array, Array]:
    """Return where a point (T, 3) was last seen before each frame, NaN if never, and how many frames before."""
    frames = np.arange(len(track))
    seen = np.isfinite(track).all(axis=1)
    latest = np.maximum.accumulate(np.where(seen, frames, -1))
    latest = np.concatenate([[-1], latest[:-1]])
    return np.where((latest >= 0)[:, None], track[latest], np.nan), np.where(latest >= 0, frames - latest - 1.0, 0.0)


def _length_cost(positions: Array, upper: tuple[int, int], lower: tuple[int, int]) -> tuple[Array, Array]:
    """Return (T,) costs of bones between points of the same side and of crossed sides, against the usual lengths."""
    same = [np.linalg.norm(positions[:, a] - positions[:, b], axis=1) for a, b in zip(upper, lower)]
    cross = [np.linalg.norm(positions[:, a] - positions[:, b], axis=1) for a, b in zip(upper, lower[::-1])]
    finite = [lengths[np.isfinite(lengths)] for lengths in same]
    usual = [float(np.median(lengths)) if len(lengths) else np.nan for lengths in finite]
    free = _LENGTH_FREE + 2.0 * max(float(np.median(np.abs(x - u))) if len(x) else 0.0 for x, u in zip(finite, usual))
    whole = np.isfinite(same[0]) & np.isfinite(same[1])

    def off(lengths: Sequence[Array]) -> Array:
        total = sum(np.clip(np.abs(x - u) - free, 0.0, _MOST_OFF) for x, u in zip(lengths, usual))
        return np.where(whole, np.nan_to_num(np.asarray(total)), 0.0) / _METRES_OFF_LENGTH

    return off(same), off(cross)
