# mypy: disable-error-code="no-untyped-def"
# ruff: noqa: ANN001, ANN201, ANN202 - compiled functions take what their first call gives them
"""Geometry before and after the network, compiled: the twin of learn/dense_geometry.py, one frame after another.

`before` turns seen positions into network features and base rotations; `after` applies the network's answer and lays
the bones along what was seen. Rotations are D_world matrices: from the canonical T-pose to now, in world axes.
"""

import math

import numba
import numpy as np

from mimik.rig.roles import BODY_PARENTS
from mimik.solve.dense.body import CHILD, HINGE_AXES, LANDMARK_JOINT
from mimik.solve.dense.layout import (
    FEATURE_PARTS,
    HINGE_PRIOR,
    LANDMARK_PRIOR,
    LEAVES,
    NOISE_EVEN,
    NOISE_WIDE,
    SETTLE_FULL,
    SETTLE_NONE,
    SHORT_NECK,
    SWING_JOINTS,
)

TINY = 1e-9
WIDE_COLLARS = 0.04
OPPOSITE = -0.9999
"""Cosine below which two directions count as opposite."""
_PARENT, _CHILD, _LANDMARK_JOINT = BODY_PARENTS.copy(), CHILD.copy(), LANDMARK_JOINT.copy()
_AXES = HINGE_AXES.copy()
_SWING = np.array(SWING_JOINTS)
_STARTS = np.concatenate([[0], np.cumsum(FEATURE_PARTS)])
_TORSO = np.array([0, 1, 2, 3, 6, 9, 12, 13, 14, 16, 17])
_UPPER, _LOWER = np.array([9, 12, 13, 14, 16, 17]), np.array([0, 1, 2, 3])
_LEFT, _RIGHT, _MIDDLE = np.array([1, 13, 16]), np.array([2, 14, 17]), np.array([0, 3, 6, 9, 12])
_LIMBS = np.array([12, 13, 14, 16, 17, 18, 19, 1, 2, 4, 5, 7, 8])
_HINGE_ROW = np.array([-1, -1, -1, 0, 1, -1, -1, 2, 3, -1, -1, -1, -1])
_LEAVES = np.array(LEAVES)

_jit = numba.njit(cache=True, error_model="numpy", fastmath=False)


@_jit
def _sub(p, i, j):
    return p[i, 0] - p[j, 0], p[i, 1] - p[j, 1], p[i, 2] - p[j, 2]


@_jit
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@_jit
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@_jit
def _unit(a):
    norm = max(math.sqrt(_dot(a, a)), TINY)
    return a[0] / norm, a[1] / norm, a[2] / norm


@_jit
def _turn(m, a):
    return (
        m[0, 0] * a[0] + m[0, 1] * a[1] + m[0, 2] * a[2],
        m[1, 0] * a[0] + m[1, 1] * a[1] + m[1, 2] * a[2],
        m[2, 0] * a[0] + m[2, 1] * a[1] + m[2, 2] * a[2],
    )


@_jit
def _back(m, a):
    return (
        m[0, 0] * a[0] + m[1, 0] * a[1] + m[2, 0] * a[2],
        m[0, 1] * a[0] + m[1, 1] * a[1] + m[2, 1] * a[2],
        m[0, 2] * a[0] + m[1, 2] * a[1] + m[2, 2] * a[2],
    )


@_jit
def _across_from(x):
    """Return some unit vector normal to the unit vector x."""
    if abs(x[0]) <= abs(x[1]) and abs(x[0]) <= abs(x[2]):
        return _unit((0.0, x[2], -x[1]))
    if abs(x[1]) <= abs(x[2]):
        return _unit((-x[2], 0.0, x[0]))
    return _unit((x[1], -x[0], 0.0))


