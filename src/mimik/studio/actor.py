"""Actors: what stands on the stage. A clip, a rig in its T-pose, or bare keypoints, at any moment in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from mimik._types import Array
from mimik.errors import OptionError
from mimik.goals.keypoints import Keypoints
from mimik.motion.clip import Clip
from mimik.rig.rig import Rig
from mimik.rotation import quat_normalize
from mimik.studio.mannequin import body_of
from mimik.studio.skinmesh import SkinMesh

Subject: TypeAlias = Clip | Rig | Keypoints
PREVIEW_FRAMES = 40
PREVIEW_POINTS = 1200
STRETCH = 0.01
"""Metres by which a motion may move joints from their places before the body is fitted to the motion instead."""


@dataclass(frozen=True, slots=True, eq=False)
class Actor:
    """One figure or cloud of points over time, in world metres.

    mesh         its body, None for bare points
    q, p         (T, J, 4), (T, J, 3) world joints of a figure
    points       (T, K, 3) keypoints shown with or as it, NaN where unseen; of their own rate `points_fps`
    """

    name: str
    fps: float
    mesh: SkinMesh | None
    q: Array
    p: Array
    points: Array
    points_fps: float
    rig: Rig | None = None

    @property
    def duration(self) -> float:
        """Seconds from the first to the last frame."""
        if self.mesh is None:
            return (len(self.points) - 1) / self.points_fps
        return (len(self.q) - 1) / self.fps

    def joints_at(self, seconds: float) -> tuple[Array, Array]:
        """Return world rotations (J, 4) and places (J, 3) at a moment, between frames by interpolation."""
        place = float(np.clip(seconds * self.fps, 0.0, len(self.q) - 1.0))
        first = min(int(place), max(len(self.q) - 2, 0))
        second, share = min(first + 1, len(self.q) - 1), place - first
        a, b = self.q[first], self.q[second]
        b = np.where((a * b).sum(axis=1, keepdims=True) < 0.0, -b, b)
        return quat_normalize(a + share * (b - a)), self.p[first] + share * (self.p[second] - self.p[first])

    def vertices_at(self, seconds: float) -> Array:
        """Return the body's vertices (V, 3) at a moment."""
        assert self.mesh is not None
        return self.mesh.pose(*self.joints_at(seconds))

    def points_at(self, seconds: float) -> Array:
        """Return the keypoints (K, 3) of the frame nearest to a moment; NaN where unseen, none after the last."""
        frame = round(seconds * self.points_fps)
        return self.points[frame] if 0 <= frame < len(self.points) else np.empty((0, 3))

    def preview(self) -> tuple[Array, Array]:
        """Return some moments (N,) in seconds and, for each, a coarse cloud (N, M, 3) of the surface, all finite."""
        count = int(np.clip(round(self.duration * 8) + 1, 1, PREVIEW_FRAMES))
        moments = np.linspace(0.0, max(self.duration, 0.0), count)
        if self.mesh is None:
            return moments, _filled(np.array([self.points_at(t) for t in moments]))
        coarse = self.mesh.thinned(max(1, len(self.mesh.vertices) // PREVIEW_POINTS))
        return moments, np.array([coarse.pose(*self.joints_at(t)) for t in moments])


def _filled(cloud: Array) -> Array:
    """Put points not seen (N, M, 3) at the middle of the frame's others, of the whole cloud, or at the origin."""
    seen = np.isfinite(cloud).all(axis=2, keepdims=True)
    known = np.where(seen, cloud, 0.0)
    everywhere = known.sum(axis=(0, 1)) / max(int(seen.sum()), 1)
    count = seen.sum(axis=1, keepdims=True)
    middle = np.where(count > 0, known.sum(axis=1, keepdims=True) / np.maximum(count, 1), everywhere)
    filled = np.where(seen, cloud, middle)
    return filled if filled.shape[1] else np.zeros((len(cloud), 1, 3))


def actor_of(subject: Subject, keypoints: Keypoints | None = None, *, body: str = "auto") -> Actor:
    """Make an actor of a clip, a rig or keypoints; `keypoints` are drawn over a figure as dots.

    body  "auto" (the rig's own skin if it has one), "mannequin" or "makehuman"; see `body_of`
    """
    dots, dots_fps = (np.empty((0, 0, 3)), 30.0) if keypoints is None else (keypoints.positions, keypoints.fps)
    if isinstance(subject, Keypoints):
        none = np.empty((0, 0, 3))
        return Actor(subject.layout or "keypoints", subject.fps, None, none, none, subject.positions, subject.fps)
    if isinstance(subject, Rig):
        world = subject.tpose().to_world()
        q, p = world.rotations[None], world.positions[None]
        return Actor(subject.name, 30.0, body_of(subject, body), q, p, dots, dots_fps, subject)
    if not isinstance(subject, Clip):
        raise OptionError(f"a {type(subject).__name__} cannot be drawn; give a Clip, a Rig or Keypoints")
    if subject.frame_count == 0:
        raise OptionError(f"clip {subject.name!r} has no frames to draw")
    world = subject.world()
    name = subject.name or subject.rig.name
    own = subject.rig.skin is not None and body == "auto"
    mesh = body_of(subject.rig if own else _as_long_as(subject), body)
    return Actor(name, subject.fps, mesh, world.rotations, world.positions, dots, dots_fps, subject.rig)


def _as_long_as(clip: Clip) -> Rig:
    """Return the clip's rig with the bone lengths its motion has, where that stretches the rig's own."""
    rig = clip.rig
    if clip.translations is None:
        return rig
    offsets = np.median(clip.translations, axis=0)
    offsets[0] = rig.offsets[0]
    return rig if np.abs(offsets - rig.offsets).max() < STRETCH else rig.with_offsets(offsets)


def subjects_of(subjects: Subject | Sequence[Subject]) -> list[Subject]:
    """Return a list of what one or several subjects were given."""
    items = [subjects] if isinstance(subjects, Clip | Rig | Keypoints) else list(subjects)
    if not items:
        raise OptionError("nothing to draw: give at least one Clip, Rig or Keypoints")
    return items


def facing(actor: Actor) -> float:
    """Return where a figure faces at its first frame, radians from +Z toward +X; 0 where no hips are known."""
    if actor.rig is None:
        return 0.0
    roles = actor.rig.roles
    left, right = roles.get("left_hip", roles.get("left_shoulder")), roles.get("right_hip", roles.get("right_shoulder"))
    if left is None or right is None:
        return 0.0
    across = actor.p[0, left] - actor.p[0, right]
    front = np.array([-across[2], across[0]])  # x, z: across turned a quarter about Y
    return float(np.arctan2(front[0], front[1])) if np.linalg.norm(front) > 1e-6 else 0.0
