"""`mimik solve` from the command line."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from mimik.cli.main import app
from mimik.errors import MimikError
from mimik.goals.keypoints import Keypoints
from mimik.io import load_clip, save_keypoints
from mimik.motion.sample import sample_clip
from mimik.rig.builtin import builtin_rig


@pytest.fixture(scope="module")
def take(tmp_path_factory):
    clip = sample_clip(builtin_rig("humanoid"), "wave", seconds=1.0, fps=30.0)
    path = tmp_path_factory.mktemp("takes") / "wave.trc"
    save_keypoints(Keypoints(clip.rig.names, clip.positions(), clip.fps), path)
    return path


def run(*words):
    return CliRunner().invoke(app, ["solve", *map(str, words)])


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".npz"])
def test_writes_what_the_suffix_says_and_reports(take, tmp_path, suffix):
    done = run(take, "-o", tmp_path / f"out{suffix}")
    assert done.exit_code == 0, done.output
    assert "fit" in done.output and "ms/frame" in done.output
    assert load_clip(tmp_path / f"out{suffix}").frame_count == 30


def test_json_is_pure_and_complete(take, tmp_path):
    done = run(take, "-o", tmp_path / "out.bvh", "--rig", "mixamo", "--json")
    told = json.loads(done.stdout)
    assert told["frames"] == 30 and told["wrote"].endswith("out.bvh") and told["fit_mm_mean"] < 5.0


def test_many_takes_go_to_a_folder(take, tmp_path):
    other = tmp_path / "second.trc"
    other.write_bytes(take.read_bytes())
    done = run(take, other, "-o", tmp_path / "out", "--format", "glb", "--json")
    assert done.exit_code == 0
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"wave.glb", "second.glb"}
    assert len(json.loads(done.stdout)) == 2


def test_many_takes_into_one_file_are_refused(take, tmp_path):
    done = run(take, take, "-o", tmp_path / "one.bvh")
    assert done.exit_code != 0 and isinstance(done.exception, MimikError)
    assert not (tmp_path / "one.bvh").exists()


def test_raw_follows_the_points(take, tmp_path):
    assert run(take, "-o", tmp_path / "raw.npz", "--raw", "--noise", "0").exit_code == 0
    clip = load_clip(tmp_path / "raw.npz")
    assert np.isfinite(clip.rotations).all()


def test_a_file_without_keypoints_is_one_error(tmp_path):
    bad = tmp_path / "bad.trc"
    bad.write_text("nothing here")
    done = run(bad, "-o", tmp_path / "x.bvh")
    assert isinstance(done.exception, MimikError) and "bad.trc" in str(done.exception)
    assert not (tmp_path / "x.bvh").exists()
