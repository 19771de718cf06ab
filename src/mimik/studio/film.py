"""The film: actors arranged on one stage, and its picture at any moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from os import cpu_count

import numpy as np

from mimik._types import Array
from mimik.studio.actor import Actor, facing
from mimik.studio.camera import Camera, fit_camera, view_direction
from mimik.studio.stage import Dots, Image, Solid, Stage
from mimik.studio.theme import Theme, linear

Progress = Callable[[int, int], None]
GAP = 0.25
FAR = 2.0  # metres over the floor


@dataclass(frozen=True, slots=True)
class Shot:
    """How a film is shown.

    view      "hero", "front", "side", "back" or "top", as seen from where the first figure faces at its start
    focus     a role or joint to look at closely, or None for the whole figure
    follow    the camera goes along with figures that travel; None lets the length of their path decide
    ghosts    number of pale copies shown along the way, spread over the clip
    floor     height of the floor in metres; None takes 0, or the lowest point of the figures if they are within 0.12 m
    together  several figures stand in one place instead of side by side
    """

    view: str = "hero"
    focus: str | None = None
    width: int = 640
    height: int = 480
    follow: bool | None = None
    ghosts: int = 0
    floor: float | None = None
    together: bool = False


@dataclass(slots=True)
class Film:
    """Actors in their places before one camera."""

    actors: list[Actor]
    offsets: Array  # (A, 3) where each actor is moved to
    stage: Stage
    theme: Theme
    ghosts: int
    path: Callable[[float], Array] | None = None
    _stages: dict[int, Stage] = field(default_factory=dict, repr=False)

    @property
    def duration(self) -> float:
        """Seconds of the longest actor."""
        return max(actor.duration for actor in self.actors)

    def picture(self, seconds: float) -> Image:
        """Return the picture (H, W, 3) at a moment."""
        solids, dots = [], []
        for number, (actor, offset) in enumerate(zip(self.actors, self.offsets)):
            if actor.mesh is not None:
                solids += self._ghosts(number) if self.path is None else []
                solids.append(self._solid(number, seconds, 1.0))
            if actor.points.size:
                color = self.theme.dots[self._rank(number) % len(self.theme.dots)]
                dots.append(Dots(actor.points_at(seconds) + offset, color))
        stage = self.stage
        if self.path is not None:
            moved = self.stage.camera.moved(self.path(seconds))
            stage = Stage(moved, self.theme, self.stage.floor, self.stage.radius)
        return stage.paint(solids, dots)

    def anchors(self, seconds: float) -> Array:
        """Return where on the picture (A, 2), in pixels, the middle of each actor's foot is, for labels."""
        shift = self.path(seconds) if self.path is not None else np.zeros(3)
        camera = self.stage.camera.moved(shift)
        places = []
        for actor, offset in zip(self.actors, self.offsets):
            cloud = actor.points_at(0.0) if actor.mesh is None else actor.joints_at(seconds)[1]
            middle = np.nanmean(cloud, axis=0) + offset if np.isfinite(cloud).any() else offset.copy()
            middle[1] = self.stage.floor
            places.append(camera.project(middle)[:2])
        return np.array(places)

    def pictures(self, moments: Sequence[float], progress: Progress | None = None) -> Iterator[Image]:
        """Yield the pictures at moments in seconds, painted on all processors, in order."""
        self.picture(moments[0])  # compiles the kernels and paints the empty floor before threads share them
        pool = ThreadPoolExecutor(max_workers=max(1, min(8, cpu_count() or 1)))
        try:
            waiting = iter(moments)
            running: list[Future[Image]] = [pool.submit(self.picture, t) for t in islice(waiting, 16)]
            for done in range(len(moments)):
                image = running.pop(0).result()
                running += [pool.submit(self.picture, t) for t in islice(waiting, 1)]
                if progress is not None:
                    progress(done + 1, len(moments))
                yield image
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _solid(self, number: int, seconds: float, opacity: float) -> Solid:
        actor = self.actors[number]
        assert actor.mesh is not None
        rank = self._rank(number) % len(self.theme.bodies)
        body = linear(self.theme.bodies[rank])
        accent = linear(self.theme.accents[rank]) / body
        vertices = actor.vertices_at(seconds) + self.offsets[number]
        return Solid(
            vertices, actor.mesh.faces, actor.mesh.paint(body), actor.mesh.tint, accent, opacity, actor.mesh.open
        )

    def _rank(self, number: int) -> int:
        """Return the place of an actor among its kind, which gives it its colour."""
        kind = self.actors[number].mesh is None
        return sum((actor.mesh is None) == kind for actor in self.actors[:number])

    def _ghosts(self, number: int) -> list[Solid]:
        """Return pale copies of an actor spread over the clip."""
        moments = np.linspace(0.0, self.actors[number].duration, self.ghosts)
        return [self._solid(number, float(t), 0.18) for t in moments]


