"""Stepping: from where and when the feet land to feet that roll, a pelvis that rides on them, arms that swing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mimik._types import Array
from mimik.motion.sample.body import SIDES, SampleBody, smooth, turn
from mimik.motion.sample.stage import (
    STANCE_HALF_WIDTH,
    TOES_OUT,
    Performance,
    heading,
    stand_on_legs,
    standing,
)
from mimik.rotation import quat_apply

_DEG = np.pi / 180
HEEL_STRIKE = 19.0
TOE_OFF = 44.0


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the foot of `side` leaves at `lift` and stands again at `land` seconds, at (x, z), turned by `yaw`."""

    side: int
    lift: float
    land: float
    x: float
    z: float
    yaw: float


def path_steps(
    body: SampleBody, count: int, *, first: float, step_time: float, stride: float, bend: float, swing: float = 0.76
) -> list[Step]:
    """Plan steps along a path that starts at the origin along +Z and bends by `bend` degrees a step.

    stride  distance between successive footfalls in metres; swing: time in the air, in step times
    The first step is half as long and the last sets the foot beside the other, so that the walk begins and ends
    standing.
    """
    steps, place, yaw = [], np.zeros(2), 0.0
    for i in range(count):
        length = stride * (0.5 if i == 0 else 0.0 if i == count - 1 else 1.0)
        if i < count - 1:
            yaw += bend
        place = place + length * np.array([np.sin(yaw * _DEG), np.cos(yaw * _DEG)])
        side = i % 2
        width = STANCE_HALF_WIDTH if i >= count - 2 else 0.72
        out = (1.0 if side == 0 else -1.0) * width * body.width
        x, z = place + out * np.array([np.cos(yaw * _DEG), -np.sin(yaw * _DEG)])
        lift = first + i * step_time
        steps.append(Step(side, lift, lift + swing * step_time, float(x), float(z), yaw))
    return steps


def turning_steps(body: SampleBody, angle: float, *, first: float, step_time: float) -> list[Step]:
    """Plan steps on the spot that turn the body by `angle` degrees, to the left where positive."""
    count = 2 * max(1, int(np.ceil(abs(angle) / 75.0)))
    lead = 0 if angle > 0 else 1
    steps = []
    for i in range(count):
        yaw = angle * min(1.0, (i + 1) / (count - 1)) if count > 1 else angle
        if i == count - 1:
            yaw = angle
        side = (lead + i) % 2
        out = (1.0 if side == 0 else -1.0) * STANCE_HALF_WIDTH * body.width
        x, z = out * np.cos(yaw * _DEG), -out * np.sin(yaw * _DEG)
        lift = first + i * step_time
        steps.append(Step(side, lift, lift + 0.72 * step_time, float(x), float(z), yaw))
    return steps


def perform_steps(body: SampleBody, steps: list[Step], seconds: float, fps: float) -> Performance:
    """Return the performance of planned steps from a stance at the origin: feet, pelvis, trunk, arms and head."""
    p = standing(body, max(1, round(seconds * fps)), fps)
    t = p.t
    for side in range(2):
        _move_foot(p, t, [s for s in steps if s.side == side], side)
    _ride_on_feet(p)
    return p


def _move_foot(p: Performance, t: Array, steps: list[Step], side: int) -> None:
    """Write one foot: it rolls from heel to toe while it stands and swings through between."""
    body, sign = p.body, 1.0 if side == 0 else -1.0
    place, yaw, land, came = p.foot[0, side, [0, 2]].copy(), 0.0, -1.0, 0.0
    stands = []  # (from, until, place, yaw, length of the step before, length of the step after)
    for step in steps:
        length = float(np.hypot(step.x - place[0], step.z - place[1])) / body.leg
        stands.append((land, step.lift, place, yaw, came, length))
        place, yaw, land, came = np.array([step.x, step.z]), step.yaw, step.land, length
    stands.append((land, max(t[-1], land) + 1.0, place, yaw, came, 0.0))
    for index, (start, end, place, yaw, before, after) in enumerate(stands):
        on = (t >= start) & (t <= end)
        pitch = _stance_pitch(t[on], start, end, before, after)
        p.foot[on, side], p.foot_pitch[on, side] = _pivot(body, place, sign * TOES_OUT + yaw, pitch), pitch
        p.toe[on, side] = np.maximum(pitch, 0.0) * 1.15
        p.foot_yaw[on, side] = TOES_OUT + sign * yaw
        p.contact[on, side] = 1.0
        if index + 1 < len(stands):
            _swing_foot(p, t, side, (start, end, place, yaw, before, after), stands[index + 1])


_Stand = tuple[float, float, Array, float, float, float]


def _stance_pitch(t: Array, start: float, end: float, before: float, after: float) -> Array:
    """Pitch of the foot while it stands: heel strike comes down early, the heel rises late."""
    span = min(end - start, 1.0)
    strike = HEEL_STRIKE * min(1.0, before / 1.3)
    push = TOE_OFF * min(1.0, 0.25 + after / 1.5) if after > 0 else 0.0
    down = np.clip((t - start) / (0.16 * span), 0.0, 1.0)
    up = np.clip((t - (end - 0.5 * span)) / (0.5 * span), 0.0, 1.0)
    return strike * (1.0 - down) ** 2 * (1.0 + 2.0 * down) - push * up**2.4


