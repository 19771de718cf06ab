"""The paper's experiment on real motion: one figure of 72 degrees of freedom, its limits, clips, goals that can be met.

The figure is the CMU one: three hinges a joint, in the order whose middle angle stays furthest from its gimbal pose; a
root that slides and turns freely; the forearms' twist joints taken into the hands. Limits run from the 5th to the 95th
percentile over 125 training clips, widened to contain the test clips. Goals are points of the motion itself.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mimik import Skeleton
from mimik._types import Array, IntArray
from mimik.rig.limits import JointRange, Limits
from mimik.rig.rig import Rig
from mimik.rotation import identity_quat, quat_mul, quat_to_euler, rotvec_to_quat
from mimik.solve.projected.model import Model, build_model

DROPPED = ("LeftForeArmTwist", "RightForeArmTwist")
EFFECTORS = ("LeftHand", "RightHand", "LeftFoot", "RightFoot", "Hips", "Head")
CLIPS = {"walk": "12_01", "acrobatics": "85_14", "stretching": "28_15"}
ROLES = {
    "pelvis": "Hips", "spine1": "SpineBase", "spine2": "SpineMid", "spine3": "SpineTop", "neck": "NeckBase",
    "head": "Head",
    **{f"{s}_{r}": f"{S}{n}" for s, S in (("left", "Left"), ("right", "Right")) for r, n in {
        "hip": "UpLeg", "knee": "Leg", "ankle": "Foot", "foot": "ToeBase", "collar": "Shoulder", "shoulder": "Arm",
        "elbow": "ForeArm", "wrist": "Hand"}.items()},
}  # fmt: skip


def data_folder() -> Path:
    """Folder of the motion files: the environment variable MIMIK_DATA, or ../shared/mocap."""
    return Path(os.environ.get("MIMIK_DATA", "../shared/mocap"))


@dataclass(frozen=True)
class Motion:
    """One clip on the figure: local rotations (T, J, 4), root (T, 3), hinge angles (T, N) that make it."""

    name: str
    rig: Rig
    rotations: Array
    root: Array
    fps: float

    def angles(self, orders: list[str]) -> Array:
        """Hinge angles (T, J - 1, 3) of all joints but the root, continuous over time."""
        triples = [quat_to_euler(self.rotations[:, j + 1], order) for j, order in enumerate(orders)]
        return np.unwrap(np.stack(triples, axis=1), axis=0)


def subject_file(subject: str, folder: Path) -> Path:
    """Find the file of a subject in any split."""
    return next(folder.glob(f"cmu_*_{subject}.npz"))


def load_motion(clip: str, folder: Path) -> Motion:
    """Read one clip ("85_14") at 60 frames a second on the reduced figure."""
    with np.load(subject_file(clip.split("_", maxsplit=1)[0], folder), allow_pickle=False) as d:
        names = [str(n) for n in d["names"]]
        clips = [str(n) for n in d["clip_names"]]
        bounds = [*d["clip_starts"].tolist(), len(d["root_delta"])]
        at = clips.index(clip)
        rotvec = np.cumsum(d["rotvec_delta"], axis=0, dtype=np.int16)[bounds[at] : bounds[at + 1]] * (np.pi / 32767)
        root = np.cumsum(d["root_delta"], axis=0)[bounds[at] : bounds[at + 1]] * 1e-4
        parents, offsets, tips = d["parents"].astype(int), d["offsets"], d["tips"]
    return _reduce(clip, names, parents, offsets, tips, rotvec_to_quat(rotvec), root)


def _reduce(
    clip: str, names: list[str], parents: IntArray, offsets: Array, tips: Array, rotations: Array, root: Array
) -> Motion:
    offsets = np.array(offsets, dtype=float)
    for dropped in DROPPED:
        j = names.index(dropped)
        child = int(np.flatnonzero(parents == j)[0])
        offsets[child] += offsets[j]
        rotations[:, child] = quat_mul(rotations[:, j], rotations[:, child])
        parents[child] = parents[j]
    keep = [j for j, n in enumerate(names) if n not in DROPPED]
    new = {old: k for k, old in enumerate(keep)}
    skeleton = Skeleton.build(
        [names[j] for j in keep],
        [new[int(parents[j])] if parents[j] >= 0 else -1 for j in keep],
        offsets[keep],
        tips=tips[keep],
    )
    roles = {role: skeleton.index(name) for role, name in ROLES.items()}
    rig = Rig(skeleton, identity_quat(skeleton.joint_count), roles, name=clip)
    return Motion(clip, rig, rotations[:, keep], root, 60.0)


@dataclass(frozen=True)
class Figure:
    """Hinge orders and limits (J - 1, 3) of all joints but the root."""

    orders: list[str]
    low: Array
    high: Array

    def model(self, rig: Rig) -> Model:
        """Three hinges a joint inside a box, and a free root."""
        joints = {
            name: JointRange.euler(self.orders[j], self.low[j], self.high[j]) for j, name in enumerate(rig.names[1:])
        }
        return build_model(rig, limits=Limits(joints, "5th to 95th percentile of motion"))


def training_motions(folder: Path, clips: int = 125, stride: int = 20) -> list[Motion]:
    """Evenly chosen training clips, every `stride`-th frame."""
    found: list[str] = []
    for path in sorted(folder.glob("cmu_train_*.npz")):
        with np.load(path, allow_pickle=False) as d:
            found += [str(n) for n in d["clip_names"]]
    chosen = [found[k] for k in np.linspace(0, len(found) - 1, clips).astype(int)]
    whole = [load_motion(c, folder) for c in chosen]
    return [Motion(m.name, m.rig, m.rotations[::stride], m.root[::stride], m.fps / stride) for m in whole]


def make_figure(folder: Path, motions: list[Motion]) -> Figure:
    """Choose hinge orders and limits: percentiles of training motion, widened to contain the test clips."""
    training = training_motions(folder)
    stacked = np.concatenate([m.rotations for m in [*training, *motions]])[:, 1:]
    orders = [_best_order(stacked[:, j]) for j in range(stacked.shape[1])]
    angles = np.concatenate([m.angles(orders) for m in training])
    low, high = np.percentile(angles, 5, axis=0), np.percentile(angles, 95, axis=0)
    for motion in motions:
        angles = motion.angles(orders)
        low, high = np.minimum(low, angles.min(axis=0)), np.maximum(high, angles.max(axis=0))
    return Figure(orders, low, high)


def _best_order(q: Array) -> str:
    """Order of three axes whose middle angle stays furthest from a right angle over rotations (n, 4)."""
    orders = ("ZYX", "YZX", "XZY", "ZXY", "XYZ", "YXZ")
    reach = [np.percentile(np.abs(quat_to_euler(q, order)[:, 1]), 99.9) for order in orders]
    return orders[int(np.argmin(reach))]


def sampled(motion: Motion, seconds: float, start: int = 0) -> Array:
    """Frame indices every `seconds` from frame `start`."""
    return np.arange(start, len(motion.root), max(1, round(seconds * motion.fps)))


def effector_joints(rig: Rig) -> list[int]:
    """Joints that carry the six goals."""
    return [rig.skeleton.index(name) for name in EFFECTORS]
