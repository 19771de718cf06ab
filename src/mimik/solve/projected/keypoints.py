"""Keypoints as goals: a take of joint positions met by the projected solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from mimik._types import Array, ArrayLike
from mimik.errors import GoalError
from mimik.goals.targets import Position
from mimik.rig.rig import Rig
from mimik.rig.roles import BODY_ROLES
from mimik.solve.projected.solver import Options, Solver
from mimik.solve.solution import Solution


def solve_keypoints_projected(role_positions: ArrayLike, rig: Rig, **options: Any) -> Solution:
    """Pose a rig so that its joints stand at observed places, frame after frame, inside its joint limits.

    role_positions  (T, 22, 3) metres, in the order of BODY_ROLES; NaN where a joint was not seen
    options         those of `Solver`
    Raises GoalError when no joint of this rig was seen in any frame.
    """
    at = np.asarray(role_positions, dtype=np.float64)
    if at.ndim != 3 or at.shape[1:] != (len(BODY_ROLES), 3):
        raise GoalError(f"role positions have shape {at.shape}; they must be (frames, {len(BODY_ROLES)}, 3)")
    seen_ever = [bool(known) for known in np.atleast_1d(np.isfinite(at).all(axis=2).any(axis=0))]
    roles = [r for r, role in enumerate(BODY_ROLES) if role in rig.roles and seen_ever[r]]
    if not roles:
        raise GoalError("no keypoint of this take belongs to a joint of this rig")
    observed = np.isfinite(at[:, roles]).all(axis=2)
    at = _filled(at[:, roles])
    goals = [Position(BODY_ROLES[r], at[0, k]) for k, r in enumerate(roles)]
    options.setdefault("options", Options(restarts=4))
    solver = Solver(rig, goals, **options)
    return solver.solve_path(at, observed=observed)


def _filled(at: Array) -> Array:
    """Put the last seen place (or the first that will be seen) where a point is missing."""
    filled = np.array(at)
    for k in range(at.shape[1]):
        known = np.flatnonzero(np.isfinite(at[:, k]).all(axis=1))
        nearest = known[np.maximum(0, np.searchsorted(known, np.arange(len(at)), side="right") - 1)]
        filled[:, k] = at[nearest, k]
    return filled
