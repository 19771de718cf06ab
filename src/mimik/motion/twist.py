"""Twist that goes on through time: repair jumps a frame-by-frame solver leaves, without moving any joint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mimik._types import Array, BoolArray, IntArray
from mimik.motion.clip import Clip
from mimik.motion.measures import TWIST_JUMP_DEG, bone_axes
from mimik.rig.rig import Rig
from mimik.rotation import quat_inv, quat_mul, rotvec_to_quat, twist_angle

_ATTEMPTS = 4  # each spreads what is left over more time
_RUN = 0.4  # jumps this near, in units of the spread, are one run


def continuous_twist(clip: Clip, *, above_deg: float = TWIST_JUMP_DEG, spread: float = 0.25) -> tuple[Clip, int]:
    """Return the clip with twist jumps spread over time, and how many there were.

    A bone that twists more than `above_deg` degrees between two frames is turned about itself by a correction that goes
    over from one side of the jump to the other within `spread` seconds before and after. Its children keep their world
    rotations, so every joint stays exactly where it was. Joints with branching or off-axis children are left alone, as
    their twist shows in positions.
    """
    rotations, total = repair_twist(clip.rotations, clip.rig, clip.fps, above_deg=above_deg, spread=spread)
    return (replace(clip, rotations=rotations), total) if total else (clip, 0)


def repair_twist(
    rotations: Array, rig: Rig, fps: float, *, above_deg: float = TWIST_JUMP_DEG, spread: float = 0.25
) -> tuple[Array, int]:
    """Do the same on local rotations (T, J, 4); parents are mended before their children."""
    repaired, total = np.array(rotations), 0
    axes, free = bone_axes(rig), free_twists(rig)
    threshold, half = np.radians(above_deg), max(1.0, spread * fps)
    for j in np.flatnonzero(free):
        for attempt in range(_ATTEMPTS):
            steps = twist_angle(quat_mul(quat_inv(repaired[:-1, j]), repaired[1:, j]), axes[j])
            jumps = np.flatnonzero(np.abs(steps) > threshold)
            if not len(jumps):
                break
            total += len(jumps) if attempt == 0 else 0
            wide = (attempt + 1) * half
            turn = rotvec_to_quat(_spread_jumps(steps, jumps, len(repaired), wide)[:, None] * axes[j])
            repaired[:, j] = quat_mul(repaired[:, j], turn)
            for child in rig.skeleton.children(int(j)):
                repaired[:, child] = quat_mul(quat_inv(turn), repaired[:, child])
    return repaired, total


def free_twists(rig: Rig) -> BoolArray:
    """Say which joints (J,) can twist about their bone without moving a joint: all children on the axis, or none."""
    axes, free = bone_axes(rig), np.zeros(rig.joint_count, dtype=bool)
    for j in range(rig.joint_count):
        offsets = rig.offsets[rig.skeleton.children(j)]
        off_axis = np.linalg.norm(np.cross(offsets, axes[j]), axis=1)
        free[j] = bool((off_axis <= 1e-6 + 1e-3 * np.linalg.norm(offsets, axis=1)).all())
    return free


def _spread_jumps(steps: Array, jumps: IntArray, frames: int, half: float) -> Array:
    """Return the turn (T,) that replaces each run of jumps by one slow passage around it.

    What a run turns in all counts to the nearest full turn: two jumps that undo each other, or come round, are none.
    """
    time, turn = np.arange(frames), np.zeros(frames)
    typical = np.median(steps) if len(steps) > 2 * len(jumps) else 0.0
    for run in np.split(jumps, np.flatnonzero(np.diff(jumps) > max(1.0, _RUN * half)) + 1):
        first, last = int(run[0]), int(run[-1])
        excess = steps[first : last + 1] - typical
        undone = np.concatenate([np.zeros(first + 1), np.cumsum(excess), np.full(frames - last - 2, excess.sum())])
        left = excess.sum() - 2.0 * np.pi * np.round(excess.sum() / (2.0 * np.pi))
        middle, room = 0.5 * (first + last) + 0.5, min(first, frames - 2 - last)
        reach = half + 0.5 * (last - first)
        reach = min(reach, middle, frames - 1.0 - middle) if room >= 2 else reach
        u = np.clip((time - middle) / (2.0 * reach) + 0.5, 0.0, 1.0)
        turn += left * (u * u * (3.0 - 2.0 * u)) - undone
    return turn