def _pivot(body: SampleBody, place: Array, yaw: float, pitch: Array) -> Array:
    """Place of the ankle (T, 3) when the foot, flat at `place`, pitches about its heel (up) or its ball (down)."""
    pivot = np.where((pitch > 0)[:, None], body.heel, body.ball)
    lever = quat_apply(turn("x", -pitch * _DEG), -pivot)
    ankle = quat_apply(turn("y", yaw * _DEG), pivot + lever)
    return ankle + np.array([place[0], body.ankle, place[1]])


def _swing_foot(p: Performance, t: Array, side: int, left: _Stand, next_stand: _Stand) -> None:
    """Write the foot in the air: a cubic from the velocity it leaves with to the one it lands with."""
    start, end = left[1], next_stand[0]
    air = (t > start) & (t < end)
    if not air.any():
        return
    sign, body, span = (1.0 if side == 0 else -1.0), p.body, end - start
    u = (t[air] - start) / span
    tiny = 1e-3
    times = np.array([[start - tiny, start], [end, end + tiny]])
    ends = []
    for (s0, s1, place, yaw, before, after), pair in ((left, times[0]), (next_stand, times[1])):
        pitch = _stance_pitch(pair, s0, s1, before, after)
        ends.append((_pivot(body, place, sign * TOES_OUT + yaw, pitch), pitch))
    (ankle_a, pitch_a), (ankle_b, pitch_b) = ends
    clearance = 0.035 * body.leg * min(1.0, 0.4 + left[5])
    leaving, arriving = (np.diff(ankle, axis=0)[0] / tiny * span for ankle in (ankle_a, ankle_b))
    path = _hermite(u, ankle_a[1], ankle_b[0], leaving, arriving)
    path[:, 1] += clearance * np.sin(np.pi * u) ** 2
    speed_a, speed_b = (pitch_a[1] - pitch_a[0]) / tiny * span, (pitch_b[1] - pitch_b[0]) / tiny * span
    pitch = _hermite(u, pitch_a[1:], pitch_b[:1], speed_a[None] * 0.7, speed_b[None])[:, 0]
    s = u * u * (3 - 2 * u)
    p.foot[air, side], p.foot_pitch[air, side] = path, pitch
    p.toe[air, side] = pitch * s + np.maximum(pitch_b[0] * 1.15 - pitch_b[0], 0) * s + 0.35 * pitch * (1 - s) * s
    p.foot_yaw[air, side] = TOES_OUT + sign * (left[3] + s * (next_stand[3] - left[3]))
    p.contact[air, side] = 0.0


def _hermite(u: Array, a: Array, b: Array, speed_a: Array, speed_b: Array) -> Array:
    u = u[:, None]
    return (
        (2 * u**3 - 3 * u**2 + 1) * a + (u**3 - 2 * u**2 + u) * speed_a
        + (3 * u**2 - 2 * u**3) * b + (u**3 - u**2) * speed_b
    )  # fmt: skip


def _ride_on_feet(p: Performance) -> None:
    """Carry pelvis, trunk, arms and head on what the feet do."""
    fps, body = p.fps, p.body
    yaw = smooth(heading(p), fps, 0.2)
    middle = smooth(p.foot.mean(axis=1), fps, 0.16)
    swing = smooth(1.0 - p.contact, fps, 0.09)
    to_left = swing[:, 1] - swing[:, 0]  # weight: left foot +, right foot -
    sideways = quat_apply(turn("y", yaw * _DEG), np.array([1.0, 0.0, 0.0]))
    forward = quat_apply(turn("y", yaw * _DEG), np.array([0.0, 0.0, 1.0]))
    ahead = smooth(((p.foot[:, 0] - p.foot[:, 1]) * forward).sum(-1), fps, 0.05) / body.leg  # left foot before right
    speed = smooth(np.linalg.norm(np.gradient(middle[:, [0, 2]], axis=0), axis=-1) * fps, fps, 0.25) / body.leg
    p.pelvis[:] = middle + (0.030 * body.leg * to_left)[:, None] * sideways + 0.012 * speed[:, None] * forward
    p.pelvis_turn[:] = np.stack([yaw - 8.0 * ahead, 1.5 * speed, 3.6 * to_left], -1)
    p.chest[:] = np.stack([17.0 * ahead, 1.2 * speed, -4.4 * to_left], -1)
    look = smooth(yaw, fps, 0.05)
    future = np.roll(look, -round(0.3 * fps))
    future[-max(1, round(0.3 * fps)) :] = look[-1]
    p.head[:] = np.stack([smooth(future, fps, 0.12) - yaw - 9.0 * ahead, -2.4 * speed, 0.8 * to_left], -1)
    for side, name in enumerate(SIDES):
        sign = 1.0 if name == "left" else -1.0
        swing_arm = -sign * ahead
        p.arm[:, side, 0] += 34.0 * swing_arm - 2.0 * speed
        p.arm[:, side, 1] += 1.5 * np.abs(ahead)
        p.elbow[:, side] += 4.5 * speed + 22.0 * np.maximum(smooth(swing_arm, fps, 0.06), -0.15)
        p.wrist[:, side, 0] += 9.0 * np.gradient(swing_arm) * fps / 6.0
        p.pronation[:, side] += 8.0 * speed + 10.0 * swing_arm
        p.collar[:, side, 1] = 4.0 * swing_arm
    stand_on_legs(p, straight=0.993, calm=0.045)
