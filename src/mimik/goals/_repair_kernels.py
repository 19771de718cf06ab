"""Compiled kernels of the repair: spikes, bursts, gaps, and the labelling of swapped sides; `repair` calls them."""

from __future__ import annotations

import math

import numba as nb

from mimik._types import Array, BoolArray, IntArray


@nb.njit(cache=True, inline="always")  # type: ignore[misc]
def _distance(a: Array, b: Array) -> float:
    return math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)


@nb.njit(cache=True, inline="always")  # type: ignore[misc]
def _median_in_place(work: Array, count: int) -> float:
    for i in range(1, count):
        value = work[i]
        k = i - 1
        while k >= 0 and work[k] > value:
            work[k + 1] = work[k]
            k -= 1
        work[k + 1] = value
    half = count // 2
    return work[half] if count % 2 else 0.5 * (work[half - 1] + work[half])


@nb.njit(cache=True, nogil=True)  # type: ignore[misc]
def find_spikes(
    positions: Array,  # (T, K, 3)
    seen: BoolArray,  # (T, K)
    floor: float,  # metres a spike has at least
    steps: float,  # and this many times the local step between frames
    work: Array,  # (15,)
    outlier: BoolArray,  # out (T, K)
) -> None:
    """Mark points far from the median of the 7 frames around them, measured in how far they move a frame."""
    frame_count, point_count = seen.shape
    middle = work[:3].copy()
    for k in range(point_count):
        for t in range(frame_count):
            if not seen[t, k]:
                continue
            first, last = max(0, t - 3), min(frame_count, t + 4)
            calm = True
            for u in range(first, last):
                calm = (
                    calm and not _distance(positions[t, k], positions[u, k]) > 0.5 * floor
                )  # true beside a missing one
            if calm:
                continue
            count = 0
            for axis in range(3):
                count = 0
                for u in range(first, last):
                    if seen[u, k]:
                        work[count] = positions[u, k, axis]
                        count += 1
                middle[axis] = _median_in_place(work, count)
            if count < 4:
                continue
            apart = _distance(positions[t, k], middle)
            if apart < floor:
                continue
            moves = 0
            for u in range(first + 1, last):
                if seen[u, k] and seen[u - 1, k] and u not in (t, t + 1):
                    work[moves] = _distance(positions[u, k], positions[u - 1, k])
                    moves += 1
            if moves >= 2 and apart > steps * _median_in_place(work, moves):
                outlier[t, k] = True


@nb.njit(cache=True, nogil=True)  # type: ignore[misc]
def find_bursts(
    positions: Array,  # (T, K, 3)
    seen: BoolArray,  # (T, K)
    jump: float,  # metres between frames that no body part moves
    longest: int,  # frames
    outlier: BoolArray,  # out (T, K)
) -> None:
    """Mark short stretches that a point jumps away to and back from."""
    frame_count, point_count = seen.shape
    for k in range(point_count):
        before = -1
        t = 0
        while t < frame_count:
            if not seen[t, k]:
                t += 1
                continue
            if before >= 0 and _distance(positions[t, k], positions[before, k]) > jump * (t - before):
                back = -1
                for u in range(t + 1, min(frame_count, t + longest + 1)):
                    if seen[u, k] and _distance(positions[u, k], positions[before, k]) < 0.5 * jump + 0.1 * jump * (
                        u - before
                    ):
                        back = u
                        break
                if back > 0:
                    for u in range(t, back):
                        outlier[u, k] = seen[u, k]
                    t = back
            before = t
            t += 1


@nb.njit(cache=True, nogil=True)  # type: ignore[misc]
def fill_gaps(
    values: Array,  # in and out (T, 3)
    seen: BoolArray,  # (T,)
    longest: int,  # gaps up to this many frames are filled
    with_speed: bool,  # leave and arrive at the speed around the gap, else at rest
    hold_ends: bool,  # fill before the first and after the last seen frame with that frame
) -> None:
    """Fill gaps by cubic Hermite curves."""
    frame_count = len(seen)
    speed_a, speed_b = values[0].copy(), values[0].copy()
    a = -1
    for b in range(frame_count + 1):
        if b < frame_count and not seen[b]:
            continue
        if a < 0 or b == frame_count:
            if hold_ends and (a >= 0) != (b < frame_count):
                source = a if a >= 0 else b
                for t in range(a + 1, b):
                    values[t] = values[source]
        elif 1 < b - a <= longest + 1:
            span = b - a
            _speed(values, seen, a, -1, with_speed, speed_a)
            _speed(values, seen, b, 1, with_speed, speed_b)
            for t in range(a + 1, b):
                s = (t - a) / span
                h1, h3 = s * (1 - s) * (1 - s) * span, s * s * (s - 1) * span
                h2 = s * s * (3 - 2 * s)
                for axis in range(3):
                    values[t, axis] = (
                        (1 - h2) * values[a, axis] + h2 * values[b, axis] + h1 * speed_a[axis] + h3 * speed_b[axis]
                    )
        a = b


@nb.njit(cache=True, nogil=True)  # type: ignore[misc]
def _speed(values: Array, seen: BoolArray, t: int, direction: int, moving: bool, out: Array) -> None:
    """Write the speed a frame over up to 3 seen frames on one side of t; zero if not moving or none is seen."""
    far = 0
    while moving and far < 3 and 0 <= t + direction * (far + 1) < len(seen) and seen[t + direction * (far + 1)]:
        far += 1
    for axis in range(3):
        out[axis] = 0.0 if far == 0 else direction * (values[t + direction * far, axis] - values[t, axis]) / far


@nb.njit(cache=True, nogil=True)  # type: ignore[misc]
def best_labels(
    state_cost: Array,  # (T, S) of being in a state, S = 2 ** pairs
    change_cost: Array,  # (T, S) of the pairs in a bit mask changing sides between t - 1 and t
    came_from: IntArray,  # work (T, S)
    label: IntArray,  # out (T,)
) -> None:
    """Find the cheapest sequence of states (Viterbi)."""
    frame_count, state_count = state_cost.shape
    total = state_cost[0].copy()
    after = total.copy()
    for t in range(1, frame_count):
        for s in range(state_count):
            best, origin = math.inf, 0
            for r in range(state_count):
                cost = total[r] + change_cost[t, s ^ r]
                if cost < best:
                    best, origin = cost, r
            after[s] = best + state_cost[t, s]
            came_from[t, s] = origin
        total[:] = after
    state = 0
    for s in range(1, state_count):
        if total[s] < total[state]:
            state = s
    for t in range(frame_count - 1, -1, -1):
        label[t] = state
        state = came_from[t, state]
