"""TRC: tab-separated marker trajectories, as OpenSim, Pose2Sim and motion capture systems write them.

Units stand in the header. OpenSim is Y up, some writers Z up: the body in the take decides. Empty cells and NaN are
missing markers. A header whose counts are wrong is put right by what follows it.
"""

import os
from itertools import pairwise
from pathlib import Path
from typing import Unpack

from mimik._types import Array
from mimik.errors import FileError, OptionError, one_of
from mimik.goals.axes import UNITS
from mimik.goals.keypoints import Keypoints
from mimik.io._points import TakeOptions, check_size, finish_take
from mimik.io._rows import is_number, parse_lines, rate_of_times
from mimik.io.files import atomic_write, read_text

_HEADER_KEYS = "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames"


def sniff(path: Path) -> bool:
    """Say whether the suffix is TRC's."""
    return path.suffix.lower() == ".trc"


def read_keypoints(path: str | os.PathLike[str], **options: Unpack[TakeOptions]) -> Keypoints:
    """Read markers over time. Raises FileError with the line that is wrong."""
    lines = read_text(path).splitlines()
    start = _first_data_line(path, lines)
    separator = "\t" if "\t" in lines[start] else None
    head = [[cell.strip() for cell in line.split(separator)] for line in lines[:start]]
    header = _header(head)
    notes: list[str] = []
    names = _marker_names(head)
    rows = [(i + 1, line) for i, line in enumerate(lines[start:], start) if line.strip()]
    if names is None:
        names = [f"point_{k + 1}" for k in range((len(rows[0][1].split(separator)) - 2) // 3)]
        notes.append("the file has no line of marker names (Frame#, Time, ...)")
    if not names:
        raise FileError(path, "names no marker", line=start)
    check_size(path, len(rows), len(names))
    table, short = parse_lines(path, rows, separator, 2 + 3 * len(names), named=f"frame, time and {len(names)} markers")
    if short:
        notes.append(f"{short} rows are shorter than {len(names)} markers: what is left out counts as missing")
    _check_counts(header, len(rows), len(names), notes)
    fps = _rate(header, table[:, 1], notes)
    positions = table[:, 2:].reshape(len(rows), len(names), 3)
    return finish_take(path, names, positions, options, fps=fps, likely_units=header.get("units", ""), notes=notes)


def write_keypoints(keypoints: Keypoints, path: str | os.PathLike[str], *, units: str = "m") -> list[str]:
    """Write a take as TRC, Y up, in `units` (m, cm, mm); missing points are empty cells. Returns what is lost."""
    if units not in ("m", "cm", "mm"):
        raise OptionError(one_of("unit of a TRC file", units, ("m", "cm", "mm")))
    fps, frames, names = keypoints.fps, keypoints.frame_count, [_clean(name) for name in keypoints.names]
    values = (keypoints.positions / UNITS[units]).reshape(frames, -1)
    decimals = {"m": 7, "cm": 5, "mm": 4}[units]
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as out:
        out.write(f"PathFileType\t4\t(X/Y/Z)\t{Path(path).name}\n")
        out.write(_HEADER_KEYS + "\n")
        out.write(f"{fps:.10g}\t{fps:.10g}\t{frames}\t{len(names)}\t{units}\t{fps:.10g}\t1\t{frames}\n")
        out.write("Frame#\tTime\t" + "\t\t\t".join(names) + "\t\t\n")
        out.write("\t\t" + "\t".join(f"X{k}\tY{k}\tZ{k}" for k in range(1, len(names) + 1)) + "\n\n")
        cells = "\t".join([f"%.{decimals}f"] * values.shape[1])
        for i, row in enumerate(values):
            out.write(f"{i + 1}\t{i / fps:.8f}\t{(cells % tuple(row)).replace('nan', '')}\n")
    return ["confidence is not part of TRC"] if keypoints.confidence is not None else []


def _first_data_line(path: str | os.PathLike[str], lines: list[str]) -> int:
    """Return the index of the first row of data: frame number, time, then numbers or empty cells."""
    after_names = 0
    for i, line in enumerate(lines[:200]):
        cells = line.replace(",", ".").split()
        if cells and cells[0].lower().startswith("frame"):
            after_names = i + 1
    for i, line in enumerate(lines[after_names:200], after_names):
        cells = line.split()
        if len(cells) >= 2 and is_number(cells[0]) and is_number(cells[1]) and (after_names or len(cells) >= 11):
            return i
    raise FileError(path, "has no row of data: frame number, time and coordinates", line=min(len(lines), 200))


def _header(head: list[list[str]]) -> dict[str, str]:
    """Return the header's values by lower-case key, from the line of keys and the one below it."""
    for keys, values in pairwise(head):
        if any(key.lower() == "datarate" for key in keys):
            return {key.lower(): value for key, value in zip(keys, values) if key}
    return {}


def _marker_names(head: list[list[str]]) -> list[str] | None:
    for cells in head:
        if cells and cells[0].lower().startswith("frame") and "pathfiletype" not in cells[0].lower():
            rest = cells[2:] if len(cells) > 1 and cells[1].lower().startswith("time") else cells[1:]
            return [cell for cell in rest if cell]
    return None


def _check_counts(header: dict[str, str], frames: int, markers: int, notes: list[str]) -> None:
    for key, found in (("numframes", frames), ("nummarkers", markers)):
        if header.get(key, str(found)) != str(found):
            notes.append(f"the header says {key} {header[key][:20]}, the file holds {found}")


def _rate(header: dict[str, str], times: Array, notes: list[str]) -> float | None:
    """Return the header's frame rate, or that of the time column where they differ."""
    measured = rate_of_times(times)
    try:
        said = float(header.get("datarate", "").replace(",", "."))
    except ValueError:
        said = 0.0
    if not 0.0 < said < 1e5:
        return measured
    if measured is not None and abs(measured - said) > 0.02 * said:
        notes.append(f"the header says {said:g} frames a second, the time column {measured:g}; the latter is taken")
        return measured
    return said


def _clean(name: str) -> str:
    return "_".join(name.split()) or "_"
