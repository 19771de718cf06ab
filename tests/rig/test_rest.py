"""Whatever a skeleton's rest is, the same motion is the same in role space."""

import numpy as np
import pytest

from mimik.motion.sample import medley
from mimik.rig import LocalPose, Skeleton
from mimik.rig.build import build_rig
from mimik.rig.builtin import BUILTIN_RIGS, builtin_rig
from mimik.rig.role_space import rig_to_role_rotations, role_rotations_to_rig
from mimik.rotation import geodesic, identity_quat, quat_inv
from tests.rig.binds import a_rest, game_axes, rebound


@pytest.fixture(scope="module")
def character():
    rig = builtin_rig("humanoid", 1.8)
    clip = medley(rig)
    return rig, LocalPose(rig.skeleton, clip.rotations[::3], clip.root[::3])


def build(skeleton, pose):
    return build_rig(skeleton, motion=(pose.rotations, pose.root, None))


def same_world(target, a, b):
    """Return the greatest distance (mm) and angle (degrees) between two motions in role space put on one rig."""
    one, two = (role_rotations_to_rig(target, *motion).to_world() for motion in (a, b))
    return 1e3 * np.abs(one.positions - two.positions).max(), np.rad2deg(geodesic(one.rotations, two.rotations).max())


@pytest.mark.parametrize("flat", [False, True])
def test_a_rest_is_the_same_motion(character, flat):
    rig, pose = character
    truth = rig_to_role_rotations(rig, pose)
    skeleton, moved = rebound(rig, pose, identity_quat(rig.joint_count), a_rest(rig), flat=flat)
    bound = build(skeleton, moved)
    assert bound.rest_kind == "A"
    mm, degrees = same_world(rig, truth, rig_to_role_rotations(bound, moved))
    assert mm < 0.1 and degrees < 0.01


def test_game_bind_is_the_same_motion(character):
    rig, pose = character
    axes = game_axes(rig)
    skeleton, moved = rebound(rig, pose, axes, quat_inv(axes), flat=False)
    assert np.allclose(skeleton.rest, identity_quat())
    bound = build(skeleton, moved)
    assert bound.rest_kind == "arbitrary"
    mm, degrees = same_world(rig, rig_to_role_rotations(rig, pose), rig_to_role_rotations(bound, moved))
    assert mm < 0.1 and degrees < 0.01


def test_game_bind_without_names_is_found_from_its_motion(character):
    rig, pose = character
    axes = game_axes(rig)
    skeleton, moved = rebound(rig, pose, axes, quat_inv(axes), flat=False)
    nameless = Skeleton.build([f"b{k * 7 % 22}" for k in range(22)], skeleton.parents, skeleton.offsets)
    bound = build(nameless, moved)
    assert dict(bound.roles) == dict(rig.roles)
    assert np.rad2deg(geodesic(bound.q_world_tpose, axes).max()) < 0.01


@pytest.mark.parametrize("name", BUILTIN_RIGS)
def test_every_built_in_rig_carries_the_same_motion(character, name):
    rig, pose = character
    motion = rig_to_role_rotations(rig, pose)
    other = builtin_rig(name)
    back = rig_to_role_rotations(other, role_rotations_to_rig(other, *motion))
    assert geodesic(back[0], motion[0]).max() < 1e-6
    assert np.abs(back[1] - motion[1]).max() < 1e-9
