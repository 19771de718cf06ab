"""`mimik convert`: another format, another rig, another frame rate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mimik.goals.keypoints import Keypoints
    from mimik.motion.clip import Clip
    from mimik.motion.retarget import RetargetReport

app = typer.Typer()


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(help="File to read: motion, rig or keypoints.")],
    target: Annotated[Path, typer.Argument(help="File to write; its suffix says the format.")],
    rig: Annotated[
        str | None, typer.Option(help="Other rig: humanoid, smpl, mixamo, ue5, vrm, cmu, or a file.")
    ] = None,
    fps: Annotated[float | None, typer.Option(help="Other frame rate.")] = None,
    units: Annotated[
        str | None, typer.Option(help="Units to write where the format leaves a choice: m, cm, mm.")
    ] = None,
    program: Annotated[
        str | None, typer.Option("--for", help="Program to open it in: blender, unreal, unity, maya.")
    ] = None,
    from_units: Annotated[str | None, typer.Option(help="Units of the source; recognised unless given.")] = None,
    up: Annotated[str | None, typer.Option(help="Up axis of the source; recognised unless given.")] = None,
    roles: Annotated[Path | None, typer.Option(help="Mapping file of role = joint for the source.")] = None,
    start: Annotated[float, typer.Option(help="Begin at this second.")] = 0.0,
    end: Annotated[float | None, typer.Option(help="End at this second.")] = None,
    smooth: Annotated[float | None, typer.Option(help="Remove what is faster than this many Hz.")] = None,
    scale: Annotated[str, typer.Option(help="Path on another rig: legs, height, none or a factor.")] = "legs",
    keep_feet: Annotated[bool, typer.Option(help="Hold standing feet on another rig.")] = True,
    keep_reach: Annotated[bool, typer.Option(help="Bring hands to where they were on another rig.")] = False,
    table: Annotated[bool, typer.Option("--table", help="Print which joint went where, every line.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON only.")] = False,
) -> None:
    """Write a file in another format, on another rig, at another frame rate."""
    from mimik.cli.files import open_any, open_rig, read_roles
    from mimik.goals.keypoints import Keypoints

    content = open_any(source, units=from_units, up=up, roles=read_roles(roles))
    if isinstance(content, Keypoints):
        _convert_keypoints(content, source, target, rig=rig, fps=fps, units=units, as_json=as_json)
        return
    clip = _as_clip(content)
    clip = _edited(clip, start=start, end=end, smooth=smooth, fps=fps)
    report: RetargetReport | None = None
    if rig is not None:
        from mimik.motion.retarget import retarget

        clip, report = retarget(clip, open_rig(rig), scale=_scale(scale), keep_feet=keep_feet, keep_reach=keep_reach)
    notes = write_for(clip, target, program=program, units=units)
    _tell(source, target, clip, report, notes, program=program, table=table, as_json=as_json)


def write_for(clip: Clip, target: Path, *, program: str | None = None, units: str | None = None) -> list[str]:
    """Write a clip as a program wants it; explicit units go before the program's. Return what the format lost."""
    from mimik.cli.files import call_with
    from mimik.cli.programs import writing_options
    from mimik.io import save_clip

    options: dict[str, Any] = writing_options(program, target.suffix.lower())
    if units is not None:
        options["units"] = units
    return call_with(save_clip, clip, target, **options)


def _as_clip(content: Any) -> Clip:
    """Return the clip, or one frame of a rig's T-pose."""
    from mimik.motion.clip import Clip

    if isinstance(content, Clip):
        return content
    pose = content.tpose()
    return Clip(content, pose.rotations[None], pose.root[None], name=content.name, notes=("a rig without motion",))


def _edited(clip: Clip, *, start: float, end: float | None, smooth: float | None, fps: float | None) -> Clip:
    from mimik.motion.resample import resample, trim
    from mimik.motion.smooth import smooth_clip

    if start > 0 or end is not None:
        clip = trim(clip, start, end)
    if smooth is not None:
        clip = smooth_clip(clip, smooth)
    return clip if fps is None else resample(clip, fps)


def _scale(scale: str) -> Any:
    try:
        return float(scale)
    except ValueError:
        return scale


def _convert_keypoints(
    take: Keypoints, source: Path, target: Path, *, rig: str | None, fps: float | None, units: str | None, as_json: bool
) -> None:
    from mimik.cli.files import call_with
    from mimik.cli.output import console, print_json, print_notes
    from mimik.errors import OptionError
    from mimik.io import can, save_keypoints
    from mimik.motion.resample import resample_keypoints

    if rig is not None or not can(target, "write_keypoints"):
        raise OptionError(
            f"{source} holds keypoints, not rotations; solve them first: mimik solve {source} -o {target}"
        )
    take = take if fps is None else resample_keypoints(take, fps)
    notes = call_with(save_keypoints, take, target, units=units)
    if as_json:
        print_json({"source": str(source), "wrote": str(target), "notes": [*take.notes, *notes]})
        return
    console().print(f"wrote  {target}  ({len(take.names)} points, {take.frame_count} frames, {take.fps:g} fps)")
    print_notes([*take.notes, *notes])


def _tell(
    source: Path,
    target: Path,
    clip: Clip,
    report: RetargetReport | None,
    notes: list[str],
    *,
    program: str | None,
    table: bool,
    as_json: bool,
) -> None:
    from mimik.cli.output import console, print_json, print_notes
    from mimik.cli.programs import how_to_open

    said = [*clip.notes, *(report.notes if report else ()), *notes]
    if as_json:
        print_json({"source": str(source), "wrote": str(target), "frames": clip.frame_count, "fps": clip.fps,
                    "joints": clip.rig.joint_count, "retarget": _report_values(report), "notes": said})  # fmt: skip
        return
    if report is not None:
        print_mapping(report, every_line=table)
    opening = how_to_open(program, target.suffix.lower())
    console().print(
        f"wrote  {target}  ({clip.rig.joint_count} joints, {clip.frame_count} frames, {clip.fps:g} fps)", markup=False
    )
    if opening:
        console().print(f"open   {opening}", markup=False)
    print_notes(said)


def print_mapping(report: RetargetReport, *, every_line: bool = False) -> None:
    """Print the table of what was mapped; only body roles and what is not simply carried unless every line is asked."""
    from rich.markup import escape
    from rich.table import Table

    from mimik.cli.output import console
    from mimik.rig.roles import BODY_ROLES

    grid = Table("role", "from", "to", "how", box=None, pad_edge=False, header_style="bold")
    left_out = 0
    for row in report.rows:
        if every_line or row.role in BODY_ROLES:
            grid.add_row(*(escape(cell) for cell in (row.role, row.source or "-", row.target or "-", row.how)))
        else:
            left_out += 1
    console().print(grid)
    if left_out:
        console().print(f"and {left_out} finger, face and extra joints; --table shows them")
    before, carried, held = report.slide_cm_s
    console().print(f"path   scaled by {report.scale:.3f}")
    console().print(f"feet   slide {before:.1f} cm/s on the source, {carried:.1f} carried over, {held:.1f} written")


def _report_values(report: RetargetReport | None) -> dict[str, Any] | None:
    if report is None:
        return None
    from dataclasses import asdict

    return asdict(report)
