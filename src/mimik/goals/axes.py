"""Units, up axis and handedness of a take: recognised from the body in it, or told; then metres, Y up, right-handed.

The unit is the one that makes the person as tall as people are. Up is where trunk and legs point over the take and
where the feet keep a level. Data are mirrored when left, up and forward (from toes, face and bent knees) do not turn
the right way round. Every guess says how sure it is and which option settles it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mimik._types import Array
from mimik.errors import LayoutError, OptionError, one_of
from mimik.goals.keypoints import Keypoints
from mimik.goals.layouts import LANDMARKS, Layout, recognise
from mimik.rig.roles import BODY_ROLES

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254}
"""Metres a unit."""

UP_AXES = ("+x", "-x", "+y", "-y", "+z", "-z")
Floor = Literal["auto", "keep", "take", "frame"]

_UNIT_NAMES = {
    **{"meter": "m", "meters": "m", "metre": "m", "metres": "m", "centimeter": "cm", "centimeters": "cm"},
    **{"centimetre": "cm", "centimetres": "cm", "millimeter": "mm", "millimeters": "mm", "millimetre": "mm"},
    **{"millimetres": "mm", "inch": "in", "inches": "in"},
}
# to Y up by the smallest right-handed turn
_TO_Y_UP = {
    "+x": [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
    "-x": [[0, 1, 0], [-1, 0, 0], [0, 0, 1]],
    "+y": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "-y": [[1, 0, 0], [0, -1, 0], [0, 0, -1]],
    "+z": [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
    "-z": [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
}
_SHARE_OF_HEIGHT = (
    *(((f"{s}_hip", f"{s}_knee"), 0.238) for s in ("left", "right")),
    *(((f"{s}_knee", f"{s}_ankle"), 0.248) for s in ("left", "right")),
    *(((f"{s}_shoulder", f"{s}_elbow"), 0.162) for s in ("left", "right")),
    *(((f"{s}_elbow", f"{s}_wrist"), 0.150) for s in ("left", "right")),
    *(((f"{s}_shoulder", f"{s}_hip"), 0.310) for s in ("left", "right")),
)
_USUAL_UP = {"+y": 1.5, "+z": 1.5, "-y": 0.5, "-z": -1.0, "+x": -1.5, "-x": -1.5}  # of the files people have
_SURE = 0.9
_USUAL_HEIGHT = 1.7
_FRAMES_LOOKED_AT = 2000
_SOLE = {"ankle": 0.045, "foot": 0.012, "heel": 0.012, "big_toe": 0.006, "small_toe": 0.006}  # shares of the height


@dataclass(frozen=True, slots=True)
class TakeAxes:
    """What a take's numbers mean.

    units     "m", "cm", "mm", "in" or "none" (no unit makes sense: scaled to a usual height)
    scale     metres a unit
    up        one of UP_AXES
    mirrored  left-handed data, or sides named the wrong way round
    height    the person's height in metres, NaN where too little of the body is known
    sure      the least sure of the guesses, from 0 to 1
    notes     each doubtful guess and the option that settles it
    """

    units: str
    scale: float
    up: str
    mirrored: bool
    height: float
    sure: float
    notes: tuple[str, ...]


def normalise_take(
    keypoints: Keypoints,
    *,
    units: str | float = "auto",
    up: str = "auto",
    mirrored: bool | Literal["auto"] = "auto",
    height: float | None = None,
    floor: Floor = "auto",
    layout: Layout | None = None,
    likely_units: str = "",
    likely_up: str = "",
) -> Keypoints:
    """Return the take in metres, Y up, right-handed, with notes on what was guessed.

    units, up, mirrored   told, or "auto"; `units` may be a number of metres a unit
    height                the person's height in metres: scales the take to it, whatever the units
    floor                 "keep" heights, shift the whole "take" so that the feet stand at height 0, or every "frame" so
                          that the lowest foot does; "auto" shifts the take only where the data have no root motion
    likely_units, likely_up   what the file's format suggests; outweighed by clear evidence
    Raises OptionError for an option outside its values.
    """
    if floor not in ("auto", "keep", "take", "frame"):
        raise OptionError(one_of("floor", floor, ("auto", "keep", "take", "frame")))
    if layout is None:
        layout = _layout_or_none(keypoints)
    axes = recognise_axes(
        keypoints.positions,
        layout,
        units=units,
        up=up,
        mirrored=mirrored,
        height=height,
        likely_units=likely_units,
        likely_up=likely_up,
    )
    positions = to_metres_y_up(keypoints.positions, axes)
    notes = list(axes.notes)
    if layout is not None and len(positions):
        positions, told = _on_floor(positions, layout, axes.height, floor)
        notes += told
    return replace(keypoints, positions=positions, notes=(*keypoints.notes, *notes))


def to_metres_y_up(positions: Array, axes: TakeAxes) -> Array:
    """Return positions (..., 3) in metres, Y up, right-handed."""
    turn = np.array(_TO_Y_UP[axes.up], dtype=np.float64) * axes.scale
    if axes.mirrored:
        turn[0] *= -1.0
    return np.asarray(positions @ turn.T)


def recognise_axes(
    positions: Array,
    layout: Layout | None,
    *,
    units: str | float = "auto",
    up: str = "auto",
    mirrored: bool | Literal["auto"] = "auto",
    height: float | None = None,
    likely_units: str = "",
    likely_up: str = "",
) -> TakeAxes:
    """Find units, up axis and handedness of positions (T, K, 3). Without a layout only hints and options count."""
    told_up, told_units = _up_option(up), _units_option(units)
    if height is not None and not 0.2 < height < 3.0:
        raise OptionError(f"height={height}: the person's height in metres, between 0.2 and 3")
    body = _Body(positions, layout) if layout is not None else None
    tall = body.height() if body else float("nan")
    notes: list[str] = []
    name, scale, sure_units = _find_units(told_units, tall, height, likely_units, notes)
    axis, sure_up = (told_up, 1.0) if told_up else _find_up(body, tall, _up_option(likely_up or "auto"), notes)
    flip = mirrored if mirrored != "auto" else _find_mirrored(body, notes)
    return TakeAxes(name, scale, axis, flip, tall * scale, min(sure_units, sure_up), tuple(notes))


class _Body:
    """Joints and landmarks of up to 2,000 frames of a take."""

    def __init__(self, positions: Array, layout: Layout) -> None:
        points = layout.to_roles(positions[:: max(1, len(positions) // _FRAMES_LOOKED_AT)])
        self.places = dict(zip(BODY_ROLES, np.moveaxis(points.positions, 1, 0)))
        self.landmarks = dict(zip(LANDMARKS, np.moveaxis(points.landmarks, 1, 0)))

    def __getitem__(self, site: str) -> Array:
        """Return a role or landmark (T, 3)."""
        return self.places[site] if site in self.places else self.landmarks[site]

    def points(self, sites: Sequence[str]) -> Array:
        """Return several (T, K, 3)."""
        return np.stack([self[site] for site in sites], axis=1)

    def middle(self, site: str) -> Array:
        """Return the mid-point (T, 3) of left and right."""
        return np.asarray((self[f"left_{site}"] + self[f"right_{site}"]) / 2)

    def height(self) -> float:
        """Return the person's height in the take's own units, from limb lengths; NaN with fewer than two limbs."""
        found = []
        for (a, b), share in _SHARE_OF_HEIGHT:
            length = _median(np.linalg.norm(self[a] - self[b], axis=1))
            if np.isfinite(length) and length > 0:
                found.append(length / share)
        return float(np.median(found)) if len(found) >= 2 else float("nan")


def _find_units(
    told: tuple[str, float] | None, tall: float, height: float | None, likely: str, notes: list[str]
) -> tuple[str, float, float]:
    """Return (name, metres a unit, sureness)."""
    if height is not None and np.isfinite(tall):
        return "height", height / tall, 1.0
    if told:
        if np.isfinite(tall) and not 0.4 < tall * told[1] < 2.6:
            notes.append(f"with units={told[0]!r} the person is {tall * told[1]:.3g} m tall; check the units option")
        return *told, 1.0
    likely = _UNIT_NAMES.get(likely.strip().lower(), likely.strip().lower())
    if not np.isfinite(tall):
        unit = likely if likely in UNITS else "m"
        notes.append(f"units taken as {unit}: too little of the body is known to tell; settle it with units=")
        return unit, UNITS[unit], 0.5
    weights = {unit: _height_density(tall * scale) * (20.0 if unit == likely else 1.0) for unit, scale in UNITS.items()}
    none = 1e-3
    unit = max(weights, key=lambda u: weights[u])
    if weights[unit] < none:
        notes.append(
            f"no unit makes the person's {tall:.4g} units a likely height; scaled to {_USUAL_HEIGHT} m:"
            " settle it with units= or height= (metres)"
        )
        return "none", _USUAL_HEIGHT / tall, 0.3
    sure = weights[unit] / (sum(weights.values()) + none)
    if likely in UNITS and unit != likely:
        notes.append(
            f"the file says {likely}, which would make a person of {tall * UNITS[likely]:.3g} m;"
            f" taken as {unit} ({tall * UNITS[unit]:.2f} m); units={likely!r} overrules"
        )
    if sure < _SURE or not 1.1 < tall * UNITS[unit] < 2.3:
        notes.append(
            f"units guessed as {unit} (a person of {tall * UNITS[unit]:.2f} m); if wrong, say units= or height="
        )
    return unit, UNITS[unit], float(sure)


def _height_density(metres: float) -> float:
    """Return how likely a person is that tall: adults most of all, and with less weight children."""
    x = np.log(metres)
    adult = 0.9 / 0.1 * np.exp(-0.5 * ((x - np.log(1.7)) / 0.1) ** 2)
    child = 0.1 / 0.3 * np.exp(-0.5 * ((x - np.log(1.2)) / 0.3) ** 2)
    return float(adult + child)


def _find_up(body: _Body | None, tall: float, likely: str, notes: list[str]) -> tuple[str, float]:
    """Return the axis that trunk and legs point along and the feet keep level on, and how sure it is."""
    scores = dict.fromkeys(UP_AXES, 0.0)
    if body is not None:
        for k, axis in enumerate("xyz"):
            for sign, name in ((1.0, "+"), (-1.0, "-")):
                scores[name + axis] = _upness(body, k, sign, tall)
        if any(scores.values()):
            scores = {axis: score + _USUAL_UP[axis] for axis, score in scores.items()}
    if likely:
        scores[likely] += 1.0
    best = max(scores, key=lambda a: scores[a])
    if scores[best] <= 0.0:
        notes.append("up axis taken as +y: nothing of the body tells it; settle it with up=")
        return "+y", 0.3
    rest = np.array([v for a, v in scores.items() if a != best])
    sure = 1.0 / (1.0 + np.exp(rest - scores[best]).sum())
    if sure < _SURE:
        notes.append(f"up axis guessed as {best}, with doubt ({sure:.0%} sure); settle it with up=")
    return best, float(sure)


def _upness(body: _Body, k: int, sign: float, tall: float) -> float:
    """Score one direction: trunk, legs and head along it, the feet level."""
    hips = body.middle("hip")
    score = 0.0
    for top, bottom, weight in (
        (body.middle("shoulder"), hips, 6.0),
        (hips, body.middle("ankle"), 4.0),
        (body["neck"], body["pelvis"], 1.0),
        (body["head"], body["neck"], 1.0),
    ):
        with np.errstate(invalid="ignore", divide="ignore"):
            along = sign * (top - bottom)[:, k] / np.linalg.norm(top - bottom, axis=1)
        along = along[np.isfinite(along)]
        score += weight * float(along.mean()) if len(along) else 0.0
    feet = [f"{s}_{part}" for s in ("left", "right") for part in ("ankle", "foot", "heel")]
    return score + sum(
        w * _level(sign * body.points(sites)[..., k], tall) for sites, w in ((feet, 2.0), (BODY_ROLES, 3.0))
    )


def _level(heights: Array, tall: float) -> float:
    """Return how steady (0 to 1) the lowest of points (T, K) keeps its height: somebody always touches the floor."""
    lowest = np.fmin.reduce(heights, axis=1)
    lowest = lowest[np.isfinite(lowest)]
    if len(lowest) <= 10 or not np.isfinite(tall):
        return 0.0
    low, high = np.percentile(lowest, [5, 75])
    return float(np.exp(-(((high - low) / (0.05 * tall)) ** 2)))


def _find_mirrored(body: _Body | None, notes: list[str]) -> bool:
    """Say whether left, up and forward turn the wrong way round in nearly every frame that tells."""
    if body is None:
        return False
    votes = _handedness(body)
    votes = votes[np.isfinite(votes) & (np.abs(votes) > 0.02)]
    if len(votes) == 0 or votes.mean() > -0.1 or (votes < 0).mean() < 0.8:
        return False
    notes.append(
        "left and right contradict where the body faces: the data are mirrored (a left-handed file, or sides named the"
        " wrong way round); x was turned over; mirrored=False keeps them"
    )
    return True


def _handedness(body: _Body) -> Array:
    """Return (T,) the sine between left and (up x forward): positive for right-handed data, NaN where nothing tells."""
    up = body.middle("shoulder") - body.middle("hip")
    across = body["left_hip"] - body["right_hip"]
    shoulders = body["left_shoulder"] - body["right_shoulder"]
    left = np.where(np.isfinite(across), across, 0.0) + np.where(np.isfinite(shoulders), shoulders, 0.0)
    clues = [3.0 * (body["nose"] - body.middle("ear")), 0.5 * (body["head"] - body["neck"])]
    for s in ("left", "right"):
        clues += [
            body[f"{s}_foot"] - body[f"{s}_ankle"],
            body[f"{s}_big_toe"] - body[f"{s}_heel"],
            2.0 * (body[f"{s}_knee"] - (body[f"{s}_hip"] + body[f"{s}_ankle"]) / 2),
            (body[f"{s}_shoulder"] + body[f"{s}_wrist"]) / 2 - body[f"{s}_elbow"],
        ]
    forward = np.sum([np.where(np.isfinite(c), c, 0.0) for c in clues], axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        size = np.linalg.norm(up, axis=1) * np.linalg.norm(left, axis=1) * np.linalg.norm(forward, axis=1)
        return np.asarray(np.einsum("ti,ti->t", np.cross(up, forward), left) / size)


def _on_floor(positions: Array, layout: Layout, height: float, floor: Floor) -> tuple[Array, list[str]]:
    """Shift heights as `floor` asks."""
    body = layout.to_roles(positions)
    places = dict(
        zip((*BODY_ROLES, *LANDMARKS), np.moveaxis(np.concatenate([body.positions, body.landmarks], 1), 1, 0))
    )
    hips = (places["left_hip"] + places["right_hip"]) / 2
    tall = height if np.isfinite(height) else _USUAL_HEIGHT
    rootless = _is_rootless(hips, tall)
    notes = []
    if rootless:
        notes.append(
            "the hips stay at the origin: the data hold no root motion, the figure moves on the spot"
            + (" (floor='frame' puts its lowest foot on the floor in every frame)" if floor != "frame" else "")
        )
    if floor == "keep" or (floor == "auto" and not rootless):
        return positions, notes
    soles = [places[f"{s}_{part}"][:, 1] - share * tall for s in ("left", "right") for part, share in _SOLE.items()]
    lowest = np.fmin.reduce(soles)
    if not np.isfinite(lowest).any():
        return positions, [*notes, "no foot is seen: the floor was left where it is"]
    shift = np.full(len(lowest), np.nanpercentile(lowest, 5))
    if floor == "frame":
        seen = np.isfinite(lowest)
        shift = np.interp(np.arange(len(lowest)), np.flatnonzero(seen), lowest[seen])
    moved = positions.copy()
    moved[..., 1] -= shift[:, None]
    return moved, notes


def _is_rootless(hips: Array, height: float) -> bool:
    seen = hips[np.isfinite(hips).all(axis=1)]
    return len(seen) > 1 and bool(np.percentile(np.linalg.norm(seen, axis=1), 95) < 0.02 * height)


def _layout_or_none(keypoints: Keypoints) -> Layout | None:
    try:
        return recognise(keypoints.names, layout=keypoints.layout)
    except LayoutError:
        return None


def _up_option(up: str) -> str:
    """Return one of UP_AXES, or "" for auto."""
    name = up.strip().lower()
    if name == "auto":
        return ""
    name = name if name[:1] in "+-" else "+" + name
    if name not in UP_AXES:
        raise OptionError(one_of("up axis", up, ("auto", "x", "y", "z", *UP_AXES)))
    return name


def _units_option(units: str | float) -> tuple[str, float] | None:
    """Return (name, metres a unit), or None for auto."""
    if isinstance(units, int | float) and not isinstance(units, bool):
        if not (np.isfinite(units) and units > 0):
            raise OptionError(f"units={units}: metres a unit must be a positive number")
        return f"{units:g} m", float(units)
    name = str(units).strip().lower()
    if name == "auto":
        return None
    name = _UNIT_NAMES.get(name, name)
    if name not in UNITS:
        raise OptionError(one_of("unit", units, ("auto", *UNITS)))
    return name, UNITS[name]


def _median(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else float("nan")
