import json

import numpy as np
import pytest

from mimik.errors import FileError, OptionError
from mimik.learn.importers import clip_role_motion, find_motion, split_of, subject_of
from mimik.learn.pack import load_pack, write_pack
from mimik.learn.store import MotionStore, import_motion, quantise, stride
from mimik.motion import Clip
from mimik.rig.builtin import builtin_rig
from mimik.rig.role_space import role_map
from mimik.rig.roles import BODY_ROLES
from mimik.rotation import geodesic, quat_mul, rotvec_to_quat
from tests.builders import random_quats
from tests.learn.motions import smooth_rotations, write_corpus


@pytest.fixture
def corpus(tmp_path):
    rng = np.random.default_rng(5)
    folder = tmp_path / "corpus"
    folder.mkdir()
    truth = {name: write_corpus(folder / f"{name}.npz", rng, clips) for name, clips in CORPUS.items()}
    return folder, truth


CORPUS = {"cmu_train_01": (40, 31), "cmu_train_02": (20,), "cmu_val_03": (12,), "cmu_test_04": (16, 8)}


def test_corpus_decodes_to_world_rotations_with_twist_in_the_wrist(corpus, tmp_path):
    folder, truth = corpus
    store, notes = import_motion([folder], tmp_path / "store", fps=None)
    assert notes == []
    clips = [c for c in store.clips if c.subject == "01"]
    q = store.rotations(slice(clips[0].start, clips[-1].start + clips[-1].frames))
    source = truth["cmu_train_01"]
    local = rotvec_to_quat(source["rotvec"])
    chain = ["Hips", "SpineBase", "SpineMid", "SpineTop", "LeftShoulder", "LeftArm", "LeftForeArm", "LeftForeArmTwist"]
    expected = local[:, source["names"].index("Hips")]
    for name in [*chain[1:], "LeftHand"]:
        expected = quat_mul(expected, local[:, source["names"].index(name)])
    assert np.rad2deg(geodesic(q[:, BODY_ROLES.index("left_wrist")], expected)).max() < 0.02
    assert np.allclose(store.root(slice(clips[0].start, clips[0].start + 5)), source["root"][:5], atol=1e-4)


def test_store_keeps_splits_clips_and_rate(corpus, tmp_path):
    store, _ = import_motion([corpus[0]], tmp_path / "store", fps=30)
    assert {c.split: c.fps for c in store.clips} == {"train": 30.0, "val": 30.0, "test": 30.0}
    assert [c.frames for c in store.split("train")] == [20, 16, 10]
    assert {c.subject for c in store.split("test")} == {"04"}
    assert store.frame_count == sum(c.frames for c in store.clips)
    frames = store.frames(store.split("test"))
    assert set(store.bodies(frames)) == {store.split("test")[0].body}
    with pytest.raises(OptionError, match="valid: train, val, test"):
        store.split("trian")


def test_failed_import_leaves_nothing_behind(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "broken.bvh").write_text("HIERARCHY nonsense")
    with pytest.raises(FileError, match=r"broken\.bvh"):
        import_motion([tmp_path / "in"], tmp_path / "store")
    assert [p.name for p in tmp_path.iterdir()] == ["in"]


def test_missing_broken_and_existing_stores_are_named(corpus, tmp_path):
    with pytest.raises(FileError, match="no such file"):
        find_motion([tmp_path / "nowhere"])
    with pytest.raises(FileError, match="mimik data import"):
        MotionStore(tmp_path / "nowhere")
    import_motion([corpus[0]], tmp_path / "store")
    with pytest.raises(FileError, match="exists already"):
        import_motion([corpus[0]], tmp_path / "store")
    table = json.loads((tmp_path / "store" / "store.json").read_text())
    (tmp_path / "store" / "store.json").write_text(json.dumps({**table, "format": "another 9"}))
    with pytest.raises(FileError, match="another 9"):
        MotionStore(tmp_path / "store")


def test_any_clip_comes_into_role_space_and_back():
    rig = builtin_rig("ue5")
    D = smooth_rotations(np.random.default_rng(1), 6)
    pose = role_map(rig).to_rig(D, np.zeros(3))
    rotations, pelvis, offsets = clip_role_motion(Clip(rig, pose.rotations, pose.root))
    present = [r for r, role in enumerate(BODY_ROLES) if role in rig.roles]
    assert geodesic(rotations[:, present], D[:, present]).max() < 1e-6
    assert np.abs(pelvis).max() < 1e-9
    assert np.isfinite(offsets[present]).all()


def test_splits_and_subjects_come_from_names(tmp_path):
    assert split_of(tmp_path / "cmu_val_06.npz", "06", tmp_path) == "val"
    assert split_of(tmp_path / "test" / "walk.bvh", "x", tmp_path) == "test"
    assert split_of(tmp_path / "test" / "walk.bvh", "person 1", tmp_path / "test") == "train"
    drawn = [split_of(tmp_path / "a.bvh", f"person {i}", tmp_path) for i in range(2000)]
    assert 0.86 < drawn.count("train") / 2000 < 0.94
    assert drawn.count("val") > 50
    assert subject_of(tmp_path / "set" / "anna" / "walk.npz", tmp_path / "set") == "anna"
    assert subject_of(tmp_path / "07_12.bvh", tmp_path) == "07"


def test_quantised_quaternions_are_near_and_strides_keep_slow_sources():
    q = random_quats(np.random.default_rng(2), 500)
    assert np.rad2deg(geodesic(quantise(q) / np.linalg.norm(quantise(q), axis=-1, keepdims=True), q)).max() < 0.006
    assert [stride(120, 30), stride(60, 30), stride(24, 30), stride(50, 30), stride(29.97, 30), stride(60, None)] == [
        4, 2, 1, 1, 1, 1,
    ]  # fmt: skip


def test_pack_holds_whole_splits_and_the_most_diverse_of_train(corpus, tmp_path):
    store, _ = import_motion([corpus[0]], tmp_path / "store", fps=None)
    counts = write_pack(store, tmp_path / "pack.npz", fps=60, max_mb=60 * 146 / 1e6)
    assert counts["val"] == 12
    assert 10 <= counts["train"] <= 48
    pack = load_pack(tmp_path / "pack.npz")
    val = store.frames(store.split("val"))
    assert np.rad2deg(geodesic(pack["val"].rotations(), store.rotations(val))).max() < 0.02
    assert np.allclose(pack["val"].root, store.root(val), atol=1e-6)
    assert len(pack["train"].clip_starts) <= 3
    with pytest.raises(FileError, match="no room"):
        write_pack(store, tmp_path / "small.npz", max_mb=0.001)
    with pytest.raises(FileError, match="no pack"):
        load_pack(corpus[0] / "cmu_val_03.npz")


def test_damaged_corpus_files_are_left_out_with_a_note(corpus, tmp_path):
    whole = (corpus[0] / "cmu_train_01.npz").read_bytes()
    for k in range(12):
        (corpus[0] / f"cmu_train_broken{k}.npz").write_bytes(whole[: len(whole) * (k + 1) // 13])
    np.savez(corpus[0] / "cmu_train_other.npz", rotvec_delta=np.zeros(3))
    store, notes = import_motion([corpus[0]], tmp_path / "store")
    assert len(notes) == 13
    assert len(store.clips) == 6
