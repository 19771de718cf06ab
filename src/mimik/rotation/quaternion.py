"""Unit quaternions `x y z w`, any number of leading batch dimensions.

Everything here is exact at the identity, at half turns and for tiny angles. q and -q are the same rotation; functions
that compare or average treat them so, the others keep the sign they are given.
"""

from typing import Any, cast

import numpy as np
from scipy.spatial.transform import Rotation

from mimik._types import Array, ArrayLike

IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])
IDENTITY.setflags(write=False)


def identity_quat(*batch: int) -> Array:
    """Return identity quaternions of shape (*batch, 4)."""
    q = np.zeros((*batch, 4))
    q[..., 3] = 1.0
    return q


def quat_mul(a: ArrayLike, b: ArrayLike) -> Array:
    """Compose rotations: `quat_mul(q_world_parent, q_parent_joint)` is q_world_joint."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    ax, ay, az, aw = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bx, by, bz, bw = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    out[..., 0] = aw * bx + ax * bw + ay * bz - az * by
    out[..., 1] = aw * by - ax * bz + ay * bw + az * bx
    out[..., 2] = aw * bz + ax * by - ay * bx + az * bw
    out[..., 3] = aw * bw - ax * bx - ay * by - az * bz
    return out


def quat_inv(q: ArrayLike) -> Array:
    """Invert unit quaternions (the conjugate)."""
    return np.asarray(q, dtype=np.float64) * np.array([-1.0, -1.0, -1.0, 1.0])


def quat_apply(q: ArrayLike, v: ArrayLike) -> Array:
    """Rotate vectors (..., 3) by unit quaternions (..., 4); shapes broadcast."""
    q, v = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
    x, y, z, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    vx, vy, vz = v[..., 0], v[..., 1], v[..., 2]
    # t = 2 u x v,  v + w t + u x t;  in components, since np.cross is slow for few vectors
    tx, ty, tz = 2.0 * (y * vz - z * vy), 2.0 * (z * vx - x * vz), 2.0 * (x * vy - y * vx)
    out = np.empty((*np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), 3))
    out[..., 0] = vx + w * tx + (y * tz - z * ty)
    out[..., 1] = vy + w * ty + (z * tx - x * tz)
    out[..., 2] = vz + w * tz + (x * ty - y * tx)
    return out


def quat_normalize(q: ArrayLike) -> Array:
    """Scale to unit length; a zero quaternion becomes the identity, one of unit length keeps its very bits."""
    q = np.asarray(q, dtype=np.float64)
    norm = np.linalg.norm(q, axis=-1, keepdims=True)
    norm = np.where(np.abs(norm - 1.0) < 1e-15, 1.0, norm)
    return np.where(norm > 0.0, q / np.where(norm > 0.0, norm, 1.0), IDENTITY)


def quat_align(q: ArrayLike, reference: ArrayLike | None = None) -> Array:
    """Choose signs: nearest to `reference`, or continuous along the first axis of q (T, ..., 4) when it is None."""
    q = np.array(q, dtype=np.float64)
    if reference is not None:
        dot = np.sum(q * np.asarray(reference, dtype=np.float64), axis=-1, keepdims=True)
        return np.where(dot < 0.0, -q, q)
    if len(q) > 1:
        flips = np.where(np.sum(q[1:] * q[:-1], axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
        q[1:] *= np.cumprod(flips, axis=0)
    return q


def rotvec_to_quat(rotvec: ArrayLike) -> Array:
    """Exponential map: rotation vectors in radians to unit quaternions, exact for tiny angles."""
    v = np.asarray(rotvec, dtype=np.float64)
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    # sin(a/2)/a, with its series where the quotient loses digits
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    scale = np.where(small, 0.5 - angle**2 / 48.0, np.sin(0.5 * safe) / safe)
    return np.concatenate([v * scale, np.cos(0.5 * angle)], axis=-1)


def quat_to_rotvec(q: ArrayLike) -> Array:
    """Logarithm: unit quaternions to rotation vectors of length at most pi."""
    q = np.asarray(q, dtype=np.float64)
    q = np.where(q[..., 3:] < 0.0, -q, q)
    sine = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    small = sine < 1e-8
    safe = np.where(small, 1.0, sine)
    scale = np.where(small, 2.0, 2.0 * np.arctan2(safe, q[..., 3:]) / safe)
    return q[..., :3] * scale


quat_exp = rotvec_to_quat
quat_log = quat_to_rotvec


def quat_to_matrix(q: ArrayLike) -> Array:
    """Return rotation matrices (..., 3, 3)."""
    x, y, z, w = np.moveaxis(np.asarray(q, dtype=np.float64), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def matrix_to_quat(matrix: ArrayLike) -> Array:
    """Return unit quaternions of rotation matrices (..., 3, 3)."""
    m = np.asarray(matrix, dtype=np.float64)
    flat = Rotation.from_matrix(m.reshape(-1, 3, 3)).as_quat() if m.size else np.zeros((0, 4))
    return flat.reshape(*m.shape[:-2], 4)


def euler_to_quat(angles: ArrayLike, order: str, *, degrees: bool = False) -> Array:
    """Compose intrinsic rotations: order "ZXY" turns about Z first, then the moved X, then the moved Y."""
    a = np.asarray(angles, dtype=np.float64)
    a = np.deg2rad(a) if degrees else a
    q = identity_quat(*a.shape[:-1])
    for k, letter in enumerate(order.upper()):
        step = np.zeros((*a.shape[:-1], 4))
        step[..., "XYZ".index(letter)] = np.sin(0.5 * a[..., k])
        step[..., 3] = np.cos(0.5 * a[..., k])
        q = quat_mul(q, step)
    return q


def quat_to_euler(q: ArrayLike, order: str, *, degrees: bool = False) -> Array:
    """Return intrinsic Euler angles; in gimbal lock the third angle is zero."""
    import warnings

    q = np.asarray(q, dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # SciPy warns in gimbal lock, where its answer is still right
        flat = Rotation.from_quat(q.reshape(-1, 4)).as_euler(cast(Any, order.upper()), degrees=degrees)
    return np.asarray(flat).reshape(*q.shape[:-1], len(order))


def quat_slerp(a: ArrayLike, b: ArrayLike, t: ArrayLike) -> Array:
    """Interpolate along the shorter arc; t (...,) broadcasts, 0 gives a and 1 gives b."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    step = quat_to_rotvec(quat_mul(quat_inv(a), b))
    return quat_mul(a, rotvec_to_quat(step * np.asarray(t, dtype=np.float64)[..., None]))


