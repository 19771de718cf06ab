import numpy as np
import pytest

from mimik.errors import FileError, OptionError
from mimik.goals.keypoints import Keypoints
from mimik.io import load_keypoints, save_keypoints
from tests.takes import walk_take

HEAD = "PathFileType\t4\t(X/Y/Z)\ta.trc\n"
KEYS = "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"


def text_of(
    take: Keypoints, *, scale=1.0, units="m", blank="\n", axes=True, values="60\t60\t{t}\t{k}\t{u}\t60\t1\t{t}\n"
):
    count = len(take.names)
    lines = [HEAD, KEYS, values.format(t=take.frame_count, k=count, u=units)]
    lines.append("Frame#\tTime\t" + "\t\t\t".join(take.names) + "\t\t\t\n")
    if axes:
        lines.append("\t\t" + "\t".join(f"X{k}\tY{k}\tZ{k}" for k in range(1, count + 1)) + "\t\n")
    lines.append(blank)
    for t, frame in enumerate(take.positions * scale):
        cells = "\t".join("" if np.isnan(x) else f"{x:.6f}" for x in frame.ravel())
        lines.append(f"{t + 1}\t{t / 60:.6f}\t{cells}\t\n")
    return "".join(lines)


def with_holes(take: Keypoints) -> Keypoints:
    positions = take.positions.copy()
    positions[3, 4] = np.nan
    positions[7:9, [0, 5, 24]] = np.nan
    positions[10] = np.nan
    return take.with_positions(positions)


@pytest.mark.parametrize("units", ["m", "cm", "mm"])
def test_what_is_written_reads_back_and_writes_the_same_bytes(tmp_path, units):
    take = with_holes(walk_take("body25"))
    assert save_keypoints(take, tmp_path / "a.trc", units=units) == []
    back = load_keypoints(tmp_path / "a.trc")
    assert back.layout == "body25" and back.fps == 30.0 and back.names == take.names
    assert np.allclose(back.positions, take.positions, atol=1e-6, equal_nan=True)
    save_keypoints(back, tmp_path / "b.trc", units=units)
    second = (tmp_path / "b.trc").read_text().replace("b.trc", "a.trc")
    assert second == (tmp_path / "a.trc").read_text()


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("blank", ["\n", "", "\t\t\n"])
@pytest.mark.parametrize("axes", [True, False])
def test_dialects_of_the_header(tmp_path, newline, blank, axes):
    take = with_holes(walk_take("body25"))
    text = text_of(take, scale=1000, units="mm", blank=blank, axes=axes).replace("\n", newline)
    (tmp_path / "a.trc").write_bytes(text.encode())
    back = load_keypoints(tmp_path / "a.trc")
    assert back.fps == 60.0
    assert np.allclose(back.positions, take.positions, atol=1e-6, equal_nan=True)


def test_z_up_files_are_turned(tmp_path):
    take = walk_take("halpe26")
    turned = take.with_positions(
        np.stack([take.positions[..., 0], -take.positions[..., 2], take.positions[..., 1]], -1)
    )
    (tmp_path / "a.trc").write_text(text_of(turned))
    assert np.allclose(load_keypoints(tmp_path / "a.trc").positions, take.positions, atol=2e-6, equal_nan=True)


def test_wrong_header_counts_and_rates_are_said(tmp_path):
    take = walk_take("coco17")
    (tmp_path / "a.trc").write_text(text_of(take, values="30\t30\t9\t99\t{u}\t60\t1\t{t}\n"))
    back = load_keypoints(tmp_path / "a.trc")
    assert back.fps == 60.0 and back.frame_count == take.frame_count
    notes = " ".join(back.notes)
    assert "numframes 9" in notes and "nummarkers 99" in notes and "30 frames a second" in notes


def test_units_of_the_header_that_cannot_be_are_overruled(tmp_path):
    take = walk_take("coco17")
    (tmp_path / "a.trc").write_text(text_of(take, units="mm"))
    back = load_keypoints(tmp_path / "a.trc")
    assert np.allclose(back.positions, take.positions, atol=1e-6)
    assert any("file says mm" in note for note in back.notes)
    told = load_keypoints(tmp_path / "a.trc", units="mm")
    assert np.allclose(told.positions, take.positions / 1000, atol=1e-6)


