"""The default network for one frame: small matrices times one vector, where a runtime's own cost and idle weights show.

The weights are read from the ONNX file itself. Half of the inputs and hidden units are zero in a given frame: rows of
weights that would be multiplied by zero are never read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
_FLOAT32 = 1


@dataclass(frozen=True, slots=True, eq=False)
class SingleNetwork:
    """Weights of a residual network, inputs along the first axis of each matrix, all of one block width.

    enter (F, W), ups (B, W, H), downs (B, H, W), leave (W, Y) and their biases
    """

    enter: tuple[Floats, Floats]
    ups: tuple[Floats, Floats]
    downs: tuple[Floats, Floats]
    leave: tuple[Floats, Floats]

    def run(self, features: Floats, answers: Floats) -> None:
        """Fill answers (Y,) from features (F,)."""
        _run(features, *self.enter, *self.ups, *self.downs, *self.leave, answers)


@lru_cache(maxsize=4)
def single_network(path: Path | None = None) -> SingleNetwork | None:
    """Read the weights of the packaged network, or of another file; None where the file holds another architecture."""
    with as_file(files("mimik.weights") / "dense.onnx") as packaged:
        weights = onnx_weights((path or packaged).read_bytes())
    blocks = sum(name.endswith(".up.weight") for name in weights)
    names = ["enter", "leave", *(f"blocks.{i}.{part}" for i in range(blocks) for part in ("up", "down"))]
    if set(weights) != {f"{name}.{kind}" for name in names for kind in ("weight", "bias")} or not blocks:
        return None

    def layer(name: str) -> tuple[Floats, Floats]:
        return np.ascontiguousarray(weights[f"{name}.weight"].T), weights[f"{name}.bias"]

    def layers(part: str) -> tuple[Floats, Floats]:
        every = [layer(f"blocks.{i}.{part}") for i in range(blocks)]
        return np.stack([w for w, _ in every]), np.stack([b for _, b in every])

    ups, downs = layers("up"), layers("down")
    return SingleNetwork(layer("enter"), ups, downs, layer("leave"))


def onnx_weights(model: bytes) -> dict[str, Floats]:
    """Return the float32 tensors stored in an ONNX file, by name."""
    weights: dict[str, Floats] = {}
    for number, graph in _fields(memoryview(model)):
        for inner, tensor in _fields(graph) if number == 7 else ():
            if inner == 5:
                _add_tensor(weights, tensor)
    return weights


def _add_tensor(weights: dict[str, Floats], tensor: memoryview) -> None:
    shape: list[int] = []
    name, kind, raw = "", 0, b""
    for number, value in _fields(tensor):
        if number == 1:
            shape += [value] if isinstance(value, int) else list(_varints(value))
        elif number == 2:
            kind = value
        elif number == 8:
            name = bytes(value).decode()
        elif number == 9:
            raw = bytes(value)
    if kind == _FLOAT32 and len(raw) == 4 * int(np.prod(shape)):
        weights[name] = np.frombuffer(raw, dtype="<f4").reshape(shape).astype(np.float32)


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """Walk the fields of a protocol buffers message: numbers as int, everything else as bytes."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        size = {1: 8, 5: 4}.get(key & 7, 0)
        if key & 7 == 0:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        if key & 7 == 2:
            size, at = _varint(message, at)
        yield key >> 3, message[at : at + size]
        at += size


def _varints(packed: memoryview) -> Iterator[int]:
    at = 0
    while at < len(packed):
        value, at = _varint(packed, at)
        yield value


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


@numba.njit(cache=True, fastmath=True)
def _add_rows(x: Floats, weight: Floats, y: Floats) -> None:
    """Add x (N,) times weight (N, M) to y (M,), four rows at a time, those of zeros left out."""
    rows = np.empty(len(x), np.int64)
    count = 0
    for k in range(len(x)):
        if x[k] != 0.0:
            rows[count] = k
            count += 1
    whole = count - count % 4
    for n in range(0, whole, 4):
        a, b, c, d = rows[n], rows[n + 1], rows[n + 2], rows[n + 3]
        xa, xb, xc, xd = x[a], x[b], x[c], x[d]
        wa, wb, wc, wd = weight[a], weight[b], weight[c], weight[d]
        for i in range(len(y)):
            y[i] += xa * wa[i] + xb * wb[i] + xc * wc[i] + xd * wd[i]
    for n in range(whole, count):
        xa, wa = x[rows[n]], weight[rows[n]]
        for i in range(len(y)):
            y[i] += xa * wa[i]


@numba.njit(cache=True)
def _run(
    features: Floats,  # (F,)
    enter: Floats,  # (F, W)
    enter_bias: Floats,
    ups: Floats,  # (B, W, H)
    up_biases: Floats,
    downs: Floats,  # (B, H, W)
    down_biases: Floats,
    leave: Floats,  # (W, Y)
    leave_bias: Floats,
    answers: Floats,  # (Y,) out
) -> None:
    stream, hidden = enter_bias.copy(), np.empty(ups.shape[2], np.float32)
    _add_rows(features, enter, stream)
    for i in range(len(stream)):
        stream[i] = max(stream[i], np.float32(0.0))
    for block in range(len(ups)):
        hidden[:] = up_biases[block]
        _add_rows(stream, ups[block], hidden)
        for i in range(len(hidden)):
            hidden[i] = max(hidden[i], np.float32(0.0))
        for i in range(len(stream)):
            stream[i] += down_biases[block, i]
        _add_rows(hidden, downs[block], stream)
    for i in range(len(stream)):
        stream[i] = max(stream[i], np.float32(0.0))
    answers[:] = leave_bias
    _add_rows(stream, leave, answers)
