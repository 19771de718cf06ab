"""What a BVH file does not say: how long its unit is, and which way is up. Guessed from the body, or told."""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from mimik._types import Array, IntArray
from mimik.errors import OptionError, one_of
from mimik.rig.role_names import roles_from_names
from mimik.rig.skeleton import Skeleton

UNITS = MappingProxyType({"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "cmu": 0.0254 / 0.45})
"""Unit -> metres. `cmu` is the unit of the CMU database's files."""

_UNIT_NAMES = {"m": "metres", "cm": "centimetres", "mm": "millimetres", "in": "inches", "cmu": "CMU units of 5.64 cm"}
# longest way from end to end along the bones (hand to foot, about 1.2 heights) in file units -> unit
_UNIT_BY_LENGTH = ((6.0, "m"), (26.0, "cmu"), (58.0, "cmu"), (100.0, "in"), (600.0, "cm"), (np.inf, "mm"))
_DOUBTFUL_LENGTHS = ((0.0, 0.9), (5.0, 28.0), (55.0, 62.0), (92.0, 125.0), (400.0, 900.0), (5000.0, np.inf))

# rows: our axes in file axes; each a rotation by right angles with the named file axis turned up
_TURNS = {
    "y": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "z": ((1, 0, 0), (0, 0, 1), (0, -1, 0)),
    "x": ((0, -1, 0), (1, 0, 0), (0, 0, 1)),
    "-y": ((1, 0, 0), (0, -1, 0), (0, 0, -1)),
    "-z": ((1, 0, 0), (0, 0, -1), (0, 1, 0)),
    "-x": ((0, 1, 0), (-1, 0, 0), (0, 0, 1)),
}
UP_AXES = tuple(_TURNS)


@dataclass(frozen=True, slots=True)
class UpGuess:
    """Which file axis points up, along which the rest pose stands (empty when it is no pose), what to tell the user."""

    up: str
    rest_up: str
    note: str


def up_turn(up: str) -> Array:
    """Return the matrix (3, 3), exact, that turns file axes to Y up; Z up facing -Y comes to face +Z."""
    if up not in _TURNS:
        raise OptionError(one_of("up axis", up, UP_AXES))
    return np.array(_TURNS[up], dtype=np.float64)


def turn_quats(turn: Array, q: Array) -> Array:
    """Express rotations (..., 4) in turned axes: C R inv(C), exact for turns by right angles."""
    if np.array_equal(turn, np.eye(3)):
        return q
    return np.concatenate([q[..., :3] @ turn.T, q[..., 3:]], axis=-1)


def metres_per_unit(units: str | float) -> float:
    """Return the length of a unit that the user names or gives in metres; raises OptionError."""
    if isinstance(units, str):
        if units not in UNITS:
            raise OptionError(one_of("unit", units, UNITS) + ", or metres per unit as a number")
        return UNITS[units]
    if not (np.isfinite(units) and 1e-6 <= units <= 1e6):
        raise OptionError(f"units={units!r}: metres per unit must lie between 1e-6 and 1e6")
    return float(units)


def guess_units(parents: IntArray, offsets: Array, tips: Array) -> tuple[float, str]:
    """Return metres per unit and a note, from the longest way along the bones; independent of the pose."""
    length = _longest_way(parents, offsets, tips)
    if length == 0.0:
        return 1.0, "no bone has a length; taken as metres (units= settles it)"
    unit = next(name for limit, name in _UNIT_BY_LENGTH if length <= limit)
    metres = length * UNITS[unit]
    doubt = any(low <= length <= high for low, high in _DOUBTFUL_LENGTHS)
    size = f"{metres:.2f} m from end to end along its bones"
    if doubt:
        return UNITS[
            unit
        ], f"units are uncertain: taken as {_UNIT_NAMES[unit]}, the figure has {size} (units= settles it)"
    return UNITS[unit], f"units: {_UNIT_NAMES[unit]}; the figure has {size}"


def guess_up(skeleton: Skeleton, p_rest: Array, p_motion: Array) -> UpGuess:
    """Guess the up axis from where the head stands above the ankles at rest (J, 3) and in motion (T, J, 3).

    Where they disagree the rest counts (people lie down), unless the lowest point stays level along the motion's axis.
    """
    roles = roles_from_names(skeleton)
    rest = _body_axis(skeleton, roles, p_rest[None], straight=True)
    moving = _body_axis(skeleton, roles, p_motion, straight=False)
    if rest and moving and rest != moving:
        up = moving if _level_axis(p_motion) == moving.strip("-") else rest
        note = f"the rest stands along {rest.upper()}, the motion along {moving.upper()}; {up.upper()} taken as up"
        return UpGuess(up, rest, f"{note} (up= settles it)")
    up = moving or rest or _level_axis(p_motion)
    if not up and len(p_motion):
        return UpGuess("y", rest, "up axis not recognised: taken as Y (up= settles it)")
    return UpGuess(up or "y", rest, _up_note(up or "y"))


def _up_note(up: str) -> str:
    return "" if up == "y" else f"{up.upper()} up: turned to Y up"


def _longest_way(parents: IntArray, offsets: Array, tips: Array) -> float:
    """Return the length of the longest way between two ends of the tree, tips included.

    The way from a lone root on the floor up to where the body forks does not count.
    """
    lengths = np.linalg.norm(offsets, axis=1)
    children = np.bincount(parents[1:], minlength=len(parents))
    in_body = np.zeros(len(parents), dtype=bool)
    for j in range(1, len(parents)):
        in_body[j] = in_body[parents[j]] or children[parents[j]] > 1
    below = np.nan_to_num(np.linalg.norm(tips, axis=1))  # longest way down from each joint
    longest = float(below.max())
    for j in range(len(parents) - 1, 0, -1):
        way, parent = below[j] + lengths[j], parents[j]
        if in_body[j] or not in_body.any():
            longest = max(longest, float(way + below[parent]))
        below[parent] = max(below[parent], way)
    return longest


def _body_axis(skeleton: Skeleton, roles: dict[str, int], positions: Array, *, straight: bool) -> str:
    """Return the signed axis along which the head mostly stands from the ankles, empty where none prevails.

    With `straight`, only figures count whose trunk and legs are stretched out.
    """
    tops = [roles[r] for r in ("head", "neck", "spine3") if r in roles][:1]
    feet = [roles[r] for r in ("left_ankle", "right_ankle", "left_knee", "right_knee") if r in roles][:2]
    if not tops or not feet or not len(positions):
        return ""
    body = positions[:, tops[0]] - positions[:, feet].mean(axis=1)
    lengths = np.linalg.norm(body, axis=1)
    full = _way_between(skeleton, tops[0], feet[0]) if straight else float(lengths.max())
    long = (lengths >= 0.8 * full) & (lengths > 0)
    if not long.any():
        return ""
    mean = np.mean(body[long] / lengths[long, None], axis=0)
    axis = int(np.argmax(np.abs(mean)))
    if abs(mean[axis]) < 0.75:
        return ""
    return ("-" if mean[axis] < 0 else "") + "xyz"[axis]


def _way_between(skeleton: Skeleton, a: int, b: int) -> float:
    """Return the length along the bones from one joint to another."""
    lengths = np.linalg.norm(skeleton.offsets, axis=1)
    way = 0.0
    while a != b:
        if a > b:
            way, a = way + float(lengths[a]), int(skeleton.parents[a])
        else:
            way, b = way + float(lengths[b]), int(skeleton.parents[b])
    return way


def _level_axis(positions: Array) -> str:
    """Return "y" or "z", along whichever the lowest point of the body stays more level; empty where neither does
    or the body stays in place.
    """
    if len(positions) < 2:
        return ""
    lowest = positions.min(axis=1)  # (T, 3)
    spread = np.percentile(lowest, 90, axis=0) - np.percentile(lowest, 10, axis=0)
    if max(spread[1], spread[2]) < 0.1 * float(np.ptp(positions[0], axis=0).max()):
        return ""
    if spread[1] * 2 < spread[2]:
        return "y"
    return "z" if spread[2] * 2 < spread[1] else ""
