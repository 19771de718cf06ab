"""VRM 0.x and 1.0 avatars and VRM animations."""

import numpy as np
import pytest

from mimik.errors import FileError, RigError
from mimik.io import gltf, load_clip, load_rig_file, save_clip, vrm, vrma
from mimik.motion.clip import Clip
from mimik.rig.build import build_rig
from mimik.rig.builtin import builtin_rig
from mimik.rig.roles import BODY_ROLES
from mimik.rotation import geodesic, quat_inv, quat_mul, rotvec_to_quat
from tests.builders import chain, random_quats
from tests.io.gltf_files import GltfFile, read_json, world_matrices
from tests.io.test_gltf_read import body, shake
from tests.io.test_gltf_write import wiggle

BONES = {
    "Hips": "hips", "Spine": "spine", "Neck": "neck", "Head": "head",
    "LeftUpLeg": "leftUpperLeg", "LeftLeg": "leftLowerLeg", "LeftFoot": "leftFoot",
    "RightUpLeg": "rightUpperLeg", "RightLeg": "rightLowerLeg", "RightFoot": "rightFoot",
    "LeftArm": "leftUpperArm", "LeftForeArm": "leftLowerArm", "LeftHand": "leftHand",
    "RightArm": "rightUpperArm", "RightForeArm": "rightLowerArm", "RightHand": "rightHand",
}  # fmt: skip


def nameless(file, nodes):
    """Take away what the names say, so that only the table can tell; returns new name of each old one."""
    renamed = {name: f"骨{k}" for k, name in enumerate(nodes)}
    for name, node in nodes.items():
        file.json["nodes"][node]["name"] = renamed[name]
    return renamed


def vrm0(tmp_path, rng):
    """Write a VRM 0.x avatar, which faces -Z, with an animation; returns path, file, nodes, moved."""
    file = GltfFile()
    nodes = body(file)
    for node in file.json["nodes"]:
        x, y, z = node["translation"]
        node["translation"] = [-x, y, -z]
    nameless(file, nodes)
    file.skin(nodes.values())
    rows = [{"bone": BONES[name], "node": node} for name, node in nodes.items()]
    file.json["extensions"] = {"VRM": {"humanoid": {"humanBones": rows}, "meta": {"title": "kept"}}}
    moved = shake(file, nodes, rng)
    return file.save(tmp_path / "old.vrm"), file, nodes, moved


@pytest.mark.parametrize("name", ["humanoid", "smpl", "mixamo", "ue5", "vrm", "cmu"])
def test_vrm_rests_in_a_t_pose_and_reads_back(tmp_path, name):
    clip = wiggle(builtin_rig(name))
    path = tmp_path / "a.vrm"
    assert any(".vrma" in note for note in save_clip(clip, path))
    back = load_clip(path)
    assert dict(back.rig.roles) == dict(clip.rig.roles)
    assert back.rig.rest_kind == "T"
    assert np.abs(back.positions() - clip.positions()).max() < 1e-6
    tables = read_json(path)
    humanoid = tables["extensions"]["VRMC_vrm"]["humanoid"]["humanBones"]
    world = world_matrices(tables["nodes"])

    def place(bone):
        return world[humanoid[bone]["node"]][:3, 3]

    assert abs(place("leftHand")[1] - place("leftUpperArm")[1]) < 1e-3
    assert place("leftHand")[0] > place("leftUpperArm")[0] > 0 > place("rightHand")[0]
    assert world[:, 1, 3].min() > -1e-6


def test_rig_alone(tmp_path):
    rig = builtin_rig("vrm")
    vrm.write_rig(rig, tmp_path / "a.vrm", author="someone")
    back = load_rig_file(tmp_path / "a.vrm")
    assert dict(back.roles) == dict(rig.roles)
    meta = read_json(tmp_path / "a.vrm")["extensions"]["VRMC_vrm"]["meta"]
    assert meta["authors"] == ["someone"]
    assert meta["licenseUrl"].startswith("https://vrm.dev/licenses/")


