"""The actions of sample motion. Each begins and ends in the relaxed stance of `stage.standing`, so they join up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mimik._types import Array
from mimik.motion.sample.body import LEFT, RIGHT, SIDES, SampleBody, ease, keys, smooth, through, turn
from mimik.motion.sample.gait import path_steps, perform_steps, turning_steps
from mimik.motion.sample.stage import Performance, stand_on_legs, standing
from mimik.rotation import quat_apply

Action = Callable[[SampleBody, float, float, np.random.Generator], Performance]
"""(body, seconds, fps, rng) -> performance; actions that repeat fill the seconds, the others are played in them."""

_DEG = np.pi / 180


def stand(body: SampleBody, seconds: float, fps: float, rng: np.random.Generator) -> Performance:
    """Stand, shifting weight a little."""
    p = standing(body, _frames(seconds, fps), fps)
    t, span = p.t, max(seconds, 1e-3)
    shift = np.sin(np.pi * t / span) ** 2 * np.sin(2 * np.pi * t / max(3.0, span)) * 0.02 * body.leg
    p.pelvis[:, 0] += shift
    p.pelvis_turn[:, 2] += 60.0 * shift / body.leg
    p.chest[:, 2] -= 80.0 * shift / body.leg
    stand_on_legs(p)
    return p


def walk(body: SampleBody, seconds: float, fps: float, rng: np.random.Generator) -> Performance:
    """Walk along a gently bending path and stop."""
    step_time = 0.545 * np.sqrt(body.leg / 0.82) * rng.uniform(0.97, 1.03)
    count = max(3, int((seconds - 0.7) / step_time))
    steps = path_steps(
        body, count, first=0.3, step_time=step_time, stride=0.78 * body.leg, bend=float(rng.uniform(-4.0, 4.0))
    )
    return perform_steps(body, steps, seconds, fps)


def turn_around(body: SampleBody, seconds: float, fps: float, rng: np.random.Generator) -> Performance:
    """Turn on the spot in steps, by about 120 degrees to either side."""
    angle = float(rng.choice([-1.0, 1.0]) * rng.uniform(100.0, 140.0))
    steps = turning_steps(body, angle, first=0.3, step_time=max(0.3, (seconds - 0.9) / 4.2))
    return perform_steps(body, steps, seconds, fps)


def run(body: SampleBody, seconds: float, fps: float, rng: np.random.Generator) -> Performance:
    """Run on the spot: both feet leave the floor, knees come up in front, arms drive."""
    p = standing(body, _frames(seconds, fps), fps)
    t, leg = p.t, body.leg
    cadence = 1.45 * np.sqrt(0.82 / leg)  # strides a second
    effort = ease(t, 0.2, 1.0) * (1.0 - ease(t, seconds - 1.0, seconds - 0.25))
    phase = (t - 0.2) * cadence
    for side in (LEFT, RIGHT):
        air = _airborne(phase + 0.5 * side)
        lift = np.sin(np.pi * air) ** 2 * effort
        forward = np.sin(2 * np.pi * air) * effort * (air > 0)
        p.foot[:, side, 1] += leg * (0.30 * lift)
        p.foot[:, side, 2] += leg * (0.10 * lift - 0.13 * forward)
        p.foot_pitch[:, side] = -42.0 * lift - 16.0 * forward * np.minimum(4.0 * lift, 1.0)
        p.toe[:, side] = 0.8 * p.foot_pitch[:, side]
        p.contact[:, side] = lift < 1e-6
        swing = np.cos(2 * np.pi * (phase + 0.5 * side - 0.08)) * effort
        p.arm[:, side, 0] += 34.0 * swing - 4.0 * effort
        p.arm[:, side, 1] += 8.0 * effort
        p.arm[:, side, 2] += 14.0 * effort
        p.elbow[:, side] += 76.0 * effort + 12.0 * swing
        p.curl[:, side] += 0.3 * effort
        p.collar[:, side, 1] = 5.0 * swing
    beat = np.cos(4 * np.pi * (phase - 0.20)) * effort  # down on each landing
    sway = np.sin(2 * np.pi * (phase + 0.07)) * effort
    p.pelvis[:, 0] += 0.015 * leg * sway
    p.pelvis_turn[:] = np.stack([5.0 * sway, 7.0 * effort, 2.5 * sway], -1)
    p.chest[:] = np.stack([-12.0 * sway, 3.0 * effort - 1.5 * beat, -3.0 * sway], -1)
    p.head[:] = np.stack([6.5 * sway, -7.0 * effort + 1.0 * beat, 0.8 * sway], -1)
    p.pelvis[:, 1] = _standing_height(body) - leg * (0.025 * effort + 0.03 * beat)
    return p


def squat(body: SampleBody, seconds: float, fps: float, rng: np.random.Generator) -> Performance:
    """Squat with the arms held out in front, as often as the seconds allow."""
    p = standing(body, _frames(seconds, fps), fps)
    count = max(1, int(seconds / 2.6))
    span = seconds / count
    down = np.zeros(p.frames)
    for i in range(count):
        depth = rng.uniform(0.9, 1.05)
        u = p.t / span - i
        down += depth * (ease(u, 0.04, 0.46) - ease(u, 0.54, 0.97))
    p.pelvis[:, 2] -= 0.20 * body.leg * down
    p.pelvis_turn[:, 1] = 30.0 * down
    p.chest[:, 1] = 12.0 * np.sin(np.pi * np.clip(down, 0, 1)) - 4.0 * down
    p.head[:, 1] = -20.0 * down
    p.arm[:, :, 0] += 98.0 * smooth(down, fps, 0.05)[:, None]
    p.arm[:, :, 1] += 2.0 * down[:, None]
    p.elbow -= 6.0 * down[:, None]
    p.pronation -= 14.0 * down[:, None]
    p.collar[:, :, 1] = 6.0 * down[:, None]
    p.knee_out += 16.0 * down[:, None]
    p.curl -= 0.2 * down[:, None]
    stand_on_legs(p, 0.43 * down)
    return p


def reach(body: SampleBody, seconds: float, fps: float, rng: np.random.Generator) -> Performance:
    """Reach for three things: high on one side, far across the front, low on the floor; eyes on the hand."""
    p = standing(body, _frames(seconds, fps), fps)
    side = int(rng.integers(2))
    sign, leg, arm, s = (1.0 if side == LEFT else -1.0), body.leg, body.arm, seconds
    across_x, shoulder = body.shoulder_half_width, _standing_height(body) + _trunk(body)
    high = np.array([sign * (across_x + 0.50 * arm), shoulder + 0.80 * arm, 0.52 * arm])
    across = np.array([-sign * 0.62 * arm, shoulder - 0.12 * arm, 1.02 * arm])
    low = np.array([sign * 0.20 * arm, 0.30 * leg, 1.0 * arm])
    rest = _hanging_hand(body, side)
    times = s * np.array([0.03, 0.24, 0.31, 0.49, 0.55, 0.75, 0.82, 0.98])
    targets = np.stack([rest, high, high, across, across, low, low, rest])
    targets[1:5] += rng.normal(0, 0.02 * leg, (2, 1, 3)).repeat(2, axis=0).reshape(4, 3)
    p.hand[:, side] = keys(p.t, times, targets)
    p.hand_weight[:, side] = ease(p.t, 0.02 * s, 0.14 * s) - ease(p.t, 0.84 * s, 0.985 * s)
    lead = smooth(through(p.t, times - 0.02 * s, [0, 1, 1, 2, 2, 3, 3, 4]), fps, 0.05)

    def pose(*values: float) -> Array:
        return np.interp(lead, np.arange(5), [0.0, *values, 0.0])

    p.pelvis[:, 0] += sign * leg * pose(0.05, -0.05, 0.01)
    p.pelvis[:, 2] += leg * pose(0.03, 0.04, -0.14)
    p.pelvis_turn[:] = np.stack([sign * pose(-6, -22, -8), pose(0, 6, 48), sign * pose(4, -3, 0)], -1)
    p.chest[:] = np.stack([sign * pose(-10, -30, -14), pose(-8, 8, 34), sign * pose(9, -4, -3)], -1)
    p.head[:] = np.stack([sign * pose(22, 8, 10), pose(-24, 2, -6), sign * pose(3, -3, 0)], -1)
    p.collar[:, side, 0] = pose(20, 8, 2)
    p.collar[:, side, 1] = pose(6, 16, 14)
    p.arm[:, 1 - side, 0] += pose(-8, -10, 26)
    p.arm[:, 1 - side, 1] += pose(6, 4, 12)
    p.elbow[:, 1 - side] += pose(4, 10, 12)
    p.curl[:, side] = 0.35 - pose(0.25, 0.2, 0.25)
    p.wrist[:, side, 0] += pose(-22, -10, 10)
    p.pronation[:, side] += pose(-10, -20, 20)
    p.knee_out += pose(0, 0, 12)[:, None]
    for array in (p.pelvis, p.pelvis_turn, p.chest, p.head):
        array[:] = smooth(array, fps, 0.09)
    stand_on_legs(p, smooth(pose(0.0, 0.02, 0.30), fps, 0.09), straight=0.996)
    return p


def wave(body: SampleBody, seconds: float, fps: float, rng: np.random.Generator) -> Performance:
    """Raise a hand and wave."""
    p = standing(body, _frames(seconds, fps), fps)
    side = LEFT if rng.random() < 0.25 else RIGHT
    sign = 1.0 if side == LEFT else -1.0
    up = ease(p.t, 0.05 * seconds, 0.05 * seconds + 0.75) - ease(p.t, seconds - 0.95, seconds - 0.08)
    swing = np.sin(2 * np.pi * 1.75 * (p.t - 0.3)) * smooth(up**2, fps, 0.1)
    p.arm[:, side] += up[:, None] * np.array([22.0, 66.0, -68.0])
    p.arm[:, side, 1] += 5.0 * swing
    p.elbow[:, side] += 70.0 * up + 21.0 * swing
    p.pronation[:, side] -= 18.0 * up
    p.wrist[:, side, 0] -= 10.0 * up
    p.wrist[:, side, 1] -= 15.0 * np.roll(swing, round(0.06 * fps)) * (up > 0)
    p.curl[:, side] -= 0.3 * up
    p.collar[:, side, 0] = 9.0 * up
    p.pelvis[:, 0] -= sign * 0.035 * body.leg * up
    p.pelvis_turn[:, 2] = -sign * 2.2 * up
    p.chest[:] = np.stack([sign * -4.0 * up, -1.5 * up, sign * (4.5 * up + 0.8 * swing)], -1)
    p.head[:] = np.stack([sign * 7.0 * up, -2.0 * up, -sign * 6.0 * up], -1)
    stand_on_legs(p)
    return p


def sit(body: SampleBody, seconds: float, fps: float, rng: np.random.Generator) -> Performance:
    """Sit down on a seat of knee height, hands on the thighs, look around, stand up."""
    p = standing(body, _frames(seconds, fps), fps)
    move = min(1.5, 0.34 * seconds)
    t, leg = p.t, body.leg
    down = ease(t, 0.1, 0.1 + move) - ease(t, seconds - move - 0.1, seconds - 0.1)
    lean = _bump(t, 0.1, 0.15 + 1.1 * move) + _bump(t, seconds - 1.3 * move, seconds - 0.1)
    p.pelvis[:, 2] -= 0.50 * leg * down
    p.pelvis_turn[:, 1] = 33.0 * lean - 7.0 * down
    p.chest[:, 1] = 16.0 * lean + 10.0 * down
    seated = np.clip(2.0 * down - 1.0, 0, 1) ** 2
    look = np.sin(2 * np.pi * (t - 0.1 - move) / max(seconds - 2 * move, 1.0))
    p.head[:, 0], p.head[:, 1] = 26.0 * look * seated, -17.0 * lean - 2.0 * down
    p.chest[:, 0] = 5.0 * look * seated
    p.arm[:, :, 0] += (15.0 * down + 14.0 * lean)[:, None]
    p.arm[:, :, 2] += (16.0 * down)[:, None]
    p.elbow += (27.0 * down)[:, None]
    p.pronation += (-22.0 * down)[:, None]
    p.knee_out += (7.0 * down)[:, None]
    stand_on_legs(p, 0.36 * down, straight=0.992)
    seat = body.ankle + 0.54 * leg
    p.pelvis[:, 1] = p.pelvis[:, 1] * (1 - down) + seat * down
    return p


def cartwheel(body: SampleBody, seconds: float, fps: float, rng: np.random.Generator) -> Performance:
    """Turn a cartwheel to the left: step, hands down one after the other, legs over the head, feet down."""
    p = standing(body, _frames(seconds, fps), fps)
    u = np.clip(p.t - 0.5 * (seconds - _WHEEL_SECONDS), 0.0, _WHEEL_SECONDS)  # the cartwheel's own clock
    scale = body.leg / 0.82
    roll = smooth(through(u, *_WHEEL_ROLL), fps, 0.05)
    path = through(u, *_WHEEL_PATH) * scale
    over_hands = body.arm * 0.97 + _trunk(body) + 0.13 * scale  # height of the pelvis when upside down
    path[:, 1] += (over_hands - 1.09 * scale) * _bump(u, 0.6, 2.16) + body.ankle - 0.08 * scale
    free = ease(u, 0.2, 0.7) * (1 - ease(u, 2.1, 2.6))
    p.pelvis[:, 0] = smooth(path[:, 0], fps, 0.06)
    p.pelvis[:, 1] = smooth(free * path[:, 1] + (1 - free) * _standing_height(body), fps, 0.04)
    p.pelvis_turn[:, 2] = roll
    p.chest[:, 2] = -14.0 * _bump(u, 0.5, 1.3) + 14.0 * _bump(u, 1.5, 2.3)
    p.chest[:, 1] = -4.0 * _bump(u, 0.7, 2.1)
    p.head[:, 1] = -24.0 * _bump(u, 0.6, 2.2)
    for side in (LEFT, RIGHT):
        _cartwheel_foot(p, u, roll, side, scale)
        _cartwheel_arm(p, u, side, scale)
    return p


_WHEEL_SECONDS = 2.9
_WHEEL_END = 2.36
_WHEEL_ROLL = (
    [0.3, 0.66, 1.0, 1.19, 1.38, 1.57, 1.76, 2.1, 2.5],
    [0.0, -22.0, -98.0, -141.0, -180.0, -219.0, -262.0, -338.0, -360.0],
)
_WHEEL_PATH = (  # along and up, metres for a leg of 0.82 m
    [0.2, 0.66, 1.0, 1.19, 1.38, 1.57, 1.76, 2.1, 2.6],
    np.array([[0, 0.9], [0.24, 0.82], [0.6, 0.86], [0.9, 1.02], [1.25, 1.09], [1.6, 1.02], [1.9, 0.86], [2.22, 0.83],
              [_WHEEL_END, 0.9]]),
)  # fmt: skip
_WHEEL_FEET = ((1.03, 2.06), (0.70, 1.73))  # the foot leaves and lands: left, right
_WHEEL_HANDS = ((0.98, 1.50, 1.02), (1.26, 1.78, 1.48))  # the hand comes down, leaves, and where: left, right


def _cartwheel_foot(p: Performance, u: Array, roll: Array, side: int, scale: float) -> None:
    """Step out with the left foot; then each foot flies over in a straddle and lands."""
    (lift, land), sign = _WHEEL_FEET[side], 1.0 if side == LEFT else -1.0
    start = p.foot[0, side, 0]
    out = 0.50 * scale if side == LEFT else start
    ground = keys(u, [0.28, 0.62, 1.2, 1.6], [start, out, out, _WHEEL_END * scale + start])
    free = ease(u, lift, lift + 0.30) * (1 - ease(u, land - 0.30, land))
    spread = sign * (48.0 * _bump(u, lift, land) + 8.0)
    angle = (roll + spread) * _DEG
    hip = quat_apply(turn("z", roll * _DEG), p.body.offset(f"{SIDES[side]}_hip")) + p.pelvis
    across, rise = ground - hip[:, 0], p.body.ankle - hip[:, 1]
    from_ground = np.arctan2(across, -rise) - angle
    angle = angle + (1 - free) * (np.mod(from_ground + np.pi, 2 * np.pi) - np.pi)
    span = (1 - free) * np.hypot(across, rise) + free * 0.985 * p.body.leg
    p.foot[:, side, 0] = hip[:, 0] + span * np.sin(angle)
    p.foot[:, side, 1] = np.maximum(hip[:, 1] - span * np.cos(angle), p.body.ankle)
    p.foot_roll[:, side] = sign * ((1 - free) * np.where(u < 1.4, 0.0, -360.0) + free * (roll + spread))
    p.foot_pitch[:, side], p.toe[:, side] = -38.0 * free, -46.0 * free
    p.contact[:, side] = free <= 0
    if side == LEFT:
        p.foot[:, side, 1] += 0.06 * scale * _bump(u, 0.28, 0.62)
        p.contact[(u > 0.28) & (u < 0.62), side] = 0.0


def _cartwheel_arm(p: Performance, u: Array, side: int, scale: float) -> None:
    """Raise the arm, plant the hand, push off, lower the arm."""
    (down, up, place), sign = _WHEEL_HANDS[side], 1.0 if side == LEFT else -1.0
    raised = ease(u, 0.05, 0.6) - ease(u, 2.0, 2.75)
    p.arm[:, side] += raised[:, None] * np.array([0.0, 156.0, -78.0])
    p.elbow[:, side] -= 10.0 * raised
    p.hand[:, side] = np.array([place, 0.075, 0.02]) * scale
    p.hand_weight[:, side] = ease(u, down - 0.32, down) - ease(u, up, up + 0.32)
    p.hand_turn[:, side] = turn("y", sign * np.full(p.frames, 80.0 * _DEG))
    p.hand_turn_weight[:, side] = ease(u, down - 0.22, down + 0.02) - ease(u, up - 0.04, up + 0.2)
    p.collar[:, side, 0] = 22.0 * raised
    p.curl[:, side] -= 0.25 * raised


def _trunk(body: SampleBody) -> float:
    """Height of the shoulders over the pelvis in the T-pose."""
    return float(sum(body.offset(role)[1] for role in ("spine1", "spine2", "spine3", "left_collar", "left_shoulder")))


def _frames(seconds: float, fps: float) -> int:
    return max(1, round(seconds * fps))


def _bump(t: Array, start: float, end: float) -> Array:
    """Rise from 0 to 1 at the middle and fall back, smoothly."""
    middle = 0.5 * (start + end)
    return ease(t, start, middle) - ease(t, middle, end)


def _airborne(phase: Array) -> Array:
    """Share of the flight (0 to 1) a foot has done at a stride's phase; 0 while it stands."""
    cycle = phase - np.floor(phase)
    return np.where(cycle < 0.36, 0.0, (cycle - 0.36) / 0.64)


def _standing_height(body: SampleBody) -> float:
    hip = body.offset("left_hip")
    return body.ankle + 0.985 * body.leg - float(hip[1])


def _hanging_hand(body: SampleBody, side: int) -> Array:
    sign = 1.0 if side == LEFT else -1.0
    return np.array([sign * 0.34 * body.leg, _standing_height(body) - 0.05 * body.leg, 0.10 * body.leg])


ACTIONS: dict[str, Action] = {
    "stand": stand, "walk": walk, "run": run, "squat": squat, "reach": reach, "wave": wave, "sit": sit,
    "turn": turn_around, "cartwheel": cartwheel,
}  # fmt: skip
NATURAL_SECONDS = {
    "stand": 2.0, "walk": 5.0, "run": 4.0, "squat": 2.8, "reach": 6.0, "wave": 3.6, "sit": 5.6,
    "turn": 2.6, "cartwheel": 3.2,
}  # fmt: skip
