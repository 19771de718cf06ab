# mypy: disable-error-code="no-untyped-def"
# ruff: noqa: ANN001, ANN201
"""The compiled calls Python makes: one frame of a live solver, and thousands of frames or characters on all cores."""

import sys

import numba
import numpy as np

from mimik.solve.compile_note import drop_stale
from mimik.solve.projected import arena, arrays, kernels, natural_kernels, steps
from mimik.solve.projected.arena import goal_views, model_views, work_views
from mimik.solve.projected.kernels import FAST, evaluate, find_gradient
from mimik.solve.projected.natural_kernels import network_views, predict_pose
from mimik.solve.projected.steps import solve_frame, stand_by_goals


@numba.njit(cache=True, error_model="numpy", fastmath=FAST)
def live_step(sizes, ints, floats, net_sizes, net_ints, net_floats, net_singles, s, theta, base, speed, worst, tick):
    """Solve one frame in place from theta (N,) and base (J, 4); returns what `solve_frame` returns."""
    m, i, f = model_views(sizes, ints, floats)
    g, i, f = goal_views(sizes, ints, floats, i, f)
    w = work_views(sizes, ints, floats, i, f)
    net = network_views(net_sizes, net_ints, net_floats, net_singles)
    if net_sizes[0] > 0:
        predict_pose(m, net, g.target)
        if tick == 0 and s.pull >= 1.0:
            stand_by_goals(m, g, net.values, net.base, theta, base, w)
    return solve_frame(m, g, s, theta, base, speed, net.values, net.base, worst, tick, w)


@numba.njit(cache=True, error_model="numpy", fastmath=FAST, parallel=True)
def solve_many(
    sizes,
    ints,
    floats,
    net_sizes,
    net_ints,
    net_floats,
    net_singles,
    s,
    targets,
    theta,
    base,
    residual,
    outcome,
    chunks,
):
    """Solve B independent problems: targets (B, G, 4), theta (B, N) and base (B, J, 4) in place.

    Each chunk works in a copy of the buffers, so that nothing is shared. residual (B, G, 3), outcome (B, 5).
    """
    count = targets.shape[0]
    for c in numba.prange(chunks):
        own_ints, own_floats = ints.copy(), floats.copy()
        own_net, own_singles = net_floats.copy(), net_singles.copy()
        m, i, f = model_views(sizes, own_ints, own_floats)
        g, i, f = goal_views(sizes, own_ints, own_floats, i, f)
        w = work_views(sizes, own_ints, own_floats, i, f)
        net = network_views(net_sizes, net_ints, own_net, own_singles)
        speed = np.zeros(theta.shape[1])
        for b in range(c * count // chunks, (c + 1) * count // chunks):
            g.target[:] = targets[b]
            speed[:] = 0.0
            if net_sizes[0] > 0:
                predict_pose(m, net, g.target)
                if s.pull >= 1.0:
                    stand_by_goals(m, g, net.values, net.base, theta[b], base[b], w)
            end, steps, f_end, slope, worst = solve_frame(
                m, g, s, theta[b], base[b], speed, net.values, net.base, 0.0, 0, w
            )
            residual[b] = w.best_residual
            outcome[b, 0], outcome[b, 1], outcome[b, 2], outcome[b, 3], outcome[b, 4] = end, steps, f_end, slope, worst


@numba.njit(cache=True, error_model="numpy", fastmath=FAST)
def goal_derivatives(sizes, ints, floats, s, theta, base, residual, jacobian, gradient):
    """Objective (17) at any point, with residuals (G, 3), their Jacobian (G, 3, N) and the gradient (26) (N,)."""
    m, i, f = model_views(sizes, ints, floats)
    g, i, f = goal_views(sizes, ints, floats, i, f)
    w = work_views(sizes, ints, floats, i, f)
    w.shift[:] = 0.0
    value = evaluate(m, g, s, theta, base, w)
    find_gradient(m, g, s, theta, w)
    residual[:] = w.residual
    gradient[:] = w.gradient
    jacobian[:] = 0.0
    for i in range(g.kind.shape[0]):
        tip = g.tip[i]
        for k in range(g.depth[tip] + 1 if tip >= 0 else 0):
            for r in range(3):
                jacobian[i, r, g.path[tip, k]] = w.column[i, r, k]
    return value


drop_stale([arena, arrays, kernels, natural_kernels, steps, sys.modules[__name__]])
