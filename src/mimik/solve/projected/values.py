"""Between local rotations and joint values, on whole batches."""

import warnings

import numpy as np
from scipy.spatial.transform import Rotation

from mimik._types import Array
from mimik.rotation import quat_inv, quat_log, quat_mul, quat_normalize, rotvec_to_quat, swing_twist, twist_angle
from mimik.solve.projected.arrays import BALL, FREE, ModelArrays


def values_to_pose(m: ModelArrays, values: Array, base: Array) -> tuple[Array, Array]:
    """Return local rotations (..., J, 4) and places (..., J, 3) of values (..., N) and base frames (..., J, 4)."""
    batch = values.shape[:-1]
    rotations = np.empty((*batch, len(m.parents), 4))
    translations = np.broadcast_to(m.offsets, (*batch, *m.offsets.shape)).copy()
    for j in range(len(m.parents)):
        v, last = int(m.first[j]), int(m.first[j] + m.value_count[j])
        q = np.broadcast_to(m.rest[j], (*batch, 4))
        while v < last and m.slides[v]:
            translations[..., j, :] += values[..., v, None] * m.axes[v]
            v += 1
        if m.kind[j] == FREE:
            q = quat_mul(quat_mul(q, base[..., j, :]), rotvec_to_quat(values[..., v : v + 3] @ m.axes[v : v + 3]))
        elif m.kind[j] == BALL:
            q = quat_mul(q, rotvec_to_quat(values[..., v : v + 2] @ m.axes[v : v + 2]))
            q = quat_mul(q, rotvec_to_quat(values[..., v + 2, None] * m.axes[v + 2]))
        else:
            for k in range(v, last):
                q = quat_mul(q, rotvec_to_quat(values[..., k, None] * m.axes[k]))
        rotations[..., j, :] = q
    return rotations, translations


def pose_to_values(m: ModelArrays, rotations: Array, root: Array, translations: Array | None) -> tuple[Array, Array]:
    """Return values (..., N) inside the limits and base frames (..., J, 4) nearest to local rotations (..., J, 4).

    Hinges and universal joints take the part of the rotation they can make; Euler triples are exact away from their
    gimbal pose, where the third angle is put to zero.
    """
    batch = rotations.shape[:-2]
    values, base = np.zeros((*batch, len(m.owner))), np.zeros((*batch, len(m.parents), 4))
    base[..., 3] = 1.0
    for j in range(len(m.parents)):
        v, last = int(m.first[j]), int(m.first[j] + m.value_count[j])
        moved = root if j == 0 else m.offsets[j] if translations is None else translations[..., j, :]
        while v < last and m.slides[v]:
            values[..., v] = (moved - m.offsets[j]) @ m.axes[v]
            v += 1
        q = quat_mul(quat_inv(m.rest[j]), rotations[..., j, :])
        if m.kind[j] == FREE:
            base[..., j, :] = quat_normalize(q)
        elif m.kind[j] == BALL:
            swing, _ = swing_twist(q, m.axes[v + 2])
            values[..., v : v + 2] = quat_log(swing) @ m.axes[v : v + 2].T
            values[..., v + 2] = twist_angle(q, m.axes[v + 2])
        elif last > v:
            values[..., v:last] = _axis_angles(q, m.axes[v:last])
    return limit_values(m, values), base


def limit_values(m: ModelArrays, values: Array) -> Array:
    """Project values (..., N) onto the limits, the nearest point of each joint's box and cone."""
    inside = np.clip(values, m.lower, m.upper)
    for j in np.flatnonzero((m.kind == BALL) & np.isfinite(m.cone)):
        v = m.first[j] + m.value_count[j] - 3
        swing = np.sqrt(inside[..., v] ** 2 + inside[..., v + 1] ** 2)
        shrink = np.where(swing > m.cone[j], m.cone[j] / np.maximum(swing, 1e-300) * (1.0 - 4e-16), 1.0)
        inside[..., v : v + 2] *= shrink[..., None]
    return inside


def limit_excess(m: ModelArrays, values: Array) -> float:
    """Return by how much any of the values (..., N) exceeds its limits, radians or metres; zero when none does."""
    worst = max(0.0, float((m.lower - values).max(initial=0.0)), float((values - m.upper).max(initial=0.0)))
    for j in np.flatnonzero((m.kind == BALL) & np.isfinite(m.cone)):
        v = m.first[j] + m.value_count[j] - 3
        swing = np.sqrt(values[..., v] ** 2 + values[..., v + 1] ** 2)
        worst = max(worst, float((swing - m.cone[j]).max(initial=0.0)))
    return worst


def _axis_angles(q: Array, axes: Array) -> Array:
    """Angles (..., k) about one to three axes in turn whose product comes nearest to q (..., 4)."""
    if len(axes) == 1:
        return twist_angle(q, axes[0])[..., None]
    second = axes[1] - axes[0] * (axes[0] @ axes[1])
    second /= np.linalg.norm(second) or 1.0
    third = axes[2] if len(axes) == 3 else np.cross(axes[0], second)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # SciPy warns in the gimbal pose, where its answer is still right
        angles = Rotation.from_quat(q.reshape(-1, 4)).as_davenport(np.stack([axes[0], second, third]), "intrinsic")
    return np.asarray(angles).reshape(*q.shape[:-1], 3)[..., : len(axes)]
