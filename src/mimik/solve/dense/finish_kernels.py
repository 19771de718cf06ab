# mypy: disable-error-code="no-untyped-def"
# ruff: noqa: ANN001, ANN201, ANN202 - compiled functions take what their first call gives them
"""The last steps of the dense solver, compiled: noise weighed, hinges met, leaves drawn to their usual place.

All work on D_world quaternions by role, x y z w: from the canonical T-pose to now, in world axes. The readable twin is
`finish_twin`.
"""

import math

import numba
import numpy as np

from mimik.rig.roles import BODY_PARENTS
from mimik.solve.dense.body import HINGE_JOINTS, LANDMARK_JOINT
from mimik.solve.dense.layout import (
    ARM_SHARE,
    DOUBT_LEVEL,
    DOUBT_LOCAL,
    DOUBT_POWER,
    DOUBT_WORLD,
    FOOT_SHARE,
    HINGE_NOISE,
    HINGE_SINE,
    LEAVES,
    MARK_NOISE,
    SETTLE_FULL,
    SETTLE_NONE,
)

_PARENT, _HINGED, _LANDMARK_JOINT = BODY_PARENTS.copy(), HINGE_JOINTS.copy(), LANDMARK_JOINT.copy()
_LEAVES = np.array(LEAVES)
_WORLD, _LOCAL = np.array(DOUBT_WORLD), np.array(DOUBT_LOCAL)
_CLEAN = 1e-4  # metres of noise up to which positions are taken to be exact
_LEAST_NOISE = 1e-5  # metres; what is said to be surer counts as this sure
_MIDDLES = np.array([[16, 18, 20], [17, 19, 21], [1, 4, 7], [2, 5, 8], [4, 7, 10], [5, 8, 11]])
_HELD = 1e8  # weight of what holds a joint the body lacks to its parent
_WIDEST, _SETTLED = 0.7, 1e-4  # radians: the widest turn of one step, and the turn below which no other is made
_TINY = 1e-9
_DEPTH = np.zeros(22, dtype=np.int64)
for _joint in range(1, 22):
    _DEPTH[_joint] = _DEPTH[_PARENT[_joint]] + 1

_jit = numba.njit(cache=True, error_model="numpy", fastmath=False)


@_jit
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@_jit
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@_jit
def _row(a, i):
    return a[i, 0], a[i, 1], a[i, 2]


@_jit
def _quat(q, j):
    return q[j, 0], q[j, 1], q[j, 2], q[j, 3]


@_jit
def _put(q, j, a):
    q[j, 0], q[j, 1], q[j, 2], q[j, 3] = a


@_jit
def _less(p, i, j):
    return p[i, 0] - p[j, 0], p[i, 1] - p[j, 1], p[i, 2] - p[j, 2]


@_jit
def _unit(a):
    norm = max(math.sqrt(_dot(a, a)), _TINY)
    return a[0] / norm, a[1] / norm, a[2] / norm


@_jit
def _mul(a, b):
    return (
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    )


@_jit
def _inv(a):
    return -a[0], -a[1], -a[2], a[3]


@_jit
def _apply(q, v):
    """Rotate a vector by a unit quaternion."""
    t = _cross((q[0], q[1], q[2]), v)
    t = (2.0 * t[0], 2.0 * t[1], 2.0 * t[2])
    s = _cross((q[0], q[1], q[2]), t)
    return v[0] + q[3] * t[0] + s[0], v[1] + q[3] * t[1] + s[1], v[2] + q[3] * t[2] + s[2]


@_jit
def _power(q, share):
    """Return the rotation q (the shorter way) scaled by `share`."""
    sine = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])
    if sine < 1e-12:
        return 0.0, 0.0, 0.0, 1.0
    half = math.atan2(sine, abs(q[3])) * share
    k = math.sin(half) / sine if q[3] >= 0.0 else -math.sin(half) / sine
    return q[0] * k, q[1] * k, q[2] * k, math.cos(half)


