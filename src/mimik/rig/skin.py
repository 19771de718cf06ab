"""The skin: a character's mesh and how its joints carry it (linear blend skinning)."""

from dataclasses import dataclass

import numpy as np

from mimik._types import Array, IntArray, frozen_array, frozen_indices
from mimik.errors import RigError
from mimik.rotation import quat_apply, quat_to_matrix


@dataclass(frozen=True, slots=True, eq=False)
class Skin:
    """A triangle mesh bound to the joints of one rig. Metres, Y up.

    vertices      (V, 3) in the pose the mesh was bound in (the rig's rest, unless the file was bound elsewhere)
    faces         (F, 3) vertex indices, counter-clockwise seen from outside
    joints        (V, K) joint indices of the rig; unused influences are joint 0 with weight 0
    weights       (V, K) their weights, adding up to 1
    inverse_bind  (J, 4, 4) from the mesh's frame to each joint's frame where it was bound
    colours       (V, 4) red, green, blue, alpha from 0 to 1, linear as in glTF, or None
    name          what the mesh is called in its file
    """

    vertices: Array
    faces: IntArray
    joints: IntArray
    weights: Array
    inverse_bind: Array
    colours: Array | None = None
    name: str = ""

    def __post_init__(self) -> None:
        """Check shapes and indices, scale the weights to sum 1 and freeze the arrays."""
        vertices, weights = np.asarray(self.vertices, dtype=np.float64), np.asarray(self.weights, dtype=np.float64)
        faces, joints = np.asarray(self.faces, dtype=np.int64), np.asarray(self.joints, dtype=np.int64)
        bind, count = np.asarray(self.inverse_bind, dtype=np.float64), len(vertices)
        if vertices.shape != (count, 3) or faces.ndim != 2 or faces.shape[1] != 3:
            raise RigError(f"a skin needs vertices (V, 3) and faces (F, 3), not {vertices.shape} and {faces.shape}")
        if joints.ndim != 2 or joints.shape[0] != count or joints.shape != weights.shape:
            raise RigError(f"joints {joints.shape} and weights {weights.shape} must both be ({count}, K)")
        if bind.ndim != 3 or bind.shape[1:] != (4, 4):
            raise RigError(f"inverse_bind must be (J, 4, 4), not {bind.shape}")
        _check_range("face", faces, count)
        _check_range("joint", joints, len(bind))
        if not (np.isfinite(vertices).all() and np.isfinite(weights).all() and np.isfinite(bind).all()):
            raise RigError("a skin holds numbers that are not finite")
        total = weights.sum(axis=1, keepdims=True)
        if count and (weights.min() < 0.0 or total.min() <= 0.0):
            raise RigError(f"vertex {int(np.argmin(total))} of a skin has no positive weight, or a negative one")
        set_field = object.__setattr__
        set_field(self, "vertices", frozen_array(vertices))
        set_field(self, "faces", frozen_indices(faces))
        set_field(self, "joints", frozen_indices(joints))
        set_field(self, "weights", frozen_array(weights / np.where(total > 0.0, total, 1.0)))
        set_field(self, "inverse_bind", frozen_array(bind))
        if self.colours is not None:
            if np.shape(self.colours) != (count, 4):
                raise RigError(f"colours must be ({count}, 4), not {np.shape(self.colours)}")
            set_field(self, "colours", frozen_array(self.colours))

    def posed(self, q_world: Array, p_world: Array) -> Array:
        """Return vertices (..., V, 3) carried by joints with world rotations (..., J, 4) and positions (..., J, 3)."""
        linear = quat_to_matrix(q_world) @ self.inverse_bind[:, :3, :3]  # (..., J, 3, 3)
        shift = quat_apply(q_world, self.inverse_bind[:, :3, 3]) + p_world  # (..., J, 3)
        out = np.zeros((*q_world.shape[:-2], len(self.vertices), 3))
        for k in range(self.joints.shape[1]):
            carried = (linear[..., self.joints[:, k], :, :] @ self.vertices[:, :, None])[..., 0]
            out += self.weights[:, k, None] * (carried + shift[..., self.joints[:, k], :])
        return out

    def normals(self) -> Array:
        """Return unit vertex normals (V, 3) of the bound mesh; vertices of no face look up."""
        a, b, c = (self.vertices[self.faces[:, k]] for k in range(3))
        across = np.cross(b - a, c - a)
        total = np.zeros_like(self.vertices)
        for k in range(3):
            np.add.at(total, self.faces[:, k], across)
        length = np.linalg.norm(total, axis=1, keepdims=True)
        return np.where(length > 1e-20, total / np.where(length > 1e-20, length, 1.0), [0.0, 1.0, 0.0])


def _check_range(what: str, indices: IntArray, count: int) -> None:
    if indices.size and (indices.min() < 0 or indices.max() >= count):
        raise RigError(f"a skin's {what} index is {int(indices.max())}; valid are 0 to {count - 1}")
