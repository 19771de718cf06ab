"""Repair of a keypoint take: swapped sides undone, outliers found, gaps filled; everything counted.

Positions are metres. Points that were never seen stay missing. What was filled in carries a low confidence, the lower
the further it is from a frame in which the point was seen.
"""

from dataclasses import dataclass, replace

import numpy as np

from mimik._types import Array, BoolArray
from mimik.goals._fill_hinges import fill_hinges
from mimik.goals._repair_kernels import fill_gaps, find_bursts, find_spikes
from mimik.goals._swaps import undo_swaps
from mimik.goals.keypoints import Keypoints
from mimik.goals.layouts import Layout, recognise

SHORT_GAP_SECONDS = 0.25
"""Gaps up to this long are filled through time, longer ones along the limb."""

_SPIKE_METRES, _SPIKE_STEPS = 0.06, 4.0
_KEPT_METRES, _KEPT_SHARE = 0.03, 0.1  # how far a bone may be off its usual length and still count as keeping it
_FASTEST = 15.0  # metres a second no keypoint of a body exceeds for more than a moment
_BURST_SECONDS = 0.5
_FILLED_CONFIDENCE = 0.6
_HALVED_AFTER_SECONDS = 0.15
_LEAST_CONFIDENCE = 0.02
_LIMB_SITES = ("elbow", "wrist", "knee", "ankle")
_BETWEEN = {"mid_hip": "hip", "pelvis": "hip", "mid_shoulder": "shoulder", "neck": "shoulder"}
_TRUNK = (
    ("left_hip", "left_front_waist"),
    ("right_hip", "right_front_waist"),
    ("left_shoulder", "left_shoulder_top"),
    ("right_shoulder", "right_shoulder_top"),
)


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was wrong with a take and what was done.

    frames, points   size of the take
    missing          points unseen in some frame, counted over all frames, those never seen left out
    filled_short     of these, filled through time
    filled_long      of these, filled along the limb
    outliers         points thrown out as outliers, counted over all frames; they are among the filled ones
    swapped_frames   frames in which sides were exchanged, by part: "legs", "arms", "face", "whole body"
    never_seen       names of the points that are never seen; they stay missing
    longest_gap      seconds
    """

    frames: int
    points: int
    missing: int
    filled_short: int
    filled_long: int
    outliers: int
    swapped_frames: dict[str, int]
    never_seen: tuple[str, ...]
    longest_gap: float

    def lines(self) -> list[str]:
        """Return the report as sentences, empty for a clean take."""
        told = []
        if self.filled_short or self.filled_long:
            told.append(
                f"{self.filled_short + self.filled_long} missing points filled"
                f" ({self.filled_long} of them in gaps longer than {SHORT_GAP_SECONDS:g} s)"
            )
        if self.outliers:
            told.append(f"{self.outliers} outlying points replaced")
        if self.swapped_frames:
            parts = ", ".join(f"{part} in {count} frames" for part, count in self.swapped_frames.items())
            told.append(f"swapped left and right undone: {parts}")
        if self.never_seen:
            told.append(f"never seen: {', '.join(self.never_seen)}")
        return told


def repair(
    keypoints: Keypoints, layout: Layout | None = None, *, swaps: bool = True, outliers: bool = True, gaps: bool = True
) -> tuple[Keypoints, RepairReport]:
    """Return the take with swapped sides undone, outliers replaced and gaps filled, and the report.

    layout   what the points are; recognised from the take unless given (raises LayoutError where it cannot be)
    swaps, outliers, gaps   switch off one kind of repair
    A take of one frame comes back as it is. The result has a confidence: what was given (or 1) where seen, 0.6 falling
    to 0.02 where filled, 0 where missing.
    """
    layout = layout or recognise(keypoints.names, layout=keypoints.layout)
    positions = keypoints.positions.copy()
    confidence = np.ones(positions.shape[:2]) if keypoints.confidence is None else keypoints.confidence.copy()
    positions[confidence <= 0.0] = np.nan
    confidence[~_seen(positions)] = 0.0
    swapped: dict[str, int] = {}
    if swaps:
        positions, confidence, swapped = undo_swaps(positions, confidence, layout, keypoints.fps)
    missing = ~_seen(positions)
    never = np.asarray(missing.all(axis=0))
    bad = find_outliers(positions, layout, keypoints.fps) if outliers else np.zeros_like(missing)
    positions[bad] = np.nan
    lost = missing | bad
    runs = _gap_lengths(lost)
    short = lost & (runs <= _short_frames(keypoints.fps)) & ~never
    if gaps:
        positions = fill(positions, layout, keypoints.fps)
    filled = lost & _seen(positions)
    confidence[lost] = 0.0
    confidence[filled] = _filled_confidence(lost, keypoints.fps)[filled]
    report = RepairReport(
        frames=len(positions),
        points=len(keypoints.names),
        missing=int(missing[:, ~never].sum()),
        filled_short=int((filled & short).sum()),
        filled_long=int((filled & ~short).sum()),
        outliers=int(bad.sum()),
        swapped_frames=swapped,
        never_seen=tuple(name for name, gone in zip(keypoints.names, never) if gone),
        longest_gap=_longest_run(lost[:, ~never]) / keypoints.fps,
    )
    notes = (*keypoints.notes, *report.lines())
    return replace(keypoints, positions=positions, confidence=confidence, notes=notes), report


def find_outliers(positions: Array, layout: Layout, fps: float) -> BoolArray:
    """Return (T, K) points that jump away and back, or stretch the bones they belong to beyond belief."""
    seen = _seen(positions)
    outlier = np.zeros_like(seen)
    if len(positions) < 7:
        return outlier
    jump, burst = _FASTEST / fps + 0.05, np.zeros_like(seen)
    steady = positions - _whole_jumps(positions, jump)[:, None]
    find_spikes(steady, seen, _SPIKE_METRES, _SPIKE_STEPS, np.zeros(15), outlier)
    find_bursts(positions, seen & ~outlier, jump, max(2, round(_BURST_SECONDS * fps)), burst)
    outlier |= burst & ~_on_its_bones(positions, burst, layout)
    return outlier | _off_length(np.where(outlier[..., None], np.nan, positions), layout)


def _whole_jumps(positions: Array, jump: float) -> Array:
    """Return how far (T, 3) the whole body has been put elsewhere since the start, by steps of more than `jump` metres.

    Such a step is that of most points: the median's.
    """
    steps = np.diff(positions, axis=0)
    steps[np.isfinite(steps).all(axis=2).sum(axis=1) <= 0.5 * positions.shape[1]] = 0.0
    step = np.median(steps, axis=1)
    gaps = ~np.isfinite(step).all(axis=1)
    step[gaps] = np.nanmedian(steps[gaps], axis=1)
    step[np.linalg.norm(step, axis=1) <= jump] = 0.0
    return np.concatenate([np.zeros((1, 3)), np.cumsum(step, axis=0)])


def _on_its_bones(positions: Array, doubted: BoolArray, layout: Layout) -> BoolArray:
    """Return (T, K) points all of whose bones have their usual length: where they jump, the body itself did.

    doubted (T, K) are points that do not count for what is usual.
    """
    kept, known = np.ones(doubted.shape, dtype=bool), np.zeros(doubted.shape, dtype=bool)
    for k, p in layout.bones():
        lengths = np.linalg.norm(positions[:, k] - positions[:, p], axis=1)
        sure = lengths[np.isfinite(lengths) & ~doubted[:, k] & ~doubted[:, p]]
        if len(sure):
            usual = float(np.median(sure))
            wrong = ~(np.abs(lengths - usual) < max(_KEPT_METRES, _KEPT_SHARE * usual))
            for end in (k, p):
                kept[:, end] &= ~wrong
                known[:, end] = True
    return kept & known


def fill(positions: Array, layout: Layout, fps: float) -> Array:
    """Return positions (T, K, 3) with every gap of a point that is seen at all filled.

    Short gaps follow a cubic through time. In a long gap a point of a limb keeps its place relative to its parent, in
    the frame of the trunk, turning from where it was last seen to where it is seen next at the length of the bone;
    a point of the trunk does so relative to the rest of the trunk, a knee or an elbow relative to both its neighbours,
    a mid-point relative to the two it lies between.
    """
    positions = np.ascontiguousarray(positions)
    out = positions.copy()
    seen = _seen(positions)
    short = _short_frames(fps)
    for k in range(positions.shape[1]):
        track = np.ascontiguousarray(np.nan_to_num(positions[:, k]))
        fill_gaps(track, seen[:, k], short, True, False)
        near = seen[:, k] | (_gap_lengths(~seen[:, k : k + 1])[:, 0] <= short)
        out[near, k] = track[near]
    partly = ~_seen(out) & seen.any(axis=0)
    if not partly.any():
        return out
    _fill_trunk(out, layout)
    _fill_mid_points(out, layout)
    frame = _trunk_frames(out, layout)
    fill_hinges(out, layout, frame)
    for k, parent in _order(layout):
        if partly[:, k].any():
            _fill_along(out, k, parent, frame)
    return out


def _fill_trunk(positions: Array, layout: Layout) -> None:
    """Fill hips and shoulders relative to the middle of those seen, then what is left through time."""
    trunk = [k for k in _trunk(layout) if k is not None]
    before = positions[:, trunk].copy()
    for i, k in enumerate(trunk):
        others = np.delete(before, i, axis=1)
        whole = np.asarray(np.isfinite(others).all(axis=(1, 2)))
        if np.isfinite(positions[:, k]).all() or not whole.any():
            continue
        middle = np.where(whole[:, None], others.mean(axis=1), np.nan)
        _fill_relative(positions, k, middle, None)
    for k in trunk:
        _fill_relative(positions, k, np.zeros((len(positions), 3)), None)


def _fill_mid_points(positions: Array, layout: Layout) -> None:
    """Fill points that lie between two others, relative to the middle of these."""
    for site, pair in _BETWEEN.items():
        k, left, right = (layout.point(name) for name in (site, f"left_{pair}", f"right_{pair}"))
        if k is not None and left is not None and right is not None:
            middle = (positions[:, left] + positions[:, right]) / 2.0
            _fill_relative(positions, k, middle, _trunk_frames(positions, layout))


def _fill_along(positions: Array, k: int, parent: int | None, frame: Array | None) -> None:
    """Fill a point relative to its parent, at the usual distance from it, then what is left through time."""
    if parent is not None:
        with np.errstate(invalid="ignore"):
            lengths = np.linalg.norm(positions[:, k] - positions[:, parent], axis=1)
        usual = float(np.median(lengths[np.isfinite(lengths)])) if np.isfinite(lengths).any() else None
        _fill_relative(positions, k, positions[:, parent], frame, length=usual)
    _fill_relative(positions, k, np.zeros((len(positions), 3)), None)


def _fill_relative(
    positions: Array, k: int, origin: Array, frame: Array | None, *, length: float | None = None
) -> None:
    """Fill gaps of point k relative to origin (T, 3), turned with frame (T, 3, 3), where both are known."""
    missing = ~_seen(positions[:, k])
    if not missing.any():
        return
    offset = positions[:, k] - origin
    if frame is not None:
        offset = np.einsum("tji,tj->ti", frame, offset)
    known = _seen(offset)
    if not known.any():
        return
    track = np.ascontiguousarray(np.nan_to_num(offset))
    fill_gaps(track, known, len(track), False, True)
    if length is not None:
        size = np.linalg.norm(track, axis=1, keepdims=True)
        track = np.where(size > 0.2 * length, track * length / np.maximum(size, 1e-12), track)
    if frame is not None:
        track = np.einsum("tij,tj->ti", frame, track)
    found = track + origin
    rows = missing & _seen(found)
    positions[rows, k] = found[rows]


def _trunk(layout: Layout) -> list[int | None]:
    """Return the points at the four corners of the trunk: joint centres, or else the markers near them."""
    return [next((k for site in sites if (k := layout.point(site)) is not None), None) for sites in _TRUNK]


def _trunk_frames(positions: Array, layout: Layout) -> Array | None:
    """Return (T, 3, 3) axes left, up, forward of the trunk as columns; None where the layout or the take lacks it."""
    trunk = _trunk(layout)
    if any(k is None for k in trunk):
        return None
    left_hip, right_hip, left_shoulder, right_shoulder = (positions[:, k] for k in trunk)
    up = left_shoulder + right_shoulder - left_hip - right_hip
    left = left_hip - right_hip + left_shoulder - right_shoulder
    forward = np.cross(left, up)
    with np.errstate(invalid="ignore", divide="ignore"):
        up = up / np.linalg.norm(up, axis=1, keepdims=True)
        forward = forward / np.linalg.norm(forward, axis=1, keepdims=True)
    frame = np.stack([np.cross(up, forward), up, forward], axis=2)
    return frame if np.isfinite(frame).all() else None


def _order(layout: Layout) -> list[tuple[int, int | None]]:
    """Return (point, parent) of all points but the trunk's, parents first."""
    trunk = set(_trunk(layout))
    parent_of = {int(k): int(p) for k, p in layout.bones()[::-1]}
    left = [k for k in range(len(layout.names)) if k not in trunk]
    done = {k for k in trunk if k is not None}
    ordered: list[tuple[int, int | None]] = []
    while left:
        ready = [k for k in left if parent_of.get(k) is None or parent_of[k] in done] or left
        ordered += [(k, parent_of.get(k)) for k in ready]
        done.update(ready)
        left = [k for k in left if k not in done]
    return ordered


