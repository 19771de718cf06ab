"""Reading BVH: every dialect ends in the same figure, and what is broken is said with its line."""

from pathlib import Path

import numpy as np
import pytest

from mimik.errors import FileError, OptionError
from mimik.io.bvh import read_clip, read_rig
from mimik.rotation import euler_to_quat, geodesic
from tests.io.bvh_texts import HEAD_Y, body, frames, standing

PLAIN = body() + frames([standing(frame=t) for t in range(4)])


@pytest.fixture
def write(tmp_path):
    def write(text: str | bytes, name: str = "take.bvh") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def heights(clip) -> tuple[float, float]:
    y = clip.positions()[..., 1]
    return float(y.min()), float(y.max())


def assert_stands(clip, *, atol: float = 1e-5) -> None:
    """The figure of `bvh_texts.body` stands upright at true size on the floor."""
    low, high = heights(clip)
    assert low == pytest.approx(0.08, abs=atol)
    assert high == pytest.approx(HEAD_Y - 0.03 + 0.6, abs=atol)
    p = clip.positions()
    names = clip.rig.names
    assert p[0, names.index("LeftHand"), 0] > 0.5
    assert clip.rig.roles["left_wrist"] == names.index("LeftHand")


def test_plain_file(write):
    clip = read_clip(write(PLAIN))
    assert clip.frame_count == 4
    assert clip.fps == 30.0
    assert clip.translations is None
    assert clip.name == "take"
    assert_stands(clip)
    assert clip.rig.rest_kind == "T"
    np.testing.assert_allclose(clip.root[:, 0], [0.0, 0.01, 0.02, 0.03], atol=1e-12)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("\n", "\r\n"),
        lambda t: t.replace("\n", "\r"),
        lambda t: t.replace(" ", "\t"),
        lambda t: t.replace("\t", "    "),
        lambda t: t.replace("\n", " \n\n"),
        lambda t: "\ufeff" + t,
        lambda t: t.replace("Zrotation", "ZROTATION").replace("End Site", "END  SITE").replace("OFFSET", "offset"),
        lambda t: t.replace("Frames: 4\nFrame Time: 0.0333333", "Frame Time:.0333333\nFrames : 4"),
        lambda t: t.rstrip("\n"),
        lambda t: t + "\n\n  \n",
        lambda t: t.replace("0 0 0 0", "0 0\n0 0"),
        lambda t: t.replace("0.97", "9.7E-01").replace("0.01", "+1.0e-2"),
        lambda t: t.replace("Frames: 4", "Frames: 400"),
        lambda t: t.replace("Frames: 4", "Frames: many"),
        lambda t: t.replace("CHANNELS 3 ", "CHANNELS 3\n"),
        lambda t: t[: t.index("MOTION")].rstrip("}\n") + "\n" + t[t.index("MOTION") :],
        lambda t: t.replace("End Site", "End Site Left Toe"),
        lambda t: t.encode("utf-16"),
    ],
)
def test_spellings_do_not_matter(write, change):
    clip = read_clip(write(change(PLAIN)))
    assert clip.frame_count == 4
    assert clip.fps == 30.0
    assert_stands(clip)


@pytest.mark.parametrize(
    "joint",
    [
        "{word} {name} {{",
        "{word} {name}{{",
        "{word} {name}\n\n{tab}  {{ ",
        "{word}   {name}  \n{tab}{{",
        "{word} {name} {{ ",
    ],
)
def test_brace_may_stand_on_the_line_of_the_joint(write, joint):
    clip = read_clip(write(body(joint=joint) + frames([standing()] * 2)))
    assert "LeftArm" in clip.rig.names
    assert_stands(clip)


def test_statements_may_share_a_line(write):
    text = "HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 3 Zrotation Xrotation Yrotation JOINT b c\n{OFFSET 0 1 0 "
    text += "CHANNELS 1 Xrotation End Site { OFFSET 0 1 0 } } } MOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0 90\n"
    clip = read_clip(write(text), units="m", up="y")
    assert clip.rig.names == ("a", "b c")
    np.testing.assert_allclose(geodesic(clip.rotations[0, 1], euler_to_quat([90.0], "X", degrees=True)), 0, atol=1e-12)


