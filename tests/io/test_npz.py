"""mimik's own archive: nothing is lost, and nothing but our error comes out of a broken one."""

import io
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from mimik.errors import FileError
from mimik.goals.keypoints import Keypoints
from mimik.io.npz import read_clip, read_keypoints, read_rig, sniff, write_clip, write_keypoints, write_rig
from mimik.motion.clip import Clip
from mimik.motion.sample import sample_clip
from mimik.rig.builtin import builtin_rig
from mimik.rig.limits import JointRange, Limits
from mimik.rig.rig import Rig
from mimik.rig.skin import Skin
from tests.builders import SEED


def full_rig() -> Rig:
    """Return a rig with limits, notes and a skin."""
    rng = np.random.default_rng(SEED)
    rig = builtin_rig("ue5")
    limits = Limits(
        {
            rig.names[1]: JointRange.hinge((1, 2, 3), -0.5, np.inf),
            rig.names[2]: JointRange.ball((0, 1, 0), -1.0, 1.0, cone=0.7, centre=(0, 0, 0.6, 0.8)),
            rig.names[3]: JointRange.fixed(),
            "ünïcode": JointRange.euler("zyz", -1, (0.5, 1.0, np.inf)),
        },
        "somebody's thesis",
    )
    weights = rng.random((10, 3))
    skin = Skin(
        rng.normal(size=(10, 3)),
        rng.integers(0, 10, (5, 3)),
        rng.integers(0, rig.joint_count, (10, 3)),
        weights,
        np.tile(np.eye(4), (rig.joint_count, 1, 1)),
        rng.random((10, 4)),
        "coat",
    )
    habits = {"hinge_turns": {"left_shoulder": 0.25}, "loose_hinges": frozenset({"left_knee", "right_knee"})}
    return replace(rig, limits=limits, skin=skin, notes=("a note", "übermut"), **habits)


def assert_same_rig(a: Rig, b: Rig) -> None:
    assert a.names == b.names
    for key in ("parents", "offsets", "rest", "tips"):
        np.testing.assert_array_equal(getattr(a.skeleton, key), getattr(b.skeleton, key))
    np.testing.assert_array_equal(a.q_world_tpose, b.q_world_tpose)
    assert (a.roles, a.name, a.rest_kind, a.notes) == (b.roles, b.name, b.rest_kind, b.notes)
    assert (a.hinge_turns, a.loose_hinges) == (b.hinge_turns, b.loose_hinges)
    assert (a.limits is None) == (b.limits is None)
    assert (a.skin is None) == (b.skin is None)


@pytest.fixture
def clip() -> Clip:
    clip = sample_clip(full_rig(), "wave", seconds=0.3, fps=29.97)
    rng = np.random.default_rng(SEED)
    moves = rng.normal(size=(clip.frame_count, clip.rig.joint_count, 3))
    return replace(clip, translations=moves, notes=("from somewhere",))


def test_a_clip_comes_back_bit_for_bit(tmp_path, clip):
    path = tmp_path / "a.npz"
    assert write_clip(clip, path) == []
    assert sniff(path)
    again = read_clip(path)
    for key in ("rotations", "root", "translations"):
        np.testing.assert_array_equal(getattr(again, key), getattr(clip, key))
    assert (again.fps, again.name, again.notes) == (clip.fps, clip.name, clip.notes)
    assert_same_rig(again.rig, clip.rig)
    assert_same_rig(read_rig(path), clip.rig)


def test_saving_twice_gives_the_same_bytes(tmp_path):
    first, second = tmp_path / "a.npz", tmp_path / "b.npz"
    write_clip(sample_clip(builtin_rig("ue5"), "walk", seconds=0.3), first)
    write_clip(read_clip(first), second)
    assert first.read_bytes() == second.read_bytes()


def test_limits_and_skin_come_back(tmp_path):
    rig = full_rig()
    write_rig(rig, tmp_path / "a.npz")
    again = read_rig(tmp_path / "a.npz")
    assert again.limits is not None
    assert again.skin is not None
    assert again.limits.source == rig.limits.source
    for name in rig.limits:
        a, b = rig.limits[name], again.limits[name]
        assert (a.kind, a.cone) == (b.kind, b.cone)
        for key in ("axes", "lower", "upper", "centre"):
            np.testing.assert_allclose(getattr(a, key), getattr(b, key), rtol=1e-15)
    for key in ("vertices", "faces", "joints", "inverse_bind", "colours"):
        np.testing.assert_array_equal(getattr(again.skin, key), getattr(rig.skin, key))
    np.testing.assert_allclose(again.skin.weights, rig.skin.weights, rtol=1e-15)
    assert again.skin.name == "coat"


