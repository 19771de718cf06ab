# mypy: disable-error-code="no-untyped-def"
# ruff: noqa: ANN001, ANN201, ANN202
"""The compiled iterations: the projected second-order step, the published projected gradient, restarts, batches.

Arguments as in `kernels.py`. Nothing is allocated inside an iteration.
"""

import math

import numpy as np

from mimik.solve.projected.arrays import BALL, EXHAUSTED, FREE, POSITION, REACHED, STALLED, STATIONARY
from mimik.solve.projected.kernels import (
    evaluate,
    exp_quat,
    find_gradient,
    find_hessian,
    find_residuals,
    kernel,
    objective,
    place_joints,
    quat_mul,
)

NEAR_LIMIT, LIMIT_WIDTH = 2.0, 0.1
"""How much dearer a value's change is near its limit, and over which way that fades (radians, metres).

Joints then come to rest at their limits rather than run into them; out of reach it would only delay.
"""

STUCK = 1e-3
"""Metres (radians) a goal may be off before other starts are tried."""

JUMP = 0.2
"""Metres (radians) the goals may move at once before a figure out of their reach looks for other ways to stand."""

FRAME_MOVE, MOVE_POWER = 0.08, 1.5
"""Metres a goal may move in a frame at the plain pull, and how steeply it grows with farther moves."""

FAST_FRAME = 0.5
"""Radians (metres) of change in one frame that count as a jump."""

CURVED = 1e-3
"""Metres (radians) of residual from which the bending of the goals' paths enters the step."""


@kernel
def step_room(m, theta, w):
    """How far each value can move down and up; returns the norm of the projected gradient (largest part)."""
    worst = 0.0
    for j in range(m.parents.shape[0]):
        cone = m.cone[j] if m.kind[j] == BALL else np.inf
        for k in range(m.value_count[j]):
            v = m.first[j] + k
            low, high = m.lower[v] - theta[v], m.upper[v] - theta[v]
            if k < 2 and cone < np.inf:
                low, high = -np.inf, np.inf
                if k == 0:
                    u = m.first[j]
                    high = max(0.0, cone - math.sqrt(theta[u] * theta[u] + theta[u + 1] * theta[u + 1]))
            w.low[v], w.high[v] = low, high
            worst = max(worst, abs(min(high, max(low, -w.gradient[v]))))
    return worst


@kernel
def factorise(g, w, scale, damping, curved):
    """Cholesky factor from tips to root, rows kept along paths so that nothing fills in; False if indefinite."""
    depth, path, hessian, bend, factor, held = g.depth, g.path, w.hessian, w.bend, w.factor, w.held
    for k in range(depth.shape[0]):
        d = depth[k]
        if held[k]:
            for t in range(d):
                factor[k, t] = 0.0
            factor[k, d] = 1.0
            continue
        if curved:
            for t in range(d + 1):
                factor[k, t] = hessian[k, t] + bend[k, t]
        else:
            for t in range(d + 1):
                factor[k, t] = hessian[k, t]
        near = max(0.0, min(w.high[k], -w.low[k]))
        dear = 0.0 if curved else NEAR_LIMIT * math.exp(-near / LIMIT_WIDTH)
        factor[k, d] += damping * scale[k] * (1.0 + dear)
        for t in range(d):
            if held[path[k, t]]:
                factor[k, t] = 0.0
    for k in range(depth.shape[0] - 1, -1, -1):
        d = depth[k]
        if held[k]:
            continue
        if not factor[k, d] > 1e-13 * scale[k]:
            return False
        root = math.sqrt(factor[k, d])
        inverse, some = 1.0 / root, 0.0
        factor[k, d] = root
        for t in range(d):
            factor[k, t] *= inverse
            some += abs(factor[k, t])
        if some == 0.0:
            continue
        for t in range(d - 1, -1, -1):
            x, i = factor[k, t], path[k, t]
            for n in range(t + 1):
                factor[i, n] -= x * factor[k, n]
    return True


