"""The public surface is flat, lazy and whole."""

import inspect
import types

import numpy as np
import pytest

import mimik

PROMISED = {
    "Clip", "Direction", "Keypoints", "LookAt", "MimikError", "Orientation", "Pole", "Position", "Rig", "Skeleton",
    "Solution", "Solver", "load_clip", "load_keypoints", "load_rig", "pose", "solve",
}  # fmt: skip


@pytest.mark.parametrize("name", mimik.__all__)
def test_every_public_name_resolves_and_is_documented(name):
    value = getattr(mimik, name)
    if isinstance(value, type | types.FunctionType):
        assert inspect.getdoc(value), f"mimik.{name} has no docstring"


def test_promised_names_are_there():
    assert set(mimik.__all__) >= PROMISED
    assert set(dir(mimik)) >= PROMISED


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = mimik.nothing_like_it


def test_errors_have_one_root():
    from mimik import errors

    classes = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert len(classes) > 3
    assert all(issubclass(value, mimik.MimikError) for value in classes)


@pytest.mark.parametrize("name", ["humanoid", "smpl", "mixamo", "ue5", "vrm", "cmu"])
def test_built_in_rigs_hold_the_conventions(name):
    rig = mimik.load_rig(name)
    assert rig.parents[0] == -1
    assert all(parent < joint for joint, parent in enumerate(rig.parents))
    assert rig.offsets.shape == (rig.joint_count, 3)
    assert not rig.offsets.flags.writeable
    world = rig.tpose().to_world()
    left, right = world.positions[rig.roles["left_wrist"]], world.positions[rig.roles["right_wrist"]]
    head, toe = world.positions[rig.roles["head"]], world.positions[rig.roles["left_foot"]]
    assert left[0] > 0.4 > -0.4 > right[0], "left is +X"
    assert head[1] > 1.2, "up is Y, in metres"
    assert toe[2] > world.positions[rig.roles["left_ankle"]][2], "faces +Z"


def test_a_clip_is_what_the_design_says(tmp_path):
    from mimik.motion.sample import sample_clip

    made = sample_clip(mimik.load_rig("humanoid"), "walk", seconds=1.0, fps=30.0)
    for suffix in ("bvh", "glb", "npz"):
        made.save(tmp_path / f"walk.{suffix}")
        clip = mimik.load_clip(tmp_path / f"walk.{suffix}")
        frames, joints = len(clip.rotations), clip.rig.joint_count
        assert clip.rotations.shape == (frames, joints, 4)
        assert clip.root.shape == (frames, 3)
        assert clip.positions().shape == (frames, joints, 3)
        assert clip.fps == pytest.approx(30.0)
        shared = [clip.rig.names.index(joint) for joint in made.rig.names]
        assert np.allclose(clip.positions()[:, shared], made.positions(), atol=1e-4)
