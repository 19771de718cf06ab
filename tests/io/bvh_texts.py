"""Small BVH files as text, for the tests of this folder."""

from collections.abc import Sequence

HEAD_Y = 1.0


def body(
    *,
    scale: float = 1.0,
    joint: str = "{word} {name}\n{tab}{{",
    channels: str = "CHANNELS 3 Zrotation Xrotation Yrotation",
    names: Sequence[str] = (),
    z_up: bool = False,
) -> str:
    """Return the hierarchy of a small figure 1.75 units tall: hips, legs, spine, head and arms in a T-pose.

    `joint` is the template of a joint's opening lines, `names` replace the joints' own, in order.
    """
    rows = [
        ("Hips", 0, (0.0, 0.0, 0.0), None),
        ("LeftUpLeg", 1, (0.1, -0.05, 0.0), None),
        ("LeftLeg", 2, (0.0, -0.42, 0.0), None),
        ("LeftFoot", 3, (0.0, -0.42, 0.0), (0.0, -0.08, 0.15)),
        ("RightUpLeg", 1, (-0.1, -0.05, 0.0), None),
        ("RightLeg", 2, (0.0, -0.42, 0.0), None),
        ("RightFoot", 3, (0.0, -0.42, 0.0), (0.0, -0.08, 0.15)),
        ("Spine", 1, (0.0, 0.2, 0.0), None),
        ("Neck", 2, (0.0, 0.3, 0.0), None),
        ("Head", 3, (0.0, 0.1, 0.0), (0.0, 0.2, 0.0)),
        ("LeftArm", 2, (0.18, 0.25, 0.0), None),
        ("LeftForeArm", 3, (0.28, 0.0, 0.0), None),
        ("LeftHand", 4, (0.26, 0.0, 0.0), (0.18, 0.0, 0.0)),
        ("RightArm", 2, (-0.18, 0.25, 0.0), None),
        ("RightForeArm", 3, (-0.28, 0.0, 0.0), None),
        ("RightHand", 4, (-0.26, 0.0, 0.0), (-0.18, 0.0, 0.0)),
    ]
    lines = ["HIERARCHY"]
    for i, (own, depth, offset, end) in enumerate(rows):
        name = names[i] if i < len(names) else own
        tab = "\t" * depth
        opening = joint.format(word="JOINT" if i else "ROOT", name=name, tab=tab)
        lines.append(tab + opening)
        lines.append(f"{tab}\tOFFSET {triple(offset, scale, z_up)}")
        lines.append(f"{tab}\t{channels if i else 'CHANNELS 6 Xposition Yposition Zposition ' + channels[11:]}")
        if end is not None:
            lines += [f"{tab}\tEnd Site", f"{tab}\t{{", f"{tab}\t\tOFFSET {triple(end, scale, z_up)}", f"{tab}\t}}"]
        below = rows[i + 1][1] if i + 1 < len(rows) else 0
        lines += ["\t" * d + "}" for d in range(depth, below - 1, -1)]
    return "\n".join(lines) + "\n"


def triple(v: Sequence[float], scale: float, z_up: bool) -> str:
    """Format a vector in file units and axes."""
    x, y, z = (c * scale for c in v)
    return f"{x:.6g} {-z:.6g} {y:.6g}" if z_up else f"{x:.6g} {y:.6g} {z:.6g}"


def frames(rows: Sequence[str], *, count: int | None = None, time: str = "0.0333333") -> str:
    """Return the MOTION section of rows of numbers."""
    return "\n".join(["MOTION", f"Frames: {len(rows) if count is None else count}", f"Frame Time: {time}", *rows, ""])


def standing(scale: float = 1.0, *, columns: int = 51, frame: int = 0, z_up: bool = False) -> str:
    """Return one frame of the figure of `body` standing on the floor."""
    place = triple((0.01 * frame, HEAD_Y - 0.03, 0.0), scale, z_up)
    return place + " 0" * (columns - 3)
