"""The stage: floor, lamps and camera, on which posed meshes are painted into a picture."""

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mimik._types import Array, IntArray
from mimik.studio import raster
from mimik.studio.camera import UP, Camera
from mimik.studio.skinmesh import vertex_normals
from mimik.studio.theme import Theme, linear

Buffer: TypeAlias = npt.NDArray[np.float32]
Image: TypeAlias = npt.NDArray[np.uint8]

SAMPLES = 2
SHADOW_SIZE = 640
CONTACT_CELL = 0.03
SRGB = raster.srgb_table()


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A posed mesh: vertices (V, 3) in metres, faces (F, 3), colours (V, 3) in linear light, opacity 0 to 1.

    Where `tint` (V,) is above 0, colours are multiplied by `accent` (3,). An `open` mesh is drawn from both sides.
    """

    vertices: Array
    faces: IntArray
    colors: Array
    tint: Array
    accent: Array
    opacity: float = 1.0
    open: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Dots:
    """Points (N, 3), metres, rows with NaN left out, drawn as balls of one '#rrggbb' colour."""

    points: Array
    color: str
    radius: float = 0.016


@dataclass(slots=True)
class Stage:
    """Paints pictures with one camera. The empty floor is painted once and kept."""

    camera: Camera
    theme: Theme
    floor: float = 0.0
    radius: float = 3.0
    _empty: tuple[Buffer, Buffer] | None = field(default=None, repr=False)

    def paint(self, solids: list[Solid], dots: list[Dots]) -> Image:
        """Return the picture (H, W, 3) of meshes and dots on the floor."""
        camera = self.camera.scaled(SAMPLES)
        background, places = self._background(camera)
        image = background.copy()
        solid = [s for s in solids if s.opacity >= 1.0]
        shadow = _Shadow.of(solid, camera, self.floor)
        depth = np.full((camera.height, camera.width), raster.FAR, dtype=np.float32)
        contact, contact_low = _contact(solid, self.floor)
        raster.shadow_floor(
            places, depth, self.floor, *shadow.grid, contact, contact_low, CONTACT_CELL, linear(self.theme.shadow),
            self.theme.shadow_strength, image,
        )  # fmt: skip
        for ghost in sorted((s for s in solids if s.opacity < 1.0), key=lambda s: s.opacity):
            self._draw([ghost], camera, shadow, image, ghost.opacity)
        depth = self._draw(solid, camera, shadow, image, 1.0)
        for some in dots:
            points = some.points[np.isfinite(some.points).all(axis=1)]
            order = np.argsort(-camera.project(points)[:, 2])
            colors = np.tile(linear(some.color), (len(points), 1))
            raster.draw_dots(points[order], colors, some.radius, camera.eye, camera.axes, camera.focal, depth, image)
        out = np.empty((self.camera.height, self.camera.width, 3), dtype=np.uint8)
        raster.resolve(image, SAMPLES, SRGB, out)
        return out

    def _background(self, camera: Camera) -> tuple[Buffer, Buffer]:
        if self._empty is None:
            image = np.empty((camera.height, camera.width, 3), dtype=np.float32)
            places = np.empty_like(image)
            t = self.theme
            raster.draw_floor(
                camera.eye, camera.axes, camera.focal, self.floor, camera.target, self.radius,
                linear(t.line), linear(t.ground), linear(t.sky), linear(t.sky_top), image, places,
            )  # fmt: skip
            self._empty = image, places
        return self._empty

    def _draw(self, solids: list[Solid], camera: Camera, shadow: "_Shadow", image: Buffer, opacity: float) -> Buffer:
        depth = np.full((camera.height, camera.width), raster.FAR, dtype=np.float32)
        surface = np.zeros((camera.height, camera.width, 6), dtype=np.float32)
        for s in solids:
            normals = vertex_normals(s.vertices, s.faces)
            raster.draw_triangles(
                s.vertices, normals, s.colors, s.tint, s.accent, s.faces,
                camera.eye, camera.axes, camera.focal, s.open, depth, surface,
            )  # fmt: skip
        raster.shade_surface(
            depth, surface, camera.eye, camera.axes, camera.focal, *shadow.grid, self.theme.lamps, _aims(camera),
            self.floor, opacity, image,
        )  # fmt: skip
        return depth


@dataclass(frozen=True, slots=True, eq=False)
class _Shadow:
    """The grid of places nearest to the main light, and where it lies."""

    grid: tuple[Buffer, Array, Array, float]

    @classmethod
    def of(cls, solids: list[Solid], camera: Camera, floor: float) -> "_Shadow":
        light = _key_light(camera)
        heights = np.full((SHADOW_SIZE, SHADOW_SIZE), -1e9, dtype=np.float32)
        if not solids:
            return cls((heights, light, np.zeros(2), 1.0))
        corners = np.concatenate([s.vertices[::7] for s in solids])
        corners = np.concatenate([corners, corners - light[2] * ((corners[:, 1:2] - floor) / light[2, 1])])
        across = corners @ light[:2].T
        low, high = across.min(axis=0) - 0.1, across.max(axis=0) + 0.1
        texel = max(float((high - low).max()) / (SHADOW_SIZE - 8), 0.004)
        for s in solids:
            raster.draw_shadow(s.vertices, s.faces, light, low, texel, heights)
        return cls((heights, light, low, texel))


def _key_light(camera: Camera) -> Array:
    """Return rows across, across, toward the main light: high, from the camera's left."""
    right, _, forward = camera.axes
    flat = np.cross(UP, right)
    toward = -0.55 * right + 0.95 * UP + 0.62 * flat * -np.sign(flat @ forward or 1.0)
    toward = toward / np.linalg.norm(toward)
    across = np.cross(UP, toward)
    across = across / np.linalg.norm(across)
    return np.array([across, np.cross(toward, across), toward])


def _aims(camera: Camera) -> Array:
    """Return directions toward the fill lamp (right of the camera) and the rim lamp (behind the figure)."""
    right, _, forward = camera.axes
    fill, rim = 0.8 * right + 0.25 * UP - 0.5 * forward, 0.5 * right + 0.5 * UP + 0.8 * forward
    return np.array([fill / np.linalg.norm(fill), rim / np.linalg.norm(rim)])


def _contact(solids: list[Solid], floor: float) -> tuple[Array, Array]:
    """Return a soft map, 0 to 1, of where figures stand on or near the floor, and its corner."""
    if not solids:
        return np.zeros((2, 2)), np.zeros(2)
    low = np.min([s.vertices.min(axis=0) for s in solids], axis=0)[[0, 2]] - 0.3
    high = np.max([s.vertices.max(axis=0) for s in solids], axis=0)[[0, 2]] + 0.3
    columns, rows = np.minimum(np.ceil((high - low) / CONTACT_CELL).astype(int) + 1, 2000)
    grid = np.zeros((rows, columns))
    for s in solids:
        raster.floor_contact(s.vertices, floor, low, CONTACT_CELL, grid)
    for _ in range(3):
        for axis in (0, 1):
            grid = (np.roll(grid, 1, axis) + grid + np.roll(grid, -1, axis)) / 3.0
    return 1.0 - np.exp(-0.10 * grid), low
