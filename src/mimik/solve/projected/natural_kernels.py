# mypy: disable-error-code="no-untyped-def"
# ruff: noqa: ANN001, ANN201, ANN202
"""Compiled: the natural-pose network, and joint values of given rotations."""

import math
from typing import NamedTuple

import numpy as np

from mimik._types import Array, IntArray
from mimik.solve.projected.arena import row, table
from mimik.solve.projected.arrays import BALL, FREE
from mimik.solve.projected.kernels import kernel, quat_mul, rotate


class Network(NamedTuple):
    """The network, narrowed to the joints that are known here. H units, K known joints, P pairs, R roles, J joints."""

    w0: Array  # (3K, H) float32
    b0: Array  # (H,) float32, with the body and the mask folded in
    w1: Array  # (H, H) float32
    b1: Array  # (H,)
    w2: Array  # (H, 6R)
    b2: Array  # (6R,)
    x: Array  # (3K,) float32, room
    a: Array  # (H,)
    b: Array  # (H,)
    six: Array  # (6R,)
    goal: IntArray  # (K,) goal that tells where each known joint is
    pairs: IntArray  # (P, 2) known joints, left and right
    role: IntArray  # (J,) role of each joint, -1 for none
    share: Array  # (P,)
    size: Array  # (1,) metres of the body's height
    tpose: Array  # (J, 4) world orientation in the T-pose
    q: Array  # (J, 4) room
    values: Array  # (N,) the natural pose
    base: Array  # (J, 4)


@kernel
def _dense(weight, bias, x, y):
    """y = bias + x weight, with weight (in, out); inputs that are zero, half of them after a ReLU, cost nothing."""
    for i in range(y.shape[0]):
        y[i] = bias[i]
    for k in range(x.shape[0]):
        a = x[k]
        if a != np.float32(0.0):
            for i in range(y.shape[0]):
                y[i] += a * weight[k, i]


@kernel
def _relu(y):
    for i in range(y.shape[0]):
        y[i] = max(np.float32(0.0), y[i])


@kernel
def predict_pose(m, net, target):
    """Fill the natural values and base frames for the goals' targets (G, 4)."""
    known = net.goal.shape[0]
    x, a, b, six, q, theta, base = net.x, net.a, net.b, net.six, net.q, net.values, net.base
    cx, cy, cz = 0.0, 0.0, 0.0
    for k in range(known):
        i = net.goal[k]
        cx, cy, cz = cx + target[i, 0] / known, cy + target[i, 1] / known, cz + target[i, 2] / known
    left, ahead = 1e-12, 0.0
    for k in range(net.pairs.shape[0]):
        i, j = net.goal[net.pairs[k, 0]], net.goal[net.pairs[k, 1]]
        left += net.share[k] * (target[i, 0] - target[j, 0])
        ahead += net.share[k] * (target[i, 2] - target[j, 2])
    heading = math.atan2(-ahead, left)
    c, s = math.cos(heading), math.sin(heading)
    for k in range(known):
        i = net.goal[k]
        dx, dy, dz = (
            (target[i, 0] - cx) / net.size[0],
            (target[i, 1] - cy) / net.size[0],
            (target[i, 2] - cz) / net.size[0],
        )
        x[3 * k], x[3 * k + 1], x[3 * k + 2] = c * dx - s * dz, dy, s * dx + c * dz
    _dense(net.w0, net.b0, x, a)
    _relu(a)
    _dense(net.w1, net.b1, a, b)
    _relu(b)
    _dense(net.w2, net.b2, b, six)
    hx, hw = math.sin(0.5 * heading), math.cos(0.5 * heading)
    for j in range(m.parents.shape[0]):
        p, r = m.parents[j], net.role[j]
        t = net.tpose[j]
        if r >= 0:
            dx, dy, dz, dw = _sixd_quat(six, 6 * r)
            dx, dy, dz, dw = quat_mul(0.0, hx, 0.0, hw, dx, dy, dz, dw)
            q[j, 0], q[j, 1], q[j, 2], q[j, 3] = quat_mul(dx, dy, dz, dw, t[0], t[1], t[2], t[3])
        elif p >= 0:  # a joint without a role keeps its T-pose place on its parent
            u = net.tpose[p]
            dx, dy, dz, dw = quat_mul(q[p, 0], q[p, 1], q[p, 2], q[p, 3], -u[0], -u[1], -u[2], u[3])
            q[j, 0], q[j, 1], q[j, 2], q[j, 3] = quat_mul(dx, dy, dz, dw, t[0], t[1], t[2], t[3])
        else:
            q[j, 0], q[j, 1], q[j, 2], q[j, 3] = quat_mul(0.0, hx, 0.0, hw, t[0], t[1], t[2], t[3])
    for j in range(m.parents.shape[0]):
        dx, dy, dz, dw = q[j, 0], q[j, 1], q[j, 2], q[j, 3]
        p = m.parents[j]
        if p >= 0:
            dx, dy, dz, dw = quat_mul(-q[p, 0], -q[p, 1], -q[p, 2], q[p, 3], dx, dy, dz, dw)
        r = m.rest[j]
        dx, dy, dz, dw = quat_mul(-r[0], -r[1], -r[2], r[3], dx, dy, dz, dw)
        joint_values(m, j, dx, dy, dz, dw, theta, base)


