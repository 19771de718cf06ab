"""Bad glTF: one clear error, quickly, whatever is wrong; side files stay inside the folder."""

import base64
import json
import os
import random

import numpy as np
import pytest

from mimik.errors import FileError, MimikError
from mimik.io import gltf
from tests.builders import random_quats
from tests.io.gltf_files import GltfFile, read_json
from tests.io.test_gltf_read import body


def small_file():
    """Return a file with a skin and an animation, and its nodes."""
    file = GltfFile()
    nodes = body(file)
    file.skin(nodes.values(), np.tile(np.eye(4), (len(nodes), 1, 1)))
    file.node("Mesh", mesh=file.mesh(np.eye(3), np.zeros((3, 4)), np.eye(4)[[0] * 3]), skin=0)
    turns = random_quats(np.random.default_rng(0), 4)
    file.animation([(nodes["Head"], "rotation", np.arange(4) / 30, turns, "LINEAR")])
    return file, nodes


def refused(path, match):
    """Check that both readers refuse the file with a message of theirs."""
    for read in (gltf.read_clip, gltf.read_rig):
        with pytest.raises(FileError, match=match) as caught:
            read(path)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda j: j["nodes"][0].update(children=[0]), "child|ancestors"),
        (lambda j: j["nodes"][3].update(children=[1]), "is a child of node"),
        (lambda j: j["nodes"][0].update(children=[99]), "valid are the integers"),
        (lambda j: j["nodes"][0].update(rotation=[0, 0, 0]), "list of 4 usable numbers"),
        (lambda j: j["nodes"][0].update(translation=[0, 0, float("nan")]), "list of 3 usable numbers"),
        (lambda j: j["nodes"][0].update(matrix=[1, 2]), "list of 16 usable numbers"),
        (lambda j: j["skins"][0].update(joints=[]), "no joints"),
        (lambda j: j["skins"][0].update(joints=[1.5]), "valid are the integers"),
        (lambda j: j["accessors"][0].update(count=10**9), "valid are the integers|ask"),
        (lambda j: j["accessors"][0].update(bufferView=77), "bufferView"),
        (lambda j: j["accessors"][0].update(componentType=1), "component type"),
        (lambda j: j["bufferViews"][0].update(byteLength=10**8), "its buffer has"),
        (lambda j: j["animations"][0]["samplers"][0].update(interpolation="BOUNCE"), "valid: LINEAR"),
        (lambda j: j["asset"].update(version="1.0"), "only glTF 2"),
        (lambda j: j.update(nodes={}), "list of objects"),
        (lambda j: j.update(nodes=[]), "valid are|no skeleton"),
    ],
)
def test_broken_tables_are_named(tmp_path, change, message):
    file, _ = small_file()
    change(file.json)
    refused(file.save(tmp_path / "a.glb"), message)


@pytest.mark.parametrize(
    ("times", "message"),
    [([0.0, 0.2, 0.1, 0.3], "go back"), ([0.0, np.nan, 1.0, 2.0], "finite"), ([0, 1, 2], "needs 3")],
)
def test_broken_key_times(tmp_path, times, message):
    file, nodes = small_file()
    file.json["animations"] = []
    file.animation([(nodes["Head"], "rotation", times, random_quats(np.random.default_rng(0), 4), "LINEAR")])
    refused(file.save(tmp_path / "a.glb"), message)


def test_an_endless_animation_is_refused_before_memory_is_taken(tmp_path):
    file, nodes = small_file()
    file.json["animations"] = []
    file.animation([(nodes["Head"], "rotation", [0.0, 1e9], random_quats(np.random.default_rng(0), 2), "LINEAR")])
    refused(file.save(tmp_path / "a.glb"), "lower fps")


def test_a_long_chain_of_nodes_is_no_problem(tmp_path):
    file = GltfFile()
    nodes = [file.node(f"n{i}", children=[i + 1], translation=[0, 1e-3, 0]) for i in range(3000)]
    nodes.append(file.node("last"))
    file.skin(nodes)
    assert gltf.read_rig(file.save(tmp_path / "a.glb")).joint_count == 3001