@kernel
def back_substitute(g, w):
    """Solve with the factor: delta from the right-hand side, which is overwritten."""
    depth, path, factor, right, delta = g.depth, g.path, w.factor, w.right, w.delta
    for k in range(depth.shape[0] - 1, -1, -1):
        d = depth[k]
        y = right[k] / factor[k, d]
        right[k] = y
        if y != 0.0:
            for t in range(d):
                right[path[k, t]] -= factor[k, t] * y
    for k in range(depth.shape[0]):
        d, x = depth[k], right[k]
        for t in range(d):
            x -= factor[k, t] * delta[path[k, t]]
        delta[k] = x / factor[k, d]


@kernel
def _push(g, w, step, curved, out):
    """Subtract from `out` the local model's matrix times a step."""
    depth, path, hessian, bend = g.depth, g.path, w.hessian, w.bend
    for k in range(depth.shape[0]):
        d, x, total = depth[k], step[k], 0.0
        for t in range(d):
            h = hessian[k, t] + (bend[k, t] if curved else 0.0)
            total += h * step[path[k, t]]
            out[path[k, t]] -= h * x
        out[k] -= total + (hessian[k, d] + (bend[k, d] if curved else 0.0)) * x


@kernel
def box_step(m, g, w, damping, curved):
    """Minimise the local model within the limits: hold what the gradient presses outward, solve, hold what overshoots.

    Returns the predicted decrease, or -1 when the matrix is indefinite.
    """
    count = w.delta.shape[0]
    gradient, delta, low, high, held, fixed = w.gradient, w.delta, w.low, w.high, w.held, w.trial
    for v in range(count):
        held[v] = (high[v] <= 0.0 and gradient[v] < 0.0) or (low[v] >= 0.0 and gradient[v] > 0.0)
        fixed[v] = 0.0
    more = False
    for _ in range(6):
        if not factorise(g, w, m.scale, damping, curved):
            return -1.0
        for v in range(count):
            w.right[v] = -gradient[v]
        if more:  # values already moved to their limit push on the others
            _push(g, w, fixed, curved, w.right)
        for v in range(count):
            if held[v]:
                w.right[v] = fixed[v]
        back_substitute(g, w)
        more = False
        for v in range(count):
            if not held[v] and (delta[v] < low[v] or delta[v] > high[v]):
                held[v] = True
                fixed[v] = low[v] if delta[v] < low[v] else high[v]
                more = True
        if not more:
            break
    drop = 0.0
    for v in range(count):
        delta[v] = min(high[v], max(low[v], delta[v]))
        w.right[v] = 0.0
    _push(g, w, delta, curved, w.right)
    for v in range(count):
        drop += delta[v] * (0.5 * w.right[v] - gradient[v])
    return drop


@kernel
def retract(m, theta, base, w):
    """Take the step `delta` from theta into w.trial and w.trial_base, exactly inside the limits."""
    for j in range(m.parents.shape[0]):
        v, kind = m.first[j], m.kind[j]
        if kind == FREE:
            v += m.value_count[j] - 3
            x, y, z = 0.0, 0.0, 0.0
            for k in range(3):
                x, y = x + w.delta[v + k] * m.axes[v + k, 0], y + w.delta[v + k] * m.axes[v + k, 1]
                z += w.delta[v + k] * m.axes[v + k, 2]
            ex, ey, ez, ew = exp_quat(x, y, z)
            qx, qy, qz, qw = quat_mul(base[j, 0], base[j, 1], base[j, 2], base[j, 3], ex, ey, ez, ew)
            n = 1.0 / math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
            w.trial_base[j, 0], w.trial_base[j, 1], w.trial_base[j, 2] = n * qx, n * qy, n * qz
            w.trial_base[j, 3] = n * qw
            for k in range(3):
                w.trial[v + k] = 0.0
            for k in range(m.first[j], v):
                w.trial[k] = min(m.upper[k], max(m.lower[k], theta[k] + w.delta[k]))
            continue
        for k in range(v, v + m.value_count[j]):
            w.trial[k] = theta[k] + w.delta[k]
        if kind == BALL and m.cone[j] < np.inf:
            swing = math.sqrt(theta[v] * theta[v] + theta[v + 1] * theta[v + 1])
            c, s = (theta[v] / swing, theta[v + 1] / swing) if swing > 1e-9 else (1.0, 0.0)
            w.trial[v] = theta[v] + c * w.delta[v] - s * w.delta[v + 1]
            w.trial[v + 1] = theta[v + 1] + s * w.delta[v] + c * w.delta[v + 1]
        limit_joint(m, j, w.trial)


