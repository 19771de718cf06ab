"""Trunk, neck and head of the mannequin. Lengths are metres of a figure of 1.75 m; rows are Part profiles."""

import numpy as np

from mimik._types import Array
from mimik.studio.body import FRONT, UP, Body
from mimik.studio.parts import Part

TRUNK = [
    # t from hip line (0) to shoulder line (1), half width, half depth, -, forward shift
    (-0.11, 0.112, 0.070, 0.0, -0.006),
    (-0.02, 0.150, 0.097, 0.0, -0.010),
    (0.10, 0.150, 0.098, 0.0, -0.008),
    (0.26, 0.139, 0.091, 0.0, 0.002),
    (0.38, 0.135, 0.088, 0.0, 0.004),
    (0.52, 0.141, 0.094, 0.0, 0.002),
    (0.68, 0.155, 0.104, 0.0, 0.000),
    (0.82, 0.163, 0.105, 0.0, -0.004),
    (0.94, 0.150, 0.090, 0.0, -0.010),
    (1.03, 0.110, 0.068, 0.0, -0.012),
    (1.10, 0.062, 0.056, 0.0, -0.010),
]
BELOW, ABOVE = -0.11, 1.10


def torso_parts(body: Body) -> list[Part]:
    """Return trunk, buttocks, chest muscles, collars, neck and head, as far as the rig's roles allow."""
    line = _hips_and_shoulders(body)
    if line is None:
        return head_parts(body, None)
    hips, shoulders = line
    axis = shoulders - hips
    length, s = float(np.linalg.norm(axis)), body.scale
    start, end = hips + BELOW * axis, hips + ABOVE * axis
    width_low, width_high = _breadth(body, "hip", 0.09), _breadth(body, "shoulder", 0.185)
    rows = []
    for t, across, depth, _, shift in TRUNK:
        share = float(np.clip((t - 0.2) / 0.6, 0.0, 1.0))
        wide = width_low + share * (width_high - width_low)
        rows.append(((t - BELOW) / (ABOVE - BELOW), across * wide, depth * s, 0.0, shift * s))
    stations = _spine_stations(body, start, end)
    trunk = Part(start, end, FRONT, rows, stations, caps=(0.035 * s, 0.03 * s), blend=0.02 * s)
    return [trunk, *_muscles(body, hips, axis / length, length, width_high, trunk), *head_parts(body, hips + axis)]


def _hips_and_shoulders(body: Body) -> tuple[Array, Array] | None:
    """Return the middle of the hip line and of the shoulder line, guessed from neighbours where roles are missing."""
    s = body.scale
    if body.has("left_hip", "right_hip"):
        hips = 0.5 * (body.at("left_hip") + body.at("right_hip"))
        if body.has("pelvis"):
            hips[2] = 0.5 * (hips[2] + body.at("pelvis")[2])
    elif body.has("pelvis"):
        hips = body.at("pelvis") - 0.04 * s * UP
    else:
        return None
    if body.has("left_shoulder", "right_shoulder"):
        shoulders = 0.5 * (body.at("left_shoulder") + body.at("right_shoulder"))
        if body.has("neck"):
            shoulders[2] = 0.5 * (shoulders[2] + body.at("neck")[2])
    else:
        upper = body.first("neck", "head", "spine3", "spine2", "spine1")
        if upper is None:
            return None
        shoulders = body.at(upper) - {"neck": 0.05, "head": 0.14}.get(upper, -0.15) * s * UP
    if shoulders[1] - hips[1] < 0.15 * s:
        return None
    return hips, shoulders


def _breadth(body: Body, role: str, usual: float) -> float:
    """Return the factor on trunk widths from the distance of the two hips or shoulders."""
    left, right = f"left_{role}", f"right_{role}"
    if not body.has(left, right):
        return body.scale
    half = 0.5 * float(np.linalg.norm(body.at(left) - body.at(right)))
    return body.scale * float(np.clip(half / (usual * body.scale), 0.8, 1.25)) ** 0.7


def _spine_stations(body: Body, start: Array, end: Array) -> list[tuple[float, int]]:
    """Return the joints of the spine in their order, from the lowest that carries the trunk to the chest."""
    top = body.first("neck", "head", "spine3", "left_collar", "left_shoulder", "right_shoulder", "spine2", "spine1")
    bottom = body.joint("pelvis") if body.has("pelvis") else 0
    joints = body.chain(bottom, body.joint(top)) if top is not None else [bottom]
    if len(joints) > 1 and top is not None and not top.startswith("spine"):
        joints = joints[:-1]
    rows = body.places(start, end, joints)
    return [(-np.inf, rows[0][1]), *rows[1:]]


