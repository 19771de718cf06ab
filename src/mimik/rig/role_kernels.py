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


_Quat = tuple[float, float, float, float]


@nb.njit(cache=True, inline="always")
def _mul(a: _Quat, b: _Quat) -> _Quat:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@nb.njit(cache=True, inline="always")
def _inv(a: _Quat) -> _Quat:
    return -a[0], -a[1], -a[2], a[3]


@nb.njit(cache=True, inline="always")
def _unit(a: _Quat) -> _Quat:
    scale = 1.0 / math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    return a[0] * scale, a[1] * scale, a[2] * scale, a[3] * scale


@nb.njit(cache=True, inline="always")
def _get(q: Array, i: int, j: int) -> _Quat:
    return q[i, j, 0], q[i, j, 1], q[i, j, 2], q[i, j, 3]


@nb.njit(cache=True, inline="always")
def _put(q: _Quat, out: Array, i: int, j: int) -> None:
    out[i, j, 0], out[i, j, 1], out[i, j, 2], out[i, j, 3] = q


@nb.njit(cache=True)
def _twist_power(q: _Quat, axis: tuple[float, float, float], share: float) -> _Quat:
    """Return the twist of q about the unit axis, scaled by share; identity where a half-turn swing leaves none."""
    along = q[0] * axis[0] + q[1] * axis[1] + q[2] * axis[2]
    real = q[3]
    if real < 0.0:
        along, real = -along, -real
    half = 0.0 if along * along + real * real < 1e-24 else share * math.atan2(along, real)
    sine = math.sin(half)
    return sine * axis[0], sine * axis[1], sine * axis[2], math.cos(half)


@nb.njit(cache=True)
def _slerp(a: _Quat, b: _Quat, share: float) -> _Quat:
    dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    sign = 1.0 if dot >= 0.0 else -1.0
    angle = math.acos(min(1.0, abs(dot)))
    if angle < 1e-4:
        wa, wb = 1.0 - share, sign * share
    else:
        wa, wb = math.sin((1.0 - share) * angle) / math.sin(angle), sign * math.sin(share * angle) / math.sin(angle)
    return _unit((wa * a[0] + wb * b[0], wa * a[1] + wb * b[1], wa * a[2] + wb * b[2], wa * a[3] + wb * b[3]))


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
    middle: Array,  # (1, J, 4) turn of the bone from the T-pose to the middle of its range, where its twist is zero
    q_tpose: Array,  # (1, J, 4)
    q_local: Array,  # out (T, J, 4)
    D_joint: Array,  # out (T, J, 4)
) -> None:
    """Find D of every joint by its rule, and from it the local rotation inv(Q_p) inv(D_p) D_j Q_j with Q the T-pose."""
    for t in range(D_world.shape[0]):
        for j in range(parents.shape[0]):
            rule, parent, given = rules[j], parents[j], own_index[j]
            D_parent = (0.0, 0.0, 0.0, 1.0)
            q_parent = (0.0, 0.0, 0.0, 1.0)
            if parent >= 0:
                D_parent = _get(D_joint, t, parent)
                q_parent = _inv(_get(q_tpose, 0, parent))
            D = D_parent
            u = (axis[j, 0], axis[j, 1], axis[j, 2])
            if given >= 0:
                D = _mul(D_parent, _get(own, t, given))
            elif rule == ROLE:
                D = _get(D_world, t, role_a[j])
            elif rule == BLEND:
                D = _slerp(_get(D_world, t, role_a[j]), _get(D_world, t, role_b[j]), share[j])
            elif rule == TWIST:
                a = _get(D_world, t, role_a[j])
                D = _mul(a, _twist_power(_mul(_inv(a), _get(D_world, t, role_b[j])), u, share[j]))
            elif rule == UNTWIST:
                a = _get(D_world, t, role_a[j])
                turn = _mul(_inv(_get(D_world, t, role_b[j])), a)
                D = _mul(a, _twist_power(_mul(_inv(_get(middle, 0, j)), turn), u, share[j] - 1.0))
            elif rule == FIXED:
                D = (0.0, 0.0, 0.0, 1.0)
            _put(D, D_joint, t, j)
            _put(_unit(_mul(_mul(q_parent, _mul(_inv(D_parent), D)), _get(q_tpose, 0, j))), q_local, t, j)


@nb.njit(cache=True, nogil=True)
def world_to_roles(
    q_world: Array,  # (T, J, 4)
    q_tpose: Array,  # (1, J, 4)
    joint: IntArray,  # (R,) joint of each role, -1 where the rig lacks it
    role_a: IntArray,  # (R,)
    role_b: IntArray,  # (R,)
    share: Array,  # (R,)
    D_world: Array,  # out (T, R, 4)
) -> None:
    """Write D = q_world inv(q_tpose) of every role; a role the rig lacks lies between two others."""
    for t in range(q_world.shape[0]):
        for r in range(joint.shape[0]):
            if joint[r] >= 0:
                _put(_mul(_get(q_world, t, joint[r]), _inv(_get(q_tpose, 0, joint[r]))), D_world, t, r)
        for r in range(joint.shape[0]):
            if joint[r] < 0:
                _put(_slerp(_get(D_world, t, role_a[r]), _get(D_world, t, role_b[r]), share[r]), D_world, t, r)