@_jit
def _to_rotvec(q):
    sine = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])
    k = 2.0 if sine < 1e-9 else 2.0 * math.atan2(sine, abs(q[3])) / sine
    k = k if q[3] >= 0.0 else -k
    return q[0] * k, q[1] * k, q[2] * k


@_jit
def _from_rotvec(x, y, z):
    angle = math.sqrt(x * x + y * y + z * z)
    k = 0.5 if angle < 1e-9 else math.sin(0.5 * angle) / angle
    return x * k, y * k, z * k, math.cos(0.5 * angle)


@_jit
def _about(axis, angle):
    s = math.sin(0.5 * angle)
    return axis[0] * s, axis[1] * s, axis[2] * s, math.cos(0.5 * angle)


@_jit
def _least_turn(q, bone, direction):
    """Turn q by the least rotation that lays `bone` (unit, T-pose) along the unit `direction`."""
    u = _apply(q, bone)
    w = 1.0 + _dot(u, direction)
    if w < 1e-6:
        return q
    a = _cross(u, direction)
    n = math.sqrt(_dot(a, a) + w * w)
    return _mul((a[0] / n, a[1] / n, a[2] / n, w / n), q)


@_jit
def _reach(q, root, offsets, out):
    """Write joint positions (22, 3) of rotations (22, 4) on a body."""
    for i in range(3):
        out[0, i] = root[i]
    for j in range(1, 22):
        above = _PARENT[j]
        v = _apply(_quat(q, above), _row(offsets, j))
        for i in range(3):
            out[j, i] = out[above, i] + v[i]


@_jit
def reach(q, root, offsets, out):
    """Write joint positions (N, 22, 3) of rotations (N, 22, 4) on a body, from its roots (N, 3)."""
    for n in range(len(q)):
        _reach(q[n], root[n], offsets, out[n])


@_jit
def _add_seen(h, b, depth, arms, steps, off, weight):
    """Add a seen point's terms to the normal equations: its error moves with the root and all joints above it.

    arms (depth, 3) are the bones on the way to it, steps (depth,) the joints that turn them, both from the top.
    """
    for i in range(3):
        h[i, i] += weight
        b[i] += weight * off[i]
    for m in range(depth):
        row, a = 3 * steps[m] + 3, (arms[m, 0], arms[m, 1], arms[m, 2])
        t = _cross(a, off)
        b[row] += weight * t[0]
        b[row + 1] += weight * t[1]
        b[row + 2] += weight * t[2]
        # the Jacobian is -[a]x; with the root: its transpose is [a]x
        h[row, 1] -= weight * a[2]
        h[row, 2] += weight * a[1]
        h[row + 1, 0] += weight * a[2]
        h[row + 1, 2] -= weight * a[0]
        h[row + 2, 0] -= weight * a[1]
        h[row + 2, 1] += weight * a[0]
        for k in range(m + 1):
            col, c = 3 * steps[k] + 3, (arms[k, 0], arms[k, 1], arms[k, 2])
            along = _dot(a, c)
            for i in range(3):  # [a]x^T [c]x = (a.c) I - c a^T
                for n in range(3):
                    h[row + i, col + n] += weight * ((along if i == n else 0.0) - c[i] * a[n])


@_jit
def _add_doubt(h, b, q, start, present, scale):
    """Add what the network is trusted to know: each rotation in the world, and against its parent's.

    Joints the body lacks are held to their parents.
    """
    moved = np.empty((22, 3))
    for j in range(22):
        v = _to_rotvec(_mul(_quat(start, j), _inv(_quat(q, j))))
        moved[j, 0], moved[j, 1], moved[j, 2] = v
    for j in range(22):
        row = 3 * j + 3
        w = 1.0 / (_WORLD[j] * scale) ** 2
        for i in range(3):
            h[row + i, row + i] += w
            b[row + i] += w * moved[j, i]
        if j == 0:
            continue
        col = 3 * _PARENT[j] + 3
        w = 1.0 / (_LOCAL[j] * scale) ** 2 if present[j] else _HELD
        for i in range(3):
            apart = w * (moved[j, i] - moved[_PARENT[j], i])
            h[row + i, row + i] += w
            h[col + i, col + i] += w
            h[row + i, col + i] -= w
            b[row + i] += apart
            b[col + i] -= apart


