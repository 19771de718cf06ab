"""Built-in rigs: true names and hierarchies, a T-pose of the right height, sensible proportions."""

import numpy as np
import pytest

from mimik.errors import OptionError, RigError
from mimik.rig.builtin import BUILTIN_RIGS, builtin_rig
from mimik.rig.mirror import mirror_joints
from mimik.rig.proportions import body_height, bone_lengths
from mimik.rig.roles import BODY_ROLES
from mimik.rotation import geodesic, identity_quat, quat_apply

COUNTS = {"humanoid": 22, "smpl": 24, "mixamo": 65, "ue5": 80, "vrm": 52, "cmu": 31}


@pytest.mark.parametrize("name", BUILTIN_RIGS)
def test_all_roles_and_joints_are_there(name):
    rig = builtin_rig(name)
    assert rig.joint_count == COUNTS[name]
    assert not set(BODY_ROLES) - set(rig.roles)
    assert rig.rest_kind == ("A" if name == "ue5" else "T")
    assert not rig.notes


@pytest.mark.parametrize("height", [1.0, 1.75, 2.1])
@pytest.mark.parametrize("name", BUILTIN_RIGS)
def test_tpose_stands_on_the_floor_at_full_height_facing_z(name, height):
    rig = builtin_rig(name, height)
    pose = rig.tpose().to_world()
    p = {role: pose.positions[joint] for role, joint in rig.roles.items()}
    assert body_height(rig) == pytest.approx(height, abs=1e-9)
    assert pose.positions[:, 1].min() >= -1e-9
    assert p["left_wrist"][0] > p["left_elbow"][0] > p["left_shoulder"][0] > 0 > p["right_wrist"][0]
    assert np.allclose(p["left_wrist"][1:], p["left_shoulder"][1:], atol=1e-9)
    assert np.allclose(p["left_ankle"][[0, 2]], p["left_hip"][[0, 2]], atol=1e-9)
    assert p["left_foot"][2] > p["left_ankle"][2] + 0.03
    assert p["head"][1] > p["neck"][1] > p["spine3"][1] > p["spine1"][1] > p["pelvis"][1]


@pytest.mark.parametrize("name", BUILTIN_RIGS)
def test_left_is_the_mirror_of_right(name):
    rig = builtin_rig(name)
    partner = mirror_joints(rig)
    places = rig.tpose().positions()
    assert np.array_equal(partner[partner], np.arange(rig.joint_count))
    assert np.allclose(places[partner] * [-1, 1, 1], places, atol=1e-9)


@pytest.mark.parametrize("name", BUILTIN_RIGS)
def test_all_rigs_are_the_same_figure(name):
    rig, own = builtin_rig(name), builtin_rig("humanoid")
    limbs = [r for r in BODY_ROLES if not r.startswith("spine") and "collar" not in r]
    ours, theirs = rig.tpose().positions(), own.tpose().positions()
    assert all(np.allclose(ours[rig.roles[r]], theirs[own.roles[r]], atol=1e-6) for r in limbs)
    turned = np.rad2deg(geodesic(rig.q_world_tpose, identity_quat()))
    if name == "smpl":  # its collars rest raised
        assert [rig.names[j] for j in np.flatnonzero(turned > 1e-9)] == ["left_collar", "right_collar"]
    elif name != "ue5":
        assert turned.max() < 1e-9


def test_proportions_of_an_adult():
    lengths = bone_lengths(builtin_rig("humanoid", 1.75))
    assert 0.40 < lengths["left_knee"] < 0.46 and 0.39 < lengths["left_ankle"] < 0.46
    assert 0.26 < lengths["left_elbow"] < 0.33 and 0.23 < lengths["left_wrist"] < 0.28


def test_mannequin_axes_follow_the_bones_and_mirror():
    rig = builtin_rig("ue5")
    world = rig.rest_pose().to_world()

    def along(joint, child):
        j, c = rig.names.index(joint), rig.names.index(child)
        bone = world.positions[c] - world.positions[j]
        return float(quat_apply(world.rotations[j], [1.0, 0.0, 0.0]) @ bone / np.linalg.norm(bone))

    for joint, child, sign in (("upperarm", "lowerarm", 1), ("lowerarm", "hand", 1), ("thigh", "calf", -1)):
        assert along(f"{joint}_l", f"{child}_l") == pytest.approx(sign, abs=1e-6)
        assert along(f"{joint}_r", f"{child}_r") == pytest.approx(-sign, abs=1e-6)
    elbow, shoulder = (world.positions[rig.names.index(n)] for n in ("lowerarm_l", "upperarm_l"))
    assert 40 < np.rad2deg(np.arctan2(shoulder[1] - elbow[1], elbow[0] - shoulder[0])) < 56


def test_wrong_names_and_heights_say_so():
    with pytest.raises(RigError, match="humanoid"):
        builtin_rig("humanoit")
    for height in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(OptionError, match="height"):
            builtin_rig("smpl", height)
