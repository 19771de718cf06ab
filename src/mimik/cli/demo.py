"""`mimik demo`: a motion made here, on three rigs and in three formats, with pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mimik.motion.clip import Clip

app = typer.Typer()

_STEPS = ("ue5", ".glb"), ("vrm", ".vrma"), ("humanoid", ".bvh")


@app.command()
def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to write to.")] = Path("mimik-demo"),
    seconds: Annotated[float, typer.Option(help="Length of the motion.")] = 12.0,
    view: Annotated[bool, typer.Option("--view", help="Open the viewer at the end.")] = False,
) -> None:
    """Make a short motion, carry it to three rigs and formats, draw pictures, and say where they are."""
    from mimik.api import load_rig
    from mimik.cli.convert import write_for
    from mimik.cli.output import console, print_notes
    from mimik.errors import FileError
    from mimik.motion.retarget import retarget
    from mimik.motion.sample import medley

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(out, f"cannot be made: {(error.strerror or str(error)).lower()}") from None
    clip = medley(load_rig("mixamo"), ("wave", "walk", "squat", "cartwheel"), seconds=seconds, seed=4)
    said, notes, clips = console(), [], [clip]
    said.print(f"made   {clip.duration:.0f} s of motion on {clip.rig.name}, {clip.frame_count} frames")
    for name, suffix in _STEPS:
        carried, report = retarget(clip, load_rig(name))
        path = out / f"{name}{suffix}"
        notes += [f"{path.name}: {note}" for note in (*report.notes, *write_for(carried, path))]
        clips.append(carried)
        said.print(f"wrote  {path}  ({carried.rig.joint_count} joints, feet slide {report.slide_cm_s[2]:.1f} cm/s)")
    for path in _pictures(clips, out):
        said.print(f"drew   {path}")
    print_notes(notes)
    said.print(f"next   mimik view {out / 'ue5.glb'}     mimik info {out / 'vrm.vrma'}", markup=False)
    if view:
        _open_viewer(clips)


def _pictures(clips: list[Clip], out: Path) -> list[Path]:
    from mimik.cli.output import progress
    from mimik.studio.render import render

    names = [clip.rig.name for clip in clips]
    with progress("drawing the strip") as advance:
        strip = render(clips[0], out / "strip.png", frames=8, width=220, height=320, progress=advance)
    with progress("drawing the film") as advance:
        film = render(clips[1:], out / "rigs.gif", labels=names[1:], width=720, height=360, fps=12, progress=advance)
    return [strip, film]


def _open_viewer(clips: list[Clip]) -> None:
    from mimik.errors import MissingExtraError

    try:
        from mimik.studio.viewer import view
    except ImportError:
        raise MissingExtraError("the viewer", "studio") from None
    view(clips)
