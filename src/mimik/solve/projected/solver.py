"""The projected solver: goals and joint limits in, poses out, one frame after the other or thousands at once."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numba
import numpy as np

from mimik._types import Array, ArrayLike, BoolArray
from mimik.errors import GoalError, OptionError, one_of
from mimik.goals.targets import CentreOfMass, Goal, NearPose
from mimik.rig.limits import JointRange, Limits
from mimik.rig.pose import LocalPose
from mimik.rig.rig import Rig
from mimik.solve.compile_note import announce_compiling
from mimik.solve.projected.arena import Arena
from mimik.solve.projected.arrays import POSITION, REACHED, STATIONARY, Settings
from mimik.solve.projected.live import goal_derivatives, live_step, solve_many
from mimik.solve.projected.model import BallKind, Model, build_model, effort
from mimik.solve.projected.natural import NaturalPose
from mimik.solve.projected.problem import Problem, build_problem, target_row
from mimik.solve.projected.published import published_step
from mimik.solve.projected.stance import Stance, assume
from mimik.solve.solution import Solution

Method = Literal["second_order", "published"]
METHODS = ("second_order", "published")


@dataclass(frozen=True, slots=True)
class Options:
    """What steers the projected solvers.

    iterations          steps before giving up, each start
    restarts            other starts tried where a frame ends more than a millimetre off; 0 for strictly local answers
    tolerance           metres (radians) at which a goal counts as met
    gradient_tolerance  projected gradient norm at which a point counts as optimal
    pull                share of the way to the natural pose taken before each frame; 0 keeps to the last pose
    momentum            share of the last frame's change that goes on before each frame: smooth motion, fewer steps
    damping             trust at the start: damping of the first step is this times the squared worst residual
    pin_weight          penalty weight of pinned goals; their multipliers do the rest
    """

    iterations: int = 60
    restarts: int = 12
    tolerance: float = 1e-5
    gradient_tolerance: float = 1e-6
    pull: float = 0.01
    momentum: float = 0.3
    damping: float = 0.03
    pin_weight: float = 1e3
    pin_rounds: int = 12

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in ("tolerance", "gradient_tolerance", "damping", "pin_weight"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise OptionError(f"{name} must be above zero, not {getattr(self, name)}")
        for name in ("iterations", "restarts", "pin_rounds"):
            if getattr(self, name) < 0:
                raise OptionError(f"{name} must not be negative, not {getattr(self, name)}")
        for name in ("pull", "momentum"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise OptionError(f"{name} lies between 0 and 1, not {getattr(self, name)}")

    def settings(self, pulls: bool) -> Settings:
        """Return the kernels' form; `pulls` says whether there is a natural pose to go to."""
        return Settings(
            iterations=self.iterations,
            restarts=self.restarts,
            tolerance=self.tolerance,
            gradient_tolerance=self.gradient_tolerance,
            damping=self.damping,
            pin_weight=self.pin_weight,
            pin_rounds=self.pin_rounds,
            pull=self.pull if pulls else 0.0,
            momentum=self.momentum,
        )


@dataclass(slots=True)
class State:
    """Where a figure stands: values (N,), base frames of free balls (J, 4), worst goal and number of the last frame."""

    values: Array
    base: Array
    speed: Array
    worst: float = 0.0
    tick: int = 0


