"""AMASS npz: axis-angle poses of the SMPL family in and out, either up axis, either spelling of the rate."""

import numpy as np
import pytest

from mimik.errors import FileError, OptionError
from mimik.io._amass_body import JOINT_NAMES
from mimik.io.amass import read_clip, read_rig, sniff, write_clip
from mimik.motion.sample import sample_clip
from mimik.rig.builtin import builtin_rig
from mimik.rotation import geodesic
from tests.builders import SEED

RIGHT_ANGLE = np.pi / 2


def amass_arrays(frames: int = 5, width: int = 156, *, z_up: bool = True, seed: int = SEED) -> dict[str, np.ndarray]:
    """Return a small AMASS file: upright, facing the front, limbs in random poses, walking along the file's x axis."""
    rng = np.random.default_rng(seed)
    poses = rng.normal(size=(frames, width)) * 0.1
    poses[:, :3] = [RIGHT_ANGLE, 0.0, 0.0] if z_up else 0.0
    trans = np.zeros((frames, 3))
    trans[:, 0] = np.arange(frames) * 0.1
    trans[:, 2 if z_up else 1] = 0.9 if z_up else 1.15
    betas, rate = rng.normal(size=16), np.array(120.0)
    return {"poses": poses, "trans": trans, "betas": betas, "gender": np.array("female"), "mocap_framerate": rate}


def save(path, arrays) -> None:
    np.savez(path, **arrays)


@pytest.mark.parametrize(("width", "joints"), [(72, 24), (156, 52), (165, 55), (66, 52)])
@pytest.mark.parametrize("z_up", [True, False])
def test_bodies_stand_upright_facing_the_front(tmp_path, width, joints, z_up):
    path = tmp_path / "a.npz"
    arrays = amass_arrays(width=width, z_up=z_up)
    save(path, arrays)
    assert sniff(path)
    clip = read_clip(path)
    assert (clip.rig.joint_count, clip.fps, clip.frame_count) == (joints, 120.0, 5)
    p = clip.positions()
    roles = clip.rig.roles
    assert (p[:, roles["head"], 1] - p[:, roles["left_ankle"], 1]).min() > 1.2
    assert (p[:, roles["left_shoulder"], 0] - p[:, roles["right_shoulder"], 0]).min() > 0.2
    assert -0.3 < p[..., 1].min() < 0.3
    np.testing.assert_allclose(np.diff(clip.root[:, 0]), 0.1, atol=1e-12)
    assert any("model=" in note for note in clip.notes)


@pytest.mark.parametrize("key", ["mocap_framerate", "mocap_frame_rate", "fps"])
def test_both_spellings_of_the_rate(tmp_path, key):
    arrays = amass_arrays()
    arrays[key] = arrays.pop("mocap_framerate")
    save(tmp_path / "a.npz", arrays)
    assert read_clip(tmp_path / "a.npz").fps == 120.0
    assert read_clip(tmp_path / "a.npz", fps=60).fps == 60.0


def test_a_missing_rate_is_said(tmp_path):
    arrays = amass_arrays()
    del arrays["mocap_framerate"]
    save(tmp_path / "a.npz", arrays)
    clip = read_clip(tmp_path / "a.npz")
    assert clip.fps == 30.0
    assert any("fps=" in note for note in clip.notes)


def test_split_poses_are_joined(tmp_path):
    arrays = amass_arrays(width=165)
    whole = tmp_path / "a.npz"
    save(whole, arrays)
    poses = arrays.pop("poses")
    names, cuts = ("root_orient", "pose_body", "pose_jaw", "pose_eye", "pose_hand"), (3, 66, 69, 75)
    save(tmp_path / "b.npz", {**arrays, **dict(zip(names, np.split(poses, cuts, axis=1)))})
    a, b = read_clip(whole), read_clip(tmp_path / "b.npz")
    np.testing.assert_array_equal(a.rotations, b.rotations)
    body = {"global_orient": poses[:, :3], "body_pose": poses[:, 3:66].reshape(-1, 21, 3), "transl": arrays["trans"]}
    save(tmp_path / "c.npz", body)
    c = read_clip(tmp_path / "c.npz")
    np.testing.assert_array_equal(c.rotations[:, :22], a.rotations[:, :22])


@pytest.mark.parametrize("kind", ["smpl", "smplh", "smplx"])
@pytest.mark.parametrize("up", ["z", "y"])
def test_what_is_written_reads_back(tmp_path, kind, up):
    save(tmp_path / "a.npz", amass_arrays(width=3 * len(JOINT_NAMES[kind])))
    clip = read_clip(tmp_path / "a.npz")
    write_clip(clip, tmp_path / "b.npz", kind=kind, up=up)
    again = read_clip(tmp_path / "b.npz")
    assert again.fps == clip.fps
    np.testing.assert_allclose(geodesic(again.rotations, clip.rotations), 0.0, atol=1e-9)
    np.testing.assert_allclose(again.root, clip.root, atol=1e-12)
    if up == "z":
        with np.load(tmp_path / "a.npz") as a, np.load(tmp_path / "b.npz") as b:
            np.testing.assert_allclose(a["poses"], b["poses"], atol=1e-9)
            np.testing.assert_allclose(a["trans"], b["trans"], atol=1e-9)


