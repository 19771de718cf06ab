import numpy as np
import pytest
from tests.builders import SEED
from tests.takes import layout_walk, role_walk

from mimik.errors import LayoutError
from mimik.goals.layouts import LANDMARKS, LAYOUTS, SITES, recognise
from mimik.goals.names import point_key, point_keys
from mimik.rig.builtin import builtin_rig
from mimik.rig.roles import BODY_ROLES

SPELLINGS = (
    "LShoulder left_shoulder L_Shoulder shoulder.L LEFT_SHOULDER leftShoulder ShoulderLeft shoulder_l Anna:LShoulder"
    " left-shoulder lshoulder shoulder(L) joint_LShoulder"
)


def test_spellings_of_one_name_become_one_key():
    assert {point_key(name) for name in SPELLINGS.split()} == {"left_shoulder"}


def test_shared_prefix_is_no_part_of_a_name():
    assert point_keys(["mixamorigHips", "mixamorigLeftArm", "mixamorigSpine", "mixamorigHead"])[1] == "left_arm"
    assert point_keys(["Bip01 Pelvis", "Bip01 L Thigh", "Bip01 Spine", "Bip01 R Calf"])[3] == "right_calf"


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_is_recognised_in_any_order_and_case(name):
    rng = np.random.default_rng(SEED)
    names = list(LAYOUTS[name].names)
    rng.shuffle(names)
    found = recognise([n.upper() if rng.random() < 0.5 and not n[0].islower() else n for n in names])
    assert found.name == name
    straight = dict(zip(LAYOUTS[name].names, recognise(LAYOUTS[name].names, layout=name).sites))
    assert found.sites == tuple(straight[n] for n in names)
    assert set(found.sites) <= {*SITES, ""}


@pytest.mark.parametrize("name", [n for n, table in LAYOUTS.items() if table.array])
def test_every_layout_is_recognised_without_names(name):
    count = len(LAYOUTS[name].names)
    shared = [n for n, table in LAYOUTS.items() if table.array and len(table.names) == count]
    if len(shared) == 1:
        assert recognise(None, count).name == name
    else:
        with pytest.raises(LayoutError, match=f"layout='{name}'"):
            recognise(None, count)
    assert recognise([f"point_{k}" for k in range(count)], layout=name).name == name


@pytest.mark.parametrize("name", ["body25", "coco17", "human36m"])
def test_bone_lengths_tell_layouts_of_equal_size_apart(name):
    walk = layout_walk(name)
    assert recognise(None, walk.shape[1], positions=walk).name == name


@pytest.mark.parametrize("name", [n for n in LAYOUTS if n not in ("opencap", "plug_in_gait", "cmu_markers")])
def test_roles_of_every_layout_lie_where_the_joints_are(name):
    points = recognise(LAYOUTS[name].names).to_roles(layout_walk(name))
    truth = role_walk()
    for k, role in enumerate(BODY_ROLES):
        if points.trust[k] > 0:
            off = np.linalg.norm(points.positions[:, k] - truth[:, k], axis=1).max()
            assert off < (1e-12 if points.trust[k] == 1.0 else 0.12), role
        else:
            assert np.isnan(points.positions[:, k]).all()
            assert (points.confidence[:, k] == 0).all()
    for side in ("left", "right"):
        for part in ("hip", "knee", "ankle", "shoulder", "elbow", "wrist"):
            assert points.trust[BODY_ROLES.index(f"{side}_{part}")] == 1.0


def test_what_is_only_near_a_joint_says_so():
    trust = dict(zip(BODY_ROLES, recognise(LAYOUTS["body25"].names).to_roles(layout_walk("body25")).trust))
    assert trust["neck"] < 1 and trust["pelvis"] < 1 and trust["left_foot"] < 1
    assert trust["spine2"] == 0 and trust["left_collar"] == 0


def test_surface_markers_give_joint_centres():
    names = [s + part for s in "LR" for part in ("ASI", "PSI", "KNE", "ANK", "SHO", "ELB")] + ["C7", "CLAV"]
    at = {"LASI": [0.12, 1, 0.1], "RASI": [-0.12, 1, 0.1], "LPSI": [0.05, 1.02, -0.1], "RPSI": [-0.05, 1.02, -0.1]}
    places = np.array([at.get(n, [0.2 if n[0] == "L" else -0.2, 0.5, 0.0]) for n in names])[None]
    points = recognise(names).to_roles(places)
    hip = points.positions[0, BODY_ROLES.index("left_hip")]
    assert np.allclose(hip, [0.36 * 0.24, 1 - 0.3 * 0.24, 0.1 - 0.19 * 0.24], atol=0.01)
    assert points.trust[BODY_ROLES.index("left_hip")] < 1