def quat_mean(q: ArrayLike, weights: ArrayLike | None = None, *, axis: int = 0) -> Array:
    """Average rotations along `axis`: the principal eigenvector of sum w q q^T, blind to signs."""
    q = np.moveaxis(np.asarray(q, dtype=np.float64), axis, 0)
    w = np.ones(q.shape[:-1]) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.ndim == 1 and q.ndim > 2:
        w = w.reshape(-1, *([1] * (q.ndim - 2)))
    outer = np.einsum("t...,t...i,t...j->...ij", np.broadcast_to(w, q.shape[:-1]), q, q)
    _, vectors = np.linalg.eigh(outer)
    mean = vectors[..., -1]
    return np.where(mean[..., 3:] < 0.0, -mean, mean)


def geodesic(a: ArrayLike, b: ArrayLike) -> Array:
    """Angle in radians between rotations, 0 to pi, accurate for tiny and for half-turn differences."""
    d = quat_mul(quat_inv(a), b)
    return 2.0 * np.arctan2(np.linalg.norm(d[..., :3], axis=-1), np.abs(d[..., 3]))


def quat_between(a: ArrayLike, b: ArrayLike) -> Array:
    """Shortest rotation turning direction a onto b; opposite directions turn about some normal, zero gives identity."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    na, nb = np.linalg.norm(a, axis=-1, keepdims=True), np.linalg.norm(b, axis=-1, keepdims=True)
    valid = (na > 0.0) & (nb > 0.0)
    ua, ub = a / np.where(valid, na, 1.0), b / np.where(valid, nb, 1.0)
    dot = np.sum(ua * ub, axis=-1, keepdims=True)
    q = np.concatenate([np.cross(ua, ub), 1.0 + dot], axis=-1)
    # near a half turn the cross product vanishes: turn about the axis most normal to a
    helper = np.eye(3)[np.argmin(np.abs(ua), axis=-1)]
    normal = np.cross(ua, helper)
    half_turn = np.concatenate([normal, np.zeros_like(dot)], axis=-1)
    q = np.where(dot < -1.0 + 1e-12, half_turn, q)
    return np.where(valid, quat_normalize(q), IDENTITY)


def swing_twist(q: ArrayLike, axis: ArrayLike) -> tuple[Array, Array]:
    """Split q = swing * twist with the twist about `axis` (unit); a half-turn swing has no twist."""
    q, axis = np.asarray(q, dtype=np.float64), np.asarray(axis, dtype=np.float64)
    along = np.sum(q[..., :3] * axis, axis=-1, keepdims=True)
    twist = quat_normalize(np.concatenate([along * axis, q[..., 3:]], axis=-1))
    return quat_mul(q, quat_inv(twist)), twist


def twist_angle(q: ArrayLike, axis: ArrayLike) -> Array:
    """Signed angle in radians, -pi to pi, of the twist of q about `axis` (unit)."""
    q, axis = np.asarray(q, dtype=np.float64), np.asarray(axis, dtype=np.float64)
    angle = 2.0 * np.arctan2(np.sum(q[..., :3] * axis, axis=-1), q[..., 3])
    return np.asarray((angle + np.pi) % (2.0 * np.pi) - np.pi)