@kernel
def limit_joint(m, j, theta):
    """Project a joint's values onto its limits: the nearest point of box and cone."""
    first = m.first[j]
    for k in range(first, first + m.value_count[j]):
        theta[k] = min(m.upper[k], max(m.lower[k], theta[k]))
    if m.kind[j] == BALL and m.cone[j] < np.inf:
        swing = math.sqrt(theta[first] * theta[first] + theta[first + 1] * theta[first + 1])
        if swing > m.cone[j]:
            shrink = m.cone[j] / swing * (1.0 - 4e-16)
            theta[first] *= shrink
            theta[first + 1] *= shrink


@kernel
def worst_goal(g, w):
    """Largest residual of any goal, in units of what counts as met there."""
    worst = 0.0
    for i in range(g.kind.shape[0]):
        r = w.residual[i]
        worst = max(worst, math.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / g.reach[i])
    return worst


@kernel
def minimise(m, g, s, theta, base, w):
    """Projected Newton with a trust region, from theta and base, in place.

    Returns the end's code, iterations, objective, projected gradient norm, worst goal, worst goal at first. `evaluate`
    and `box_step` have one place each where they are called: compiling them in twice would double the compile time.
    """
    w.trial[:] = theta
    w.trial_base[:] = base
    end, iteration, refused, slow, curved = -1, 0, 0, 0, False
    f, drop, worst, slope, damping, first = np.inf, 1.0, 0.0, 0.0, 0.0, 0.0
    while True:
        value = evaluate(m, g, s, w.trial, w.trial_base, w)
        if end >= 0:  # back at the last good point
            return end, iteration, f, slope, worst, first
        if f == np.inf or f - value > 1e-4 * drop:
            if f == np.inf:
                worst = first = worst_goal(g, w)
                damping = s.damping * min(1.0, worst * worst)
            else:
                slow = slow + 1 if f - value < 1e-8 * f else 0
                if f - value > 0.75 * drop:
                    damping = max(0.2 * damping, 1e-9)
                elif f - value < 0.25 * drop:
                    damping *= 4.0
                iteration += 1
                theta[:] = w.trial
                base[:] = w.trial_base
                worst = worst_goal(g, w)
            f, refused = value, 0
            find_gradient(m, g, s, theta, w)
            slope = step_room(m, theta, w)
            if worst < s.tolerance:
                return REACHED, iteration, f, slope, worst, first
            if slope < s.gradient_tolerance:
                return STATIONARY, iteration, f, slope, worst, first
            if slow >= 4:
                return STALLED, iteration, f, slope, worst, first
            if iteration >= s.iterations:
                return EXHAUSTED, iteration, f, slope, worst, first
            curved = worst > CURVED
            find_hessian(m, g, s, w, curved)
        else:
            refused += 1
            damping = max(4.0 * damping, 1e-6)
        drop = 0.0
        while drop <= 0.0 and refused < 16:
            drop = box_step(m, g, w, damping, curved)
            if drop <= 0.0:  # indefinite: leave the second-order part out, then damp
                refused += 1
                damping = damping if curved else max(10.0 * damping, 1e-6)
                curved = False
        if refused < 16:
            retract(m, theta, base, w)
        else:
            end = STALLED
            w.trial[:] = theta
            w.trial_base[:] = base