@_jit
def _square(a, b):
    """Return a's direction, b made normal to it, and their product; anything square where a and b do not say."""
    x = _unit(a) if _dot(a, a) > TINY * TINY else (0.0, 1.0, 0.0)
    d = _dot(x, b)
    rest = (b[0] - d * x[0], b[1] - d * x[1], b[2] - d * x[2])
    y = _unit(rest) if _dot(rest, rest) > TINY * TINY else _across_from(x)
    return x, y, _cross(x, y)


@_jit
def _triad(a, b, a_now, b_now, out):
    """Write the rotation that takes a to a_now exactly and b as near to b_now as that allows."""
    x, y, z = _square(a, b)
    u, v, w = _square(a_now, b_now)
    for i in range(3):
        for k in range(3):
            out[i, k] = u[i] * x[k] + v[i] * y[k] + w[i] * z[k]


@_jit
def _swing(m, bone, direction, out):
    """Write m turned by the least rotation that lays `bone` along `direction`; m itself where either is zero.

    Where they are opposite to within a degree, the half turn is taken about an axis that goes with m.
    """
    if _dot(bone, bone) <= TINY * TINY or _dot(direction, direction) <= TINY * TINY:
        for i in range(3):
            for k in range(3):
                out[i, k] = m[i, k]
        return
    u, w = _turn(m, _unit(bone)), _unit(direction)
    half = _dot(u, w) < OPPOSITE
    axis = _turn(m, _across_from(_unit(bone))) if half else u
    u = (-u[0], -u[1], -u[2]) if half else u
    a = _cross(u, w)
    s = 1.0 / (1.0 + _dot(u, w))
    n = _dot(a, a)
    # least = I + K + K K s, with K K = a a^T - |a|^2 I
    for k in range(3):
        col = (m[0, k], m[1, k], m[2, k])
        if half:  # 2 axis axis^T - I
            d = 2.0 * _dot(axis, col)
            col = (d * axis[0] - col[0], d * axis[1] - col[1], d * axis[2] - col[2])
        t, d = _cross(a, col), _dot(a, col)
        for i in range(3):
            out[i, k] = col[i] + t[i] + s * (a[i] * d - n * col[i])


@_jit
def _orthogonal(x):
    """Replace a matrix of positive determinant by the nearest rotation (scaled Newton iteration)."""
    for _ in range(8):
        a, b, c = (x[0, 0], x[1, 0], x[2, 0]), (x[0, 1], x[1, 1], x[2, 1]), (x[0, 2], x[1, 2], x[2, 2])
        bc, ca, ab = _cross(b, c), _cross(c, a), _cross(a, b)
        det = max(abs(_dot(a, bc)), 1e-12)
        g = det ** (-1.0 / 3.0)
        change = 0.0
        for i in range(3):
            for k, old, cofactor in ((0, a, bc), (1, b, ca), (2, c, ab)):
                new = 0.5 * (g * old[i] + cofactor[i] / (g * det))
                change = max(change, abs(new - old[i]))
                x[i, k] = new
        if change < 1e-12:
            break


@_jit
def _centre(q, joints, seen):
    x = y = z = count = 0.0
    for j in joints:
        if seen[j]:
            x, y, z, count = x + q[j, 0], y + q[j, 1], z + q[j, 2], count + 1.0
    count = max(count, 1.0)
    return x / count, y / count, z / count


