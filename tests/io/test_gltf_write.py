"""Writing glTF: what is written reads back the same, here and by another reader, and templates keep what they hold."""

import copy

import numpy as np
import pygltflib
import pytest

from mimik.errors import FileError, OptionError
from mimik.io import gltf
from mimik.motion.clip import Clip
from mimik.rig.build import build_rig
from mimik.rig.builtin import BUILTIN_RIGS, builtin_rig
from mimik.rotation import geodesic, quat_mul, rotvec_to_quat
from tests.builders import random_quats, random_tree
from tests.io.gltf_files import GltfFile, read_json, world_matrices
from tests.io.test_gltf_read import BODY, body, shake


def wiggle(rig, frames=6, fps=60.0, seed=0, translations=None):
    """Return a clip of small random turns."""
    rng = np.random.default_rng(seed)
    turns = rotvec_to_quat(0.4 * rng.normal(size=(frames, rig.joint_count, 3)))
    pose = rig.tpose()
    root = pose.root + 0.3 * rng.normal(size=(frames, 3))
    return Clip(rig, quat_mul(pose.rotations, turns), root, fps=fps, name="wiggle", translations=translations)


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
@pytest.mark.parametrize("rest", ["file", "tpose"])
@pytest.mark.parametrize("name", BUILTIN_RIGS)
def test_round_trip(tmp_path, name, rest, suffix):
    clip = wiggle(builtin_rig(name))
    path = tmp_path / f"a{suffix}"
    gltf.write_clip(clip, path, rest=rest)
    back = gltf.read_clip(path)
    assert back.rig.names == clip.rig.names
    assert dict(back.rig.roles) == dict(clip.rig.roles)
    assert (back.fps, back.name, back.translations) == (60.0, "wiggle", None)
    assert np.abs(back.positions() - clip.positions()).max() < 1e-6
    assert geodesic(back.world().rotations, clip.world().rotations).max() < 2e-6
    assert geodesic(back.rig.q_world_tpose, clip.rig.q_world_tpose).max() < 1e-6
    assert np.allclose(back.rig.offsets[1:], clip.rig.offsets[1:], atol=1e-12)
    assert np.allclose(back.rig.skeleton.tips, clip.rig.skeleton.tips, atol=1e-12, equal_nan=True)
    stands = clip.rig.tpose() if rest == "tpose" else clip.rig.rest_pose()
    assert np.abs(back.rig.rest_pose().positions() - stands.positions()).max() < 1e-9


@pytest.mark.parametrize("name", ["mixamo", "ue5"])
def test_saving_what_was_loaded_changes_only_last_digits(tmp_path, name):
    """The tables are the same to the letter; numbers keep single precision (rotations are normalised on the way)."""
    first, second = tmp_path / "a.glb", tmp_path / "b.glb"
    gltf.write_clip(wiggle(builtin_rig(name)), first)
    gltf.write_clip(gltf.read_clip(first), second, template=False)
    tables = [read_json(path) for path in (first, second)]
    bounds = [[accessor.pop(key, None) for accessor in t["accessors"] for key in ("min", "max")] for t in tables]
    assert tables[0] == tables[1]
    assert str(bounds[0]).count("[") == str(bounds[1]).count("[")
    files = [pygltflib.GLTF2().load(str(path)) for path in (first, second)]
    for i, accessor in enumerate(files[0].accessors):
        if accessor.componentType == pygltflib.FLOAT:
            assert np.allclose(
                _values(files[0], i), _values(files[1], i), atol=5e-5 if accessor.type == "VEC3" else 2e-7
            )


def test_random_trees_with_sliding_joints(tmp_path):
    rng = np.random.default_rng(1)
    rig = build_rig(random_tree(rng, 15))
    clip = wiggle(rig, translations=rng.normal(size=(6, 15, 3)))
    clip = Clip(rig, clip.rotations, clip.translations[:, 0], fps=24, translations=clip.translations)
    gltf.write_clip(clip, tmp_path / "a.glb")
    back = gltf.read_clip(tmp_path / "a.glb")
    assert back.translations is not None
    assert np.abs(back.positions() - clip.positions()).max() < 1e-5


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_short_clips(tmp_path, frames):
    clip = wiggle(builtin_rig("humanoid"), frames=frames, fps=25.0)
    gltf.write_clip(clip, tmp_path / "a.glb")
    back = gltf.read_clip(tmp_path / "a.glb")
    assert (back.frame_count, back.fps) == (frames, 25.0)


