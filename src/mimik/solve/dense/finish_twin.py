"""The last steps of the dense solver in plain NumPy, one frame at a time: slow, to be read, and tested against.

Arguments are those of `finish_kernels`, for one frame and returning what is found; the twin of `temper` is
`mimik.learn.dense_geometry.temper`.
"""

import numpy as np

from mimik._types import Array, BoolArray
from mimik.rig.roles import BODY_PARENTS
from mimik.rotation import (
    matrix_to_quat,
    quat_apply,
    quat_between,
    quat_inv,
    quat_mul,
    quat_slerp,
    quat_to_rotvec,
    rotvec_to_quat,
)
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
    MARK_NOISE,
    settle_share,
)

CLEAN, LEAST_NOISE = 1e-4, 1e-5
"""Metres of noise up to which positions are taken to be exact, and the least anything counts with."""

HELD = 1e8
"""Weight of what holds a joint the body lacks to its parent."""

WIDEST, SETTLED = 0.7, 1e-4
"""Radians: the widest turn of one step, and the turn below which no other is made."""


def reach(q: Array, root: Array, offsets: Array) -> Array:
    """Return joint positions (22, 3) of rotations D_world (22, 4) on a body."""
    at = np.empty((22, 3))
    at[0] = root
    for j in range(1, 22):
        at[j] = at[BODY_PARENTS[j]] + quat_apply(q[BODY_PARENTS[j]], offsets[j])
    return at


def bridge(q: Array, p: Array, seen: BoolArray, offsets: Array, most: float) -> Array:
    """Return rotations (22, 4) whose elbows, knees and ankles not seen bend so that the limbs' ends are met.

    The middle joint lies on the circle both bone lengths allow, as near as can be to where q has it; ends that miss by
    no more than `most` metres are left.
    """
    q = q.copy()
    for j, m, e in ((16, 18, 20), (17, 19, 21), (1, 4, 7), (2, 5, 8), (4, 7, 10), (5, 8, 11)):
        a, b, reach = (float(np.linalg.norm(v)) for v in (offsets[m], offsets[e], p[e] - p[j]))
        if seen[m] or not (seen[j] and seen[e]) or min(a, b, reach) < 1e-4:
            continue
        ends = p[j] + quat_apply(q[j], offsets[m]) + quat_apply(q[m], offsets[e])
        if np.linalg.norm(p[e] - ends) <= most:
            continue
        line, guess = (p[e] - p[j]) / reach, quat_apply(q[j], offsets[m]) / a
        side = guess - (guess @ line) * line
        if side @ side < 1e-8:
            continue
        cosine = np.clip((a * a + reach * reach - b * b) / (2.0 * a * reach), -1.0, 1.0)
        upper = cosine * line + np.sqrt(1.0 - cosine**2) * side / np.linalg.norm(side)
        q[j] = _least_turn(q[j], offsets[m], upper)
        q[m] = _least_turn(q[m], offsets[e], reach * line - a * upper)
    return q


