"""Keypoints: named points of a body observed over time."""

from dataclasses import dataclass, replace

import numpy as np

from mimik._types import Array, frozen_array
from mimik.errors import GoalError


@dataclass(frozen=True, slots=True, eq=False)
class Keypoints:
    """A take of 3D points. Metres, Y up; NaN where a point was not seen.

    names       the points' names: roles, a known layout's names, or a rig's own joint names
    positions   (T, K, 3)
    fps         frames a second
    confidence  (T, K) from 0 (unseen) to 1, or None
    layout      the layout the names come from, where it is known
    notes       what was guessed, repaired or lost on the way here
    """

    names: tuple[str, ...]
    positions: Array
    fps: float = 30.0
    confidence: Array | None = None
    layout: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Copy, check and freeze."""
        names = tuple(str(n) for n in self.names)
        positions = np.array(self.positions, dtype=np.float64)
        if positions.ndim == 2:
            positions = positions[None]
        if positions.ndim != 3 or positions.shape[2] != 3:
            raise GoalError(f"keypoint positions have shape {positions.shape}; they must be (frames, points, 3)")
        if positions.shape[1] != len(names):
            raise GoalError(f"{len(names)} keypoint names for {positions.shape[1]} points")
        if not (np.isfinite(self.fps) and self.fps > 0):
            raise GoalError(f"keypoints have {self.fps} frames a second; it must be a positive number")
        positions[~np.isfinite(positions).all(axis=2)] = np.nan
        confidence = self.confidence
        if confidence is not None:
            confidence = np.array(confidence, dtype=np.float64)
            if confidence.ndim == 1:
                confidence = confidence[None]
            if confidence.shape != positions.shape[:2]:
                raise GoalError(f"confidence has shape {confidence.shape}; it must be {positions.shape[:2]}")
            confidence = frozen_array(np.clip(np.nan_to_num(confidence, nan=0.0), 0.0, 1.0))
        set_field = object.__setattr__
        set_field(self, "names", names)
        set_field(self, "positions", frozen_array(positions))
        set_field(self, "fps", float(self.fps))
        set_field(self, "confidence", confidence)
        set_field(self, "notes", tuple(self.notes))

    @property
    def frame_count(self) -> int:
        """Number of frames."""
        return self.positions.shape[0]

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.frame_count / self.fps

    def with_positions(self, positions: Array, *notes: str) -> "Keypoints":
        """Return a copy with other positions (T, K, 3) and further notes."""
        return replace(self, positions=positions, notes=(*self.notes, *notes))

    def __getitem__(self, frames: slice) -> "Keypoints":
        """Return some frames of the take."""
        confidence = None if self.confidence is None else self.confidence[frames]
        return replace(self, positions=self.positions[frames], confidence=confidence)

    def __repr__(self) -> str:
        return f"Keypoints({len(self.names)} points, {self.frame_count} frames, {self.fps:g} fps, {self.layout!r})"