def test_quaternion_signs_are_continuous(tmp_path):
    rig = builtin_rig("humanoid")
    clip = wiggle(rig, frames=50)
    flips = np.where(np.random.default_rng(2).random((50, rig.joint_count, 1)) < 0.5, -1.0, 1.0)
    gltf.write_clip(Clip(rig, clip.rotations * flips, clip.root), tmp_path / "a.glb")
    file = pygltflib.GLTF2().load(str(tmp_path / "a.glb"))
    for channel in file.animations[0].channels:
        if channel.target.path == "rotation":
            values = _values(file, file.animations[0].samplers[channel.sampler].output)
            smooth = np.sum(values[1:] * values[:-1], axis=1)
            assert smooth.min() > 0.0


def _values(file, index):
    accessor = file.accessors[index]
    view = file.bufferViews[accessor.bufferView]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[accessor.type]
    blob = file.binary_blob()[view.byteOffset : view.byteOffset + view.byteLength]
    return np.frombuffer(blob, "<f4").reshape(accessor.count, width)


def test_another_reader_finds_a_well_formed_file(tmp_path):
    rig = builtin_rig("ue5")
    gltf.write_clip(wiggle(rig), tmp_path / "a.glb")
    assert (tmp_path / "a.glb").stat().st_size % 4 == 0
    file = pygltflib.GLTF2().load(str(tmp_path / "a.glb"))
    assert file.asset.generator == "mimik"
    assert [file.nodes[n].name for n in file.skins[0].joints] == list(rig.names)
    assert all(view.byteOffset % 4 == 0 for view in file.bufferViews)
    for sampler in file.animations[0].samplers:
        times = file.accessors[sampler.input]
        assert times.min == [0.0]
        assert times.max == pytest.approx([5 / 60])
    assert max(abs(v) for node in file.nodes for v in node.rotation or [0.0]) <= 1.0
    assert file.scenes[0].nodes == [0, next(i for i, node in enumerate(file.nodes) if node.mesh is not None)]
    rest = world_matrices(read_json(tmp_path / "a.glb")["nodes"])[file.skins[0].joints]
    binds = _values(file, file.skins[0].inverseBindMatrices).reshape(-1, 4, 4).transpose(0, 2, 1)
    assert np.allclose(rest @ binds, np.eye(4), atol=1e-5)


def test_only_what_moves_is_keyed_in_full(tmp_path):
    rig = builtin_rig("humanoid")
    turns = np.tile(rig.tpose().rotations, (100, 1, 1))
    gltf.write_clip(Clip(rig, turns, np.linspace([0, 0, 0], [1, 0, 0], 100)), tmp_path / "a.glb")
    tables = read_json(tmp_path / "a.glb")
    counts = {tables["accessors"][s["output"]]["count"] for s in tables["animations"][0]["samplers"]}
    assert counts == {2, 100}


def avatar(tmp_path, rng, scale=0.01):
    """Write a skinned avatar with a morph, a texture, extensions and an animation of all of it; returns path, nodes."""
    file = GltfFile()
    armature = file.node(
        "Armature", scale=[scale] * 3, rotation=random_quats(rng, 1)[0].tolist(), translation=[1, 0, 0]
    )
    nodes = body(file, parent=armature, scale=scale)
    binds = np.linalg.inv(world_matrices(file.json["nodes"])[list(nodes.values())])
    skin = file.skin(nodes.values(), binds)
    count = 12
    joints, weights = rng.integers(0, len(nodes), size=(count, 4)), rng.random((count, 4))
    mesh = file.mesh(rng.normal(size=(count, 3)), joints, weights / weights.sum(1, keepdims=True), material=0)
    file.json["meshes"][mesh]["primitives"][0]["targets"] = [{"POSITION": file.accessor(rng.normal(size=(count, 3)))}]
    file.json["materials"] = [{"name": "skin tone", "pbrMetallicRoughness": {"baseColorFactor": [0.5, 0.25, 1, 1]}}]
    shape = file.node("Body", mesh=mesh, skin=skin)
    file.json["extensionsUsed"] = ["VENDOR_thing"]
    file.json["extensions"] = {"VENDOR_thing": {"kept": [1, 2, {"deep": "ü"}]}}
    file.json["scenes"] = [{"nodes": [armature, shape]}]
    shake(file, nodes, rng, scale=scale)
    file.animation([(nodes["Head"], "rotation", [0.0, 1.0], random_quats(rng, 2), "LINEAR")], "other")
    morph = {"input": file.accessor([0.0, 1.0]), "output": file.accessor([0.0, 1.0])}
    file.json["animations"][0]["samplers"].append(morph)
    last = len(file.json["animations"][0]["samplers"]) - 1
    file.json["animations"][0]["channels"].append({"sampler": last, "target": {"node": shape, "path": "weights"}})
    return file.save(tmp_path / "avatar.glb"), nodes


