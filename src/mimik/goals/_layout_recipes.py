"""Recipes for joint centres and landmarks that a layout does not hold, from the points that it does.

Weights follow the mean body of the common 22-joint layout (pelvis joint 15% of the way from the hip line to the
shoulder line, neck joint 9% beyond it) and Bell's regression of the hip centres from the front of the pelvis.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mimik._types import Array
from mimik.goals._layout_sites import FINGERS, SIDES


@dataclass(frozen=True, slots=True)
class Recipe:
    """A site as a weighted sum of others, plus a shift in the frame of the pelvis.

    weights   site -> weight; they sum to one
    shift     (outward left, up, forward) in widths between the front waist points, or None
    exact     the sum is the site itself, not only near it
    """

    site: str
    weights: Mapping[str, float]
    shift: tuple[float, float, float] | None = None
    exact: bool = False

    @property
    def needs(self) -> tuple[str, ...]:
        """Sites that must be known."""
        return (*self.weights, *_WAIST) if self.shift else tuple(self.weights)

    def apply(self, points: Mapping[str, Array]) -> Array:
        """Return the site (T, 3); NaN where a needed point is missing or the pelvis has no width."""
        place = sum((weight * points[site] for site, weight in self.weights.items()), np.zeros(3))
        if self.shift is not None:
            left, right, back_left, back_right = (points[site] for site in _WAIST)
            lateral = left - right
            forward = (left + right - back_left - back_right) / 2
            up = np.cross(forward, lateral)
            with np.errstate(invalid="ignore", divide="ignore"):
                width = np.linalg.norm(lateral, axis=-1, keepdims=True)
                up *= width / np.linalg.norm(up, axis=-1, keepdims=True)
                ahead = np.cross(lateral, up) / width
            place = place + self.shift[0] * lateral + self.shift[1] * up + self.shift[2] * ahead
        return np.asarray(place)


_WAIST = ("left_front_waist", "right_front_waist", "left_back_waist", "right_back_waist")


def _mean(site: str, *parts: str, exact: bool = False) -> Recipe:
    return Recipe(site, dict.fromkeys(parts, 1 / len(parts)), exact=exact)


def _sided_recipes(side: str, other: str) -> list[Recipe]:
    out = 1.0 if side == "left" else -1.0
    s, o = side + "_", other + "_"
    waist = {f"{s}front_waist": 0.5, f"{o}front_waist": 0.5}
    across = f"{o}front_waist", f"{s}front_waist"
    recipes = [
        Recipe(f"{s}hip", waist, shift=(0.36 * out, -0.30, -0.19)),
        _mean(f"{s}knee", f"{s}outer_knee", f"{s}inner_knee"),
        Recipe(f"{s}knee", {f"{s}outer_knee": 1.0, across[0]: 0.22, across[1]: -0.22}),
        _mean(f"{s}ankle", f"{s}outer_ankle", f"{s}inner_ankle"),
        Recipe(f"{s}ankle", {f"{s}outer_ankle": 1.0, across[0]: 0.14, across[1]: -0.14}),
        Recipe(f"{s}shoulder", {f"{s}shoulder_top": 0.9, "pelvis": 0.1}),
        _mean(f"{s}elbow", f"{s}outer_elbow", f"{s}inner_elbow"),
        _mean(f"{s}elbow", f"{s}outer_elbow"),
        _mean(f"{s}wrist", f"{s}outer_wrist", f"{s}inner_wrist"),
        Recipe(f"{s}foot", {f"{s}big_toe": 0.36, f"{s}small_toe": 0.36, f"{s}heel": 0.28}),
        Recipe(f"{s}foot", {f"{s}big_toe": 0.72, f"{s}heel": 0.28}),
        Recipe(f"{s}foot", {f"{s}big_toe": 0.75, f"{s}ankle": 0.25}),
        Recipe(f"{s}thumb_knuckle", {f"{s}thumb2": 1.0}, exact=True),
        Recipe(f"{s}hand_tip", {f"{s}middle_tip": 1.0}, exact=True),
    ]
    knuckles = [f for f in FINGERS if f not in ("thumb", "ring")]
    return recipes + [Recipe(f"{s}{f}_knuckle", {f"{s}{f}1": 1.0}, exact=True) for f in knuckles]


_CENTRAL = [
    Recipe("pelvis", {"left_hip": 0.423, "right_hip": 0.423, "left_shoulder": 0.077, "right_shoulder": 0.077}),
    Recipe("pelvis", {"left_front_waist": 0.5, "right_front_waist": 0.5}, shift=(0.0, 0.0, -0.19)),  # above the hips
    _mean("mid_shoulder", "left_shoulder", "right_shoulder"),
    Recipe("pelvis", {"mid_hip": 0.846, "mid_shoulder": 0.154}),
    _mean("pelvis", "left_hip", "right_hip"),
    _mean("pelvis", "mid_hip"),
]
_UPPER = [
    _mean("neck", "neck_back", "neck_front"),
    _mean("mid_shoulder", "left_shoulder", "right_shoulder"),
    Recipe("neck", {"mid_shoulder": 1.11, "pelvis": -0.11}),
    _mean("neck", "mid_shoulder"),
    _mean("mid_head", *(f"{side}_{end}_head" for side in SIDES for end in ("front", "back"))),
    Recipe("head", {"neck": 0.45, "mid_head": 0.55}),
    Recipe("head", {"neck": 0.5, "left_ear": 0.25, "right_ear": 0.25}),
    _mean("head", "head_centre"),
]
RECIPES: tuple[Recipe, ...] = (
    *_CENTRAL,
    *_sided_recipes("left", "right"),
    *_sided_recipes("right", "left"),
    *_UPPER,
)
"""In the order they are tried: a recipe serves only a site that no point and no earlier recipe gave."""
