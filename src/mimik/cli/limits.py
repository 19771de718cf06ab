"""`mimik limits`: joint limits measured from motion, or those of people for a rig, as a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mimik.motion.clip import Clip

app = typer.Typer(no_args_is_help=True, help="Joint limits: measure them from motion, or write those of people.")


@app.command()
def measure(
    folder: Annotated[Path, typer.Argument(help="A motion file, or a folder of them: one rig in all.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Limits file to write, .toml.")],
    percent: Annotated[float, typer.Option(help="Share cut off at either end of every value.")] = 5.0,
    kind: Annotated[str, typer.Option(help="ball (swing cone and twist), zyx or zyz (box on Euler angles).")] = "ball",
    margin_deg: Annotated[float, typer.Option(help="Degrees added on either side.")] = 0.0,
) -> None:
    """Measure the range every joint uses over a folder of motion."""
    import numpy as np

    from mimik.cli.output import console, print_notes
    from mimik.errors import FileError
    from mimik.io.limits_toml import write_limits
    from mimik.rig.limits_human import measure_limits

    clips, notes = _clips(folder)
    first, rig = next(iter(clips)), next(iter(clips.values())).rig
    for path, clip in clips.items():
        if clip.rig.names != rig.names:
            raise FileError(path, f"has other joints than {first.name}; measure rigs apart")
    rotations = np.concatenate([clip.rotations for clip in clips.values()])
    limits = measure_limits(rig, rotations, percent=percent, kind=kind, margin=float(np.deg2rad(margin_deg)))  # type: ignore[arg-type]
    write_limits(limits, out)
    console().print(f"wrote  {out}  {len(limits)} joints from {len(rotations)} frames", markup=False)
    print_notes(notes)


def _clips(place: Path) -> tuple[dict[Path, Clip], list[str]]:
    """Read the motion of a file, or all there is in a folder, and say which of its files were left out and why."""
    from mimik.errors import FileError
    from mimik.io import FORMATS, can, load_clip

    if not place.exists():
        raise FileError(place, "no such file or folder")
    if not place.is_dir():
        return {place: load_clip(place)}, []
    clips, notes = {}, []
    for path in sorted(p for p in place.rglob("*") if p.suffix.lower() in FORMATS and can(p, "read_clip")):
        try:
            clips[path] = load_clip(path)
        except FileError as error:
            notes.append(f"left out: {error}")
    if not clips:
        raise FileError(place, "holds no motion on a rig")
    return clips, notes


@app.command()
def human(
    out: Annotated[Path, typer.Option("-o", "--out", help="Limits file to write, .toml.")],
    rig: Annotated[str, typer.Option(help="A built-in rig or a file.")] = "humanoid",
) -> None:
    """Write the ranges of people for a rig, to read and edit."""
    from mimik.cli.files import open_rig
    from mimik.cli.output import console
    from mimik.io.limits_toml import write_limits
    from mimik.rig.limits_human import human_limits

    limits = human_limits(open_rig(rig))
    write_limits(limits, out)
    console().print(f"wrote  {out}  {len(limits)} joints", markup=False)