@pytest.mark.parametrize("title", ["shake", "new motion"])
def test_a_template_keeps_everything_but_the_animation(tmp_path, title):
    path, nodes = avatar(tmp_path, np.random.default_rng(3))
    rig = gltf.read_rig(path)
    clip = wiggle(rig)
    out = tmp_path / "sub" / "out.glb"
    out.parent.mkdir()
    gltf.write_clip(clip, out, name=title)
    before, after = read_json(path), read_json(out)
    for key in ("nodes", "meshes", "materials", "skins", "extensions", "extensionsUsed", "scenes"):
        assert after[key] == before[key], key
    assert after["accessors"][: len(before["accessors"])] == before["accessors"]
    names = [a["name"] for a in after["animations"]]
    assert names == ["shake", "other"] if title == "shake" else names == ["new motion", "shake", "other"]
    paths = [c["target"]["path"] for c in after["animations"][0]["channels"]]
    assert ("weights" in paths) == (title == "shake")
    back = gltf.read_clip(out)
    assert np.abs(back.positions() - clip.positions()).max() < 2e-6
    assert geodesic(back.world().rotations, clip.world().rotations).max() < 2e-6
    assert np.allclose(back.rig.skin.vertices, rig.skin.vertices)
    file = pygltflib.GLTF2().load(str(out))
    moved = {channel.target.node for channel in file.animations[0].channels}
    assert set(nodes.values()) <= moved


def test_template_can_be_named_refused_and_must_fit(tmp_path):
    path, _ = avatar(tmp_path, np.random.default_rng(4))
    clip = wiggle(gltf.read_rig(path))
    clean = tmp_path / "clean.glb"
    gltf.write_clip(clip, clean, template=False)
    assert "VENDOR_thing" not in read_json(clean).get("extensionsUsed", [])
    other = wiggle(builtin_rig("humanoid"))
    with pytest.raises(OptionError, match="retarget the clip"):
        gltf.write_clip(other, tmp_path / "x.glb", template=path)
    with pytest.raises(OptionError, match="template=True"):
        gltf.write_clip(other, tmp_path / "x.glb", template=True)
    with pytest.raises(OptionError, match="keeps its own rest"):
        gltf.write_clip(clip, tmp_path / "x.glb", template=path, rest="tpose")
    assert not (tmp_path / "x.glb").exists()
    longer = clip.rig.with_offsets(clip.rig.offsets * 1.1)
    notes = gltf.write_clip(wiggle(longer), tmp_path / "longer.glb")
    assert any("other lengths" in note for note in notes)
    back = gltf.read_clip(tmp_path / "longer.glb")
    assert np.abs(back.positions() - wiggle(longer).positions()).max() < 2e-6


def test_a_gone_source_is_said(tmp_path):
    path, _ = avatar(tmp_path, np.random.default_rng(5))
    clip = wiggle(gltf.read_rig(path))
    path.unlink()
    assert any("avatar.glb" in note for note in gltf.write_clip(clip, tmp_path / "out.glb"))
    assert gltf.read_clip(tmp_path / "out.glb").frame_count == 6


def test_textures_beside_the_file_are_taken_along(tmp_path):
    file = GltfFile()
    file.skin(body(file).values())
    (tmp_path / "skin.png").write_bytes(b"\x89PNG picture")
    file.json["images"] = [{"uri": "skin.png"}]
    rig = gltf.read_rig(file.save(tmp_path / "a.gltf"))
    out = tmp_path / "sub" / "b.glb"
    out.parent.mkdir()
    gltf.write_clip(wiggle(rig), out)
    tables = read_json(out)
    view = tables["bufferViews"][tables["images"][0]["bufferView"]]
    data = pygltflib.GLTF2().load(str(out)).binary_blob()
    assert data[view["byteOffset"] : view["byteOffset"] + view["byteLength"]] == b"\x89PNG picture"