@_jit
def _solve(h, b, above):
    """Solve h x = b in place, h (69, 69) symmetric, its lower triangle full along root paths only: no fill-in."""
    for k in range(len(b) - 1, -1, -1):
        d = h[k, k]
        i = above[k]
        while i >= 0:
            f = h[k, i] / d
            j = i
            while j >= 0:
                h[i, j] -= f * h[k, j]
                j = above[j]
            b[i] -= f * b[k]
            h[k, i] = f
            i = above[i]
    for k in range(len(b)):
        x = b[k] / h[k, k]
        i = above[k]
        while i >= 0:
            x -= h[k, i] * b[i]
            i = above[i]
        b[k] = x


@_jit
def _rows_above():
    """Return for each of the 69 unknowns the next one on the way to the root, -1 for the last."""
    above = np.empty(69, dtype=np.int64)
    for k in range(3):
        above[k] = k - 1
    for j in range(22):
        above[3 * j + 3] = 3 * _PARENT[j] + 5 if j else 2
        above[3 * j + 4], above[3 * j + 5] = 3 * j + 3, 3 * j + 4
    return above


@_jit
def bridge(q, p, seen, offsets, most):
    """Bend limbs at elbows, knees and ankles not seen, in q (N, 22, 4), so that their ends meet what was seen.

    The middle joint is put where both bones allow, as near as can be to where q has it; ends that miss by no more than
    `most` metres are left.
    """
    for n in range(len(q)):
        for row in range(len(_MIDDLES)):
            j, m, e = _MIDDLES[row, 0], _MIDDLES[row, 1], _MIDDLES[row, 2]
            if seen[n, m] or not (seen[n, j] and seen[n, e]):
                continue
            u, f = _row(offsets, m), _row(offsets, e)
            a, b = math.sqrt(_dot(u, u)), math.sqrt(_dot(f, f))
            line = _less(p[n], e, j)
            reach = math.sqrt(_dot(line, line))
            upper, lower = _apply(_quat(q[n], j), u), _apply(_quat(q[n], m), f)
            off = (line[0] - upper[0] - lower[0], line[1] - upper[1] - lower[1], line[2] - upper[2] - lower[2])
            if min(a, b) < 1e-4 or reach < 1e-4 or _dot(off, off) <= most * most:
                continue
            line = _unit(line)
            guess = _unit(upper)
            d = _dot(guess, line)
            side = (guess[0] - d * line[0], guess[1] - d * line[1], guess[2] - d * line[2])
            if _dot(side, side) < 1e-8:
                continue
            side = _unit(side)
            d = min(max((a * a + reach * reach - b * b) / (2.0 * a * reach), -1.0), 1.0)
            h = math.sqrt(1.0 - d * d)
            upper = (d * line[0] + h * side[0], d * line[1] + h * side[1], d * line[2] + h * side[2])
            lower = (reach * line[0] - a * upper[0], reach * line[1] - a * upper[1], reach * line[2] - a * upper[2])
            _put(q[n], j, _least_turn(_quat(q[n], j), _unit(u), upper))
            _put(q[n], m, _least_turn(_quat(q[n], m), _unit(f), _unit(lower)))


@_jit
def _chain(at, j, way, arms, steps):
    """Write the joints that move a point `way` from joint j, j the last of them, and the bone each of them turns."""
    last = _DEPTH[j]
    steps[last] = j
    arms[last, 0], arms[last, 1], arms[last, 2] = way
    for m in range(last - 1, -1, -1):
        steps[m] = _PARENT[j]
        arms[m, 0], arms[m, 1], arms[m, 2] = _less(at, j, _PARENT[j])
        j = _PARENT[j]