def test_keypoints_come_back(tmp_path):
    rng = np.random.default_rng(SEED)
    positions = rng.normal(size=(7, 3, 3))
    positions[2, 1] = np.nan
    take = Keypoints(("a", "b", "ß"), positions, 59.94, rng.random((7, 3)), "body25", ("seen",))
    write_keypoints(take, tmp_path / "k.npz")
    again = read_keypoints(tmp_path / "k.npz")
    np.testing.assert_array_equal(again.positions, take.positions)
    np.testing.assert_array_equal(again.confidence, take.confidence)
    assert (again.names, again.fps, again.layout, again.notes) == (take.names, take.fps, take.layout, take.notes)
    with pytest.raises(FileError, match="holds keypoints, no clip"):
        read_clip(tmp_path / "k.npz")


def test_an_empty_clip(tmp_path, clip):
    write_clip(clip[:0], tmp_path / "a.npz")
    assert read_clip(tmp_path / "a.npz").frame_count == 0


def altered(path, **changes) -> None:
    """Rewrite an archive with arrays replaced, or left out where the change is None."""
    with np.load(path) as archive:
        arrays = {**dict(archive), **changes}
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})


def header(path, change) -> np.ndarray:
    with np.load(path) as archive:
        table = json.loads(archive["header"].tobytes())
    change(table)
    return np.frombuffer(json.dumps(table).encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("rotations", None, "'rotations' is missing"),
        ("rotations", np.zeros((3, 4)), "shape"),
        ("rotations", np.array(["a"]), "not numbers"),
        ("root", np.full((9, 3), np.nan), "finite|shape"),
        ("parents", np.zeros(5), "whole numbers"),
        ("mimik_format", np.int64(99), "version 99"),
        ("mimik_format", np.array("x"), "not a whole"),
        ("header", np.frombuffer(b"{", dtype=np.uint8), "not a whole"),
        ("header", np.frombuffer(b"[1]", dtype=np.uint8), "no table"),
        ("header", np.frombuffer(b'{"clip": 3, "rig": 1}', dtype=np.uint8), "no table"),
        ("header", None, "not a mimik archive"),
        ("skin_joints", np.full((10, 3), 9999), "skin"),
    ],
)
def test_broken_archives_are_our_error(tmp_path, clip, key, value, message):
    path = tmp_path / "a.npz"
    write_clip(clip, path)
    altered(path, **{key: value})
    with pytest.raises(FileError, match=message):
        read_clip(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t["rig"].pop("roles"),
        lambda t: t["rig"]["roles"].update(pelvis=9999),
        lambda t: t["rig"]["roles"].update(pelvis="x"),
        lambda t: t["rig"].update(roles=[1]),
        lambda t: t["rig"].update(joint_names=["a"]),
        lambda t: t["rig"].update(rest_kind="B"),
        lambda t: t["rig"].update(hinge_turns={"left_shoulder": float("nan")}),
        lambda t: t["rig"].update(limits={"joints": {"a": {}}}),
        lambda t: t["rig"]["limits"]["joints"]["ünïcode"].update(kind="hinge"),
        lambda t: t["rig"]["limits"]["joints"]["ünïcode"].update(lower=[1]),
        lambda t: t["clip"].update(fps="fast"),
        lambda t: t["clip"].update(fps=-1),
    ],
)
def test_broken_headers_are_our_error(tmp_path, clip, change):
    path = tmp_path / "a.npz"
    write_clip(clip, path)
    altered(path, header=header(path, change))
    with pytest.raises(FileError, match="not a whole mimik archive"):
        read_clip(path)


def test_other_archives_and_pickles_are_refused(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    assert not sniff(tmp_path / "other.npz")
    with pytest.raises(FileError, match="not a mimik archive"):
        read_rig(tmp_path / "other.npz")
    hostile = io.BytesIO()
    pickle.dump({"a": 1}, hostile)
    np.savez(tmp_path / "pickle.npz", mimik_format=np.array([{"x": 1}], dtype=object), header=np.zeros(1, np.uint8))
    with pytest.raises(FileError, match="not a readable npz"):
        read_rig(tmp_path / "pickle.npz")
    (tmp_path / "p.npz").write_bytes(hostile.getvalue())
    assert not sniff(tmp_path / "p.npz")
    with pytest.raises(FileError):
        read_rig(tmp_path / "p.npz")
