"""A mirror exchanges left and right: twice is once, and joints stand where the mirror shows them."""

import numpy as np
import pytest

from mimik.rig import LocalPose
from mimik.rig.builtin import BUILTIN_RIGS, builtin_rig
from mimik.rig.mirror import mirror_joints, mirror_pose, mirror_roles
from mimik.rig.proportions import random_body
from mimik.rig.role_space import rig_to_role_rotations
from mimik.rotation import geodesic
from tests.builders import SEED, random_quats


def random_pose(rig, rng, *, slide=False):
    rotations = random_quats(rng, 6, rig.joint_count)
    moves = rig.offsets + 0.05 * rng.normal(size=(6, rig.joint_count, 3)) if slide else None
    root = rng.normal(size=(6, 3))
    if moves is not None:
        moves[:, 0] = root
    return LocalPose(rig.skeleton, rotations, root, moves)


@pytest.mark.parametrize("slide", [False, True])
@pytest.mark.parametrize("name", BUILTIN_RIGS)
def test_joints_stand_where_the_mirror_shows_them(name, slide):
    rig = builtin_rig(name)
    pose = random_pose(rig, np.random.default_rng(SEED), slide=slide)
    mirrored = mirror_pose(rig, pose)
    assert np.allclose(mirrored.positions(), pose.positions()[:, mirror_joints(rig)] * [-1, 1, 1], atol=1e-9)
    twice = mirror_pose(rig, mirrored)
    assert np.allclose(twice.positions(), pose.positions(), atol=1e-9)
    assert geodesic(twice.rotations, pose.rotations).max() < 1e-9


def test_uneven_bodies_keep_their_own_bones():
    rng = np.random.default_rng(SEED)
    rig = random_body(builtin_rig("mixamo"), rng)
    pose = random_pose(rig, rng)
    mirrored = mirror_pose(rig, pose)
    assert mirrored.translations is None
    assert geodesic(mirror_pose(rig, mirrored).rotations, pose.rotations).max() < 1e-9


def test_role_space_agrees():
    rig = builtin_rig("vrm")
    pose = random_pose(rig, np.random.default_rng(SEED))
    one = mirror_roles(*rig_to_role_rotations(rig, pose))
    two = rig_to_role_rotations(rig, mirror_pose(rig, pose))
    assert geodesic(one[0], two[0]).max() < 1e-9
    assert np.allclose(one[1], two[1], atol=1e-9)
