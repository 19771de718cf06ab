# mypy: disable-error-code="no-untyped-def"
# ruff: noqa: ANN001, ANN201, ANN202
"""The compiled kernels of figure and goals: kinematics, residuals, objective (17), gradient (26), second derivatives.

The readable twins are in `twin.py`, the iterations in `steps.py`. Arguments: m ModelArrays,
g GoalArrays, s Settings, w Workspace, theta (N,) values, base (J, 4) the frames free balls are measured from.
"""

import math

import numba
import numpy as np

from mimik.solve.projected.arrays import (
    ABOVE,
    AXES,
    BALL,
    DIRECTION,
    DISTANCE,
    FREE,
    LOOK_AT,
    MASS_CENTRE,
    ORIENTATION,
    POLE,
    POSITION,
)

FAST = {"reassoc", "contract", "nsz", "arcp"}
kernel = numba.njit(cache=True, error_model="numpy", fastmath=FAST, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@kernel
def quat_mul(ax, ay, az, aw, bx, by, bz, bw):
    """Product of two quaternions."""
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@kernel
def rotate(qx, qy, qz, qw, x, y, z):
    """Turn a vector by a unit quaternion."""
    tx, ty, tz = 2.0 * (qy * z - qz * y), 2.0 * (qz * x - qx * z), 2.0 * (qx * y - qy * x)
    return x + qw * tx + qy * tz - qz * ty, y + qw * ty + qz * tx - qx * tz, z + qw * tz + qx * ty - qy * tx


@kernel
def exp_quat(x, y, z):
    """Quaternion of a rotation vector."""
    angle2 = x * x + y * y + z * z
    angle = math.sqrt(angle2)
    k = math.sin(0.5 * angle) / angle if angle > 1e-6 else 0.5 - angle2 / 48.0
    return k * x, k * y, k * z, math.cos(0.5 * angle)


@kernel
def turn_rate(sx, sy, sz, x, y, z):
    """Left Jacobian of the exponential at s, applied to a vector: the world turn of a change of s."""
    a2 = sx * sx + sy * sy + sz * sz
    a = math.sqrt(a2)
    if a > 1e-4:
        k1, k2 = (1.0 - math.cos(a)) / a2, (a - math.sin(a)) / (a2 * a)
    else:
        k1, k2 = 0.5 - a2 / 24.0, 1.0 / 6.0 - a2 / 120.0
    cx, cy, cz = sy * z - sz * y, sz * x - sx * z, sx * y - sy * x
    return (
        x + k1 * cx + k2 * (sy * cz - sz * cy),
        y + k1 * cy + k2 * (sz * cx - sx * cz),
        z + k1 * cz + k2 * (sx * cy - sy * cx),
    )


@kernel
def place_joints(m, theta, base, w):
    """Forward kinematics: world rotations, positions, and the world axis of every value (appendix A)."""
    for j in range(m.parents.shape[0]):
        parent, first, last = m.parents[j], m.first[j], m.first[j] + m.value_count[j]
        px, py, pz, pw, ox, oy, oz = 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
        if parent >= 0:
            px, py, pz, pw = w.q[parent, 0], w.q[parent, 1], w.q[parent, 2], w.q[parent, 3]
            ox, oy, oz = w.p[parent, 0], w.p[parent, 1], w.p[parent, 2]
        tx, ty, tz = m.offsets[j, 0], m.offsets[j, 1], m.offsets[j, 2]
        v = first
        while v < last and m.slides[v]:
            tx, ty, tz = tx + theta[v] * m.axes[v, 0], ty + theta[v] * m.axes[v, 1], tz + theta[v] * m.axes[v, 2]
            w.axis[v, 0], w.axis[v, 1], w.axis[v, 2] = rotate(px, py, pz, pw, m.axes[v, 0], m.axes[v, 1], m.axes[v, 2])
            v += 1
        tx, ty, tz = rotate(px, py, pz, pw, tx, ty, tz)
        w.p[j, 0], w.p[j, 1], w.p[j, 2] = ox + tx, oy + ty, oz + tz
        qx, qy, qz, qw = quat_mul(px, py, pz, pw, m.rest[j, 0], m.rest[j, 1], m.rest[j, 2], m.rest[j, 3])
        if m.kind[j] == AXES:
            for k in range(v, last):
                ax, ay, az = m.axes[k, 0], m.axes[k, 1], m.axes[k, 2]
                w.axis[k, 0], w.axis[k, 1], w.axis[k, 2] = rotate(qx, qy, qz, qw, ax, ay, az)
                c, h = math.cos(0.5 * theta[k]), math.sin(0.5 * theta[k])
                qx, qy, qz, qw = quat_mul(qx, qy, qz, qw, h * ax, h * ay, h * az, c)
        else:
            qx, qy, qz, qw = _place_ball(m, theta, base, w, j, v, qx, qy, qz, qw)
        w.q[j, 0], w.q[j, 1], w.q[j, 2], w.q[j, 3] = qx, qy, qz, qw


@kernel
def _place_ball(m, theta, base, w, j, v, qx, qy, qz, qw):
    """Turn by the values of a ball and store its axes; its swing runs over two values, its twist over the third."""
    if m.kind[j] == FREE:
        qx, qy, qz, qw = quat_mul(qx, qy, qz, qw, base[j, 0], base[j, 1], base[j, 2], base[j, 3])
        t = theta[v + 2]
    else:
        t = 0.0
    a, b, c = m.axes[v], m.axes[v + 1], m.axes[v + 2]
    sx = theta[v] * a[0] + theta[v + 1] * b[0] + t * c[0]
    sy = theta[v] * a[1] + theta[v + 1] * b[1] + t * c[1]
    sz = theta[v] * a[2] + theta[v + 1] * b[2] + t * c[2]
    for k in range(3 if m.kind[j] == FREE else 2):
        x, y, z = turn_rate(sx, sy, sz, m.axes[v + k, 0], m.axes[v + k, 1], m.axes[v + k, 2])
        w.axis[v + k, 0], w.axis[v + k, 1], w.axis[v + k, 2] = rotate(qx, qy, qz, qw, x, y, z)
    ex, ey, ez, ew = exp_quat(sx, sy, sz)
    qx, qy, qz, qw = quat_mul(qx, qy, qz, qw, ex, ey, ez, ew)
    if m.kind[j] == BALL:
        w.axis[v + 2, 0], w.axis[v + 2, 1], w.axis[v + 2, 2] = rotate(qx, qy, qz, qw, c[0], c[1], c[2])
        h = math.sin(0.5 * theta[v + 2])
        qx, qy, qz, qw = quat_mul(qx, qy, qz, qw, h * c[0], h * c[1], h * c[2], math.cos(0.5 * theta[v + 2]))
        swing = math.sqrt(theta[v] * theta[v] + theta[v + 1] * theta[v + 1])
        if m.cone[j] < np.inf and swing > 1e-9:  # measure swing along and across its present direction
            cs, sn = theta[v] / swing, theta[v + 1] / swing
            for k in range(3):
                x, y = w.axis[v, k], w.axis[v + 1, k]
                w.axis[v, k], w.axis[v + 1, k] = cs * x + sn * y, cs * y - sn * x
    return qx, qy, qz, qw


@kernel
def find_residuals(m, g, w):
    """World points and residuals of all goals, from the placed joints."""
    q, p, points, world, r, target = w.q, w.p, g.points, w.point, w.residual, g.target
    for i in range(g.kind.shape[0]):
        for k in range(3):
            j = g.joints[i, k]
            if j < 0:
                break
            x, y, z = rotate(q[j, 0], q[j, 1], q[j, 2], q[j, 3], points[i, k, 0], points[i, k, 1], points[i, k, 2])
            world[i, k, 0], world[i, k, 1], world[i, k, 2] = p[j, 0] + x, p[j, 1] + y, p[j, 2] + z
        if g.kind[i] == POSITION:
            for k in range(3):
                r[i, k] = world[i, 0, k] - target[i, k]
        else:
            if g.kind[i] == MASS_CENTRE:
                _gather_mass(m, w)
            _residual(g.kind[i], w.q[g.joints[i, 0]], world[i], g.vector[i], target[i], g.support, w, r[i], False)


@kernel
def _residual(kind, q, points, vector, t, support, w, r, linear):
    """Residual r (3,) of one goal, and if asked its derivatives by its points and by a turn of its first joint."""
    one, dp, dw = points[0], w.by_point, w.by_turn
    if linear:
        dp[:] = 0.0
        dw[:] = 0.0
    if kind == ORIENTATION:
        _turn_residual(q, t, r, dw)
    elif kind in (DIRECTION, LOOK_AT):
        dx, dy, dz = rotate(q[0], q[1], q[2], q[3], vector[0], vector[1], vector[2])
        ux, uy, uz = t[0], t[1], t[2]
        if kind == LOOK_AT:
            ux, uy, uz = ux - one[0], uy - one[1], uz - one[2]
            far = math.sqrt(ux * ux + uy * uy + uz * uz)
            if far < 1e-9:  # the target sits in the eye: every direction is right
                ux, uy, uz, far = dx, dy, dz, 1e300
            else:
                ux, uy, uz = ux / far, uy / far, uz / far
            u = (ux, uy, uz)
            for k in range(3):
                for n in range(3):
                    dp[0, k, n] = ((1.0 if k == n else 0.0) - u[k] * u[n]) / far
        r[0], r[1], r[2] = dx - ux, dy - uy, dz - uz
        dw[0, 1], dw[0, 2], dw[1, 2], dw[1, 0], dw[2, 0], dw[2, 1] = dz, -dy, dx, -dz, dy, -dx
    elif kind == POLE:
        _pole_residual(points, t, r, dp, w.mats)
    elif kind == DISTANCE:
        two = points[1]
        dx, dy, dz = one[0] - two[0], one[1] - two[1], one[2] - two[2]
        far = math.sqrt(dx * dx + dy * dy + dz * dz)
        r[0] = far - t[0]
        if far < 1e-12:  # two points in one place: part them upwards
            dx, dy, dz, far = 0.0, 1.0, 0.0, 1.0
        d = (dx / far, dy / far, dz / far)
        for k in range(3):
            dp[0, 0, k], dp[1, 0, k] = d[k], -d[k]
    elif kind == ABOVE:
        r[0] = min(0.0, one[1] - t[0])
        dp[0, 0, 1] = 1.0 if r[0] < 0.0 else 0.0
    elif kind == MASS_CENTRE:
        r[0], r[1] = _outside(w.moment[0, 0], w.moment[0, 2], support)


@kernel
def _turn_residual(q, t, r, dw):
    """Rotation vector, in the world, from the target to the joint's rotation; and the inverse left Jacobian."""
    x, y, z, c = quat_mul(q[0], q[1], q[2], q[3], -t[0], -t[1], -t[2], t[3])
    if c < 0.0:
        x, y, z, c = -x, -y, -z, -c
    n = math.sqrt(x * x + y * y + z * z)
    angle = 2.0 * math.atan2(n, c)
    k = angle / n if n > 1e-9 else 2.0
    r[0], r[1], r[2] = k * x, k * y, k * z
    if angle > 1e-3:
        c2 = 1.0 / (angle * angle) - (1.0 + math.cos(angle)) / (2.0 * angle * math.sin(angle) + 1e-300)
        if angle > 3.1415:
            c2 = 1.0 / (angle * angle)
    else:
        c2 = 1.0 / 12.0
    for i in range(3):
        for j in range(3):
            dw[i, j] = c2 * r[i] * r[j]
        dw[i, i] += 1.0 - c2 * angle * angle
    dw[0, 1] += 0.5 * r[2]
    dw[0, 2] -= 0.5 * r[1]
    dw[1, 0] -= 0.5 * r[2]
    dw[1, 2] += 0.5 * r[0]
    dw[2, 0] += 0.5 * r[1]
    dw[2, 1] -= 0.5 * r[0]


@kernel
def _pole_residual(points, pole, r, dp, mats):
    """How far the middle joint b lies off the half-plane through a, c and the pole; metres, zero when straight."""
    a, b, c = points[0], points[1], points[2]
    n, x, y, v, h = mats[5, 0], mats[5, 1], mats[5, 2], mats[4, 0], mats[4, 1]
    length = math.sqrt((c[0] - a[0]) ** 2 + (c[1] - a[1]) ** 2 + (c[2] - a[2]) ** 2)
    nx, ny = 0.0, 0.0
    for k in range(3):
        n[k] = (c[k] - a[k]) / length if length > 1e-9 else 0.0
        x[k], y[k] = b[k] - a[k], pole[k] - a[k]
        nx, ny = nx + n[k] * x[k], ny + n[k] * y[k]
    vv, hh = 0.0, 0.0
    for k in range(3):
        v[k], h[k] = x[k] - nx * n[k], y[k] - ny * n[k]
        vv, hh = vv + v[k] * v[k], hh + h[k] * h[k]
    vv, hh = math.sqrt(vv), math.sqrt(hh)
    r[:] = 0.0
    if hh < 1e-9 or length < 1e-9:  # the pole lies on the line: nothing is asked
        dp[:] = 0.0
        return
    for k in range(3):
        h[k] /= hh
        r[k] = v[k] - vv * h[k]
        v[k] = v[k] / vv if vv > 1e-9 else h[k]
    across, along, by_n, q, slope = mats[0], mats[1], mats[2], mats[3], vv / hh
    for i in range(3):
        for j in range(3):
            one = 1.0 if i == j else 0.0
            across[i, j] = one - n[i] * n[j]
            along[i, j] = one - h[i] * v[j]
            q[i, j] = slope * (one - h[i] * h[j])
    for i in range(3):
        for j in range(3):
            s = 0.0
            for k in range(3):
                one = 1.0 if k == j else 0.0
                s += along[i, k] * (-nx * one - n[k] * x[j]) - q[i, k] * (-ny * one - n[k] * y[j])
            by_n[i, j] = s / length
    for i in range(3):
        for j in range(3):
            pn, qn, tn = 0.0, 0.0, 0.0
            for k in range(3):
                pn += along[i, k] * across[k, j]
                qn += q[i, k] * across[k, j]
                tn += by_n[i, k] * across[k, j]
            dp[0, i, j], dp[1, i, j], dp[2, i, j] = qn - pn - tn, pn, tn


@kernel
def _gather_mass(m, w):
    """Mass and first moment at and below each joint; joint 0 holds the centre of mass."""
    for j in range(m.parents.shape[0]):
        c = m.mass_point[j]
        x, y, z = rotate(w.q[j, 0], w.q[j, 1], w.q[j, 2], w.q[j, 3], c[0], c[1], c[2])
        w.mass[j] = m.mass[j]
        w.moment[j, 0], w.moment[j, 1] = m.mass[j] * (w.p[j, 0] + x), m.mass[j] * (w.p[j, 1] + y)
        w.moment[j, 2] = m.mass[j] * (w.p[j, 2] + z)
    for j in range(m.parents.shape[0] - 1, 0, -1):
        w.mass[m.parents[j]] += w.mass[j]
        for k in range(3):
            w.moment[m.parents[j], k] += w.moment[j, k]


@kernel
def _outside(x, z, corners):
    """Vector from the nearest point of a convex polygon to (x, z); zero inside. One corner: a point."""
    count = corners.shape[0]
    best, bx, bz, inside = np.inf, 0.0, 0.0, count > 2
    for i in range(count):
        ax, az = corners[i, 0], corners[i, 1]
        ex, ez = corners[(i + 1) % count, 0] - ax, corners[(i + 1) % count, 1] - az
        length2 = ex * ex + ez * ez
        t = ((x - ax) * ex + (z - az) * ez) / length2 if length2 > 0.0 else 0.0
        t = min(1.0, max(0.0, t))
        dx, dz = x - ax - t * ex, z - az - t * ez
        if ex * (z - az) - ez * (x - ax) < 0.0:
            inside = False
        if dx * dx + dz * dz < best:
            best, bx, bz = dx * dx + dz * dz, dx, dz
    return (0.0, 0.0) if inside else (bx, bz)


@kernel
def objective(g, s, theta, w):
    """Half the weighted squared residuals (17), from the residuals in the workspace; pinned goals with multipliers."""
    total, r, shift, e = 0.0, w.residual, w.shift, g.weight
    for i in range(g.kind.shape[0]):
        half = 0.5 * s.pin_weight if g.pinned[i] else 0.5
        x, y, z = r[i, 0] + shift[i, 0], r[i, 1] + shift[i, 1], r[i, 2] + shift[i, 2]
        for k in range(3):  # unused rows of S are zero
            c = e[i, k, 0] * x + e[i, k, 1] * y + e[i, k, 2] * z
            total += half * c * c
    for v in range(theta.shape[0]):
        x = theta[v] - g.near[v]
        total += 0.5 * g.near_weight[v] * x * x
    return total


@kernel
def evaluate(m, g, s, theta, base, w):
    """Place the joints, find the residuals, return the objective."""
    place_joints(m, theta, base, w)
    find_residuals(m, g, w)
    return objective(g, s, theta, w)


@kernel
def _mass_rows(m, w, column, path, length, asked):
    """Velocities of the centre of mass over the ground, x and z, by all values; zero where nothing is asked."""
    column[:] = 0.0
    for k in range(length if asked else 0):
        v = path[k]
        o, x, y, z = m.owner[v], w.axis[v, 0], w.axis[v, 1], w.axis[v, 2]
        mass = w.mass[o]
        if m.slides[v]:
            column[0, k], column[1, k] = mass * x, mass * z
        else:
            lx, ly = w.moment[o, 0] - mass * w.p[o, 0], w.moment[o, 1] - mass * w.p[o, 1]
            lz = w.moment[o, 2] - mass * w.p[o, 2]
            column[0, k], column[1, k] = y * lz - z * ly, x * ly - y * lx


@kernel
def _general_rows(m, w, column, joints, points, path, length):
    """Derivatives of any other goal along its path, from those by its points and by its joint's turn."""
    t = w.by_turn
    for k in range(length):
        v = path[k]
        o, x, y, z, slide = m.owner[v], w.axis[v, 0], w.axis[v, 1], w.axis[v, 2], m.slides[v]
        c0, c1, c2 = 0.0, 0.0, 0.0
        for n in range(3):
            j = joints[n]
            if j < 0 or not m.affects[j, v]:
                continue
            px, py, pz = x, y, z
            if not slide:
                lx, ly, lz = points[n, 0] - w.p[o, 0], points[n, 1] - w.p[o, 1], points[n, 2] - w.p[o, 2]
                px, py, pz = y * lz - z * ly, z * lx - x * lz, x * ly - y * lx
            d = w.by_point[n]
            c0 += d[0, 0] * px + d[0, 1] * py + d[0, 2] * pz
            c1 += d[1, 0] * px + d[1, 1] * py + d[1, 2] * pz
            c2 += d[2, 0] * px + d[2, 1] * py + d[2, 2] * pz
            if n == 0 and not slide:
                c0 += t[0, 0] * x + t[0, 1] * y + t[0, 2] * z
                c1 += t[1, 0] * x + t[1, 1] * y + t[1, 2] * z
                c2 += t[2, 0] * x + t[2, 1] * y + t[2, 2] * z
        column[0, k], column[1, k], column[2, k] = c0, c1, c2


@kernel
def goal_columns(m, g, w):
    """Velocity of every goal's residual by every value on its path: the unweighted Jacobian (appendix A)."""
    path, tips, depth, p, axis, owner, slides = g.path, g.tip, g.depth, w.p, w.axis, m.owner, m.slides
    column, world = w.column, w.point
    for i in range(g.kind.shape[0]):
        tip, kind = tips[i], g.kind[i]
        if tip < 0:
            continue
        length = depth[tip] + 1
        if kind == POSITION:
            tx, ty, tz, j = world[i, 0, 0], world[i, 0, 1], world[i, 0, 2], g.joints[i, 0]
            for k in range(length):
                v = path[tip, k]
                x, y, z = axis[v, 0], axis[v, 1], axis[v, 2]
                if not m.affects[j, v]:
                    x, y, z = 0.0, 0.0, 0.0
                if not slides[v]:
                    o = owner[v]
                    lx, ly, lz = tx - p[o, 0], ty - p[o, 1], tz - p[o, 2]
                    x, y, z = y * lz - z * ly, z * lx - x * lz, x * ly - y * lx
                column[i, 0, k], column[i, 1, k], column[i, 2, k] = x, y, z
        elif kind == MASS_CENTRE:
            asked = w.residual[i, 0] != 0.0 or w.residual[i, 1] != 0.0
            _mass_rows(m, w, column[i], path[tip], length, asked)
        else:
            first = w.q[max(0, g.joints[i, 0])]
            _residual(kind, first, world[i], g.vector[i], g.target[i], g.support, w, w.residual[i], True)
            _general_rows(m, w, column[i], g.joints[i], world[i], path[tip], length)


@kernel
def find_gradient(m, g, s, theta, w):
    """Gradient (26): J'W r, with the weighted rows and forces it is made of."""
    path, tips, depth, column, rows, gradient, e = g.path, g.tip, g.depth, w.column, w.rows, w.gradient, g.weight
    goal_columns(m, g, w)
    for v in range(theta.shape[0]):
        gradient[v] = g.near_weight[v] * (theta[v] - g.near[v])
    for j in range(m.parents.shape[0]):  # as the axes of a cone: along and across its swing
        v = m.first[j]
        if m.kind[j] == BALL and m.cone[j] < np.inf:
            swing = math.sqrt(theta[v] * theta[v] + theta[v + 1] * theta[v + 1])
            if swing > 1e-9:
                x, y, c, s1 = gradient[v], gradient[v + 1], theta[v] / swing, theta[v + 1] / swing
                gradient[v], gradient[v + 1] = c * x + s1 * y, c * y - s1 * x
    for i in range(g.kind.shape[0]):
        tip = tips[i]
        length, weight = (depth[tip] + 1 if tip >= 0 else 0), (math.sqrt(s.pin_weight) if g.pinned[i] else 1.0)
        x, y, z = w.residual[i, 0], w.residual[i, 1], w.residual[i, 2]
        x, y, z = x + w.shift[i, 0], y + w.shift[i, 1], z + w.shift[i, 2]
        for r in range(3):
            a, b, c = weight * e[i, r, 0], weight * e[i, r, 1], weight * e[i, r, 2]
            force = a * x + b * y + c * z
            w.force[i, r] = force
            for k in range(length):
                row = a * column[i, 0, k] + b * column[i, 1, k] + c * column[i, 2, k]
                rows[i, r, k] = row
                gradient[path[tip, k]] += force * row


@kernel
def find_hessian(m, g, s, w, curved):
    """Gauss-Newton matrix J'W J and, where asked, what the bending of the goals' paths adds to it."""
    path, rows, hessian, e = g.path, w.rows, w.hessian, g.weight
    hessian[:] = 0.0
    if curved:
        w.bend[:] = 0.0
    for v in range(hessian.shape[0]):
        hessian[v, g.depth[v]] = g.near_weight[v]
    for i in range(g.kind.shape[0]):
        tip = g.tip[i]
        for k in range(g.depth[tip] + 1 if tip >= 0 else 0):
            v, a, b, c = path[tip, k], rows[i, 0, k], rows[i, 1, k], rows[i, 2, k]
            for n in range(k + 1):
                hessian[v, n] += a * rows[i, 0, n] + b * rows[i, 1, n] + c * rows[i, 2, n]
        if curved and tip >= 0 and (g.kind[i] == POSITION or g.kind[i] == DIRECTION):
            weight = math.sqrt(s.pin_weight) if g.pinned[i] else 1.0
            a, b, c = weight * w.force[i, 0], weight * w.force[i, 1], weight * w.force[i, 2]
            fx = e[i, 0, 0] * a + e[i, 1, 0] * b + e[i, 2, 0] * c
            fy = e[i, 0, 1] * a + e[i, 1, 1] * b + e[i, 2, 1] * c
            fz = e[i, 0, 2] * a + e[i, 1, 2] * b + e[i, 2, 2] * c
            _add_bend(m.slides, path[tip], g.depth[tip] + 1, w.axis, w.lever, w.column[i], w.bend, fx, fy, fz)


@kernel
def _add_bend(slides, path, length, axis, lever, column, bend, fx, fy, fz):
    """Second derivative of a point (or direction) times the force on it: f . (a_i x (a_k x (p - o_k))), i above k."""
    for k in range(length):
        v = path[k]
        x, y, z = axis[v, 0], axis[v, 1], axis[v, 2]
        if slides[v]:
            x, y, z = 0.0, 0.0, 0.0
        lever[0, k], lever[1, k], lever[2, k] = fy * z - fz * y, fz * x - fx * z, fx * y - fy * x
    for k in range(length):
        v, x, y, z = path[k], column[0, k], column[1, k], column[2, k]
        for n in range(k + 1):
            bend[v, n] += x * lever[0, n] + y * lever[1, n] + z * lever[2, n]


@numba.njit(cache=True, error_model="numpy", fastmath=FAST)
def local_poses(m, values, base, rotations, moves):
    """Local rotations (T, J, 4) and places on the parents (T, J, 3) of values (T, N) and base frames (T, J, 4)."""
    for f in range(values.shape[0]):
        theta = values[f]
        for j in range(m.parents.shape[0]):
            v, last = m.first[j], m.first[j] + m.value_count[j]
            x, y, z, w = m.rest[j, 0], m.rest[j, 1], m.rest[j, 2], m.rest[j, 3]
            for k in range(3):
                moves[f, j, k] = m.offsets[j, k]
            while v < last and m.slides[v]:
                for k in range(3):
                    moves[f, j, k] += theta[v] * m.axes[v, k]
                v += 1
            if m.kind[j] == FREE:
                b = base[f, j]
                x, y, z, w = quat_mul(x, y, z, w, b[0], b[1], b[2], b[3])
            if m.kind[j] != AXES:
                swing, sx, sy, sz = (3 if m.kind[j] == FREE else 2), 0.0, 0.0, 0.0
                for k in range(v, v + swing):
                    sx, sy, sz = (
                        sx + theta[k] * m.axes[k, 0],
                        sy + theta[k] * m.axes[k, 1],
                        sz + theta[k] * m.axes[k, 2],
                    )
                ex, ey, ez, ew = exp_quat(sx, sy, sz)
                x, y, z, w = quat_mul(x, y, z, w, ex, ey, ez, ew)
                v += swing
            for k in range(v, last):
                c, h = math.cos(0.5 * theta[k]), math.sin(0.5 * theta[k])
                x, y, z, w = quat_mul(x, y, z, w, h * m.axes[k, 0], h * m.axes[k, 1], h * m.axes[k, 2], c)
            rotations[f, j, 0], rotations[f, j, 1], rotations[f, j, 2], rotations[f, j, 3] = x, y, z, w
