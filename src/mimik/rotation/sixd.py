"""Rotation matrices from two vectors: the continuous 6D representation, and the best rotation between point sets."""

import numpy as np

from mimik._types import Array, ArrayLike


def matrix_to_sixd(matrix: ArrayLike) -> Array:
    """Return the first two columns of rotation matrices (..., 3, 3) as (..., 6)."""
    m = np.asarray(matrix, dtype=np.float64)
    return np.concatenate([m[..., :, 0], m[..., :, 1]], axis=-1)


def sixd_to_matrix(sixd: ArrayLike) -> Array:
    """Gram-Schmidt (..., 6) to rotation matrices; vectors that are zero or parallel give some right-handed frame."""
    d = np.asarray(sixd, dtype=np.float64)
    x = _unit(d[..., :3], fallback=np.array([1.0, 0.0, 0.0]))
    y = d[..., 3:] - np.sum(x * d[..., 3:], axis=-1, keepdims=True) * x
    helper = np.eye(3)[np.argmin(np.abs(x), axis=-1)]
    fallback = _unit(np.cross(x, helper), fallback=np.array([0.0, 1.0, 0.0]))
    y = _unit(y, fallback=fallback)
    return np.stack([x, y, np.cross(x, y)], axis=-1)


def procrustes(source: ArrayLike, target: ArrayLike, weights: ArrayLike | None = None) -> Array:
    """Return the rotation (..., 3, 3) that best turns vectors `source` (..., N, 3) onto `target`, determinant +1."""
    a, b = np.asarray(source, dtype=np.float64), np.asarray(target, dtype=np.float64)
    w = np.ones(a.shape[:-1]) if weights is None else np.asarray(weights, dtype=np.float64)
    u, _, vt = np.linalg.svd(np.einsum("...n,...ni,...nj->...ij", w, b, a))
    sign = np.sign(np.linalg.det(u @ vt))
    u = u.copy()
    u[..., :, 2] *= np.where(sign == 0.0, 1.0, sign)[..., None]
    return np.asarray(u @ vt)


def _unit(v: Array, *, fallback: Array) -> Array:
    norm = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.where(norm > 1e-12, v / np.where(norm > 1e-12, norm, 1.0), fallback)
