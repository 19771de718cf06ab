"""The inside of a C3D file: header, parameters and point frames, read within the bounds of the file.

Written for files of unknown origin: every pointer, count and size is checked against the bytes that are there before
it is followed. Intel, DEC and MIPS number formats; 16-bit scaled and floating-point points.
"""

import os
import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mimik._types import Array
from mimik.errors import FileError

_BLOCK = 512
_INTEL, _DEC, _MIPS = 84, 85, 86
_PROCESSORS = {_INTEL: "Intel", _DEC: "DEC", _MIPS: "MIPS"}
_MOST_PARAMETERS = 20_000

Value = Array | list[str]


@dataclass(frozen=True, slots=True)
class Layout3D:
    """Where the points of a file lie and what they mean.

    parameters  "GROUP:NAME" -> numbers (flat), or texts
    """

    processor: int
    frames: int
    points: int
    analog_per_frame: int
    scale: float
    rate: float
    data_start: int
    parameters: dict[str, Value]

    def number(self, name: str) -> float | None:
        """Return the first number of a parameter, None where it is absent or a text."""
        value = self.parameters.get(name)
        return float(value[0]) if isinstance(value, np.ndarray) and len(value) else None

    def texts(self, name: str) -> list[str]:
        """Return the texts of a parameter and its continuations (LABELS, LABELS2, ...)."""
        found: list[str] = []
        for suffix in ("", *map(str, range(2, 100))):
            value = self.parameters.get(name + suffix)
            if not isinstance(value, list):
                break
            found += value
        return found


def read_layout(path: str | os.PathLike[str], data: bytes) -> Layout3D:
    """Read header and parameters. Raises FileError for what cannot be a C3D file."""
    if len(data) < 2 * _BLOCK or data[1] != 0x50:
        raise FileError(path, "is no C3D file: the second byte of its header is not 0x50 or it is shorter than 1 kB")
    start = (data[0] - 1) * _BLOCK
    if data[0] < 2 or start + 4 > len(data):
        raise FileError(path, f"points to parameters in block {data[0]}, outside the file")
    processor = data[start + 3]
    if processor not in _PROCESSORS:
        raise FileError(path, f"names processor {processor}; known: 84 Intel, 85 DEC, 86 MIPS")
    order = ">" if processor == _MIPS else "<"
    points, analog, first, last = struct.unpack_from(f"{order}4H", data, 2)
    (data_block,) = struct.unpack_from(f"{order}H", data, 16)
    scale, rate = _floats(data[12:16], processor)[0], _floats(data[20:24], processor)[0]
    parameters = _read_parameters(data, start, processor)
    here = Layout3D(processor, max(0, last - first + 1), points, analog, float(scale), float(rate), 0, parameters)
    return _settle(path, here, data_block, len(data))


def read_frames(path: str | os.PathLike[str], data: bytes, layout: Layout3D) -> tuple[Array, int]:
    """Return points (T, K, 3) in the file's units, NaN where missing, and how many declared frames the file lacks.

    A point is missing when its residual is negative, its coordinates are not numbers, or all three are exactly zero.
    """
    size = 4 if layout.scale < 0 else 2
    words = layout.points * 4 + layout.analog_per_frame
    there = (len(data) - layout.data_start) // (words * size)
    frames = min(layout.frames, there)
    if frames <= 0:
        raise FileError(path, f"holds no whole frame of {layout.points} points")
    raw = data[layout.data_start : layout.data_start + frames * words * size]
    numbers = _numbers(raw, layout.processor, size).reshape(frames, words)[:, : layout.points * 4]
    quads = numbers.reshape(frames, layout.points, 4)
    with np.errstate(all="ignore"):
        points = quads[..., :3].astype(np.float64)
        if size == 2:
            points *= layout.scale
        missing = (quads[..., 3] < 0) | ~np.isfinite(points).all(axis=2) | (points == 0.0).all(axis=2)
    points[missing] = np.nan
    return points, layout.frames - frames