@kernel
def start_values(m, ease, pull, momentum, natural, natural_base, theta, base, speed):
    """Move the start on by a share of the last frame's change (N,) and a share of the way to the natural pose."""
    for j in range(m.parents.shape[0]):
        first, last = m.first[j], m.first[j] + m.value_count[j]
        free = last - 3 if m.kind[j] == FREE else last
        for k in range(first, free):
            toward = 0.0 if m.slides[k] else min(1.0, pull * ease[k]) * (natural[k] - theta[k])
            theta[k] += momentum * speed[k] + toward
        if m.kind[j] == FREE:
            x, y, z = _turn_between(base[j], natural_base[j])
            x, y, z = pull * x + momentum * speed[free], pull * y + momentum * speed[free + 1], pull * z
            ex, ey, ez, ew = exp_quat(x, y, z + momentum * speed[free + 2])
            a = base[j]
            a[0], a[1], a[2], a[3] = quat_mul(a[0], a[1], a[2], a[3], ex, ey, ez, ew)
        limit_joint(m, j, theta)


@kernel
def stand_by_goals(m, g, natural, natural_base, theta, base, w):
    """Take the natural pose whole and put a root that slides where its points lie nearest to the position goals."""
    for v in range(theta.shape[0]):
        theta[v] = theta[v] if m.slides[v] else natural[v]
    base[:] = natural_base
    for j in range(m.parents.shape[0]):
        limit_joint(m, j, theta)
    place_joints(m, theta, base, w)
    find_residuals(m, g, w)
    count, x, y, z = 0, 0.0, 0.0, 0.0
    for i in range(g.kind.shape[0]):
        if g.kind[i] == POSITION:
            count, x, y = count + 1, x + w.residual[i, 0], y + w.residual[i, 1]
            z += w.residual[i, 2]
    for v in range(m.value_count[0] if count > 0 else 0):
        if m.slides[v]:
            along = x * m.axes[v, 0] + y * m.axes[v, 1] + z * m.axes[v, 2]
            theta[v] = min(m.upper[v], max(m.lower[v], theta[v] - along / count))


@kernel
def _goal_move(g, w):
    """How far the position goals have moved off the points that were brought to them, metres."""
    largest = 0.0
    for i in range(g.kind.shape[0]):
        if g.kind[i] == POSITION:
            x, y = g.target[i, 0] - w.point[i, 0, 0], g.target[i, 1] - w.point[i, 0, 1]
            z = g.target[i, 2] - w.point[i, 0, 2]
            largest = max(largest, math.sqrt(x * x + y * y + z * z))
    return largest


@kernel
def _turn_between(a, b):
    """Rotation vector of the shorter turn that takes a to b, measured in a."""
    x, y, z, w = quat_mul(-a[0], -a[1], -a[2], a[3], b[0], b[1], b[2], b[3])
    sine = math.sqrt(x * x + y * y + z * z)
    turn = 2.0 * math.atan2(sine, abs(w)) / sine if sine > 1e-9 else 2.0
    turn = -turn if w < 0.0 else turn
    return turn * x, turn * y, turn * z


@kernel
def measure_speed(m, old, old_base, theta, base, speed):
    """Store the change of one frame; none after a jump, which says nothing of the next frame."""
    largest = 0.0
    for v in range(theta.shape[0]):
        speed[v] = theta[v] - old[v]
    for j in range(m.parents.shape[0]):
        if m.kind[j] == FREE:
            v = m.first[j] + m.value_count[j] - 3
            speed[v], speed[v + 1], speed[v + 2] = _turn_between(old_base[j], base[j])
    for v in range(theta.shape[0]):
        largest = max(largest, abs(speed[v]))
    if largest > FAST_FRAME:
        speed[:] = 0.0


