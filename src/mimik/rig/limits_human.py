"""Built-in joint ranges of people, by role, and ranges measured from motion.

The table speaks of the T-pose in world axes (left is +X, up +Y, front +Z) and of the left side; `human_limits` turns it
into any rig's own axes and mirrors it. Ranges after the norms of orthopaedics (American Academy of Orthopaedic
Surgeons, Joint Motion), rounded outwards so that ordinary motion fits.
"""

from typing import Literal

import numpy as np

from mimik._types import Array
from mimik.errors import OptionError, RigError, one_of
from mimik.rig.limits import JointRange, Limits, swing_axes
from mimik.rig.rig import Rig
from mimik.rotation import (
    quat_apply,
    quat_inv,
    quat_log,
    quat_mean,
    quat_mul,
    quat_to_euler,
    rotvec_to_quat,
    swing_twist,
    twist_angle,
)

_X, _Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)

_BALLS = {
    "spine1": (_Y, (0, 0, 0), 30, 25), "spine2": (_Y, (0, 0, 0), 30, 25), "spine3": (_Y, (0, 0, 0), 30, 25),
    "neck": (_Y, (0, 0, 0), 45, 50), "head": (_Y, (0, 0, 0), 45, 50), "jaw": (_Y, (0, 0, 0), 25, 5),
    "collar": (_X, (0, 0, 10), 35, 30), "shoulder": (_X, (0, -35, -35), 110, 110), "wrist": (_X, (0, 0, 0), 85, 45),
    "hip": (_Y, (-40, 0, 10), 90, 60), "ankle": (_Y, (10, 0, 0), 60, 45),
}  # fmt: skip
"""Role -> twist axis, centre (rotation vector), cone and twist either way, degrees."""

_AXES = {
    "knee": (((1, 0, 0), (0, 1, 0)), (-8, -25), (160, 25)),
    "elbow": (((0, -1, 0), (1, 0, 0)), (-10, -100), (155, 100)),
    "foot": (((1, 0, 0), (0, 1, 0)), (-65, -10), (55, 10)),
}
"""Role -> axes, lower and upper, degrees: bending, then twist."""


def human_limits(rig: Rig) -> Limits:
    """Return the ranges of people for every joint of a rig that has a role; its other joints stay without limits."""
    local_tpose = rig.tpose().rotations
    ranges = {}
    for role, joint in rig.roles.items():
        side = -1.0 if role.startswith("right_") else 1.0
        part = role.removeprefix("left_").removeprefix("right_")
        if part not in _BALLS and part not in _AXES:
            continue
        to_joint = quat_inv(rig.q_world_tpose[joint])
        zero = quat_mul(quat_inv(rig.skeleton.rest[joint]), local_tpose[joint])
        if part in _BALLS:
            twist, centre, cone, turn = _BALLS[part]
            off = rotvec_to_quat(np.deg2rad(np.array(centre, float) * [1.0, side, side]))
            middle = quat_mul(quat_mul(to_joint, off), quat_inv(to_joint))
            axis = quat_apply(to_joint, np.array(twist) * (side if twist == _X else 1.0))
            limit = np.deg2rad([np.inf, np.inf, turn])
            ranges[rig.names[joint]] = JointRange.ball(
                axis, -limit, limit, cone=np.deg2rad(cone), centre=quat_mul(zero, middle)
            )
        else:
            axes, low, high = _AXES[part]
            turned = quat_apply(to_joint, np.array(axes, float) * [1.0, side, side])
            ranges[rig.names[joint]] = JointRange("universal", turned, np.deg2rad(low), np.deg2rad(high), centre=zero)
    return Limits(ranges, "ranges of people by role")


def measure_limits(
    rig: Rig,
    rotations: Array,
    *,
    percent: float = 5.0,
    kind: Literal["ball", "zyx", "zyz"] = "ball",
    margin: float = 0.0,
) -> Limits:
    """Return the ranges a motion keeps: local rotations (T, J, 4), cut at `percent` from either end of each value.

    kind    "ball": a swing cone about the mean pose and a range of twist; "zyx" or "zyz": a box on Euler angles
    margin  radians added on either side
    The pelvis and what stands above it stay without limits.
    Raises RigError for a motion of another rig, OptionError for a percentage outside 0 to 50.
    """
    if not 0.0 <= percent < 50.0:
        raise OptionError(f"percent lies between 0 and 50, not {percent}")
    if kind not in ("ball", "zyx", "zyz"):
        raise OptionError(one_of("kind of limits", kind, ("ball", "zyx", "zyz")))
    q = np.asarray(rotations, dtype=np.float64)
    if q.ndim != 3 or q.shape[1:] != (rig.joint_count, 4) or not len(q) or not np.isfinite(q).all():
        raise RigError(f"rotations must be finite and (frames, {rig.joint_count}, 4), not {q.shape}")
    turns = quat_mul(quat_inv(rig.skeleton.rest), q)
    ranges = {}
    pelvis = rig.roles.get("pelvis", 0)
    for j in range(1, rig.joint_count):
        if rig.skeleton.descends_from(pelvis, j):  # the whole figure may turn as it likes
            continue
        measured = (
            _measure_ball(rig, j, turns[:, j], percent) if kind == "ball" else _measure_box(turns[:, j], percent, kind)
        )
        grown = measured.with_limits(measured.lower - margin, measured.upper + margin)
        if np.isfinite(grown.cone):
            grown = JointRange.ball(
                grown.axes[2], grown.lower, grown.upper, cone=min(np.pi, grown.cone + margin), centre=grown.centre
            )
        ranges[rig.names[j]] = grown
    return Limits(ranges, f"percentiles {percent:g} to {100 - percent:g} of {len(q)} frames")


def _measure_ball(rig: Rig, joint: int, turns: Array, percent: float) -> JointRange:
    children = rig.skeleton.children(joint)
    bone = rig.offsets[children].mean(axis=0) if children else np.nan_to_num(rig.skeleton.tips[joint])
    axis = swing_axes(bone if np.linalg.norm(bone) > 1e-6 else (0.0, 1.0, 0.0))[2]
    centre = quat_mean(turns)
    swing, _ = swing_twist(quat_mul(quat_inv(centre), turns), axis)
    twist = twist_angle(quat_mul(quat_inv(centre), turns), axis)
    cone = float(np.percentile(np.linalg.norm(quat_log(swing), axis=-1), 100.0 - percent))
    low, high = np.percentile(twist, [percent, 100.0 - percent])
    return JointRange.ball(axis, [-np.inf, -np.inf, low], [np.inf, np.inf, high], cone=cone, centre=centre)


def _measure_box(turns: Array, percent: float, order: str) -> JointRange:
    angles = np.unwrap(quat_to_euler(turns, order), axis=0)
    low, high = np.percentile(angles, [percent, 100.0 - percent], axis=0)
    return JointRange.euler(order, low, high)