NAMES = [
    "Bip01 Pelvis", "左腿", "Kn\u00e4e links", "foot.{L}", "mixamorig:RightUpLeg", "MOTION", "JOINT", "OFFSET 1",
    "}{", "a{1}", "Рука", "{", "x y  z", "0 0 0", "#", "end site",
]  # fmt: skip


def test_any_name_is_read_as_it_stands(write):
    clip = read_clip(write(body(names=NAMES) + frames([standing()])), up="y")
    assert clip.rig.names == tuple(NAMES)
    assert heights(clip)[1] == pytest.approx(HEAD_Y + 0.57)


def test_names_twice_are_numbered(write):
    names = ["a", "b", "b", "b_2", "b"]
    clip = read_clip(write(body(names=names) + frames([standing()])))
    assert clip.rig.names[:5] == ("a", "b", "b_3", "b_2", "b_4")
    assert any("twice" in note for note in clip.notes)


@pytest.mark.parametrize(("encoding", "name"), [("cp932", "ひだり足"), ("cp1252", "Gesäß")])
def test_old_encodings_are_told_apart(write, encoding, name):
    data = (body(names=[name]) + frames([standing()])).encode(encoding)
    clip = read_clip(write(data))
    assert clip.rig.names[0] == name
    assert any("UTF-8" in note for note in clip.notes)
    assert read_clip(write(data), encoding=encoding).rig.names[0] == name
    with pytest.raises(FileError, match="encoding"):
        read_clip(write(data), encoding="no-such")


@pytest.mark.parametrize(
    ("unit", "scale"), [("m", 1.0), ("cm", 100.0), ("mm", 1000.0), ("in", 39.37), ("cmu", 17.7165)]
)
@pytest.mark.parametrize("z_up", [False, True])
def test_units_and_axes_are_recognised_and_can_be_told(write, unit, scale, z_up):
    rows = [standing(scale, frame=t, z_up=z_up) for t in range(3)]
    path = write(body(scale=scale, z_up=z_up) + frames(rows))
    for options in ({}, {"units": unit}, {"units": 1 / scale}, {"up": "z" if z_up else "y", "units": unit}):
        clip = read_clip(path, **options)
        assert_stands(clip, atol=1e-4)
        np.testing.assert_allclose(clip.rig.q_world_tpose[0], [0, 0, 0, 1], atol=1e-6)
        assert any("Z up" in note for note in clip.notes) == (z_up and "up" not in options)


def test_options_that_are_none(write):
    path = write(PLAIN)
    for options in ({"units": "miles"}, {"units": 0.0}, {"up": "w"}, {"nan": "ignore"}, {"figure": 3}, {"figure": "x"}):
        with pytest.raises(OptionError):
            read_clip(path, **options)


def test_upright_rest_with_motion_along_z_keeps_the_joints_axes(write):
    walk = [f"0 {-0.1 * t} {HEAD_Y - 0.03} 0 90 0" + " 0" * 45 for t in range(9)]  # X turns Y up to Z up
    path = write(body() + frames(walk))
    assert any("up= settles it" in note for note in read_clip(path).notes)
    for up in ("auto", "z"):
        clip = read_clip(path, up=up)
        assert_stands(clip)
        np.testing.assert_allclose(clip.rig.offsets[3], [0.0, -0.42, 0.0])
    np.testing.assert_allclose(geodesic(clip.rotations[:, 0], [0, 0, 0, 1]), 0.0, atol=1e-9)


def test_lying_down_is_not_another_up_axis(write):
    rows = [f"0 {0.1 + 0.001 * t} 0 0 -90 0" + " 0" * 45 for t in range(9)]
    clip = read_clip(write(body() + frames(rows)))
    assert heights(clip)[1] < 0.3


