"""Goals from a TOML or JSON file: a list `goals` of tables with `kind`, `joint`, `target` and options.

[[goals]]
kind = "position"
joint = "left_hand"
target = [0.4, 1.2, 0.3]
pinned = true
"""

import dataclasses
import json
import os
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from mimik.errors import FileError, GoalError, one_of
from mimik.goals.targets import (
    AboveGround,
    CentreOfMass,
    Direction,
    Distance,
    Goal,
    LookAt,
    Orientation,
    Pole,
    Position,
)

GOAL_KINDS: dict[str, type[Goal]] = {
    "position": Position,
    "orientation": Orientation,
    "direction": Direction,
    "look_at": LookAt,
    "pole": Pole,
    "distance": Distance,
    "above_ground": AboveGround,
    "centre_of_mass": CentreOfMass,
}
"""Kind in a file -> goal."""

_MAX_BYTES = 4_000_000


def read_goals(path: str | os.PathLike[str]) -> list[Goal]:
    """Read goals from .toml or .json; raises FileError that names the goal and what would be valid."""
    source = Path(path)
    try:
        if source.stat().st_size > _MAX_BYTES:
            raise FileError(path, f"larger than {_MAX_BYTES} bytes; this is no goals file")
        text = source.read_text(encoding="utf-8")
        table = json.loads(text) if source.suffix.lower() == ".json" else tomllib.loads(text)
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise FileError(path, str(error)) from error
    entries = table.get("goals") if isinstance(table, dict) else table
    if not isinstance(entries, list) or not entries:
        raise FileError(path, "holds no list `goals`")
    goals = []
    for number, entry in enumerate(entries, 1):
        try:
            goals.append(goal_from_table(entry))
        except GoalError as error:
            raise FileError(path, f"goal {number}: {error}") from error
    return goals


def goal_from_table(entry: Any) -> Goal:
    """Return the goal of one table; angles are radians, lengths metres, quaternions x y z w."""
    if not isinstance(entry, dict):
        raise GoalError(f"a goal is a table with kind, joint and target, not {entry!r}")
    given = dict(entry)
    kind = str(given.pop("kind", "position")).lower()
    if kind not in GOAL_KINDS:
        raise GoalError(one_of("kind of goal", kind, GOAL_KINDS))
    cls = GOAL_KINDS[kind]
    fields = {f.name: f for f in dataclasses.fields(cls)}
    unknown = sorted(set(given) - set(fields))
    if unknown:
        raise GoalError(one_of(f"key of a {kind} goal", unknown[0], fields))
    missing = [n for n, f in fields.items() if n not in given and _required(f)]
    if missing:
        raise GoalError(f"a {kind} goal needs {missing[0]!r}")
    try:
        values: dict[str, Any] = {
            k: np.array(v, dtype=np.float64) if isinstance(v, list) else v for k, v in given.items()
        }
        return cls(**values)
    except (TypeError, ValueError) as error:
        raise GoalError(f"a {kind} goal cannot be made of {entry}: {error}") from error


def _required(field: Any) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