def level_path(cloud: Array) -> Array:
    """Return where over the floor (T, 3) the middle of a cloud (T, M, 3) is."""
    return np.asarray(cloud.mean(axis=1) * [1.0, 0.0, 1.0])


def travels(paths: Sequence[Array]) -> bool:
    """Say whether figures on these paths (T, 3) over the floor go so far that a camera should go along."""
    return max(float(np.ptp(path, axis=0).max()) for path in paths) > FAR


def make_film(actors: list[Actor], theme: Theme, shot: Shot) -> Film:
    """Place actors side by side, set the floor, and aim a camera that holds all of every moment."""
    clouds = [actor.preview() for actor in actors]
    direction = view_direction(shot.view, facing(actors[0]))
    right = np.cross(np.array([0.0, 1.0, 0.0]), direction)
    right = right / np.linalg.norm(right)
    paths = [level_path(cloud) for _, cloud in clouds]
    follow = shot.follow
    if follow is None:
        follow = travels(paths)
    offsets = _places([c - p[:, None] if follow else c for (_, c), p in zip(clouds, paths)], right, shot.together)
    if follow:
        offsets = offsets - np.array([path[0] for path in paths]) + paths[0][0]
    floor = floor_under(actors, [cloud for _, cloud in clouds]) if shot.floor is None else shot.floor
    track: Callable[[float], Array] | None = _track(clouds[0][0], paths[0]) if follow else None
    seen = [cloud + offset for (_, cloud), offset in zip(clouds, offsets)]
    if track is not None:
        seen = [cloud - np.array([track(t) for t in times])[:, None] for cloud, (times, _) in zip(seen, clouds)]
    if shot.focus is not None:
        camera, track = _close_up(actors[0], offsets[0], direction, shot)
    else:
        cloud = np.concatenate([c.reshape(-1, 3) for c in seen])
        camera = fit_camera(cloud, direction, shot.width, shot.height)
    reach = np.concatenate([c.reshape(-1, 3) for c in seen])
    radius = 2.2 + float(np.ptp(reach, axis=0).max())
    return Film(actors, offsets, Stage(camera, theme, floor, radius), theme, shot.ghosts, track)


def _places(clouds: list[Array], right: Array, together: bool) -> Array:
    """Return offsets (A, 3) that stand the clouds beside each other along `right`, the whole row about the first."""
    offsets = np.zeros((len(clouds), 3))
    if together or len(clouds) == 1:
        return offsets
    ends = [(float((c @ right).min()), float((c @ right).max())) for c in clouds]
    edge = ends[0][0]
    for n, (low, high) in enumerate(ends):
        offsets[n] = (edge - low) * right
        edge += high - low + GAP
    return offsets


def floor_under(actors: list[Actor], clouds: list[Array]) -> float:
    """Return the height of the floor: 0, or the lowest point of the figures (of all, where none is) when it is near."""
    figures = [cloud for actor, cloud in zip(actors, clouds) if actor.mesh is not None]
    lowest = float(min(np.min(cloud[..., 1]) for cloud in figures or clouds))
    return lowest if abs(lowest) < 0.12 else min(lowest, 0.0)


def _track(moments: Array, path: Array) -> Callable[[float], Array]:
    """Return the camera's shift over time: the figure's path, smoothed over about a second."""
    if len(path) < 3:
        return lambda seconds: np.zeros(3)
    fine = np.linspace(moments[0], moments[-1], max(len(path) * 4, 60))
    curve = np.array([np.interp(fine, moments, path[:, k]) for k in range(3)]).T
    width = max(1, round(0.5 / max(fine[1] - fine[0], 1e-6)))
    window = np.hanning(2 * width + 3)[1:-1]
    padded = np.pad(curve, ((width, width), (0, 0)), mode="reflect", reflect_type="odd") if width < len(curve) else None
    if padded is not None:
        curve = np.array([np.convolve(padded[:, k], window / window.sum(), mode="valid") for k in range(3)]).T
    return lambda seconds: np.array([np.interp(seconds, fine, curve[:, k]) for k in range(3)]) - path[0]


def _close_up(actor: Actor, offset: Array, direction: Array, shot: Shot) -> tuple[Camera, Callable[[float], Array]]:
    """Return a camera near one joint and the shift that keeps it there."""
    assert actor.rig is not None and shot.focus is not None
    joint = actor.rig.joint(shot.focus)
    size = float(np.ptp(actor.p[0], axis=0).max())
    start = actor.p[0, joint] + offset
    corners = start + 0.085 * size * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    camera = fit_camera(corners, direction, shot.width, shot.height)
    return camera, lambda seconds: actor.joints_at(seconds)[1][joint] + offset - start
