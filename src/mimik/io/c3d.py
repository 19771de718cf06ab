"""C3D: binary marker trajectories of motion capture systems.

Reading is our own and bounded (`_c3d_parts`), writing goes through ezc3d. Units and axes stand in the parameters; what
is written is in millimetres and Z up, as most programs that read C3D expect, and says so in the file.
"""

import os
from pathlib import Path
from typing import Unpack

import numpy as np

from mimik.errors import FileError, OptionError, one_of
from mimik.goals.axes import UNITS
from mimik.goals.keypoints import Keypoints
from mimik.io._c3d_parts import Layout3D, read_frames, read_layout
from mimik.io._points import TakeOptions, check_size, finish_take
from mimik.io.files import atomic_write, read_bytes

_AXES = {"+x", "-x", "+y", "-y", "+z", "-z"}
_POINT_BYTES = 16  # three places and a residual, single precision


def sniff(path: Path) -> bool:
    """Say whether the suffix is C3D's."""
    return path.suffix.lower() == ".c3d"


def read_keypoints(path: str | os.PathLike[str], **options: Unpack[TakeOptions]) -> Keypoints:
    """Read the 3D points. Raises FileError for a file that is no C3D, holds no points or points outside itself."""
    data = read_bytes(path)
    layout = read_layout(path, data)
    check_size(path, min(layout.frames, len(data)), layout.points)
    points, lacking = read_frames(path, data, layout)
    notes = [f"the file declares {lacking} frames more than it holds"] if lacking else []
    names, named = _labels(layout)
    if named < layout.points:
        notes.append(f"only {named} of {layout.points} points are labelled")
    fps = layout.rate if np.isfinite(layout.rate) and layout.rate > 0 else None
    units = (layout.texts("POINT:UNITS") or [""])[0]
    if not names:
        return finish_take(path, None, points, options, fps=fps, likely_units=units, likely_up=_up(layout), notes=notes)
    return finish_take(path, names, points, options, fps=fps, likely_units=units, likely_up=_up(layout), notes=notes)


def write_keypoints(
    keypoints: Keypoints, path: str | os.PathLike[str], *, units: str = "mm", up: str = "z"
) -> list[str]:
    """Write a take as C3D in `units` (m, cm, mm), `up` "z" or "y". Returns what is lost."""
    if units not in ("m", "cm", "mm"):
        raise OptionError(one_of("unit of a C3D file", units, ("m", "cm", "mm")))
    if up not in ("y", "z"):
        raise OptionError(one_of("up axis of a C3D file", up, ("y", "z")))
    if keypoints.frame_count == 0 or not keypoints.names:
        raise FileError(path, "a take without frames or points cannot be written as C3D")
    import ezc3d

    p = keypoints.positions / UNITS[units]
    turned = p if up == "y" else np.stack([p[..., 0], -p[..., 2], p[..., 1]], axis=-1)
    file = ezc3d.c3d()
    file["parameters"]["POINT"]["RATE"]["value"] = [keypoints.fps]
    file["parameters"]["POINT"]["UNITS"]["value"] = [units]
    file["parameters"]["POINT"]["LABELS"]["value"] = list(keypoints.names)
    file.add_parameter("POINT", "X_SCREEN", ["+X"])
    file.add_parameter("POINT", "Y_SCREEN", ["+" + up.upper()])
    homogeneous = np.ones((4, len(keypoints.names), keypoints.frame_count))
    homogeneous[:3] = np.moveaxis(turned, (0, 1, 2), (2, 1, 0))
    missing = ~np.isfinite(homogeneous[:3]).all(axis=0)
    file["data"]["points"] = homogeneous
    file["data"]["meta_points"]["residuals"] = np.where(missing, -1.0, 0.0)[None]
    with atomic_write(path) as temporary:
        file.write(os.fspath(temporary))
        if temporary.stat().st_size < keypoints.frame_count * len(keypoints.names) * _POINT_BYTES:
            raise FileError(path, "cannot be written whole: is the disk full?")  # ezc3d says nothing of it
    notes = ["C3D holds single precision: places are rounded to about a ten-millionth of their size"]
    return notes + (["confidence is not part of C3D"] if keypoints.confidence is not None else [])


def _labels(layout: Layout3D) -> tuple[list[str], int]:
    """Return one name a point and how many the file gives; no names when it labels none."""
    labels = layout.texts("POINT:LABELS")[: layout.points]
    named = sum(bool(label) for label in labels)
    if named == 0:
        return [], 0
    labels += [""] * (layout.points - len(labels))
    return [label or f"unlabelled {k + 1}" for k, label in enumerate(labels)], named


def _up(layout: Layout3D) -> str:
    """Return the axis that stands up on the screen, which most writers set, else Z."""
    axis = (layout.texts("POINT:Y_SCREEN") or [""])[0].strip().lower()
    return axis if axis in _AXES else "+z"
