"""`mimik render`: pictures and films without a display."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()


@app.command()
def render(
    files: Annotated[list[Path], typer.Argument(help="Motions, rigs or keypoints; several stand side by side.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="File to write: .png, .gif or .mp4.")],
    view: Annotated[str, typer.Option(help="hero, front, side, back or top.")] = "hero",
    focus: Annotated[str | None, typer.Option(help="Role or joint to look at closely, such as left_wrist.")] = None,
    width: Annotated[int, typer.Option(help="Pixels; of a PNG with several frames, of each.")] = 640,
    height: Annotated[int, typer.Option(help="Pixels.")] = 480,
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    fps: Annotated[
        float | None, typer.Option(help="Pictures a second; at most 25 (GIF) or 30 (MP4) unless given.")
    ] = None,
    frames: Annotated[str, typer.Option(help="PNG: how many moments, or frame numbers such as 0,30,60.")] = "5",
    keypoints: Annotated[Path | None, typer.Option(help="Keypoints drawn over the first figure.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Line under a figure; once for each.")] = None,
    title: Annotated[str, typer.Option(help="Line on top.")] = "",
    ghosts: Annotated[int, typer.Option(help="Pale copies along the way.")] = 0,
    together: Annotated[bool, typer.Option("--together", help="Several figures in one place.")] = False,
    follow: Annotated[bool | None, typer.Option(help="Camera goes along; decided by the path unless given.")] = None,
    body: Annotated[str, typer.Option(help="auto (own skin or mannequin), mannequin or makehuman.")] = "auto",
) -> None:
    """Draw motion to a picture or film."""
    from mimik.api import load_keypoints
    from mimik.cli.files import open_any
    from mimik.cli.output import console, progress
    from mimik.studio.render import render as draw

    subjects = [open_any(path) for path in files]
    points = None if keypoints is None else load_keypoints(keypoints)
    with progress(f"drawing {out.name}") as advance:
        path = draw(
            subjects, out, view=view, focus=focus, width=width, height=height, theme=theme, fps=fps,
            frames=_frames(frames), keypoints=points, labels=label, title=title, ghosts=ghosts, together=together,
            follow=follow, body=body, progress=advance,
        )  # fmt: skip
    console().print(f"drew   {path}", markup=False)


def _frames(text: str) -> int | list[int]:
    """Return a count from `5`, frame numbers from `0,30,60`."""
    from mimik.errors import OptionError

    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(f"--frames {text!r} is neither a count such as 5 nor frame numbers such as 0,30,60") from None
    return numbers if "," in text else numbers[0]
