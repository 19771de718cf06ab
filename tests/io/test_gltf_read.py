"""Reading glTF: whatever the structure, world positions are those of the file's own matrices."""

import itertools

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation, Slerp

from mimik.errors import FileError, OptionError
from mimik.io import gltf
from mimik.io._gltf_accessors import read_floats
from mimik.io._gltf_document import read_document
from tests.builders import random_quats
from tests.io.gltf_files import GltfFile, node_matrix, world_matrices

# joint -> its parent, its offset in metres: enough of a body for the roles to be found
BODY = {
    "Hips": (None, (0.0, 1.0, 0.0)),
    "Spine": ("Hips", (0.0, 0.2, 0.0)),
    "Neck": ("Spine", (0.0, 0.3, 0.0)),
    "Head": ("Neck", (0.0, 0.1, 0.0)),
    **{
        side + name: (parent if parent in ("Hips", "Spine") else side + parent, (sign * x, y, z))
        for side, sign in (("Left", 1.0), ("Right", -1.0))
        for name, parent, x, y, z in (
            ("UpLeg", "Hips", 0.1, -0.05, 0.0),
            ("Leg", "UpLeg", 0.0, -0.45, 0.0),
            ("Foot", "Leg", 0.0, -0.42, 0.0),
            ("Arm", "Spine", 0.2, 0.2, 0.0),
            ("ForeArm", "Arm", 0.28, 0.0, 0.0),
            ("Hand", "ForeArm", 0.25, 0.0, 0.0),
        )
    },
}


def body(file, *, parent=None, scale=1.0, order=None, **root):
    """Append the body below `parent`; returns joint name -> node. `order` shuffles the node table."""
    names = list(BODY) if order is None else [list(BODY)[k] for k in order]
    nodes = {name: file.node(name, translation=(np.array(BODY[name][1]) / scale).tolist()) for name in names}
    for name, (above, _) in BODY.items():
        owner = nodes[above] if above else parent
        if owner is not None:
            file.json["nodes"][owner].setdefault("children", []).append(nodes[name])
    file.json["nodes"][nodes["Hips"]].update(root)
    return nodes


def shake(file, nodes, rng, frames=7, fps=30, scale=1.0):
    """Animate all rotations and the hips' translation; returns for each frame what moved."""
    times = np.arange(frames) / fps
    channels, moved = [], [{} for _ in range(frames)]
    for name, node in nodes.items():
        turns = random_quats(rng, frames).astype(np.float32)
        channels.append((node, "rotation", times, turns, "LINEAR"))
        for t in range(frames):
            moved[t][node] = {"rotation": turns[t]}
        if name == "Hips":
            path = (rng.normal(size=(frames, 3)) / scale).astype(np.float32)
            channels.append((node, "translation", times, path, "LINEAR"))
            for t in range(frames):
                moved[t][node]["translation"] = path[t]
    file.animation(channels, "shake")
    return moved


def assert_same_positions(clip, file, nodes, moved, tolerance=2e-6):
    """Compare a clip with the node matrices of the file, frame by frame."""
    places = clip.positions()
    for t, change in enumerate(moved):
        world = world_matrices(file.json["nodes"], change)
        for name, node in nodes.items():
            assert np.allclose(places[t, clip.rig.names.index(name)], world[node][:3, 3], atol=tolerance), (t, name)


def turned(rng):
    """Return a random rotation as a list."""
    return random_quats(rng, 1)[0].tolist()


def plain(file, rng):
    """Put the hips at the top of the scene."""
    return body(file), 1.0


def shuffled(file, rng):
    """Put the nodes of the joints in any order, children before parents."""
    return body(file, order=rng.permutation(len(BODY))), 1.0


def non_joint_root(file, rng):
    """Put turned and moved nodes above the hips."""
    top = file.node("Scene root", rotation=turned(rng), translation=[1, 2, 3])
    return body(file, parent=file.node("Armature", parent=top, rotation=turned(rng), translation=[0.5, 0, -1])), 1.0


def centimetres(file, rng):
    """Put an armature scaled by 0.01 over joints in centimetres."""
    return body(file, parent=file.node("Armature", scale=[0.01] * 3, rotation=turned(rng)), scale=0.01), 0.01


