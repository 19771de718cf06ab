"""From the network's 6D output to role rotations, one pass over the numbers."""

import math

import numba
import numpy as np
import numpy.typing as npt

from mimik._types import Array
from mimik.rotation import matrix_to_quat, sixd_to_matrix


@numba.njit(cache=True, fastmath=False)
def sixd_to_roles(sixd: npt.NDArray[np.float32], frames: Array, q: Array) -> None:
    """Fill q (T, J, 4) with D_world = R B^T: R the Gram-Schmidt basis of sixd (T, J, 6), B of frames (J, 3, 3)."""
    for t in range(sixd.shape[0]):
        for j in range(sixd.shape[1]):
            ax, ay, az = float(sixd[t, j, 0]), float(sixd[t, j, 1]), float(sixd[t, j, 2])
            length = 1.0 / max(math.sqrt(ax * ax + ay * ay + az * az), 1e-12)
            ax, ay, az = ax * length, ay * length, az * length
            bx, by, bz = float(sixd[t, j, 3]), float(sixd[t, j, 4]), float(sixd[t, j, 5])
            dot = ax * bx + ay * by + az * bz
            bx, by, bz = bx - dot * ax, by - dot * ay, bz - dot * az
            length = 1.0 / max(math.sqrt(bx * bx + by * by + bz * bz), 1e-12)
            bx, by, bz = bx * length, by * length, bz * length
            cx, cy, cz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
            f = frames[j]
            m00 = ax * f[0, 0] + bx * f[0, 1] + cx * f[0, 2]
            m01 = ax * f[1, 0] + bx * f[1, 1] + cx * f[1, 2]
            m02 = ax * f[2, 0] + bx * f[2, 1] + cx * f[2, 2]
            m10 = ay * f[0, 0] + by * f[0, 1] + cy * f[0, 2]
            m11 = ay * f[1, 0] + by * f[1, 1] + cy * f[1, 2]
            m12 = ay * f[2, 0] + by * f[2, 1] + cy * f[2, 2]
            m20 = az * f[0, 0] + bz * f[0, 1] + cz * f[0, 2]
            m21 = az * f[1, 0] + bz * f[1, 1] + cz * f[1, 2]
            m22 = az * f[2, 0] + bz * f[2, 1] + cz * f[2, 2]
            # four times the squared components; the largest is at least 1, so dividing by its root is safe
            xx, yy, zz = 1.0 + m00 - m11 - m22, 1.0 - m00 + m11 - m22, 1.0 - m00 - m11 + m22
            ww = 1.0 + m00 + m11 + m22
            if ww >= max(xx, yy, zz):
                x, y, z, w = m21 - m12, m02 - m20, m10 - m01, ww
            elif xx >= max(yy, zz):
                x, y, z, w = xx, m01 + m10, m02 + m20, m21 - m12
            elif yy >= zz:
                x, y, z, w = m01 + m10, yy, m12 + m21, m02 - m20
            else:
                x, y, z, w = m02 + m20, m12 + m21, zz, m10 - m01
            scale = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
            q[t, j, 0], q[t, j, 1], q[t, j, 2], q[t, j, 3] = x * scale, y * scale, z * scale, w * scale


def sixd_to_roles_readable(sixd: Array, frames: Array) -> Array:
    """Return what `sixd_to_roles` fills, up to sign: quaternions (T, J, 4) of R B^T."""
    return matrix_to_quat(sixd_to_matrix(sixd) @ np.swapaxes(frames, -1, -2))
