"""What users say about roles goes before names; odd skeletons build without roles; names in any script are fine."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mimik.errors import RigError
from mimik.rig import Skeleton
from mimik.rig.build import build_rig
from mimik.rig.builtin import builtin_rig
from mimik.rig.joint_words import read_names
from mimik.rig.roles import BODY_MIRROR, BODY_PARENTS, BODY_ROLES, ROLES, canonical_role, mirror_role, roles_from_vrm
from tests.builders import SEED, chain, random_quats, random_tree


def test_role_tables():
    assert len(BODY_ROLES) == 22 and len(set(ROLES)) == len(ROLES) == 55
    assert (BODY_PARENTS[1:] < np.arange(1, 22)).all() and BODY_PARENTS[0] == -1
    assert np.array_equal(BODY_MIRROR[BODY_MIRROR], np.arange(22))
    assert all(mirror_role(mirror_role(r)) == r and mirror_role(r) in ROLES for r in ROLES)


@pytest.mark.parametrize(
    ("said", "role"),
    [("left_hand", "left_wrist"), ("LeftHand", "left_wrist"), ("l_toe", "left_foot"), ("hips", "pelvis"),
     ("Right Forearm", "right_elbow"), ("chest", "spine3"), ("thigh.L", "left_hip"), ("rightUpperLeg", "right_hip"),
     ("left_index1", "left_index1"), ("nose", None), ("", None)],
)  # fmt: skip
def test_what_users_call_roles(said, role):
    assert canonical_role(said) == role


def test_user_mapping_goes_before_names():
    rig = builtin_rig("ue5")
    mapped = build_rig(rig.skeleton, roles={"left_elbow": "lowerarm_twist_01_l", "chest": "spine_04", "jaw": ""})
    assert mapped.names[mapped.roles["left_elbow"]] == "lowerarm_twist_01_l"
    assert mapped.names[mapped.roles["spine3"]] == "spine_04"
    without = build_rig(rig.skeleton, roles={"left_foot": -1})
    assert "left_foot" not in without.roles and any("left_foot" in n for n in without.notes)


def test_wrong_mappings_say_so():
    skeleton = builtin_rig("humanoid").skeleton
    with pytest.raises(RigError, match="left_elbow"):
        build_rig(skeleton, roles={"left_elbwo": "left_elbow"})
    with pytest.raises(RigError, match="left_elbow"):
        build_rig(skeleton, roles={"left_elbow": "left_elbwo"})
    with pytest.raises(RigError, match="joints 0 to"):
        build_rig(skeleton, roles={"left_elbow": 99})


def test_vrm_tables_of_both_versions():
    old = {"hips": "H", "spine": "S", "chest": "C", "leftThumbProximal": "T1", "leftThumbIntermediate": "T2",
           "leftThumbDistal": "T3", "leftFoot": "F", "leftToes": "T", "leftShoulder": "K"}  # fmt: skip
    found = roles_from_vrm(old)
    assert found["left_thumb1"] == "T1" and found["left_thumb2"] == "T2" and found["left_thumb3"] == "T3"
    assert found["spine1"] == "S" and found["spine3"] == "C" and "spine2" not in found
    assert found["left_ankle"] == "F" and found["left_foot"] == "T" and found["left_collar"] == "K"
    assert roles_from_vrm({"spine": "S"}) == {"spine3": "S"}


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_skeletons_that_are_no_person_build_without_roles(count):
    rig = build_rig(chain(count))
    assert not rig.roles and rig.rest_kind == "arbitrary" and rig.notes


def test_random_trees_build_with_and_without_motion():
    rng = np.random.default_rng(SEED)
    for _ in range(30):
        skeleton = random_tree(rng, int(rng.integers(1, 60)))
        rotations = np.tile(skeleton.rest, (4, 1, 1))
        rig = build_rig(skeleton, motion=(rotations, np.zeros((4, 3)), None))
        assert np.isfinite(rig.q_world_tpose).all()
        build_rig(skeleton, motion=(rotations[:0], np.zeros((0, 3)), None))


def test_bodies_without_length_or_with_misleading_names_build():
    rig = builtin_rig("mixamo")
    flat = Skeleton.build(rig.names, rig.parents, np.zeros((rig.joint_count, 3)))
    assert np.isfinite(build_rig(flat).q_world_tpose).all()
    rng = np.random.default_rng(SEED)
    mixed = Skeleton.build(list(rng.permutation(rig.names)), rig.parents, rig.offsets)
    found = build_rig(mixed)
    assert np.isfinite(found.q_world_tpose).all()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=40), min_size=1, max_size=8))
def test_names_in_any_script_are_read(names):
    assert len(read_names(names)) == len(names)


@pytest.mark.parametrize("size", [1e-12, 1e-5, 1e5, 1e200, 1e308])
def test_absurd_sizes_and_broken_motion_build(size):
    rng = np.random.default_rng(SEED)
    rig = builtin_rig("mixamo")
    offsets = np.where(np.arange(rig.joint_count)[:, None] % 3 == 0, size, 1.0) * rig.offsets
    skeleton = Skeleton.build(rig.names, rig.parents, offsets)
    rotations = np.array(random_quats(rng, 6, rig.joint_count))
    rotations[2, 5] = np.nan
    with np.errstate(all="ignore"):
        bound = build_rig(skeleton, motion=(rotations, np.zeros((6, 3)), None))
    assert np.isfinite(bound.q_world_tpose).all()


def test_a_random_motion_on_every_shape_of_bind_builds():
    rng = np.random.default_rng(SEED)
    for name in ("mixamo", "cmu", "humanoid"):
        rig = builtin_rig(name)
        for _ in range(10):
            skeleton = Skeleton.build(rig.names, rig.parents, rng.normal(size=(rig.joint_count, 3)))
            rotations = random_quats(rng, int(rng.integers(1, 9)), rig.joint_count)
            bound = build_rig(skeleton, motion=(rotations, np.zeros((len(rotations), 3)), None))
            assert np.isfinite(bound.q_world_tpose).all()


def test_more_joints_than_any_body_are_not_searched():
    rig = build_rig(chain(4100))
    assert not rig.roles and any("4000" in note for note in rig.notes)
