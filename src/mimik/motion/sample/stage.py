"""The performance: a body's movement as a few readable channels, and how they become rotations of the body roles."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from scipy.ndimage import minimum_filter1d

from mimik._types import Array
from mimik.motion.sample.body import LEFT, SIDES, SampleBody, smooth, turn
from mimik.rig.role_space import ROLE_COUNT, ROLE_INDEX
from mimik.rig.two_bone import solve_two_bone
from mimik.rotation import quat_align, quat_apply, quat_inv, quat_mul, quat_slerp

_MIRROR = np.array([1.0, -1.0, -1.0, 1.0])
_KNEE_HINGE = np.array([1.0, 0.0, 0.0])
_DEG = np.pi / 180


@dataclass(slots=True, eq=False)
class Performance:
    """Channels of T frames. Angles in degrees, places in metres; sides are (left, right), angles mean the same on both.

    pelvis      (T, 3) place of the pelvis             pelvis_turn (T, 3) yaw to the left, pitch forward, left side up
    chest, head (T, 3) yaw, pitch, roll on the pelvis, on the chest
    collar      (T, 2, 2) raised, brought forward      arm   (T, 2, 3) forward, out to the side, turned inward
    elbow       (T, 2) bent                            pronation (T, 2) palm turned back
    wrist       (T, 2, 2) bent to the palm, to the thumb        curl (T, 2) fingers, 0 open, 1 fist
    hand        (T, 2, 3) place of the wrist, where hand_weight (T, 2) is above 0
    hand_turn   (T, 2, 4) world rotation of the hand, where hand_turn_weight (T, 2) is above 0
    foot        (T, 2, 3) place of the ankle; foot_yaw outward, foot_pitch toes up, foot_roll outer edge up (T, 2)
    toe         (T, 2) pitch of the toes, up, in the world
    contact     (T, 2) the foot bears weight
    knee_out    (T, 2) how far the knees point out beside the feet and hips
    """

    body: SampleBody
    fps: float
    pelvis: Array
    foot: Array
    foot_yaw: Array
    pelvis_turn: Array
    chest: Array
    head: Array
    collar: Array
    arm: Array
    elbow: Array
    pronation: Array
    wrist: Array
    curl: Array
    hand: Array
    hand_weight: Array
    hand_turn: Array
    hand_turn_weight: Array
    foot_pitch: Array
    foot_roll: Array
    toe: Array
    contact: Array
    knee_out: Array

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.pelvis)

    @property
    def t(self) -> Array:
        """Time of each frame in seconds (T,)."""
        return np.arange(self.frames) / self.fps


_CHANNELS = tuple(f.name for f in fields(Performance))[2:]
STANCE_HALF_WIDTH = 1.15
TOES_OUT = 9.0


def standing(body: SampleBody, frames: int, fps: float) -> Performance:
    """Return a relaxed stance at the origin, facing +Z, held for all frames."""
    pair = np.ones((frames, 2))
    foot = np.zeros((frames, 2, 3))
    foot[:, :, 0] = STANCE_HALF_WIDTH * body.width * np.array([1.0, -1.0])
    foot[:, :, 1] = body.ankle
    pelvis = np.zeros((frames, 3))
    pelvis[:, 1] = body.offsets[0, 1] - 0.01 * body.leg
    hand_turn = np.zeros((frames, 2, 4))
    hand_turn[..., 3] = 1.0
    return Performance(
        body=body, fps=fps, pelvis=pelvis, foot=foot, foot_yaw=TOES_OUT * pair, pelvis_turn=np.zeros((frames, 3)),
        chest=np.zeros((frames, 3)), head=np.zeros((frames, 3)), collar=np.zeros((frames, 2, 2)),
        arm=np.stack([2.0 * pair, 9.0 * pair, -4.0 * pair], -1), elbow=16.0 * pair, pronation=18.0 * pair,
        wrist=np.stack([7.0 * pair, 0.0 * pair], -1), curl=0.35 * pair, hand=np.zeros((frames, 2, 3)),
        hand_weight=0.0 * pair, hand_turn=hand_turn, hand_turn_weight=0.0 * pair, foot_pitch=0.0 * pair,
        foot_roll=0.0 * pair, toe=0.0 * pair, contact=pair, knee_out=3.0 * pair,
    )  # fmt: skip


def heading(p: Performance) -> Array:
    """Return the mean direction of the feet in degrees (T,), to the left positive."""
    return 0.5 * (p.foot_yaw[:, 0] - p.foot_yaw[:, 1])


def stand_on_legs(p: Performance, drop: Array | float = 0.0, *, straight: float = 0.992, calm: float = 0.06) -> None:
    """Set the pelvis' height: as high as both legs allow, smoothed, less `drop` (T,) in leg lengths.

    straight  how far a leg may stretch, as a share of its length; calm: smoothing in seconds
    """
    q_pelvis = pelvis_rotation(p)
    limit = np.full(p.frames, np.inf)
    for side, name in enumerate(SIDES):
        hip = quat_apply(q_pelvis, p.body.offset(f"{name}_hip"))
        across = p.foot[:, side, [0, 2]] - p.pelvis[:, [0, 2]] - hip[:, [0, 2]]
        rise = np.sqrt(np.maximum((straight * p.body.leg) ** 2 - (across**2).sum(-1), (0.3 * p.body.leg) ** 2))
        limit = np.minimum(limit, p.foot[:, side, 1] + rise - hip[:, 1])
    window = 2 * max(1, round(1.5 * calm * p.fps)) + 1
    p.pelvis[:, 1] = smooth(minimum_filter1d(limit, window, mode="nearest"), p.fps, calm) - drop * p.body.leg


def pelvis_rotation(p: Performance) -> Array:
    """Return the pelvis' world rotation (T, 4)."""
    return _yaw_pitch_roll(p.pelvis_turn)


