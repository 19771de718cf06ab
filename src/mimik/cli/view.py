"""`mimik view`: a browser page that plays, scrubs and compares."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mimik.studio.actor import Subject

app = typer.Typer()


@app.command()
def view(
    files: Annotated[list[Path], typer.Argument(help="Motions, rigs or keypoints; two are compared.")],
    keypoints: Annotated[Path | None, typer.Option(help="Keypoints drawn over the first figure.")] = None,
    port: Annotated[int, typer.Option(help="Port of the page; the next free one if it is taken.")] = 8080,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    body: Annotated[str, typer.Option(help="auto (own skin or mannequin), mannequin or makehuman.")] = "auto",
) -> None:
    """Play motion in the browser: timeline, speed, ghosts, joint names and axes, two clips side by side."""
    from mimik.api import load_keypoints
    from mimik.cli.files import open_any

    subjects = [open_any(path) for path in files]
    points = None if keypoints is None else load_keypoints(keypoints)
    serve(subjects, keypoints=points, host=host, port=port, open_browser=browser, theme=theme, body=body)


def serve(subjects: Sequence[Subject], **options: Any) -> None:
    """Show subjects in the viewer and say where, until Ctrl-C; options are the viewer's."""
    from mimik.cli.output import console
    from mimik.studio.viewer import view as open_viewer

    viewer = open_viewer(subjects, wait=False, **options)
    console().print(f"page   {viewer.url}  (Ctrl-C ends)")
    viewer.wait()
