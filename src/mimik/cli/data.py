"""`mimik data`: motion files into a store that training reads."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from mimik.cli.output import console, print_notes, progress

app = typer.Typer(no_args_is_help=True, help="Turn motion files into a store for training.")


@app.command("import")
def import_command(
    sources: Annotated[list[Path], typer.Argument(help="Folders or files: BVH, GLB, AMASS or corpus npz.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to make; must not exist yet.")],
    fps: Annotated[float, typer.Option(help="Thin faster recordings to about this many frames a second.")] = 60.0,
) -> None:
    """Import motion files into one memory-mapped store, split by subject."""
    from mimik.learn.store import import_motion

    with progress("importing") as advance:
        store, notes = import_motion(sources, out, fps=fps, progress=lambda done, count, _: advance(done, count))
    print_notes(f"left out: {note}" for note in notes)
    table = Table("split", "subjects", "clips", "frames", "hours", box=None)
    for split in ("train", "val", "test"):
        clips = store.split(split)
        frames, hours = sum(c.frames for c in clips), sum(c.frames / c.fps for c in clips) / 3600
        table.add_row(split, str(len({c.subject for c in clips})), str(len(clips)), f"{frames:,}", f"{hours:.2f}")
    console().print(table)
    console().print(f"wrote  {out}  ({store.frame_count:,} frames)")


@app.command("pack")
def pack_command(
    store: Annotated[Path, typer.Argument(help="Store made by `mimik data import`.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="File to write, .npz.")],
    split: Annotated[list[str] | None, typer.Option(help="Splits to hold; train and val unless given.")] = None,
    max_mb: Annotated[float, typer.Option(help="Size before compression.")] = 40.0,
    fps: Annotated[float, typer.Option(help="Frames a second.")] = 30.0,
) -> None:
    """Write the most diverse poses of a store as one small file, for training on another machine."""
    from mimik.errors import OptionError, one_of
    from mimik.learn.importers import SPLITS
    from mimik.learn.pack import write_pack
    from mimik.learn.store import MotionStore

    for name in split or []:
        if name not in SPLITS:
            raise OptionError(one_of("split", name, SPLITS))
    chosen = tuple(s for s in SPLITS if s in (split or ("train", "val")))
    counts = write_pack(MotionStore(store), out, splits=chosen, max_mb=max_mb, fps=fps)
    console().print(f"wrote  {out}  ({', '.join(f'{name} {count:,}' for name, count in counts.items())} frames)")
