"""`mimik limits`: joint limits measured from motion, or those of people for a rig, as a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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

    from mimik.cli.output import console
    from mimik.errors import FileError
    from mimik.io import FORMATS, can, load_clip
    from mimik.io.limits_toml import write_limits
    from mimik.rig.limits_human import measure_limits

    if not folder.exists():
        raise FileError(folder, "no such file or folder")
    paths = sorted(p for p in folder.rglob("*") if p.suffix.lower() in FORMATS) if folder.is_dir() else [folder]
    clips = [load_clip(path) for path in paths if can(path, "read_clip")]
    if not clips:
        raise FileError(folder, "holds no motion on a rig")
    rig = clips[0].rig
    for path, clip in zip(paths, clips, strict=False):
        if clip.rig.names != rig.names:
            raise FileError(path, f"has other joints than {paths[0].name}; measure rigs apart")
    rotations = np.concatenate([clip.rotations for clip in clips])
    limits = measure_limits(rig, rotations, percent=percent, kind=kind, margin=float(np.deg2rad(margin_deg)))  # type: ignore[arg-type]
    write_limits(limits, out)
    console().print(f"wrote  {out}  {len(limits)} joints from {len(rotations)} frames", markup=False)


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