def test_deep_json_is_refused(tmp_path):
    path = tmp_path / "a.gltf"
    path.write_text('{"asset":{"version":"2.0"},"x":' + "[" * 100_000 + "]" * 100_000 + "}")
    refused(path, "nested too deeply|no skeleton")


@pytest.mark.parametrize("keep", [0, 3, 11, 19, 100, -1])
def test_cut_files(tmp_path, keep):
    file, _ = small_file()
    path = file.save(tmp_path / "a.glb")
    path.write_bytes(path.read_bytes()[:keep])
    refused(path, "cut short|empty|neither")


def test_side_file_and_data_uri_read_alike(tmp_path):
    file, _ = small_file()
    beside = gltf.read_clip(file.save(tmp_path / "my take.gltf"))
    tables = json.loads((tmp_path / "my take.gltf").read_text())
    tables["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(file.data).decode()
    (tmp_path / "b.gltf").write_text(json.dumps(tables))
    inside = gltf.read_clip(tmp_path / "b.gltf")
    assert np.array_equal(beside.rotations, inside.rotations)
    tables["buffers"][0]["uri"] = "my%20take.bin"
    (tmp_path / "c.gltf").write_text(json.dumps(tables))
    assert np.array_equal(gltf.read_clip(tmp_path / "c.gltf").rotations, inside.rotations)


@pytest.mark.parametrize(
    "uri",
    ["../secret.bin", "sub/../../secret.bin", "%2e%2e/secret.bin", "{abs}", "file://{abs}", "http://a/b", "C:/x",
     "..\\secret.bin", "link.bin", "linked/secret.bin", "a\0b", "", ".", "\ud800", "x" * 5000],
)  # fmt: skip
def test_side_files_do_not_leave_the_folder(tmp_path, uri):
    secret = tmp_path / "secret.bin"
    home = tmp_path / "home"
    (home / "sub").mkdir(parents=True)
    file, _ = small_file()
    path = file.save(home / "a.gltf")
    secret.write_bytes(bytes(file.data))
    os.symlink(secret, home / "link.bin")
    os.symlink(tmp_path, home / "linked")
    tables = json.loads(path.read_text())
    tables["buffers"][0]["uri"] = uri.replace("{abs}", str(secret))
    path.write_text(json.dumps(tables))
    refused(path, "folder|not there")


def test_missing_and_short_side_files(tmp_path):
    file, _ = small_file()
    path = file.save(tmp_path / "a.gltf")
    (tmp_path / "a.bin").write_bytes(b"123")
    refused(path, "holds 3 bytes")
    (tmp_path / "a.bin").unlink()
    refused(path, "not there")


def test_mutated_files_raise_nothing_else(tmp_path):
    """A short run of what benchmarks do at length: broken values and broken bytes end in our error or in a result."""
    rnd = random.Random(5)
    file, _ = small_file()
    path = file.save(tmp_path / "a.glb")
    tables, whole = read_json(path), path.read_bytes()
    odd = [
        None,
        -1,
        0,
        3,
        2**31,
        10**30,
        1.5,
        1e300,
        float("nan"),
        True,
        "",
        "x",
        [],
        {},
        [0],
        [[]],
        {"a": 1},
        [0] * 16,
    ]
    for _ in range(400):
        if rnd.random() < 0.7:
            file.json = json.loads(json.dumps(tables))
            owner = file.json
            while True:
                key = rnd.choice(list(owner) if isinstance(owner, dict) else range(len(owner)))
                if not isinstance(owner[key], dict | list) or not owner[key] or rnd.random() < 0.3:
                    break
                owner = owner[key]
            owner[key] = rnd.choice(odd)
            try:
                file.save(path)
            except AttributeError:  # the test's own writer wants a list of buffers
                continue
        else:
            data = bytearray(whole)
            for _ in range(rnd.choice([1, 4, 40])):
                data[rnd.randrange(len(data))] = rnd.randrange(256)
            path.write_bytes(data)
        for read in (gltf.read_clip, gltf.read_rig):
            try:
                read(path)
            except MimikError as error:
                assert str(error)
