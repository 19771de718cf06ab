"""The contenders of the dense benchmark, each a function from a truth's positions to a local pose of its rig."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.dense_data import TestPoses
from benchmarks.dense_fitting import PosePrior, fit_frames

from mimik._types import Array
from mimik.rig.hinges import with_usual_hinges
from mimik.rig.pose import LocalPose
from mimik.rig.rig import Rig
from mimik.rig.role_space import role_map
from mimik.rig.roles import BODY_PARENTS, BODY_ROLES
from mimik.rotation import matrix_to_quat, procrustes, quat_apply, quat_between, quat_mul
from mimik.solve.dense.body import CHILD, role_body
from mimik.solve.dense.ikgat import ikgat_pose
from mimik.solve.dense.layout import OUTPUT_WIDTH
from mimik.solve.dense.solver import DenseSolver
from mimik.solve.projected.keypoints import solve_keypoints_projected

Method = Callable[..., LocalPose]
"""(role positions (N, 22, 3) metres, rig, noise=metres, landmarks=(N, 22, 3) or None) to a local pose."""

DEFAULT, IKGAT, MLP, TRANSFORMER = "default", "ikgat", "per-joint MLP", "dense transformer"
CHAIN, GEOMETRY = "geometry, least twist", "geometry of the default"
FITTING, PROJECTED = "L-BFGS with pose prior", "projected solver"
SPINE = ("pelvis", "spine1", "spine2", "spine3", "neck")
SLOW = (FITTING, PROJECTED)
"""Methods run on a small part of the frames."""


class ZeroNetwork:
    """Stands in for the network: no correction of the geometry."""

    def run(self, _: Any, feeds: dict[str, Array]) -> list[Array]:
        """Return zeros (N, 264)."""
        return [np.zeros((len(feeds["features"]), OUTPUT_WIDTH), dtype=np.float32)]


def default_pose(points: Array, rig: Rig, *, noise: float = 0.0, landmarks: Array | None = None) -> LocalPose:
    """Solve with the default method."""
    return DenseSolver(rig).pose(points, noise=noise, landmarks=landmarks)


def geometry_pose(points: Array, rig: Rig, *, noise: float = 0.0, landmarks: Array | None = None) -> LocalPose:
    """Solve with the default method's geometry alone, its network silent."""
    solver = DenseSolver(rig)
    solver._session, solver._single = ZeroNetwork(), None  # type: ignore[assignment]
    return solver.pose(points, noise=noise, landmarks=landmarks)


def chain_pose(points: Array, rig: Rig, *, noise: float = 0.0, landmarks: Array | None = None) -> LocalPose:
    """Lay bones along what is seen with the least rotation from the parent's; three points fix pelvis and chest.

    Head, hands and toes go on as their parents do. What anyone would write first; noise and landmarks change nothing.
    """
    points, offsets = completed(points, rig), role_body(rig).offsets
    D_world = np.empty((*points.shape[:2], 4))
    for j, parent in enumerate(BODY_PARENTS):
        base = D_world[:, parent]
        children = np.flatnonzero(j == BODY_PARENTS)
        seen = points[:, children] - points[:, j : j + 1]
        if len(children) > 1:
            then = np.broadcast_to(offsets[children], seen.shape)
            D_world[:, j] = matrix_to_quat(procrustes(then, seen))
        elif len(children) == 1:
            bone = quat_apply(base, offsets[CHILD[j]])
            D_world[:, j] = quat_mul(quat_between(bone, seen[:, 0]), base)
        else:
            D_world[:, j] = base
    return role_map(with_usual_hinges(rig)).to_rig(D_world, points[:, 0])


def completed(points: Array, rig: Rig) -> Array:
    """Put spine joints a rig lacks between their neighbours, for methods that need all 22 roles."""
    whole = np.array(points)
    spine = [i for i, role in enumerate(BODY_ROLES) if role in SPINE]
    along = np.cumsum(np.linalg.norm(role_body(rig).offsets[spine], axis=1))
    there = np.array([BODY_ROLES[i] in rig.roles for i in spine])
    for k in np.flatnonzero(~there):
        low, high = np.flatnonzero(there[:k])[-1], k + np.flatnonzero(there[k:])[0]
        share = (along[k] - along[low]) / (along[high] - along[low])
        whole[:, spine[k]] = (1.0 - share) * whole[:, spine[low]] + share * whole[:, spine[high]]
    return whole


def baseline(path: Path) -> Method:
    """Load a trained baseline of `dense_baselines.py`."""
    from benchmarks.dense_baselines import Baseline

    network = Baseline(path)

    def solve(points: Array, rig: Rig, *, noise: float = 0.0, landmarks: Array | None = None) -> LocalPose:
        D_world = matrix_to_quat(network.predict(completed(points, rig)))
        return role_map(with_usual_hinges(rig)).to_rig(D_world, points[:, 0])

    return solve


def fitting(train: TestPoses) -> Method:
    """Prepare per-frame optimisation with a Gaussian prior measured on training poses."""
    prior = PosePrior.measured(train.rotations)

    def solve(points: Array, rig: Rig, *, noise: float = 0.0, landmarks: Array | None = None) -> LocalPose:
        start, _ = role_map(rig).from_rig(chain_pose(points, rig))
        D_world = fit_frames(points, role_body(rig).offsets, prior, start[:, 0], noise=noise)
        return role_map(with_usual_hinges(rig)).to_rig(D_world, points[:, 0])

    return solve


def all_methods(mlp: Path | None, transformer: Path | None, train: TestPoses | None) -> dict[str, Method]:
    """Return the contenders there are weights and data for."""
    methods: dict[str, Method] = {
        DEFAULT: default_pose,
        IKGAT: lambda points, rig, noise=0.0, landmarks=None: ikgat_pose(completed(points, rig), rig),
    }
    if mlp:
        methods[MLP] = baseline(mlp)
    if transformer:
        methods[TRANSFORMER] = baseline(transformer)
    methods |= {CHAIN: chain_pose, GEOMETRY: geometry_pose}
    if train is not None:
        methods[FITTING] = fitting(train)
    methods[PROJECTED] = lambda points, rig, noise=0.0, landmarks=None: solve_keypoints_projected(points, rig).poses
    return methods