@_jit
def _across(q, seen):
    """Return what points left: right to left of the pairs seen, or of what is seen of either side."""
    x = y = z = 0.0
    paired = False
    for left, right in ((1, 2), (16, 17), (13, 14)):
        if seen[left] and seen[right]:
            d = _sub(q, left, right)
            x, y, z = x + d[0], y + d[1], z + d[2]
            paired = True
    if paired:
        return x, y, z
    a = _centre(q, _LEFT if seen[1] or seen[13] or seen[16] else _MIDDLE, seen)
    b = _centre(q, _RIGHT if seen[2] or seen[14] or seen[17] else _MIDDLE, seen)
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@_jit
def _fill_torso(p, seen, then, own):
    """Write the body's own frame and put unseen torso joints where it has them. `then` is the T-pose."""
    up_then, low_then = _centre(then, _UPPER, seen), _centre(then, _LOWER, seen)
    up_now, low_now = _centre(p, _UPPER, seen), _centre(p, _LOWER, seen)
    a = (up_then[0] - low_then[0], up_then[1] - low_then[1], up_then[2] - low_then[2])
    b = (up_now[0] - low_now[0], up_now[1] - low_now[1], up_now[2] - low_now[2])
    _triad(a, _across(then, seen), b, _across(p, seen), own)
    middle_then, middle = _centre(then, _TORSO, seen), _centre(p, _TORSO, seen)
    moved = _turn(own, middle_then)
    for j in _TORSO:
        if not seen[j]:
            q = _turn(own, (then[j, 0], then[j, 1], then[j, 2]))
            for i in range(3):
                p[j, i] = q[i] + middle[i] - moved[i]


@_jit
def _to_shoulders(offsets, p):
    """Return the vectors from spine2 to the middle of the shoulders, in the T-pose and now."""
    a = np.empty(3)
    b = np.empty(3)
    for i in range(3):
        a[i] = offsets[9, i] + 0.5 * (offsets[13, i] + offsets[16, i] + offsets[14, i] + offsets[17, i])
        b[i] = 0.5 * (p[16, i] + p[17, i]) - p[6, i]
    return (a[0], a[1], a[2]), (b[0], b[1], b[2])


@_jit
def _trunk(p, offsets, noise, g, scratch):
    """Write base rotations of pelvis, chest, and the two spine joints between."""
    rough = 0.0
    for j in range(17):
        rough += noise[j] / 17.0
    rough = min(max(rough - SETTLE_FULL, 0.0) / (NOISE_WIDE - SETTLE_FULL), 1.0)
    then = np.empty(3)
    now = np.empty(3)
    for i in range(3):
        then[i] = offsets[3, i] - 0.5 * (offsets[1, i] + offsets[2, i]) + rough * (offsets[6, i] + offsets[9, i])
        now[i] = p[3, i] - 0.5 * (p[1, i] + p[2, i]) + rough * (p[9, i] - p[3, i])
    _triad(_sub(offsets, 1, 2), (then[0], then[1], then[2]), _sub(p, 1, 2), (now[0], now[1], now[2]), g[0])
    side = _sub(offsets, 13, 14)
    arms = rough if math.sqrt(_dot(side, side)) > WIDE_COLLARS else 1.0
    for i in range(3):
        then[i] = side[i] + arms * (offsets[16, i] - offsets[17, i])
        now[i] = p[13, i] - p[14, i] + arms * (p[16, i] - p[13, i] - p[17, i] + p[14, i])
    neck, neck_now = (offsets[12, 0], offsets[12, 1], offsets[12, 2]), _sub(p, 12, 9)
    if _dot(neck, neck) < SHORT_NECK * SHORT_NECK:  # a neck in the chest's own place: go by the shoulders
        neck, neck_now = _to_shoulders(offsets, p)
    _triad(neck, (then[0], then[1], then[2]), neck_now, (now[0], now[1], now[2]), g[9])
    for joint, child, share in ((3, 6, 1.0 / 3.0), (6, 9, 2.0 / 3.0)):
        for i in range(3):
            for k in range(3):
                scratch[i, k] = (1.0 - share) * g[0, i, k] + share * g[9, i, k]
        _orthogonal(scratch)
        bone = (offsets[child, 0], offsets[child, 1], offsets[child, 2])
        _swing(scratch, bone, _sub(p, child, joint), g[joint])


