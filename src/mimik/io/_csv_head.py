"""What the columns of a table of points mean: `LKnee_x`, `knee.L Y`, `x12`, or names and axes in rows of their own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CONFIDENCE = _words("c conf confidence likelihood score p v vis visibility w prob probability")
_FRAME = _words("frame frames frameindex framenumber frameno frameid index idx number no")
_TIME = _words("time times timestamp timestamps t timeseconds seconds sec timesec timems timestampms ms milliseconds")
_NAME = _words("name point landmark joint marker keypoint landmarkname jointname keypointname landmarkid")
_LONGEST_LABEL = 200  # characters; longer ones would take the patterns below too long
_UNITS = _words("m cm mm in meter meters metre metres millimeters millimetres centimeters centimetres inches")
_PART = "x|y|z|" + "|".join(sorted(_CONFIDENCE, key=len, reverse=True))
_AXIS_LAST = re.compile(rf"^(.*?)[\s_.:\-/\[(|]+({_PART})(?:[\s_]*[\[(]?(?:mm|cm|m)[\])]?)?[\])]?$", re.IGNORECASE)
_AXIS_FIRST = re.compile(rf"^({_PART})[\s_.:\-/\[(|]*(\d+)[\])]?$", re.IGNORECASE)
_AXIS_GLUED = re.compile(r"^(.*?[a-z0-9])([XYZ])$|^(.*?\d)([xyz])$")


@dataclass(frozen=True, slots=True)
class Columns:
    """Where in a row each thing stands; -1 where it does not.

    places      (name, x, y, z, confidence) of each point
    point_name  column that names the point of a row, in tables with one point a row
    """

    places: tuple[tuple[str, int, int, int, int], ...]
    frame: int = -1
    time: int = -1
    milliseconds: bool = False
    point_name: int = -1


def read_columns(head: Sequence[Sequence[str]]) -> Columns | None:
    """Understand one to four header rows; None when they do not name x, y and z of any point."""
    labels = _joined(head)
    found: dict[str, dict[str, int]] = {}
    frame = time = point_name = -1
    for k, label in enumerate(labels):
        word = re.sub(r"[^a-z]", "", label.lower())
        if word in _FRAME and frame < 0:
            frame = k
        elif word in _TIME and time < 0:
            time = k
        elif word in _NAME and point_name < 0:
            point_name = k
        elif (split := _split(label)) is not None:
            found.setdefault(split[0], {}).setdefault(split[1], k)
    places = tuple(
        (name, at["x"], at["y"], at["z"], at.get("c", -1)) for name, at in found.items() if {"x", "y", "z"} <= set(at)
    )
    if not places:
        return None
    milliseconds = time >= 0 and re.sub(r"[^a-z]", "", labels[time].lower()).endswith(("ms", "milliseconds"))
    return Columns(places, frame, time, milliseconds, point_name)


def units_of(head: Sequence[Sequence[str]]) -> str:
    """Return the unit of a header row that holds units and nothing else, empty where there is none."""
    for row in head:
        words = {cell.strip(" ()[]").lower() for cell in row} - {""}
        lengths = words & _UNITS
        if len(lengths) == 1 and words <= _UNITS | _TIME | {"deg", "-"}:
            return lengths.pop()
    return ""


def flat_names(head: Sequence[Sequence[str]]) -> list[str]:
    """Return the points that have some but not all of x, y, z, for messages."""
    splits = [split for label in _joined(head) if (split := _split(label)) is not None]
    return list(dict.fromkeys(name for name, _ in splits))


def _joined(head: Sequence[Sequence[str]]) -> list[str]:
    """Return one label a column: the last name row and the axis row below it; a name spans until the next one."""
    rows = [list(row) for row in head if any(cell.strip() for cell in row) and not units_of([row])]
    if len(rows) < 2:
        return [cell.strip() for cell in rows[0]] if rows else []
    axes = rows[-1]
    names = _filled(max(rows[:-1], key=lambda row: len({cell.strip() for cell in row})), len(axes))
    labels = []
    for name, axis in zip(names, axes):
        bare = axis.strip()
        is_part = re.fullmatch(rf"(?:{_PART})\d*", bare, re.IGNORECASE) is not None
        labels.append(
            f"{name.strip()}_{bare.rstrip('0123456789')}" if is_part and name.strip() else bare or name.strip()
        )
    return labels


def _filled(cells: list[str], width: int) -> list[str]:
    """Spread each name over the empty cells that follow it."""
    out, last = [], ""
    for cell in cells + [""] * (width - len(cells)):
        last = cell.strip() or last
        out.append(last)
    return out


def _split(label: str) -> tuple[str, str] | None:
    """Return (point name, x, y, z or c) of a label, None when it ends in no axis."""
    if len(label) > _LONGEST_LABEL:
        return None
    label = label.strip().strip('"').strip()
    if label.lower() in ("x", "y", "z") or label.lower() in _CONFIDENCE:
        return "", _part(label)
    if match := _AXIS_LAST.match(label):
        return match[1], _part(match[2])
    if match := _AXIS_FIRST.match(label):
        return match[2], _part(match[1])
    if match := _AXIS_GLUED.match(label):
        return match[1] or match[3], _part(match[2] or match[4])
    return None


def _part(text: str) -> str:
    return text.lower() if text.lower() in ("x", "y", "z") else "c"