def _muscles(body: Body, hips: Array, up: Array, length: float, wide: float, trunk: Part) -> list[Part]:
    s = body.scale
    parts = []
    for side in (1.0, -1.0):
        x = np.array([side, 0.0, 0.0])
        seat = hips + 0.066 * s * x - 0.040 * s * FRONT - 0.035 * s * up
        parts.append(_ball(seat, (0.066 * s, 0.062 * s, 0.076 * s), trunk, 0.05 * s))
        breast = hips + 0.815 * length * up + 0.072 * wide * x + 0.070 * s * FRONT
        parts.append(_ball(breast, (0.082 * wide, 0.028 * s, 0.060 * s), trunk, 0.06 * s))
        blade = hips + 0.80 * length * up + 0.085 * wide * x - 0.060 * s * FRONT
        parts.append(_ball(blade, (0.070 * wide, 0.045 * s, 0.090 * s), trunk, 0.05 * s))
    for name in ("left", "right"):
        if not body.has(f"{name}_shoulder"):
            continue
        shoulder = body.at(f"{name}_shoulder")
        root = hips + length * up * 1.10 - 0.015 * s * FRONT
        near = root + 0.18 * (shoulder - root)
        rows = [(0.0, 0.050 * s, 0.050 * s), (0.45, 0.044 * s, 0.046 * s), (1.0, 0.046 * s, 0.048 * s)]
        parent = int(body.rig.parents[body.joint(f"{name}_shoulder")])
        bone = body.bones.joint(body.joint(f"{name}_collar") if body.has(f"{name}_collar") else max(parent, 0))
        stations = [(-np.inf, trunk.stations[-1][1]), (0.25, bone)]
        parts.append(Part(near, shoulder, FRONT, rows, stations, blend=0.06 * s))
    return parts


def _ball(centre: Array, radii: tuple[float, float, float], trunk: Part, blend: float) -> Part:
    """Return an ellipsoid of half axes across, deep and high that follows the trunk at its height."""
    axis = trunk.end - trunk.start
    t = float((centre - trunk.start) @ axis) / max(float(axis @ axis), 1e-12)
    bone = [bone for place, bone in trunk.stations if place <= t][-1]
    half = 0.02 * radii[2] * axis / np.linalg.norm(axis)
    rows = [(0.0, radii[0], radii[1]), (1.0, radii[0], radii[1])]
    return Part(centre - half, centre + half, FRONT, rows, [(-np.inf, bone)], caps=(radii[2], radii[2]), blend=blend)


SKULL = (0.0745, 0.096, 0.103)
"""Half width, half depth, half height of the skull."""


def head_parts(body: Body, shoulders: Array | None) -> list[Part]:
    """Return neck, skull, jaw, nose and the darker face plate that shows where the head looks."""
    name = body.first("head", "neck")
    if name is None:
        return []
    s = body.scale
    joint, base = body.joint(name), body.at(name)
    if name == "neck":
        base = base + 0.10 * s * UP
    tip = body.tip("head") if name == "head" else None
    height = 0.19 * s
    if tip is not None and tip[1] - base[1] > 0.07 * s:
        height = float(np.clip(tip[1] - base[1], 0.13 * s, 0.25 * s))
    k = s * float(np.clip(height / (0.19 * s), 0.96, 1.12))
    centre = base + np.array([0.0, height - 0.103 * k, 0.022 * k])
    if shoulders is not None:
        centre[1] = max(centre[1], shoulders[1] + 0.315 * s - 0.103 * k)
    body.face = centre, k
    bone = body.bones.joint(joint)
    parts = []
    if shoulders is not None:
        parts.append(_neck(body, shoulders, centre, k, joint))
    parts += [
        _head_ball(centre, SKULL, k, bone, 0.02),
        _head_ball(centre + k * np.array([0.0, -0.062, 0.032]), (0.050, 0.055, 0.062), k, bone, 0.04),
        _head_ball(centre + k * np.array([0.0, -0.108, 0.064]), (0.022, 0.020, 0.017), k, bone, 0.025),
        _head_ball(centre + k * np.array([0.0, -0.040, 0.092]), (0.012, 0.016, 0.026), k, bone, 0.022),
        _head_ball(centre + k * np.array([0.0, -0.006, 0.078]), (0.048, 0.020, 0.014), k, bone, 0.03),
    ]
    for side in (1.0, -1.0):
        ear = centre + k * np.array([side * 0.074, -0.030, -0.006])
        parts.append(_head_ball(ear, (0.011, 0.020, 0.030), k, bone, 0.014))
    return parts


def _head_ball(centre: Array, radii: tuple[float, float, float], k: float, bone: int, blend: float) -> Part:
    half = 0.02 * radii[2] * k * UP
    rows = [(0.0, radii[0] * k, radii[1] * k), (1.0, radii[0] * k, radii[1] * k)]
    caps = (radii[2] * k, radii[2] * k)
    return Part(centre - half, centre + half, FRONT, rows, [(-np.inf, bone)], caps=caps, blend=blend * k)


def _neck(body: Body, shoulders: Array, centre: Array, k: float, head: int) -> Part:
    start = shoulders + np.array([0.0, -0.01 * k, -0.010 * k])
    end = centre + k * np.array([0.0, -0.05, -0.022])
    rows = [
        (0.0, 0.064 * k, 0.060 * k),
        (0.3, 0.054 * k, 0.055 * k),
        (0.65, 0.049 * k, 0.051 * k),
        (1.0, 0.05 * k, 0.054 * k),
    ]
    joints = body.chain(body.joint("neck"), head) if body.has("neck") else [head]
    below = int(body.rig.parents[joints[0]])
    places = body.places(start, end, joints)
    stations = [(-np.inf, body.bones.joint(max(below, 0))), *[(max(t, 0.1), bone) for t, bone in places]]
    return Part(start, end, FRONT, rows, stations, blend=0.035 * k)