def test_every_order_and_count_of_channels(write):
    text = "HIERARCHY\nROOT a\n{\nOFFSET 1 2 3\nCHANNELS 4 Yrotation Zposition Xrotation Yposition\n"
    text += "JOINT b\n{\nOFFSET 0 1 0\nCHANNELS 2 Xrotation Zrotation\nJOINT c\n{\nOFFSET 0 1 0\nCHANNELS 0\n"
    text += "JOINT d\n{\nOFFSET 0 1 0\nCHANNELS 5 Xposition Zrotation Yrotation Xrotation Yscale\n}\n}\n}\n}\n"
    text += frames(["10 7 20 5 30 40 0.5 50 60 70 1", "11 7 21 5 31 41 0.9 51 61 71 1"], time="0.04")
    clip = read_clip(write(text), units="m", up="y")
    assert clip.fps == 25.0
    expected = [([10, 20], "YX"), ([30, 40], "XZ"), ([0], "X"), ([50, 60, 70], "ZYX")]
    for joint, (angles, order) in enumerate(expected):
        q = euler_to_quat(np.array(angles, dtype=float), order, degrees=True)
        np.testing.assert_allclose(geodesic(clip.rotations[0, joint], q), 0.0, atol=1e-12)
    np.testing.assert_allclose(clip.root, [[1, 5, 7], [1, 5, 7]])
    np.testing.assert_allclose(clip.translations[:, 3], [[0.5, 1, 0], [0.9, 1, 0]])
    np.testing.assert_allclose(clip.translations[:, 0], clip.root)


def test_still_position_channels_become_offsets(write):
    six = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
    text = body().replace("CHANNELS 3 Zrotation Xrotation Yrotation", six)
    row = "0 0.97 0 0 0 0" + " 0.25 0 0 0 0 0" * 15
    clip = read_clip(write(text + frames([row, row])), units="m", up="y")
    assert clip.translations is None
    np.testing.assert_allclose(clip.rig.offsets[1:], np.tile([0.25, 0, 0], (15, 1)))


@pytest.mark.parametrize("spelling", ["nan", "-NaN", "1.#QNAN", "-1.#IND", "nan(ind)", "inf", "1e999"])
def test_nan_is_filled_from_neighbours_or_refused(write, spelling):
    rows = [f"0 0.97 0 {angle} 0 0" + " 0" * 45 for angle in ("10", spelling, spelling, "40")]
    path = write(body() + frames(rows))
    clip = read_clip(path)
    for t, angle in enumerate((10.0, 20.0, 30.0, 40.0)):
        q = euler_to_quat(np.array([angle]), "Z", degrees=True)
        np.testing.assert_allclose(geodesic(clip.rotations[t, 0], q), 0.0, atol=1e-9)
    assert any("nan" in note for note in clip.notes)
    with pytest.raises(FileError, match="line 1") as caught:
        read_clip(path, nan="error")
    assert caught.value.frame == 1


def test_a_joint_that_is_nan_throughout_stays_at_rest(write):
    clip = read_clip(write(body() + frames(["nan nan nan nan 0 0" + " 0" * 45] * 2)), up="y", units="m")
    np.testing.assert_allclose(clip.rotations[:, 0], [[0, 0, 0, 1]] * 2)
    np.testing.assert_allclose(clip.root, 0.0)


def test_numbers_run_together_are_parted(write):
    rows = ["0 0.97-0.5 0 0 0" + " 0" * 45, "0 0.97-0.5-1-2 0" + " 0" * 45]
    clip = read_clip(write(body() + frames(rows)), units="m")
    np.testing.assert_allclose(clip.root[:, 2], -0.5)
    assert any("run together" in note for note in clip.notes)


def test_a_last_frame_that_breaks_off_is_left_out(write):
    clip = read_clip(write(PLAIN.rstrip()[:-20]))
    assert clip.frame_count == 3
    assert any("breaks off" in note for note in clip.notes)


