"""Feet that stay where they stand: contacts held by the legs alone, the body's look unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from mimik._types import Array, BoolArray
from mimik.motion.clip import Clip
from mimik.motion.contacts import FootContacts, clip_contacts, foot_points, intervals, leg_length
from mimik.rig.rig import Rig
from mimik.rig.two_bone import adjust_two_bone
from mimik.rotation import quat_apply, quat_inv, quat_mul, rotvec_to_quat

BLEND_SECONDS = 0.25
_STRETCH = 0.99
_CHANGE_OVER, _CLEARLY_LEVEL = 0.06, 0.4  # seconds; level share of a reach from which its way up is clear
_SHALLOW = 0.12
"""Share of the leg's length from which a foot below the floor is taken to be on lower ground, wholly at twice that."""


def lock_feet(
    clip: Clip,
    contacts: FootContacts | None = None,
    *,
    level: bool = False,
    heights: Array | None = None,
    blend: float = BLEND_SECONDS,
) -> Clip:
    """Return the clip with each foot held still while it stands.

    contacts  when the feet stand; found from the clip unless given
    level     also bring standing feet to the height they have in the T-pose over the contacts' floor, lift feet that
              reach below it, and bend toes up that do
    heights   (T, 2) metres over that floor at which each foot stands, where `level` does not mean the floor itself:
              steps and boxes, see `mimik.motion.contacts.standing_heights`
    blend     seconds over which a correction fades in and out beside a contact
    Hips and knees turn, the feet keep their world orientation; where a leg would have to stretch, the pelvis sinks.
    Legs the rig lacks are left alone.
    """
    contacts = clip_contacts(clip) if contacts is None else contacts
    limbs = {side: (f"{side}_hip", f"{side}_knee", f"{side}_ankle") for side in ("left", "right")}
    limbs = {side: limb for side, limb in limbs.items() if all(role in clip.rig.roles for role in limb)}
    points = clip.positions()
    moves = {}
    for side in limbs:
        column = 0 if side == "left" else 1
        stands_at = np.zeros(clip.frame_count) if heights is None else heights[:, column]
        moves[side] = _corrections(clip, contacts, column, stands_at, level=level, blend=blend)
    if not any(np.abs(move).max(initial=0.0) > 0 for move in moves.values()):
        return clip
    clip = _sink(clip, points, moves)
    held = move_limb_ends(clip, {limbs[side]: move for side, move in moves.items()}, points)
    return raise_toes(held, contacts.floor) if level else held


def move_limb_ends(clip: Clip, moves: dict[tuple[str, str, str], Array], before: Array | None = None) -> Clip:
    """Move the ends of limbs (start, middle and end role) by (T, 3) metres through their start and middle joints.

    The ends keep their world orientation, the limbs their bend plane and twist. `before` (T, J, 3): the joint positions
    the moves refer to, the clip's own unless given. Ends out of reach go as far as the limb allows.
    """
    world = clip.world()
    goal = world.positions if before is None else before
    q_world = np.array(world.rotations)
    q_local = np.array(clip.rotations)
    for (start, middle, end), move in moves.items():
        a, b, c = (clip.rig.roles[role] for role in (start, middle, end))
        hinge = quat_apply(q_world[:, b], quat_apply(quat_inv(clip.rig.q_world_tpose[b]), _hinge(start)))
        target = goal[:, c] + move
        p = world.positions
        turn_a, turn_b = adjust_two_bone(p[:, a], p[:, b], p[:, c], target, hinge)
        turn_between(clip, q_world, q_local, a, b, turn_a)
        turn_between(clip, q_world, q_local, b, c, turn_b)
        q_local[:, c] = quat_mul(quat_inv(q_world[:, clip.rig.parents[c]]), q_world[:, c])
    q_local.setflags(write=False)
    return replace(clip, rotations=q_local)


def raise_toes(clip: Clip, floor: float) -> Clip:
    """Bend toes up where their tips would lie below the floor; only the joints with the toes' role turn."""
    return raise_ends(clip, floor, ("left_foot", "right_foot"))


def raise_hands(clip: Clip, floor: float, seen: Mapping[str, BoolArray] | None = None) -> Clip:
    """Bend hands up where their tips would lie below the floor, but not in frames (T,) in which they were `seen`."""
    return raise_ends(clip, floor, ("left_wrist", "right_wrist"), seen)


