"""The mapping between rigs and body roles: exact, the same for every axis convention, sensible for odd joints."""

import numpy as np
import pytest

from mimik.errors import RigError
from mimik.rig.role_kernels import BLEND, FIXED, FOLLOW, ROLE, TWIST, UNTWIST
from mimik.rig.role_space import (
    ROLE_COUNT,
    ROLE_INDEX,
    rig_to_role_rotations,
    role_map,
    role_offsets,
    role_positions,
    role_rotations_to_rig,
)
from mimik.rig.roles import BODY_ROLES
from mimik.rotation import (
    geodesic,
    identity_quat,
    quat_apply,
    quat_inv,
    quat_mul,
    quat_slerp,
    quat_to_rotvec,
    rotvec_to_quat,
    swing_twist,
)
from tests.builders import SEED, random_quats
from tests.motion.bodies import humanoid, joint_like_bodies, turned_axes, with_joint, without

BODIES = joint_like_bodies(np.random.default_rng(SEED))


def motion(rng, frames=40):
    """Random but moderate role rotations and a path."""
    D = rotvec_to_quat(0.5 * rng.normal(size=(frames, ROLE_COUNT, 3)))
    return D, rng.normal(size=(frames, 3))


def reference(mapping, D):
    """D of every joint, rule by rule, as the words in `role_kernels` say."""
    rig = mapping.rig
    result = identity_quat(len(D), rig.joint_count)
    for j, rule in enumerate(mapping.rules):
        a, b = D[:, mapping.role_a[j]], D[:, mapping.role_b[j]]
        if rule == ROLE:
            result[:, j] = a
        elif rule == FOLLOW and rig.parents[j] >= 0:
            result[:, j] = result[:, rig.parents[j]]
        elif rule == BLEND:
            result[:, j] = quat_slerp(a, b, mapping.share[j])
        elif rule in (TWIST, UNTWIST):
            turn = quat_mul(quat_inv(a), b) if rule == TWIST else quat_mul(quat_inv(b), a)
            part = mapping.share[j] if rule == TWIST else mapping.share[j] - 1.0
            twist = swing_twist(quat_mul(quat_inv(mapping.middle[j]), turn), mapping.axis[j])[1]
            result[:, j] = quat_mul(a, rotvec_to_quat(part * quat_to_rotvec(twist)))
    return result


@pytest.mark.parametrize("name", BODIES)
def test_roles_come_back_exactly(name):
    rig, rng = BODIES[name], np.random.default_rng(SEED)
    D, pelvis = motion(rng)
    back, path = rig_to_role_rotations(rig, role_rotations_to_rig(rig, D, pelvis))
    assert geodesic(D, back).max() < 1e-12
    assert np.abs(path - pelvis).max() < 1e-12


@pytest.mark.parametrize("name", BODIES)
def test_kernel_agrees_with_the_rules_in_words(name):
    rig, rng = BODIES[name], np.random.default_rng(SEED + 1)
    D, pelvis = motion(rng)
    mapping = role_map(rig)
    world = mapping.to_rig(D, pelvis).to_world()
    expected = quat_mul(reference(mapping, D), rig.q_world_tpose)
    assert geodesic(world.rotations, expected).max() < 1e-12


def test_identity_is_the_t_pose():
    for rig in BODIES.values():
        pose = role_rotations_to_rig(rig, identity_quat(ROLE_COUNT), [0.0, 1.0, 0.0])
        assert geodesic(pose.to_world().rotations, rig.q_world_tpose).max() < 1e-12
        D, pelvis = rig_to_role_rotations(rig, rig.tpose())
        assert geodesic(D, identity_quat(ROLE_COUNT)).max() < 1e-12
        assert np.allclose(pelvis, rig.tpose().positions()[rig.roles["pelvis"]])


