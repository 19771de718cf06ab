"""The built-in rigs: humanoid, smpl, mixamo, ue5, vrm, cmu, each with its true joint names and hierarchy."""

from collections.abc import Callable, Mapping

import numpy as np

from mimik._types import Array
from mimik.errors import OptionError, RigError, one_of
from mimik.rig._builtin_tables import Row, cmu_rows, humanoid_rows, mixamo_rows, smpl_rows, ue5_rows, vrm_rows
from mimik.rig._builtin_ue5 import ue5_rest
from mimik.rig.build import build_rig
from mimik.rig.figure import Proportions, figure_points
from mimik.rig.rig import Rig
from mimik.rig.skeleton import Skeleton
from mimik.rotation import identity_quat, quat_apply, quat_inv, quat_mul, rotvec_to_quat

_ROWS: dict[str, Callable[[], list[Row]]] = {
    "humanoid": humanoid_rows,
    "smpl": smpl_rows,
    "mixamo": mixamo_rows,
    "ue5": ue5_rows,
    "vrm": vrm_rows,
    "cmu": cmu_rows,
}
_COLLAR_RAISE = np.deg2rad(14.0)
_ARM = ("shoulder", "elbow", "wrist", "hand")

BUILTIN_RIGS: tuple[str, ...] = tuple(_ROWS)
"""Names `builtin_rig` accepts."""


def builtin_rig(name: str, height: float = 1.75, *, proportions: Proportions | None = None) -> Rig:
    """Return a built-in rig standing `height` metres tall.

    humanoid 22 joints named by role · smpl 24 · mixamo 65 · vrm 52 · cmu 31, all resting in a T-pose · ue5 rests in an
    A-pose with axes along its bones. Raises RigError for an unknown name, OptionError for a height that is not
    positive.
    """
    if name not in _ROWS:
        raise RigError(one_of("built-in rig", name, BUILTIN_RIGS))
    if not (np.isfinite(height) and height > 0.0):
        raise OptionError(f"height must be a positive number of metres, not {height!r}")
    rows = _ROWS[name]()
    points = {**figure_points(height, proportions), "ground": np.zeros(3)}
    places = np.array([_place(points, row[2]) for row in rows])
    ends = np.array([_place(points, row[3]) if row[3] else np.full(3, np.nan) for row in rows])
    names = [row[0] for row in rows]
    parents = [names.index(row[1]) if row[1] else -1 for row in rows]
    if name == "ue5":
        q_world, places, ends = ue5_rest(names, parents, places, ends)
    else:
        q_world = identity_quat(len(names))
    if name == "smpl":
        places, ends = _raised_collars(names, parents, places, ends)
    return build_rig(_skeleton(names, parents, q_world, places, ends), name=name)


def _skeleton(names: list[str], parents: list[int], q_world: Array, p_world: Array, ends: Array) -> Skeleton:
    """Make a skeleton whose rest has these world rotations (J, 4), positions (J, 3) and bone ends (J, 3)."""
    up = np.array(parents)
    q_parent = np.where(up[:, None] < 0, identity_quat(len(up)), q_world[up])
    p_parent = np.where(up[:, None] < 0, 0.0, p_world[up])
    return Skeleton.build(
        names,
        up,
        quat_apply(quat_inv(q_parent), p_world - p_parent),
        rest=quat_mul(quat_inv(q_parent), q_world),
        tips=quat_apply(quat_inv(q_world), ends - p_world),
    )


def _raised_collars(names: list[str], parents: list[int], places: Array, ends: Array) -> tuple[Array, Array]:
    """Return the T-pose (J, 3) and bone ends with collars raised as SMPL's zero pose has them, arms still level."""
    raised, raised_ends = places.copy(), ends.copy()
    for side, sign in (("left", 1.0), ("right", -1.0)):
        shoulder = names.index(f"{side}_shoulder")
        bone = places[shoulder] - places[parents[shoulder]]
        lift = quat_apply(rotvec_to_quat(np.array([0.0, 0.0, sign * _COLLAR_RAISE])), bone) - bone
        arm = [j for j, n in enumerate(names) if n.startswith(side) and n.endswith(_ARM)]
        raised[arm] += lift
        raised_ends[arm] += lift
    return raised, raised_ends


def _place(points: Mapping[str, Array], place: str) -> Array:
    """Read a place of the tables: a point, or `a+b:0.3` on the way from a to b."""
    first, _, rest = place.partition("+")
    if not rest:
        return points[first]
    second, _, part = rest.partition(":")
    return points[first] + float(part) * (points[second] - points[first])