@kernel
def _scatter(m, natural, slid, theta, base, seed, spread):
    """Draw values around the natural pose, inside the limits, slides kept; repeatable by its own small generator."""
    state = np.uint64(seed)
    for v in range(theta.shape[0]):
        total = 0.0
        for _ in range(3):
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            total += float(state >> np.uint64(40)) / 16777216.0 - 0.5
        theta[v] = slid[v] if m.slides[v] else natural[v] + 2.0 * spread * total
    for j in range(m.parents.shape[0]):
        if m.kind[j] == FREE:  # free balls are measured from their base: turn that
            v = m.first[j] + m.value_count[j] - 3
            ex, ey, ez, ew = exp_quat(theta[v], theta[v + 1], theta[v + 2])
            q = base[j]
            q[0], q[1], q[2], q[3] = quat_mul(q[0], q[1], q[2], q[3], ex, ey, ez, ew)
            theta[v], theta[v + 1], theta[v + 2] = 0.0, 0.0, 0.0
        limit_joint(m, j, theta)


@kernel
def solve_frame(m, g, s, theta, base, speed, natural, natural_base, last_worst, tick, w):
    """Solve one frame in place: from where the figure stands, and where that gets stuck from other starts.

    Pinned goals come first: their multipliers grow until they are met or cannot be (method of multipliers). last_worst
    is the worst goal of the frame before: while goals stay out of reach the figure starts where it stands; while they
    also move little, one other start is tried every other tick and taken only when clearly better.
    Returns the end's code, iterations, objective, projected gradient norm, worst goal; residuals in w.best_residual.
    """
    w.old[:] = theta
    w.old_base[:] = base
    if tick == 0:  # a first frame knows nothing of the one before
        evaluate(m, g, s, theta, base, w)
    if last_worst < STUCK:
        pull = min(1.0, s.pull * max(1.0, (_goal_move(g, w) / FRAME_MOVE) ** MOVE_POWER))
        start_values(m, g.ease, pull, s.momentum, natural, natural_base, theta, base, speed)
    pinned, best_f, best_end, best_slope, best_worst, steps, again = False, np.inf, STALLED, 0.0, 0.0, 0, 0
    moved, starts, first_seed, margin = 0.0, s.restarts, 0, 0.995
    for i in range(g.kind.shape[0]):
        pinned = pinned or g.pinned[i]
    n = 0
    while n <= starts:
        if n > 0:
            seed = first_seed + n
            base[:] = natural_base if seed % 2 == 1 else w.best_base
            centre = natural if seed % 2 == 1 else w.best
            _scatter(m, centre, w.best, theta, base, seed, 0.5 if seed > 1 else 0.0)
        w.shift[:] = 0.0
        for again_pinned in range(s.pin_rounds + 1 if pinned else 1):
            end, more, f, slope, worst, first = minimise(m, g, s, theta, base, w)
            moved = first if n == 0 and again_pinned == 0 else moved
            steps += more
            left = _raise_multipliers(g, w)
            if left < s.tolerance:
                break
        w.shift[:] = 0.0
        f = objective(g, s, theta, w)
        if n > 0 and abs(f - best_f) < 0.005 * best_f:
            again += 1  # another start ends at the same optimum
        if n == 0 or f < margin * best_f:
            w.best[:] = theta
            w.best_base[:] = base
            w.best_residual[:] = w.residual
            best_f, best_end, best_slope, best_worst = f, end, slope, worst
        if best_worst < STUCK or again >= 4:
            break
        if n == 0 and worst < 1.3 * last_worst + STUCK and moved < last_worst + JUMP:
            starts, first_seed, margin = min(1 if tick % 2 == 0 else 0, starts), tick // 2 % 12, 0.93
        n += 1
    theta[:] = w.best
    base[:] = w.best_base
    measure_speed(m, w.old, w.old_base, theta, base, speed)
    return best_end, steps, best_f, best_slope, best_worst


@kernel
def _raise_multipliers(g, w):
    """Add the residuals of pinned goals to their multipliers; returns the largest of them."""
    left = 0.0
    for i in range(g.kind.shape[0]):
        if g.pinned[i]:
            for k in range(3):
                left = max(left, abs(w.residual[i, k]) / g.reach[i])
                w.shift[i, k] += w.residual[i, k]
    return left