@_jit
def _limbs(p, seen, offsets, g, normals):
    """Write base rotations of all joints with one child, filling unseen children, and the bend normals (4, 3)."""
    for row in range(len(_LIMBS)):
        j = _LIMBS[row]
        c, parent = _CHILD[j], g[_PARENT[j]]
        bone = (offsets[c, 0], offsets[c, 1], offsets[c, 2])
        if not seen[c]:
            q = _turn(parent, bone)
            for i in range(3):
                p[c, i] = p[j, i] + q[i]
        direction = _sub(p, c, j)
        _swing(parent, bone, direction, g[j])
        h = _HINGE_ROW[row]
        if h < 0:
            continue
        n = (0.0, 0.0, 0.0)
        cc = _CHILD[c]
        if seen[c] and seen[cc]:
            n = _cross(_unit(direction), _unit(_sub(p, cc, c)))
        local = _back(g[j], n)
        for i in range(3):
            normals[h, i] = local[i]
        axis = (_AXES[h, 0], _AXES[h, 1], _AXES[h, 2])
        least = _turn(g[j], axis)
        now = (HINGE_PRIOR * least[0] + n[0], HINGE_PRIOR * least[1] + n[1], HINGE_PRIOR * least[2] + n[2])
        _triad(bone, axis, direction, now, g[j])


@_jit
def _on_landmarks(j, p, seen, marks, marks_seen, offsets, mark_offsets, g, a):
    """Turn the base rotation of joint j onto its landmarks, for ankles also their child: nearest, with a weak pull."""
    for i in range(3):
        for k in range(3):
            a[i, k] = 0.0
    sum_then = (0.0, 0.0, 0.0)
    sum_now = (0.0, 0.0, 0.0)
    size = 1e-8
    shown = False
    if seen[j]:
        for m in range(len(_LANDMARK_JOINT)):
            if _LANDMARK_JOINT[m] == j and marks_seen[m]:
                shown = True
                t = (mark_offsets[m, 0], mark_offsets[m, 1], mark_offsets[m, 2])
                v = (marks[m, 0] - p[j, 0], marks[m, 1] - p[j, 1], marks[m, 2] - p[j, 2])
                size += _dot(t, t)
                sum_then = (sum_then[0] + t[0], sum_then[1] + t[1], sum_then[2] + t[2])
                sum_now = (sum_now[0] + v[0], sum_now[1] + v[1], sum_now[2] + v[2])
                for i in range(3):
                    for k in range(3):
                        a[i, k] += v[i] * t[k]
    if not shown:
        return
    if j in (7, 8):
        c = _CHILD[j]
        t, v = (offsets[c, 0], offsets[c, 1], offsets[c, 2]), _sub(p, c, j)
        size += _dot(t, t)
        sum_then = (sum_then[0] + t[0], sum_then[1] + t[1], sum_then[2] + t[2])
        sum_now = (sum_now[0] + v[0], sum_now[1] + v[1], sum_now[2] + v[2])
        for i in range(3):
            for k in range(3):
                a[i, k] += v[i] * t[k]
    near = np.empty((3, 3))
    _swing(g[j], sum_then, sum_now, near)
    for i in range(3):
        for k in range(3):
            a[i, k] = a[i, k] / size + LANDMARK_PRIOR * near[i, k]
    _orthogonal(a)
    for i in range(3):
        for k in range(3):
            g[j, i, k] = a[i, k]


@_jit
def _clip(value, bound):
    return min(max(value, -bound), bound)


