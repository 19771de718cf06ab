"""Bone-aligned frames: y along the bone, exactly invertible, alike on rigs whose own axes differ."""

import numpy as np
import pytest

from mimik.rig import Skeleton
from mimik.rig.bone_frames import bone_frames
from mimik.rig.builtin import BUILTIN_RIGS, builtin_rig
from mimik.rotation import geodesic, quat_apply, quat_mul, quat_to_matrix
from tests.builders import SEED, random_quats, random_tree


@pytest.mark.parametrize("name", BUILTIN_RIGS)
def test_round_trip_of_many_random_poses(name):
    rng = np.random.default_rng(SEED)
    frames = bone_frames(builtin_rig(name).skeleton)
    rotations = random_quats(rng, 3000, frames.skeleton.joint_count)
    assert geodesic(frames.to_local(frames.from_local(rotations)), rotations).max() < 1e-12


def test_round_trip_in_single_precision_beats_the_paper():
    rng = np.random.default_rng(SEED)
    frames = bone_frames(builtin_rig("humanoid").skeleton)
    rotations = random_quats(rng, 20_000, 22)
    stored = frames.from_local(rotations).astype(np.float32)
    back = quat_to_matrix(frames.to_local(stored).astype(np.float32))
    assert np.abs(back - quat_to_matrix(rotations)).max() < 1.8e-5


def test_y_points_along_the_bone_and_axes_are_orthonormal():
    rng = np.random.default_rng(SEED)
    for _ in range(20):
        skeleton = random_tree(rng)
        frames = bone_frames(skeleton)
        axes = quat_to_matrix(frames.q_joint_bone)
        assert np.allclose(np.swapaxes(axes, -1, -2) @ axes, np.eye(3), atol=1e-12)
        for joint, child in enumerate(frames.primary_child):
            if child >= 0:
                bone = skeleton.offsets[child] / np.linalg.norm(skeleton.offsets[child])
                assert np.allclose(axes[joint, :, 1], bone, atol=1e-9)


def test_reference_parallel_to_a_bone_and_bones_without_length():
    offsets = [[0, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 1, 0]]
    skeleton = Skeleton.build(["a", "b", "c", "d", "e"], [-1, 0, 1, 2, 3], offsets)
    frames = bone_frames(skeleton)
    assert np.isfinite(frames.q_joint_bone).all()
    assert np.allclose(quat_apply(frames.q_joint_bone[0], [0, 1, 0]), [0, 0, 1])
    assert frames.primary_child[4] == -1 and frames.primary_child[2] == -1


def test_frames_do_not_depend_on_the_rigs_own_axes():
    rng = np.random.default_rng(SEED)
    rig = builtin_rig("humanoid")
    skeleton = rig.skeleton
    axes = random_quats(rng, rig.joint_count)
    up = np.maximum(skeleton.parents, 0)
    offsets = quat_apply(axes[up] * [-1, -1, -1, 1], skeleton.offsets)
    turned = Skeleton.build(skeleton.names, skeleton.parents, offsets)
    own = bone_frames(skeleton, q_world_rest=rig.q_world_tpose)
    other = bone_frames(turned, q_world_rest=axes)
    assert geodesic(quat_mul(axes, other.q_joint_bone), own.q_joint_bone)[[0, 1, 3, 4, 9, 12, 16]].max() < 1e-9
