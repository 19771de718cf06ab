import struct

import ezc3d
import numpy as np
import pytest

from mimik.errors import FileError
from mimik.goals.keypoints import Keypoints
from mimik.io import load_keypoints, save_keypoints
from tests.takes import walk_take


def with_holes(take: Keypoints) -> Keypoints:
    positions = take.positions.copy()
    positions[3, 4] = np.nan
    positions[10] = np.nan
    return take.with_positions(positions)


def vax(values: np.ndarray) -> bytes:
    words = (np.asarray(values, "<f4") * np.float32(4)).view("<u2").reshape(-1, 2)[:, ::-1]
    return words.tobytes()


def handmade(points: np.ndarray, *, processor: int, scale: float, units="mm", names=None, y_screen="+Z") -> bytes:
    """Write a C3D by the book: header block, one block of parameters or more, frames. points (T, K, 3), NaN missing."""
    order = ">" if processor == 86 else "<"
    frames, count = points.shape[:2]
    real = vax if processor == 85 else (lambda v: np.asarray(v, f"{order}f4").tobytes())
    half = lambda *v: struct.pack(f"{order}{len(v)}h", *v)  # noqa: E731
    names = names or [f"P{k}" for k in range(count)]

    def group(number, name):
        return struct.pack("bb", len(name), -number) + name.encode() + struct.pack(f"{order}H", 3) + b"\0"

    def parameter(number, name, kind, dims, data):
        body = struct.pack("bB", kind, len(dims)) + bytes(dims) + data + b"\0"
        return struct.pack("bb", len(name), number) + name.encode() + struct.pack(f"{order}H", 2 + len(body)) + body

    width = max(map(len, names))
    section = b"".join(
        [
            group(1, "POINT"),
            parameter(1, "USED", 2, [], half(count)),
            parameter(1, "SCALE", 4, [], real([scale])),
            parameter(1, "RATE", 4, [], real([120.0])),
            parameter(1, "UNITS", -1, [len(units)], units.encode()),
            parameter(1, "LABELS", -1, [width, count], b"".join(n.ljust(width).encode() for n in names)),
            parameter(1, "Y_SCREEN", -1, [2], y_screen.encode()),
            b"\0\0",
        ]
    )
    blocks = (4 + len(section) + 511) // 512
    header = bytes([2, 0x50]) + struct.pack(f"{order}5H", count, 0, 1, frames, 0) + real([scale])
    header += struct.pack(f"{order}2H", 2 + blocks, 0) + real([120.0])
    missing = np.isnan(points).any(axis=2)
    quads = np.concatenate([np.nan_to_num(points), np.where(missing, -1.0, 0.0)[..., None]], axis=2)
    if scale < 0:
        data = real(quads.ravel())
    else:
        quads[..., :3] = np.round(quads[..., :3] / scale)
        data = quads.astype(f"{order}i2").tobytes()
    start = bytes([1, 0x50, blocks, processor]) + section
    return header.ljust(512, b"\0") + start.ljust(512 * blocks, b"\0") + data


def test_what_is_written_reads_back(tmp_path):
    take = with_holes(walk_take("body25"))
    notes = save_keypoints(take, tmp_path / "a.c3d")
    assert any("single precision" in note for note in notes)
    back = load_keypoints(tmp_path / "a.c3d")
    assert back.names == take.names and back.fps == 30.0 and back.layout == "body25" and back.notes == ()
    assert np.allclose(back.positions, take.positions, atol=1e-6, equal_nan=True)
    save_keypoints(back, tmp_path / "b.c3d")
    assert (tmp_path / "a.c3d").read_bytes() == (tmp_path / "b.c3d").read_bytes()