@_jit
def _write_features(x, p, seen, present, marks, marks_seen, noise, up, offsets, mark_offsets, own, g, normals):
    """Write one row of network inputs; the parts stand in the order of FEATURE_PARTS."""
    size = 0.0
    for j in range(1, 22):
        size += math.sqrt(offsets[j, 0] ** 2 + offsets[j, 1] ** 2 + offsets[j, 2] ** 2)
    for j in range(22):
        v = _back(own, _sub(p, j, 0))
        for i in range(3):
            x[_STARTS[0] + 3 * j + i] = v[i] * 4.0 / size
        x[_STARTS[1] + j] = 1.0 if seen[j] else 0.0
        x[_STARTS[2] + j] = 1.0 if present[j] else 0.0
        x[_STARTS[9] + j] = math.log1p(noise[j] / 0.002) * 0.4 if seen[j] else 0.0
    for row in range(len(_SWING)):
        j = _SWING[row]
        c = _CHILD[j]
        bone = _unit((offsets[c, 0], offsets[c, 1], offsets[c, 2]))
        now = _back(g[max(_PARENT[j], 0)], _unit(_sub(p, c, j)))
        n = _cross(bone, now)
        for i in range(3):
            x[_STARTS[3] + 4 * row + i] = n[i]
        x[_STARTS[3] + 4 * row + 3] = _dot(bone, now)
    for i in range(3):
        for k in range(2):
            first = second = 0.0
            for r in range(3):
                first += own[r, i] * g[0, r, k]
                second += g[0, r, i] * g[9, r, k]
            x[_STARTS[4] + 2 * i + k] = first
            x[_STARTS[4] + 6 + 2 * i + k] = second
    for h in range(4):
        for i in range(3):
            x[_STARTS[5] + 3 * h + i] = normals[h, i]
    for j in range(1, 22):
        value = 0.0
        if seen[j] and seen[_PARENT[j]]:
            d = _sub(p, j, _PARENT[j])
            expected = math.sqrt(offsets[j, 0] ** 2 + offsets[j, 1] ** 2 + offsets[j, 2] ** 2)
            value = _clip((math.sqrt(_dot(d, d)) - expected) / (expected + 0.03), 2.0)
        x[_STARTS[6] + j - 1] = value
    for m in range(22):
        j = _LANDMARK_JOINT[m]
        shown = marks_seen[m] and seen[j]
        x[_STARTS[8] + m] = 1.0 if shown else 0.0
        v = (0.0, 0.0, 0.0)
        if shown:
            v = _back(g[j], (marks[m, 0] - p[j, 0], marks[m, 1] - p[j, 1], marks[m, 2] - p[j, 2]))
        for i in range(3):
            left_over = (v[i] - mark_offsets[m, i]) * 40.0 / size if shown else 0.0
            x[_STARTS[7] + 3 * m + i] = _clip(left_over, 4.0)
    v = _back(own, (up[0], up[1], up[2]))
    for i in range(3):
        x[_STARTS[10] + i] = v[i]


@_jit
def before(p, seen, marks, marks_seen, noise, up, offsets, present, mark_offsets, x, g, own):
    """Fill features x (N, W) float32, base rotations g (N, 22, 3, 3), own frames (N, 3, 3); complete p (N, 22, 3).

    Inputs: seen (N, 22), marks (N, 22, 3), marks_seen (N, 22), noise (N, 22) metres, up (3,), body arrays.
    """
    then = np.zeros((22, 3))
    for j in range(1, 22):
        for i in range(3):
            then[j, i] = then[_PARENT[j], i] + offsets[j, i]
    normals = np.empty((4, 3))
    scratch = np.empty((3, 3))
    for n in range(len(p)):
        _fill_torso(p[n], seen[n], then, own[n])
        _trunk(p[n], offsets, noise[n], g[n], scratch)
        _limbs(p[n], seen[n], offsets, g[n], normals)
        for j in (7, 8):
            _on_landmarks(j, p[n], seen[n], marks[n], marks_seen[n], offsets, mark_offsets, g[n], scratch)
        for j in _LEAVES:
            g[n, j] = g[n, _PARENT[j]]
            _on_landmarks(j, p[n], seen[n], marks[n], marks_seen[n], offsets, mark_offsets, g[n], scratch)
        _write_features(
            x[n], p[n], seen[n], present, marks[n], marks_seen[n], noise[n], up, offsets, mark_offsets, own[n], g[n],
            normals,
        )  # fmt: skip


