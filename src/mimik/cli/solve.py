"""`mimik solve`: keypoints in, animation out, with a report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mimik.cli.output import Advance
    from mimik.motion.clip import Clip
    from mimik.rig.rig import Rig
    from mimik.takes_report import TakeReport

app = typer.Typer()


@app.command()
def solve(
    takes: Annotated[list[Path], typer.Argument(help="Keypoint files, or folders of JSON frames.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="File to write, or a folder for many takes; .bvh beside it unless given."),
    ] = None,
    rig: Annotated[str, typer.Option(help="humanoid, smpl, mixamo, ue5, vrm, cmu, or a file.")] = "humanoid",
    method: Annotated[str, typer.Option(help="dense, ikgat or projected.")] = "dense",
    proportions: Annotated[str, typer.Option(help="person, rig, or auto: the person's on built-in rigs.")] = "auto",
    layout: Annotated[str, typer.Option(help="Keypoint layout, where it is not recognised.")] = "",
    mapping: Annotated[Path | None, typer.Option(help="File of own name = role pairs.")] = None,
    units: Annotated[str | None, typer.Option(help="Units of the take: m, cm, mm; recognised unless given.")] = None,
    up: Annotated[str | None, typer.Option(help="Up axis of the take; recognised unless given.")] = None,
    fps: Annotated[float | None, typer.Option(help="Frame rate, where the file has none.")] = None,
    noise: Annotated[float | None, typer.Option(help="Noise of the keypoints in mm; estimated unless given.")] = None,
    smooth: Annotated[float | None, typer.Option(help="Smooth at this many Hz; where noisy unless given.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="No repair, no smoothing, no holding of feet.")] = False,
    suffix: Annotated[str, typer.Option("--format", help="Format for many takes: bvh, glb, vrma, npz.")] = "bvh",
    program: Annotated[
        str | None, typer.Option("--for", help="Program to open it in: blender, unreal, unity, maya.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON only.")] = False,
) -> None:
    """Turn 3D keypoints into joint rotations on a rig: an animation that opens right."""
    from mimik.cli.files import call_with, open_rig
    from mimik.cli.output import print_json, print_notes, progress
    from mimik.io import load_keypoints
    from mimik.takes import TakeOptions, prepare, solve_take

    targets = _targets(takes, out, suffix)
    body = open_rig(rig)
    chosen = {
        "method": method, "proportions": _proportions(proportions, body), "layout": layout, "smooth_hz": smooth,
        "noise": None if noise is None else noise * 1e-3, "mapping": _mapping(mapping),
    }  # fmt: skip
    if raw:
        chosen |= {"repair": False, "smooth_hz": 0.0, "hold_feet": False}
    options = call_with(TakeOptions, **chosen)
    results = []
    for number, (source, target) in enumerate(zip(takes, targets)):
        with progress(source.name) as advance:
            take = call_with(load_keypoints, source, units=units, up=up, fps=fps, layout=layout or None)
            if number == 0:
                prepare(options.method)
            clip, report = solve_take(take, body, options, progress=_stages(advance))
            notes = _write(clip, target, program)
        results.append(_result(source, target, report, [*clip.notes, *notes]))
        if not as_json:
            _tell(source, target, clip, report, program, blank=number > 0)
            print_notes([*clip.notes, *notes])
    if as_json:
        print_json(results[0] if len(results) == 1 else results)


def _targets(takes: list[Path], out: Path | None, suffix: str) -> list[Path]:
    """Return a file to write for each take; raises OptionError when several takes would share one."""
    from mimik.errors import FileError, OptionError

    ending = "." + suffix.lstrip(".")
    if out is not None and out.suffix and not out.is_dir():
        if len(takes) > 1:
            raise OptionError(f"{len(takes)} takes cannot all be written to {out}; name a folder and --format")
        return [out]
    folder = out
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(folder, f"cannot be made: {(error.strerror or str(error)).lower()}") from None
    names = [(folder if folder is not None else take.parent) / (take.stem + ending) for take in takes]
    if len(set(names)) < len(names):
        raise OptionError("two takes have the same name and would be written to one file; solve them one by one")
    return names


def _stages(advance: Advance) -> Callable[[str], None]:
    """Move a bar on by one step for each stage that is told."""
    count = 0

    def tell(_stage: str) -> None:
        nonlocal count
        count += 1
        advance(count, 4)

    return tell


def _proportions(wish: str, rig: Rig) -> str:
    if wish != "auto":
        return wish
    return "person" if rig.source is None else "rig"


def _mapping(path: Path | None) -> dict[str, str] | None:
    if path is None:
        return None
    from mimik.io.mapping import read_mapping

    return read_mapping(path)


def _write(clip: Clip, target: Path, program: str | None) -> list[str]:
    from mimik.cli.convert import write_for

    return write_for(clip, target, program=program)


def _result(source: Path, target: Path, report: TakeReport, notes: list[str]) -> dict[str, Any]:
    return {"take": str(source), "wrote": str(target), **report.as_dict(), "notes": list(dict.fromkeys(notes))}


def _tell(source: Path, target: Path, clip: Clip, report: TakeReport, program: str | None, *, blank: bool) -> None:
    from mimik.cli.output import console, print_facts
    from mimik.cli.programs import how_to_open

    if blank:
        console().print()
    rows = report.lines()
    rows[0] = (source.name, rows[0][1])
    written = f"{target}  ({clip.rig.joint_count} joints, {clip.frame_count} frames, {clip.fps:g} fps)"
    opening = how_to_open(program, target.suffix.lower())
    print_facts([*rows, ("wrote", written), *([("open", opening)] if opening else [])])
