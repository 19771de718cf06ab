"""BVH rotation channels to quaternions and back to continuous Euler curves: compiled kernels with readable twins.

An intrinsic order "ijk" means R = R_i(a) R_j(b) R_k(c). Of the two triples that give the same rotation, and of all
whole turns, the writer takes the one nearest to the frame before. In gimbal lock (cos b = 0) only a + c or a - c is
determined; a then keeps its last value and c follows, so curves pass through the lock without a jump.
"""

import math

import numba
import numpy as np

from mimik._types import Array, IntArray
from mimik.errors import OptionError, one_of
from mimik.rotation import identity_quat, quat_mul

EULER_ORDERS = ("ZXY", "ZYX", "XYZ", "XZY", "YXZ", "YZX")
_LOCKED_COSINE = 1e-6
_SINE = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(11))
_COSINE = tuple((-1.0) ** k / math.factorial(2 * k) for k in range(11))


def euler_curves(rotations: Array, order: str) -> tuple[Array, list[str]]:
    """Return angles (T, J, 3) in degrees, continuous over time, and the order of each joint's angles.

    `order` is one for all joints, or "auto": for each joint the one whose largest step from frame to frame is least,
    which keeps its curves clear of gimbal lock. Raises OptionError for an unknown order.
    """
    if order != "auto":
        return continuous_euler(rotations, order), [order.upper()] * rotations.shape[1]
    curves = [continuous_euler(rotations, one) for one in EULER_ORDERS]
    steps = [np.abs(np.diff(curve, axis=0)).max(axis=(0, 2), initial=0.0) for curve in curves]
    best = np.argmin(np.round(steps, 3), axis=0)  # (J,)
    angles = np.stack([curves[k][:, j] for j, k in enumerate(best)], axis=1)
    return angles, [EULER_ORDERS[k] for k in best]


def channels_to_quats(values: Array, starts: IntArray, columns: IntArray, axes: IntArray) -> Array:
    """Compose rotations (T, J, 4) from channel values (T, C) in degrees.

    Joint j turns by values[:, columns[k]] about axes[k] for k from starts[j] to starts[j + 1] - 1, intrinsic.
    """
    out = np.empty((len(values), len(starts) - 1, 4))
    _compose(np.ascontiguousarray(values), starts, columns, axes, out)
    return out


def channels_to_quats_reference(values: Array, starts: IntArray, columns: IntArray, axes: IntArray) -> Array:
    """Compose the same, one quaternion product a channel."""
    out = identity_quat(len(values), len(starts) - 1)
    for joint in range(len(starts) - 1):
        for k in range(starts[joint], starts[joint + 1]):
            half = np.deg2rad(values[:, columns[k]]) / 2
            step = np.zeros((len(values), 4))
            step[:, axes[k]], step[:, 3] = np.sin(half), np.cos(half)
            out[:, joint] = quat_mul(out[:, joint], step)
    return out


def continuous_euler(rotations: Array, order: str) -> Array:
    """Return intrinsic Euler angles (T, J, 3) in degrees of unit quaternions (T, J, 4), continuous over time.

    The first frame takes the triple nearest to zero. Raises OptionError for an unknown order.
    """
    if not isinstance(order, str) or order.upper() not in EULER_ORDERS:
        raise OptionError(one_of("rotation order", order, (*EULER_ORDERS, "auto")))
    i, j, k = ("XYZ".index(letter) for letter in order.upper())
    out = np.empty((*rotations.shape[:2], 3))
    _decompose(np.ascontiguousarray(rotations), i, j, k, out)
    return out


def reframe_quats(before: Array, rotations: Array, after: Array) -> Array:
    """Return before[j] rotations[:, j] after[j] for rotations (T, J, 4) and constant frames (J, 4) on either side."""
    out = np.empty(rotations.shape)
    _reframe(before, np.ascontiguousarray(rotations), after, out)
    return out


def reframe_quats_reference(before: Array, rotations: Array, after: Array) -> Array:
    """Compute the same, as the formula reads."""
    return quat_mul(quat_mul(before, rotations), after)


