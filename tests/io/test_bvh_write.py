"""Writing BVH: what is written reads back as the same motion, and stands in a T-pose where nothing turns."""

from dataclasses import replace

import numpy as np
import pytest

from mimik.errors import FileError, OptionError
from mimik.io._frame_rate import fps_from_frame_time, frame_time_text
from mimik.io.bvh import read_clip, write_clip
from mimik.motion.clip import Clip
from mimik.motion.sample import sample_clip
from mimik.rig import Skeleton
from mimik.rig.build import build_rig
from mimik.rig.builtin import builtin_rig
from mimik.rotation import identity_quat
from tests.builders import SEED, random_quats, random_tree


def same_positions(a: Clip, b: Clip) -> float:
    """Return the largest distance between joints of the same name."""
    order = [b.rig.names.index(name) for name in a.rig.names]
    return float(np.abs(a.positions() - b.positions()[:, order]).max(initial=0.0))


@pytest.fixture(scope="module", params=["humanoid", "cmu", "ue5", "mixamo"])
def walk(request) -> Clip:
    return sample_clip(builtin_rig(request.param), "walk", seconds=0.5, fps=30)


@pytest.mark.parametrize("rest", ["tpose", "file"])
@pytest.mark.parametrize(
    "options",
    [{}, {"units": "cm", "order": "XYZ"}, {"units": "cmu", "up": "z", "order": "ZYX"}, {"up": "-x", "decimals": 9}],
)
def test_what_is_written_reads_back(walk, tmp_path, rest, options):
    path = tmp_path / "a.bvh"
    write_clip(walk, path, rest=rest, **options)
    told = {"units": options.get("units", "m"), "up": options.get("up", "y")}
    again = read_clip(path, **told)
    assert again.fps == walk.fps
    assert same_positions(walk, again) < 2e-6
    if options.get("up") != "-x" and (rest == "tpose" or walk.rig.rest_kind == "T"):
        assert same_positions(walk, read_clip(path)) < 2e-6  # units and axes are recognised as well


def test_zero_rotation_is_the_tpose(walk, tmp_path):
    path = tmp_path / "a.bvh"
    notes = write_clip(walk, path)
    again = read_clip(path)
    skeleton = again.rig.skeleton
    flat = Clip(again.rig, identity_quat(1, skeleton.joint_count), np.zeros((1, 3)))
    tpose = walk.rig.tpose()
    tpose_clip = Clip(walk.rig, tpose.rotations[None], np.zeros((1, 3)))
    assert same_positions(tpose_clip, flat) < 1e-8
    assert any("axes" in note for note in notes) == (walk.rig.name == "ue5")


def test_saving_twice_gives_the_same_bytes(walk, tmp_path):
    first, second = tmp_path / "a.bvh", tmp_path / "b.bvh"
    write_clip(walk, first)
    write_clip(read_clip(first, units="m", up="y"), second, rest="file")
    assert first.read_bytes() == second.read_bytes()


def test_random_trees_with_sliding_joints(tmp_path):
    rng = np.random.default_rng(SEED)
    rig = build_rig(random_tree(rng, 15), name="tree")
    moves = np.tile(rig.offsets, (8, 1, 1))
    moves[:, [4, 9]] += rng.normal(size=(8, 2, 3)) * 0.1
    root = rng.normal(size=(8, 3))
    moves[:, 0] = root
    clip = Clip(rig, random_quats(rng, 8, 15), root, 100 / 3, "tree", moves)
    for rest in ("tpose", "file"):
        write_clip(clip, tmp_path / "a.bvh", rest=rest)
        again = read_clip(tmp_path / "a.bvh", units="m", up="y")
        assert again.fps == pytest.approx(clip.fps, rel=1e-15)
        assert again.translations is not None
        assert same_positions(clip, again) < 1e-5


def test_names_survive(tmp_path):
    names = ["Hips", "左腿", "arm {1}", "foot }", "MOTION", "a{", "x  y\n"]
    skeleton = Skeleton.build(names, [-1, 0, 1, 2, 3, 4, 5], np.ones((7, 3)))
    clip = Clip(build_rig(skeleton), identity_quat(2, 7), np.zeros((2, 3)))
    notes = write_clip(clip, tmp_path / "a.bvh", rest="file")
    assert read_clip(tmp_path / "a.bvh").rig.names == (*names[:-1], "x y")
    assert any("names" in note for note in notes)


def test_tips_and_leaves_without_tips(tmp_path, walk):
    write_clip(walk, tmp_path / "a.bvh", rest="file")
    again = read_clip(tmp_path / "a.bvh", units="m").rig
    for name, tip in zip(again.names, again.skeleton.tips):
        original = walk.rig.skeleton.tips[walk.rig.names.index(name)]
        if walk.rig.skeleton.children(walk.rig.names.index(name)) == [] and walk.rig.name != "ue5":
            np.testing.assert_allclose(tip, original, atol=1e-8)


def test_a_clip_without_frames(tmp_path, walk):
    write_clip(walk[:0], tmp_path / "a.bvh")
    assert read_clip(tmp_path / "a.bvh").frame_count == 0


def test_curves_do_not_jump(tmp_path):
    clip = sample_clip(builtin_rig("humanoid"), "cartwheel", fps=120)
    write_clip(clip, tmp_path / "a.bvh", order="auto")
    text = (tmp_path / "a.bvh").read_text()
    rows = np.loadtxt(text[text.index("Frame Time") :].splitlines()[1:])
    assert np.abs(np.diff(rows[:, 3:], axis=0)).max() < 20.0
    assert same_positions(clip, read_clip(tmp_path / "a.bvh")) < 2e-6


@pytest.mark.parametrize(
    "options", [{"units": "yd"}, {"up": "q"}, {"rest": "bind"}, {"order": "ZZZ"}, {"decimals": 0}, {"decimals": 2.5}]
)
def test_options_that_are_none_leave_no_file(tmp_path, walk, options):
    with pytest.raises(OptionError):
        write_clip(walk, tmp_path / "a.bvh", **options)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(tmp_path, walk):
    path = tmp_path / "a.bvh"
    path.write_text("old")
    far = replace(walk, root=walk.root + 1e15)
    with pytest.raises(FileError, match="too large"):
        write_clip(far, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("fps", [120, 30, 24, 25, 29.97, 30000 / 1001, 59.94, 1000, 3, 0.1, 7777.7, 0.001])
def test_frame_times_read_back_exactly(fps):
    assert fps_from_frame_time(frame_time_text(fps)) == fps


def test_random_rates_read_back_to_the_last_digit():
    for fps in np.random.default_rng(SEED).uniform(0.5, 500, 500):
        assert fps_from_frame_time(frame_time_text(fps)) == pytest.approx(fps, rel=4e-16)