def matrices(file, rng):
    """Write the nodes above the hips as matrices, one of them with a scale."""
    above = {"rotation": turned(rng), "translation": [1, 0, 2], "scale": [0.5] * 3}
    top = file.node("Top", matrix=node_matrix(above).T.ravel().tolist())
    return body(
        file, parent=file.node("Axes", parent=top, matrix=node_matrix({"rotation": turned(rng)}).T.ravel().tolist())
    ), 0.5


def scaled_bones(file, rng):
    """Give joints inside the body scales of their own."""
    nodes = body(file)
    file.json["nodes"][nodes["Spine"]]["scale"] = [1.3] * 3
    file.json["nodes"][nodes["LeftUpLeg"]]["scale"] = [0.8] * 3
    return nodes, 1.0


def uneven_scale(file, rng):
    """Stretch the armature along one axis, which shears what turns below it."""
    return body(file, parent=file.node("Armature", scale=[1.0, 1.2, 0.9])), 1.0


def mirrored(file, rng):
    """Mirror the armature."""
    return body(file, parent=file.node("Armature", scale=[-1.0, 1.0, 1.0])), 1.0


@pytest.mark.parametrize("skinned", [True, False])
@pytest.mark.parametrize(
    "structure",
    [plain, shuffled, non_joint_root, centimetres, matrices, scaled_bones, uneven_scale, mirrored],
)
def test_any_structure_stands_where_its_matrices_say(tmp_path, structure, skinned):
    rng = np.random.default_rng(3)
    file = GltfFile()
    nodes, scale = structure(file, rng)
    if skinned:
        file.skin(nodes.values())
    moved = shake(file, nodes, rng, scale=scale)
    path = file.save(tmp_path / "a.glb")
    clip = gltf.read_clip(path)
    assert (clip.frame_count, clip.fps, clip.name) == (7, 30.0, "shake")
    assert_same_positions(clip, file, nodes, moved)
    rest = gltf.read_rig(path).rest_pose().positions()
    world = world_matrices(file.json["nodes"])
    for name, node in nodes.items():
        assert np.allclose(rest[clip.rig.names.index(name)], world[node][:3, 3], atol=2e-6)
    assert {"pelvis", "left_knee", "right_wrist", "head"} <= set(clip.rig.roles)
    fixed = structure not in (uneven_scale,)
    assert (clip.translations is None) == fixed
    assert any("scales differ" in note for note in clip.rig.notes) == (structure in (uneven_scale, mirrored))


def test_keys_above_the_root_move_the_root(tmp_path):
    rng = np.random.default_rng(4)
    file = GltfFile()
    armature = file.node("Armature", scale=[0.01] * 3)
    nodes = body(file, parent=armature, scale=0.01)
    file.skin(nodes.values())
    times, path = np.arange(5) / 24, rng.normal(size=(5, 3)).astype(np.float32)
    turns = random_quats(rng, 5).astype(np.float32)
    file.animation([(armature, "translation", times, path, "LINEAR"), (armature, "rotation", times, turns, "LINEAR")])
    clip = gltf.read_clip(file.save(tmp_path / "a.glb"))
    moved = [{armature: {"translation": p, "rotation": q}} for p, q in zip(path, turns)]
    assert clip.fps == 24.0
    assert_same_positions(clip, file, nodes, moved)


def test_animated_scales_and_sliding_joints_keep_positions(tmp_path):
    rng = np.random.default_rng(5)
    file = GltfFile()
    nodes = body(file)
    times = np.arange(6) / 60
    size = np.repeat(rng.uniform(0.5, 1.5, size=(6, 1)), 3, axis=1).astype(np.float32)
    slide = rng.normal(size=(6, 3)).astype(np.float32)
    spine, hand = nodes["Spine"], nodes["LeftHand"]
    file.animation([(spine, "scale", times, size, "LINEAR"), (hand, "translation", times, slide, "LINEAR")])
    file.skin(nodes.values())
    clip = gltf.read_clip(file.save(tmp_path / "a.glb"))
    moved = [{spine: {"scale": s}, hand: {"translation": p}} for s, p in zip(size, slide)]
    assert clip.translations is not None
    assert any("move against their parents" in note for note in clip.notes)
    assert_same_positions(clip, file, nodes, moved)


