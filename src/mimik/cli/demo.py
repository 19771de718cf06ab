"""`mimik demo`: the main job. Noisy keypoints of a motion made here become animation on three rigs, with pictures."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mimik.goals.keypoints import Keypoints
    from mimik.motion.clip import Clip

app = typer.Typer()

NOISE_MM = 8.0
HIDDEN = 0.03  # share of the points that are not seen

_RIGS = ("mixamo", ".glb"), ("vrm", ".vrma")


@app.command()
def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to write to.")] = Path("mimik-demo"),
    seconds: Annotated[float, typer.Option(help="Length of the motion.")] = 12.0,
    view: Annotated[
        bool | None, typer.Option("--view/--no-view", help="Open the viewer at the end; on a terminal unless given.")
    ] = None,
) -> None:
    """Make a noisy take of keypoints, solve it, carry it to other rigs, draw pictures, and say where they are."""
    from mimik.cli.convert import write_for
    from mimik.cli.output import console, print_facts, print_notes, progress
    from mimik.cli.view import serve
    from mimik.errors import FileError
    from mimik.io import load_keypoints, save_keypoints
    from mimik.motion.retarget import retarget
    from mimik.rig.builtin import builtin_rig
    from mimik.takes import TakeOptions, prepare, solve_take

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(out, f"cannot be made: {(error.strerror or str(error)).lower()}") from None
    said, take_file = console(), out / "take.trc"
    save_keypoints(sample_take(seconds), take_file)
    said.print(f"made   {take_file}  ({NOISE_MM:g} mm of noise, {100 * HIDDEN:g} % of the points hidden)", markup=False)
    said.print(f"solve  mimik solve {take_file} -o {out / 'take.bvh'}", markup=False)
    prepare()
    take = load_keypoints(take_file)
    with progress("solving") as advance:
        clip, report = solve_take(take, builtin_rig("humanoid"), TakeOptions(proportions="person"))
        advance(1, 1)
    print_facts(report.lines())
    notes, clips = [*clip.notes, *write_for(clip, out / "take.bvh")], [clip]
    said.print(f"wrote  {out / 'take.bvh'}", markup=False)
    for name, suffix in _RIGS:
        carried, told = retarget(clip, builtin_rig(name))
        path = out / f"{name}{suffix}"
        notes += [f"{path.name}: {note}" for note in (*told.notes, *write_for(carried, path))]
        clips.append(carried)
        said.print(f"wrote  {path}  ({carried.rig.joint_count} joints)", markup=False)
    for path in _pictures(take, clips, out):
        said.print(f"drew   {path}", markup=False)
    print_notes(notes)
    said.print(
        f"next   mimik view {out / 'take.bvh'} {out / 'mixamo.glb'}     mimik info {out / 'vrm.vrma'}", markup=False
    )
    if _can_view() if view is None else view:
        serve(clips, keypoints=take)


def _can_view() -> bool:
    """Say whether somebody is there to look, and the viewer is installed."""
    return sys.stdin.isatty() and sys.stdout.isatty() and find_spec("viser") is not None


def sample_take(seconds: float, *, seed: int = 4) -> Keypoints:
    """Return keypoints of a person 1.68 m tall who waves, walks, squats and turns a cartwheel, noisy and with gaps."""
    import numpy as np

    from mimik.goals.keypoints import Keypoints
    from mimik.motion.sample import medley
    from mimik.rig.builtin import builtin_rig

    clip = medley(
        builtin_rig("humanoid", height=1.68), ("wave", "walk", "squat", "cartwheel"), seconds=seconds, seed=seed
    )
    rng = np.random.default_rng(seed)
    points = clip.positions() + rng.normal(0.0, NOISE_MM * 1e-3, (clip.frame_count, clip.rig.joint_count, 3))
    points[rng.random(points.shape[:2]) < HIDDEN] = np.nan
    return Keypoints(names=clip.rig.names, positions=points, fps=clip.fps)


def _pictures(take: Keypoints, clips: list[Clip], out: Path) -> list[Path]:
    from mimik.cli.output import progress
    from mimik.studio.render import render

    names = ["person", *(clip.rig.name for clip in clips[1:])]
    with progress("drawing the strip") as advance:
        strip = render(
            clips[0], out / "strip.png", frames=8, width=220, height=320, keypoints=take, progress=advance
        )  # fmt: skip
    with progress("drawing the film") as advance:
        film = render(clips, out / "rigs.gif", labels=names, width=720, height=360, fps=12, progress=advance)
    return [strip, film]