def _settle(path: str | os.PathLike[str], here: Layout3D, data_block: int, file_size: int) -> Layout3D:
    """Put parameters before the header where both say something, and check the outcome."""
    points = int(here.number("POINT:USED") or 0) % 65536 or here.points
    if points == 0:
        raise FileError(path, "holds no 3D points (POINT:USED is 0)")
    scale = here.scale if here.scale != 0.0 and np.isfinite(here.scale) else here.number("POINT:SCALE") or -1.0
    if not np.isfinite(scale):
        raise FileError(path, f"has a point scale of {scale}")
    rate = here.number("POINT:RATE")
    rate = here.rate if rate is None or not rate > 0 else rate
    block = data_block or int(here.number("POINT:DATA_START") or 0) % 65536
    data_start = (block - 1) * _BLOCK
    if block < 2 or data_start >= file_size:
        raise FileError(path, f"points to its data in block {block}, outside the file of {file_size} bytes")
    frames = _frame_count(here)
    return Layout3D(here.processor, frames, points, here.analog_per_frame, scale, rate, data_start, here.parameters)


def _frame_count(here: Layout3D) -> int:
    """Return the declared number of frames; takes over 65,535 frames say it in TRIAL or as a number in POINT:FRAMES."""
    start, end = here.parameters.get("TRIAL:ACTUAL_START_FIELD"), here.parameters.get("TRIAL:ACTUAL_END_FIELD")
    fields = []
    for value in (start, end):
        if isinstance(value, np.ndarray) and len(value) >= 2 and np.isfinite(value).all():
            fields.append(int(value[0]) % 65536 + 65536 * (int(value[1]) % 65536))
    said = here.number("POINT:FRAMES")
    counted = int(said) if said is not None and 65535 < said < 1e9 else 0
    span = fields[1] - fields[0] + 1 if len(fields) == 2 else 0
    return max(here.frames, counted, span) or int(said or 0) % 65536


def _read_parameters(data: bytes, start: int, processor: int) -> dict[str, Value]:
    """Walk the records of the parameter section; a record that leaves the file ends the walk."""
    order = ">" if processor == _MIPS else "<"
    groups: dict[int, str] = {}
    found: list[tuple[int, str, Value]] = []
    at = start + 4
    for _ in range(_MOST_PARAMETERS):
        if at + 4 > len(data):
            break
        length, group = struct.unpack_from("bb", data, at)
        length = abs(length)
        if length == 0 or group == 0 or at + 4 + length > len(data):
            break
        name = data[at + 2 : at + 2 + length].decode("latin-1").strip().upper()
        (step,) = struct.unpack_from(f"{order}H", data, at + 2 + length)
        body = at + 4 + length
        if group < 0:
            groups[-group] = name
        else:
            value = _parameter_value(data, body, processor)
            if value is not None:
                found.append((group, name, value))
        if step == 0:
            break
        at += 2 + length + step
    return {f"{groups.get(group, group)}:{name}": value for group, name, value in found}


def _parameter_value(data: bytes, at: int, processor: int) -> Value | None:
    """Return numbers, or texts of type -1; None where the value does not lie within the file."""
    if at + 2 > len(data):
        return None
    kind, rank = struct.unpack_from("bB", data, at)
    dims = list(data[at + 2 : at + 2 + rank])
    count = 1
    for n in dims:
        count *= n
    size = abs(kind)
    at += 2 + rank
    if rank > 7 or len(dims) < rank or kind not in (-1, 1, 2, 4) or at + count * size > len(data):
        return None
    raw = data[at : at + count * size]
    if kind == -1:
        width = dims[0] if dims else 1
        texts = [raw[i : i + width] for i in range(0, len(raw), max(width, 1))]
        return [text.split(b"\0")[0].decode("utf-8", "replace").strip() for text in texts]
    if kind == 1:
        return np.frombuffer(raw, np.int8).astype(np.float64)
    return _numbers(raw, processor, size).astype(np.float64)


def _numbers(raw: bytes, processor: int, size: int) -> npt.NDArray[np.int16] | npt.NDArray[np.float32]:
    if size == 4:
        return _floats(raw, processor)
    return np.frombuffer(raw, ">i2" if processor == _MIPS else "<i2")


def _floats(raw: bytes, processor: int) -> npt.NDArray[np.float32]:
    """Decode 4-byte floats; DEC's have their 16-bit halves swapped and an exponent larger by two."""
    if processor == _MIPS:
        return np.frombuffer(raw, ">f4")
    if processor == _INTEL:
        return np.frombuffer(raw, "<f4")
    swapped = np.frombuffer(raw, "<u2").reshape(-1, 2)[:, ::-1].tobytes()
    return np.asarray(np.frombuffer(swapped, "<f4") / np.float32(4.0))