@numba.njit(cache=True, error_model="numpy", nogil=True)
def _reframe(before, rotations, after, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Fill out (T, J, 4); before and after are (J, 4)."""
    for t in range(out.shape[0]):
        for j in range(out.shape[1]):
            ax, ay, az, aw = before[j, 0], before[j, 1], before[j, 2], before[j, 3]
            bx, by, bz, bw = rotations[t, j, 0], rotations[t, j, 1], rotations[t, j, 2], rotations[t, j, 3]
            x = aw * bx + ax * bw + ay * bz - az * by
            y = aw * by - ax * bz + ay * bw + az * bx
            z = aw * bz + ax * by - ay * bx + az * bw
            w = aw * bw - ax * bx - ay * by - az * bz
            bx, by, bz, bw = after[j, 0], after[j, 1], after[j, 2], after[j, 3]
            out[t, j, 0] = w * bx + x * bw + y * bz - z * by
            out[t, j, 1] = w * by - x * bz + y * bw + z * bx
            out[t, j, 2] = w * bz + x * by - y * bx + z * bw
            out[t, j, 3] = w * bw - x * bx - y * by - z * bz


@numba.njit(cache=True, error_model="numpy", nogil=True)
def _compose(values, starts, columns, axes, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Fill out (T, J, 4); inputs as in `channels_to_quats`."""
    sines, cosines = np.empty(values.shape[1]), np.empty(values.shape[1])
    for t in range(values.shape[0]):
        _half_angles(values[t], sines, cosines)
        for j in range(out.shape[1]):
            x, y, z, w = 0.0, 0.0, 0.0, 1.0
            for k in range(starts[j], starts[j + 1]):
                s, c = sines[columns[k]], cosines[columns[k]]
                axis = axes[k]
                if axis == 0:
                    x, y, z, w = x * c + w * s, y * c + z * s, z * c - y * s, w * c - x * s
                elif axis == 1:
                    x, y, z, w = x * c - z * s, y * c + w * s, z * c + x * s, w * c - y * s
                else:
                    x, y, z, w = x * c + y * s, y * c - x * s, z * c + w * s, w * c - z * s
            out[t, j, 0], out[t, j, 1], out[t, j, 2], out[t, j, 3] = x, y, z, w


@numba.njit(cache=True, error_model="numpy", nogil=True, fastmath={"contract"})
def _half_angles(degrees, sines, cosines):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Fill sine and cosine of half of each angle: Taylor series within half a turn, which compiles to vector code."""
    for n in range(degrees.size):
        turns = np.rint(degrees[n] / 360.0)
        half = (degrees[n] - 360.0 * turns) * (np.pi / 360.0)
        sign = 1.0 - 2.0 * abs(turns - 2.0 * np.rint(0.5 * turns))
        x = half * half
        sine, cosine = _SINE[-1], _COSINE[-1]
        for k in range(len(_SINE) - 2, -1, -1):
            sine = sine * x + _SINE[k]
            cosine = cosine * x + _COSINE[k]
        sines[n], cosines[n] = sine * half * sign, cosine * sign


@numba.njit(cache=True, error_model="numpy", nogil=True)
def _decompose(rotations, i, j, k, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Fill out (T, J, 3), degrees, for the axes i, j, k; rotations (T, J, 4) are unit quaternions."""
    turn, degree = 2.0 * np.pi, 180.0 / np.pi
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    joints = out.shape[1]
    last = np.zeros((joints, 3))
    for t in range(rotations.shape[0]):
        for n in range(joints):
            q = rotations[t, n]
            w, qi, qj, qk = q[3], q[i], q[j], sign * q[k]
            # rows and columns of the rotation matrix in the right-handed frame (i, j, sign k)
            sin_b = 2.0 * (qi * qk + qj * w)
            jk, kk = 2.0 * (qj * qk - qi * w), 1.0 - 2.0 * (qi * qi + qj * qj)
            ji, jj = 2.0 * (qi * qj + qk * w), 1.0 - 2.0 * (qi * qi + qk * qk)
            ki, kj = 2.0 * (qi * qk - qj * w), 2.0 * (qj * qk + qi * w)
            last_a, last_b, last_c = last[n, 0], last[n, 1], last[n, 2]
            cos_b = np.sqrt(jk * jk + kk * kk)
            if cos_b > _LOCKED_COSINE:
                a, sin_a, cos_a = np.arctan2(-jk, kk), -jk / cos_b, kk / cos_b
            else:
                a, sin_a, cos_a = last_a, np.sin(last_a), np.cos(last_a)
            b = np.arctan2(sin_b, cos_a * kk - sin_a * jk)
            c = sign * np.arctan2(cos_a * ji + sin_a * ki, cos_a * jj + sin_a * kj)
            best = np.inf
            for half_turns in range(2):  # the same rotation is a + pi, pi - b, c + pi
                if half_turns == 1:
                    a, b, c = a + np.pi, np.pi - b, c + np.pi
                a += turn * np.rint((last_a - a) / turn)
                b += turn * np.rint((last_b - b) / turn)
                c += turn * np.rint((last_c - c) / turn)
                cost = abs(a - last_a) + abs(b - last_b) + abs(c - last_c)
                if cost < best:
                    best = cost
                    last[n, 0], last[n, 1], last[n, 2] = a, b, c
            out[t, n, 0], out[t, n, 1], out[t, n, 2] = last[n, 0] * degree, last[n, 1] * degree, last[n, 2] * degree
