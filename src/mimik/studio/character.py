"""A character's own skin, ready to be drawn like the mannequin."""

from dataclasses import dataclass

import numpy as np

from mimik._types import Array, IntArray
from mimik.rig.rig import Rig
from mimik.rotation import quat_apply, quat_inv, quat_to_matrix
from mimik.studio.skinmesh import SkinMesh

SAME = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class JointBones:
    """Bones that are the rig's joints, bound by `inverse_bind` (J, 3, 4) from the mesh's frame to each joint's."""

    inverse_bind: Array

    def turns(self, q_world: Array, p_world: Array) -> tuple[Array, Array]:
        """Return the joints' world rotations (..., J, 4) and places (..., J, 3) as they are."""
        return q_world, p_world

    def bound(self) -> tuple[Array, Array]:
        """Return rotations (J, 4) and places (J, 3) of the joints where the mesh was bound, without any scale."""
        from scipy.spatial.transform import Rotation

        linear = self.inverse_bind[:, :, :3]
        u, _, vt = np.linalg.svd(linear)
        proper = u @ vt
        flip = np.linalg.det(proper) < 0.0
        u[flip, :, 2] *= -1.0
        q_inverse = Rotation.from_matrix(u @ vt).as_quat()
        place = np.asarray(
            -np.linalg.solve(linear + SAME * 1e-6 * np.eye(3), self.inverse_bind[:, :, 3:])[..., 0], dtype=np.float64
        )
        return quat_inv(q_inverse), place

    def matrices(self, q_world: Array, p_world: Array) -> Array:
        """Return (..., J, 3, 4) maps of bound points to where the joints carry them."""
        rotation = quat_to_matrix(q_world)
        linear = rotation @ self.inverse_bind[:, :, :3]
        shift = quat_apply(q_world, self.inverse_bind[:, :, 3]) + p_world
        return np.concatenate([linear, shift[..., None]], axis=-1)


def character_mesh(rig: Rig) -> SkinMesh | None:
    """Return the skin a rig brings along; None where it has none."""
    skin = rig.skin
    if skin is None or not len(skin.faces):
        return None
    scale, bind = _unscaled(skin.inverse_bind)
    kept, faces = _welded(skin.vertices, skin.faces)
    count = len(kept)
    colors = None if skin.colours is None else np.clip(skin.colours[kept, :3], 0.0, 1.0)
    if colors is not None and np.ptp(colors, axis=0).max() < SAME:
        colors = None  # one colour all over is what exporters write for none
    return SkinMesh(
        np.ascontiguousarray(skin.vertices[kept] * scale), faces, skin.joints[kept], skin.weights[kept],
        np.ones(count), np.full(count, -1.0), JointBones(bind), colors, not _closed(faces),
    )  # fmt: skip


def _welded(vertices: Array, faces: IntArray) -> tuple[IntArray, IntArray]:
    """Join vertices in one place, which files split along texture seams; return those kept and the faces on them."""
    _, kept, joined = np.unique(np.round(vertices, 6), axis=0, return_index=True, return_inverse=True)
    faces = joined.reshape(-1)[faces]
    flat = (faces[:, 0] == faces[:, 1]) | (faces[:, 1] == faces[:, 2]) | (faces[:, 2] == faces[:, 0])
    return kept, np.ascontiguousarray(faces[~flat])


def _unscaled(inverse_bind: Array) -> tuple[float, Array]:
    """Take a scale common to all joints out of the bind matrices, so that it can be given to the vertices."""
    factors = np.abs(np.linalg.det(inverse_bind[:, :3, :3])) ** (1 / 3)
    bind = inverse_bind[:, :3, :].copy()
    scale = float(np.median(factors)) if len(factors) else 1.0
    if scale <= 1e-9 or np.abs(factors - scale).max() > 1e-4 * scale:
        return 1.0, bind
    bind[:, :, :3] /= scale
    return scale, bind


def _closed(faces: IntArray) -> bool:
    """Say whether every edge is shared by two faces that run along it in opposite directions."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    keys = edges[:, 0] * (faces.max() + 1) + edges[:, 1]
    back = edges[:, 1] * (faces.max() + 1) + edges[:, 0]
    return bool(np.isin(keys, back).all())
