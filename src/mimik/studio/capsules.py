"""Plain rounded bones for joints no role names: whole unknown rigs, tails, props, hair."""

import numpy as np

from mimik.rotation import quat_apply
from mimik.studio.body import FRONT, UP, Body
from mimik.studio.parts import Part

MOST_BONES = 300


def bone_parts(body: Body, joints: list[int], thickness: float, *, cover: tuple[float, float]) -> list[Part]:
    """Return a rounded tube from every listed joint to each child among them and to its tip.

    thickness  radius over length; `cover` (least, most) bounds the radius in metres
    Of very many bones only the longest get a body.
    """
    listed, parts = set(joints), []
    for joint in joints:
        start = body.p[joint]
        ends = [body.p[c] for c in body.rig.skeleton.children(joint) if c in listed]
        tip = body.rig.skeleton.tips[joint]
        if np.isfinite(tip).all():
            ends.append(start + quat_apply(body.q[joint], tip))
        for end in ends:
            length = float(np.linalg.norm(end - start))
            if length > 1e-5:
                radius = float(np.clip(thickness * length, *cover))
                rows = [(0.0, 0.85 * radius, 0.85 * radius), (0.2, radius, radius), (1.0, 0.6 * radius, 0.6 * radius)]
                depth = FRONT if abs(end[2] - start[2]) < 0.9 * length else UP
                parts.append(Part(start, end, depth, list(rows), [(-np.inf, joint)], blend=0.6 * radius))
    parts = sorted(parts, key=lambda part: -float(np.linalg.norm(part.end - part.start)))[:MOST_BONES]
    for part in parts:
        part.stations = [(t, body.bones.joint(joint)) for t, joint in part.stations]
    return parts


def ball(body: Body, joint: int, radius: float) -> Part:
    """Return a ball round one joint, for a rig that has no length anywhere."""
    rows = [(0.0, radius, radius), (1.0, radius, radius)]
    end = body.p[joint] + 0.01 * radius * UP
    bone = body.bones.joint(joint)
    return Part(body.p[joint], end, FRONT, list(rows), [(-np.inf, bone)], blend=0.5 * radius)
