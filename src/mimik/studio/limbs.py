"""Arms and legs of the mannequin. Lengths are metres of a figure of 1.75 m; rows are Part profiles."""

import numpy as np

from mimik.studio.body import FRONT, UP, Body
from mimik.studio.parts import Part, Rows

UPPER_ARM: Rows = [
    # t, vertical radius, radius front to back, shift up, shift forward
    (0.00, 0.053, 0.056, -0.003, 0.0), (0.16, 0.053, 0.057, 0.000, 0.0), (0.34, 0.047, 0.050, 0.0, 0.002),
    (0.55, 0.044, 0.048, 0.0, 0.003), (0.80, 0.037, 0.039, 0.0, 0.0), (1.00, 0.034, 0.036, 0.0, 0.0),
]  # fmt: skip
FOREARM: Rows = [
    (0.00, 0.034, 0.037, 0.0, 0.0), (0.14, 0.040, 0.045, 0.0, 0.003), (0.30, 0.039, 0.044, 0.0, 0.002),
    (0.60, 0.030, 0.034, 0.0, 0.0), (0.88, 0.0215, 0.028, 0.0, 0.0), (1.00, 0.0205, 0.0275, 0.0, 0.0),
]  # fmt: skip
THIGH: Rows = [
    # t, radius across, radius front to back, shift outward, shift forward
    (0.00, 0.080, 0.086, 0.000, -0.004), (0.14, 0.082, 0.089, 0.000, 0.000), (0.40, 0.073, 0.081, 0.002, 0.006),
    (0.65, 0.062, 0.068, 0.0, 0.004), (0.86, 0.053, 0.056, 0.0, 0.002), (1.00, 0.050, 0.053, 0.0, 0.004),
]  # fmt: skip
SHIN: Rows = [
    (0.00, 0.049, 0.052, 0.0, 0.003), (0.12, 0.047, 0.052, 0.0, -0.002), (0.28, 0.053, 0.058, 0.0, -0.012),
    (0.42, 0.050, 0.054, 0.0, -0.011), (0.66, 0.038, 0.041, 0.0, -0.004), (0.86, 0.030, 0.034, 0.0, 0.0),
    (1.00, 0.032, 0.036, 0.0, 0.0),
]  # fmt: skip
FOOT: Rows = [
    # t from heel to toes, half width, half height, shift across, shift up from the sole
    (0.00, 0.031, 0.031, 0.0, 0.029), (0.18, 0.034, 0.036, 0.0, 0.034), (0.40, 0.036, 0.040, 0.0, 0.036),
    (0.60, 0.042, 0.030, 0.0, 0.026), (0.76, 0.045, 0.023, 0.0, 0.020), (0.90, 0.041, 0.018, 0.0, 0.016),
    (1.00, 0.030, 0.014, 0.0, 0.013),
]  # fmt: skip

TWIST_SHARES = ((0.26, 0.28), (0.50, 0.54), (0.74, 0.78))
"""(place along the forearm, share of the hand's turn that the forearm takes from there on)."""


def arm_parts(body: Body, side: str) -> list[Part]:
    """Return upper arm and forearm, as far as the rig has their joints."""
    shoulder, elbow, wrist = f"{side}_shoulder", f"{side}_elbow", f"{side}_wrist"
    parts = []
    if body.has(shoulder, elbow):
        length = _distance(body, shoulder, elbow)
        rows = _fit(UPPER_ARM, body.girth(length, 0.285), side)
        parts.append(_limb(body, shoulder, elbow, rows, bend=0.10, twist=False, blend=0.045, rings=(0.0, 0.020)))
    if body.has(elbow, wrist):
        length = _distance(body, elbow, wrist)
        rows = _fit(FOREARM, body.girth(length, 0.25), side)
        parts.append(_limb(body, elbow, wrist, rows, bend=0.09, twist=True, blend=0.02, rings=(0.020, 0.009)))
    return parts


def leg_parts(body: Body, side: str) -> list[Part]:
    """Return thigh and shin, as far as the rig has their joints."""
    hip, knee, ankle = f"{side}_hip", f"{side}_knee", f"{side}_ankle"
    parts = []
    if body.has(hip, knee):
        rows = _fit(THIGH, body.girth(_distance(body, hip, knee), 0.42), side)
        parts.append(_limb(body, hip, knee, rows, bend=0.07, twist=False, blend=0.045, rings=(0.0, 0.026)))
    if body.has(knee, ankle):
        rows = _fit(SHIN, body.girth(_distance(body, knee, ankle), 0.415), side)
        parts.append(_limb(body, knee, ankle, rows, bend=0.07, twist=False, blend=0.02, rings=(0.026, 0.010)))
    return parts


