"""What every reader of keypoints ends with: checks, the layout, then metres and Y up."""

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

import numpy as np

from mimik._types import Array
from mimik.errors import FileError, LayoutError, OptionError, one_of
from mimik.goals.axes import Floor, normalise_take
from mimik.goals.keypoints import Keypoints
from mimik.goals.layouts import LAYOUTS, Layout, recognise
from mimik.io.mapping import read_mapping

MAX_NUMBERS = 120_000_000
MAX_POINTS = 10_000
_LONGEST_NAME = 500
_LARGEST = 1e9  # units; beyond it a number is rubbish, not a place


class TakeOptions(TypedDict, total=False):
    """What every reader of keypoints takes.

    fps       frames a second, where the file does not say or says it wrongly
    layout    a known layout's name; recognised unless given
    mapping   own point name -> role, or a .json or .toml file of the same
    units     "m", "cm", "mm", "in", or metres a unit; recognised unless given
    up        "y", "-y", "z", ...; recognised unless given
    mirrored  True for left-handed data; recognised unless given
    height    the person's height in metres; scales the take to it
    floor     "keep", "take" or "frame", see `mimik.goals.axes.normalise_take`
    """

    fps: float | None
    layout: str
    mapping: Mapping[str, str] | str | os.PathLike[str] | None
    units: str | float
    up: str
    mirrored: bool | Literal["auto"]
    height: float | None
    floor: Floor


def finish_take(
    path: str | os.PathLike[str],
    names: Sequence[str] | None,
    positions: Array,
    options: TakeOptions,
    *,
    confidence: Array | None = None,
    fps: float | None = None,
    likely_units: str = "",
    likely_up: str = "",
    likely_layout: str = "",
    notes: Sequence[str] = (),
) -> Keypoints:
    """Return keypoints in metres, Y up, from raw positions (T, K, 3); notes tell every guess.

    fps            what the file says, None where it does not (30 then, with a note)
    names          None for points without names: the layout is told by their number and bone lengths
    likely_layout  the format's own layout, used when the options name none
    """
    unknown = [key for key in options if key not in TakeOptions.__annotations__]
    if unknown:
        raise OptionError(one_of("option of this reader", unknown[0], TakeOptions.__annotations__))
    if positions.ndim != 3 or positions.shape[2] != 3 or positions.shape[1] == 0 or len(positions) == 0:
        raise FileError(path, f"holds points of shape {positions.shape}; needed: at least one frame, point and x y z")
    long = next((k for k, name in enumerate(names or ()) if len(name) > _LONGEST_NAME), None)
    if long is not None:
        raise FileError(path, f"has a name of more than {_LONGEST_NAME} characters for point {long}")
    told = list(notes)
    positions = _sane(positions, told)
    if not np.isfinite(positions).any():
        raise FileError(path, "holds no seen point: every coordinate is missing")
    rate = _frame_rate(path, options.get("fps"), fps, told)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        layout = _layout(path, names, positions, options, likely_layout, told)
        shown = tuple(names) if names is not None and layout is None else layout.names if layout else ()
        if options.get("mapping") and layout is not None:
            shown = tuple(site or name for site, name in zip(layout.sites, layout.names))
        take = Keypoints(
            shown or tuple(f"point_{k}" for k in range(positions.shape[1])),
            positions,
            rate,
            confidence,
            layout.name if layout is not None and layout.name in LAYOUTS else "",
            tuple(told),
        )
        return normalise_take(
            take,
            units=options.get("units", "auto"),
            up=options.get("up", "auto"),
            mirrored=options.get("mirrored", "auto"),
            height=options.get("height"),
            floor=options.get("floor", "auto"),
            layout=layout,
            likely_units=likely_units,
            likely_up=likely_up,
        )


def check_size(path: str | os.PathLike[str], frames: int, points: int, *, line: int | None = None) -> None:
    """Raise FileError before memory is taken for more than is sensible."""
    if points > MAX_POINTS:
        raise FileError(path, f"declares {points} points; at most {MAX_POINTS} are read", line=line)
    if frames * points * 3 > MAX_NUMBERS:
        raise FileError(path, f"declares {frames} frames of {points} points, more than is read", line=line)


def _sane(positions: Array, notes: list[str]) -> Array:
    """Return a copy in which a point with an impossible coordinate is missing."""
    positions = np.array(positions, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        wild = (np.abs(positions) > _LARGEST).any(axis=2)
    if wild.any():
        notes.append(f"{int(wild.sum())} points lay beyond {_LARGEST:.0e} units and count as missing")
        positions[wild] = np.nan
    return positions


def _frame_rate(path: str | os.PathLike[str], told: float | None, found: float | None, notes: list[str]) -> float:
    if told is not None:
        if not (np.isfinite(told) and 0 < told <= 1e5):
            raise OptionError(f"fps={told}: frames a second must be a positive number")
        return float(told)
    if found is None:
        notes.append("the file does not say its frame rate: 30 frames a second assumed; settle it with fps=")
        return 30.0
    if not (np.isfinite(found) and 1e-3 <= found <= 1e5):
        raise FileError(path, f"says {found} frames a second; between 0.001 and 100,000 make sense; fps= overrules")
    return float(found)


def _layout(
    path: str | os.PathLike[str],
    names: Sequence[str] | None,
    positions: Array,
    options: TakeOptions,
    likely: str,
    notes: list[str],
) -> Layout | None:
    """Recognise the layout; None with a note for names nobody knows, unless an option says they should be known."""
    mapping = options.get("mapping")
    if isinstance(mapping, str | os.PathLike):
        mapping = read_mapping(mapping)
    told = options.get("layout", "")
    try:
        layout = recognise(names, positions.shape[1], layout=told or likely, mapping=mapping, positions=positions)
    except LayoutError as error:
        if told or mapping:
            raise FileError(path, str(error)) from None
        what = str(error).split(". ")[0]
        notes.append(f"layout not recognised: {what}; settle it with layout= or mapping=")
        return None
    notes += layout.notes
    return layout
