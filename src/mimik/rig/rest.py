"""The canonical T-pose of any skeleton, whatever its rest: T, A, or a bind that is no pose at all."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from mimik._types import Array
from mimik.rig.hinges import hinge_turns, loose_hinges, measure_hinges
from mimik.rig.kinematics import forward_kinematics
from mimik.rig.rest_motion import TPoseFromMotion
from mimik.rig.rig import RestKind, Rig
from mimik.rig.skeleton import Skeleton
from mimik.rig.standing import Stance, read_stance, toes_point_back, tpose_of_stance

Motion = tuple[Array, Array, Array | None]
"""Local rotations (T, J, 4), root path (T, 3), and translations (T, J, 3) or None."""

_T_BELOW = np.deg2rad(25.0)
_CALIBRATION = np.deg2rad(3.0)
_MOST_FRAMES = 1500
_FARTHEST = 1e6  # metres; beyond, numbers are broken


@dataclass(frozen=True, slots=True, eq=False)
class TPose:
    """World rotations (J, 4) in the canonical T-pose, what the rest is, how hinges lie, what had to be guessed."""

    q_world: Array
    kind: RestKind
    hinge_turns: Mapping[str, float] = field(default_factory=dict)
    loose_hinges: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def find_tpose(skeleton: Skeleton, roles: Mapping[str, int], motion: Motion | None = None) -> TPose:
    """Find the canonical T-pose from the rest when it is a standing figure, else from the motion.

    A skeleton that is neither (no limbs recognised, or a bind that is no pose and no motion) keeps its rest as it is,
    with a note that says so. With motion, where knees and elbows bend is measured too.
    """
    q_rest, p_rest = forward_kinematics(skeleton.parents, skeleton.offsets, skeleton.rest, skeleton.offsets[0])
    stance = read_stance(p_rest, roles) if np.abs(p_rest).max() < _FARTHEST else None
    frames = None if motion is None or "pelvis" not in roles else _some_frames(skeleton, motion)
    if stance is not None:
        kind: RestKind = "T" if stance.arms_down < _T_BELOW else "A"
        back = toes_point_back(p_rest, roles, stance.q_turn)
        notes = ("the toes point backwards: are left and right exchanged?",) if back else ()
        tpose = TPose(tpose_of_stance(skeleton, roles, q_rest, p_rest, stance.q_turn), kind, notes=notes)
    elif frames is not None:
        tpose = _from_motion(skeleton, roles, *frames)
    else:
        note = "the rest is no standing pose and there is no motion to learn it from"
        tpose = TPose(q_rest, "arbitrary", notes=(note,))
    if frames is None:
        return tpose
    turns, loose = _habits(roles, tpose.q_world, frames)
    return replace(tpose, hinge_turns=turns, loose_hinges=loose)


def with_habits(rig: Rig, motion: Motion) -> Rig:
    """Return the rig with where its knees and elbows bend, as a motion on it shows; the rig itself without motion."""
    frames = _some_frames(rig.skeleton, motion) if "pelvis" in rig.roles else None
    if frames is None:
        return rig
    turns, loose = _habits(rig.roles, rig.q_world_tpose, frames)
    return replace(rig, hinge_turns=turns, loose_hinges=loose)


def _habits(
    roles: Mapping[str, int], q_world_tpose: Array, frames: tuple[Array, Array]
) -> tuple[Mapping[str, float], frozenset[str]]:
    hinges = measure_hinges(*frames, roles)
    return hinge_turns(roles, q_world_tpose, hinges), loose_hinges(hinges)


def _some_frames(skeleton: Skeleton, motion: Motion) -> tuple[Array, Array] | None:
    """Return world rotations (T, J, 4) and positions (T, J, 3) of at most some frames; None of an empty motion."""
    rotations, root, translations = motion
    if not len(rotations):
        return None
    step = max(1, len(rotations) // _MOST_FRAMES)
    moves = None if translations is None else translations[::step]
    q_world, p_world = forward_kinematics(skeleton.parents, skeleton.offsets, rotations[::step], root[::step], moves)
    sound = np.isfinite(q_world).all(axis=(1, 2)) & (np.abs(p_world).max(axis=(1, 2)) < _FARTHEST)
    return (q_world[sound], p_world[sound]) if sound.any() else None


def _from_motion(skeleton: Skeleton, roles: Mapping[str, int], q_world: Array, p_world: Array) -> TPose:
    """Learn the T-pose from the motion: from a frame that shows it, else from how joints move."""
    shown = _frame_in_tpose(p_world, roles)
    if shown is not None:
        t, stance = shown
        q = tpose_of_stance(skeleton, roles, q_world[t], p_world[t], stance.q_turn)
        return TPose(q, "arbitrary", notes=("the rest is no pose; the T-pose stands in the motion",))
    q = TPoseFromMotion(skeleton, roles, q_world, p_world).solve()
    return TPose(q, "arbitrary", notes=("the rest is no pose; the T-pose was learned from the motion",))


def _frame_in_tpose(p_world: Array, roles: Mapping[str, int]) -> tuple[int, Stance] | None:
    """Return the frame that stands in a T-pose as only calibration does: all limbs straight, arms level."""
    for t in range(len(p_world)):
        stance = read_stance(p_world[t], roles)
        if stance is not None and stance.crookedness < _CALIBRATION and abs(stance.arms_down) < _CALIBRATION:
            return t, stance
    return None
