"""`mimik pose`: one pose from goals, on any rig."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mimik.goals.targets import Goal
    from mimik.rig.rig import Rig
    from mimik.solve.solution import Solution

app = typer.Typer()

_HELP = "JOINT=x,y,z in metres; may be given again."


@app.command()
def pose(
    goals: Annotated[Path | None, typer.Argument(help="Goals, .toml or .json.")] = None,
    rig: Annotated[str, typer.Option(help="A built-in rig or a file.")] = "humanoid",
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Picture (.png), motion of one frame (.bvh, .glb, .npz) or .json."),
    ] = None,
    position: Annotated[list[str] | None, typer.Option(help=_HELP)] = None,
    pin: Annotated[list[str] | None, typer.Option(help="As --position, but met before all others.")] = None,
    look: Annotated[list[str] | None, typer.Option(help="Look at a place: " + _HELP)] = None,
    point: Annotated[list[str] | None, typer.Option(help="Point a bone along a direction: " + _HELP)] = None,
    pole: Annotated[list[str] | None, typer.Option(help="Which way an elbow or knee points: " + _HELP)] = None,
    turn: Annotated[list[str] | None, typer.Option(help="JOINT=x,y,z,w, a world rotation.")] = None,
    limits: Annotated[str | None, typer.Option(help="Joint limits: human, none, or a .toml file.")] = None,
    natural: Annotated[bool, typer.Option(help="Prefer poses people take where goals leave room.")] = True,
    method: Annotated[str, typer.Option(help="second_order or published.")] = "second_order",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Find a pose that meets goals inside the joint limits.

    For instance: mimik pose --position left_hand=0.4,1.3,0.4 --look head=0,1.5,2 -o pose.png
    """
    from mimik.cli.files import open_rig
    from mimik.errors import GoalError
    from mimik.io.goals_file import read_goals
    from mimik.solve.projected.solver import pose as solve_pose

    body = open_rig(rig)
    wanted = list(read_goals(goals)) if goals is not None else []
    for kind, texts, pinned in (
        ("position", position, False), ("position", pin, True), ("look_at", look, False), ("direction", point, False),
        ("pole", pole, False), ("orientation", turn, False),
    ):  # fmt: skip
        wanted += [_goal(kind, text, pinned) for text in texts or ()]
    if not wanted:
        raise GoalError("no goals: name a goals file, or give --position left_hand=0.4,1.2,0.3 and the like")
    options: dict[str, Any] = {"method": method} if natural else {"method": method, "natural": None}
    solution = solve_pose(_limited(body, limits), wanted, **options)
    _report(solution, as_json)
    if out is not None:
        _write(body, solution, out)


def _goal(kind: str, text: str, pinned: bool) -> Goal:
    """Make a goal of JOINT=number,number,number; raises GoalError that shows the form."""
    from mimik.errors import GoalError
    from mimik.io.goals_file import goal_from_table

    joint, equals, numbers = text.partition("=")
    try:
        values = [float(n) for n in numbers.split(",")]
    except ValueError:
        values = []
    if not equals or not values:
        raise GoalError(f"{text!r} is not of the form left_hand=0.4,1.2,0.3")
    return goal_from_table({"kind": kind, "joint": joint.strip(), "target": values, "pinned": pinned})


def _limited(body: Rig, limits: str | None) -> Rig:
    from mimik.rig.limits_human import human_limits

    if limits is None:
        return body
    if limits == "human":
        return body.with_limits(human_limits(body))
    if limits == "none":
        return body.with_limits(None)
    from mimik.io.limits_toml import read_limits

    return body.with_limits(read_limits(limits))


def _report(solution: Solution, as_json: bool) -> None:
    from mimik.cli.output import print_facts, print_json

    names, left = solution.goal_names, solution.residuals[0]
    if as_json:
        print_json(
            {
                "status": solution.status[0],
                "iterations": int(solution.iterations[0]),
                "residuals": {name: float(r) for name, r in zip(names, left, strict=True)},
                "rotations_xyzw": solution.rotations[0].tolist(),
                "root_m": solution.root[0].tolist(),
            }
        )
        return
    facts = [(name, f"{r:.6f}") for name, r in zip(names, left, strict=True)]
    print_facts([("status", solution.status[0]), ("iterations", str(solution.iterations[0])), *facts])


def _write(body: Rig, solution: Solution, out: Path) -> None:
    import json

    from mimik.cli.output import console
    from mimik.io import save_clip
    from mimik.io.files import atomic_write
    from mimik.motion.clip import Clip

    clip = Clip(body, solution.rotations, solution.root, 30.0, name="pose")
    if out.suffix.lower() == ".json":
        content = {
            "joints": list(body.names),
            "rotations_xyzw": solution.rotations[0].tolist(),
            "root_m": solution.root[0].tolist(),
        }
        with atomic_write(out) as temporary:
            Path(temporary).write_text(json.dumps(content, indent=1), encoding="utf-8")
    elif out.suffix.lower() in (".png", ".gif", ".mp4"):
        from mimik.studio.render import render

        render([clip], out, frames=1)
    else:
        save_clip(clip, out)
    console().print(f"wrote  {out}", markup=False)