def test_skin_carries_vertices_as_the_file_says(tmp_path):
    """Pose the avatar: linear blend skinning on the file's own matrices against ours."""
    rng = np.random.default_rng(6)
    path, nodes = avatar(tmp_path, rng)
    clip = gltf.read_clip(path)
    tables = read_json(path)
    file = pygltflib.GLTF2().load(str(path))
    primitive = file.meshes[0].primitives[0]
    vertices, weights = _values(file, primitive.attributes.POSITION), _values(file, primitive.attributes.WEIGHTS_0)
    view = file.bufferViews[file.accessors[primitive.attributes.JOINTS_0].bufferView]
    joints = np.frombuffer(file.binary_blob(), "<u2", 4 * len(vertices), view.byteOffset).reshape(-1, 4)
    binds = _values(file, file.skins[0].inverseBindMatrices).reshape(-1, 4, 4).transpose(0, 2, 1)
    pose = clip.world()
    for t in range(clip.frame_count):
        moved = copy.deepcopy(tables["nodes"])
        for channel in file.animations[0].channels:
            if channel.target.path in ("rotation", "translation"):
                output = file.animations[0].samplers[channel.sampler].output
                moved[channel.target.node][channel.target.path] = _values(file, output)[t].tolist()
        matrices = world_matrices(moved)[file.skins[0].joints] @ binds
        homogeneous = np.c_[vertices, np.ones(len(vertices))]
        expected = np.einsum("vk,vkij,vj->vi", weights, matrices[joints], homogeneous)[:, :3]
        assert np.allclose(clip.rig.skin.posed(pose.rotations[t], pose.positions[t]), expected, atol=2e-6)
    assert np.allclose(clip.rig.skin.colours, [0.5, 0.25, 1, 1])
    assert set(nodes) == set(BODY)


@pytest.mark.parametrize("first", [0, 1])
def test_skins_bound_in_different_frames_join_in_one(tmp_path, first):
    """Two meshes in frames of their own, the second binding one more joint, and a hat without a skin."""
    rng = np.random.default_rng(7)
    file = GltfFile()
    nodes = body(file)
    order = list(nodes.values())
    world = world_matrices(file.json["nodes"])
    frames = [np.eye(4), world_matrices([{"rotation": random_quats(rng, 1)[0].tolist(), "scale": [0.01] * 3}])[0]]
    frames = frames[first:] + frames[:first]
    lists = [order[:-1], order[2:]]
    local = rng.normal(size=(3, 3))
    for frame, joints in zip(frames, lists):
        skin = file.skin(joints, np.linalg.inv(world[joints]) @ frame)
        vertices = np.c_[local, np.ones(3)] @ np.linalg.inv(frame).T
        file.node(
            "Mesh", mesh=file.mesh(vertices[:, :3], np.full((3, 4), len(joints) - 1), np.eye(4)[[0] * 3]), skin=skin
        )
    hat = file.node("Hat", parent=nodes["Head"], mesh=file.mesh(local), scale=[2, 2, 2])
    skin = gltf.read_rig(file.save(tmp_path / "a.glb")).skin
    assert skin.vertices.shape == (9, 3)
    assert np.allclose(skin.vertices[:3], local, atol=1e-6)
    assert np.allclose(skin.vertices[3:6], local, atol=1e-5)
    hat_world = world_matrices(file.json["nodes"])[hat]
    assert np.allclose(skin.vertices[6:], local @ hat_world[:3, :3].T + hat_world[:3, 3], atol=1e-6)


def test_no_half_written_file(tmp_path):
    clip = wiggle(builtin_rig("humanoid"))
    with pytest.raises(OptionError, match="rest"):
        gltf.write_clip(clip, tmp_path / "a.glb", rest="sitting")
    with pytest.raises(FileError):
        gltf.write_clip(clip, tmp_path / "missing" / "a.glb")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", BUILTIN_RIGS)
def test_bones_of_a_rig_without_mesh(tmp_path, name):
    """Closed octahedra, faces outward, following their joints; none under the floor, and no skin of the rig's own."""
    rig, path = builtin_rig(name), tmp_path / "a.glb"
    gltf.write_clip(wiggle(rig), path)
    assert gltf.read_rig(path).skin is None
    file = pygltflib.GLTF2.load(str(path))
    file.meshes[0].extras = {}
    file.save(str(path))
    skin = gltf.read_rig(path).skin
    corners = skin.vertices[skin.faces].reshape(-1, 8, 3, 3)
    corners = corners - corners.mean(axis=(1, 2), keepdims=True)
    volumes = np.einsum("bfi,bfi->bf", corners[:, :, 0], np.cross(corners[:, :, 1], corners[:, :, 2]))
    assert volumes.min() > 0.0
    pose = rig.tpose().to_world()
    posed = skin.posed(pose.rotations, pose.positions)
    assert posed[:, 1].min() > -0.07
    assert posed[:, 1].max() < 1.85
