"""The viewer: a browser page that plays clips, with a panel to scrub, compare and inspect. Loopback only by default."""

from __future__ import annotations

import threading
import time
import webbrowser
from collections.abc import Sequence
from typing import Any

import numpy as np

from mimik._types import Array
from mimik.errors import MissingExtraError, OptionError
from mimik.goals.keypoints import Keypoints
from mimik.studio.actor import Actor, Subject, actor_of, facing, subjects_of
from mimik.studio.camera import fit_camera, view_direction
from mimik.studio.compare import Pairing, difference, error_colors, pair_joints
from mimik.studio.film import floor_under, level_path, travels
from mimik.studio.theme import THEMES, theme_named
from mimik.studio.viewer_figure import ViewerFigure, rgb
from mimik.studio.viewer_panel import Panel

RATE = 60.0
WORST = 0.10
GAP = 0.35


class Viewer:
    """A page at `url` that shows actors; one thread draws, the page's widgets are its only input."""

    def __init__(self, actors: list[Actor], *, host: str, port: int, theme: str) -> None:
        try:
            import viser
        except ImportError:
            raise MissingExtraError("viewing in the browser", "studio") from None
        if not 0 <= port <= 65535:
            raise OptionError(f"port is {port}; it must be from 0 (any free one) to 65535")
        self.actors, self.theme = actors, theme_named(theme)
        self.fps = max(actor.fps for actor in actors)
        self.duration = max(actor.duration for actor in actors)
        self.frame_count = round(self.duration * self.fps) + 1
        self.server: Any = viser.ViserServer(host=host, port=port, label="mimik", verbose=False)
        self.url = f"http://{host}:{self.server.get_port()}"
        self._stop = threading.Event()
        self._previews = [actor.preview() for actor in actors]
        self._set_stage()
        ranks = [sum((a.mesh is None) == (actor.mesh is None) for a in actors[:n]) for n, actor in enumerate(actors)]
        self.figures = [
            ViewerFigure(self.server, actor, rank, f"/stage/{n}", self.theme)
            for n, (actor, rank) in enumerate(zip(actors, ranks))
        ]
        self.panel = self._make_panel()
        self._pairing = self._pair()
        self._state: tuple[Any, ...] = ()
        self._thread = threading.Thread(target=self._run, name="mimik-viewer", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Serve until Ctrl-C or `stop`."""
        try:
            while not self._stop.wait(0.5):
                pass
        except KeyboardInterrupt:
            pass
        self.stop()

    def stop(self) -> None:
        """Close the page's server."""
        if not self._stop.is_set():
            self._stop.set()
            self._thread.join(timeout=2.0)
            self.server.stop()

    def _set_stage(self) -> None:
        scene = self.server.scene
        scene.set_up_direction("+y")
        self.stage = scene.add_frame("/stage", show_axes=False)
        scene.configure_default_lights(enabled=False)
        scene.configure_environment_map(hdri=None)
        scene.add_light_hemisphere(
            "/lights/sky", sky_color=(228, 236, 255), ground_color=(150, 142, 132), intensity=1.5
        )
        for name, place, intensity in (
            ("key", (-2.5, 5.0, 3.5), 2.0),
            ("fill", (4.0, 2.0, 2.0), 0.45),
            ("rim", (1.5, 3.0, -4.0), 0.9),
        ):
            scene.add_light_directional(
                f"/lights/{name}", position=place, intensity=intensity, cast_shadow=name == "key"
            )
        self._paint_stage()

    def _paint_stage(self) -> None:
        dark = self.theme is THEMES["dark"]
        self.server.gui.configure_theme(
            dark_mode=dark, show_logo=False, show_share_button=False, brand_color=(48, 86, 127)
        )
        self.grid = self.server.scene.add_grid(
            "/stage/floor", 20.0, 20.0, plane="xz", cell_size=0.25, section_size=1.0, infinite_grid=True,
            cell_color=rgb(self.theme.ground if not dark else "#2c333f"), section_color=rgb(self.theme.line),
            plane_color=rgb(self.theme.ground), plane_opacity=1.0 if not dark else 0.6, fade_distance=16.0,
            shadow_opacity=0.3, position=(0.0, self._floor() - 0.002, 0.0),
        )  # fmt: skip

    def _floor(self) -> float:
        return floor_under(self.actors, [cloud for _, cloud in self._previews])

    def _make_panel(self) -> Panel:
        lines = [f"**{a.name}**" + (f": {a.rig.joint_count} joints" if a.rig else "") for a in self.actors]
        return Panel(
            self.server, frame_count=self.frame_count, fps=self.fps, summary="  \n".join(lines),
            two=len(self.actors) > 1, dark=self.theme is THEMES["dark"], dots=any(a.points.size for a in self.actors),
            follow=travels([level_path(cloud) for _, cloud in self._previews]),
        )  # fmt: skip

    def _pair(self) -> Pairing | None:
        figures = [actor for actor in self.actors if actor.rig is not None]
        if len(figures) != 2 or len(self.actors) != 2:
            return None
        assert figures[0].rig is not None and figures[1].rig is not None
        return pair_joints(figures[0].rig, figures[1].rig)

    def _offsets(self, side_by_side: bool) -> Array:
        """Return where the figures stand (A, 3), the whole row centred on the origin's X axis."""
        offsets = np.zeros((len(self.actors), 3))
        if side_by_side and len(self.actors) > 1:
            edge = 0.0
            for n, (_, cloud) in enumerate(self._previews):
                low, high = float(np.min(cloud[..., 0])), float(np.max(cloud[..., 0]))
                offsets[n, 0] = edge - low
                edge += high - low + GAP
        return offsets

    def _aim(self) -> None:
        """Point the camera of new visitors so that all figures are in the picture."""
        offsets = self._offsets(self.panel.arrangement is None or self.panel.arrangement.value == "side by side")
        seen = [cloud + offset for (_, cloud), offset in zip(self._previews, offsets)]
        if self.panel.follow.value:
            seen = [
                cloud - np.array([self._middle(t) for t in ts])[:, None] for cloud, (ts, _) in zip(seen, self._previews)
            ]
        points = np.concatenate([cloud.reshape(-1, 3) for cloud in seen])
        direction = view_direction("hero", facing(self.actors[0])) if len(self.actors) == 1 else view_direction("front")
        camera = fit_camera(points, direction, 900, 900, fov=0.7, margin=0.2)
        initial = self.server.initial_camera
        initial.fov, initial.position, initial.look_at, initial.up = (
            camera.fov,
            camera.eye,
            camera.target,
            (0.0, 1.0, 0.0),
        )

    def _run(self) -> None:
        self._aim()
        seconds, before = 0.0, time.perf_counter()
        while not self._stop.is_set():
            now = time.perf_counter()
            panel = self.panel
            if panel.scrubbed():
                seconds = int(panel.frame.value) / self.fps
            elif panel.playing.value:
                seconds += (now - before) * float(panel.speed.value)
                if seconds > self.duration:
                    seconds = seconds % max(self.duration, 1e-6) if panel.loop.value else self.duration
                    panel.playing.value = bool(panel.loop.value) and self.frame_count > 1
            before = now
            with self.server.atomic():
                self._draw(seconds)
            self._stop.wait(max(0.0, 1.0 / RATE - (time.perf_counter() - now)))

    def _draw(self, seconds: float) -> None:
        panel = self.panel
        place = panel.arrangement.value if panel.arrangement is not None else "side by side"
        marks = panel.arrangement is not None and bool(panel.mark.value)
        wishes = (
            float(panel.opacity.value), panel.dots.value, panel.names.value, panel.axes.value, int(panel.ghosts.value),
            panel.dark.value, panel.follow.value, place, marks,
        )  # fmt: skip
        if wishes != self._state:
            self._apply(self._state, wishes)
            self._state = wishes
        elif round(seconds * self.fps) == panel.shown and not panel.playing.value and not panel.scrubbed():
            return
        for figure in self.figures:
            figure.show(seconds)
        self.stage.position = -self._middle(seconds) if panel.follow.value else np.zeros(3)
        self._compare(seconds, marks)
        panel.set_frame(min(round(seconds * self.fps), self.frame_count - 1), self.frame_count)

    def _apply(self, old: tuple[Any, ...], new: tuple[Any, ...]) -> None:
        """Change what the panel's checkboxes ask for."""
        opacity, dots, names, axes, ghosts, dark, _, place, _ = new
        changed = [not old or a != b for a, b in zip(old or new, new)]
        if changed[5]:
            self.theme = THEMES["dark" if dark else "light"]
            self._paint_stage()
        for figure, offset in zip(self.figures, self._offsets(place == "side by side")):
            figure.place(offset)
            for mesh in figure.meshes:
                mesh.visible = opacity > 0.0
                if changed[0]:
                    mesh.opacity = None if opacity >= 1.0 else opacity
            if figure.dots is not None:
                figure.dots.visible = dots
            if changed[5]:
                figure.set_theme(self.theme)
            if changed[2]:
                figure.set_names(names)
            if changed[3]:
                figure.set_axes(axes)
            if changed[4]:
                figure.set_ghosts(ghosts, self.theme)

    def _middle(self, seconds: float) -> Array:
        """Return how far the first figure has gone over the floor since its start."""
        times, cloud = self._previews[0]
        path = level_path(cloud)
        return np.array([np.interp(seconds, times, path[:, k]) - path[0, k] for k in range(3)])

    def _compare(self, seconds: float, marks: bool) -> None:
        if self._pairing is None:
            return
        found = difference(self.actors[0], self.actors[1], self._pairing, seconds)
        self.panel.set_difference(found)
        colors = error_colors(found.distance, WORST) if marks else None
        self.figures[0].show_errors(self._pairing.a, colors, seconds)
        self.figures[1].show_errors(self._pairing.b, colors, seconds)


def view(
    subjects: Subject | Sequence[Subject],
    *,
    keypoints: Keypoints | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    open_browser: bool = True,
    theme: str = "light",
    body: str = "auto",
    wait: bool = True,
) -> Viewer:
    """Show clips, rigs or keypoints on a browser page: timeline, speed, ghosts, names, axes, two clips compared.

    keypoints  drawn over the first figure; host: the address listened on, this machine only unless told otherwise
    port       of the page; the next free one is taken where it is in use
    wait       serve until Ctrl-C; with False the running viewer is returned at once, to be ended with `stop()`
    Raises MissingExtraError without `mimik[studio]`.
    """
    items = subjects_of(subjects)
    actors = [actor_of(item, keypoints if n == 0 else None, body=body) for n, item in enumerate(items)]
    viewer = Viewer(actors, host=host, port=port, theme=theme)
    if open_browser:
        webbrowser.open(viewer.url)
    if wait:
        viewer.wait()
    return viewer