def _off_length(positions: Array, layout: Layout) -> BoolArray:
    """Return (T, K) points to blame for bones of the limbs far from their usual length."""
    bones = [(int(k), int(p)) for k, p in layout.bones() if layout.sites[k].partition("_")[2] in _LIMB_SITES]
    blamed = np.zeros(positions.shape[:2], dtype=bool)
    if not bones:
        return blamed
    count = np.zeros(positions.shape[:2])
    degree = np.zeros(positions.shape[:2])
    wrong = []
    for k, p in bones:
        with np.errstate(invalid="ignore"):
            lengths = np.linalg.norm(positions[:, k] - positions[:, p], axis=1)
        known = np.isfinite(lengths)
        usual = float(np.median(lengths[known])) if known.any() else 0.0
        spread = 1.4826 * float(np.median(np.abs(lengths[known] - usual))) if known.any() else 0.0
        off = known & (np.abs(np.nan_to_num(lengths) - usual) > max(0.06, 0.35 * usual, 6.0 * spread))
        wrong.append(off)
        for end in (k, p):
            count[:, end] += off
            degree[:, end] += known
    share = count / np.maximum(degree, 1.0)
    for (k, p), off in zip(bones, wrong):
        blamed[:, k] |= off & (share[:, k] >= share[:, p])
        blamed[:, p] |= off & (share[:, k] < share[:, p])
    return blamed