def raise_ends(clip: Clip, floor: float, roles: tuple[str, ...], seen: Mapping[str, BoolArray] | None = None) -> Clip:
    """Turn the last joints of limbs up, each about the level axis across it, where their tips lie below the floor."""
    world, rotations = clip.world(), np.array(clip.rotations)
    for role in roles:
        joint = clip.rig.roles.get(role, -1)
        tip = _tip(clip.rig, joint) if joint >= 0 else np.zeros(3)
        if not np.isfinite(tip).all() or not tip.any():
            continue
        free = np.ones(clip.frame_count, dtype=bool) if seen is None or role not in seen else ~seen[role]
        q_world = world.rotations[:, joint]
        for settle in (False, True):  # what changing over leaves below the floor is little, and its way up is clear
            turn, level = _turn_up(quat_apply(q_world, tip), world.positions[:, joint, 1] - floor)
            turn = np.where(free[:, None], turn if settle else _changed_over(turn, level, clip.fps), 0.0)
            q_world = quat_mul(rotvec_to_quat(turn), q_world)
        q_parent = world.rotations[:, clip.rig.parents[joint]]
        rotations[:, joint] = quat_mul(quat_inv(q_parent), q_world)
    return replace(clip, rotations=rotations)


def _turn_up(reach: Array, height: Array) -> tuple[Array, Array]:
    """Return the turns (T, 3) that bring ends up to the floor, and the share (T,) of each reach that is level.

    reach (T, 3) from the joint to the end, height (T,) of the joint above the floor, metres.
    """
    length = np.maximum(np.linalg.norm(reach, axis=1), 1e-9)
    pitch = np.arcsin(np.clip(reach[:, 1] / length, -1.0, 1.0))
    lowest = np.arcsin(np.clip(-height / length, -1.0, 0.0))
    across = np.stack([-reach[:, 2], 0.0 * pitch, reach[:, 0]], axis=1)
    level = np.linalg.norm(across, axis=1, keepdims=True)
    turn = np.maximum(lowest - pitch, 0.0)[:, None] * across / np.maximum(level, 1e-9)
    return turn, level[:, 0] / length


def _changed_over(turn: Array, level: Array, fps: float) -> Array:
    """Return turns (T, 3) that do not jump where an end hangs straight down and may go up either way.

    level (T,) is the share of its reach that is level.
    """
    slow = gaussian_filter1d(turn, _CHANGE_OVER * fps, axis=0, mode="nearest")
    clear = np.clip(level / _CLEARLY_LEVEL, 0.0, 1.0)[:, None]
    return np.asarray(np.where(turn.any(axis=1, keepdims=True), clear * turn + (1.0 - clear) * slow, 0.0))


def _tip(rig: Rig, joint: int) -> Array:
    """Return the far end of a toe or a hand from its joint: its tip, a toe's child, twice the way to a knuckle."""
    children = rig.skeleton.children(joint)
    if not children:
        return rig.skeleton.tips[joint]
    knuckle = next((rig.roles[r] for r in rig.roles if r.endswith("middle1") and rig.roles[r] in children), None)
    return rig.offsets[children[0]] if knuckle is None else 2.0 * rig.offsets[knuckle]


def turn_between(clip: Clip, q_world: Array, q_local: Array, first: int, last: int, turn: Array) -> None:
    """Turn the joints of one bone, from `first` down to before `last`, together in the world."""
    parents, chain = clip.rig.parents, []
    joint = int(parents[last])
    while joint >= first:
        chain.append(joint)
        joint = int(parents[joint])
    for j in reversed(chain):
        q_world[:, j] = quat_mul(turn, q_world[:, j])
        parent = parents[j]
        q_local[:, j] = quat_mul(quat_inv(q_world[:, parent]), q_world[:, j]) if parent >= 0 else q_world[:, j]


def _hinge(start_role: str) -> Array:
    if start_role.endswith("hip"):
        return np.array([1.0, 0.0, 0.0])
    return np.array([0.0, -1.0 if start_role.startswith("left") else 1.0, 0.0])


