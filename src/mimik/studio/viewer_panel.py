"""The panel beside the picture: timeline, speed, what to show. Its widgets are the state; the loop reads them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from mimik.studio.compare import Difference

SPEEDS = ("0.1", "0.25", "0.5", "1", "1.5", "2", "4")
Arrangement = Literal["side by side", "overlaid"]


class Panel:
    """Widgets only: no callback draws; `Viewer` polls the values from its one loop."""

    def __init__(
        self,
        server: Any,
        *,
        frame_count: int,
        fps: float,
        summary: str,
        two: bool,
        dark: bool,
        dots: bool,
        follow: bool,
    ) -> None:
        gui = server.gui
        self.gui, self.fps = gui, fps
        gui.add_markdown(summary)
        self.playing = gui.add_checkbox("Play", frame_count > 1)
        self.frame = gui.add_slider("Frame", 0, max(frame_count - 1, 1), 1, 0, disabled=frame_count < 2)
        self.clock = gui.add_markdown("")
        self.speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        self.loop = gui.add_checkbox("Loop", True)
        with gui.add_folder("Show"):
            self.opacity = gui.add_slider("Body", 0.0, 1.0, 0.05, 1.0, hint="1 solid, 0 hidden")
            self.dots = gui.add_checkbox("Keypoints", True, visible=dots)
            self.names = gui.add_checkbox("Joint names", False)
            self.axes = gui.add_checkbox("Joint axes", False, hint="X red, Y green, Z blue")
            self.ghosts = gui.add_slider("Ghosts", 0, 12, 1, 0, disabled=frame_count < 2)
            self.follow = gui.add_checkbox("Follow", follow, hint="Keep the figure in the middle")
            self.dark = gui.add_checkbox("Dark", dark)
        self.arrangement: Any = None
        self.differences: Any = None
        self.shown = 0
        if two:
            with gui.add_folder("Compare"):
                self.arrangement = gui.add_dropdown("Place", ("side by side", "overlaid"), initial_value="side by side")
                self.mark = gui.add_checkbox("Mark differences", True, hint="Green: equal, red: 10 cm apart or more")
                self.differences = gui.add_markdown("")

    def scrubbed(self) -> bool:
        """Say whether a person moved the timeline since the loop last set it."""
        return int(self.frame.value) != self.shown

    def set_frame(self, frame: int, count: int) -> None:
        """Show which frame is drawn, unless a person has moved the timeline meanwhile."""
        if int(self.frame.value) not in (self.shown, frame):
            return
        self.shown = frame
        self.frame.value = frame
        self.clock.content = f"frame **{frame}** of {count}, {frame / self.fps:.2f} s"

    def set_difference(self, found: Difference) -> None:
        """List the joints that are furthest apart."""
        if self.differences is None or not len(found.names):
            return
        order = np.argsort(-found.distance)[:10]
        rows = [
            f"| {found.names[n]} | {100 * found.distance[n]:.1f} | {np.degrees(found.angle[n]):.1f} |" for n in order
        ]
        mean = f"mean **{100 * found.distance.mean():.1f} cm**, **{np.degrees(found.angle).mean():.1f}°**"
        self.differences.content = "\n".join([mean, "", "| joint | cm | ° |", "|---|---:|---:|", *rows])