@_jit
def weigh(q, p, seen, marks, marks_seen, present, noise, offsets, mark_offsets, root, rounds, gap_rounds):
    """Find the likeliest pose between what the network says and what is seen; clean frames without gaps are left.

    q (N, 22, 4) in and out, p and seen (N, 22, 3) (N, 22) what is seen, marks and marks_seen the same of landmarks,
    present (22,) joints the body has, noise (N, 22) metres, root (N, 3) out. Each round is one Gauss-Newton step on all
    rotations and the root together. Frames with joints unseen or landmarks seen take more of them, up to gap_rounds.
    """
    above = _rows_above()
    h, b = np.empty((69, 69)), np.empty(69)
    at, start = np.empty((22, 3)), np.empty((22, 4))
    arms, steps = np.empty((8, 3)), np.empty(8, dtype=np.int64)
    for n in range(len(q)):
        level = count = 0.0
        gap, least = False, np.inf
        for i in range(3):
            root[n, i] = p[n, 0, i]
        for j in range(22):
            gap = gap or (present[j] and not seen[n, j])
            if seen[n, j]:
                level, count, least = level + noise[n, j], count + 1.0, min(least, noise[n, j])
        level = max(level / max(count, 1.0), _CLEAN)
        if level <= _CLEAN and not gap:
            continue
        sure = 1.0 / (least * least + MARK_NOISE * MARK_NOISE)
        marked = False
        for m in range(len(_LANDMARK_JOINT)):
            marked = marked or marks_seen[n, m]
        for j in range(1, 22):
            if not present[j]:
                _put(q[n], j, _quat(q[n], _PARENT[j]))
        scale = (level / DOUBT_LEVEL) ** DOUBT_POWER
        start[:] = q[n]
        _centre(q[n], p[n], seen[n], noise[n], offsets, root[n], at)
        for _ in range(gap_rounds if gap or marked else rounds):
            _reach(q[n], root[n], offsets, at)
            h[:] = 0.0
            b[:] = 0.0
            for j in range(22):
                if not seen[n, j]:
                    continue
                _chain(at, j, (0.0, 0.0, 0.0), arms, steps)
                off = (p[n, j, 0] - at[j, 0], p[n, j, 1] - at[j, 1], p[n, j, 2] - at[j, 2])
                _add_seen(h, b, _DEPTH[j], arms, steps, off, 1.0 / max(noise[n, j], _LEAST_NOISE) ** 2)
            for m in range(len(_LANDMARK_JOINT) if marked else 0):
                j = _LANDMARK_JOINT[m]
                if marks_seen[n, m] and present[j]:
                    v = _apply(_quat(q[n], j), _row(mark_offsets, m))
                    _chain(at, j, v, arms, steps)
                    off = (
                        marks[n, m, 0] - at[j, 0] - v[0],
                        marks[n, m, 1] - at[j, 1] - v[1],
                        marks[n, m, 2] - at[j, 2] - v[2],
                    )
                    _add_seen(h, b, _DEPTH[j] + 1, arms, steps, off, sure)
            _add_doubt(h, b, q[n], start, present, scale)
            _solve(h, b, above)
            if _step(q[n], root[n], b) < _SETTLED:
                break


@_jit
def _step(q, root, b):
    """Move the root (3,) and turn all joints (22, 4) by a step (69,), shortened where it is wild; return its turn."""
    widest = 0.0
    for j in range(22):
        r = 3 * j + 3
        widest = max(widest, math.sqrt(b[r] * b[r] + b[r + 1] * b[r + 1] + b[r + 2] * b[r + 2]))
    k = min(_WIDEST / max(widest, _TINY), 1.0)
    for i in range(3):
        root[i] += k * b[i]
    for j in range(22):
        r = 3 * j + 3
        _put(q, j, _mul(_from_rotvec(k * b[r], k * b[r + 1], k * b[r + 2]), _quat(q, j)))
    return widest


