"""From a rig and its limits to the arrays of the projected solvers, and between poses and joint values."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mimik._types import Array, IntArray
from mimik.errors import OptionError, RigError, one_of
from mimik.rig.limits import JointRange, Limits
from mimik.rig.pose import LocalPose
from mimik.rig.rig import Rig
from mimik.rotation import quat_apply, quat_inv, quat_mul
from mimik.solve.projected.arrays import AXES, BALL, FREE, ModelArrays
from mimik.solve.projected.kernels import local_poses
from mimik.solve.projected.values import pose_to_values

BallKind = Literal["ball", "zyz", "zyx"]

SLIDE_SCALE = 4.0
"""Metric of a metre against a radian: a turn moves a limb's end by about half a metre."""

WEIGHT_SCALE = 24.0
"""How much dearer it is to move the whole figure than a limb, where the goals alone do not say how it stands."""

_SEGMENT_MASS = {
    "pelvis": 0.142, "spine1": 0.07, "spine2": 0.07, "spine3": 0.15, "neck": 0.02, "head": 0.061,
    "hip": 0.1, "knee": 0.0465, "ankle": 0.0145, "collar": 0.01, "shoulder": 0.028, "elbow": 0.016, "wrist": 0.006,
}  # fmt: skip
"""Share of body mass that moves with each joint (Winter, Biomechanics and Motor Control of Human Movement)."""


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A rig as the projected solvers see it: J joints with N values between them.

    arrays       what the kernels read
    value_names  (N,) "joint.axis" of each value
    """

    rig: Rig
    arrays: ModelArrays
    value_names: tuple[str, ...]

    @property
    def value_count(self) -> int:
        """Number of values, the degrees of freedom."""
        return len(self.value_names)

    def pose_to_values(self, pose: LocalPose) -> tuple[Array, Array]:
        """Return values (..., N) inside the limits and base frames (..., J, 4) that come nearest to a pose."""
        return pose_to_values(self.arrays, pose.rotations, pose.root, pose.translations)

    def values_to_pose(self, values: Array, base: Array) -> LocalPose:
        """Return the pose of values (..., N) and base frames (..., J, 4)."""
        batch, count = values.shape[:-1], len(self.arrays.parents)
        rotations, moves = np.empty((*batch, count, 4)), np.empty((*batch, count, 3))
        flat = values.reshape(-1, self.value_count), base.reshape(-1, count, 4)
        local_poses(self.arrays, *flat, rotations.reshape(-1, count, 4), moves.reshape(-1, count, 3))
        slides = bool(self.arrays.slides[self.arrays.owner > 0].any())
        return LocalPose(self.rig.skeleton, rotations, moves[..., 0, :], moves if slides else None)


def build_model(
    rig: Rig,
    *,
    limits: Limits | None = None,
    joints: Mapping[str, JointRange] | None = None,
    ball: BallKind = "ball",
    root: Literal["free", "fixed"] = "free",
) -> Model:
    """Build the model of a rig.

    limits  joint kinds and ranges; the rig's own unless given, none where the rig has none
    joints  ranges that replace those of single joints, by joint name or role
    ball    what an unlimited joint is: "ball" (swing and twist), "zyz" (the published Euler angles) or "zyx"
    root    "free" adds three metres of movement and makes an unlimited root turn freely; "fixed" holds its place
    Raises RigError for joints the rig lacks, OptionError for unknown options.
    """
    if ball not in ("ball", "zyz", "zyx"):
        raise OptionError(one_of("ball joint", ball, ("ball", "zyz", "zyx")))
    if root not in ("free", "fixed"):
        raise OptionError(one_of("root", root, ("free", "fixed")))
    table = dict((limits or rig.limits or Limits({})).joints)
    unknown = [name for name in table if name not in rig.names]
    if unknown:
        raise RigError(one_of("joint of this rig", unknown[0], rig.names))
    for name, joint_range in (joints or {}).items():
        table[rig.names[rig.joint(name)]] = joint_range
    ranges = [table.get(name) or _default_range(rig, j, ball, root) for j, name in enumerate(rig.names)]
    return _assemble(rig, ranges, root)


def _default_range(rig: Rig, joint: int, ball: BallKind, root: str) -> JointRange:
    if joint == 0:
        return JointRange.free() if root == "free" else JointRange.fixed()
    return JointRange.ball(bone_direction(rig, joint)) if ball == "ball" else JointRange.euler(ball)


def bone_direction(rig: Rig, joint: int) -> Array:
    """Return the unit direction of a joint's bone in its own frame: to children or tip; Y where all is zero."""
    children = rig.skeleton.children(joint)
    toward = rig.offsets[children].mean(axis=0) if children else np.nan_to_num(rig.skeleton.tips[joint])
    length = float(np.linalg.norm(toward))
    if length < 1e-6 and not children:
        parent_bone = quat_apply(quat_inv(rig.skeleton.rest[joint]), rig.offsets[joint])
        toward, length = parent_bone, float(np.linalg.norm(parent_bone))
    return toward / length if length > 1e-6 else np.array([0.0, 1.0, 0.0])


