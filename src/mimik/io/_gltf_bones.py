"""A mesh for rigs that have none: one slim octahedron for every bone, moving rigidly with its joint."""

import numpy as np

from mimik._types import Array
from mimik.rig.rig import Rig
from mimik.rig.skin import Skin
from mimik.rotation import quat_apply, quat_between, quat_to_matrix

_WIDEST = 0.22  # how far along the bone the octahedron is widest
_SLIM = 0.16  # its half width per length
_TRIANGLES = np.array(
    [[0, 2, 1], [0, 3, 2], [0, 4, 3], [0, 1, 4], [5, 1, 2], [5, 2, 3], [5, 3, 4], [5, 4, 1]], dtype=np.int64
)

STAND_IN = {"mimik": "stands in for a skin"}
"""What the mesh's extras say, so that a reader does not take bones for a character's skin."""


def bone_skin(rig: Rig, q_world: Array, p_world: Array) -> Skin:
    """Return octahedra from each joint to its children and tips, bound at the pose (J, 4), (J, 3)."""
    joints, heads, ends = [], [], []
    above = _above_pelvis(rig)
    for j in range(rig.joint_count):
        if j in above:
            continue
        children = rig.skeleton.children(j)
        targets = [p_world[c] for c in children]
        if not children:
            targets = [p_world[j] + quat_apply(q_world[j], _leaf_end(rig, j))]
        for end in targets:
            if np.linalg.norm(end - p_world[j]) > 1e-4:
                joints.append(j)
                heads.append(p_world[j])
                ends.append(end)
    if not joints:  # one lone joint
        joints, heads, ends = [0], [p_world[0]], [p_world[0] + [0.0, 0.1, 0.0]]
    corners = _octahedra(np.array(heads), np.array(ends))  # (B, 6, 3)
    vertices = corners[:, _TRIANGLES.reshape(-1)].reshape(-1, 3)  # flat shaded: no vertex is shared
    owner = np.repeat(np.array(joints, dtype=np.int64), _TRIANGLES.size)[:, None]
    bind = np.zeros((rig.joint_count, 4, 4))
    turn = quat_to_matrix(q_world).transpose(0, 2, 1)
    bind[:, :3, :3], bind[:, 3, 3] = turn, 1.0
    bind[:, :3, 3] = -(turn @ p_world[:, :, None])[..., 0]
    faces = np.arange(len(vertices), dtype=np.int64).reshape(-1, 3)
    return Skin(vertices, faces, owner, np.ones(owner.shape), bind, name="bones")


def _above_pelvis(rig: Rig) -> set[int]:
    """Return the joints over the pelvis, such as a root on the ground: they are no part of the body."""
    above: set[int] = set()
    joint = rig.roles.get("pelvis", 0)
    while joint > 0:
        joint = int(rig.parents[joint])
        above.add(joint)
    return above


def _leaf_end(rig: Rig, joint: int) -> Array:
    """Return the end of a leaf bone in its joint's frame: its tip, else a third of the bone before it."""
    tip = rig.skeleton.tips[joint]
    if np.isfinite(tip).all():
        return tip
    offset = rig.offsets[joint] if joint else np.zeros(3)
    back = rig.skeleton.rest[joint] * [-1.0, -1.0, -1.0, 1.0]
    return quat_apply(back, offset) / 3.0


def _octahedra(heads: Array, ends: Array) -> Array:
    """Return corners (B, 6, 3): head, four around the widest place, end."""
    along = ends - heads
    length = np.linalg.norm(along, axis=1)
    wide = np.clip(_SLIM * length, 0.006, 0.065)
    ring = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    turn = quat_between(np.broadcast_to([0.0, 1.0, 0.0], along.shape), along)
    around = quat_apply(turn[:, None], ring * wide[:, None, None])
    middle = heads + along * _WIDEST
    return np.concatenate([heads[:, None], middle[:, None] + around, ends[:, None]], axis=1)