def weigh(
    q: Array,
    p: Array,
    seen: BoolArray,
    marks: Array,
    marks_seen: BoolArray,
    present: BoolArray,
    noise: Array,
    offsets: Array,
    mark_offsets: Array,
    rounds: int,
    gap_rounds: int,
) -> tuple[Array, Array]:
    """Return the likeliest rotations (22, 4) and root (3,) between what the network says and what is seen.

    Least squares over a small turn x_j of every joint, in world axes, and a step of the root:

        sum over seen j  |p_j - at_j(x)|^2 / noise_j^2
        + sum over seen landmarks m  |mark_m - there_m(x)|^2 / (least noise^2 + MARK_NOISE^2)
        + sum over j     |x_j - m_j|^2 / world_j^2  +  |(x_j - m_j) - (x_parent - m_parent)|^2 / local_j^2

    m_j being the turn back to the network's answer. Joints the body lacks keep to their parents.
    """
    level = max(float(noise[seen].mean()) if seen.any() else 0.0, CLEAN)
    gap = bool((present & ~seen).any())
    if level <= CLEAN and not gap:
        return q, p[0]
    q = q.copy()
    for j in np.flatnonzero(~present[1:]) + 1:
        q[j] = q[BODY_PARENTS[j]]
    weights = 1.0 / np.maximum(noise, LEAST_NOISE) ** 2
    sure = 1.0 / (noise[seen].min(initial=np.inf) ** 2 + MARK_NOISE**2)
    start, scale = q, (level / DOUBT_LEVEL) ** DOUBT_POWER
    local = np.where(present, np.array(DOUBT_LOCAL) * scale, HELD**-0.5)
    root = p[0] + np.average((p - reach(q, p[0], offsets))[seen], axis=0, weights=weights[seen])
    for _ in range(gap_rounds if gap or marks_seen.any() else rounds):
        at = reach(q, root, offsets)
        back = quat_to_rotvec(quat_mul(start, quat_inv(q)))
        rows, rests = _doubt_rows(back, np.array(DOUBT_WORLD) * scale, local)
        for j in np.flatnonzero(seen):
            rows.append(_moves(at, int(j)) * np.sqrt(weights[j]))
            rests.append((p[j] - at[j]) * np.sqrt(weights[j]))
        for m in np.flatnonzero(marks_seen & present[LANDMARK_JOINT]):
            joint = int(LANDMARK_JOINT[m])
            way = quat_apply(q[joint], mark_offsets[m])
            rows.append(_moves(at, joint, way) * np.sqrt(sure))
            rests.append((marks[m] - at[joint] - way) * np.sqrt(sure))
        x = np.linalg.lstsq(np.concatenate(rows), np.concatenate(rests), rcond=None)[0]
        widest = float(np.linalg.norm(x[3:].reshape(22, 3), axis=1).max())
        x = x * min(WIDEST / max(widest, 1e-9), 1.0)
        root = root + x[:3]
        q = quat_mul(rotvec_to_quat(x[3:].reshape(22, 3)), q)
        if widest < SETTLED:
            break
    return q, root


def _doubt_rows(back: Array, world: Array, local: Array) -> tuple[list[Array], list[Array]]:
    """Return rows (3, 69) and right sides (3,) that ask every joint back to the network's answer."""
    rows, rests = [], []
    for j in range(22):
        row = np.zeros((3, 69))
        row[:, 3 * j + 3 : 3 * j + 6] = np.eye(3)
        rows.append(row / world[j])
        rests.append(back[j] / world[j])
        if j:
            parent = int(BODY_PARENTS[j])
            row = row.copy()
            row[:, 3 * parent + 3 : 3 * parent + 6] = -np.eye(3)
            rows.append(row / local[j])
            rests.append((back[j] - back[parent]) / local[j])
    return rows, rests


def _moves(at: Array, joint: int, way: Array | None = None) -> Array:
    """Return d point / d(root, turns) (3, 69) of a joint, or of a point that turns with it, `way` (3,) from it.

    A turn x moves a bone a by x cross a.
    """
    row = np.zeros((3, 69))
    row[:, :3] = np.eye(3)
    bones = [] if way is None else [(joint, way)]
    while joint:
        bones.append((int(BODY_PARENTS[joint]), at[joint] - at[BODY_PARENTS[joint]]))
        joint = int(BODY_PARENTS[joint])
    for turned, (x, y, z) in bones:
        row[:, 3 * turned + 3 : 3 * turned + 6] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
    return row


def hinge(q: Array, p: Array, seen: BoolArray, noise: Array, offsets: Array, axes: Array) -> Array:
    """Return rotations (22, 4) whose bent elbows and knees say how the limb above them is turned."""
    q = q.copy()
    for j, axis in zip(HINGE_JOINTS, axes):
        k = j + 2 if j > 10 else j + 3
        e = k + 2 if j > 10 else k + 3
        if not seen[[j, k, e]].all() or not axis.any():
            continue
        spread = noise[[j, k, e]].max()
        bend = _bend(p[k] - p[j], p[e] - p[k])
        short = min(np.linalg.norm(offsets[k]), np.linalg.norm(offsets[e]))
        doubt = max(HINGE_SINE, HINGE_NOISE * spread / short) if short else np.inf
        share = float(settle_share(spread)) * bend**2 / (bend**2 + doubt**2)
        if short < 1e-4 or share < 1e-3:
            continue
        found = _bent_limb(q[j], p[k] - p[j], p[e] - p[k], offsets[k], offsets[e], axis)
        if found is not None:
            for joint, goal in zip((j, k), found):
                q[joint] = quat_slerp(q[joint], goal, share)
    return q


