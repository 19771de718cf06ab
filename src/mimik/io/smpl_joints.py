"""Joint positions in .npy and .npz: SMPL's 22 or 24, 52 with hands, 55 with face, and other known layouts."""

import os
from pathlib import Path
from typing import Unpack

import numpy as np

from mimik.goals.keypoints import Keypoints
from mimik.io._arrays import holds_points, load_points
from mimik.io._points import TakeOptions, check_size, finish_take

_LAYOUTS = {22: "roles", 24: "smpl24", 52: "smplh52", 55: "smplx55"}
_COUNTS = (*_LAYOUTS, 15, 18, 19, 23, 25, 26, 33, 75, 133)


def sniff(path: Path) -> bool:
    """Say whether the file has an array of as many points as a known layout."""
    return path.suffix.lower() in (".npy", ".npz") and holds_points(path, _COUNTS)


def read_keypoints(path: str | os.PathLike[str], **options: Unpack[TakeOptions]) -> Keypoints:
    """Read joints over time. Raises FileError that lists the arrays found when none has a known number of points."""
    positions, confidence, fps, names = load_points(path, _COUNTS, "joint positions")
    check_size(path, len(positions), positions.shape[1])
    likely = _LAYOUTS.get(positions.shape[1], "")
    if confidence is not None:
        confidence = np.nan_to_num(confidence)
    return finish_take(
        path,
        names if len(names) == positions.shape[1] else None,
        positions,
        options,
        confidence=confidence,
        fps=fps,
        likely_layout="" if names else likely,
    )