def role_rotations(p: Performance) -> Array:
    """Return the world rotations D (T, 22, 4) of the body roles, legs and weighted hands solved onto their places."""
    D = np.zeros((p.frames, ROLE_COUNT, 4))
    q_pelvis = pelvis_rotation(p)
    q_chest = quat_mul(q_pelvis, _yaw_pitch_roll(p.chest))
    q_head = quat_mul(q_chest, _yaw_pitch_roll(p.head))
    D[:, ROLE_INDEX["pelvis"]] = q_pelvis
    for k in (1, 2, 3):
        D[:, ROLE_INDEX[f"spine{k}"]] = quat_slerp(q_pelvis, q_chest, k / 3)
    D[:, ROLE_INDEX["neck"]] = quat_slerp(q_chest, q_head, 0.45)
    D[:, ROLE_INDEX["head"]] = q_head
    shoulders = _shoulder_places(p, D)
    for side in range(2):
        _leg(p, D, side)
        _arm(p, D, side, shoulders[side], q_chest)
    return quat_align(D)


def finger_curls(p: Performance) -> dict[str, Array]:
    """Return the rotation (T, 4) of each finger role on its parent in T-pose axes: all bend to the palm."""
    curls = {}
    for side, name in enumerate(SIDES):
        sign = -1.0 if side == LEFT else 1.0
        for finger, more in (("index", 0.85), ("middle", 0.95), ("ring", 1.05), ("pinky", 1.1)):
            for k, degrees in ((1, 75.0), (2, 90.0), (3, 55.0)):
                angle = sign * degrees * _DEG * np.clip(p.curl[:, side] * more, 0.0, 1.0)
                curls[f"{name}_{finger}{k}"] = turn("z", angle)
        for k, rest, degrees in ((1, 6.0, 40.0), (2, 4.0, 40.0), (3, 4.0, 45.0)):
            closed = -sign * (rest + degrees * p.curl[:, side]) * _DEG
            curls[f"{name}_thumb{k}"] = quat_mul(turn("z", 0.5 * sign * rest * _DEG), turn("y", closed))
    return curls


def concatenate(parts: list[Performance]) -> Performance:
    """Join performances end to end, each beginning where and facing as the one before ended."""
    placed = parts[:1]
    for part in parts[1:]:
        placed.append(_placed_after(placed[-1], part))
    first = parts[0]
    return Performance(first.body, first.fps, *(np.concatenate([getattr(p, n) for p in placed]) for n in _CHANNELS))


def crop(p: Performance, start: int, frames: int) -> Performance:
    """Return some frames of a performance."""
    return Performance(p.body, p.fps, *(getattr(p, n)[start : start + frames].copy() for n in _CHANNELS))


def placed(p: Performance, yaw_deg: float, shift: Array) -> Performance:
    """Return the performance turned about the vertical through the origin, then moved by `shift` (3,)."""
    q = turn("y", yaw_deg * _DEG)
    moved = crop(p, 0, p.frames)
    moved.pelvis = quat_apply(q, p.pelvis) + shift
    moved.foot = quat_apply(q, p.foot) + shift
    moved.hand = quat_apply(q, p.hand) + shift
    moved.hand_turn = quat_mul(q, p.hand_turn)
    moved.pelvis_turn = p.pelvis_turn + np.array([yaw_deg, 0.0, 0.0])
    moved.foot_yaw = p.foot_yaw + yaw_deg * np.array([1.0, -1.0])
    return moved


def _placed_after(before: Performance, part: Performance) -> Performance:
    yaw = float(heading(before)[-1] - heading(part)[0])
    q = turn("y", yaw * _DEG)
    middle_before, middle = before.foot[-1].mean(0), part.foot[0].mean(0)
    shift = middle_before - quat_apply(q, middle)
    shift[1] = 0.0
    return placed(part, yaw, shift)


def _yaw_pitch_roll(angles: Array) -> Array:
    """Yaw, pitch, roll (..., 3) in degrees to quaternions; roll to the right is clockwise seen from behind."""
    yaw, pitch, roll = (angles[..., k] * _DEG for k in range(3))
    return quat_mul(quat_mul(turn("y", yaw), turn("x", pitch)), turn("z", roll))


def _sided(q: Array, side: int) -> Array:
    """Mirror a rotation meant for the left side when the side is the right."""
    return q if side == LEFT else q * _MIRROR