@_jit
def _matrix_to_quat(m, q):
    """Write the unit quaternion x y z w of a rotation matrix."""
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    if trace > 0.0:
        s = math.sqrt(trace + 1.0) * 2.0
        q[3], q[0], q[1], q[2] = 0.25 * s, (m[2, 1] - m[1, 2]) / s, (m[0, 2] - m[2, 0]) / s, (m[1, 0] - m[0, 1]) / s
        return
    i = 0
    if m[1, 1] > m[0, 0]:
        i = 1
    if m[2, 2] > m[i, i]:
        i = 2
    j, k = (i + 1) % 3, (i + 2) % 3
    s = math.sqrt(max(m[i, i] - m[j, j] - m[k, k] + 1.0, 1e-300)) * 2.0
    q[i], q[3] = 0.25 * s, (m[k, j] - m[j, k]) / s
    q[j], q[k] = (m[j, i] + m[i, j]) / s, (m[k, i] + m[i, k]) / s


@_jit
def after(y, p, seen, noise, child, bones, chest_side, plain, g, own, q_world):
    """Fill q_world (N, 22, 4), D_world of every role, from the network's output y (N, 264).

    child (22,) is the nearest joint the rig has along the limb, -1 for leaves; bones (22, 3) leads there in the T-pose.
    chest_side is the left joint of the pair that turns rigidly with the chest beside the neck: 13 for collars, 16 for
    shoulders on a rig without collars, 0 where there is none. plain (22,) are joints whose base rotations stay.
    """
    r = np.empty((3, 3))
    s = np.empty((3, 3))
    for n in range(len(p)):
        for j in range(22):
            trust = NOISE_EVEN / (NOISE_EVEN + noise[n, j])
            columns = np.empty((2, 3))
            for k in range(2):
                o = 6 * j + 3 * k
                say = 0.0 if plain[j] else 1.0
                first = (say * y[n, o] + (1.0 - k), say * y[n, o + 1] + k, say * y[n, o + 2])
                second = (np.float64(y[n, 132 + o]), np.float64(y[n, 133 + o]), np.float64(y[n, 134 + o]))
                a, b = _turn(g[n, j], first), _turn(own[n], second)
                for i in range(3):
                    columns[k, i] = trust * a[i] + (1.0 - trust) * b[i]
            x = (columns[0, 0], columns[0, 1], columns[0, 2])
            u, v, w = _square(x, (columns[1, 0], columns[1, 1], columns[1, 2]))
            for i in range(3):
                r[i, 0], r[i, 1], r[i, 2] = u[i], v[i], w[i]
            c = child[j]
            if _is_fixed(j, seen[n], noise[n], chest_side):
                r[:] = g[n, j]
            elif c >= 0 and seen[n, j] and seen[n, c]:
                spread = max(noise[n, j], noise[n, c])
                share = min(max((SETTLE_NONE - spread) / (SETTLE_NONE - SETTLE_FULL), 0.0), 1.0)
                bone = _unit((bones[j, 0], bones[j, 1], bones[j, 2]))
                at, now = _turn(r, bone), _unit(_sub(p[n], c, j))
                aim = (
                    at[0] + share * (now[0] - at[0]),
                    at[1] + share * (now[1] - at[1]),
                    at[2] + share * (now[2] - at[2]),
                )
                _swing(r, bone, aim, s)
                r[:] = s
            _matrix_to_quat(r, q_world[n, j])


@_jit
def _is_fixed(j, seen, noise, chest_side):
    """Say whether three joints fix the rotation of j."""
    if j == 0:
        clean = max(noise[0], noise[1], noise[2], noise[3]) <= SETTLE_FULL
        return clean and seen[0] and seen[1] and seen[2] and seen[3]
    if j != 9 or chest_side == 0 or not (seen[9] and seen[12]):
        return False
    a, b = chest_side, chest_side + 1
    return seen[a] and seen[b] and max(noise[9], noise[12], noise[a], noise[b]) <= SETTLE_FULL