def test_axes_of_the_joints_do_not_matter():
    rng = np.random.default_rng(SEED)
    D, pelvis = motion(rng)
    for name in ("humanoid", "ue5", "twist in chain"):
        rig = BODIES[name]
        other = turned_axes(rig, rng)
        one, two = (role_rotations_to_rig(r, D, pelvis).positions() for r in (rig, other))
        assert np.abs(one - two).max() < 1e-9


def test_any_batch_shape():
    rig, rng = BODIES["ue5"], np.random.default_rng(SEED)
    D, pelvis = motion(rng, 6)
    flat = role_rotations_to_rig(rig, D, pelvis)
    nested = role_rotations_to_rig(rig, D.reshape(2, 3, ROLE_COUNT, 4), pelvis.reshape(2, 3, 3))
    single = role_rotations_to_rig(rig, D[4], pelvis[4])
    empty = role_rotations_to_rig(rig, D[:0], pelvis[:0])
    assert np.array_equal(nested.rotations.reshape(flat.rotations.shape), flat.rotations)
    assert np.array_equal(single.rotations, flat.rotations[4])
    assert empty.rotations.shape == (0, rig.joint_count, 4)
    assert rig_to_role_rotations(rig, nested)[0].shape == (2, 3, ROLE_COUNT, 4)


def test_joints_above_the_pelvis_stand_still_and_the_root_absorbs():
    rig, rng = BODIES["ue5"], np.random.default_rng(SEED)
    D, pelvis = motion(rng)
    mapping = role_map(rig)
    assert mapping.rules[0] == FIXED
    world = mapping.to_rig(D, pelvis).to_world()
    assert geodesic(world.rotations[:, 0], rig.q_world_tpose[0]).max() < 1e-12
    assert np.abs(world.positions[:, rig.roles["pelvis"]] - pelvis).max() < 1e-12


def test_extra_spine_and_neck_joints_lie_between_their_neighbours():
    rng = np.random.default_rng(SEED)
    D, pelvis = motion(rng)
    for name, extra, low, high in (
        ("extra spine", "spine extra", "spine1", "spine2"),
        ("extra neck", "neck extra", "neck", "head"),
    ):
        rig = BODIES[name]
        j = rig.skeleton.index(extra)
        world = role_rotations_to_rig(rig, D, pelvis).to_world().rotations
        found = quat_mul(world[:, j], quat_inv(rig.q_world_tpose[j]))
        assert geodesic(found, quat_slerp(D[:, ROLE_INDEX[low]], D[:, ROLE_INDEX[high]], 0.5)).max() < 1e-9


def test_twist_bones_do_not_move_the_joints_below():
    rng = np.random.default_rng(SEED)
    D, pelvis = motion(rng)
    plain = BODIES["humanoid"]
    places = role_rotations_to_rig(plain, D, pelvis).positions()
    for name in ("twist in chain", "twist leaf"):
        rig = BODIES[name]
        points = role_rotations_to_rig(rig, D, pelvis).positions()
        for role in BODY_ROLES:
            assert np.abs(points[:, rig.roles[role]] - places[:, plain.roles[role]]).max() < 1e-9


def test_in_chain_twist_carries_all_the_twist():
    rig = BODIES["twist in chain"]
    D = identity_quat(1, ROLE_COUNT)
    D[0, ROLE_INDEX["left_wrist"]] = rotvec_to_quat([0.8, 0.0, 0.0])
    pose = role_rotations_to_rig(rig, D, np.zeros((1, 3)))
    wrist = rig.roles["left_wrist"]
    rest = quat_mul(quat_inv(rig.q_world_tpose[rig.parents[wrist]]), rig.q_world_tpose[wrist])
    assert geodesic(pose.rotations[0, wrist], rest) < 1e-9


