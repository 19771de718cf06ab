"""Joint limits as a TOML file one can read and edit: degrees and metres there, radians inside."""

import os
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from mimik._types import Array
from mimik.errors import FileError, MimikError, RigError
from mimik.io.files import atomic_write
from mimik.rig.limits import JointRange, Limits

_KEYS = {"kind", "axes", "lower_deg", "upper_deg", "lower_m", "upper_m", "cone_deg", "centre"}
_MAX_BYTES = 4_000_000


def read_limits(path: str | os.PathLike[str]) -> Limits:
    """Read a limits file; raises FileError that names the joint and what is wrong."""
    source = Path(path)
    try:
        if source.stat().st_size > _MAX_BYTES:
            raise FileError(path, f"larger than {_MAX_BYTES} bytes; this is no limits file")
        table = tomllib.loads(source.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FileError(path, str(error)) from error
    joints = table.get("joints")
    if not isinstance(joints, dict):
        raise FileError(path, "has no [joints.NAME] tables")
    ranges = {}
    for name, entry in joints.items():
        try:
            ranges[name] = _parse(entry)
        except (MimikError, TypeError, ValueError) as error:
            raise FileError(path, f"joint {name!r}: {error}") from error
    return Limits(ranges, str(table.get("source", "")))


def write_limits(limits: Limits, path: str | os.PathLike[str]) -> None:
    """Write a limits file; what is read back is the same to the last printed digit."""
    lines = ["# mimik joint limits: degrees; slides in metres; axes in each joint's own frame", ""]
    lines.append(f"source = {_quoted(limits.source)}")
    for name in limits:
        lines += ["", f"[joints.{_quoted(name)}]", *_entry(limits[name])]
    with atomic_write(path) as temporary:
        Path(temporary).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _parse(entry: Any) -> JointRange:
    if not isinstance(entry, dict):
        raise RigError("must be a table with kind, axes and limits")
    unknown = sorted(set(entry) - _KEYS)
    if unknown:
        raise RigError(f"unknown key {unknown[0]!r}; valid: {', '.join(sorted(_KEYS))}")
    kind = entry.get("kind", "ball")
    slide = kind == "slide"
    axes = np.array(entry.get("axes", np.zeros((0, 3))), dtype=np.float64).reshape(-1, 3)
    lower, upper = (_bounds(entry, side, slide, len(axes)) for side in ("lower", "upper"))
    cone = np.deg2rad(float(entry["cone_deg"])) if "cone_deg" in entry else np.inf
    return JointRange(
        kind, axes, lower, upper, cone, np.array(entry.get("centre", [0.0, 0.0, 0.0, 1.0]), dtype=np.float64)
    )


def _bounds(entry: dict[str, Any], side: str, slide: bool, count: int) -> Array:
    unbounded = -np.inf if side == "lower" else np.inf
    given = entry.get(f"{side}_{'m' if slide else 'deg'}", [unbounded] * count)
    values = np.atleast_1d(np.array(given, dtype=np.float64))
    if len(values) != count:
        raise RigError(f"{side} has {len(values)} numbers for {count} axes")
    return values if slide else np.deg2rad(values)


def _entry(r: JointRange) -> list[str]:
    unit = "m" if r.kind == "slide" else "deg"
    lines = [f"kind = {_quoted(r.kind)}"]
    if len(r.axes):
        lines.append(f"axes = [{', '.join(_row(axis) for axis in r.axes)}]")
    for side, values in (("lower", r.lower), ("upper", r.upper)):
        if len(values) and np.isfinite(values).any():
            lines.append(f"{side}_{unit} = {_row(values if unit == 'm' else np.rad2deg(values))}")
    if np.isfinite(r.cone):
        lines.append(f"cone_deg = {_number(float(np.rad2deg(r.cone)))}")
    if not np.allclose(r.centre, [0.0, 0.0, 0.0, 1.0], atol=1e-12):
        lines.append(f"centre = {_row(r.centre)}")
    return lines


def _row(values: Array) -> str:
    return "[" + ", ".join(_number(float(v)) for v in values) + "]"


def _number(value: float) -> str:
    return "inf" if value == np.inf else "-inf" if value == -np.inf else repr(round(value, 9) + 0.0)


def _quoted(text: str) -> str:
    safe = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in safe) + '"'
