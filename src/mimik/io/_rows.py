"""Rows of numbers in text tables, with empty cells and spellings of "missing"."""

import os
import warnings
from collections.abc import Sequence

import numpy as np

from mimik._types import Array
from mimik.errors import FileError

_MISSING = frozenset({"", "nan", "na", "n/a", "null", "none", "-", "--", "inf", "-inf", "#n/a", "-nan(ind)", "-nan"})


def parse_lines(
    path: str | os.PathLike[str],
    lines: Sequence[tuple[int, str]],
    separator: str | None,
    columns: int,
    *,
    named: str,
) -> tuple[Array, int]:
    """Return numbers (rows, columns) of (line number, line), NaN for empty and missing cells, and how many were short.

    separator  between cells; None for any blanks, and then no cell can be empty
    named      what the columns belong to, for the message
    Raises FileError at the first cell that is neither number nor empty, and at the first row that is too long.
    """
    table = _parse_plain([line for _, line in lines], separator, columns)
    if table is not None:
        return table, 0
    return parse_rows(path, [(number, line.split(separator)) for number, line in lines], columns, named=named)


def _parse_plain(lines: list[str], separator: str | None, columns: int) -> Array | None:
    """Parse a table in which every row has every cell, if only an empty one; None where something is odd."""
    separator = separator or " "
    if separator not in "\t ," or any(line.count(separator) != columns - 1 for line in lines):
        return None
    text = "\n".join(lines) + "\n"
    for end in (separator, "\n"):  # twice: of neighbouring empty cells the first pass fills every other one
        text = text.replace(separator + end, f"{separator}nan{end}")
        text = text.replace(separator + end, f"{separator}nan{end}")
    if separator == ",":
        text = text.replace(",", " ")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values = np.fromstring(text, dtype=np.float64, sep=" ")
    except (ValueError, Warning):
        return None
    return values.reshape(len(lines), columns) if values.size == len(lines) * columns else None


def parse_rows(
    path: str | os.PathLike[str],
    rows: Sequence[tuple[int, Sequence[str]]],
    columns: int,
    *,
    named: str,
) -> tuple[Array, int]:
    """Do the same for rows already cut into cells (line number, cells); cells beyond `columns` must be empty.

    Raises FileError at the first cell that is neither number nor empty, and at the first row that is too long.
    """
    table = np.full((len(rows), columns), np.nan)
    short = 0
    for i, (line, cells) in enumerate(rows):
        if len(cells) > columns:
            if any(cell.strip() for cell in cells[columns:]):
                raise FileError(path, f"has {len(cells)} columns; {named} need {columns}", line=line)
            cells = cells[:columns]
        short += len(cells) < columns
        try:
            table[i, : len(cells)] = list(map(float, cells))
        except ValueError:
            table[i, : len(cells)] = [_number(path, line, cell) for cell in cells]
    return table, short


def is_number(cell: str) -> bool:
    """Say whether a cell reads as a number."""
    try:
        float(cell.replace(",", ".", 1))
    except ValueError:
        return False
    return True


def rate_of_times(times: Array) -> float | None:
    """Return frames a second of rising times in seconds (T,), None where they do not rise."""
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.diff(times)
    steps = steps[np.isfinite(steps) & (steps > 0)]
    if len(steps) == 0 or len(steps) < 0.5 * (len(times) - 1):
        return None
    with np.errstate(all="ignore"):
        rate = float(1.0 / np.median(steps))
        exact = float(len(steps) / steps.sum())
    if not np.isfinite(rate):
        return None
    rate = exact if abs(exact - rate) < 0.02 * rate else rate
    return float(round(rate)) if round(rate) > 0 and abs(rate - round(rate)) < 0.002 * rate else rate


def _number(path: str | os.PathLike[str], line: int, cell: str) -> float:
    text = cell.strip()
    if text.lower() in _MISSING:
        return float("nan")
    try:
        return float(text.replace(",", ".", 1))
    except ValueError:
        raise FileError(path, f"{text[:40]!r} is not a number", line=line) from None