def _corrections(
    clip: Clip, contacts: FootContacts, column: int, heights: Array, *, level: bool, blend: float
) -> Array:
    """Return how far the ankle must move in each frame (T, 3)."""
    soles = foot_points(clip)[column]
    heel, toe = soles[0][0], soles[-1][0]
    over = np.min([point[:, 1] - height for point, height in soles], axis=0) - contacts.floor
    move = np.zeros((clip.frame_count, 3))
    stands = contacts.foot[:, column]
    for start, end in intervals(stands):
        move[start:end] = _hold(heel[start:end], toe[start:end], contacts.toe[start:end, column])
        if level:
            move[start:end, 1] = heights[start:end] - over[start:end]
    _fade(move, stands, max(1, round(blend * clip.fps)))
    if level:
        lifted = np.where(
            stands & (heights < 0.0), move[:, 1], np.maximum(move[:, 1], _lift(over, leg_length(clip.rig)))
        )
        move[:, 1] = lifted
    return move


def _lift(over: Array, leg: float) -> Array:
    """Return how far feet (T,) below the floor are lifted: onto it, but not from where the ground must be lower."""
    under = np.maximum(-over, 0.0)
    return under * (1.0 - _ease((under / leg - _SHALLOW) / _SHALLOW))


def _hold(heel: Array, toe: Array, on_toe: BoolArray) -> Array:
    """Return moves (T, 3) that keep the standing point still: the toe joint while it stands, else the heel."""
    move = np.zeros_like(heel)
    runs = [(a, b, toe) for a, b in intervals(on_toe)] + [(a, b, heel) for a, b in intervals(~on_toe)]
    first = max(runs, key=lambda run: run[1] - run[0])
    move[first[0] : first[1]] = np.median(first[2][first[0] : first[1]], axis=0) - first[2][first[0] : first[1]]
    for a, b, point in sorted((run for run in runs if run[0] > first[0]), key=lambda run: run[0]):
        move[a:b] = point[a - 1] + move[a - 1] - point[a:b]
    for a, b, point in sorted((run for run in runs if run[0] < first[0]), key=lambda run: -run[0]):
        move[a:b] = point[b] + move[b] - point[a:b]
    return move


def _fade(move: Array, stands: BoolArray, blend: int) -> None:
    """Fade the moves of neighbouring contacts into each other, or out and in, between them."""
    frames = np.arange(len(move))
    for start, end in intervals(~stands):
        gap = frames[start:end]
        length = min(blend, end - start + 1)
        if start > 0:
            move[start:end] += (1.0 - _ease((gap - (start - 1)) / length))[:, None] * move[start - 1]
        if end < len(move):
            move[start:end] += (1.0 - _ease((end - gap) / length))[:, None] * move[end]


def _sink(clip: Clip, points: Array, moves: dict[str, Array]) -> Clip:
    """Lower the root where a leg would have to stretch farther than it did and than is natural."""
    needed = np.zeros(clip.frame_count)
    roles = clip.rig.roles
    for side, move in moves.items():
        hip, knee, ankle = (points[:, roles[f"{side}_{part}"]] for part in ("hip", "knee", "ankle"))
        length = np.linalg.norm(knee - hip, axis=1) + np.linalg.norm(ankle - knee, axis=1)
        target = ankle + move
        across = ((target - hip)[:, [0, 2]] ** 2).sum(axis=1)
        longest = np.maximum(_STRETCH * length, np.linalg.norm(ankle - hip, axis=1))
        too_high = hip[:, 1] - target[:, 1] - np.sqrt(np.maximum(longest**2 - across, 0.0))
        needed = np.maximum(needed, np.where(hip[:, 1] > target[:, 1], too_high, 0.0))
    if needed.max(initial=0.0) < 1e-6:
        return clip
    width = 0.08 * clip.fps
    needed = maximum_filter1d(needed, 2 * max(1, round(2 * width)) + 1)
    needed = gaussian_filter1d(needed, max(width, 1e-3), mode="nearest")
    root = clip.root - needed[:, None] * np.array([0.0, 1.0, 0.0])
    moved = clip.translations
    if moved is not None:
        moved = np.array(moved)
        moved[:, 0] = root
    return replace(clip, root=root, translations=moved)


def _ease(u: Array) -> Array:
    u = np.clip(u, 0.0, 1.0)
    return u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
