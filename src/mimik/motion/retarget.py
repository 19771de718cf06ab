"""Carry a motion from one rig to another: rotations by role, the path by leg length, the feet on the floor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mimik._types import Array
from mimik.errors import OptionError, one_of
from mimik.motion.clip import Clip
from mimik.motion.contacts import FOOT_ROLES, FootContacts, clip_contacts, leg_length
from mimik.motion.foot_lock import lock_feet, move_limb_ends
from mimik.motion.measures import foot_slide
from mimik.rig.rig import Rig
from mimik.rig.role_kernels import BLEND, FOLLOW, TWIST, UNTWIST
from mimik.rig.role_space import role_map, tpose_positions
from mimik.rig.roles import BODY_ROLES, PARENT_ROLE, ROLES
from mimik.rotation import quat_inv, quat_mul

Scale = Literal["legs", "height", "none"]
_HOW = {FOLLOW: "rests on its parent", BLEND: "shares the bend", TWIST: "shares the twist", UNTWIST: "shares the twist"}


@dataclass(frozen=True, slots=True)
class RetargetRow:
    """One line of the mapping table: a role or an extra joint, its joints on both rigs, and how it was carried."""

    role: str
    source: str
    target: str
    how: str


@dataclass(frozen=True, slots=True)
class RetargetReport:
    """What `retarget` did.

    scale       factor of the path
    rows        the mapping, role by role, then the target's extra joints
    slide_cm_s  mean speed of standing feet on the source, on the target before and after they were held, cm/s
    notes       what could not be carried
    """

    scale: float
    rows: tuple[RetargetRow, ...]
    slide_cm_s: tuple[float, float, float]
    notes: tuple[str, ...]


def retarget(
    clip: Clip,
    rig: Rig,
    *,
    scale: Scale | float = "legs",
    keep_feet: bool = True,
    keep_reach: bool = False,
) -> tuple[Clip, RetargetReport]:
    """Return the clip on another rig, and a report with the table of what was mapped.

    scale       of the path: "legs" by leg length, "height" by standing height, "none", or a factor
    keep_feet   hold standing feet still and at floor height on the new legs
    keep_reach  bring the wrists to where they were, scaled like the path, for hands that touch things
    Roles both rigs have are carried exactly, fingers and face too; spine and neck joints share the bend; twist bones
    the twist. On a rig with the same joints and T-pose every rotation is copied as it is.
    Raises RigError when a rig has no pelvis, OptionError for an unknown scale.
    """
    factor = _scale_factor(clip, rig, scale)
    for body in (clip.rig, rig):
        role_map(body)
    same = _same_joints(clip.rig, rig)
    if same and np.array_equal(clip.rig.offsets, rig.offsets) and factor == 1.0:
        carried = replace(clip, rig=rig)
        slide = foot_slide(clip)
        return carried, RetargetReport(1.0, _rows(clip.rig, rig), (slide, slide, slide), ())
    contacts = clip_contacts(clip)
    carried = _carry(clip, rig, factor, contacts.floor, same=same)
    on_target = FootContacts(contacts.heel, contacts.toe, 0.0)
    before = foot_slide(carried, on_target)
    held = lock_feet(carried, on_target, level=True) if keep_feet else carried
    if keep_reach:
        held = _keep_reach(clip, held, factor, contacts.floor)
    slides = (foot_slide(clip, contacts), before, foot_slide(held, on_target))
    return held, RetargetReport(factor, _rows(clip.rig, rig), slides, _notes(clip.rig, rig))


def _scale_factor(clip: Clip, rig: Rig, scale: Scale | float) -> float:
    if isinstance(scale, str):
        if scale not in ("legs", "height", "none"):
            raise OptionError(one_of("scale", scale, ("legs", "height", "none", "a number")))
        if scale == "none":
            return 1.0
        if scale == "legs":
            return leg_length(rig) / leg_length(clip.rig)
        return float(np.ptp(tpose_positions(rig)[:, 1]) / max(np.ptp(tpose_positions(clip.rig)[:, 1]), 1e-6))
    if not (np.isfinite(scale) and scale > 0):
        raise OptionError(f"scale is {scale}; it must be a positive number, 'legs', 'height' or 'none'")
    return float(scale)


def _same_joints(a: Rig, b: Rig) -> bool:
    return (
        a.names == b.names and np.array_equal(a.parents, b.parents)
        and np.allclose(a.q_world_tpose, b.q_world_tpose, atol=1e-12)
    )  # fmt: skip


def _carry(clip: Clip, rig: Rig, factor: float, floor: float, *, same: bool) -> Clip:
    """Carry rotations and path; the floor of the source becomes height zero."""
    D, pelvis = role_map(clip.rig).from_rig(clip.pose())
    stands = [tpose_positions(r)[r.roles["pelvis"], 1] for r in (clip.rig, rig)]
    path = factor * pelvis
    path[:, 1] = factor * (pelvis[:, 1] - floor - stands[0]) + stands[1]
    if same:
        root = path - (role_map(clip.rig).from_rig(replace(clip, rig=rig, translations=None).pose())[1] - clip.root)
        return Clip(rig, clip.rotations, root, fps=clip.fps, name=clip.name, notes=clip.notes)
    pose = role_map(rig).to_rig(D, path, own=_own_rotations(clip, rig))
    return Clip(rig, pose.rotations, pose.root, fps=clip.fps, name=clip.name, notes=clip.notes)


def _own_rotations(clip: Clip, rig: Rig) -> dict[int, Array]:
    """Rotations of fingers, jaw and eyes against the nearest role above them that both rigs have, in T-pose axes."""
    q_world = clip.world().rotations
    source = clip.rig

    def D(role: str) -> Array:
        joint = source.roles[role]
        return quat_mul(q_world[:, joint], quat_inv(source.q_world_tpose[joint]))

    own = {}
    for role in ROLES[len(BODY_ROLES) :]:
        if role in source.roles and role in rig.roles:
            above = PARENT_ROLE[role]
            while above and not (above in source.roles and above in rig.roles):
                above = PARENT_ROLE[above]
            if above:
                own[rig.roles[role]] = quat_mul(quat_inv(D(above)), D(role))
    return own


def _keep_reach(source: Clip, clip: Clip, factor: float, floor: float) -> Clip:
    before, after = source.positions(), clip.positions()
    moves = {}
    for side in ("left", "right"):
        limb = (f"{side}_shoulder", f"{side}_elbow", f"{side}_wrist")
        if all(role in rig.roles for role in limb for rig in (source.rig, clip.rig)):
            wrist = before[:, source.rig.roles[limb[2]]] - np.array([0.0, floor, 0.0])
            moves[limb] = factor * wrist - after[:, clip.rig.roles[limb[2]]]
    return move_limb_ends(clip, moves)


def _rows(source: Rig, target: Rig) -> tuple[RetargetRow, ...]:
    rows = []
    for role in ROLES:
        pair = [rig.names[rig.roles[role]] if role in rig.roles else "" for rig in (source, target)]
        if pair[1]:
            how = "carried" if pair[0] else "follows its neighbours" if role in BODY_ROLES else "rests on its parent"
            rows.append(RetargetRow(role, pair[0], pair[1], how))
        elif pair[0]:
            rows.append(RetargetRow(role, pair[0], "", "the target has none"))
    mapping, roled = role_map(target), set(target.roles.values())
    for j, name in enumerate(target.names):
        if j not in roled:
            rows.append(RetargetRow("", "", name, _HOW.get(int(mapping.rules[j]), "stands still")))
    return tuple(rows)


def _notes(source: Rig, target: Rig) -> tuple[str, ...]:
    notes = []
    fingers = [r for r in ROLES[len(BODY_ROLES) :] if r in source.roles and r not in target.roles]
    if fingers:
        notes.append(f"the target has no joint for {len(fingers)} of the source's fingers and face joints")
    if not any(role in target.roles for pair in FOOT_ROLES for role in pair):
        notes.append("the target has no feet to keep on the floor")
    return tuple(notes)
