"""From goals to the arrays of the kernels: joints by name, paths through the figure, square roots of weights."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mimik._types import Array, IntArray
from mimik.errors import GoalError, RigError
from mimik.goals.targets import (
    AboveGround,
    CentreOfMass,
    Direction,
    Distance,
    Goal,
    LookAt,
    NearPose,
    Orientation,
    Pole,
    Position,
)
from mimik.rotation import quat_apply, quat_inv
from mimik.solve.projected.arrays import (
    ABOVE,
    DIRECTION,
    DISTANCE,
    GOAL_ROWS,
    LOOK_AT,
    MASS_CENTRE,
    ORIENTATION,
    POLE,
    POSITION,
    GoalArrays,
)
from mimik.solve.projected.model import Model, bone_direction

UNASKED_EASE = 0.3
"""Share of the pull to the natural pose that acts on values no goal depends on."""

_KIND = {
    Position: POSITION,
    Orientation: ORIENTATION,
    Direction: DIRECTION,
    LookAt: LOOK_AT,
    Pole: POLE,
    Distance: DISTANCE,
    AboveGround: ABOVE,
    CentreOfMass: MASS_CENTRE,
}


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Goals on a model. `rows` are the goals the kernels see; NearPose goals are folded into `arrays.near`."""

    model: Model
    goals: tuple[Goal, ...]
    rows: tuple[Goal, ...]
    arrays: GoalArrays

    @property
    def names(self) -> tuple[str, ...]:
        """Label of every goal with a residual of its own."""
        return tuple(g.label for g in self.rows)


def build_problem(model: Model, goals: Sequence[Goal]) -> Problem:
    """Check the goals against the rig and lay them out; raises GoalError that lists what would be valid."""
    goals = tuple(goals)
    for goal in goals:
        if not isinstance(goal, Goal) or (type(goal) not in _KIND and not isinstance(goal, NearPose)):
            raise GoalError(f"{goal!r} is no goal; goals are {', '.join(c.__name__ for c in _KIND)}, NearPose")
    rows = tuple(g for g in goals if not isinstance(g, NearPose))
    centres = [g for g in rows if isinstance(g, CentreOfMass)]
    if len(centres) > 1:
        raise GoalError("one centre of mass has one support: give a single CentreOfMass goal")
    joints = np.array([_joints(model, g) for g in rows], dtype=np.int64).reshape(-1, 3)
    kinds = np.array([_KIND[type(g)] for g in rows], dtype=np.int64)
    near, near_weight = _near(model, [g for g in goals if isinstance(g, NearPose)])
    points = np.array([_points(g) for g in rows]).reshape(-1, 3, 3)
    tip, path, depth = _paths(model, kinds, joints)
    arrays = GoalArrays(
        kind=kinds,
        joints=joints,
        points=points,
        vector=np.array([_vector(model, g, int(j[0])) for g, j in zip(rows, joints, strict=True)]).reshape(-1, 3),
        target=np.array([target_row(g) for g in rows]).reshape(-1, 4),
        weight=np.array([_root_of_weight(g, GOAL_ROWS[k]) for g, k in zip(rows, kinds, strict=True)]).reshape(-1, 3, 3),
        pinned=np.array([g.pinned for g in rows], dtype=np.int64),
        reach=np.ones(len(rows)),
        tip=tip,
        path=path,
        depth=depth,
        near=near,
        near_weight=near_weight,
        ease=_ease(model, joints, kinds, points),
        support=np.array(centres[0].support if centres else np.zeros((1, 2))),
    )
    return Problem(model, goals, rows, arrays)


def target_row(goal: Goal) -> Array:
    """Return the goal's target as the kernels' four numbers."""
    row = np.zeros(4)
    if not isinstance(goal, CentreOfMass):
        value = np.atleast_1d(goal.target_value)
        row[: len(value)] = value
    return row


def _find(model: Model, goal: Goal, name: str) -> int:
    try:
        return model.rig.joint(name)
    except RigError as error:
        raise GoalError(f"{type(goal).__name__}: {error}") from None


