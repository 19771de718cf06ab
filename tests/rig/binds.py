"""One character and one motion under different rests: T-pose, A-pose, and binds that are no pose at all."""

import numpy as np

from mimik.rig import LocalPose, Skeleton
from mimik.rotation import identity_quat, matrix_to_quat, quat_apply, quat_inv, quat_mul, rotvec_to_quat

Z = np.array([0.0, 0.0, 1.0])


def rebound(rig, pose, axes, rest_change, *, flat):
    """Return the character with other joint axes and another rest, and the motion on it, in the same world places.

    rig, pose    a rig whose T-pose is the identity, and a motion on it
    axes         (J, 4) the new joint axes in the T-pose
    rest_change  (J, 4) world rotations from the T-pose to the new rest
    flat         store the rest as identity rotations (a BVH with the pose baked into its offsets) instead of as it is
    """
    skeleton = rig.skeleton
    world = pose.to_world()
    q_rest = rest_change if flat else quat_mul(rest_change, axes)
    # joint frames of the new skeleton, in the T-pose: what q_rest is after undoing the change to the rest
    frames = quat_mul(quat_inv(rest_change), np.broadcast_to(identity_quat(), q_rest.shape) if flat else q_rest)
    return _bound(skeleton, world, frames, np.broadcast_to(identity_quat(), q_rest.shape) if flat else q_rest)


def _bound(skeleton, world, frames, q_rest_world):
    """Bind with joint frames (J, 4) in the T-pose whose world rotations at rest are q_rest_world (J, 4)."""
    up = np.maximum(skeleton.parents, 0)
    offsets = quat_apply(quat_inv(frames[up]), skeleton.offsets)
    offsets[0] = skeleton.offsets[0]
    tips = quat_apply(quat_inv(frames), skeleton.tips)
    rest = quat_mul(quat_inv(q_rest_world[up]), q_rest_world)
    rest[0] = q_rest_world[0]
    bound = Skeleton.build(skeleton.names, skeleton.parents, offsets, rest=rest, tips=tips)
    q_world = quat_mul(world.rotations, frames)
    local = quat_mul(quat_inv(q_world[:, up]), q_world)
    local[:, 0] = q_world[:, 0]
    return bound, LocalPose(bound, local, world.positions[:, 0])


def a_rest(rig, degrees=45.0):
    """Return the change (J, 4) from the T-pose to an A-pose: arms down, legs a little apart, feet flat."""
    change = identity_quat(rig.joint_count)
    for joint in range(1, rig.joint_count):
        change[joint] = change[rig.parents[joint]]
        for side, sign in (("left", 1.0), ("right", -1.0)):
            if joint == rig.roles[f"{side}_shoulder"]:
                change[joint] = rotvec_to_quat(np.deg2rad(-sign * degrees) * Z)
            if joint == rig.roles[f"{side}_hip"]:
                change[joint] = rotvec_to_quat(np.deg2rad(sign * 6.0) * Z)
            if joint == rig.roles[f"{side}_ankle"]:
                change[joint] = identity_quat()
    return change


def game_axes(rig):
    """Return joint axes (J, 4) in the T-pose as game rigs have them: x along the bone, the rest at right angles."""
    up, left, front = np.eye(3)[1], np.eye(3)[0], np.eye(3)[2]
    columns = {
        "trunk": (up, front, left),
        "leg": (-up, left, front),
        "arm": (left, up, front),
    }
    axes = np.tile(np.eye(3), (rig.joint_count, 1, 1))
    for role, joint in rig.roles.items():
        part = role.removeprefix("left_").removeprefix("right_")
        limb = (
            "leg" if part in ("hip", "knee") else "arm" if part in ("collar", "shoulder", "elbow", "wrist") else "trunk"
        )
        axes[joint] = np.stack(columns[limb], axis=-1) @ np.diag([1, 1, 1] if "right" not in role else [-1, 1, -1])
        if part in ("ankle", "foot"):
            axes[joint] = foot_axes(rig, joint) @ np.diag([1, 1, 1] if "right" not in role else [-1, 1, -1])
    return matrix_to_quat(axes)


def foot_axes(rig, joint):
    """Return axes (3, 3) with x along the bone to the toes and y to the left."""
    children = rig.skeleton.children(joint)
    x = rig.offsets[children[0]] if children else rig.skeleton.tips[joint]
    x = x / np.linalg.norm(x)
    y = np.array([1.0, 0.0, 0.0])
    return np.stack([x, y, np.cross(x, y)], axis=-1)