def _shoulder_places(p: Performance, D: Array) -> list[Array]:
    """Set the collars; return the shoulders' places (T, 3), left and right."""
    place = p.pelvis
    for parent, role in (("pelvis", "spine1"), ("spine1", "spine2"), ("spine2", "spine3")):
        place = place + quat_apply(D[:, ROLE_INDEX[parent]], p.body.offset(role))
    q_chest, places = D[:, ROLE_INDEX["spine3"]], []
    for side, name in enumerate(SIDES):
        raised, forward = (p.collar[:, side, k] * _DEG for k in range(2))
        q_collar = quat_mul(q_chest, _sided(quat_mul(turn("z", raised), turn("y", -forward)), side))
        D[:, ROLE_INDEX[f"{name}_collar"]] = q_collar
        collar = place + quat_apply(q_chest, p.body.offset(f"{name}_collar"))
        places.append(collar + quat_apply(q_collar, p.body.offset(f"{name}_shoulder")))
    return places


def _arm(p: Performance, D: Array, side: int, shoulder: Array, q_chest: Array) -> None:
    name = SIDES[side]
    forward, out, inward = (p.arm[:, side, k] * _DEG for k in range(3))
    lowered = quat_mul(turn("z", out - np.pi / 2), turn("x", inward))
    q_upper = quat_mul(q_chest, _sided(quat_mul(turn("x", -forward), lowered), side))
    q_lower = quat_mul(q_upper, _sided(turn("y", -p.elbow[:, side] * _DEG), side))
    weight = p.hand_weight[:, side, None]
    if weight.any() and p.body.arm > 1e-3:
        hinge = np.array([0.0, -1.0 if side == LEFT else 1.0, 0.0])
        pole = quat_apply(q_chest, _sided_vector(np.array([0.5, -0.5, -0.75]), side))
        upper, lower = p.body.offset(f"{name}_elbow"), p.body.offset(f"{name}_wrist")
        reach_upper, reach_lower = solve_two_bone(shoulder, p.hand[:, side], pole, upper, lower, hinge)
        q_upper = quat_slerp(q_upper, reach_upper, p.hand_weight[:, side])
        q_lower = quat_slerp(q_lower, reach_lower, p.hand_weight[:, side])
    pronation = p.pronation[:, side] * _DEG
    D[:, ROLE_INDEX[f"{name}_shoulder"]] = q_upper
    D[:, ROLE_INDEX[f"{name}_elbow"]] = quat_mul(q_lower, _sided(turn("x", 0.5 * pronation), side))
    bend = quat_mul(turn("z", -p.wrist[:, side, 0] * _DEG), turn("y", -p.wrist[:, side, 1] * _DEG))
    q_hand = quat_mul(q_lower, _sided(quat_mul(turn("x", pronation), bend), side))
    q_hand = quat_slerp(q_hand, p.hand_turn[:, side], p.hand_turn_weight[:, side])
    D[:, ROLE_INDEX[f"{name}_wrist"]] = q_hand


def _leg(p: Performance, D: Array, side: int) -> None:
    name, sign = SIDES[side], 1.0 if side == LEFT else -1.0
    q_pelvis = D[:, ROLE_INDEX["pelvis"]]
    yaw = turn("y", sign * p.foot_yaw[:, side] * _DEG)
    level = quat_mul(yaw, turn("z", sign * p.foot_roll[:, side] * _DEG))
    q_foot = quat_mul(level, turn("x", -p.foot_pitch[:, side] * _DEG))
    hip = p.pelvis + quat_apply(q_pelvis, p.body.offset(f"{name}_hip"))
    ahead = np.array([0.0, 0.0, 1.0])
    pole = quat_apply(q_pelvis, ahead) + quat_apply(q_foot, ahead)
    pole = quat_apply(turn("y", sign * p.knee_out[:, side] * _DEG), pole)
    pole = quat_apply(q_pelvis, _in_front(quat_apply(quat_inv(q_pelvis), pole)))
    upper, lower = p.body.offset(f"{name}_knee"), p.body.offset(f"{name}_ankle")
    q_thigh, q_shin = solve_two_bone(hip, p.foot[:, side], pole, upper, lower, _KNEE_HINGE)
    D[:, ROLE_INDEX[f"{name}_hip"]], D[:, ROLE_INDEX[f"{name}_knee"]] = q_thigh, q_shin
    D[:, ROLE_INDEX[f"{name}_ankle"]] = q_foot
    D[:, ROLE_INDEX[f"{name}_foot"]] = quat_mul(level, turn("x", -p.toe[:, side] * _DEG))


def _in_front(direction: Array) -> Array:
    """Keep a knee's direction ahead of the pelvis."""
    ahead = direction.copy()
    ahead[..., 2] = np.maximum(ahead[..., 2], 0.25)
    return ahead / np.linalg.norm(ahead, axis=-1, keepdims=True)


def _sided_vector(v: Array, side: int) -> Array:
    return v if side == LEFT else v * np.array([-1.0, 1.0, 1.0])
