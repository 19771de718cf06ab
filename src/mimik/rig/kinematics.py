"""Forward kinematics and its inverse: a compiled kernel each, with a readable twin.

R_world[j] = R_world[parent] R_local[j]        p[j] = p[parent] + R_world[parent] offset[j]
"""

import numba
import numpy as np

from mimik._types import Array, IntArray
from mimik.rotation import quat_apply, quat_inv, quat_mul


def forward_kinematics(
    parents: IntArray, offsets: Array, rotations: Array, root: Array, translations: Array | None = None
) -> tuple[Array, Array]:
    """Return world rotations (..., J, 4) and positions (..., J, 3) of local rotations (..., J, 4) and root (..., 3).

    `translations` (..., J, 3) replaces the offsets of all joints but the root where joints slide.
    """
    batch, count = rotations.shape[:-2], rotations.shape[-2]
    flat_q = np.ascontiguousarray(rotations, dtype=np.float64).reshape(-1, count, 4)
    flat_root = np.ascontiguousarray(np.broadcast_to(root, (*batch, 3)), dtype=np.float64).reshape(-1, 3)
    q_world, p_world = np.empty_like(flat_q), np.empty((len(flat_q), count, 3))
    if translations is None:
        moves = np.ascontiguousarray(offsets, dtype=np.float64)[None]
    else:
        moves = np.ascontiguousarray(translations, dtype=np.float64).reshape(-1, count, 3)
    _forward(parents, moves, flat_q, flat_root, q_world, p_world)
    return q_world.reshape(*batch, count, 4), p_world.reshape(*batch, count, 3)


def forward_kinematics_reference(
    parents: IntArray, offsets: Array, rotations: Array, root: Array, translations: Array | None = None
) -> tuple[Array, Array]:
    """Compute the same, joint by joint, as the formula reads."""
    q_world, p_world = np.array(rotations), np.empty((*rotations.shape[:-1], 3))
    p_world[..., 0, :] = root
    for j in range(1, len(parents)):
        parent = parents[j]
        offset = offsets[j] if translations is None else translations[..., j, :]
        q_world[..., j, :] = quat_mul(q_world[..., parent, :], rotations[..., j, :])
        p_world[..., j, :] = p_world[..., parent, :] + quat_apply(q_world[..., parent, :], offset)
    return q_world, p_world


def world_to_local(parents: IntArray, q_world: Array) -> Array:
    """Return local rotations (..., J, 4) of world rotations; the exact inverse of forward kinematics."""
    count = q_world.shape[-2]
    flat = np.ascontiguousarray(q_world, dtype=np.float64).reshape(-1, count, 4)
    local = np.empty_like(flat)
    _to_local(parents, flat, local)
    return local.reshape(q_world.shape)


def world_to_local_reference(parents: IntArray, q_world: Array) -> Array:
    """Compute the same, as the formula reads."""
    local = np.array(q_world)
    for j in range(1, len(parents)):
        local[..., j, :] = quat_mul(quat_inv(q_world[..., parents[j], :]), q_world[..., j, :])
    return local


@numba.njit(cache=True, error_model="numpy")
def _forward(parents, moves, q_local, root, q_world, p_world):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Fill q_world (N, J, 4) and p_world (N, J, 3); moves is (1, J, 3) or (N, J, 3)."""
    frames, count = q_local.shape[0], q_local.shape[1]
    step = 0 if moves.shape[0] == 1 else 1
    for n in range(frames):
        m = n * step
        for k in range(4):
            q_world[n, 0, k] = q_local[n, 0, k]
        for k in range(3):
            p_world[n, 0, k] = root[n, k]
        for j in range(1, count):
            i = parents[j]
            ax, ay, az, aw = q_world[n, i, 0], q_world[n, i, 1], q_world[n, i, 2], q_world[n, i, 3]
            bx, by, bz, bw = q_local[n, j, 0], q_local[n, j, 1], q_local[n, j, 2], q_local[n, j, 3]
            q_world[n, j, 0] = aw * bx + ax * bw + ay * bz - az * by
            q_world[n, j, 1] = aw * by - ax * bz + ay * bw + az * bx
            q_world[n, j, 2] = aw * bz + ax * by - ay * bx + az * bw
            q_world[n, j, 3] = aw * bw - ax * bx - ay * by - az * bz
            vx, vy, vz = moves[m, j, 0], moves[m, j, 1], moves[m, j, 2]
            tx, ty, tz = 2 * (ay * vz - az * vy), 2 * (az * vx - ax * vz), 2 * (ax * vy - ay * vx)
            p_world[n, j, 0] = p_world[n, i, 0] + vx + aw * tx + ay * tz - az * ty
            p_world[n, j, 1] = p_world[n, i, 1] + vy + aw * ty + az * tx - ax * tz
            p_world[n, j, 2] = p_world[n, i, 2] + vz + aw * tz + ax * ty - ay * tx


@numba.njit(cache=True, error_model="numpy")
def _to_local(parents, q_world, q_local):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Fill q_local (N, J, 4) with inv(q_world[parent]) q_world[joint]."""
    for n in range(q_world.shape[0]):
        for k in range(4):
            q_local[n, 0, k] = q_world[n, 0, k]
        for j in range(1, q_world.shape[1]):
            i = parents[j]
            ax, ay, az, aw = -q_world[n, i, 0], -q_world[n, i, 1], -q_world[n, i, 2], q_world[n, i, 3]
            bx, by, bz, bw = q_world[n, j, 0], q_world[n, j, 1], q_world[n, j, 2], q_world[n, j, 3]
            q_local[n, j, 0] = aw * bx + ax * bw + ay * bz - az * by
            q_local[n, j, 1] = aw * by - ax * bz + ay * bw + az * bx
            q_local[n, j, 2] = aw * bz + ax * by - ay * bx + az * bw
            q_local[n, j, 3] = aw * bw - ax * bx - ay * by - az * bz
