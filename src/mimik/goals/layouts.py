"""Keypoint layouts: which point of a take is which joint or landmark of the body.

`recognise` finds the layout from names in any order and spelling, or from the number of points. `Layout.to_roles`
turns a take into the 22 body roles and the landmarks; joint centres a layout lacks are derived where others tell them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from mimik._types import Array, IntArray
from mimik.errors import LayoutError, one_of
from mimik.goals._layout_recipes import RECIPES
from mimik.goals._layout_sites import AUXILIARY, EXTRA_ROLES, LANDMARKS, PARENTS, SPELLINGS
from mimik.goals._layout_tables import ALIASES, TABLES, LayoutTable
from mimik.goals.names import mirror_key, point_key, point_keys
from mimik.rig.roles import BODY_ROLES

if TYPE_CHECKING:
    from mimik.rig.rig import Rig

__all__ = ["LANDMARKS", "LAYOUTS", "SITES", "Layout", "RolePoints", "implausibility", "recognise"]

APPROXIMATE_TRUST = 0.4
"""Trust of a joint centre that is only near: derived from others, or named so by a layout that means another place."""

LAYOUTS: Mapping[str, LayoutTable] = MappingProxyType({table.name: table for table in TABLES})
"""Known layouts by name; `recognise` also takes the aliases openpose, coco, h36m, smpl, blazepose and the like."""

SITES: tuple[str, ...] = tuple(dict.fromkeys((*BODY_ROLES, *EXTRA_ROLES, *LANDMARKS, *AUXILIARY)))
"""Everything a point can be: what a mapping's right-hand side may say."""

_FEWEST_POINTS = 4


@dataclass(frozen=True, slots=True, eq=False)
class RolePoints:
    """A take in roles and landmarks. NaN and confidence 0 where nothing is known.

    positions            (T, 22, 3) in the order of BODY_ROLES
    confidence           (T, 22) from 0 to 1
    landmarks            (T, 22, 3) in the order of LANDMARKS
    landmark_confidence  (T, 22)
    trust                (22,) 1 for a joint centre, 0.4 for one that is only near, 0 for one the layout cannot tell
    extras               fingers and jaw that the layout holds: role -> (T, 3)
    """

    positions: Array
    confidence: Array
    landmarks: Array
    landmark_confidence: Array
    trust: Array
    extras: Mapping[str, Array]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """What each point of a take is.

    names        the points, in the order of the take
    sites        the role, landmark or auxiliary point each is; empty where it serves nothing
    approximate  sites that are only near the role they are used for
    notes        points that were not recognised and are left out
    """

    name: str
    names: tuple[str, ...]
    sites: tuple[str, ...]
    approximate: frozenset[str] = frozenset()
    notes: tuple[str, ...] = field(default=())

    def to_roles(self, positions: Array, confidence: Array | None = None) -> RolePoints:
        """Return roles and landmarks of positions (..., K, 3), with confidence (..., K) if there is one.

        A point that is missing in a frame makes what is derived from it missing in that frame.
        """
        positions = np.asarray(positions, dtype=np.float64)
        if positions.shape[-2:] != (len(self.names), 3):
            raise LayoutError(f"layout {self.name!r} has {len(self.names)} points; positions have {positions.shape}")
        seen = np.isfinite(positions).all(axis=-1)
        weight: Array = np.where(seen, 1.0 if confidence is None else np.asarray(confidence), 0.0)
        points = {site: positions[..., k, :] for k, site in self._first_points()}
        weights = {site: weight[..., k] for k, site in self._first_points()}
        near = set(self.approximate)
        for recipe in RECIPES:
            if recipe.site in points or not all(site in points for site in recipe.needs):
                continue
            points[recipe.site] = recipe.apply(points)
            weights[recipe.site] = np.minimum.reduce([weights[site] for site in recipe.needs])
            if not recipe.exact or near.intersection(recipe.needs):
                near.add(recipe.site)
        return _gather(points, weights, near, positions.shape[:-2])

    def point(self, site: str) -> int | None:
        """Return the index of the point that is `site`, None where the layout has none."""
        return next((k for k, s in self._first_points() if s == site), None)

    def pairs(self) -> IntArray:
        """Return (P, 2) indices of points that are left and right of one another."""
        index = {site: k for k, site in self._first_points()}
        rows = [(index[s], index[mirror_key(s)]) for s in index if s.startswith("left_") and mirror_key(s) in index]
        return np.array(rows, dtype=np.int64).reshape(-1, 2)

    def bones(self) -> IntArray:
        """Return (B, 2) indices (point, parent point) of points a bone or a stiff part of the body joins."""
        index = {site: k for k, site in self._first_points()}
        rows = []
        for site, k in index.items():
            parent = next((index[p] for p in PARENTS.get(site, ()) if p in index), None)
            if parent is not None:
                rows.append((k, parent))
        rows += [(index[a], index[b]) for a, b in _CROSS_BONES if a in index and b in index]
        return np.array(rows, dtype=np.int64).reshape(-1, 2)

    def _first_points(self) -> list[tuple[int, str]]:
        """Return (point, site), one point a site: the first that has it."""
        first: dict[str, int] = {}
        for k, site in enumerate(self.sites):
            if site:
                first.setdefault(site, k)
        return [(k, site) for site, k in first.items()]


