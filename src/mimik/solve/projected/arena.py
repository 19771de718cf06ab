# ruff: noqa: ANN001, ANN201
# mypy: disable-error-code="no-untyped-def"
"""Two buffers that hold every array of a solver, and the views into them.

Handing a hundred arrays from Python to compiled code costs more than a step of the solver; two buffers cost nothing.
The same functions cut them up on both sides. sizes: (joints J, values N, goals G, path D, corners S).
"""

from typing import Any

import numba
import numpy as np

from mimik._types import Array, IntArray
from mimik.solve.projected.arrays import GoalArrays, ModelArrays, Workspace
from mimik.solve.projected.kernels import kernel

_cut = numba.njit(cache=True)  # also called from Python, unlike the kernels


@_cut
def row(buffer, at, n):
    """Cut (n,) off a buffer; returns it and where the rest begins."""
    return buffer[at : at + n], at + n


@_cut
def table(buffer, at, n, k):
    """Cut (n, k) off a buffer."""
    return buffer[at : at + n * k].reshape((n, k)), at + n * k


@_cut
def stack(buffer, at, n, k, i):
    """Cut (n, k, i) off a buffer."""
    return buffer[at : at + n * k * i].reshape((n, k, i)), at + n * k * i


@kernel
def model_views(sizes, ints, floats):
    """Cut the model off the front of the buffers; returns it and where the rest begins."""
    joints, values = sizes[0], sizes[1]
    parents, i = row(ints, 0, joints)
    kind, i = row(ints, i, joints)
    first, i = row(ints, i, joints)
    count, i = row(ints, i, joints)
    owner, i = row(ints, i, values)
    slides, i = row(ints, i, values)
    affects, i = table(ints, i, joints, values)
    offsets, f = table(floats, 0, joints, 3)
    rest, f = table(floats, f, joints, 4)
    axes, f = table(floats, f, values, 3)
    lower, f = row(floats, f, values)
    upper, f = row(floats, f, values)
    cone, f = row(floats, f, joints)
    scale, f = row(floats, f, values)
    mass, f = row(floats, f, joints)
    mass_point, f = table(floats, f, joints, 3)
    model = ModelArrays(
        parents,
        offsets,
        rest,
        kind,
        first,
        count,
        owner,
        slides,
        axes,
        lower,
        upper,
        cone,
        scale,
        affects,
        mass,
        mass_point,
    )
    return model, i, f


@kernel
def goal_views(sizes, ints, floats, i, f):
    """Cut the goals off the buffers from i and f on; returns them and where the rest begins."""
    values, goals, path_length, corners = sizes[1], sizes[2], sizes[3], sizes[4]
    kind, i = row(ints, i, goals)
    joints, i = table(ints, i, goals, 3)
    pinned, i = row(ints, i, goals)
    tip, i = row(ints, i, goals)
    path, i = table(ints, i, values, path_length)
    depth, i = row(ints, i, values)
    points, f = stack(floats, f, goals, 3, 3)
    vector, f = table(floats, f, goals, 3)
    target, f = table(floats, f, goals, 4)
    weight, f = stack(floats, f, goals, 3, 3)
    reach, f = row(floats, f, goals)
    near, f = row(floats, f, values)
    near_weight, f = row(floats, f, values)
    ease, f = row(floats, f, values)
    support, f = table(floats, f, corners, 2)
    goals_cut = GoalArrays(
        kind, joints, points, vector, target, weight, pinned, reach, tip, path, depth, near, near_weight, ease, support
    )
    return goals_cut, i, f


@kernel
def work_views(sizes, ints, floats, i, f):
    """Cut a workspace off the buffers from i and f on."""
    joints, values, goals, path = sizes[0], sizes[1], sizes[2], sizes[3]
    held, i = row(ints, i, values)
    q, f = table(floats, f, joints, 4)
    p, f = table(floats, f, joints, 3)
    axis, f = table(floats, f, values, 3)
    point, f = stack(floats, f, goals, 3, 3)
    residual, f = table(floats, f, goals, 3)
    shift, f = table(floats, f, goals, 3)
    by_point, f = stack(floats, f, 3, 3, 3)
    by_turn, f = table(floats, f, 3, 3)
    column, f = stack(floats, f, goals, 3, path)
    rows, f = stack(floats, f, goals, 3, path)
    force, f = table(floats, f, goals, 3)
    lever, f = table(floats, f, 3, path)
    gradient, f = row(floats, f, values)
    hessian, f = table(floats, f, values, path)
    bend, f = table(floats, f, values, path)
    factor, f = table(floats, f, values, path)
    right, f = row(floats, f, values)
    delta, f = row(floats, f, values)
    low, f = row(floats, f, values)
    high, f = row(floats, f, values)
    trial, f = row(floats, f, values)
    trial_base, f = table(floats, f, joints, 4)
    old, f = row(floats, f, values)
    old_base, f = table(floats, f, joints, 4)
    best, f = row(floats, f, values)
    best_base, f = table(floats, f, joints, 4)
    best_residual, f = table(floats, f, goals, 3)
    mass, f = row(floats, f, joints)
    moment, f = table(floats, f, joints, 3)
    mats, f = stack(floats, f, 6, 3, 3)
    return Workspace(
        q, p, axis, point, residual, shift, by_point, by_turn, column, rows, force, lever, gradient, hessian, bend,
        factor, right, delta, low, high, trial, trial_base, old, old_base, best, best_base, best_residual, mass, moment,
        mats, held,
    )  # fmt: skip


def work_sizes(sizes: tuple[int, int, int, int, int]) -> tuple[int, int]:
    """Return how many integers and floats a workspace takes."""
    joints, values, goals, path, _ = sizes
    floats = 23 * joints + goals * (21 + 6 * path) + 36 + 3 * path + values * (11 + 3 * path) + 54
    return values, floats


class Arena:
    """The buffers of one solver: model, goals and a workspace, with the views Python needs."""

    def __init__(self, model: ModelArrays, goals: GoalArrays) -> None:
        joints, values = model.affects.shape
        self.sizes = (joints, values, len(goals.kind), goals.path.shape[1], len(goals.support))
        held, room = work_sizes(self.sizes)
        given = [a for part in (model, goals) for a in part]
        whole = [a.size for a in given if a.dtype.kind == "i"]
        real = [a.size for a in given if a.dtype.kind == "f"]
        self.ints: IntArray = np.zeros(sum(whole) + held, dtype=np.int64)
        self.floats: Array = np.zeros(sum(real) + room)
        self.model, i, f = _plain(model_views)(self.sizes, self.ints, self.floats)
        self.goals, i, f = _plain(goal_views)(self.sizes, self.ints, self.floats, i, f)
        self.work: Workspace = _plain(work_views)(self.sizes, self.ints, self.floats, i, f)
        for view, source in zip((*self.model, *self.goals), given, strict=True):
            view[...] = source


def _plain(function: Any) -> Any:
    """Return the uncompiled form of a kernel, whose helpers also run as they are."""
    return function.py_func