@pytest.mark.parametrize("rig", ["ue5", "mixamo", "cmu", "humanoid", "smpl"])
def test_any_rig_is_written_in_the_same_pose(tmp_path, rig):
    clip = sample_clip(builtin_rig(rig), "walk", seconds=0.5, fps=30)
    notes = write_clip(clip, tmp_path / "a.npz", kind="smplx")
    again = read_clip(tmp_path / "a.npz")
    assert notes
    world, other = clip.world(), again.world()
    for role in ("left_elbow", "right_knee", "head", "left_index2"):
        if role in clip.rig.roles:
            j, k = clip.rig.roles[role], again.rig.roles[role]
            D = geodesic(
                _from_tpose(world.rotations[:, j], clip.rig.q_world_tpose[j]),
                _from_tpose(other.rotations[:, k], again.rig.q_world_tpose[k]),
            )
            np.testing.assert_allclose(D, 0.0, atol=1e-6)
    pelvis = clip.rig.roles["pelvis"]
    np.testing.assert_allclose(world.positions[:, pelvis], again.root, atol=1e-9)


def _from_tpose(q_world, q_tpose):
    from mimik.rotation import quat_inv, quat_mul

    return quat_mul(q_world, quat_inv(q_tpose))


def test_the_users_model_gives_true_joints(tmp_path):
    rng = np.random.default_rng(SEED)
    standin = read_rig_of(tmp_path).skeleton
    places = np.zeros((52, 3))
    for j in range(1, 52):
        places[j] = places[standin.parents[j]] + standin.offsets[j]
    shape = rng.normal(size=(52, 3, 16)) * 0.01
    model = {
        "v_template": places,
        "shapedirs": shape,
        "J_regressor": np.eye(52),
        "kintree_table": np.stack([np.where(standin.parents < 0, 2**32 - 1, standin.parents), np.arange(52)]),
    }
    save(tmp_path / "model.npz", model)
    arrays = amass_arrays()
    save(tmp_path / "a.npz", arrays)
    clip = read_clip(tmp_path / "a.npz", model=tmp_path / "model.npz")
    expected = places + shape @ arrays["betas"]
    np.testing.assert_allclose(clip.rig.offsets[5], expected[5] - expected[2], atol=1e-12)
    del model["shapedirs"]
    save(tmp_path / "model.npz", model)
    with pytest.raises(FileError, match="shapedirs missing"):
        read_clip(tmp_path / "a.npz", model=tmp_path / "model.npz")


def read_rig_of(folder):
    save(folder / "rig.npz", amass_arrays())
    return read_rig(folder / "rig.npz")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"poses": None}, "has no poses .* there is trans, betas, gender"),
        ({"trans": None}, "has no trans"),
        ({"poses": np.zeros((5, 100))}, r"\(5, 100\)"),
        ({"poses": np.full((5, 156), np.nan)}, "frame 0"),
        ({"poses": np.array(["x"] * 5)}, "not numbers"),
        ({"poses": np.float64(3.0)}, "shape"),
        ({"trans": np.zeros((4, 3))}, "5 frames of poses"),
        ({"trans": np.full((5, 3), np.inf)}, "frame 0"),
    ],
)
def test_broken_files_are_one_clear_error(tmp_path, change, message):
    arrays = {**amass_arrays(), **change}
    save(tmp_path / "a.npz", {key: value for key, value in arrays.items() if value is not None})
    with pytest.raises(FileError, match=message):
        read_clip(tmp_path / "a.npz")


def test_no_frames(tmp_path):
    save(tmp_path / "a.npz", amass_arrays(frames=0))
    clip = read_clip(tmp_path / "a.npz")
    assert clip.rotations.shape == (0, 52, 4)
    write_clip(clip, tmp_path / "b.npz")
    assert read_clip(tmp_path / "b.npz").frame_count == 0


def test_where_knees_and_elbows_bend_is_read_off_the_motion(tmp_path):
    """Bodies fitted to surfaces turn their knees about all axes; solvers ask the rig whether this one does."""
    rng, frames = np.random.default_rng(SEED), 200
    poses = np.zeros((frames, 52, 3))
    poses[:, [4, 5], 0] = rng.uniform(0.6, 1.6, (frames, 2))
    poses[:, [18, 19], 1] = rng.uniform(0.6, 1.6, (frames, 2)) * [-1.0, 1.0]
    for name, wander in (("hinge", 0.0), ("loose", 0.3)):
        poses[:, [4, 5], 1:] = wander * rng.normal(size=(frames, 2, 2))
        np.savez(
            tmp_path / f"{name}.npz", poses=poses.reshape(frames, -1), trans=np.zeros((frames, 3)), mocap_framerate=60
        )
        rig = read_clip(tmp_path / f"{name}.npz", up="y").rig
        assert rig.loose_hinges == (frozenset() if name == "hinge" else {"left_knee", "right_knee"})
        assert abs(rig.hinge_turns["left_shoulder"]) > 0.3  # elbows about the vertical, not the usual way


def test_options_that_are_none(tmp_path):
    clip = sample_clip(builtin_rig("smpl"), "walk", seconds=0.2)
    with pytest.raises(OptionError, match="smplh"):
        write_clip(clip, tmp_path / "a.npz", kind="mhr")
    with pytest.raises(OptionError, match="up axis"):
        write_clip(clip, tmp_path / "a.npz", up="w")
    assert list(tmp_path.iterdir()) == []