def _gap_lengths(lost: BoolArray) -> Array:
    """Return (T, K) the length in frames of the gap each lost point lies in; a gap at an end counts as endless."""
    frames = len(lost)
    index = np.arange(frames)[:, None]
    before = np.maximum.accumulate(np.where(lost, -1, index), axis=0)
    after = np.minimum.accumulate(np.where(lost, frames, index)[::-1], axis=0)[::-1]
    length = np.where((before < 0) | (after >= frames), frames, after - before - 1)
    return np.where(lost, length, 0).astype(np.float64)


def _longest_run(lost: BoolArray) -> int:
    """Return the length in frames of the longest gap of any point."""
    edges = np.diff(np.pad(lost.astype(np.int8), ((1, 1), (0, 0))), axis=0).T
    starts, ends = np.nonzero(edges == 1)[1], np.nonzero(edges == -1)[1]
    return int((ends - starts).max(initial=0))


def _filled_confidence(lost: BoolArray, fps: float) -> Array:
    """Return (T, K) a confidence that halves every 0.15 s from the nearest frame in which a point was seen."""
    frames = len(lost)
    index = np.arange(frames)[:, None]
    before = np.maximum.accumulate(np.where(lost, -frames, index), axis=0)
    after = np.minimum.accumulate(np.where(lost, 2 * frames, index)[::-1], axis=0)[::-1]
    away = np.minimum(index - before, after - index)
    return np.maximum(_FILLED_CONFIDENCE * 0.5 ** (away / (_HALVED_AFTER_SECONDS * fps)), _LEAST_CONFIDENCE)


def _seen(positions: Array) -> BoolArray:
    return np.asarray(np.isfinite(positions[..., 0] + positions[..., 1] + positions[..., 2]))


def _short_frames(fps: float) -> int:
    return max(1, round(SHORT_GAP_SECONDS * fps))
