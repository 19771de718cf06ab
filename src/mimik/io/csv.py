"""Comma-, semicolon- or tab-separated tables of points.

One row a frame with columns `name_x, name_y, name_z` (also `name.x`, `name X`, `x12`; a fourth column with a
confidence), names and axes in rows of their own, or one row a point with columns frame, name, x, y, z. A time column
gives the frame rate. A table of numbers without a header is points without names.
"""

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

import numpy as np

from mimik._types import Array
from mimik.errors import FileError
from mimik.goals.keypoints import Keypoints
from mimik.io._csv_head import Columns, flat_names, read_columns, units_of
from mimik.io._points import TakeOptions, check_size, finish_take
from mimik.io._rows import is_number, parse_lines, parse_rows, rate_of_times
from mimik.io.files import atomic_write, read_text

_MOST_HEADER_ROWS = 12
_MOST_COLUMNS = 100_000


def sniff(path: Path) -> bool:
    """Say whether the suffix is CSV's."""
    return path.suffix.lower() == ".csv"


def read_keypoints(path: str | os.PathLike[str], **options: Unpack[TakeOptions]) -> Keypoints:
    """Read points over time. Raises FileError with the line that is wrong, or with the columns that are missing."""
    return read_table(path, options)


def read_table(
    path: str | os.PathLike[str], options: TakeOptions, *, likely_layout: str = "", likely_up: str = ""
) -> Keypoints:
    """Read any of the shapes above; formats that are CSV with names of their own add what is likely."""
    lines = [(i, line) for i, line in enumerate(read_text(path).splitlines(), 1) if line.strip(" \t,;")]
    separator = _separator(path, lines)
    quoted = any('"' in line for _, line in lines[:50])
    head_count = _header_rows(path, lines, separator)
    head = [_cells(line, separator) for _, line in lines[:head_count]]
    columns = read_columns(head) if head else None
    body = lines[head_count:]
    width = len(_cells(body[0][1], separator))
    if columns is None:
        columns = _columns_without_names(path, head, width)
    if columns.point_name >= 0 or (columns.frame >= 0 and columns.places[0][0] == ""):
        return _read_long(path, body, separator, columns, options, likely_layout, likely_up)
    check_size(path, len(body), len(columns.places))
    width = max(width, len(head[-1]) if head else 0)
    if quoted:
        rows = [(i, _cells(line, separator)) for i, line in body]
        table, short = parse_rows(path, rows, width, named="the header's columns")
    else:
        table, short = parse_lines(path, body, separator, width, named="the header's columns")
    notes = [f"{short} rows are shorter than the header: what is left out counts as missing"] if short else []
    positions = np.stack([table[:, [x, y, z]] for _, x, y, z, _ in columns.places], axis=1)
    names = [name for name, *_ in columns.places]
    return finish_take(
        path,
        names if any(not name.isdigit() and name for name in names) else None,
        positions,
        options,
        confidence=_confidence(table, [c for *_, c in columns.places]),
        fps=_rate(table, columns),
        likely_units=units_of(head),
        likely_layout=likely_layout,
        likely_up=likely_up,
        notes=notes,
    )


def write_keypoints(keypoints: Keypoints, path: str | os.PathLike[str]) -> list[str]:
    """Write frame, time and `name_x, name_y, name_z` (and `name_c`, if there is confidence) in metres, Y up."""
    parts = ["x", "y", "z"] + (["c"] if keypoints.confidence is not None else [])
    values = keypoints.positions
    if keypoints.confidence is not None:
        values = np.concatenate([values, keypoints.confidence[..., None]], axis=-1)
    flat = values.reshape(keypoints.frame_count, -1)
    cells = ",".join(["%.7f"] * flat.shape[1])
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["frame", "time", *(f"{name}_{part}" for name in keypoints.names for part in parts)])
        for i, row in enumerate(flat):
            out.write(f"{i},{i / keypoints.fps:.8f},{(cells % tuple(row)).replace('nan', '')}\n")
    return []


def _separator(path: str | os.PathLike[str], lines: Sequence[tuple[int, str]]) -> str:
    if not lines:
        raise FileError(path, "holds no table")
    sample = [line for _, line in lines[:20]]
    counts = {sep: sum(line.count(sep) for line in sample) for sep in ("\t", ";", ",")}
    best = max(counts, key=lambda sep: counts[sep])
    if counts["\t"] >= len(sample):
        return "\t"
    if counts[";"] >= len(sample):
        return ";"
    if counts[best] == 0:
        raise FileError(path, "is no table: its lines hold neither commas, semicolons nor tabs", line=lines[0][0])
    return best


