"""One figure in the browser: skinned meshes, dots, names and axes, moved by one call a frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from mimik._types import Array, IntArray
from mimik.studio.actor import Actor
from mimik.studio.skinmesh import SkinMesh
from mimik.studio.theme import Theme

NONE = np.zeros((0, 3))


def wxyz(q: Array) -> Array:
    """Return quaternions `x y z w` (..., 4) in the viewer's order `w x y z`."""
    return np.roll(q, 1, axis=-1)


def rgb(color: str) -> tuple[int, int, int]:
    """Return '#rrggbb' as three bytes."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


class ViewerFigure:
    """The scene nodes of one actor. All methods are called from the drawing loop only."""

    def __init__(self, server: Any, actor: Actor, rank: int, node: str, theme: Theme) -> None:
        self.actor, self.rank, self.node, self.scene = actor, rank, node, server.scene
        self.root = self.scene.add_frame(node, show_axes=False)
        self.meshes: list[Any] = []
        self.ghosts: list[Any] = []
        self.labels: list[Any] = []
        self.axes: Any = None
        self.ghost_count = 0
        self.dots: Any = None
        self.errors: Any = None
        if actor.mesh is not None:
            self.meshes = self._add_body(f"{node}/body", theme, opacity=None)
        if actor.points.size:
            color = rgb(theme.dots[rank % len(theme.dots)])
            self.dots = self.scene.add_point_cloud(
                f"{node}/dots", NONE.astype(np.float32), color, point_size=0.016, point_shape="circle",
                precision="float32", point_shading="gradient",
            )  # fmt: skip

    def place(self, offset: Array) -> None:
        """Stand the figure at `offset` (3,) from where its data put it."""
        self.root.position = offset

    def show(self, seconds: float) -> None:
        """Take the pose of a moment."""
        if self.actor.mesh is not None:
            q_joint, p_joint = self.actor.joints_at(seconds)
            self._pose(self.meshes, q_joint, p_joint)
            if self.axes is not None:
                self.axes.batched_wxyzs, self.axes.batched_positions = wxyz(q_joint), p_joint
            for label, place in zip(self.labels, p_joint):
                label.position = place
        if self.dots is not None:
            points = self.actor.points_at(seconds)
            self.dots.points = points[np.isfinite(points).all(axis=1)].astype(np.float32)

    def show_errors(self, joints: IntArray, colors: Array | None, seconds: float) -> None:
        """Mark joints (N,) with coloured dots (N, 3) bytes; none with None."""
        if colors is None:
            if self.errors is not None:
                self.errors.visible = False
            return
        places = self.actor.joints_at(seconds)[1][joints].astype(np.float32)
        if self.errors is None:
            self.errors = self.scene.add_point_cloud(
                f"{self.node}/errors", places, colors, point_size=0.04, point_shape="circle", precision="float32"
            )
        self.errors.points, self.errors.colors, self.errors.visible = places, colors, True

    def set_names(self, on: bool) -> None:
        """Show or hide joint names."""
        for label in self.labels:
            label.remove()
        self.labels = []
        if on and self.actor.rig is not None:
            self.labels = [
                self.scene.add_label(f"{self.node}/names/{j}", name, font_screen_scale=0.75)
                for j, name in enumerate(self.actor.rig.names)
            ]

    def set_axes(self, on: bool) -> None:
        """Show or hide each joint's axes: X red, Y green, Z blue."""
        if self.axes is not None:
            self.axes.remove()
        self.axes = None
        if on and self.actor.rig is not None:
            q, p = self.actor.joints_at(0.0)
            self.axes = self.scene.add_batched_axes(
                f"{self.node}/axes", wxyz(q), p, axes_length=0.07, axes_radius=0.004
            )

    def set_ghosts(self, count: int, theme: Theme) -> None:
        """Show `count` pale copies spread over the clip."""
        for mesh in self.ghosts:
            mesh.remove()
        self.ghosts = []
        if self.actor.mesh is None:
            return
        for n, seconds in enumerate(np.linspace(0.0, self.actor.duration, count) if count else []):
            meshes = self._add_body(f"{self.node}/ghost{n}", theme, opacity=0.16)
            self._pose(meshes, *self.actor.joints_at(float(seconds)))
            self.ghosts += meshes

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        for mesh, color in zip(self.meshes, self._colors(theme)):
            mesh.color = color

    def _colors(self, theme: Theme) -> list[tuple[int, int, int]]:
        rank = self.rank % len(theme.bodies)
        return [rgb(theme.bodies[rank]), rgb(theme.accents[rank])]

    def _add_body(self, node: str, theme: Theme, opacity: float | None) -> list[Any]:
        mesh = self.actor.mesh
        assert mesh is not None
        q, p = mesh.bones.bound()
        handles = []
        for n, (part, color) in enumerate(zip(split_by_tint(mesh), self._colors(theme))):
            vertices, faces, weights = part
            if len(faces):
                handles.append(
                    self.scene.add_mesh_skinned(
                        f"{node}{n}", vertices, faces, bone_wxyzs=wxyz(q), bone_positions=p, skin_weights=weights,
                        color=color, opacity=opacity, side="double" if mesh.open else "front",
                        cast_shadow=opacity is None, receive_shadow=opacity is None,
                    )
                )  # fmt: skip
        return handles

    def _pose(self, meshes: list[Any], q_joint: Array, p_joint: Array) -> None:
        assert self.actor.mesh is not None
        q, p = self.actor.mesh.bones.turns(q_joint, p_joint)
        q = wxyz(q)
        for mesh in meshes:
            for bone, rotation, place in zip(mesh.bones, q, p):
                bone.wxyz, bone.position = rotation, place