def test_missing_point_is_missing_in_what_is_derived_from_it():
    walk = layout_walk("body25").copy()
    names = LAYOUTS["body25"].names
    walk[3, names.index("LShoulder")] = np.nan
    confidence = np.full(walk.shape[:2], 0.7)
    confidence[5, names.index("LHip")] = 0.2
    points = recognise(names).to_roles(walk, confidence)
    pelvis = BODY_ROLES.index("pelvis")
    assert np.isnan(points.positions[3, pelvis]).all() and points.confidence[3, pelvis] == 0
    assert points.confidence[5, pelvis] == 0.2
    assert np.isfinite(points.landmarks[:, LANDMARKS.index("nose")]).all()


def test_fingers_become_roles_and_knuckles():
    points = recognise(LAYOUTS["mediapipe_hands"].names).to_roles(layout_walk("mediapipe_hands"))
    assert "left_index2" in points.extras
    assert points.landmark_confidence[0, LANDMARKS.index("left_middle_knuckle")] == 1


@pytest.mark.parametrize("rig_name", ["humanoid", "mixamo", "ue5", "vrm", "smpl"])
def test_joint_names_of_a_rig_are_understood(rig_name):
    rig = builtin_rig(rig_name)
    layout = recognise(rig.names, rig=rig)
    for role, joint in rig.roles.items():
        assert layout.sites[joint] == role or role in ("left_eye", "right_eye")


@pytest.mark.parametrize("rig_name", ["mixamo", "ue5", "vrm", "smpl"])
def test_joint_names_of_a_known_rig_are_understood_without_it(rig_name):
    rig = builtin_rig(rig_name)
    layout = recognise(rig.names)
    for role in ("left_hip", "right_knee", "left_ankle", "right_foot", "left_shoulder", "right_elbow", "left_wrist"):
        assert layout.sites[rig.roles[role]] == role


def test_landmarks_beside_the_joints_of_a_rig_are_kept():
    rig = builtin_rig("humanoid")
    face = ["nose", "left_eye", "right_eye", "left_ear", "right_ear"]
    found = recognise([*rig.names, *face, "something else"], rig=rig)
    assert found.sites == (*rig.names, *face, "")
    assert recognise(LAYOUTS["coco17"].names, layout="coco17", rig=rig).name == "coco17"


def test_unknown_names_are_named_with_the_way_out():
    with pytest.raises(LayoutError, match=r"左肩.*mapping=.*left_shoulder"):
        recognise(["左肩", "右肩", "左肘", "右肘"])
    with pytest.raises(LayoutError, match="did you mean 'body25'"):
        recognise(None, 25, layout="body2")
    with pytest.raises(LayoutError, match="99 unnamed"):
        recognise(None, 99)
    with pytest.raises(LayoutError, match="neither"):
        recognise(None)


def test_mapping_settles_any_name():
    mapping = {"左肩": "left_shoulder", "右肩": "RShoulder", "a": "nose"}
    layout = recognise(["a", "左肩", "右肩", "b"], mapping=mapping)
    assert layout.sites == ("nose", "left_shoulder", "right_shoulder", "")
    with pytest.raises(LayoutError, match="not a role or landmark"):
        recognise(["a"], mapping={"a": "left_shuolder"})
    with pytest.raises(LayoutError, match="take lacks"):
        recognise(["a"], mapping={"zz": "nose"})


def test_company_settles_ambiguous_names():
    ankle_too = recognise(["LeftKnee", "LeftAnkle", "LeftFoot", "LeftHip"])
    assert ankle_too.sites == ("left_knee", "left_ankle", "left_foot", "left_hip")
    foot_alone = recognise(["LeftKnee", "LeftFoot", "LeftHip", "RightHip", "RightFoot"])
    assert foot_alone.sites[1] == "left_ankle"


def test_pairs_and_bones():
    layout = recognise(LAYOUTS["coco17"].names)
    names = LAYOUTS["coco17"].names
    assert {(names[a], names[b]) for a, b in layout.pairs()} >= {("left_knee", "right_knee")}
    bones = {(names[a], names[b]) for a, b in layout.bones()}
    assert ("left_knee", "left_hip") in bones and ("right_wrist", "right_elbow") in bones