def _cells(line: str, separator: str) -> list[str]:
    if '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return line.replace('"', "").split(separator)


def _header_rows(path: str | os.PathLike[str], lines: Sequence[tuple[int, str]], separator: str) -> int:
    """Return how many rows stand before the first row of numbers."""
    for i, (line_number, line) in enumerate(lines[: _MOST_HEADER_ROWS + 1]):
        cells = _cells(line, separator)
        if len(cells) > _MOST_COLUMNS:
            raise FileError(path, f"has {len(cells)} columns; at most {_MOST_COLUMNS} are read", line=line_number)
        filled = [cell for cell in cells if cell.strip()]
        if i and sum(map(is_number, filled)) >= 3 and sum(map(is_number, filled)) >= len(filled) - 2:
            return i
        if i == 0 and filled and all(map(is_number, filled)):
            return 0
    raise FileError(path, f"has no row of numbers in its first {_MOST_HEADER_ROWS} rows", line=lines[0][0])


def _columns_without_names(path: str | os.PathLike[str], head: list[list[str]], width: int) -> Columns:
    """Take a table without a header as 3 columns a point, after a frame or time column if one is over."""
    if any(cell.strip() for row in head for cell in row):
        partial = flat_names(head)
        message = "its header names no point with x, y and z columns (name_x, name_y, name_z)"
        if partial:
            message += f"; incomplete: {', '.join(map(repr, partial[:8]))} (2D points are not enough, 3D is needed)"
        raise FileError(path, message, line=1)
    lead = width % 3
    if lead == 2 or width < 3:
        raise FileError(path, f"has no header and {width} columns, which is no whole number of x y z", line=1)
    places = tuple((str(k), *(lead + 3 * k + a for a in range(3)), -1) for k in range(width // 3))
    return Columns(places)  # type: ignore[arg-type]


def _confidence(table: Array, columns: Sequence[int]) -> Array | None:
    if all(c < 0 for c in columns):
        return None
    return np.stack([np.nan_to_num(table[:, c]) if c >= 0 else np.ones(len(table)) for c in columns], axis=1)


def _rate(table: Array, columns: Columns) -> float | None:
    if columns.time < 0:
        return None
    return rate_of_times(table[:, columns.time] * (1e-3 if columns.milliseconds else 1.0))


def _read_long(
    path: str | os.PathLike[str],
    body: Sequence[tuple[int, str]],
    separator: str,
    columns: Columns,
    options: TakeOptions,
    likely_layout: str,
    likely_up: str,
) -> Keypoints:
    """Read a table with one row a point: columns frame (or time), the point's name or number, x, y, z."""
    keep = [c for c in (columns.frame, columns.time, *columns.places[0][1:]) if c >= 0]
    labels: list[str] = []
    rows = []
    for line_number, line in body:
        cells = _cells(line, separator)
        labels.append(cells[columns.point_name].strip() if 0 <= columns.point_name < len(cells) else "")
        rows.append((line_number, [cells[c] if c < len(cells) else "" for c in keep]))
    table, _ = parse_rows(path, rows, len(keep), named="frame, x, y and z")
    if columns.frame < 0 and columns.time < 0:
        raise FileError(path, "has one row a point but no frame or time column", line=body[0][0])
    steps, frame = np.unique(table[:, 0], return_inverse=True)
    if columns.point_name < 0:  # points in the same order in every frame
        order = np.concatenate([np.arange(n) for n in np.bincount(frame)])
        labels = [str(k) for k in order[np.argsort(np.argsort(frame, kind="stable"))]]
    names = list(dict.fromkeys(labels))
    check_size(path, len(steps), len(names))
    point = np.array([{name: k for k, name in enumerate(names)}[label] for label in labels]) if names else np.zeros(0)
    first = len(keep) - sum(c >= 0 for c in columns.places[0][1:])
    positions = np.full((len(steps), len(names), 3), np.nan)
    positions[frame, point] = table[:, first : first + 3]
    confidence = None
    if columns.places[0][4] >= 0:
        confidence = np.zeros(positions.shape[:2])
        confidence[frame, point] = np.nan_to_num(table[:, first + 3])
    time = None
    if columns.time >= 0:
        column = table[:, int(columns.frame >= 0)] * (1e-3 if columns.milliseconds else 1.0)
        time = rate_of_times(np.unique(column[np.isfinite(column)]))
    named = any(not name.isdigit() for name in names)
    return finish_take(
        path,
        names if named else None,
        positions,
        options,
        confidence=confidence,
        fps=time,
        likely_layout=likely_layout,
        likely_up=likely_up,
    )