class Solver:
    """A rig with goals that move: each `step` starts from the last pose.

    goals    any of mimik.Position, Orientation, Direction, LookAt, Pole, Distance, AboveGround, CentreOfMass, NearPose
    limits   joint kinds and ranges; the rig's own unless given
    joints   ranges that replace those of single joints
    start    pose of the first frame's start; the T-pose unless given
    natural  "motion": prefer poses people take, learned from motion capture, where the rig has the roles for it; what
             the goals do not say is assumed, unless there is a start: the feet stay, an arm without goals hangs;
             a LocalPose: prefer that one; None: no preference
    method   "second_order" or "published" (projected gradient with Armijo back-tracking)
    Raises GoalError for goals that make no sense on this rig.
    """

    def __init__(
        self,
        rig: Rig,
        goals: Sequence[Goal],
        *,
        method: Method = "second_order",
        limits: Limits | None = None,
        joints: Mapping[str, JointRange] | None = None,
        ball: BallKind = "ball",
        root: Literal["free", "fixed"] = "free",
        start: LocalPose | None = None,
        natural: Literal["motion"] | LocalPose | None = "motion",
        options: Options | None = None,
    ) -> None:
        if method not in METHODS:
            raise OptionError(one_of("projected method", method, METHODS))
        self.method, self._told = method, False
        self.options = options or Options()
        self._build: dict[str, Any] = {"limits": limits, "joints": joints, "ball": ball, "root": root}
        self.model = build_model(rig, **self._build)
        self._start = self.model.pose_to_values(start if start is not None else rig.tpose())
        self._natural_option, self._posed = natural, start is not None
        self.set_goals(goals)
        self.reset()

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The goals as last given."""
        return self.problem.goals

    @property
    def values(self) -> Array:
        """Joint values (N,) of the present pose, radians and metres, inside the limits bit for bit."""
        return self.state.values.copy()

    def set_goals(self, goals: Sequence[Goal]) -> None:
        """Replace the goals; the pose stays."""
        self.problem: Problem = build_problem(self.model, goals)
        self._arena = Arena(self.model.arrays, self.problem.arrays)
        self._stance, self._assumed = self._stand()
        option = None if self._stance else self._natural_option
        self._natural = NaturalPose.for_problem(self.problem, option, self._start)
        self._settings = self.options.settings(self._natural.pulls)
        if self._stance:
            self._settings = replace(self.options, pull=1.0, momentum=0.0).settings(pulls=self.options.pull > 0.0)
        if self._settings.pull >= 1.0:  # all the way means all values
            self._arena.goals.ease[:] = 1.0
        if not self._natural.learned:
            self._arena.model.scale[:] = effort(self.model.arrays)

    def _stand(self) -> tuple[Stance | None, Solver | None]:
        """Return what is assumed beside the goals, and a solver of both; see `stance.py`."""
        if self._natural_option != "motion" or self._posed or self.method == "published" or self.options.pull == 0.0:
            return None, None
        stance = assume(self.problem)
        if stance is None:
            return None, None
        rig = self.model.rig
        helper = replace(self.options, pull=1.0, momentum=0.0, restarts=0)
        inner = Solver(rig, [*self.problem.goals, *stance.goals], start=rig.tpose(), options=helper, **self._build)
        inner._arena.model.scale[:] = effort(self.model.arrays)
        return stance, inner

    def _follow_stance(self) -> None:
        """Solve for the goals and what is assumed, and prefer that pose."""
        stance, inner = self._stance, self._assumed
        if stance is None or inner is None:
            return
        given, rows = self._arena.goals.target, inner._arena.goals.target
        rows[: len(given)] = given
        rows[len(given) :, :3] = stance.targets(given)
        inner.state.tick = 0  # where it stood before does not matter
        values, base = stance.relax(self.model, inner.advance(), inner.state.base)
        slides = self.model.arrays.slides == 1
        self.state.values[slides] = values[slides]
        self._natural.set_pose(values, base)

    def reset(self, pose: LocalPose | None = None) -> None:
        """Put the figure into a pose; into the start pose unless given."""
        values, base = self._start if pose is None else self.model.pose_to_values(pose)
        self.state = State(values.copy(), base.copy(), np.zeros_like(values))

    def move(self, targets: Mapping[str, ArrayLike] | Sequence[ArrayLike] | Array | None) -> None:
        """Move targets without solving: by label or joint, or for every goal in order; raises GoalError."""
        if targets is None:
            return
        rows = self._arena.goals.target
        if isinstance(targets, np.ndarray) and targets.ndim == 2 and targets.shape == (len(rows), 3):
            if not np.isfinite(targets).all():
                bad = int(np.flatnonzero(~np.isfinite(targets).all(axis=1))[0])
                raise GoalError(f"the target of {self.problem.names[bad]} is not finite: {targets[bad].tolist()}")
            rows[:, :3] = targets
            return
        goals = list(self.problem.rows)
        if isinstance(targets, Mapping):
            pairs = [(self._goal_index(str(name)), value) for name, value in targets.items()]
        else:
            if len(targets) != len(goals):
                raise GoalError(f"{len(targets)} targets for {len(goals)} goals")
            pairs = list(enumerate(targets))
        for i, value in pairs:
            goals[i] = goals[i].with_target(value)
            rows[i] = target_row(goals[i])
            if isinstance(goals[i], CentreOfMass):
                rest = [g for g in self.problem.goals if isinstance(g, NearPose)]
                self.set_goals([*goals, *rest])
                rows = self._arena.goals.target

    def advance(self, targets: Mapping[str, ArrayLike] | Sequence[ArrayLike] | Array | None = None) -> Array:
        """Solve one frame and return the joint values (N,): the call for tight loops. The array is the live state."""
        self.move(targets)
        if not self._told:
            announce_compiling(published_step if self.method == "published" else live_step)
            self._told = True
        state, arena, natural = self.state, self._arena, self._natural
        if self.method == "published":
            self.outcome = published_step(
                arena.sizes, arena.ints, arena.floats, self._settings, state.values, state.base
            )
        else:
            self._follow_stance()
            self.outcome = live_step(
                arena.sizes, arena.ints, arena.floats, natural.sizes, natural.ints, natural.floats, natural.singles,
                self._settings, state.values, state.base, state.speed, state.worst, state.tick,
            )  # fmt: skip
        state.worst = self.outcome[4]
        state.tick += 1
        return state.values

    def step(self, targets: Mapping[str, ArrayLike] | Sequence[ArrayLike] | Array | None = None) -> Solution:
        """Move the targets, solve one frame from the last pose, return the pose and what is left of each goal.

        targets  by label ("Position(left_hand)") or joint name, or one for every goal in order, or an array (G, 3)
        """
        began = time.perf_counter()
        self.advance(targets)
        return self._solution(time.perf_counter() - began)

    def derivatives(self, values: Array, base: Array | None = None) -> tuple[float, Array, Array, Array]:
        """Return objective, residuals (G, 3), Jacobian (G, 3, N) and gradient (N,) at values (N,), limits or not.

        Pinned goals count with their penalty weight. `base` (J, 4) are the frames of free balls, the live ones unless
        given. A cone's swing is measured along and across its present direction.
        """
        goals, count = len(self.problem.rows), self.model.value_count
        residual, jacobian, gradient = np.zeros((goals, 3)), np.zeros((goals, 3, count)), np.zeros(count)
        arena, frames = self._arena, self.state.base if base is None else base
        value = goal_derivatives(
            arena.sizes,
            arena.ints,
            arena.floats,
            self._settings,
            np.array(values),
            frames,
            residual,
            jacobian,
            gradient,
        )
        return float(value), residual, jacobian, gradient

    def solve_many(self, targets: ArrayLike, *, start: LocalPose | None = None, threads: int | None = None) -> Solution:
        """Solve independent problems, frames or characters, on all cores; each starts from the same pose or its own.

        targets  (B, G, 3) or, where goals hold quaternions, (B, G, 4)
        start    one pose, or a batch of B; the natural pose of each problem counts as another start
        threads  cores to use, all unless given
        The live state does not change. Raises GoalError for targets of another shape or not finite.
        """
        rows, began = self._target_rows(targets), time.perf_counter()
        count, settings = len(rows), self._settings
        values, base = self._start if start is None else self.model.pose_to_values(start)
        if self._stance and self._assumed:  # no single preference serves all problems: each starts at its own
            settings = settings._replace(pull=0.0)
            if start is None:
                assumed = np.concatenate([rows, _padded(self._stance.targets(rows))], axis=1)
                stood = self._assumed.solve_many(assumed, threads=threads).poses
                values, base = self._stance.relax(self.model, *self.model.pose_to_values(stood))
        values = np.array(np.broadcast_to(values, (count, values.shape[-1])))
        base = np.array(np.broadcast_to(base, (count, *base.shape[-2:])))
        residual, outcome = np.zeros((count, len(self.problem.rows), 3)), np.zeros((count, 5))
        cores = numba.config.NUMBA_NUM_THREADS if threads is None else max(1, threads)
        arena, natural = self._arena, self._natural
        announce_compiling(solve_many)
        before = numba.get_num_threads()
        numba.set_num_threads(min(cores, numba.config.NUMBA_NUM_THREADS))
        try:
            solve_many(
                arena.sizes, arena.ints, arena.floats, natural.sizes, natural.ints, natural.floats, natural.singles,
                settings, rows, values, base, residual, outcome, max(1, min(4 * cores, count)),
            )  # fmt: skip
        finally:
            numba.set_num_threads(before)
        return self._answer(values, base, residual, outcome, time.perf_counter() - began)

    def solve_path(self, targets: ArrayLike, *, observed: ArrayLike | None = None) -> Solution:
        """Solve the frames of a motion one after the other, each from the last pose: `step` without its overhead.

        targets   (T, G, 3) or (T, G, 4)
        observed  (T, G) False where a goal is to be left out of a frame
        Raises GoalError for targets of another shape or not finite.
        """
        rows, began = self._target_rows(targets), time.perf_counter()
        count = len(rows)
        values = np.empty((count, self.model.value_count))
        base = np.empty((count, self.model.rig.joint_count, 4))
        residual, outcome = np.zeros((count, len(self.problem.rows), 3)), np.zeros((count, 5))
        weights = self.problem.arrays.weight
        asked = np.ones((count, len(weights))) if observed is None else np.asarray(observed, dtype=np.float64)
        for t in range(count):
            self._arena.goals.target[:] = rows[t]
            self._arena.goals.weight[:] = weights * asked[t, :, None, None]
            values[t], base[t] = self.advance(), self.state.base
            residual[t], outcome[t] = self._arena.work.best_residual, self.outcome
        self._arena.goals.weight[:] = weights
        residual[asked == 0.0] = np.nan
        return self._answer(values, base, residual, outcome, time.perf_counter() - began)

    def _target_rows(self, targets: ArrayLike) -> Array:
        given = np.asarray(targets, dtype=np.float64)
        goals = len(self.problem.rows)
        if given.ndim != 3 or given.shape[1] != goals or given.shape[2] not in (3, 4):
            raise GoalError(f"targets have shape {given.shape}; they must be (problems, {goals}, 3) or (..., 4)")
        if not np.isfinite(given).all():
            b, i = (int(k[0]) for k in np.nonzero(~np.isfinite(given).all(axis=2)))
            raise GoalError(
                f"the target of {self.problem.names[i]} is not finite in problem {b}: {given[b, i].tolist()}"
            )
        rows = np.zeros((len(given), goals, 4))
        rows[:, :, : given.shape[2]] = given
        return rows

    def _solution(self, seconds: float) -> Solution:
        outcome = np.array([self.outcome], dtype=np.float64)
        residual = self._arena.work.best_residual[None]
        return self._answer(self.state.values[None], self.state.base[None], residual, outcome, seconds)

    def _answer(self, values: Array, base: Array, residual: Array, outcome: Array, seconds: float) -> Solution:
        touched = joints_at_limits(self.model, values)
        ends = outcome[:, 0].astype(int)
        return Solution(
            self.model.values_to_pose(values, base),
            self.problem.names,
            np.sqrt((residual * residual).sum(axis=-1)),
            outcome[:, 1].astype(np.int64),
            touched,
            seconds,
            tuple(status_word(int(end), bool(touched[t].any())) for t, end in enumerate(ends)),
            {"objective": float(outcome[:, 2].mean()), "projected_gradient": float(outcome[:, 3].max(initial=0.0))},
        )

    def _goal_index(self, name: str) -> int:
        names = self.problem.names
        if name in names:
            return names.index(name)
        joint = self.model.rig.joint(name) if name in self._joint_names() else -1
        found = [i for i in range(len(names)) if self.problem.arrays.joints[i, 0] == joint]
        if joint < 0 or not found:
            raise GoalError(one_of("goal of this solver", name, names))
        places = [i for i in found if self.problem.arrays.kind[i] == POSITION]
        if len(found) > 1 and len(places) == 1:
            return places[0]
        if len(found) > 1:
            raise GoalError(f"{name!r} has {len(found)} goals: {', '.join(names[i] for i in found)}; name one of them")
        return found[0]

    def _joint_names(self) -> set[str]:
        return {*self.model.rig.names, *self.model.rig.roles, *(getattr(g, "joint", "") for g in self.problem.rows)}


def _padded(places: Array) -> Array:
    """Places (..., 3) as the kernels' four numbers."""
    return np.concatenate([places, np.zeros((*places.shape[:-1], 1))], axis=-1)