def test_channels_with_their_own_times_and_interpolations(tmp_path):
    rng = np.random.default_rng(6)
    file = GltfFile()
    nodes = body(file)
    file.skin(nodes.values())
    coarse, fine = np.array([0.0, 0.5, 1.0]), np.arange(31) / 30
    turns, steps = random_quats(rng, 3).astype(np.float32), random_quats(rng, 3).astype(np.float32)
    path = rng.normal(size=(3, 3, 3)).astype(np.float32)
    dense = random_quats(rng, 31).astype(np.float32)
    file.animation(
        [
            (nodes["Hips"], "translation", coarse, path.reshape(9, 3), "CUBICSPLINE"),
            (nodes["Spine"], "rotation", coarse, turns, "LINEAR"),
            (nodes["Head"], "rotation", coarse, steps, "STEP"),
            (nodes["Neck"], "rotation", fine, dense, "LINEAR"),
        ]
    )
    clip = gltf.read_clip(file.save(tmp_path / "a.glb"))
    assert (clip.frame_count, clip.fps) == (31, 30.0)
    spline = np.stack([CubicHermiteSpline(coarse, path[:, 1, k], _slopes(path[:, :, k]))(fine) for k in range(3)], 1)
    middle = fine <= 0.5  # SciPy's spline has one slope a key; ours are tested one span at a time below
    assert np.allclose(clip.root[middle], spline[middle], atol=1e-6)
    slerp = Slerp(coarse, Rotation.from_quat(turns))(fine)
    assert _angle(clip, "Spine", slerp).max() < 1e-6
    assert _angle(clip, "Head", Rotation.from_quat(steps[np.minimum((fine * 2 + 1e-9).astype(int), 2)])).max() < 1e-6
    assert _angle(clip, "Neck", Rotation.from_quat(dense)).max() < 1e-6


def _slopes(keys):
    """Return out-tangent, in-tangent of the first span as SciPy's slopes (keys: (K, in/value/out))."""
    return np.array([keys[0, 2], keys[1, 0], 0.0])


def _angle(clip, name, expected):
    own = Rotation.from_quat(clip.rotations[:, clip.rig.names.index(name)])
    return (own.inv() * expected).magnitude()


def test_cubic_rotation_is_normalised(tmp_path):
    file = GltfFile()
    nodes = body(file)
    keys = np.zeros((2, 3, 4), dtype=np.float32)
    keys[0, 1], keys[1, 1] = [0, 0, 0, 1], [0, np.sin(0.5), 0, np.cos(0.5)]
    file.animation([(nodes["Head"], "rotation", [0.0, 1.0], keys.reshape(6, 4), "CUBICSPLINE")])
    file.skin(nodes.values())
    clip = gltf.read_clip(file.save(tmp_path / "a.glb"), fps=10)
    turns = clip.rotations[:, clip.rig.names.index("Head")]
    assert np.allclose(np.linalg.norm(turns, axis=1), 1.0)
    halfway = keys[0, 1] + keys[1, 1]  # with zero tangents the middle is the mean
    assert np.allclose(turns[5], halfway / np.linalg.norm(halfway), atol=1e-6)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2"])
def test_normalised_integer_rotations(tmp_path, dtype):
    rng = np.random.default_rng(7)
    file = GltfFile()
    nodes = body(file)
    turns = np.abs(random_quats(rng, 5)) if dtype.startswith("u") else random_quats(rng, 5)
    stored = np.round(turns * np.iinfo(dtype).max)
    times = np.arange(5) / 30
    file.animation([(nodes["Head"], "rotation", times, file.accessor(stored, dtype, normalized=True), "LINEAR")])
    file.skin(nodes.values())
    clip = gltf.read_clip(file.save(tmp_path / "a.glb"))
    assert _angle(clip, "Head", Rotation.from_quat(stored)).max() < 1e-6


@pytest.mark.parametrize(("dtype", "lowest"), [("i1", -1.0), ("u1", 0.0), ("i2", -1.0), ("u2", 0.0)])
def test_normalised_integers_reach_one(tmp_path, dtype, lowest):
    file = GltfFile()
    ends = np.iinfo(dtype)
    entry = file.accessor([[ends.min] * 3, [ends.max] * 3], dtype, normalized=True)
    doc = read_document(file.save(tmp_path / "a.glb"))
    assert read_floats(doc, entry, "VEC3", "ends").tolist() == [[lowest] * 3, [1.0] * 3]


