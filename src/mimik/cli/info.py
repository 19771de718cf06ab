"""`mimik info`: what is in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mimik.goals.keypoints import Keypoints
    from mimik.motion.clip import Clip
    from mimik.rig.rig import Rig

app = typer.Typer()


@app.command()
def info(
    files: Annotated[list[Path], typer.Argument(help="Any file mimik reads; several are told one after the other.")],
    units: Annotated[
        str | None, typer.Option(help="Units of the file: m, cm, mm, in; recognised unless given.")
    ] = None,
    up: Annotated[str | None, typer.Option(help="Up axis of the file: y, z, -y, ...; recognised unless given.")] = None,
    roles: Annotated[Path | None, typer.Option(help="Mapping file of role = joint, .json or .toml.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Say what is in a file: kind, joints, roles found, units, axes, frames, rest pose, problems."""
    from mimik.cli.files import open_any, read_roles
    from mimik.cli.output import print_facts, print_json

    table = read_roles(roles)
    told = []
    for path in files:
        facts = describe(open_any(path, units=units, up=up, roles=table))
        told.append({"file": str(path), **facts})
    if as_json:
        print_json(told[0] if len(told) == 1 else told)
        return
    for number, facts in enumerate(told):
        if number:
            typer.echo()
        print_facts(_lines(facts))


def describe(content: Clip | Rig | Keypoints) -> dict[str, Any]:
    """Return what is known of a clip, rig or take, as plain values for JSON."""
    from mimik.goals.keypoints import Keypoints
    from mimik.motion.clip import Clip

    if isinstance(content, Keypoints):
        return describe_keypoints(content)
    if isinstance(content, Clip):
        return describe_clip(content)
    return {"kind": "rig", **describe_rig(content), "problems": list(content.notes)}


def describe_rig(rig: Rig) -> dict[str, Any]:
    """Return joints, roles, size and rest pose of a rig."""
    import numpy as np

    from mimik.rig.role_space import tpose_positions
    from mimik.rig.roles import BODY_ROLES, FINGERS

    body = [role for role in BODY_ROLES if role in rig.roles]
    return {
        "name": rig.name,
        "joints": rig.joint_count,
        "root": rig.names[0],
        "body_roles": len(body),
        "missing_roles": [role for role in BODY_ROLES if role not in rig.roles],
        "finger_roles": sum(any(finger in role for finger in FINGERS) for role in rig.roles),
        "roles": {role: rig.names[joint] for role, joint in rig.roles.items()},
        "rest_pose": rig.rest_kind,
        "joint_height_m": round(float(np.ptp(tpose_positions(rig)[:, 1])), 4),
        "skin_vertices": 0 if rig.skin is None else len(rig.skin.vertices),
        "limits": 0 if rig.limits is None else len(rig.limits),
    }


def describe_clip(clip: Clip) -> dict[str, Any]:
    """Return the rig, the timing and the quality of a clip."""
    import numpy as np

    from mimik.motion.contacts import clip_contacts
    from mimik.motion.measures import foot_slide, twist_jumps

    contacts = clip_contacts(clip)
    path = clip.positions()[:, clip.rig.roles.get("pelvis", 0)][:, [0, 2]]
    motion = {
        "frames": clip.frame_count,
        "fps": clip.fps,
        "seconds": round(clip.duration, 4),
        "path_m": round(float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum()), 3),
        "floor_m": round(contacts.floor, 4),
        "foot_contact": round(float(contacts.foot.any(axis=1).mean()), 3) if clip.frame_count else 0.0,
        "foot_slide_cm_s": round(foot_slide(clip, contacts), 2),
        "twist_jumps": len(twist_jumps(clip)),
        "joints_that_slide": clip.translations is not None,
    }
    return {"kind": "motion", **describe_rig(clip.rig), **motion, "problems": _problems(clip, motion)}


def describe_keypoints(take: Keypoints) -> dict[str, Any]:
    """Return points, timing and gaps of a take."""
    import numpy as np

    seen = np.asarray(np.isfinite(take.positions).all(axis=2))
    found = take.positions[seen]
    return {
        "kind": "keypoints",
        "layout": take.layout,
        "points": len(take.names),
        "names": list(take.names),
        "frames": take.frame_count,
        "fps": take.fps,
        "seconds": round(take.duration, 4),
        "missing": round(float(1.0 - seen.mean()), 4) if seen.size else 0.0,
        "never_seen": [name for k, name in enumerate(take.names) if not seen[:, k].any()],
        "low_m": [round(float(v), 3) for v in found.min(axis=0)] if len(found) else [],
        "high_m": [round(float(v), 3) for v in found.max(axis=0)] if len(found) else [],
        "problems": list(take.notes),
    }


def _problems(clip: Clip, motion: dict[str, Any]) -> list[str]:
    from mimik.motion.contacts import leg_length

    problems = [*clip.rig.notes, *(note for note in clip.notes if note not in clip.rig.notes)]
    if motion["twist_jumps"]:
        problems.append(f"bones twist by more than 30 degrees between frames {motion['twist_jumps']} times")
    leg = leg_length(clip.rig)
    if not 0.25 <= leg <= 1.5:
        problems.append(f"the legs are {leg:.3g} m long; if that is wrong, tell the units with --units")
    if motion["foot_contact"] > 0 and abs(motion["floor_m"]) > 0.15:
        problems.append(f"the feet stand at height {motion['floor_m']:.2f} m, not on the floor")
    return problems


def _lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the facts as lines to read."""
    lines = [("file", facts["file"]), ("kind", facts["kind"])]
    if facts["kind"] == "keypoints":
        lines += [("points", f"{facts['points']}" + (f", layout {facts['layout']}" if facts["layout"] else ""))]
        lines += [("missing", f"{100 * facts['missing']:.1f} %")]
        if facts["low_m"]:
            lines += [("space", " ".join(f"{a:.2f}..{b:.2f}" for a, b in zip(facts["low_m"], facts["high_m"])) + " m")]
    else:
        lines += [
            ("joints", f"{facts['joints']}, root {facts['root']}"),
            ("roles", _role_line(facts)),
            ("rest pose", facts["rest_pose"]),
            ("height", f"{facts['joint_height_m']:.2f} m between the joints"),
        ]
        if facts["skin_vertices"]:
            lines.append(("skin", f"{facts['skin_vertices']} vertices"))
    if "frames" in facts:
        lines.append(("frames", f"{facts['frames']} at {facts['fps']:g} fps, {facts['seconds']:.2f} s"))
    if facts["kind"] == "motion":
        lines.append(("path", f"{facts['path_m']:.2f} m over the floor"))
        lines.append(
            ("feet", f"slide {facts['foot_slide_cm_s']:.1f} cm/s in contact, floor at {facts['floor_m']:.2f} m")
        )
    lines.append(("read as", "metres, Y up"))
    lines += [("note" if number else "notes", note) for number, note in enumerate(facts["problems"])]
    return lines


def _role_line(facts: dict[str, Any]) -> str:
    line = f"{facts['body_roles']} of 22"
    if facts["finger_roles"]:
        line += f", {facts['finger_roles']} finger joints"
    if facts["body_roles"] and facts["missing_roles"]:
        line += f"; missing: {', '.join(facts['missing_roles'])}"
    return line