@_jit
def _centre(q, p, seen, noise, offsets, root, at):
    """Move the root (3,) to where all that is seen says it is, the surer the more."""
    _reach(q, root, offsets, at)
    sum_w = x = y = z = 0.0
    for j in range(22):
        if seen[j]:
            w = 1.0 / max(noise[j], _LEAST_NOISE) ** 2
            sum_w += w
            x += w * (p[j, 0] - at[j, 0])
            y += w * (p[j, 1] - at[j, 1])
            z += w * (p[j, 2] - at[j, 2])
    root[0] += x / sum_w
    root[1] += y / sum_w
    root[2] += z / sum_w


@_jit
def hinge(q, p, seen, noise, offsets, axes):
    """Let bent elbows and knees say how the limb above them is turned, in q (N, 22, 4), as far as the bend is clear.

    axes (4, 3) are the hinges of HINGE_JOINTS in the T-pose, zero where a limb has none. A hinge not square to its
    bones makes the lower bone move on a cone; of its two crossings with the bend seen the one nearer to q is taken.
    """
    for n in range(len(q)):
        for row in range(4):
            j = _HINGED[row]
            k = j + 2 if j > 10 else j + 3
            e = k + 2 if j > 10 else k + 3
            if not (seen[n, j] and seen[n, k] and seen[n, e]):
                continue
            spread = max(noise[n, j], noise[n, k], noise[n, e])
            axis = _row(axes, row)
            if spread >= SETTLE_NONE or _dot(axis, axis) < 0.5:
                continue
            share = min((SETTLE_NONE - spread) / (SETTLE_NONE - SETTLE_FULL), 1.0)
            _meet_hinge(q[n], p[n], j, k, e, offsets, axis, spread, share)


@_jit
def _meet_hinge(q, p, j, k, e, offsets, axis, spread, share):
    u, f = _row(offsets, k), _row(offsets, e)
    short = math.sqrt(min(_dot(u, u), _dot(f, f)))
    u, f = _unit(u), _unit(f)
    upper, lower = _unit(_less(p, k, j)), _unit(_less(p, e, k))
    normal = _cross(upper, lower)
    sine2 = _dot(normal, normal)
    doubt = max(HINGE_SINE, HINGE_NOISE * spread / short)
    share *= sine2 / (sine2 + doubt * doubt)
    if short < 1e-4 or share < 1e-3:
        return
    # u . R(axis, t) f = A cos t + B sin t + C
    d = _dot(axis, f)
    flat = (f[0] - d * axis[0], f[1] - d * axis[1], f[2] - d * axis[2])
    a, b, c = _dot(u, flat), _dot(u, _cross(axis, flat)), d * _dot(u, axis)
    size = math.sqrt(a * a + b * b)
    if size < 1e-6:
        return
    middle, half = math.atan2(b, a), math.acos(min(max((_dot(upper, lower) - c) / size, -1.0), 1.0))
    best_j = best_k = _quat(q, j)
    nearest = -1.0
    for t in (middle + half, middle - half):
        bend = _about(axis, t)
        there = _apply(bend, f)
        side = _cross(u, there)
        if _dot(side, side) < 1e-12:
            continue
        found = _frame_to(u, side, upper, normal)
        own = _quat(q, j)
        near = abs(own[0] * found[0] + own[1] * found[1] + own[2] * found[2] + own[3] * found[3])
        if near > nearest:
            nearest, best_j, best_k = near, found, _mul(found, bend)
    if nearest < 0.0:
        return
    for joint, goal in ((j, best_j), (k, best_k)):
        own = _quat(q, joint)
        _put(q, joint, _mul(_power(_mul(goal, _inv(own)), share), own))