def split_by_tint(mesh: SkinMesh) -> list[tuple[Array, IntArray, Array]]:
    """Cut a mesh along the edge of its accent colour; return (vertices, faces, dense weights (V, B)) of both sides.

    Faces the edge crosses are cut in two places, so that the edge is as smooth as in rendered pictures.
    """
    dense = np.zeros((len(mesh.vertices), len(mesh.bones.bound()[1])), dtype=np.float32)
    np.add.at(dense, (np.arange(len(dense))[:, None], mesh.index), mesh.weights.astype(np.float32))
    tint = np.where(np.abs(mesh.tint) < 1e-3, 1e-3, mesh.tint)
    rows = np.column_stack([mesh.vertices, dense])
    inside = tint[mesh.faces] > 0.0
    count = inside.sum(axis=1)
    extra: list[Array] = []
    sides: dict[bool, list[tuple[int, int, int]]] = {False: [], True: []}

    def cut(i: int, j: int) -> int:
        share = tint[i] / (tint[i] - tint[j])
        extra.append(rows[i] + share * (rows[j] - rows[i]))
        return len(rows) + len(extra) - 1

    for face, within in zip(mesh.faces[(count > 0) & (count < 3)], inside[(count > 0) & (count < 3)]):
        lone = int(np.flatnonzero(within == (within.sum() == 1))[0])
        a, b, c = (int(face[(lone + k) % 3]) for k in range(3))
        ab, ac = cut(a, b), cut(a, c)
        sides[bool(within[lone])].append((a, ab, ac))
        sides[not within[lone]] += [(ab, b, c), (ab, c, ac)]
    rows = np.concatenate([rows, np.array(extra).reshape(-1, rows.shape[1])])
    parts = []
    for accent, whole in ((False, 0), (True, 3)):
        faces = np.concatenate([mesh.faces[count == whole], np.array(sides[accent], dtype=np.int64).reshape(-1, 3)])
        used, faces = np.unique(faces, return_inverse=True)
        parts.append((rows[used, :3], faces.reshape(-1, 3), rows[used, 3:]))
    return parts
