"""Body parts: tapered tubes with elliptical cross sections along an axis, the bricks of the mannequin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.interpolate import PchipInterpolator

from mimik._types import Array, IntArray

Rows: TypeAlias = Sequence[tuple[float, ...]]

SAMPLES = 33
"""Cross sections stored per part; between them the kernel interpolates linearly."""


@dataclass(slots=True)
class Part:
    """One tube from `start` to `end`, metres in the build pose.

    depth     direction of the second radius; made perpendicular to the axis
    profile   rows (t, radius across, radius in depth, shift across, shift in depth), t from 0 at start to 1 at end
    caps      axial radius of the rounded ends; None takes the smaller radius there
    blend     how far, in metres, it melts into the parts before it
    flat      the part is cut off this far below its axis (against `depth`); infinite for no cut
    stations  (t, bone) in rising t: from t on, the surface follows this bone
    bands     rows (t, half width in metres) of rings in the accent colour
    """

    start: Array
    end: Array
    depth: Array
    profile: Rows
    stations: list[tuple[float, int]]
    caps: tuple[float | None, float | None] = (None, None)
    blend: float = 0.02
    flat: float = np.inf
    bands: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class PartTable:
    """All parts as arrays for the kernels."""

    origin: Array  # (P, 3)
    frame: Array  # (P, 3, 3) rows: across, depth, along
    shape: Array  # (P, 5) length, start cap, end cap, blend, flat
    profile: Array  # (P, SAMPLES, 4) radius across, radius in depth, shift across, shift in depth
    reach: Array  # (P,) largest distance of the surface from the middle of the axis
    station_t: Array  # (P, S) padded with infinity
    station_bone: IntArray  # (P, S)
    bands: tuple[tuple[tuple[float, float], ...], ...]

    def area(self) -> float:
        """Return about how large the surface of all parts is together, square metres."""
        radius = self.profile[:, :, :2].mean(axis=(1, 2))
        return float((2.0 * np.pi * radius * (self.shape[:, 0] + 2.0 * radius)).sum())

    def bounds(self) -> tuple[Array, Array]:
        """Return two corners of a box around all parts."""
        middle = self.origin + 0.5 * self.shape[:, :1] * self.frame[:, 2]
        reach = self.reach[:, None]
        return (middle - reach).min(axis=0), (middle + reach).max(axis=0)


def pack(parts: list[Part]) -> PartTable:
    """Turn parts into arrays; a part of no length becomes a ball."""
    count, most = len(parts), max(len(p.stations) for p in parts)
    frame, shape = np.empty((count, 3, 3)), np.empty((count, 5))
    profile = np.empty((count, SAMPLES, 4))
    station_t, station_bone = np.full((count, most), np.inf), np.zeros((count, most), dtype=np.int64)
    for i, part in enumerate(parts):
        length = float(np.linalg.norm(part.end - part.start))
        frame[i] = part_frame(part.end - part.start, part.depth)
        profile[i] = _sample(part.profile)
        caps = [
            float(profile[i, end, :2].min()) if cap is None else cap
            for end, cap in zip((0, -1), part.caps)
        ]  # fmt: skip
        shape[i] = max(length, 1e-6), max(caps[0], 1e-4), max(caps[1], 1e-4), part.blend, part.flat
        for k, (t, bone) in enumerate(part.stations):
            station_t[i, k] = t
            station_bone[i, k:] = bone
    widest = (profile[:, :, :2].max(axis=2) + np.abs(profile[:, :, 2:]).sum(axis=2)).max(axis=1)
    reach = 0.5 * shape[:, 0] + np.maximum(widest, shape[:, 1:3].max(axis=1)) + shape[:, 3]
    return PartTable(
        np.array([p.start for p in parts], dtype=np.float64), frame, shape, profile, reach, station_t, station_bone,
        tuple(p.bands for p in parts),
    )  # fmt: skip


def part_frame(axis: Array, depth: Array) -> Array:
    """Return rows (across, depth, along) of a right-handed frame; any perpendicular where `depth` is along the axis."""
    length = np.linalg.norm(axis)
    along = axis / length if length > 1e-9 else np.array([0.0, 1.0, 0.0])
    v = depth - (depth @ along) * along
    if np.linalg.norm(v) < 1e-6:
        v = np.eye(3)[np.argmin(np.abs(along))]
        v = v - (v @ along) * along
    v /= np.linalg.norm(v)
    return np.array([np.cross(v, along), v, along])


def _sample(rows: Rows) -> Array:
    """Interpolate profile rows smoothly, without overshoot, at SAMPLES even places."""
    knots = np.array([(*row, *(0.0,) * (5 - len(row))) for row in rows])
    t = np.linspace(0.0, 1.0, SAMPLES)
    values = PchipInterpolator(knots[:, 0], knots[:, 1:])(np.clip(t, knots[0, 0], knots[-1, 0]))
    values[:, :2] = np.maximum(values[:, :2], 1e-4)
    return values
