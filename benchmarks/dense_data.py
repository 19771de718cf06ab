"""Test poses for the dense benchmark: the truth on any rig, and the joint positions a solver gets to see.

Truth on a rig: joints with a body role turn as the recorded person's, every other joint keeps its T-pose place on its
parent. Positions come from forward kinematics of that.
"""

import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from mimik._types import Array, BoolArray, IntArray
from mimik.errors import FileError
from mimik.learn.importers import Split, read_motion
from mimik.learn.pack import load_pack
from mimik.learn.store import stride
from mimik.rig.kinematics import world_to_local
from mimik.rig.pose import LocalPose
from mimik.rig.rig import Rig
from mimik.rig.role_space import role_map
from mimik.rig.roles import BODY_ROLES
from mimik.rotation import identity_quat, quat_apply, quat_mul
from mimik.solve.dense.body import LANDMARK_JOINT, role_body

FPS = 30.0


def data_path() -> Path:
    """Return the corpus folder: the environment variable MIMIK_DATA, or ../shared/mocap."""
    return Path(os.environ.get("MIMIK_DATA", "../shared/mocap"))


@dataclass(frozen=True, slots=True, eq=False)
class TestPoses:
    """Poses in role space: D_world (N, 22, 4), pelvis (N, 3) metres, whose they are and from which clip (N,)."""

    rotations: Array
    pelvis: Array
    subject: IntArray
    clip: IntArray

    def __len__(self) -> int:
        return len(self.rotations)

    def take(self, frames: IntArray | slice) -> "TestPoses":
        """Return some of the poses."""
        return TestPoses(self.rotations[frames], self.pelvis[frames], self.subject[frames], self.clip[frames])

    def thinned(self, count: int) -> "TestPoses":
        """Return about `count` poses spread evenly over all; all of them for 0."""
        return self if not 0 < count < len(self) else self.take(np.linspace(0, len(self) - 1, count).astype(np.int64))


def load_poses(path: Path, split: Split = "test", *, step: int = 1) -> TestPoses:
    """Read a pack, or the corpus files of a split in a folder, at 30 frames a second; every `step`-th frame."""
    if path.is_file():
        packs = load_pack(path)
        if split not in packs:
            raise FileError(path, f"holds no poses of the split {split!r}")
        pack = packs[split]
        clip = np.searchsorted(pack.clip_starts, np.arange(len(pack)), side="right") - 1
        whole = TestPoses(pack.rotations(), pack.root.astype(np.float64), pack.body.astype(np.int64), clip)
        return whole.take(slice(None, None, step))
    files = sorted(path.glob(f"cmu_{split}_*.npz"))
    if not files:
        raise FileError(path, f"holds no cmu_{split}_*.npz; name the corpus folder or a pack with --data")
    parts: list[TestPoses] = []
    clips = 0
    for subject, file in enumerate(files):
        for motion in read_motion(file):
            every = slice(None, None, stride(motion.fps, FPS) * step)
            q, pelvis = motion.rotations[every], motion.root[every]
            parts.append(TestPoses(q, pelvis, np.full(len(q), subject), np.full(len(q), clips)))
            clips += 1
    columns = ("rotations", "pelvis", "subject", "clip")
    return TestPoses(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """A motion on one rig. Local rotations (N, J, 4), role positions (N, 22, 3) with NaN for roles the rig lacks.

    landmarks  (N, 22, 3) metres, NaN where the rig lacks the joint they move with
    """

    rig: Rig
    pose: LocalPose
    points: Array
    landmarks: Array

    @property
    def joints(self) -> IntArray:
        """Joints of the rig that have a body role, in the order of the roles."""
        return np.array([self.rig.roles[role] for role in BODY_ROLES if role in self.rig.roles])

    @property
    def roles(self) -> list[str]:
        """Body roles the rig has."""
        return [role for role in BODY_ROLES if role in self.rig.roles]


def posed(rig: Rig, poses: TestPoses) -> Truth:
    """Put poses on a rig, extra joints rigid."""
    role_of = {joint: BODY_ROLES.index(role) for role, joint in rig.roles.items() if role in BODY_ROLES}
    turned = np.empty((len(poses), rig.joint_count, 4))
    above = role_map(rig).above
    for j in range(rig.joint_count):
        if j in role_of:
            turned[:, j] = poses.rotations[:, role_of[j]]
        else:
            parent = rig.parents[j]
            turned[:, j] = turned[:, parent] if parent >= 0 and j not in above else identity_quat()
    local = world_to_local(rig.parents, quat_mul(turned, rig.q_world_tpose))
    root = np.array(poses.pelvis)
    for parent, joint in pairwise(above):
        root -= quat_apply(quat_mul(turned[:, parent], rig.q_world_tpose[parent]), rig.offsets[joint])
    return truth_of(rig, LocalPose(rig.skeleton, local, root))


def truth_of(rig: Rig, pose: LocalPose) -> Truth:
    """Return what is to be found and what is seen of any pose of a rig."""
    world = pose.to_world()
    points = np.full((len(world.positions), len(BODY_ROLES), 3), np.nan)
    for r, role in enumerate(BODY_ROLES):
        if role in rig.roles:
            points[:, r] = world.positions[:, rig.roles[role]]
    D_world, _ = role_map(rig).from_rig(pose)
    landmarks = points[:, LANDMARK_JOINT] + quat_apply(D_world[:, LANDMARK_JOINT], role_body(rig).landmarks)
    return Truth(rig, pose, points, landmarks)


def noisy(points: Array, sigma: float, *, seed: int = 0) -> Array:
    """Add normal noise of `sigma` metres to each coordinate."""
    return points + np.random.default_rng(seed).normal(0.0, sigma, points.shape) if sigma else points


def random_joints(frames: int, count: int, *, seed: int = 0) -> BoolArray:
    """Choose `count` of the 22 roles to miss in each frame (frames, 22)."""
    ranks = np.random.default_rng(seed).random((frames, len(BODY_ROLES))).argsort(axis=1)
    chosen: BoolArray = ranks < count
    return chosen


def named_joints(frames: int, names: tuple[str, ...]) -> BoolArray:
    """Miss the same roles in every frame (frames, 22)."""
    return np.broadcast_to(np.array([role in names for role in BODY_ROLES]), (frames, len(BODY_ROLES)))


def without(points: Array, missing: BoolArray) -> Array:
    """Return points (N, 22, 3) with NaN where `missing` (N, 22)."""
    return np.where(missing[:, :, None], np.nan, points)
