# mypy: disable-error-code="no-untyped-def"
# ruff: noqa: ANN001, ANN201
"""The method as published: projected gradient with Armijo back-tracking (Engell-Norregaard and Erleben)."""

import sys

import numba
import numpy as np

from mimik.solve.compile_note import drop_stale
from mimik.solve.projected import arena, arrays, kernels, steps
from mimik.solve.projected.arena import goal_views, model_views, work_views
from mimik.solve.projected.arrays import EXHAUSTED, REACHED, STALLED, STATIONARY
from mimik.solve.projected.kernels import FAST, evaluate, find_gradient
from mimik.solve.projected.steps import retract, step_room, worst_goal

ARMIJO_SIGMA, ARMIJO_BETA, ARMIJO_STALL = 1e-4, 0.5, 1e-9
"""Sufficient decrease and shrinkage of the line search (40), and the relative decrease at which it ends."""


@numba.njit(cache=True, error_model="numpy", fastmath=FAST)
def published_step(sizes, ints, floats, s, theta, base):
    """The published method: projected gradient (39) with Armijo back-tracking along the projection arc (40).

    theta <- P(theta - alpha grad f), alpha = beta^k the first for which
    f(theta) - f(P(theta - alpha grad f)) >= sigma grad f . (theta - P(theta - alpha grad f)).
    Returns what `live_step` returns.
    """
    m, i, f = model_views(sizes, ints, floats)
    g, i, f = goal_views(sizes, ints, floats, i, f)
    w = work_views(sizes, ints, floats, i, f)
    w.trial[:] = theta
    w.trial_base[:] = base
    w.shift[:] = 0.0
    f, alpha, worst, slope, iteration, expected, end = np.inf, 1.0, 0.0, 0.0, 0, 0.0, EXHAUSTED
    while True:
        value = evaluate(m, g, s, w.trial, w.trial_base, w)
        if f == np.inf or f - value >= ARMIJO_SIGMA * expected:
            slow = f < np.inf and f - value < ARMIJO_STALL * f
            f, alpha = value, 1.0
            theta[:] = w.trial
            base[:] = w.trial_base
            w.best_residual[:] = w.residual
            worst = worst_goal(g, w)
            find_gradient(m, g, s, theta, w)
            slope = step_room(m, theta, w)
            end = REACHED if worst < s.tolerance else STATIONARY if slope < s.gradient_tolerance else STALLED
            if worst < s.tolerance or slope < s.gradient_tolerance or slow:
                break
            if iteration >= s.iterations:
                end = EXHAUSTED
                break
            iteration += 1
        else:
            alpha *= ARMIJO_BETA
            if alpha < 1e-14:
                end = STALLED
                break
        expected = 0.0
        for v in range(theta.shape[0]):
            w.delta[v] = min(w.high[v], max(w.low[v], -alpha * w.gradient[v]))
            expected -= w.gradient[v] * w.delta[v]
        retract(m, theta, base, w)
    return end, iteration, f, slope, worst


drop_stale([arena, arrays, kernels, steps, sys.modules[__name__]])