def test_table_goes_before_names_and_spine_fills_from_the_chest(tmp_path):
    file = GltfFile()
    nodes = body(file)
    nameless(file, nodes)
    table = {BONES[name]: {"node": node} for name, node in nodes.items()}
    file.json["extensions"] = {"VRMC_vrm": {"specVersion": "1.0", "humanoid": {"humanBones": table}}}
    rig = vrm.read_rig(file.save(tmp_path / "a.vrm"))
    place = list(nodes)
    assert rig.roles["pelvis"] == place.index("Hips")
    assert rig.roles["spine3"] == place.index("Spine")  # the only spine joint is the chest
    assert rig.roles["right_wrist"] == place.index("RightHand")
    assert rig.joint_count == len(nodes)


def test_vrm0_is_turned_to_face_forward_and_back_again(tmp_path):
    path, file, nodes, moved = vrm0(tmp_path, np.random.default_rng(0))
    clip = vrm.read_clip(path)
    turn = np.diag([-1.0, 1.0, -1.0])
    places = clip.positions()
    for t, change in enumerate(moved):
        world = world_matrices(file.json["nodes"], change)
        for j, node in enumerate(nodes.values()):
            assert np.allclose(places[t, j], turn @ world[node][:3, 3], atol=2e-6)
    assert clip.rig.rest_kind == "T"
    rest = clip.rig.rest_pose().positions()
    assert rest[clip.rig.roles["left_wrist"], 0] > 0.4
    assert any("faces -Z" in note for note in clip.rig.notes)
    out = tmp_path / "out.vrm"
    again = wiggle(clip.rig)
    vrm.write_clip(again, out)
    tables = read_json(out)
    assert tables["extensions"] == file.json["extensions"]
    assert tables["nodes"] == file.json["nodes"]
    assert np.abs(vrm.read_clip(out).positions() - again.positions()).max() < 2e-6


def test_thumbs_of_both_versions(tmp_path):
    for names, extension in (
        (("Proximal", "Intermediate", "Distal"), "VRM"),
        (("Metacarpal", "Proximal", "Distal"), "VRMC_vrm"),
    ):
        file = GltfFile()
        nodes = body(file)
        above, bones = nodes["LeftHand"], {}
        for part in names:
            above = file.node(f"t {part}", parent=above, translation=[0.02, 0, 0.02])
            bones[f"leftThumb{part}"] = above
        bones.update({BONES[name]: node for name, node in nodes.items()})
        if extension == "VRM":
            table = [{"bone": bone, "node": node} for bone, node in bones.items()]
        else:
            table = {bone: {"node": node} for bone, node in bones.items()}
        file.json["extensions"] = {extension: {"humanoid": {"humanBones": table}}}
        rig = vrm.read_rig(file.save(tmp_path / f"{extension}.vrm"))
        thumbs = [rig.names[rig.roles[f"left_thumb{k}"]] for k in (1, 2, 3)]
        assert thumbs == [f"t {part}" for part in names]


@pytest.mark.parametrize("name", ["humanoid", "smpl", "mixamo", "vrm"])
def test_vrma_round_trip(tmp_path, name):
    clip = wiggle(builtin_rig(name), frames=20)
    assert not any("spine" in note for note in save_clip(clip, tmp_path / "a.vrma"))
    back = load_clip(tmp_path / "a.vrma")
    assert back.rig.rest_kind == "T"
    assert (back.fps, back.frame_count) == (60.0, 20)
    assert set(BODY_ROLES) & set(clip.rig.roles) <= set(back.rig.roles)
    ours, theirs = clip.positions(), back.positions()
    for role, joint in back.rig.roles.items():
        assert np.abs(theirs[:, joint] - ours[:, clip.rig.roles[role]]).max() < 1e-6, role


def test_vrma_is_normalised(tmp_path):
    """All rests are the identity, only the hips move, and rotations are those from the T-pose in world axes."""
    clip = wiggle(builtin_rig("ue5"), frames=5)
    notes = vrma.write_clip(clip, tmp_path / "a.vrma")
    assert any("spine_02" in note for note in notes)
    tables = read_json(tmp_path / "a.vrma")
    assert all("rotation" not in node and "scale" not in node for node in tables["nodes"])
    assert tables["extensionsUsed"] == ["VRMC_vrm_animation"]
    entry = tables["extensions"]["VRMC_vrm_animation"]
    assert entry["specVersion"] == "1.0"
    bones = entry["humanoid"]["humanBones"]
    assert not {"leftEye", "rightEye"} & set(bones)
    paths = [(c["target"]["node"], c["target"]["path"]) for c in tables["animations"][0]["channels"]]
    assert [node for node, path in paths if path == "translation"] == [bones["hips"]["node"]]
    back = vrma.read_clip(tmp_path / "a.vrma")
    turns = quat_mul(clip.world().rotations, quat_inv(clip.rig.q_world_tpose))
    theirs = back.world().rotations
    for role in ("pelvis", "spine3", "head", "left_wrist", "right_knee", "left_index2"):
        assert geodesic(theirs[:, back.rig.roles[role]], turns[:, clip.rig.roles[role]]).max() < 2e-6, role