def status_word(end: int, touched: bool) -> str:
    """Name the end of a solve: goals met, held off by limits, out of reach, or no further descent found."""
    if end == REACHED:
        return "reached"
    if end == STATIONARY:
        return "limited" if touched else "unreachable"
    return "stalled"


def joints_at_limits(model: Model, values: Array) -> BoolArray:
    """Say which joints (..., J) stand on a limit; values that cannot move do not count."""
    m = model.arrays
    at = ((values <= m.lower) | (values >= m.upper)) & (m.lower < m.upper)
    touched = np.zeros((*values.shape[:-1], len(m.parents)), dtype=np.bool_)
    rows, columns = np.nonzero(at.reshape(-1, at.shape[-1]))
    touched.reshape(-1, len(m.parents))[rows, m.owner[columns]] = True
    for j in np.flatnonzero(np.isfinite(m.cone)):
        v = m.first[j]
        touched[..., j] |= np.hypot(values[..., v], values[..., v + 1]) >= m.cone[j] * (1.0 - 1e-12)
    return touched


def pose(rig: Rig, goals: Sequence[Goal], **options: Any) -> Solution:
    """Find one pose that meets the goals inside the joint limits, natural where the goals leave room.

    options  those of `Solver`. The Solution holds one frame.
    Raises GoalError for goals that make no sense on this rig.
    """
    if "start" not in options and "options" not in options:
        options["options"] = Options(pull=1.0, momentum=0.0)
    return Solver(rig, goals, **options).step()
