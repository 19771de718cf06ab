"""The arrays the kernels work on: the model, the goals, the workspace; and the codes they hold.

J joints, N values (degrees of freedom), G goals, D values on the longest path from root to tip, S corners of a support.
All arrays of a live solver lie in two buffers (see `arena.py`).
"""

from typing import NamedTuple

from mimik._types import Array, IntArray

AXES, BALL, FREE = 0, 1, 2
"""Joint kinds: a sequence of elementary axes (none: fixed), a swing-twist ball, a ball without limits."""

POSITION, ORIENTATION, DIRECTION, LOOK_AT, POLE, DISTANCE, ABOVE, MASS_CENTRE = range(8)
"""Goal kinds."""

GOAL_ROWS: tuple[int, ...] = (3, 3, 3, 3, 3, 1, 1, 2)
"""Residual rows of each goal kind."""

REACHED, STATIONARY, STALLED, EXHAUSTED = range(4)
"""Why a minimisation ended: goals met, first-order optimum, no further descent, out of iterations."""


class ModelArrays(NamedTuple):
    """A figure as the kernels see it."""

    parents: IntArray  # (J,) -1 for the root
    offsets: Array  # (J, 3) metres, in the parent's frame
    rest: Array  # (J, 4) q_parent_joint at zero values
    kind: IntArray  # (J,) AXES, BALL or FREE
    first: IntArray  # (J,) first value of the joint
    value_count: IntArray  # (J,) values of the joint
    owner: IntArray  # (N,) joint of each value
    slides: IntArray  # (N,) 1: metres along the axis, 0: radians about it
    axes: Array  # (N, 3) unit axes: of a slide in the parent's frame, of a turn in the joint's own
    lower: Array  # (N,)
    upper: Array  # (N,)
    cone: Array  # (J,) largest swing angle of a ball, infinite where its swing is a box
    scale: Array  # (N,) metric of the values: how dear a unit of change is
    affects: IntArray  # (J, N) does this value move this joint's frame
    mass: Array  # (J,) share of the body's mass that moves with the joint, sums to one
    mass_point: Array  # (J, 3) where that mass sits in the joint's frame


class GoalArrays(NamedTuple):
    """The goals as the kernels see them."""

    kind: IntArray  # (G,)
    joints: IntArray  # (G, 3) joints the goal speaks of, -1 where it needs fewer
    points: Array  # (G, 3, 3) points on those joints, in their frames, metres
    vector: Array  # (G, 3) unit direction in the first joint's frame
    target: Array  # (G, 4) point, direction, quaternion, or a length
    weight: Array  # (G, 3, 3) S with S'S = W
    pinned: IntArray  # (G,)
    reach: Array  # (G,) what counts as met, metres or radians (or their like)
    tip: IntArray  # (G,) deepest value each goal depends on, -1 for none
    path: IntArray  # (N, D) values above each value, root first, itself last
    depth: IntArray  # (N,) how many stand above it
    near: Array  # (N,) values to stay near
    near_weight: Array  # (N,) zero where nothing is asked
    ease: Array  # (N,) how readily each value goes to the natural pose
    support: Array  # (S, 2) corners of the ground area for the centre of mass, x and z


class Workspace(NamedTuple):
    """Room for one problem on one thread; made once, reused for every frame."""

    q: Array  # (J, 4) world rotations
    p: Array  # (J, 3) world positions
    axis: Array  # (N, 3) world axes
    point: Array  # (G, 3, 3) world points of the goals
    residual: Array  # (G, 3)
    shift: Array  # (G, 3) multipliers of pinned goals over their weight
    by_point: Array  # (3, 3, 3) derivative of one residual by its points
    by_turn: Array  # (3, 3) derivative of one residual by a turn of its first joint
    column: Array  # (G, 3, D) unweighted Jacobian of each goal along its path
    rows: Array  # (G, 3, D) weighted Jacobian
    force: Array  # (G, 3) weighted residual
    lever: Array  # (3, D)
    gradient: Array  # (N,)
    hessian: Array  # (N, D) Gauss-Newton part, row k over the path of value k
    bend: Array  # (N, D) second-order part
    factor: Array  # (N, D)
    right: Array  # (N,)
    delta: Array  # (N,)
    low: Array  # (N,) room below
    high: Array  # (N,) room above
    trial: Array  # (N,)
    trial_base: Array  # (J, 4)
    old: Array  # (N,) the frame before
    old_base: Array  # (J, 4)
    best: Array  # (N,)
    best_base: Array  # (J, 4)
    best_residual: Array  # (G, 3)
    mass: Array  # (J,) mass at and below each joint
    moment: Array  # (J, 3) mass times its centre, at and below each joint
    mats: Array  # (6, 3, 3) small matrices
    held: IntArray  # (N,) values the present step leaves alone


class Settings(NamedTuple):
    """What steers the iteration; see `Options`."""

    iterations: int
    restarts: int
    tolerance: float  # goals this near count as met, times each goal's reach
    gradient_tolerance: float
    damping: float
    pin_weight: float
    pin_rounds: int
    pull: float  # share of the way to the natural pose taken before each solve
    momentum: float  # share of the last frame's change taken before each solve
