"""Hands of the mannequin: a palm and five fingers, on the rig's finger joints where it has them."""

import numpy as np

from mimik._types import Array
from mimik.rotation import quat_apply, rotvec_to_quat
from mimik.studio.body import FRONT, UP, Body
from mimik.studio.limbs import TWIST_SHARES
from mimik.studio.parts import Part

FINGERS = {
    # knuckle: along the hand, toward the thumb side; lengths of the three bones; radius; splay outward, radians
    "index": ((0.090, 0.028), (0.043, 0.025, 0.020), 0.0088, 0.10),
    "middle": ((0.094, 0.0085), (0.047, 0.028, 0.021), 0.0090, 0.02),
    "ring": ((0.089, -0.0105), (0.043, 0.026, 0.020), 0.0086, -0.06),
    "pinky": ((0.080, -0.0285), (0.034, 0.019, 0.018), 0.0078, -0.16),
}
CURL = (0.16, 0.30, 0.26)
"""How far each finger bone bends down toward the palm in a relaxed hand, radians."""


def hand_parts(body: Body, side: str) -> list[Part]:
    """Return palm and fingers of one hand; none where the rig has no wrist."""
    wrist = f"{side}_wrist"
    if not body.has(wrist):
        return []
    elbow = f"{side}_elbow"
    along = body.turned(wrist, np.array([1.0 if side == "left" else -1.0, 0.0, 0.0]))
    if body.has(elbow) and np.linalg.norm(body.at(wrist) - body.at(elbow)) > 1e-6:
        along = body.at(wrist) - body.at(elbow)
        along = along / np.linalg.norm(along)
    thumb_side = FRONT
    up = body.turned(wrist, UP)
    k = _size(body, side)
    frame = np.array([along, thumb_side, up])
    parts = [_palm(body, wrist, frame, k)]
    for finger in FINGERS:
        parts += _finger(body, side, finger, frame, k)
    return [*parts, *_thumb(body, side, frame, k)]


def _size(body: Body, side: str) -> float:
    """Return the hand's size against the usual one, from knuckles or the wrist's tip where known."""
    wrist, middle = f"{side}_wrist", f"{side}_middle1"
    k = body.scale
    if body.has(middle):
        k *= float(np.clip(np.linalg.norm(body.at(middle) - body.at(wrist)) / (0.094 * k), 0.75, 1.25))
    return k


def _palm(body: Body, wrist: str, frame: Array, k: float) -> Part:
    along, _, up = frame
    start = body.at(wrist) - 0.012 * k * along
    end = body.at(wrist) + 0.088 * k * along - 0.002 * k * up
    rows = [
        (0.00, 0.0195, 0.0265), (0.16, 0.0185, 0.028), (0.45, 0.0165, 0.0375), (0.75, 0.0145, 0.0415),
        (1.00, 0.0115, 0.0385),
    ]  # fmt: skip
    rows = [(t, a * k, b * k) for t, a, b in rows]
    elbow_side = int(body.rig.parents[body.joint(wrist)])
    stations = [(-np.inf, body.bones.joint(body.joint(wrist)))]
    role = wrist.replace("wrist", "elbow")
    if body.has(role) and len(body.chain(body.joint(role), body.joint(wrist))) == 2:
        stations = [
            (-np.inf, body.bones.twist(elbow_side, body.joint(wrist), TWIST_SHARES[-1][1])),
            (0.1, stations[0][1]),
        ]
    return Part(start, end, FRONT, rows, stations, caps=(0.015 * k, 0.010 * k), blend=0.02 * k)


def _finger(body: Body, side: str, finger: str, frame: Array, k: float) -> list[Part]:
    (forward, across), lengths, radius, splay = FINGERS[finger]
    roles = [f"{side}_{finger}{n}" for n in (1, 2, 3)]
    if body.has(roles[0]):
        return _jointed(body, roles, radius * k, lengths[2] * k, frame)
    along, thumb_side, up = frame
    bone = body.bones.joint(body.joint(f"{side}_wrist"))
    point = body.at(f"{side}_wrist") + k * (forward * along + across * thumb_side - 0.002 * up)
    direction = along + splay * thumb_side
    bend = np.cross(along, -up)
    parts, angle = [], 0.0
    for n, length in enumerate(lengths):
        angle += CURL[n]
        step = quat_apply(rotvec_to_quat(angle * bend), direction / np.linalg.norm(direction))
        parts.append(_phalanx(point, point + k * length * step, radius * k * (1.0 - 0.09 * n), bone, thumb_side))
        point = point + k * length * step
    return parts


def _thumb(body: Body, side: str, frame: Array, k: float) -> list[Part]:
    along, thumb_side, up = frame
    wrist = body.at(f"{side}_wrist")
    roles = [f"{side}_thumb{n}" for n in (1, 2, 3)]
    if body.has(roles[0]):
        return _jointed(body, roles, 0.0115 * k, 0.026 * k, frame)
    bone = body.bones.joint(body.joint(f"{side}_wrist"))
    points = [
        wrist + k * (0.018 * along + 0.020 * thumb_side - 0.006 * up),
        wrist + k * (0.052 * along + 0.050 * thumb_side - 0.017 * up),
        wrist + k * (0.083 * along + 0.063 * thumb_side - 0.024 * up),
        wrist + k * (0.108 * along + 0.068 * thumb_side - 0.028 * up),
    ]
    radii = (0.0155, 0.0118, 0.0102)
    return [_phalanx(a, b, r * k, bone, thumb_side) for a, b, r in zip(points, points[1:], radii)]


def _jointed(body: Body, roles: list[str], radius: float, last: float, frame: Array) -> list[Part]:
    """Return a finger on its own joints, ended by its tip or a bone of usual length."""
    roles = [role for role in roles if body.has(role)]
    points = [body.at(role) for role in roles]
    tip = body.tip(roles[-1])
    if tip is None or np.linalg.norm(tip - points[-1]) < 1e-4:
        before = points[-1] - (points[-2] if len(points) > 1 else points[-1] - frame[0])
        tip = points[-1] + last * before / max(float(np.linalg.norm(before)), 1e-9)
    points.append(tip)
    parts = []
    for n, role in enumerate(roles):
        joint = body.joint(role)
        half = body.bones.half(int(body.rig.parents[joint]), joint)
        part = _phalanx(points[n], points[n + 1], radius * (1.0 - 0.09 * n), half, frame[1])
        part.stations.append((0.15, body.bones.joint(joint)))
        parts.append(part)
    return parts


def _phalanx(start: Array, end: Array, radius: float, bone: int, depth: Array) -> Part:
    rows = [
        (0.0, 1.02 * radius, 1.02 * radius),
        (0.5, 0.95 * radius, 0.95 * radius),
        (1.0, 0.94 * radius, 0.94 * radius),
    ]
    return Part(start, end, depth, list(rows), [(-np.inf, bone)], blend=0.5 * radius)