def test_vrma_of_a_mirror_body_is_the_same_for_any_rest(tmp_path):
    """The same character with other joint axes gives the same file but for rounding."""
    rig = builtin_rig("humanoid")
    clip = wiggle(rig)
    axes = random_quats(np.random.default_rng(1), rig.joint_count)
    above = np.where((rig.parents >= 0)[:, None], axes[rig.parents], [0.0, 0.0, 0.0, 1.0])

    def local(rotations):
        return quat_mul(quat_inv(above), quat_mul(rotations, axes))

    from mimik.rig.skeleton import Skeleton
    from mimik.rotation import quat_apply

    skeleton = Skeleton.build(
        rig.names,
        rig.parents,
        quat_apply(quat_inv(above), rig.offsets),
        rest=local(rig.skeleton.rest),
        tips=quat_apply(quat_inv(axes), rig.skeleton.tips),
    )
    turned = build_rig(skeleton, roles=dict(rig.roles))
    other = Clip(turned, local(clip.rotations), clip.root, fps=60, name="wiggle")
    assert np.abs(other.positions() - clip.positions()).max() < 1e-9
    for each, name in ((clip, "a"), (other, "b")):
        vrma.write_clip(each, tmp_path / f"{name}.vrma")
    one, two = (vrma.read_clip(tmp_path / f"{name}.vrma") for name in "ab")
    assert geodesic(one.rotations, two.rotations).max() < 1e-5
    assert np.abs(one.positions() - two.positions()).max() < 1e-5


def test_what_vrm_cannot_hold_is_refused_or_said(tmp_path):
    tail = build_rig(chain(5))
    clip = Clip(tail, np.tile(tail.skeleton.rest, (3, 1, 1)), np.zeros((3, 3)))
    for name in ("a.vrm", "a.vrma"):
        with pytest.raises(RigError, match="hips"):
            save_clip(clip, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    rig = builtin_rig("humanoid")
    sliding = np.tile(rig.offsets, (3, 1, 1)) + 0.01
    moving = Clip(rig, np.tile(rig.tpose().rotations, (3, 1, 1)), sliding[:, 0], translations=sliding)
    assert any("sliding" in note for note in vrma.write_clip(moving, tmp_path / "b.vrma"))


def test_other_gltf_is_no_vrm(tmp_path):
    gltf.write_clip(wiggle(builtin_rig("humanoid")), tmp_path / "a.glb")
    for module, match in ((vrm, "no VRM"), (vrma, "no VRM animation")):
        for read in (module.read_clip, module.read_rig):
            with pytest.raises(FileError, match=match):
                read(tmp_path / "a.glb")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"hips": {"node": 99}}, "valid are the integers"),
        ({"hips": 3}, "must be an object"),
        ({}, "empty"),
        ({"hips": {"node": 0}, "spine": {"node": 0}}, "twice"),
    ],
)
def test_broken_tables(tmp_path, table, message):
    file = GltfFile()
    body(file)
    file.json["extensions"] = {"VRMC_vrm": {"humanoid": {"humanBones": table}}}
    with pytest.raises(FileError, match=message):
        vrm.read_rig(file.save(tmp_path / "a.vrm"))


def test_small_turns_survive_single_precision(tmp_path):
    rig = builtin_rig("vrm")
    turns = quat_mul(rig.tpose().rotations, rotvec_to_quat(np.full((4, rig.joint_count, 3), 1e-5)))
    clip = Clip(rig, turns, np.tile(rig.tpose().root, (4, 1)))
    vrma.write_clip(clip, tmp_path / "a.vrma")
    back = vrma.read_clip(tmp_path / "a.vrma")
    assert np.abs(back.root - clip.root).max() < 1e-6