def test_sparse_and_strided_accessors(tmp_path):
    file = GltfFile()
    nodes = body(file)
    times = np.arange(4) / 30
    path = np.zeros((4, 3), dtype=np.float32)
    path[2] = [1, 2, 3]
    file.json["accessors"].append(
        {
            "componentType": 5126,
            "count": 4,
            "type": "VEC3",
            "sparse": {
                "count": 1,
                "indices": {"bufferView": file.view(np.array([2], "<u2").tobytes()), "componentType": 5123},
                "values": {"bufferView": file.view(path[2].tobytes())},
            },
        }
    )
    sparse = len(file.json["accessors"]) - 1
    mixed = np.zeros((4, 7), dtype="<f4")  # rotation and something else, interleaved
    mixed[:, 3:] = random_quats(np.random.default_rng(8), 4)
    strided = file.accessor(mixed[:, 3:].copy(), byteOffset=12)
    view = file.view(mixed.tobytes())
    file.json["bufferViews"][view]["byteStride"] = 28
    file.json["accessors"][strided]["bufferView"] = view
    file.animation(
        [(nodes["Hips"], "translation", times, sparse, "LINEAR"), (nodes["Head"], "rotation", times, strided, "LINEAR")]
    )
    file.skin(nodes.values())
    clip = gltf.read_clip(file.save(tmp_path / "a.glb"))
    assert np.allclose(clip.root, path, atol=1e-6)
    assert _angle(clip, "Head", Rotation.from_quat(mixed[:, 3:])).max() < 1e-6


@pytest.mark.parametrize("fps", [24.0, 25.0, 30.0, 60.0, 120.0, 30 / 1.001, 14.0])
@pytest.mark.parametrize("start", [0.0, 1.0 / 24])
def test_frame_rate_comes_from_key_times(tmp_path, fps, start):
    file = GltfFile()
    nodes = body(file)
    file.skin(nodes.values())
    turns = random_quats(np.random.default_rng(9), 300)
    file.animation([(nodes["Head"], "rotation", start + np.arange(300) / fps, turns, "LINEAR")])
    clip = gltf.read_clip(file.save(tmp_path / "a.glb"))
    assert clip.frame_count == 300
    assert abs(clip.fps - fps) < 1e-3
    assert any("fps" in note for note in clip.notes)
    assert any("starts at" in note for note in clip.notes) == (start > 0.0)


def test_sparse_keys_take_the_slowest_usual_rate_and_fps_resamples(tmp_path):
    file = GltfFile()
    nodes = body(file)
    file.skin(nodes.values())
    turns = random_quats(np.random.default_rng(10), 3)
    file.animation([(nodes["Head"], "rotation", [0.0, 0.2, 1.0], turns, "LINEAR")])
    path = file.save(tmp_path / "a.glb")
    assert (gltf.read_clip(path).fps, gltf.read_clip(path).frame_count) == (25.0, 26)
    assert gltf.read_clip(path, fps=100).frame_count == 101
    with pytest.raises(OptionError, match="fps"):
        gltf.read_clip(path, fps=-1)


def test_several_animations_are_chosen_by_name(tmp_path):
    rng = np.random.default_rng(11)
    file = GltfFile()
    nodes = body(file)
    file.skin(nodes.values())
    prop = file.node("Prop")
    file.animation([(prop, "rotation", [0.0, 1.0], random_quats(rng, 2), "LINEAR")], "prop only")
    for name, count in (("idle", 5), ("walk", 9)):
        file.animation([(nodes["Head"], "rotation", np.arange(count) / 30, random_quats(rng, count), "LINEAR")], name)
    path = file.save(tmp_path / "a.glb")
    first = gltf.read_clip(path)
    assert first.name == "idle"
    assert any("walk" in note for note in first.notes)
    assert gltf.read_clip(path, animation="walk").frame_count == 9
    assert gltf.read_clip(path, animation=2).name == "walk"
    with pytest.raises(OptionError, match="did you mean 'walk'"):
        gltf.read_clip(path, animation="wlak")


