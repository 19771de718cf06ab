"""The camera of pictures: where it stands, and how it is placed so that a whole figure or clip fills the frame."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from mimik._types import Array
from mimik.errors import OptionError, one_of

View = Literal["hero", "front", "side", "back", "top"]
AZIMUTH_DEG: dict[str, tuple[float, float]] = {
    "hero": (32.0, 9.0), "front": (0.0, 5.0), "side": (90.0, 5.0), "back": (180.0, 6.0), "top": (0.0, 78.0),
}  # fmt: skip
"""Angle of the camera round the figure from its front toward its left side, and its height above the horizon."""

UP = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """A pinhole camera. `eye` and `target` in metres, `fov` the vertical angle of view in radians, size in pixels."""

    eye: Array
    target: Array
    width: int
    height: int
    fov: float = 0.48

    @property
    def axes(self) -> Array:
        """Rows right, up, forward of the camera in the world (3, 3)."""
        forward = self.target - self.eye
        forward = forward / np.linalg.norm(forward)
        right = np.cross(forward, UP)
        if np.linalg.norm(right) < 1e-6:
            right = np.array([1.0, 0.0, 0.0])
        right = right / np.linalg.norm(right)
        return np.array([right, np.cross(right, forward), forward])

    @property
    def focal(self) -> float:
        """Focal length in pixels."""
        return 0.5 * self.height / float(np.tan(0.5 * self.fov))

    def project(self, points: Array) -> Array:
        """Return pixel column, pixel row and depth in metres (..., 3) of points (..., 3)."""
        local = (points - self.eye) @ self.axes.T
        depth = np.maximum(local[..., 2], 1e-6)
        column = 0.5 * self.width + self.focal * local[..., 0] / depth
        row = 0.5 * self.height - self.focal * local[..., 1] / depth
        return np.stack([column, row, local[..., 2]], axis=-1)

    def scaled(self, factor: int) -> "Camera":
        """Return the camera with a picture `factor` times as large."""
        return replace(self, width=self.width * factor, height=self.height * factor)

    def moved(self, shift: Array) -> "Camera":
        """Return the camera carried along by `shift` (3,)."""
        return replace(self, eye=self.eye + shift, target=self.target + shift)


def view_direction(view: str, facing: float = 0.0) -> Array:
    """Return the unit direction from figure to camera in a named view; the figure faces `facing` radians from +Z to +X.

    Raises OptionError for an unknown view.
    """
    if view not in AZIMUTH_DEG:
        raise OptionError(one_of("view", view, get_args(View)))
    azimuth, height = np.radians(AZIMUTH_DEG[view])
    azimuth += facing
    return np.array([np.sin(azimuth) * np.cos(height), np.sin(height), np.cos(azimuth) * np.cos(height)])


def fit_camera(
    points: Array, direction: Array, width: int, height: int, *, fov: float = 0.48, margin: float = 0.09
) -> Camera:
    """Return the camera looking along -`direction` that holds all points (N, 3) with a free border of `margin`."""
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        points = np.zeros((1, 3))
    centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
    axes = Camera(centre + direction, centre, width, height, fov).axes
    local = (points - centre) @ axes.T
    tan_y = np.tan(0.5 * fov) * (1.0 - margin)
    tan_x = np.tan(0.5 * fov) * width / height * (1.0 - margin)
    shift, distance = np.zeros(2), 0.4
    for _ in range(12):
        x, y = local[:, 0] - shift[0], local[:, 1] - shift[1]
        distance = max(float(np.max(np.maximum(np.abs(x) / tan_x, np.abs(y) / tan_y) - local[:, 2])), 0.4)
        depth = distance + local[:, 2]
        for axis, offset in ((0, x), (1, y)):
            ratio = offset / depth
            shift[axis] += 0.5 * (ratio.max() + ratio.min()) * distance
    target = centre + shift[0] * axes[0] + shift[1] * axes[1]
    return Camera(target - distance * axes[2], target, width, height, fov)
