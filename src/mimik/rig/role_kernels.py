"""Compiled kernels of the role mapping. `mimik.rig.role_space` checks and allocates; its tests hold a readable twin."""

from __future__ import annotations

import math

import numba as nb

from mimik._types import Array, IntArray

ROLE, FIXED, FOLLOW, BLEND, TWIST, UNTWIST = range(6)
"""How the T-pose-relative world rotation D of a joint is found.

ROLE     D of its role                            FIXED    identity (joints above the pelvis)
FOLLOW   D of its parent                          BLEND    between two roles, by `share`
TWIST    role a, plus `share` of the twist of role b about `axis`
UNTWIST  role a, less (1 - `share`) of its own twist against role b about `axis`
"""


@nb.njit(cache=True, inline="always")
def _mul(a: Array, b: Array, out: Array) -> None:
    ax, ay, az, aw = a[0], a[1], a[2], a[3]
    bx, by, bz, bw = b[0], b[1], b[2], b[3]
    out[0] = aw * bx + ax * bw + ay * bz - az * by
    out[1] = aw * by - ax * bz + ay * bw + az * bx
    out[2] = aw * bz + ax * by - ay * bx + az * bw
    out[3] = aw * bw - ax * bx - ay * by - az * bz


@nb.njit(cache=True, inline="always")
def _mul_inv_left(a: Array, b: Array, out: Array) -> None:
    """Write inverse(a) * b for unit quaternions."""
    ax, ay, az, aw = -a[0], -a[1], -a[2], a[3]
    bx, by, bz, bw = b[0], b[1], b[2], b[3]
    out[0] = aw * bx + ax * bw + ay * bz - az * by
    out[1] = aw * by - ax * bz + ay * bw + az * bx
    out[2] = aw * bz + ax * by - ay * bx + az * bw
    out[3] = aw * bw - ax * bx - ay * by - az * bz


@nb.njit(cache=True, inline="always")
def _twist_power(q: Array, axis: Array, share: float, out: Array) -> None:
    """Write the twist of q about the unit axis, scaled by share; identity where a half-turn swing leaves none."""
    along = q[0] * axis[0] + q[1] * axis[1] + q[2] * axis[2]
    real = q[3]
    if real < 0.0:
        along, real = -along, -real
    half = 0.0 if along * along + real * real < 1e-24 else share * math.atan2(along, real)
    sine = math.sin(half)
    out[0], out[1], out[2], out[3] = sine * axis[0], sine * axis[1], sine * axis[2], math.cos(half)


@nb.njit(cache=True, inline="always")
def _slerp(a: Array, b: Array, share: float, out: Array) -> None:
    dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    sign = 1.0 if dot >= 0.0 else -1.0
    dot = min(1.0, abs(dot))
    angle = math.acos(dot)
    if angle < 1e-4:
        wa, wb = 1.0 - share, share
    else:
        wa, wb = math.sin((1.0 - share) * angle) / math.sin(angle), math.sin(share * angle) / math.sin(angle)
    norm = 0.0
    for k in range(4):
        out[k] = wa * a[k] + sign * wb * b[k]
        norm += out[k] * out[k]
    norm = 1.0 / math.sqrt(norm)
    for k in range(4):
        out[k] *= norm


@nb.njit(cache=True, nogil=True)
def roles_to_local(
    D_world: Array,  # (T, R, 4)
    own: Array,  # (T, E, 4) given rotations of single joints against their parents, T-pose axes
    own_index: IntArray,  # (J,) index into own, -1 where the rule decides
    parents: IntArray,  # (J,)
    rules: IntArray,  # (J,)
    role_a: IntArray,  # (J,)
    role_b: IntArray,  # (J,)
    share: Array,  # (J,)
    axis: Array,  # (J, 3) bone direction in T-pose world axes
    middle: Array,  # (J, 4) turn of the bone from the T-pose to the middle of its range, from which twist is measured
    q_tpose: Array,  # (J, 4)
    q_local: Array,  # out (T, J, 4)
    D_joint: Array,  # out (T, J, 4)
) -> None:
    """Find D of every joint by its rule, and from it the local rotation inv(Q_p) inv(D_p) D_j Q_j with Q the T-pose."""
    joint_count = len(parents)
    work, twist = D_world[0, 0].copy(), D_world[0, 0].copy()
    for t in range(len(D_world)):
        for j in range(joint_count):
            rule, parent = rules[j], parents[j]
            D = D_joint[t, j]
            a, b = D_world[t, role_a[j]], D_world[t, role_b[j]]
            given = own_index[j]
            if given >= 0 and parent < 0:
                D[:] = own[t, given]
            elif given >= 0:
                _mul(D_joint[t, parent], own[t, given], D)
            elif rule == ROLE:
                D[:] = a
            elif rule == BLEND:
                _slerp(a, b, share[j], D)
            elif rule == TWIST:
                _mul_inv_left(a, b, work)
                _twist_power(work, axis[j], share[j], twist)
                _mul(a, twist, D)
            elif rule == UNTWIST:
                _mul_inv_left(b, a, twist)
                _mul_inv_left(middle[j], twist, work)
                _twist_power(work, axis[j], share[j] - 1.0, twist)
                _mul(a, twist, D)
            elif rule == FIXED or parent < 0:
                D[0], D[1], D[2], D[3] = 0.0, 0.0, 0.0, 1.0
            else:
                D[:] = D_joint[t, parent]
            if parent < 0:
                _mul(D, q_tpose[j], q_local[t, j])
            else:
                _mul_inv_left(D_joint[t, parent], D, work)
                _mul_inv_left(q_tpose[parent], work, twist)
                _mul(twist, q_tpose[j], q_local[t, j])


@nb.njit(cache=True, nogil=True)
def world_to_roles(
    q_world: Array,  # (T, J, 4)
    q_tpose: Array,  # (J, 4)
    joint: IntArray,  # (R,) joint of each role, -1 where the rig lacks it
    role_a: IntArray,  # (R,)
    role_b: IntArray,  # (R,)
    share: Array,  # (R,)
    D_world: Array,  # out (T, R, 4)
) -> None:
    """Write D = q_world inv(q_tpose) of every role; a role the rig lacks lies between two others."""
    work = D_world[0, 0].copy()
    for t in range(len(q_world)):
        for r in range(len(joint)):
            j = joint[r]
            if j >= 0:
                for k in range(3):
                    work[k] = -q_tpose[j, k]
                work[3] = q_tpose[j, 3]
                _mul(q_world[t, j], work, D_world[t, r])
        for r in range(len(joint)):
            if joint[r] < 0:
                if role_a[r] == role_b[r]:
                    D_world[t, r] = D_world[t, role_a[r]]
                else:
                    _slerp(D_world[t, role_a[r]], D_world[t, role_b[r]], share[r], D_world[t, r])