@kernel
def _sixd_quat(six, at):
    """Quaternion of the rotation whose first two columns, less the identity's, are six numbers."""
    ax, ay, az = 1.0 + six[at], 0.0 + six[at + 1], 0.0 + six[at + 2]
    n = math.sqrt(ax * ax + ay * ay + az * az) + 1e-12
    ax, ay, az = ax / n, ay / n, az / n
    bx, by, bz = 0.0 + six[at + 3], 1.0 + six[at + 4], 0.0 + six[at + 5]
    d = ax * bx + ay * by + az * bz
    bx, by, bz = bx - d * ax, by - d * ay, bz - d * az
    n = math.sqrt(bx * bx + by * by + bz * bz) + 1e-12
    bx, by, bz = bx / n, by / n, bz / n
    cx, cy, cz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    trace = ax + by + cz
    if trace > 0.0:
        w = 0.5 * math.sqrt(1.0 + trace)
        return (bz - cy) / (4.0 * w), (cx - az) / (4.0 * w), (ay - bx) / (4.0 * w), w
    if ax >= by and ax >= cz:
        x = 0.5 * math.sqrt(max(1e-12, 1.0 + ax - by - cz))
        return x, (bx + ay) / (4.0 * x), (cx + az) / (4.0 * x), (bz - cy) / (4.0 * x)
    if by >= cz:
        y = 0.5 * math.sqrt(max(1e-12, 1.0 + by - ax - cz))
        return (bx + ay) / (4.0 * y), y, (cy + bz) / (4.0 * y), (cx - az) / (4.0 * y)
    z = 0.5 * math.sqrt(max(1e-12, 1.0 + cz - ax - by))
    return (cx + az) / (4.0 * z), (cy + bz) / (4.0 * z), z, (ay - bx) / (4.0 * z)


@kernel
def _twist(x, y, z, w, axis):
    """Signed angle about an axis, -pi to pi."""
    angle = 2.0 * math.atan2(x * axis[0] + y * axis[1] + z * axis[2], w)
    return angle - 2.0 * math.pi * math.floor((angle + math.pi) / (2.0 * math.pi))


@kernel
def joint_values(m, j, x, y, z, w, theta, base):
    """Turning values of one joint that come nearest to a rotation, before limits; slides are left alone."""
    v, last = m.first[j], m.first[j] + m.value_count[j]
    while v < last and m.slides[v]:
        v += 1
    if m.kind[j] == FREE:
        base[j, 0], base[j, 1], base[j, 2], base[j, 3] = x, y, z, w
        theta[v], theta[v + 1], theta[v + 2] = 0.0, 0.0, 0.0
    elif m.kind[j] == BALL:
        axis = m.axes[v + 2]
        twist = _twist(x, y, z, w, axis)
        h = -math.sin(0.5 * twist)
        x, y, z, w = quat_mul(x, y, z, w, h * axis[0], h * axis[1], h * axis[2], math.cos(0.5 * twist))
        n = math.sqrt(x * x + y * y + z * z)
        k = 2.0 * math.atan2(n, abs(w)) / n if n > 1e-9 else 2.0
        k = -k if w < 0.0 else k
        for i in range(2):
            theta[v + i] = k * (x * m.axes[v + i, 0] + y * m.axes[v + i, 1] + z * m.axes[v + i, 2])
        theta[v + 2] = twist
    elif last - v == 1:
        theta[v] = _nearest_turn(_twist(x, y, z, w, m.axes[v]), m.lower[v], m.upper[v])
    elif last - v >= 2:
        _axis_angles(m, v, last, x, y, z, w, theta)


