"""Every pair of clip formats: load, save as the other, load, and the figure stands as it stood."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from mimik.errors import OptionError
from mimik.io import load_clip, save_clip
from mimik.motion.clip import Clip
from mimik.motion.sample import sample_clip
from mimik.rig.builtin import builtin_rig
from mimik.rig.roles import BODY_ROLES

FORMATS = (".bvh", ".npz", ".glb", ".gltf")
PRECISION_M = {".bvh": 3e-6, ".npz": 1e-12, ".glb": 5e-6, ".gltf": 5e-6}


def worst_joint(a: Clip, b: Clip) -> float:
    """Return the largest distance in metres between joints of the same name."""
    order = [b.rig.names.index(name) for name in a.rig.names]
    return float(np.abs(a.positions() - b.positions()[:, order]).max())


@pytest.fixture(scope="module", params=["cmu", "ue5"])
def files(request, tmp_path_factory) -> tuple[Clip, dict[str, Path]]:
    """The same motion in every format."""
    folder = tmp_path_factory.mktemp(request.param)
    clip = sample_clip(builtin_rig(request.param), "wave", seconds=0.3, fps=30)
    paths = {suffix: folder / f"first{suffix}" for suffix in FORMATS}
    for path in paths.values():
        save_clip(clip, path)
    return clip, paths


@pytest.mark.parametrize(("first", "second"), list(product(FORMATS, FORMATS)))
def test_each_pair_of_formats_keeps_the_pose(files, tmp_path, first, second):
    clip, paths = files
    path = tmp_path / f"second{second}"
    save_clip(load_clip(paths[first]), path)
    again = load_clip(path)
    assert again.frame_count == clip.frame_count
    assert again.fps == pytest.approx(clip.fps, rel=1e-6)
    assert worst_joint(clip, again) < PRECISION_M[first] + PRECISION_M[second]
    body = {role: joint for role, joint in clip.rig.roles.items() if role in BODY_ROLES}
    assert {again.rig.names[again.rig.roles[role]] for role in body} == {clip.rig.names[j] for j in body.values()}


def test_amass_is_chosen_by_name_and_recognised_by_content(tmp_path):
    clip = sample_clip(builtin_rig("humanoid"), "wave", seconds=0.3, fps=30)
    save_clip(clip, tmp_path / "a.npz", format="amass")
    for options in ({}, {"format": "amass"}):
        again = load_clip(tmp_path / "a.npz", **options)
        assert again.rig.joint_count == 52
        assert worst_joint(clip, again) < 1e-9
    with pytest.raises(OptionError, match="amass"):
        load_clip(tmp_path / "a.npz", format="amas")


@pytest.mark.parametrize("suffix", FORMATS)
def test_an_option_that_the_format_lacks_is_our_error(tmp_path, suffix):
    clip = sample_clip(builtin_rig("humanoid"), "wave", seconds=0.1, fps=30)
    with pytest.raises(OptionError, match="colour"):
        save_clip(clip, tmp_path / f"a{suffix}", colour="red")
    assert list(tmp_path.iterdir()) == []
