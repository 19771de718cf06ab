"""Human3.6M joints in .npy and .npz: 17 joints as pose lifters give them, or the data set's 32.

Z up in world frame, Y down in camera frame, metres or millimetres: recognised from the body.
"""

import os
from pathlib import Path
from typing import Unpack

import numpy as np

from mimik.goals.keypoints import Keypoints
from mimik.io._arrays import holds_points, load_points
from mimik.io._points import TakeOptions, check_size, finish_take

_COUNTS = (17, 32)
# the 17 joints every lifter keeps, among the 32 of the data set
_KEPT = (0, 1, 2, 3, 6, 7, 8, 12, 13, 14, 15, 17, 18, 19, 25, 26, 27)


def sniff(path: Path) -> bool:
    """Say whether the file has an array of 17 or 32 points."""
    return path.suffix.lower() in (".npy", ".npz") and holds_points(path, _COUNTS)


def read_keypoints(path: str | os.PathLike[str], **options: Unpack[TakeOptions]) -> Keypoints:
    """Read joints over time; 17 points that are rather COCO's, by their bone lengths, are read as COCO-17.

    Raises FileError that lists the arrays found when none has 17 or 32 points.
    """
    positions, confidence, fps, names = load_points(path, _COUNTS, "Human3.6M joints")
    check_size(path, len(positions), positions.shape[1])
    if positions.shape[1] == 32 and not names:
        positions = positions[:, _KEPT]
        confidence = None if confidence is None else confidence[:, _KEPT]
        options.setdefault("layout", "human36m")
    named = names if len(names) == positions.shape[1] else None
    if confidence is not None:
        confidence = np.nan_to_num(confidence)
    return finish_take(path, named, positions, options, confidence=confidence, fps=fps, likely_up="+z")