def test_upper_arm_twist_bones_turn_by_their_place():
    rig = BODIES["ue5"]
    names = [n for n in rig.names if n.startswith("upperarm_twist") and n.endswith("_l")]
    assert names
    D = identity_quat(1, ROLE_COUNT)
    for role in ("left_shoulder", "left_elbow", "left_wrist"):
        D[0, ROLE_INDEX[role]] = rotvec_to_quat([0.6, 0.0, 0.0])
    mapping = role_map(rig)
    world = mapping.to_rig(D, np.zeros((1, 3))).to_world().rotations[0]
    for name in names:
        j = rig.skeleton.index(name)
        assert mapping.rules[j] == UNTWIST
        turned = quat_to_rotvec(quat_mul(world[j], quat_inv(rig.q_world_tpose[j])))
        assert np.allclose(turned, [0.6 * mapping.share[j], 0.0, 0.0], atol=0.02)


def test_missing_roles_follow_or_lie_between():
    rng = np.random.default_rng(SEED)
    full = humanoid()
    D, pelvis = motion(rng)
    pose = role_rotations_to_rig(full, D, pelvis)
    rig = without(full, "spine1", "spine2", "neck", "left_collar", "right_foot")
    found, _ = rig_to_role_rotations(rig, pose)
    at = ROLE_INDEX
    chest, hips, head = D[:, at["spine3"]], D[:, at["pelvis"]], D[:, at["head"]]
    assert geodesic(found[:, at["spine1"]], quat_slerp(hips, chest, 1 / 3)).max() < 1e-9
    assert geodesic(found[:, at["spine2"]], quat_slerp(hips, chest, 2 / 3)).max() < 1e-9
    assert geodesic(found[:, at["neck"]], quat_slerp(chest, head, 0.5)).max() < 1e-9
    assert geodesic(found[:, at["left_collar"]], chest).max() < 1e-9
    assert geodesic(found[:, at["right_foot"]], D[:, at["right_ankle"]]).max() < 1e-9
    bare = without(full, *(r for r in BODY_ROLES if r.startswith(("spine", "neck", "head", "left", "right"))))
    assert geodesic(rig_to_role_rotations(bare, pose)[0], hips[:, None]).max() < 1e-9


def test_own_rotations_go_to_extra_joints_only():
    rig = BODIES["mixamo"]
    finger = rig.roles["left_index1"]
    bend = rotvec_to_quat([0.0, 0.0, -0.7])
    pose = role_map(rig).to_rig(identity_quat(ROLE_COUNT), np.zeros(3), own={finger: bend})
    world = pose.to_world().rotations
    assert geodesic(quat_mul(world[finger], quat_inv(rig.q_world_tpose[finger])), bend) < 1e-12
    with pytest.raises(RigError, match="body role"):
        role_map(rig).to_rig(identity_quat(ROLE_COUNT), np.zeros(3), own={rig.roles["head"]: bend})


def test_role_offsets_give_the_joints_places():
    rng = np.random.default_rng(SEED)
    D, pelvis = motion(rng)
    for name in ("humanoid", "turned", "mixamo", "vrm"):
        rig = BODIES[name]
        points = role_rotations_to_rig(rig, D, pelvis).positions()
        roles = role_positions(role_offsets(rig), D, pelvis)
        for i, role in enumerate(BODY_ROLES):
            assert np.abs(points[:, rig.roles[role]] - roles[:, i]).max() < 1e-9


def test_refuses_what_it_cannot_map():
    rig = humanoid()
    with pytest.raises(RigError, match="pelvis"):
        role_map(without(rig, "pelvis"))
    with pytest.raises(RigError, match="22"):
        role_rotations_to_rig(rig, random_quats(np.random.default_rng(SEED), 5, 4), np.zeros(3))


def test_offsets_of_a_leaf_twist_bone_share_by_place():
    rig = with_joint(humanoid(), "forearm_twist", "left_elbow", share=0.75)
    mapping = role_map(rig)
    j = rig.skeleton.index("forearm_twist")
    assert mapping.rules[j] == TWIST
    assert mapping.share[j] == pytest.approx(0.75)
    along = quat_apply(rig.q_world_tpose[rig.roles["left_elbow"]], rig.offsets[rig.roles["left_wrist"]])
    assert np.allclose(mapping.axis[j], along / np.linalg.norm(along))