@kernel
def _axis_angles(m, v, last, x, y, z, w, theta):
    """Angles about two or three axes in turn; of the two triples that make a rotation the one nearer to the limits."""
    a, b = m.axes[v], m.axes[v + 1]
    cx, cy, cz = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    sign, symmetric = 1.0, False
    if last - v == 3:
        third = m.axes[v + 2]
        along = third[0] * cx + third[1] * cy + third[2] * cz
        symmetric = abs(along) < 0.5
        sign = -1.0 if along < 0.0 else 1.0
    px, py, pz = rotate(x, y, z, w, a[0], a[1], a[2])
    qx, qy, qz = rotate(x, y, z, w, b[0], b[1], b[2])
    rx, ry, rz = rotate(x, y, z, w, cx, cy, cz)
    m00, m01 = a[0] * px + a[1] * py + a[2] * pz, a[0] * qx + a[1] * qy + a[2] * qz
    m02 = a[0] * rx + a[1] * ry + a[2] * rz
    if symmetric:
        m10, m20 = b[0] * px + b[1] * py + b[2] * pz, cx * px + cy * py + cz * pz
        one, two, three = math.atan2(m10, -m20), math.acos(min(1.0, max(-1.0, m00))), math.atan2(m01, m02)
        other = -two
    else:
        m12, m22 = b[0] * rx + b[1] * ry + b[2] * rz, cx * rx + cy * ry + cz * rz
        one, two, three = math.atan2(-m12, m22), math.asin(min(1.0, max(-1.0, m02))), math.atan2(-m01, m00)
        other = math.pi - two
    best = np.inf
    for k in range(2):
        t0, t1, t2 = (one, two, sign * three) if k == 0 else (one + math.pi, other, sign * (three + math.pi))
        t0, t1 = _nearest_turn(t0, m.lower[v], m.upper[v]), _nearest_turn(t1, m.lower[v + 1], m.upper[v + 1])
        over = _excess(t0, m.lower[v], m.upper[v]) + _excess(t1, m.lower[v + 1], m.upper[v + 1])
        if last - v == 3:
            t2 = _nearest_turn(t2, m.lower[v + 2], m.upper[v + 2])
            over += _excess(t2, m.lower[v + 2], m.upper[v + 2])
        if over < best - 1e-12:
            best = over
            theta[v], theta[v + 1] = t0, t1
            if last - v == 3:
                theta[v + 2] = t2


@kernel
def _excess(angle, low, high):
    return max(0.0, low - angle, angle - high)


@kernel
def _nearest_turn(angle, low, high):
    """Angle plus whole turns, as near to the middle of the limits as can be."""
    middle = 0.5 * (low + high) if high < np.inf and low > -np.inf else 0.0
    return angle - 2.0 * math.pi * math.floor((angle - middle + math.pi) / (2.0 * math.pi))


@kernel
def network_views(sizes, ints, floats, singles):
    """Cut a network off its three buffers; sizes: (H units, K known, P pairs, 6R outputs, J joints, N values)."""
    units, known, pairs, out, joints, values = sizes
    w0, s = table(singles, 0, 3 * known, units)
    b0, s = row(singles, s, units)
    w1, s = table(singles, s, units, units)
    b1, s = row(singles, s, units)
    w2, s = table(singles, s, units, out)
    b2, s = row(singles, s, out)
    x, s = row(singles, s, 3 * known)
    a, s = row(singles, s, units)
    b, s = row(singles, s, units)
    six, s = row(singles, s, out)
    goal, i = row(ints, 0, known)
    pair, i = table(ints, i, pairs, 2)
    role, i = row(ints, i, joints)
    share, f = row(floats, 0, pairs)
    size, f = row(floats, f, 1)
    tpose, f = table(floats, f, joints, 4)
    q, f = table(floats, f, joints, 4)
    natural, f = row(floats, f, values)
    base, f = table(floats, f, joints, 4)
    return Network(w0, b0, w1, b1, w2, b2, x, a, b, six, goal, pair, role, share, size, tpose, q, natural, base)
