"""Left and right exchanged: poses, clips' arrays and role-space motion seen in a mirror (world x becomes -x)."""

import numpy as np

from mimik._types import Array, ArrayLike, IntArray
from mimik.rig.pose import LocalPose, WorldPose
from mimik.rig.rig import Rig
from mimik.rig.roles import BODY_MIRROR, mirror_role
from mimik.rotation import quat_apply, quat_inv, quat_mul

_FLIP_Q = np.array([1.0, -1.0, -1.0, 1.0])
_FLIP_P = np.array([-1.0, 1.0, 1.0])


def mirror_joints(rig: Rig) -> IntArray:
    """Return the joint (J,) on the other side of each joint; joints of the middle are their own mirror.

    Joints with a role follow it; others are paired by their place in the T-pose below paired parents. An extra joint
    without a counterpart is its own mirror.
    """
    skeleton = rig.skeleton
    partner = np.full(skeleton.joint_count, -1, dtype=np.int64)
    for role, joint in rig.roles.items():
        if mirror_role(role) in rig.roles:
            partner[joint] = rig.roles[mirror_role(role)]
    for joint in range(skeleton.joint_count - 1, 0, -1):
        parent = int(rig.parents[joint])
        if partner[joint] >= 0 and partner[parent] < 0:
            partner[parent] = rig.parents[partner[joint]]
    places = rig.tpose().positions()
    for joint in range(skeleton.joint_count):
        if partner[joint] < 0:
            partner[joint] = _counterpart(rig, places, partner, joint)
    return partner


def _counterpart(rig: Rig, places: Array, partner: IntArray, joint: int) -> int:
    """Return the free joint below the parent's partner that lies where a mirror shows `joint`, else `joint`."""
    parent = int(rig.parents[joint])
    if parent < 0:
        return joint
    siblings = rig.skeleton.children(int(partner[parent]))
    free = [c for c in siblings if partner[c] in (-1, joint)]
    if not free:
        return joint
    seen = _FLIP_P * (places[joint] - places[parent])
    off = [float(np.linalg.norm(places[c] - places[partner[parent]] - seen)) for c in free]
    length = float(np.linalg.norm(seen))
    best = int(np.argmin(off))
    return free[best] if off[best] < 0.25 * length + 0.005 else joint


def mirror_pose(rig: Rig, pose: LocalPose) -> LocalPose:
    """Return the pose (any batch) a mirror in the world's y-z plane shows, on the same rig.

    A body that is not symmetric keeps its own bones. Mirroring twice gives the pose back.
    """
    partner = mirror_joints(rig)
    world = pose.to_world()
    tpose = rig.q_world_tpose
    change = quat_mul(world.rotations, quat_inv(tpose))[..., partner, :] * _FLIP_Q
    q_world = quat_mul(change, tpose)
    root = world.positions[..., 0, :] * _FLIP_P
    local = WorldPose(rig.skeleton, q_world, np.zeros((*q_world.shape[:-1], 3))).to_local()
    if pose.translations is None:
        return LocalPose(rig.skeleton, local.rotations, root)
    parents = np.maximum(rig.parents, 0)
    steps = (world.positions - world.positions[..., parents, :])[..., partner, :] * _FLIP_P
    moves = quat_apply(quat_inv(q_world[..., parents, :]), steps)
    moves[..., 0, :] = root
    return LocalPose(rig.skeleton, local.rotations, root, moves)


def mirror_roles(D_world: ArrayLike, path: ArrayLike) -> tuple[Array, Array]:
    """Mirror motion in role space: rotations (..., 22, 4) from the T-pose in world axes, and a path (..., 3)."""
    D = np.asarray(D_world, dtype=np.float64)
    return D[..., BODY_MIRROR, :] * _FLIP_Q, np.asarray(path, dtype=np.float64) * _FLIP_P