def _limb(
    body: Body,
    upper: str,
    lower: str,
    rows: Rows,
    *,
    bend: float,
    twist: bool,
    blend: float,
    rings: tuple[float, float],
) -> Part:
    """Return the part between two joints; a half bone carries the first `bend` of it and the same at its end.

    rings  half widths, for a figure of 1.75 m, of the accent rings at start and end; 0 for none
    """
    start, end = body.at(upper), body.at(lower)
    top, bottom = body.joint(upper), body.joint(lower)
    joints = body.chain(top, bottom)
    inner = [j for j in joints[1:-1] if np.linalg.norm(body.p[j] - start) > 0.02 * body.scale]
    base = int(body.rig.parents[top])
    stations = [(-np.inf, body.bones.half(base, top) if base >= 0 else body.bones.joint(top))]
    stations.append((bend, body.bones.joint(top)))
    stations += [(max(t, bend), bone) for t, bone in body.places(start, end, inner)]
    if twist and not inner and len(joints) > 1:
        stations += [(t, body.bones.twist(top, bottom, share)) for t, share in TWIST_SHARES]
    elif not twist and len(joints) > 1:
        stations.append((1.0 - 0.5 * bend, body.bones.half(joints[-2], bottom)))
    places = (0.0, {"knee": 1.0, "elbow": 1.0, "wrist": 0.85, "ankle": 0.9}[lower.split("_")[1]])
    bands = tuple((t, half * body.scale) for t, half in zip(places, rings) if half > 0.0)
    return Part(start, end, FRONT, rows, stations, blend=blend * body.scale, bands=bands)


def foot_parts(body: Body, side: str) -> list[Part]:
    """Return the foot, flat below, heel to toes; none without an ankle. A toe joint carries what lies before it."""
    s, ankle = body.scale, f"{side}_ankle"
    if not body.has(ankle):
        return []
    up, front = body.turned(ankle, UP), body.turned(ankle, FRONT)
    place, toe = body.at(ankle), f"{side}_foot"
    ball = 0.135 * s
    drop = 0.078 * s
    bone = body.bones.joint(body.joint(ankle))
    stations: list[tuple[float, int]] = [(-np.inf, bone)]
    if body.has(toe):
        offset = body.at(toe) - place
        flat = offset - (offset @ up) * up
        if np.linalg.norm(flat) > 0.03 * s:
            front = flat / np.linalg.norm(flat)
            ball = float(np.linalg.norm(flat))
        drop = float(np.clip(-(offset @ up) + 0.021 * s, 0.058 * s, 0.105 * s))
    ball = float(np.clip(ball, 0.09 * s, 0.18 * s))
    length = ball / 0.135 * 0.258
    heel = place - drop * up - 0.052 * ball / 0.135 * front
    end = heel + length * front
    if body.has(toe):
        t = (0.052 * ball / 0.135 + ball) / length
        stations.append((t - 0.02, body.bones.joint(body.joint(toe))))
    k = float(np.sqrt(s * ball / 0.135))
    high = min(1.0, drop / (0.078 * s))
    rows = [(t, w * k, h * s * max(high, 0.8), 0.0, c * s * max(high, 0.8)) for t, w, h, _, c in FOOT]
    cap = (0.024 * k, 0.020 * k)
    inner = heel + cap[0] * front, end - cap[1] * front
    return [Part(*inner, up, rows, stations, caps=cap, blend=0.03 * s, flat=0.0)]


def _distance(body: Body, a: str, b: str) -> float:
    return float(np.linalg.norm(body.at(a) - body.at(b)))


def _fit(rows: Rows, girth: float, side: str) -> Rows:
    """Scale a profile and turn its shift across to the right side's mirror image."""
    mirror = 1.0 if side == "left" else -1.0
    return [(t, across * girth, depth * girth, mirror * shift * girth, forward * girth)
            for t, across, depth, shift, forward in rows]  # fmt: skip
