"""Bone-aligned frames (IK-GAT, section 3.2): every joint gets axes that follow its bone, whatever the rig's own are.

For each joint a primary child is chosen; y points to it in the rest pose, a reference direction handed down from
the parent fixes the turn about the bone, and x = reference x y, z = x x y (equations 4-10).
The frame is glued to the joint,

    R_world_bone[j] = R_world_joint[j] R_joint_bone[j]        (equation 11)

with R_joint_bone constant, so that local rotations and bone frames determine each other exactly (equation 12).
"""

from dataclasses import dataclass

import numpy as np

from mimik._types import Array, ArrayLike, IntArray
from mimik.rig.kinematics import forward_kinematics, world_to_local
from mimik.rig.skeleton import Skeleton
from mimik.rotation import matrix_to_quat, quat_apply, quat_inv, quat_mul

_SHORT = 1e-6  # metres; a bone below has no direction
_PARALLEL = 0.1  # sine of the angle between reference and bone below which the reference says nothing


@dataclass(frozen=True, slots=True, eq=False)
class BoneFrames:
    """The bone-aligned frames of one skeleton.

    q_joint_bone   (J, 4) constant rotation from a joint's own frame to its bone's
    primary_child  (J,) the child the bone points to, -1 for a leaf and for a joint whose children share its place
    """

    skeleton: Skeleton
    q_joint_bone: Array
    primary_child: IntArray

    def from_world(self, q_world: ArrayLike) -> Array:
        """Return bone frames (..., J, 4) in world axes of joint rotations (..., J, 4) in world axes."""
        return quat_mul(q_world, self.q_joint_bone)

    def to_world(self, q_world_bone: ArrayLike) -> Array:
        """Return joint rotations (..., J, 4) in world axes of bone frames; inverse of `from_world`."""
        return quat_mul(q_world_bone, quat_inv(self.q_joint_bone))

    def from_local(self, rotations: ArrayLike) -> Array:
        """Return bone frames (..., J, 4) in world axes of local joint rotations (..., J, 4)."""
        local = np.asarray(rotations, dtype=np.float64)
        s = self.skeleton
        q_world, _ = forward_kinematics(s.parents, s.offsets, local, np.zeros(3))
        return self.from_world(q_world)

    def to_local(self, q_world_bone: ArrayLike) -> Array:
        """Return local joint rotations (..., J, 4) of bone frames; inverse of `from_local`."""
        return world_to_local(self.skeleton.parents, self.to_world(q_world_bone))


def bone_frames(
    skeleton: Skeleton, *, q_world_rest: Array | None = None, reference: ArrayLike = (0.0, 0.0, 1.0)
) -> BoneFrames:
    """Lay a frame along every bone of the rest pose.

    q_world_rest  (J, 4) world rotations of the pose to take as rest; default the skeleton's own. Give a rig's
                  `q_world_tpose` to get frames that are alike on rigs with different rests
    reference     (3,) direction that fixes the turn about the first bone

    A leaf follows its tip, or goes on in its parent's direction. Where bone and reference are nearly parallel, the
    parent's x axis takes the reference's place.
    """
    q_world = _rest_rotations(skeleton) if q_world_rest is None else np.asarray(q_world_rest, dtype=np.float64)
    count = skeleton.joint_count
    sizes = _subtree_sizes(skeleton)
    frames = np.empty((count, 3, 3))  # columns x, y, z of each bone in the rest pose, world axes
    primary = np.full(count, -1, dtype=np.int64)
    for j in range(count):
        parent = int(skeleton.parents[j])
        above = frames[parent] if parent >= 0 else None
        primary[j] = _primary_child(skeleton, q_world, j, above, sizes)
        y = _bone_direction(skeleton, q_world[j], j, int(primary[j]), above)
        frames[j] = _frame(y, np.asarray(reference, dtype=np.float64), above)
    q_bone = matrix_to_quat(frames)
    primary.setflags(write=False)
    q_joint_bone = quat_mul(quat_inv(q_world), q_bone)
    q_joint_bone.setflags(write=False)
    return BoneFrames(skeleton, q_joint_bone, primary)


def _rest_rotations(skeleton: Skeleton) -> Array:
    q_world, _ = forward_kinematics(skeleton.parents, skeleton.offsets, skeleton.rest, np.zeros(3))
    return q_world


def _subtree_sizes(skeleton: Skeleton) -> IntArray:
    sizes = np.ones(skeleton.joint_count, dtype=np.int64)
    for j in range(skeleton.joint_count - 1, 0, -1):
        sizes[skeleton.parents[j]] += sizes[j]
    return sizes


def _primary_child(skeleton: Skeleton, q_world: Array, joint: int, above: Array | None, sizes: IntArray) -> int:
    """Choose the child that goes on straightest, of equals the one that carries most; of the root what carries most."""
    children = [c for c in skeleton.children(joint) if np.linalg.norm(skeleton.offsets[c]) > _SHORT]
    if not children:
        return -1
    if above is None:
        return max(children, key=lambda c: int(sizes[c]))
    y_parent = above[:, 1]

    def straightness(child: int) -> tuple[float, int]:
        d = quat_apply(q_world[joint], skeleton.offsets[child])
        return round(float(d @ y_parent / np.linalg.norm(d)), 3), int(sizes[child])

    return max(children, key=straightness)


def _bone_direction(skeleton: Skeleton, q_world: Array, joint: int, child: int, above: Array | None) -> Array:
    end = skeleton.offsets[child] if child >= 0 else skeleton.tips[joint]
    length = np.linalg.norm(end)
    if np.isfinite(length) and length > _SHORT:
        return quat_apply(q_world, end / length)
    return np.array([0.0, 1.0, 0.0]) if above is None else above[:, 1]


def _frame(y: Array, reference: Array, above: Array | None) -> Array:
    """Build the frame (3, 3) of a bone along unit `y`; the reference is the parent's z, or the given one."""
    candidates = [reference, *np.eye(3)] if above is None else [above[:, 2], above[:, 0], above[:, 1]]
    x = next(c for v in candidates if np.linalg.norm(c := np.cross(v, y)) > _PARALLEL * np.linalg.norm(v))
    x = x / np.linalg.norm(x)
    z = np.cross(x, y)
    return np.stack([x, y, z / np.linalg.norm(z)], axis=-1)