def _bend(upper: Array, lower: Array) -> float:
    return float(np.linalg.norm(np.cross(upper, lower)) / (np.linalg.norm(upper) * np.linalg.norm(lower)))


def _bent_limb(q: Array, upper: Array, lower: Array, u: Array, f: Array, axis: Array) -> tuple[Array, Array] | None:
    """Return rotations of both bones u, f (T-pose) that turn about `axis` alone, laid along upper and lower."""
    u, f = u / np.linalg.norm(u), f / np.linalg.norm(f)
    upper, lower = upper / np.linalg.norm(upper), lower / np.linalg.norm(lower)
    along = axis * (axis @ f)
    a, b = u @ (f - along), u @ np.cross(axis, f - along)
    if np.hypot(a, b) < 1e-6:
        return None
    middle = np.arctan2(b, a)
    half = np.arccos(np.clip((upper @ lower - u @ along) / np.hypot(a, b), -1.0, 1.0))
    best = None
    for angle in (middle + half, middle - half):
        bend = rotvec_to_quat(axis * angle)
        there = quat_apply(bend, f)
        if np.linalg.norm(np.cross(u, there)) < 1e-6:
            continue
        goal = matrix_to_quat(_frame(upper, np.cross(upper, lower)) @ _frame(u, np.cross(u, there)).T)
        if best is None or abs(goal @ q) > abs(best[0] @ q):
            best = goal, quat_mul(goal, bend)
    return best


def _frame(x: Array, y: Array) -> Array:
    y = y / np.linalg.norm(y)
    return np.stack([x, y, np.cross(x, y)], axis=1)


def loosen(q: Array, marks_seen: BoolArray, offsets: Array, loose: BoolArray) -> Array:
    """Return rotations (22, 4) with less twist in limbs of bodies whose knees turn about all axes."""
    q = q.copy()
    for hip, knee, ankle, toes in ((1, 4, 7, 10), (2, 5, 8, 11)):
        if not loose[hip - 1]:
            continue
        for joint, parent, child in ((hip, 0, knee), (knee, hip, ankle)):
            q[joint] = _least_turn(q[parent], offsets[child], quat_apply(q[joint], offsets[child]))
        arm, elbow = hip + 15, hip + 17
        least = _least_turn(q[BODY_PARENTS[arm]], offsets[elbow], quat_apply(q[arm], offsets[elbow]))
        q[arm] = quat_slerp(q[arm], least, ARM_SHARE)
        shin, foot = offsets[ankle] / np.linalg.norm(offsets[ankle]), offsets[toes] / np.linalg.norm(offsets[toes])
        direction = quat_apply(q[ankle], foot)
        now = quat_apply(quat_inv(q[knee]), direction)
        flat, rest = now - (now @ shin) * shin, foot - (foot @ shin) * shin
        heading = np.arctan2(np.cross(rest, flat) @ shin, rest @ flat)
        clear = min(2.0 * float(np.linalg.norm(flat)) / max(float(np.linalg.norm(rest)), 1e-9), 1.0)
        q[knee] = quat_mul(q[knee], rotvec_to_quat(shin * (FOOT_SHARE * clear * heading)))
        if not marks_seen[ankle == LANDMARK_JOINT].any():
            q[ankle] = _least_turn(q[knee], foot, direction)
    return q


def _least_turn(q: Array, bone: Array, direction: Array) -> Array:
    """Return q turned by the least rotation that lays `bone` along `direction`."""
    return np.asarray(quat_mul(quat_between(quat_apply(q, bone), direction), q))