@pytest.mark.parametrize("up", ["y", "z"])
@pytest.mark.parametrize("units", ["m", "mm"])
def test_ezc3d_reads_the_same_points(tmp_path, units, up):
    take = with_holes(walk_take("coco17"))
    save_keypoints(take, tmp_path / "a.c3d", units=units, up=up)
    other = ezc3d.c3d(str(tmp_path / "a.c3d"))
    points = np.moveaxis(other["data"]["points"][:3], (0, 1, 2), (2, 1, 0)) * (1e-3 if units == "mm" else 1)
    if up == "z":
        points = np.stack([points[..., 0], points[..., 2], -points[..., 1]], axis=-1)
    assert np.allclose(points, take.positions, atol=1e-6, equal_nan=True)
    assert other["parameters"]["POINT"]["LABELS"]["value"] == list(take.names)
    assert np.allclose(load_keypoints(tmp_path / "a.c3d").positions, take.positions, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("processor", [84, 85, 86])
@pytest.mark.parametrize("scale", [-0.1, 0.2])
def test_every_processor_and_number_format(tmp_path, processor, scale):
    take = with_holes(walk_take("coco17"))
    z_up = np.stack([take.positions[..., 0], -take.positions[..., 2], take.positions[..., 1]], axis=-1) * 1000
    (tmp_path / "a.c3d").write_bytes(handmade(z_up, processor=processor, scale=scale, names=list(take.names)))
    back = load_keypoints(tmp_path / "a.c3d")
    assert back.fps == 120.0 and back.names == take.names
    assert np.allclose(back.positions, take.positions, atol=1e-6 if scale < 0 else 1.1e-4, equal_nan=True)
    if processor == 84:
        seen = np.moveaxis(ezc3d.c3d(str(tmp_path / "a.c3d"))["data"]["points"][:3], (0, 1, 2), (2, 1, 0))
        assert np.allclose(seen, z_up, atol=1e-3 if scale < 0 else 0.11, equal_nan=True)


def test_frames_beyond_the_end_are_said(tmp_path):
    data = handmade(
        walk_take("coco17").positions * 1000, processor=84, scale=-1.0, names=list(walk_take("coco17").names)
    )
    (tmp_path / "a.c3d").write_bytes(data[:-1000])
    back = load_keypoints(tmp_path / "a.c3d")
    assert back.frame_count == 56
    assert any("4 frames more" in note for note in back.notes)


def test_unlabelled_points_are_kept(tmp_path):
    names = ["LKNE", "RKNE", "", "LANK", "RANK", "LASI", "RASI"]
    positions = np.random.default_rng(1).normal(size=(5, 7, 3)) * 500
    (tmp_path / "a.c3d").write_bytes(handmade(positions, processor=84, scale=-1.0, names=names))
    back = load_keypoints(tmp_path / "a.c3d", units="mm", up="z")
    assert back.names[2] == "unlabelled 3" and any("6 of 7" in note for note in back.notes)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (1, b"\x51", "no C3D"),
        (0, b"\xff", "block 255"),
        (512 + 3, b"\x07", "processor 7"),
        (16, b"\xff\xff", "block 65535"),
        (2, b"\x00\x00", "no 3D points"),
    ],
)
def test_broken_headers_are_explained(tmp_path, place, value, message):
    take = walk_take("coco17")
    data = bytearray(handmade(take.positions, processor=84, scale=-1.0, names=list(take.names)))
    data[place : place + len(value)] = value
    if place == 2:
        at = data.index(b"USED") + 4 + 2 + 2
        data[at : at + 2] = b"\0\0"
    (tmp_path / "a.c3d").write_bytes(data)
    with pytest.raises(FileError, match=message):
        load_keypoints(tmp_path / "a.c3d")


def test_lies_about_size_take_no_memory(tmp_path):
    take = walk_take("coco17")
    data = bytearray(handmade(take.positions, processor=84, scale=-1.0, names=list(take.names)))
    data[2:4] = b"\xff\xff"
    at = data.index(b"USED") + 4 + 2 + 2
    data[at : at + 2] = b"\xff\xff"
    (tmp_path / "a.c3d").write_bytes(data)
    with pytest.raises(FileError, match="65535 points"):
        load_keypoints(tmp_path / "a.c3d")