def _joints(model: Model, goal: Goal) -> tuple[int, int, int]:
    if isinstance(goal, CentreOfMass):
        return -1, -1, -1
    joint = _find(model, goal, goal.joint)  # type: ignore[attr-defined]
    if isinstance(goal, Distance):
        return joint, _find(model, goal, goal.other), -1
    if isinstance(goal, Pole):
        children = model.rig.skeleton.children(joint)
        if not children or joint == 0:
            raise GoalError(f"{goal.label}: a pole belongs to the middle joint of a limb, with a parent and a child")
        end = max(children, key=lambda c: float(np.linalg.norm(model.rig.offsets[c])))
        return int(model.rig.parents[joint]), joint, end
    return joint, -1, -1


def _points(goal: Goal) -> Array:
    points = np.zeros((3, 3))
    points[0] = getattr(goal, "offset", points[0])
    points[1] = getattr(goal, "other_offset", points[1])
    return points


def _vector(model: Model, goal: Goal, joint: int) -> Array:
    axis = getattr(goal, "axis", None)
    if axis is not None:
        return np.asarray(axis)
    if isinstance(goal, Direction):
        return bone_direction(model.rig, joint)
    if isinstance(goal, LookAt):
        return quat_apply(quat_inv(model.rig.q_world_tpose[joint]), np.array([0.0, 0.0, 1.0]))
    return np.zeros(3)


def _root_of_weight(goal: Goal, rows: int) -> Array:
    """Return S (3, 3) with S'S = W, W the goal's weight matrix."""
    root = np.zeros((3, 3))
    weight = np.asarray(goal.weight, dtype=np.float64)
    if weight.ndim == 0:
        root[:rows, :rows] = np.sqrt(weight) * np.eye(rows)
        return root
    if weight.shape != (rows, rows):
        raise GoalError(
            f"the weight matrix of {goal.label} has shape {weight.shape}; its residual needs ({rows}, {rows})"
        )
    values, vectors = np.linalg.eigh(weight)
    root[:rows, :rows] = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return root


def _near(model: Model, goals: list[NearPose]) -> tuple[Array, Array]:
    m = model.arrays
    near, weight = np.zeros(model.value_count), np.zeros(model.value_count)
    for goal in goals:
        if goal.pose.skeleton.joint_count != len(m.parents):
            raise GoalError(f"NearPose: the pose has {goal.pose.skeleton.joint_count} joints, the rig {len(m.parents)}")
        values, _ = model.pose_to_values(goal.pose)
        chosen = range(len(m.parents)) if goal.joints is None else [_find(model, goal, n) for n in goal.joints]
        for j in chosen:
            if j == 0 and goal.joints is None:
                continue
            span = slice(m.first[j], m.first[j] + m.value_count[j])
            near[span], weight[span] = values[span], float(goal.weight)  # type: ignore[arg-type]
    return near, weight


def _ease(model: Model, joints: IntArray, kinds: IntArray, points: Array) -> Array:
    """Values no goal depends on only follow the natural pose: they go there more slowly, so that they do not fidget."""
    m = model.arrays
    asked = np.full(model.value_count, MASS_CENTRE in kinds)
    for kind, own, at in zip(kinds, joints, points, strict=True):
        for joint, point in zip(own[own >= 0], at, strict=False):
            turns = (m.owner != joint) | (m.slides > 0) | (kind != POSITION) | bool(np.any(point))
            asked |= (m.affects[joint] > 0) & turns
    return np.where(asked, 1.0, UNASKED_EASE)


def _paths(model: Model, kinds: IntArray, joints: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Lay out, for every value, the values above it on the way to the root.

    Goals that couple branches (a distance, the centre of mass) make every value depend on every other: the path of
    each value is then all values before it, and the factorisation an ordinary dense one.
    """
    m = model.arrays
    count = model.value_count
    coupled = bool(np.isin(kinds, (DISTANCE, MASS_CENTRE)).any())
    above = [np.flatnonzero(m.affects[m.owner[v]][: v + 1]).tolist() for v in range(count)]
    if coupled:
        above = [list(range(v + 1)) for v in range(count)]
    depth = np.array([len(a) - 1 for a in above], dtype=np.int64)
    path = np.zeros((count, int(depth.max(initial=0)) + 1), dtype=np.int64)
    for v, a in enumerate(above):
        path[v, : len(a)] = a
    tip = np.full(len(kinds), -1, dtype=np.int64)
    for i, kind in enumerate(kinds):
        own = joints[i][joints[i] >= 0] if kind != MASS_CENTRE else np.arange(len(m.parents))
        moving = m.affects[own].any(axis=0)
        if moving.any():
            tip[i] = np.flatnonzero(moving)[-1]
    return tip, path, depth