@_jit
def _frame_to(a, b, a_now, b_now):
    """Return the rotation that takes unit a to a_now and the normal b to b_now; each pair is square."""
    side = _unit(b)
    first = _least_turn((0.0, 0.0, 0.0, 1.0), a, a_now)
    if _dot(a, a_now) < -1.0 + 1e-6:  # half a turn about b
        first = (side[0], side[1], side[2], 0.0)
    now = _apply(first, side)
    want = _unit(b_now)
    angle = math.atan2(_dot(_cross(now, want), a_now), _dot(now, want))
    return _mul(_about(a_now, angle), first)


@_jit
def loosen(q, marks_seen, offsets, loose):
    """Pose legs whose knees turn about all axes, in q (N, 22, 4): no bend tells there how the thigh is turned.

    loose (2,) left and right. The thigh follows the pelvis with the least twist; the heading of the foot is shared
    between knee and ankle, unless landmarks (N, 22) of the foot say how it is turned. Such a body's elbows are no
    hinges either: the upper arm keeps to the shoulder girdle by a share of its twist.
    """
    for n in range(len(q)):
        for side in range(2):
            if not loose[side]:
                continue
            hip, knee, ankle, toes = 1 + side, 4 + side, 7 + side, 10 + side
            for joint, parent, child in ((hip, 0, knee), (knee, hip, ankle)):
                bone = _unit(_row(offsets, child))
                direction = _apply(_quat(q[n], joint), bone)
                _put(q[n], joint, _least_turn(_quat(q[n], parent), bone, direction))
            arm, own = 16 + side, _quat(q[n], 16 + side)
            bone = _unit(_row(offsets, arm + 2))
            least = _least_turn(_quat(q[n], _PARENT[arm]), bone, _apply(own, bone))
            _put(q[n], arm, _mul(_power(_mul(least, _inv(own)), ARM_SHARE), own))
            shin, foot = _unit(_row(offsets, ankle)), _unit(_row(offsets, toes))
            direction = _apply(_quat(q[n], ankle), foot)
            seen = _apply(_inv(_quat(q[n], knee)), direction)
            d, e = _dot(seen, shin), _dot(foot, shin)
            flat = (seen[0] - d * shin[0], seen[1] - d * shin[1], seen[2] - d * shin[2])
            rest = (foot[0] - e * shin[0], foot[1] - e * shin[1], foot[2] - e * shin[2])
            heading = math.atan2(_dot(_cross(rest, flat), shin), _dot(rest, flat))
            clear = min(2.0 * math.sqrt(_dot(flat, flat) / max(_dot(rest, rest), _TINY)), 1.0)
            turn = _about(shin, FOOT_SHARE * clear * heading)
            _put(q[n], knee, _mul(_quat(q[n], knee), turn))
            if not _marked(marks_seen[n], ankle):
                _put(q[n], ankle, _least_turn(_quat(q[n], knee), foot, direction))


@_jit
def _marked(marks_seen, joint):
    shown = False
    for m in range(len(_LANDMARK_JOINT)):
        shown = shown or (_LANDMARK_JOINT[m] == joint and marks_seen[m])
    return shown


@_jit
def temper(q, seen, marks_seen, usual, trust):
    """Draw leaves without landmarks, in q (N, 22, 4), to their usual place: local = usual (usual^-1 local)^trust.

    Joint centres say little of head, hands and toes; where a network answers for them all the same, it remembers people
    rather than poses. How far to trust it is measured on people it has not seen; a leaf whose own place was not seen
    (N, 22) is not trusted. usual (5, 4), trust (5,).
    """
    for n in range(len(q)):
        for row in range(len(_LEAVES)):
            j = _LEAVES[row]
            if not _marked(marks_seen[n], j):
                base = _mul(_quat(q[n], _PARENT[j]), _quat(usual, row))
                away = _mul(_inv(base), _quat(q[n], j))
                _put(q[n], j, _mul(base, _power(away, trust[row] if seen[n, j] else 0.0)))