def _assemble(rig: Rig, ranges: list[JointRange], root: str) -> Model:
    joint_count = rig.joint_count
    ranges = [_settle(r) for r in ranges]
    kind = np.array([{"ball": BALL, "free": FREE}.get(r.kind, AXES) for r in ranges], dtype=np.int64)
    axes: list[Array] = []
    lower: list[float] = []
    upper: list[float] = []
    slides: list[bool] = []
    owner: list[int] = []
    names: list[str] = []
    first, count = np.zeros(joint_count, dtype=np.int64), np.zeros(joint_count, dtype=np.int64)
    for j, r in enumerate(ranges):
        first[j] = len(owner)
        moved = _root_slides() if j == 0 and root == "free" and r.kind != "slide" else None
        for part in (moved, r) if moved else (r,):
            for k in range(len(part.axes)):
                axes.append(part.axes[k])
                lower.append(part.lower[k])
                upper.append(part.upper[k])
                slides.append(part.kind == "slide")
                owner.append(j)
                names.append(f"{rig.names[j]}.{'slide' if part.kind == 'slide' else part.kind}{k}")
        count[j] = len(owner) - first[j]
    slide = np.array(slides, dtype=np.bool_)
    offsets = np.array(rig.offsets)
    if root == "free":
        offsets[0] = 0.0
    mass, mass_point = body_mass(rig)
    arrays = ModelArrays(
        parents=np.array(rig.parents),
        offsets=offsets,
        rest=np.array([quat_mul(q, r.centre) for q, r in zip(rig.skeleton.rest, ranges, strict=True)]),
        kind=kind,
        first=first,
        value_count=count,
        owner=np.array(owner, dtype=np.int64),
        slides=slide.astype(np.int64),
        axes=np.array(axes, dtype=np.float64).reshape(-1, 3),
        lower=np.array(lower, dtype=np.float64),
        upper=np.array(upper, dtype=np.float64),
        cone=np.array([r.cone if r.kind == "ball" else np.inf for r in ranges]),
        scale=np.where(slide, SLIDE_SCALE, 1.0),
        affects=_affects(rig.parents, np.array(owner, dtype=np.int64)),
        mass=mass,
        mass_point=mass_point,
    )
    return Model(rig, arrays, tuple(names))


def _settle(r: JointRange) -> JointRange:
    """A ball without any limit turns freely; one whose swing alone is unlimited stops short of a half turn."""
    if r.kind != "ball" or np.isfinite(r.cone) or np.isfinite([*r.lower[:2], *r.upper[:2]]).any():
        return r
    if np.isfinite([r.lower[2], r.upper[2]]).any():
        return replace(r, cone=0.99 * np.pi)
    return JointRange("free", r.axes, r.lower, r.upper, centre=r.centre)


def _root_slides() -> JointRange:
    return JointRange.slide(np.eye(3))


def _affects(parents: IntArray, owner: IntArray) -> IntArray:
    joint_count = len(parents)
    above = np.zeros((joint_count, joint_count), dtype=np.bool_)
    for j in range(joint_count):
        if parents[j] >= 0:
            above[j] = above[parents[j]]
        above[j, j] = True
    return np.ascontiguousarray(above[:, owner].astype(np.int64))


def effort(m: ModelArrays) -> Array:
    """Return a metric (N,) in which moving much of the body's mass is dear: a hand reaches before the hips turn."""
    below = m.mass.copy()
    for j in range(len(below) - 1, 0, -1):
        below[m.parents[j]] += below[j]
    return m.scale * (1.0 + WEIGHT_SCALE * below[m.owner] ** 2)


def body_mass(rig: Rig) -> tuple[Array, Array]:
    """Return each joint's share (J,) of the body's mass and where it sits (J, 3) in the joint's frame, metres.

    Shares by role after Winter; the mass of a limb segment sits at the middle of its bone. A rig without roles spreads
    its mass evenly over the joints.
    """
    share = np.zeros(rig.joint_count)
    for role, joint in rig.roles.items():
        share[joint] += _SEGMENT_MASS.get(role.removeprefix("left_").removeprefix("right_"), 0.0)
    if share.sum() <= 0.0:
        share[:] = 1.0
    points = np.zeros((rig.joint_count, 3))
    for j in range(rig.joint_count):
        children = rig.skeleton.children(j)
        end = rig.offsets[children].mean(axis=0) if children else np.nan_to_num(rig.skeleton.tips[j])
        points[j] = 0.5 * end
    return share / share.sum(), points