def test_zero_frames_and_no_motion(write):
    clip = read_clip(write(body() + frames([])))
    assert clip.frame_count == 0
    assert clip.positions().shape == (0, 16, 3)
    path = write(body())
    assert read_rig(path).joint_count == 16
    with pytest.raises(FileError, match="MOTION"):
        read_clip(path)


def test_missing_end_sites_give_no_tips(write):
    lines = PLAIN.split("\n")
    for i in [i for i, line in enumerate(lines) if "End Site" in line][::-1]:
        del lines[i : i + 4]
    clip = read_clip(write("\n".join(lines)))
    assert np.isnan(clip.rig.skeleton.tips).all()
    assert_stands(clip)


def test_several_figures(write):
    second = body(names=["Other"])[len("HIERARCHY\n") :]
    rows = [f"{standing()} {standing(frame=7)}"] * 2
    path = write(body() + second + frames(rows))
    first = read_clip(path)
    assert first.rig.names[0] == "Hips"
    assert any("2 figures" in note for note in first.notes)
    for figure in (1, "Other"):
        other = read_clip(path, figure=figure)
        assert other.rig.names[0] == "Other"
        np.testing.assert_allclose(other.root[:, 0], 0.07)


@pytest.mark.parametrize(
    ("text", "fps"),
    [("0.0083333", 120), (".033", 30), ("0.0166", 60), ("0.04", 25), ("8.3333e-3", 120), ("0.0333667", 30000 / 1001)],
)
def test_frame_times_mean_whole_rates(write, text, fps):
    assert read_clip(write(body() + frames([standing()], time=text))).fps == pytest.approx(fps, rel=1e-15)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "soon", ""])
def test_a_frame_time_that_is_none(write, text):
    path = write(body() + frames([standing()], time=text))
    clip = read_clip(path)
    assert clip.fps == 30.0
    assert any("fps=" in note for note in clip.notes)
    assert read_clip(path, fps=50).fps == 50.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: "", "empty"),
        (lambda t: "solid cube\n", "no BVH statement"),
        (lambda t: "HIERARCHY\n", "no ROOT"),
        (lambda t: t.replace("OFFSET 0.1", "OFFSET left"), "line 8: OFFSET needs numbers, not 'left'"),
        (lambda t: t.replace("OFFSET 0.1", "OFFSET nan"), "line 8"),
        (lambda t: t.replace("Zrotation", "Wrotation"), "line 5.*Wrotation"),
        (lambda t: t.replace("\tJOINT LeftUpLeg\n\t{", "\tJOINT LeftUpLeg\n"), "'{' expected"),
        (lambda t: t.replace("ROOT", "JOINT"), "outside"),
        (lambda t: t.replace("JOINT Spine", "ROOT Spine"), "ROOT inside"),
        (lambda t: t.replace("0.97 0 0", "0.97 0 x"), "line 105, frame 0: 'x' is not a number"),
        (lambda t: t.replace("0.97", "0,97"), "decimal comma"),
        (lambda t: t.replace("0.01 0.97 0 0", "0.01 0.97 0"), "line 106, frame 1: .*fewer than the 51"),
        (lambda t: t.replace("0.01 0.97", "0.01 0.97 3"), "line 106, frame 1: .*more than the 51"),
        (lambda t: t.replace("0.97", "1e300"), "exceeds"),
    ],
)
def test_broken_files_say_where(write, change, message):
    path = write(change(PLAIN))
    with pytest.raises(FileError, match=message):
        read_clip(path)


def test_a_missing_file_is_one_error(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        read_clip(tmp_path / "none.bvh")


def test_frames_of_joints_without_channels_are_bounded(write):
    text = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n"
    text += "".join(f"JOINT j{i}\n{{\nOFFSET 0 1 0\n" for i in range(2000)) + "}\n" * 2001
    with pytest.raises(FileError, match="far more"):
        read_clip(write(text + frames(["0"] * 4000)))