_CROSS_BONES = (("left_hip", "right_hip"), ("left_shoulder", "right_shoulder"), ("left_ear", "right_ear"))


def recognise(
    names: Sequence[str] | None,
    count: int | None = None,
    *,
    layout: str = "",
    mapping: Mapping[str, str] | None = None,
    rig: Rig | None = None,
    positions: Array | None = None,
) -> Layout:
    """Find what each of `names` (or of `count` unnamed points) is.

    names      in any order; case, separators, side words and a subject's prefix do not matter; roles, a known layout's
               names, or joint names of `rig` with landmarks beside them
    layout     a known layout's name, where it need not be guessed
    mapping    own name -> role, landmark or other site, for names nothing else explains
    positions  (T, K, 3) tell layouts with as many points apart when there are no names
    Raises LayoutError, which names the points not understood and lists what is valid.
    """
    names = [str(name) for name in names] if names is not None else []
    count = len(names) if names else count
    if not count:
        raise LayoutError("a layout is found from point names or from the number of points; neither was given")
    if mapping:
        return _mapped(names, mapping)
    table = _table_named(layout) if layout else None
    if _anonymous(names):
        return _from_table(table, count) if table else _by_count(count, positions)
    if rig is not None and table is None and (found := _from_rig(names, rig)):
        return found
    return _by_names(names, table)


def _gather(
    points: Mapping[str, Array], weights: Mapping[str, Array], near: set[str], lead: tuple[int, ...]
) -> RolePoints:
    def stack(sites: Sequence[str]) -> tuple[Array, Array]:
        places = np.full((*lead, len(sites), 3), np.nan)
        confidence = np.zeros((*lead, len(sites)))
        for i, site in enumerate(sites):
            if site in points:
                places[..., i, :] = points[site]
                confidence[..., i] = np.where(np.isfinite(points[site]).all(axis=-1), weights[site], 0.0)
        return places, confidence

    positions, confidence = stack(BODY_ROLES)
    landmarks, landmark_confidence = stack(LANDMARKS)
    trust = np.array([(APPROXIMATE_TRUST if r in near else 1.0) if r in points else 0.0 for r in BODY_ROLES])
    extras = {role: points[role] for role in EXTRA_ROLES if role in points}
    return RolePoints(positions, confidence, landmarks, landmark_confidence, trust, MappingProxyType(extras))


def _anonymous(names: Sequence[str]) -> bool:
    """Say whether names carry no meaning: none at all, or numbers behind one common word."""
    stems = {name.strip().rstrip("0123456789").rstrip("_.- []") for name in names}
    return not names or (len(stems) == 1 and len(names) > 1)


def _table_named(name: str) -> LayoutTable:
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    key = ALIASES.get(key, ALIASES.get(key.replace("_", ""), key))
    if key not in LAYOUTS:
        raise LayoutError(one_of("layout", name, [*LAYOUTS, *ALIASES]))
    return LAYOUTS[key]


def _meaning(table: LayoutTable | None, key: str) -> str | None:
    """Return the site of a key, `~` before it where it is only near, empty for no use, None for unknown."""
    if table is not None and key in table.meaning:
        return table.meaning[key]
    return SPELLINGS.get(key)


def _layout(name: str, names: Sequence[str], meanings: Sequence[str | None], notes: tuple[str, ...] = ()) -> Layout:
    sites = tuple((meaning or "").lstrip("~") for meaning in meanings)
    near = frozenset(m[1:] for m in meanings if m and m[0] == "~")
    return Layout(name, tuple(names), sites, near, notes)


def _from_table(table: LayoutTable, count: int) -> Layout:
    if count != len(table.names):
        raise LayoutError(f"layout {table.name!r} has {len(table.names)} points, the take has {count}")
    return _layout(table.name, table.names, [_meaning(table, key) for key in point_keys(table.names)])


def _by_count(count: int, positions: Array | None) -> Layout:
    fitting = [_from_table(table, count) for table in TABLES if table.array and len(table.names) == count]
    if not fitting:
        counts = ", ".join(f"{len(t.names)} {t.name}" for t in TABLES if t.array)
        raise LayoutError(f"no known layout has {count} unnamed points; known: {counts}; or give names or a mapping")
    if len(fitting) > 1:
        options = " or ".join(f"layout={one.name!r}" for one in fitting)
        if positions is None:
            raise LayoutError(f"{count} unnamed points may be several layouts; say {options}")
        scores = [implausibility(one, positions) for one in fitting]
        best = int(np.argmin(scores))
        note = f"{count} unnamed points read as {fitting[best].name} by their bone lengths; if wrong, say {options}"
        return _layout(fitting[best].name, fitting[best].names, fitting[best].sites, (note,))
    return fitting[0]


