"""The command line as a user meets it: through the entry point, on real files."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import mimik
from mimik import __main__ as entry
from mimik.cli import main as cli
from mimik.cli.output import print_json, progress
from mimik.goals.keypoints import Keypoints
from mimik.io import load_clip, save_keypoints
from mimik.motion.sample import sample_clip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    rig = mimik.load_rig("humanoid")
    clip = sample_clip(rig, "walk", seconds=0.5)
    clip.save(folder / "walk.bvh")
    clip.save(folder / "walk.glb")
    sample_clip(mimik.load_rig("mixamo"), "wave", seconds=0.5).save(folder / "hands.npz")
    save_keypoints(Keypoints(rig.names, clip.positions(), 60.0, layout="smpl22"), folder / "points.csv")
    (folder / "broken.bvh").write_text("HIERARCHY\nROOT Hips\n{\nOFFSET one two three\n")
    return folder


def run(capsys, *arguments):
    """Run the command in this process; return its exit code, what it printed and what it complained."""
    before = sys.argv
    sys.argv = ["mimik", *map(str, arguments)]
    try:
        with pytest.raises(SystemExit) as end:
            cli.main()
    finally:
        sys.argv = before
    captured = capsys.readouterr()
    return end.value.code or 0, captured.out, captured.err


def test_help_lists_the_commands_that_exist(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    for name in ("demo", "info", "convert"):
        assert name in out
    missing = [n for n in cli.COMMANDS if not (os.path.exists(os.path.join(os.path.dirname(cli.__file__), f"{n}.py")))]
    assert not any(f"│ {name} " in out for name in missing)


@pytest.mark.parametrize("name", ["demo", "info", "convert"])
def test_every_command_has_help(capsys, name):
    code, out, _ = run(capsys, name, "--help")
    assert code == 0 and "Usage" in out


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"mimik {mimik.__version__}\n", "")


def test_help_is_quick_and_loads_nothing_heavy():
    code = "import sys; sys.argv=['mimik', '--help']\nfrom mimik.cli.main import main\n"
    code += "try: main()\nexcept SystemExit: pass\n"
    code += "assert not {'scipy', 'numba', 'torch', 'viser', 'PIL'} & set(sys.modules), sorted(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_info_says_what_is_in_a_file(capsys, files):
    code, out, _ = run(capsys, "info", files / "walk.bvh", files / "points.csv")
    assert code == 0
    for word in ("motion", "22 of 22", "30 at 60 fps", "rest pose", "keypoints", "metres, Y up"):
        assert word in out


@pytest.mark.parametrize("name", ["walk.bvh", "walk.glb", "hands.npz", "points.csv"])
def test_info_json_is_pure_json(capsys, files, name):
    code, out, _ = run(capsys, "info", files / name, "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["frames"] == 30 and facts["fps"] == pytest.approx(60.0)
    assert facts["kind"] == ("keypoints" if name == "points.csv" else "motion")
    if facts["kind"] == "motion":
        assert facts["body_roles"] == 22 and facts["missing_roles"] == []
        assert facts["roles"]["left_elbow"]


def test_info_of_several_files_is_a_list(capsys, files):
    _, out, _ = run(capsys, "info", files / "walk.bvh", files / "walk.glb", "--json")
    assert [f["kind"] for f in json.loads(out)] == ["motion", "motion"]


def test_convert_to_another_format_rig_and_rate(capsys, files, tmp_path):
    target = tmp_path / "out.glb"
    code, out, _ = run(capsys, "convert", files / "walk.bvh", target, "--rig", "ue5", "--fps", "30")
    assert code == 0
    assert "left_elbow" in out and "wrote" in out
    clip = load_clip(target)
    assert clip.fps == pytest.approx(30.0) and clip.frame_count == 15
    assert "upperarm_l" in clip.rig.names
    assert [p.name for p in tmp_path.iterdir()] == ["out.glb"]


def test_convert_json_holds_the_mapping(capsys, files, tmp_path):
    _, out, _ = run(capsys, "convert", files / "hands.npz", tmp_path / "a.bvh", "--rig", "vrm", "--json")
    report = json.loads(out)
    rows = {row["role"]: row for row in report["retarget"]["rows"] if row["role"]}
    assert rows["left_index1"]["how"] == "carried"
    assert len(report["retarget"]["slide_cm_s"]) == 3


def test_convert_units_programs_and_cuts(capsys, files, tmp_path):
    run(capsys, "convert", files / "walk.bvh", tmp_path / "m.bvh")
    run(capsys, "convert", files / "walk.bvh", tmp_path / "cm.bvh", "--units", "cm")
    run(capsys, "convert", files / "walk.bvh", tmp_path / "maya.bvh", "--for", "maya", "--start", "0.1", "--end", "0.3")
    chosen = (("m", "m"), ("cm", "cm"), ("maya", "cm"))
    metres, centimetres, maya = (load_clip(tmp_path / f"{name}.bvh", units=units) for name, units in chosen)
    assert np.abs(metres.positions() - centimetres.positions()).max() < 1e-4
    assert maya.frame_count == 12
    _, out, _ = run(capsys, "convert", files / "walk.bvh", tmp_path / "b.bvh", "--for", "blender", "--smooth", "8")
    assert "Import" in out


def test_keypoints_go_to_keypoints_only(capsys, files, tmp_path):
    assert run(capsys, "convert", files / "points.csv", tmp_path / "p.trc", "--fps", "30")[0] == 0
    code, out, err = run(capsys, "convert", files / "points.csv", tmp_path / "p.bvh")
    assert code == 1 and "mimik solve" in err and out == ""
    assert not (tmp_path / "p.bvh").exists()


def test_mapping_files_go_either_way(capsys, files, tmp_path):
    joint = load_clip(files / "walk.bvh").rig.names[0]
    for pairs in ({"pelvis": joint}, {joint: "pelvis"}):
        path = tmp_path / "map.json"
        path.write_text(json.dumps(pairs))
        code, out, _ = run(capsys, "info", files / "walk.bvh", "--roles", path, "--json")
        assert code == 0 and json.loads(out)["roles"]["pelvis"] == joint


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["info", "nothing.bvh"], "no such file"),
        (["info", "{files}/broken.bvh"], "broken.bvh"),
        (["info", "{files}"], ""),
        (["inof", "x"], "did you mean 'info'"),
        (["convert", "{files}/walk.bvh", "{files}/out.xyz"], "suffix"),
        (["convert", "{files}/walk.bvh", "{files}/out.glb", "--rig", "mixmao"], "did you mean 'mixamo'"),
        (["convert", "{files}/walk.bvh", "{files}/out.glb", "--for", "blendre"], "did you mean 'blender'"),
        (["convert", "{files}/walk.bvh", "{files}/out.glb", "--units", "cm"], "'units'"),
        (["convert", "{files}/walk.bvh", "{files}/out.glb", "--start", "9"], "lasts"),
        (["convert", "{files}/walk.bvh", "{files}/none/out.glb"], "none"),
        (["info", "{files}/walk.glb", "--up", "z"], "'up'"),
    ],
)
def test_an_error_is_one_clear_line(capsys, files, arguments, says):
    code, out, err = run(capsys, *(a.format(files=files) for a in arguments))
    assert code == 1
    assert out == ""
    assert err.startswith("error") and says in err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert not (files / "out.glb").exists()


def test_markup_in_names_is_no_markup(capsys, tmp_path):
    code, _, err = run(capsys, "info", tmp_path / "[bold]x[/].bvh")
    assert code == 1 and "[bold]x[/].bvh" in err


def test_demo_solves_a_take_and_draws_it(capsys, tmp_path):
    code, out, _ = run(capsys, "demo", "-o", tmp_path / "demo", "--seconds", "0.3")
    assert code == 0
    names = {p.name for p in (tmp_path / "demo").iterdir()}
    assert {"take.trc", "take.bvh", "mixamo.glb", "vrm.vrma", "strip.png", "rigs.gif"} == names
    assert all(str(tmp_path / "demo" / name) in out for name in names)


def test_interrupting_ends_with_130(capsys, monkeypatch, files):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("mimik.cli.files.open_any", interrupted)
    code, _, err = run(capsys, "info", files / "walk.bvh")
    assert code == 130
    assert "stopped" in err and "Traceback" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_interrupting_compiled_code_ends_the_same_way(capsys, monkeypatch):
    def meets_it():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error

    monkeypatch.setattr(cli, "main", meets_it)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(SystemExit) as end:
            entry.main()
    finally:
        signal.signal(signal.SIGINT, before)
    assert end.value.code == 130 and "stopped" in capsys.readouterr().err


def test_an_error_nobody_asked_for_is_no_interruption(monkeypatch):
    def breaks():
        raise SystemError("a bug")

    monkeypatch.setattr(cli, "main", breaks)
    with pytest.raises(SystemError, match="a bug"):
        entry.main()


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "mimik", "--version"], check=True, capture_output=True, text=True)
    assert done.stdout == f"mimik {mimik.__version__}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_control_c_leaves_nothing_half_written(tmp_path):
    command = [sys.executable, "-m", "mimik", "demo", "-o", str(tmp_path / "demo")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while not (tmp_path / "demo" / "take.bvh").exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in err
    assert all(not p.name.startswith(".") for p in (tmp_path / "demo").iterdir())


def test_a_closed_pipe_is_no_crash(files):
    command = (
        f"{sys.executable} -c 'from mimik.cli.main import main; main()' info {files / 'walk.bvh'} --json | head -1"
    )
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{" and "Traceback" not in done.stderr


def test_json_has_no_nan(capsys):
    print_json({"a": float("nan"), "b": [1.0, float("inf")], "c": {"d": "ü"}})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [1.0, None], "c": {"d": "ü"}}


def test_progress_is_silent_without_a_terminal(capsys):
    with progress("working") as advance:
        advance(1, 2)
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err == ""
