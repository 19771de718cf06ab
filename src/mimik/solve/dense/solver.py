"""The default solver: geometry where positions determine rotations, a network for the rest, any rig.

positions by role -> features (kernels.before) -> network (ONNX) -> rotations by role (kernels.after) -> the rig
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from mimik._types import Array, ArrayLike, BoolArray, IntArray
from mimik.errors import FileError, GoalError
from mimik.rig.hinges import with_usual_hinges
from mimik.rig.pose import LocalPose
from mimik.rig.rig import Rig
from mimik.rig.role_kernels import BLEND
from mimik.rig.role_space import role_map
from mimik.rig.roles import BODY_ROLES
from mimik.rotation import identity_quat
from mimik.solve.dense.body import CHILD, LANDMARK_JOINT, LANDMARKS, RoleBody, role_body
from mimik.solve.dense.finish_kernels import bridge, hinge, loosen, reach, temper, weigh
from mimik.solve.dense.kernels import WIDE_COLLARS, after, before
from mimik.solve.dense.layout import (
    BRIDGE_FAR,
    FEATURE_WIDTH,
    GAP_ROUNDS,
    GUESS_NOISE,
    LEAF_TRUST,
    LEAVES,
    OUTPUT_WIDTH,
    PLAIN,
    SHORT_NECK,
    UNTRUSTED_LEAVES,
    USUAL_LEAVES,
    WEIGH_ROUNDS,
)
from mimik.solve.dense.single import single_network
from mimik.solve.solution import Solution

BATCH = 64
"""Frames per run of the network: its activations stay in cache."""

SHORTEST = 1e-4
"""Bones below this length in metres have no direction."""

_UP = np.array([0.0, 1.0, 0.0])
_INNER = ~np.isin(np.arange(22), LEAVES)
_MARKS_OF = LANDMARK_JOINT[:, None] == np.arange(22)


@dataclass(frozen=True, slots=True)
class _Scratch:
    """Arrays of one batch, used again and again."""

    x: np.ndarray[Any, np.dtype[np.float32]] = field(
        default_factory=lambda: np.zeros((BATCH, FEATURE_WIDTH), dtype=np.float32)
    )
    g: Array = field(default_factory=lambda: np.zeros((BATCH, 22, 3, 3)))
    own: Array = field(default_factory=lambda: np.zeros((BATCH, 3, 3)))


@lru_cache(maxsize=4)
def dense_session(path: Path | None = None, threads: int = 1) -> onnxruntime.InferenceSession:
    """Load the network once: the packaged weights, or another file; raises FileError when it cannot be loaded."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    try:
        with as_file(files("mimik.weights") / "dense.onnx") as packaged:
            return onnxruntime.InferenceSession(str(path or packaged), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises kinds of its own for missing and broken files
        raise FileError(path or "dense.onnx", f"cannot be loaded as a network ({error})") from None


class DenseSolver:
    """Poses one rig from joint positions, one frame or many at a time.

    The rig's own proportions are taken to be the person's; fit them first (`mimik.rig.proportions.with_bone_lengths`)
    or carry the result over (`mimik.motion.retarget`). Not for use from several threads at once.
    """

    def __init__(self, rig: Rig, *, path: Path | None = None, threads: int = 1) -> None:
        """Prepare a rig; raises RigError when it lacks what a body needs, FileError for weights that do not load."""
        self.rig = rig
        self._usual = with_usual_hinges(rig)
        self._map = role_map(self._usual)
        # joints between two roles (a second neck joint, say) stay straight: role joints land where they were seen
        self._stiff = {int(j): identity_quat() for j in np.flatnonzero(self._map.rules == BLEND)}
        self.body: RoleBody = role_body(rig)
        self._session = dense_session(path, threads)
        self._single = single_network(path)
        self._child, self._bones = _bones_of(self.body)
        self._side = _chest_side(self.body)
        self._usual_leaves, self._trust = _leaves_of(self.body)
        self._plain = np.zeros(22, dtype=np.bool_)
        self._plain[list(PLAIN)] = not self.body.familiar
        self._scratch = _Scratch()
        self._marks = np.zeros((BATCH, 22, 3))
        self._no_marks = np.zeros((BATCH, 22), dtype=np.bool_)
        self._quiet = np.zeros((BATCH, 22))

    def rotations(
        self,
        positions: ArrayLike,
        *,
        landmarks: Array | None = None,
        noise: ArrayLike = 0.0,
        up: Array | None = _UP,
    ) -> tuple[Array, Array]:
        """Return D_world (T, 22, 4) by role, and the pelvis' path (T, 3) in metres.

        positions  (T, 22, 3) by role in the order of BODY_ROLES, metres; NaN where a joint was not seen
        landmarks  (T, 22, 3) in the order of `mimik.solve.dense.body.LANDMARKS`, NaN where not seen
        noise      standard deviation of the positions in metres: one number, or (T, 22); 0 meets them exactly
        up         the world's up, None where it is not known
        """
        points = np.array(positions, dtype=np.float64)
        if points.ndim != 3 or points.shape[1:] != (22, 3):
            raise GoalError(f"role positions have shape {points.shape}; expected (frames, 22, 3)")
        seen = np.isfinite(points).all(axis=2) & self.body.present
        spread = self._noise(noise, len(points))
        if not seen.all():
            _check_enough(seen)
            points[~seen] = 0.0
            spread = np.where(seen, spread, 0.0)
        marks = None if landmarks is None else self._landmarks(landmarks, len(points))
        rotations, root = np.empty((len(points), 22, 4)), np.empty((len(points), 3))
        towards = np.zeros(3) if up is None else np.asarray(up, dtype=np.float64)
        for start in range(0, len(points), BATCH):
            cut = slice(start, min(start + BATCH, len(points)))
            n = cut.stop - start
            at, shown = (self._marks[:n], self._no_marks[:n]) if marks is None else (marks[0][cut], marks[1][cut])
            self._solve(points[cut], seen[cut], at, shown, spread[cut], towards, rotations[cut], root[cut])
        return rotations, root

    def _solve(
        self, p: Array, seen: BoolArray, marks: Array, marks_seen: BoolArray, noise: Array, up: Array, out: Array,
        root: Array,
    ) -> None:  # fmt: skip
        """Solve one batch into `out` and `root`; unseen positions in p are filled in place.

        Frames with gaps are looked at twice: the second time inner joints stand where the first put them.
        """
        self._look(p, seen, marks, marks_seen, noise, up, out, root)
        rows = np.flatnonzero(~seen[:, self.body.present].all(axis=1))
        if not len(rows):
            return
        found, start = out[rows], root[rows]
        places = np.empty((len(rows), 22, 3))
        reach(found, start, self.body.offsets, places)
        shown = marks_seen[rows]
        fill = self.body.present & _INNER & ~seen[rows] & ~(shown @ _MARKS_OF)
        again = np.where(seen[rows, :, None] | ~fill[..., None], p[rows], places)
        spread = np.where(fill, GUESS_NOISE * _mean_noise(noise[rows], seen[rows]), noise[rows])
        self._look(again, seen[rows] | fill, marks[rows], shown, spread, up, found, start)
        out[rows], root[rows] = found, start

    def _look(
        self, p: Array, seen: BoolArray, marks: Array, marks_seen: BoolArray, noise: Array, up: Array, out: Array,
        root: Array,
    ) -> None:  # fmt: skip
        n, body, s = len(p), self.body, self._scratch
        x, g, own = s.x[:n], s.g[:n], s.own[:n]
        before(p, seen, marks, marks_seen, noise, up, body.offsets, body.present, body.landmarks, x, g, own)
        if n == 1 and self._single is not None:
            y = np.empty((1, OUTPUT_WIDTH), dtype=np.float32)
            self._single.run(x[0], y[0])
        else:
            y = self._session.run(None, {"features": x})[0]
        after(y, p, seen, noise, self._child, self._bones, self._side, self._plain, g, own, out)
        gaps = not seen[:, body.present].all()
        if gaps:
            bridge(out, p, seen, body.offsets, BRIDGE_FAR)
        weigh(
            out, p, seen, marks, marks_seen, body.present, noise, body.offsets, body.landmarks, root, WEIGH_ROUNDS,
            GAP_ROUNDS,
        )  # fmt: skip
        if gaps and not noise.any():
            bridge(out, p, seen, body.offsets, 0.0)
        hinge(out, p, seen, noise, body.offsets, body.hinges)
        if body.loose.any():
            loosen(out, marks_seen, body.offsets, body.loose)
        temper(out, seen, marks_seen, self._usual_leaves, self._trust)

    def pose(self, positions: ArrayLike, **options: Any) -> LocalPose:
        """Return the rig's local pose for role positions (T, 22, 3); options as for `rotations`."""
        rotations, pelvis = self.rotations(positions, **options)
        return self._map.to_rig(rotations, pelvis, own=self._stiff)

    def solve(self, positions: ArrayLike, **options: Any) -> Solution:
        """Solve role positions (T, 22, 3); residuals are the distances left at the rig's roles, metres."""
        began = time.perf_counter()
        poses = self.pose(positions, **options)
        seconds = time.perf_counter() - began
        roles = [role for role in BODY_ROLES if role in self.rig.roles]
        reached = poses.positions()[:, [self.rig.roles[role] for role in roles]]
        wished = np.asarray(positions, dtype=np.float64)[:, [BODY_ROLES.index(role) for role in roles]]
        return Solution(
            poses=poses,
            goal_names=tuple(roles),
            residuals=np.linalg.norm(reached - wished, axis=-1),
            iterations=np.zeros(len(wished), dtype=np.int64),
            limits_touched=np.zeros((len(wished), self.rig.joint_count), dtype=np.bool_),
            seconds=seconds,
            status=("predicted",) * len(wished),
        )

    def _noise(self, noise: ArrayLike, frames: int) -> Array:
        if isinstance(noise, float) and noise == 0.0 and frames <= BATCH:
            return self._quiet[:frames]
        value = np.asarray(noise, dtype=np.float64)
        if not (np.isfinite(value).all() and (value >= 0).all()):
            raise GoalError("noise must be a finite number of metres, zero or more")
        return np.ascontiguousarray(np.broadcast_to(value, (frames, 22)))

    def _landmarks(self, landmarks: Array, frames: int) -> tuple[Array, BoolArray]:
        marks = np.array(landmarks, dtype=np.float64)
        if marks.shape != (frames, len(LANDMARKS), 3):
            raise GoalError(f"landmarks have shape {marks.shape}; expected ({frames}, {len(LANDMARKS)}, 3)")
        shown = np.asarray(np.isfinite(marks).all(axis=2))
        marks[~shown] = 0.0
        return marks, shown


def _mean_noise(noise: Array, seen: BoolArray) -> Array:
    """Return the mean noise (N, 1) of what is seen in each frame."""
    return np.asarray((noise * seen).sum(axis=1, keepdims=True) / np.maximum(seen.sum(axis=1, keepdims=True), 1))


def _bones_of(body: RoleBody) -> tuple[IntArray, Array]:
    """Return the nearest joint the rig has along each limb (22,), -1 for leaves, and the bone to it (22, 3)."""
    child, bones = np.full(22, -1, dtype=np.int64), np.zeros((22, 3))
    for joint in range(22):
        c, reach = int(CHILD[joint]), np.zeros(3)
        while c >= 0:
            reach = reach + body.offsets[c]
            if body.present[c]:
                if np.linalg.norm(reach) > SHORTEST:
                    child[joint], bones[joint] = c, reach
                break
            c = int(CHILD[c])
    return child, bones


def _chest_side(body: RoleBody) -> int:
    """Return the left joint of the pair that turns rigidly with the chest: collars, shoulders, or 0 for none."""
    if not body.present[[9, 12]].all() or np.linalg.norm(body.offsets[12]) < SHORT_NECK:
        return 0
    if body.present[[13, 14]].all():
        return 13 if np.linalg.norm(body.offsets[13] - body.offsets[14]) > WIDE_COLLARS else 0
    return 16 if body.present[[16, 17]].all() and not body.present[[13, 14]].any() else 0


def _leaves_of(body: RoleBody) -> tuple[Array, Array]:
    """Return where leaves usually are on their parents (5, 4), and how far the network is trusted beyond that (5,)."""
    if not body.familiar:
        return np.array(UNTRUSTED_LEAVES), np.zeros(len(UNTRUSTED_LEAVES))
    usual = np.array(USUAL_LEAVES)
    return usual / np.linalg.norm(usual, axis=1, keepdims=True), np.array(LEAF_TRUST)


def _check_enough(seen: BoolArray) -> None:
    """Refuse frames from which no body can be made, with fewer than three joints of the trunk."""
    trunk = seen[:, [0, 1, 2, 3, 6, 9, 12, 13, 14, 16, 17]].sum(axis=1)
    poor = np.flatnonzero(trunk < 3)
    if len(poor):
        raise GoalError(
            f"frame {int(poor[0])} shows {int(trunk[poor[0]])} joints of the trunk (pelvis, hips, spine, neck, collars,"
            " shoulders); at least 3 are needed"
        )