def implausibility(layout: Layout, positions: Array) -> float:
    """Return how unlike a body positions (T, K, 3) are under `layout`: changing, unequal or misproportioned bones."""
    some = positions[:: max(1, len(positions) // 200)]
    length: dict[str, float] = {}
    spread = []
    for point, parent in layout.bones()[: len(layout.names)]:
        with np.errstate(invalid="ignore"):
            lengths = np.linalg.norm(some[:, point] - some[:, parent], axis=-1)
        lengths = lengths[np.isfinite(lengths)]
        if len(lengths):
            low, middle, high = np.percentile(lengths, [25, 50, 75]).tolist()
            length[layout.sites[point]] = max(float(middle), 1e-9)
            spread.append(float((high - low) / max(middle, 1e-9)))
    if not spread:
        return np.inf
    uneven = [abs(np.log(v / length[mirror_key(s)])) for s, v in length.items() if mirror_key(s) in length]
    wrong = []
    for upper, lower in (("knee", "ankle"), ("elbow", "wrist"), ("knee", "elbow")):
        a, b = length.get(f"left_{upper}"), length.get(f"left_{lower}")
        if a and b:
            wrong.append(abs(np.log(a / b) - (0.45 if lower == "elbow" else 0.05)))
    return float(np.mean(spread) + np.mean(uneven or [0.0]) + np.mean(wrong or [0.0]))


def _from_rig(names: Sequence[str], rig: Rig) -> Layout | None:
    joints = {name: j for j, name in enumerate(rig.names)}
    if sum(name in joints for name in names) < max(_FEWEST_POINTS, len(names) // 2):
        return None
    role_of = {joint: role for role, joint in rig.roles.items()}
    marks = [site if (site := _meaning(None, key)) in LANDMARKS else "" for key in point_keys(names)]
    meanings = [role_of.get(joints[name], "") if name in joints else mark for name, mark in zip(names, marks)]
    return _layout(f"joints of {rig.name or 'the rig'}", names, meanings)


def _mapped(names: Sequence[str], mapping: Mapping[str, str]) -> Layout:
    absent = [name for name in mapping if name not in names]
    if absent:
        raise LayoutError(f"the mapping names points the take lacks: {_listed(absent)}; it has: {_listed(names)}")
    meanings: list[str] = []
    for name in names:
        target = mapping.get(name, "")
        site = target if target in SITES else SPELLINGS.get(point_key(target)) if target else ""
        if site is None:
            raise LayoutError(f"mapping of {name!r}: {one_of('role or landmark', target, SITES)}")
        meanings.append(site)
    return _layout("mapping", names, meanings)


def _by_names(names: Sequence[str], table: LayoutTable | None) -> Layout:
    keys = point_keys(names)
    table = table or _nearest_table(keys)
    meanings = [_meaning(table, key) for key in keys]
    if table is None:
        meanings = _by_context(keys, meanings)
    unknown = [name for name, meaning in zip(names, meanings) if meaning is None]
    if sum(bool(m) for m in meanings) < min(_FEWEST_POINTS, len(names)):
        raise LayoutError(
            f"points not recognised: {_listed(unknown or names)}. Name the layout (layout=one of {', '.join(LAYOUTS)}),"
            " or map your names with mapping={'your name': 'left_shoulder', ...} or a .json or .toml file of the same;"
            f" valid targets: {', '.join(SITES[: len(BODY_ROLES)])} and landmarks {', '.join(LANDMARKS)}"
        )
    notes = (f"{len(unknown)} points not recognised and left out: {_listed(unknown)}",) if unknown else ()
    return _layout(table.name if table else "names", names, meanings, notes)


def _nearest_table(keys: Sequence[str]) -> LayoutTable | None:
    """Return the table that shares most with `keys` (at least 60% of both together), None if none does."""
    own = set(keys)
    best, best_share = None, 0.6
    for table in TABLES:
        theirs = _table_keys(table.name)
        share = len(own & theirs) / len(own | theirs)
        if share > best_share:
            best, best_share = table, share
    return best


@cache
def _table_keys(name: str) -> frozenset[str]:
    return frozenset(point_keys(LAYOUTS[name].names))


def _by_context(keys: Sequence[str], meanings: Sequence[str | None]) -> list[str | None]:
    """Settle names that mean different joints beside different company (foot, hand, shoulder, hip, neck, head)."""
    present = set(keys)
    arm_words = ("arm", "upperarm", "uparm", "uarm", "humerus")
    settled = []
    for key, meaning in zip(keys, meanings):
        side, _, word = key.partition("_")
        if word == "foot" and not present & {f"{side}_ankle", f"{side}_anklejoint"}:
            meaning = f"{side}_ankle"
        elif word == "hand" and f"{side}_wrist" in present:
            meaning = f"~{side}_middle_knuckle"
        elif word == "shoulder" and present & {f"{side}_{arm}" for arm in arm_words}:
            meaning = f"{side}_collar"
        elif word == "leg" and present & {f"{side}_{leg}" for leg in ("upleg", "upperleg", "thigh")}:
            meaning = f"{side}_knee"
        elif key in ("neck", "head", "spine") and not present & {"spine1", "spine3", "chest", "left_collar"}:
            meaning = f"~{meaning}"
        settled.append(meaning)
    return settled


def _listed(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(repr(n) for n in names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")