def test_no_marker_names_and_no_header_at_all(tmp_path):
    take = walk_take("mediapipe")
    filled = take.with_positions(np.nan_to_num(take.positions, nan=0.1))
    rows = "".join(line + "\n" for line in text_of(filled).splitlines() if line[:1].isdigit() and "." in line)
    (tmp_path / "a.trc").write_text(rows)
    back = load_keypoints(tmp_path / "a.trc")
    assert back.layout == "mediapipe" and back.fps == 60.0
    assert any("no line of marker names" in note for note in back.notes)


def test_nan_words_decimal_commas_and_short_rows(tmp_path):
    take = walk_take("coco17")
    lines = text_of(take).splitlines(keepends=True)
    lines[8] = lines[8].replace(".", ",")
    cells = lines[9].split("\t")
    cells[2:8] = ["NaN", "nan", "N/A", "", "-", "null"]
    lines[9] = "\t".join(cells)
    lines[10] = "\t".join(lines[10].split("\t")[:20]) + "\n"
    (tmp_path / "a.trc").write_text("".join(lines))
    back = load_keypoints(tmp_path / "a.trc")
    assert np.allclose(back.positions[2], take.positions[2], atol=1e-6)
    assert np.isnan(back.positions[3, :2]).all() and np.isfinite(back.positions[3, 2:]).all()
    assert np.isnan(back.positions[4, 6:]).all()
    assert any("shorter" in note for note in back.notes)


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (lambda lines: [*lines[:8], lines[8].replace("0.", "o.", 1), *lines[9:]], 9, "not a number"),
        (lambda lines: [*lines[:8], lines[8].rstrip("\n") + "1\t2\t3\n", *lines[9:]], 9, "columns"),
        (lambda lines: lines[:6], 6, "no row of data"),
    ],
)
def test_bad_lines_are_named(tmp_path, change, line, message):
    lines = text_of(walk_take("coco17")).splitlines(keepends=True)
    (tmp_path / "a.trc").write_text("".join(change(lines)))
    with pytest.raises(FileError, match=message) as caught:
        load_keypoints(tmp_path / "a.trc")
    assert caught.value.line == line and "a.trc" in str(caught.value)


def test_unknown_names_are_kept_with_a_note_and_mapped_by_a_file(tmp_path):
    take = walk_take("roles")
    foreign = Keypoints([f"点{k:02d}x" if k % 2 else f"お{k}" for k in range(22)], take.positions, 30.0)
    save_keypoints(foreign, tmp_path / "a.trc")
    plain = load_keypoints(tmp_path / "a.trc", units="m", up="y")
    assert plain.names == foreign.names and plain.layout == ""
    assert any("mapping=" in note for note in plain.notes)
    rows = "".join(f'"{own}" = "{role}"\n' for own, role in zip(foreign.names, take.names))
    (tmp_path / "map.toml").write_text("[points]\n" + rows, encoding="utf-8")
    mapped = load_keypoints(tmp_path / "a.trc", mapping=tmp_path / "map.toml")
    assert mapped.names == take.names
    with pytest.raises(FileError, match=r"map2\.json"):
        load_keypoints(tmp_path / "a.trc", mapping=str(tmp_path / "map2.json"))


def test_options_that_do_not_exist_are_refused(tmp_path):
    save_keypoints(walk_take("coco17"), tmp_path / "a.trc")
    with pytest.raises(OptionError, match="did you mean 'units'"):
        load_keypoints(tmp_path / "a.trc", unit="m")
    with pytest.raises(OptionError, match="fps"):
        load_keypoints(tmp_path / "a.trc", fps=-3)
    with pytest.raises(OptionError, match="unit"):
        save_keypoints(walk_take("coco17"), tmp_path / "b.trc", units="inch")
    assert not (tmp_path / "b.trc").exists()