def test_the_human_skeleton_is_chosen_among_several(tmp_path):
    file = GltfFile()
    crane = [file.node(f"part {k}", translation=[0, 1, 0]) for k in range(40)]
    for above, below in itertools.pairwise(crane):
        file.json["nodes"][above]["children"] = [below]
    nodes = body(file)
    file.skin(crane, name="crane")
    file.skin(nodes.values(), name="hero")
    path = file.save(tmp_path / "a.glb")
    rig = gltf.read_rig(path)
    assert rig.joint_count == len(BODY)
    assert any("crane (40 joints)" in note for note in rig.notes)
    assert gltf.read_rig(path, skeleton="crane").joint_count == 40
    assert gltf.read_rig(path, skeleton=0).joint_count == 40
    with pytest.raises(OptionError, match="crane"):
        gltf.read_rig(path, skeleton="cane")


def test_skins_that_share_bones_are_one_skeleton(tmp_path):
    file = GltfFile()
    nodes = body(file)
    hair = file.node("Hair", parent=nodes["Head"], translation=[0, 0.1, 0])
    lock = file.node("Lock", parent=hair, translation=[0, 0.1, 0])
    file.skin(nodes.values())
    file.skin([nodes["Head"], lock])
    rig = gltf.read_rig(file.save(tmp_path / "a.glb"))
    assert set(rig.names) == {*BODY, "Hair", "Lock"}  # the node between two joints is one too


def test_names_are_made_unique_and_tips_found(tmp_path):
    file = GltfFile()
    nodes = body(file)
    twins = [file.node("Twin", parent=nodes["Head"], translation=[k, 0, 0]) for k in range(3)]
    file.node("Twin end", parent=twins[0], translation=[0, 0.2, 0])
    file.skin([*nodes.values(), *twins])
    rig = gltf.read_rig(file.save(tmp_path / "a.glb"))
    assert {"Twin", "Twin_2", "Twin_3"} <= set(rig.names)
    assert np.allclose(rig.skeleton.tips[rig.names.index("Twin")], [0, 0.2, 0])


def test_a_file_without_motion_says_so(tmp_path):
    file = GltfFile()
    body(file)
    path = file.save(tmp_path / "a.glb")
    assert gltf.read_rig(path).joint_count == len(BODY)
    with pytest.raises(FileError, match="no animation; load it as a rig"):
        gltf.read_clip(path)


def test_rest_comes_from_the_bind_when_the_nodes_are_saved_in_mid_motion(tmp_path):
    rng = np.random.default_rng(12)
    file = GltfFile()
    nodes = body(file)
    joints = list(nodes.values())
    binds = np.linalg.inv(world_matrices(file.json["nodes"])[joints])
    for name, node in nodes.items():
        if name != "Hips":
            file.json["nodes"][node]["rotation"] = random_quats(rng, 1)[0].tolist()
    mesh = file.mesh(np.eye(3), [[0, 1, 2, 3]] * 3, np.full((3, 4), 0.25))
    file.json["meshes"][mesh]["primitives"] += [
        file.json["meshes"][file.mesh(np.eye(3), np.tile(range(k, k + 4), (3, 1)), np.full((3, 4), 0.25))][
            "primitives"
        ][0]
        for k in (4, 8, 12)
    ]
    file.node("Mesh", mesh=mesh, skin=file.skin(joints, binds))
    hat = file.node("Hat", parent=nodes["Head"], mesh=file.mesh(np.eye(3)), translation=[0, 0.2, 0])
    rig = gltf.read_rig(file.save(tmp_path / "a.glb"))
    assert rig.rest_kind == "T"
    assert np.allclose(rig.skeleton.rest, [0, 0, 0, 1], atol=1e-6)
    assert any("where the mesh is bound" in note for note in rig.notes)
    world = world_matrices(file.json["nodes"])
    moved = rig.skin.posed(*_posed(file, rig, nodes))
    blend = np.einsum("kij,j->i", (world[joints] @ binds)[:4], [1.0, 0, 0, 1])[:3] / 4
    assert np.allclose(moved[0], blend, atol=1e-6)
    assert np.allclose(moved[-3:], world[hat][:3, :3].T + world[hat][:3, 3], atol=1e-6)


def _posed(file, rig, nodes):
    """Return world rotations and positions of the joints in the pose of the nodes."""
    world = world_matrices(file.json["nodes"])[[nodes[name] for name in rig.names]]
    return Rotation.from_matrix(world[:, :3, :3]).as_quat(), world[:, :3, 3]
