"""The body to dress: the rig in the pose the mannequin is built in, its size, and its chains of joints."""

from dataclasses import dataclass, field

import numpy as np

from mimik._types import Array
from mimik.rig.rig import Rig
from mimik.rotation import quat_apply, quat_mul, rotvec_to_quat
from mimik.studio.bones import BoneList

ARM_SPREAD = np.radians(42.0)
LEG_SPREAD = np.radians(9.0)
FRONT, UP = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])


@dataclass(slots=True)
class Body:
    """A rig posed for building: arms half down and legs apart, so that parts which must not melt together stand apart.

    turn   (J, 4) world rotation of each joint from the T-pose to the build pose
    q, p   (J, 4), (J, 3) world rotations and places in the build pose, metres
    scale  stature over 1.75 m
    face   middle of the skull and its size factor, once there is a head
    """

    rig: Rig
    turn: Array
    q: Array
    p: Array
    scale: float = 1.0
    bones: BoneList = field(default_factory=BoneList)
    face: tuple[Array, float] | None = None

    def has(self, *roles: str) -> bool:
        """Say whether the rig has all these roles."""
        return all(role in self.rig.roles for role in roles)

    def joint(self, role: str) -> int:
        """Return the joint of a role the rig has."""
        return self.rig.roles[role]

    def at(self, role: str) -> Array:
        """Return where the joint of a role stands."""
        return self.p[self.joint(role)]

    def first(self, *roles: str) -> str | None:
        """Return the first of these roles the rig has."""
        return next((role for role in roles if role in self.rig.roles), None)

    def turned(self, role: str, direction: Array) -> Array:
        """Return a T-pose direction as it points in the build pose at this role's joint."""
        return quat_apply(self.turn[self.joint(role)], direction)

    def tip(self, role: str) -> Array | None:
        """Return the end of the bone of a leaf joint, if the rig knows it."""
        tip = self.rig.skeleton.tips[self.joint(role)]
        if not np.isfinite(tip).all():
            return None
        return self.at(role) + quat_apply(self.q[self.joint(role)], tip)

    def chain(self, start: int, end: int) -> list[int]:
        """Return the joints from `start` down to `end`, both included; only `start` where `end` is not below it."""
        path, joint = [end], end
        while joint != start:
            joint = int(self.rig.parents[joint])
            if joint < start:
                return [start]
            path.append(joint)
        return path[::-1]

    def places(self, start: Array, end: Array, joints: list[int]) -> list[tuple[float, int]]:
        """Return (place along the line, bone) of joints, so that each carries the surface from its place on."""
        axis = end - start
        square = max(float(axis @ axis), 1e-12)
        rows, reached = [], -np.inf
        for joint in joints:
            t = float((self.p[joint] - start) @ axis) / square
            reached = max(t, reached)
            rows.append((reached, self.bones.joint(joint)))
        return rows

    def girth(self, length: float, usual: float) -> float:
        """Return the factor on radii of a limb of this length whose usual length at 1.75 m is `usual`."""
        return self.scale * float(np.clip(length / (usual * self.scale), 0.5, 1.5)) ** 0.35


def build_pose(rig: Rig) -> Body:
    """Stand the rig in its T-pose, then lower the arms and part the legs."""
    s = rig.skeleton
    swings = {
        "left_shoulder": (0.0, 0.0, -ARM_SPREAD),
        "right_shoulder": (0.0, 0.0, ARM_SPREAD),
        "left_hip": (0.0, 0.0, LEG_SPREAD),
        "right_hip": (0.0, 0.0, -LEG_SPREAD),
    }
    swing_of = {rig.roles[role]: rotvec_to_quat(v) for role, v in swings.items() if role in rig.roles}
    stand = rig.tpose().to_world()
    turn = np.tile([0.0, 0.0, 0.0, 1.0], (rig.joint_count, 1))
    p = stand.positions.copy()
    for j in range(rig.joint_count):
        parent = int(s.parents[j])
        if parent >= 0:
            turn[j] = turn[parent]
            p[j] = p[parent] + quat_apply(turn[parent], stand.positions[j] - stand.positions[parent])
        if j in swing_of:
            turn[j] = quat_mul(turn[j], swing_of[j])
    body = Body(rig, turn, quat_mul(turn, stand.rotations), p)
    body.scale = _scale(body)
    return body


def _scale(body: Body) -> float:
    """Estimate stature over 1.75 m from the lengths of legs, trunk and arms; from the whole size where those lack."""
    usual = {
        ("left_hip", "left_knee", "left_ankle"): 0.835,
        ("right_hip", "right_knee", "right_ankle"): 0.835,
        ("pelvis", "neck"): 0.56,
        ("left_shoulder", "left_elbow", "left_wrist"): 0.53,
        ("right_shoulder", "right_elbow", "right_wrist"): 0.53,
    }
    ratios, weights = [], []
    for roles, length in usual.items():
        if body.has(*roles):
            points = np.array([body.at(role) for role in roles])
            measured = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
            if measured > 1e-6:
                ratios.append(measured / length)
                weights.append(length)
    if not ratios:
        size = float(np.ptp(body.p, axis=0).max())
        return size / 1.75 if size > 1e-6 else 1.0
    return float(np.average(ratios, weights=weights))
