"""A triangle mesh that hangs on bones: linear blend skinning and vertex normals, compiled."""

from dataclasses import dataclass
from typing import Protocol

import numba as nb
import numpy as np

from mimik._types import Array, IntArray

INFLUENCES = 4


class Binding(Protocol):
    """Bones a mesh hangs on: how they stood when it was bound, and how they stand now."""

    def bound(self) -> tuple[Array, Array]:
        """Return rotations (B, 4) and places (B, 3) of the bones when the mesh was bound."""

    def turns(self, q_world: Array, p_world: Array) -> tuple[Array, Array]:
        """Return rotations (..., B, 4) and places (..., B, 3) of the bones for joints (..., J, 4), (..., J, 3) now."""

    def matrices(self, q_world: Array, p_world: Array) -> Array:
        """Return maps (..., B, 3, 4) of points of the bound mesh to where each bone carries them now."""


@dataclass(frozen=True, slots=True, eq=False)
class SkinMesh:
    """A surface on bones.

    vertices  (V, 3) in the bind pose, metres    faces   (F, 3) counter-clockwise seen from outside
    index     (V, 4) bones, weights (V, 4) sum to one
    shade     (V,) openness 0 to 1, darkens creases
    tint      (V,) above 0 in the accent colour, -1 to 1 across its edge
    colors    (V, 3) linear light, where the mesh has its own    open  it is not closed: both sides are drawn
    """

    vertices: Array
    faces: IntArray
    index: IntArray
    weights: Array
    shade: Array
    tint: Array
    bones: Binding
    colors: Array | None = None
    open: bool = False

    def paint(self, body: Array) -> Array:
        """Return vertex colours (V, 3): the mesh's own, or the body colour (3,); creases darkened."""
        plain = body if self.colors is None else self.colors
        return np.ascontiguousarray(plain * (0.35 + 0.65 * self.shade[:, None]))

    def thinned(self, step: int) -> "SkinMesh":
        """Return the cloud of every `step`-th vertex, without faces, for measuring quickly."""
        some = slice(None, None, step)
        none = np.empty((0, 3), dtype=np.int64)
        colors = None if self.colors is None else self.colors[some]
        return SkinMesh(
            np.ascontiguousarray(self.vertices[some]), none, np.ascontiguousarray(self.index[some]),
            np.ascontiguousarray(self.weights[some]), self.shade[some], self.tint[some], self.bones, colors,
        )  # fmt: skip

    def pose(self, q_world: Array, p_world: Array) -> Array:
        """Return vertices (..., V, 3) for joints at q_world (..., J, 4), p_world (..., J, 3)."""
        matrices = self.bones.matrices(q_world, p_world)
        batch = matrices.shape[:-3]
        flat = np.ascontiguousarray(matrices.reshape(-1, *matrices.shape[-3:]))
        out = np.empty((len(flat), *self.vertices.shape))
        for n in range(len(flat)):
            _skin(self.vertices, self.index, self.weights, flat[n], out[n])
        return out.reshape(*batch, *self.vertices.shape)

    def pose_reference(self, q_world: Array, p_world: Array) -> Array:
        """Compute the same for one pose, as the formula reads: sum over bones of weight times moved vertex."""
        matrices = self.bones.matrices(q_world, p_world)
        moved = np.einsum("vkij,vj->vki", matrices[self.index][..., :3], self.vertices) + matrices[self.index][..., 3]
        return np.asarray(np.einsum("vk,vki->vi", self.weights, moved))


def vertex_normals(vertices: Array, faces: IntArray) -> Array:
    """Return unit normals (V, 3), the mean of the faces round each vertex by area; up where a vertex has none."""
    normals = np.empty_like(vertices)
    _normals(vertices, faces, normals)
    return normals


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def _skin(vertices: Array, index: IntArray, weights: Array, matrices: Array, out: Array) -> None:
    for v in range(len(vertices)):
        x, y, z = vertices[v, 0], vertices[v, 1], vertices[v, 2]
        a, b, c = 0.0, 0.0, 0.0
        for k in range(index.shape[1]):
            w = weights[v, k]
            if w > 0.0:
                m = matrices[index[v, k]]
                a += w * (m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + m[0, 3])
                b += w * (m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + m[1, 3])
                c += w * (m[2, 0] * x + m[2, 1] * y + m[2, 2] * z + m[2, 3])
        out[v, 0], out[v, 1], out[v, 2] = a, b, c


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def _normals(vertices: Array, faces: IntArray, normals: Array) -> None:
    normals[:] = 0.0
    for f in range(len(faces)):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        ax, ay, az = vertices[j, 0] - vertices[i, 0], vertices[j, 1] - vertices[i, 1], vertices[j, 2] - vertices[i, 2]
        bx, by, bz = vertices[k, 0] - vertices[i, 0], vertices[k, 1] - vertices[i, 1], vertices[k, 2] - vertices[i, 2]
        nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        for v in (i, j, k):
            normals[v, 0] += nx
            normals[v, 1] += ny
            normals[v, 2] += nz
    for v in range(len(normals)):
        length = np.sqrt(normals[v, 0] ** 2 + normals[v, 1] ** 2 + normals[v, 2] ** 2)
        if length > 1e-20:
            normals[v] /= length
        else:
            normals[v, 0], normals[v, 1], normals[v, 2] = 0.0, 1.0, 0.0
