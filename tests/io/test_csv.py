import numpy as np
import pytest

from mimik.errors import FileError
from mimik.goals.keypoints import Keypoints
from mimik.io import load_keypoints, save_keypoints
from mimik.io._rows import parse_lines, parse_rows
from tests.takes import walk_take


def with_holes(take: Keypoints) -> Keypoints:
    positions = take.positions.copy()
    positions[3, 4] = np.nan
    positions[10] = np.nan
    return take.with_positions(positions)


def rows_of(take: Keypoints, lead=lambda t: [str(t)], separator=",") -> str:
    lines = []
    for t, frame in enumerate(take.positions):
        cells = ["" if np.isnan(x) else f"{x:.6f}" for x in frame.ravel()]
        lines.append(separator.join([*lead(t), *cells]) + "\n")
    return "".join(lines)


@pytest.mark.parametrize("confident", [True, False])
def test_what_is_written_reads_back_and_writes_the_same_bytes(tmp_path, confident):
    take = with_holes(walk_take("body25"))
    confidence = np.round(np.random.default_rng(0).random((60, 25)), 4) if confident else None
    take = Keypoints(take.names, take.positions, 25.0, confidence, "body25")
    save_keypoints(take, tmp_path / "a.csv")
    back = load_keypoints(tmp_path / "a.csv")
    assert back.layout == "body25" and back.fps == 25.0
    assert np.allclose(back.positions, take.positions, atol=1e-6, equal_nan=True)
    if confident:
        assert np.allclose(back.confidence, confidence)
    save_keypoints(back, tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


@pytest.mark.parametrize("style", ["{}_x", "{}.x", "{} x", "{}_X", "{}:x", "{}/x", "{}-x", "{} (x)", "{}X"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_styles_of_column_names(tmp_path, style, separator):
    take = with_holes(walk_take("coco17"))
    upper = "X" in style
    labels = [
        style.format(name).replace("X" if upper else "x", axis.upper() if upper else axis)
        if upper
        else style.format(name)[:-1].rstrip("x") + axis
        if not style.endswith(")")
        else f"{name} ({axis})"
        for name in take.names
        for axis in "xyz"
    ]
    text = separator.join(["frame", "time", *labels]) + "\n"
    text += rows_of(take, lambda t: [str(t), f"{t / 50:.4f}"], separator)
    (tmp_path / "a.csv").write_text(text)
    back = load_keypoints(tmp_path / "a.csv")
    assert back.layout == "coco17" and back.fps == 50.0
    assert np.allclose(back.positions, take.positions, atol=2e-6, equal_nan=True)


def test_names_and_axes_in_rows_of_their_own(tmp_path):
    take = walk_take("coco17")
    mm = take.with_positions(take.positions * 1000)
    head = "Format Version,1.23\n\n,,Type," + ",".join(["Marker"] * 51) + "\n"
    head += "," * 2 + ",,,".join(take.names) + ",,\n" + "Frame,Time (Seconds)," + ",".join(["X,Y,Z"] * 17) + "\n"
    (tmp_path / "a.csv").write_text(head + rows_of(mm, lambda t: [str(t), f"{t / 120:.6f}"]))
    back = load_keypoints(tmp_path / "a.csv")
    assert back.fps == 120.0 and back.names == take.names
    assert np.allclose(back.positions, take.positions, atol=1e-6)
    head = "scorer" + ",net" * 68 + "\nbodyparts," + ",".join(f"{n}," * 3 + n for n in take.names) + "\n"
    head += "coords" + ",x,y,z,likelihood" * 17 + "\n"
    body = "".join(
        f"{t}," + ",".join(f"{x:.6f},{y:.6f},{z:.6f},0.5" for x, y, z in frame) + "\n"
        for t, frame in enumerate(take.positions)
    )
    (tmp_path / "b.csv").write_text(head + body)
    back = load_keypoints(tmp_path / "b.csv", fps=30)
    assert back.names == take.names and (back.confidence == 0.5).all()
    assert np.allclose(back.positions, take.positions, atol=1e-6)


def test_unit_row_and_quotes(tmp_path):
    take = walk_take("coco17")
    names = "".join(f',"{n}",,' for n in take.names)
    head = f'""{names}\n""' + ",x,y,z" * 17 + "\n" + ",mm" * 51 + "\n"
    (tmp_path / "a.csv").write_text(head + rows_of(take.with_positions(take.positions * 1000)))
    assert np.allclose(load_keypoints(tmp_path / "a.csv").positions, take.positions, atol=1e-6)


@pytest.mark.parametrize("named", [True, False])
def test_one_row_a_point(tmp_path, named):
    take = walk_take("coco17")
    lines = ["frame,timestamp_ms,landmark,x,y,z,visibility\n"]
    for t, frame in enumerate(take.positions):
        for k, (x, y, z) in enumerate(frame):
            if (t, k) != (4, 6):
                lines.append(f"{t},{t * 40},{take.names[k] if named else k},{x:.6f},{y:.6f},{z:.6f},0.75\n")
    (tmp_path / "a.csv").write_text("".join(lines))
    back = load_keypoints(tmp_path / "a.csv")
    assert back.fps == 25.0 and back.layout == "coco17"
    assert np.isnan(back.positions[4, 6]).all()
    known = np.isfinite(back.positions[..., 0])
    assert known.sum() == known.size - 1 and np.allclose(back.positions[known], take.positions[known], atol=1e-6)
    assert (back.confidence[known] == 0.75).all()


def test_no_header_is_points_without_names(tmp_path):
    take = walk_take("coco18")
    (tmp_path / "a.csv").write_text(rows_of(take))
    back = load_keypoints(tmp_path / "a.csv")
    assert back.layout == "coco18" and any("fps=" in note for note in back.notes)
    assert np.allclose(back.positions, take.positions, atol=1e-6)


def test_columns_in_any_order_and_others_between(tmp_path):
    take = walk_take("coco17")
    rng = np.random.default_rng(3)
    order = rng.permutation(51)
    labels = [f"{take.names[i // 3]}_{'xyz'[i % 3]}" for i in order]
    flat = take.positions.reshape(60, 51)[:, order]
    text = "comment," + ",".join(labels) + "\n"
    text += "".join("," + ",".join(f"{v:.6f}" for v in row) + "\n" for row in flat)
    (tmp_path / "a.csv").write_text(text)
    back = load_keypoints(tmp_path / "a.csv")
    index = [back.names.index(name) for name in take.names]
    assert np.allclose(back.positions[:, index], take.positions, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a,b,c\nx,y\n", 1, "no row of numbers"),
        ("nose_x,nose_y,hip_x,hip_y\n1,2,3,4\n1,2,3,4\n", 1, "3D is needed"),
        ("a b c d\n1 2 3\n", 1, "no table"),
        ("1,2,3,4,5\n1,2,3,4,5\n", 1, "no whole number"),
        ("frame,a_x,a_y,a_z\n0,1,2,3\n1,1,oops,3\n", 3, "'oops' is not a number"),
        ("frame,a_x,a_y,a_z\n0,1,2,3\n1,1,2,3,4\n", 3, "columns"),
        ("name,x,y,z\nnose,1,2,3\nnose,1,2,3\n", 2, "frame or time"),
    ],
)
def test_bad_tables_are_explained(tmp_path, text, line, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(FileError, match=message) as caught:
        load_keypoints(tmp_path / "a.csv")
    assert caught.value.line == line


def test_fast_and_slow_parsing_agree():
    rng = np.random.default_rng(5)
    for separator in (",", "\t"):
        cells = [[rng.choice(["", "nan", "1.5", "-2e-3", "7", "1e300"]) for _ in range(6)] for _ in range(50)]
        for row in cells:
            row[0] = "3"
        lines = [(i, separator.join(row)) for i, row in enumerate(cells)]
        fast, _ = parse_lines("a", lines, separator, 6, named="")
        slow, _ = parse_rows("a", list(enumerate(cells)), 6, named="")
        assert np.array_equal(fast, slow, equal_nan=True)
