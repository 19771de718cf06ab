"""Broken files by the thousand: seeds of every format, a mutator, and a runner that lets only our error pass.

`benchmarks/fuzz.py` runs the same with as many inputs as wanted; the tests run a few hundred of each format.
"""

import importlib
import io
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mimik.errors import MimikError
from mimik.goals.keypoints import Keypoints
from mimik.io.files import MAX_ARRAY_BYTES
from mimik.motion.sample import sample_clip
from mimik.rig.builtin import builtin_rig
from mimik.rig.roles import BODY_ROLES

READERS = ("read_clip", "read_rig", "read_keypoints")
NUMBERS = (
    *(b"0", b"-1", b"1e999", b"-1e308", b"nan", b"NaN", b"Infinity", b"null", b"4294967295", b"2147483648", b"65536"),
    *(b"99999999999999999999", b"1e-320", b"255", b"true", b'"x"', b"[]", b"{}", b"0x1F", b"1,5", b"\xff", b""),
)
_NUMBER = re.compile(rb"[+-]?\d+\.?\d*(?:[eE][+-]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_]{2,}")
_HEAD = 400


@dataclass(frozen=True, slots=True)
class Seed:
    """A whole file of some format, and the module that reads it."""

    module: str
    suffix: str
    data: bytes


def seeds(folder: Path) -> list[Seed]:
    """Make one or more small whole files of every format that can be read."""
    found = [*_clip_seeds(folder), *_keypoint_seeds(folder), *_json_seeds(), *_array_seeds()]
    return sorted(found, key=lambda seed: (seed.module, seed.suffix, seed.data))


def mutants(seed: Seed, rng: np.random.Generator) -> Iterator[bytes]:
    """Yield broken copies of a seed without end; of archives mostly the members are broken, with right checksums."""
    while True:
        if seed.suffix == ".npz" and rng.random() < 0.8:
            yield _broken_archive(seed.data, rng)
        else:
            yield mutate(seed.data, rng)


def mutate(data: bytes, rng: np.random.Generator) -> bytes:
    """Break bytes in one to four random ways."""
    for _ in range(int(rng.integers(1, 5))):
        data = _WAYS[int(rng.integers(len(_WAYS)))](data, rng)
    return data


def read_all(module: str, path: Path) -> list[str]:
    """Call every reader of a module on a file; return what went wrong, our own errors apart."""
    failures = []
    reader = importlib.import_module(f"mimik.io.{module}")
    for name in ("sniff", *READERS):
        if not hasattr(reader, name):
            continue
        try:
            getattr(reader, name)(path)
        except MimikError:
            continue
        except Exception as error:
            failures.append(f"{module}.{name}: {type(error).__name__}: {error}")
    return failures


def _clip_seeds(folder: Path) -> Iterator[Seed]:
    rig = builtin_rig("humanoid")
    clip = sample_clip(rig, "wave", seconds=0.1, fps=30)
    for module, suffix in (("bvh", ".bvh"), ("npz", ".npz"), ("amass", ".npz"), ("gltf", ".glb"), ("gltf", ".gltf")):
        yield _written(module, suffix, folder, "write_clip", clip)
    yield _written("vrma", ".vrma", folder, "write_clip", clip)
    yield _written("vrm", ".vrm", folder, "write_rig", builtin_rig("vrm"))


def _keypoint_seeds(folder: Path) -> Iterator[Seed]:
    clip = sample_clip(builtin_rig("humanoid"), "walk", seconds=0.1, fps=30)
    positions = np.array(clip.positions()[:, [clip.rig.roles[role] for role in BODY_ROLES]])
    positions[1, 2] = np.nan
    take = Keypoints(BODY_ROLES, positions, 30.0)
    for module, suffix in (("npz", ".npz"), ("trc", ".trc"), ("c3d", ".c3d"), ("csv", ".csv"), ("json3d", ".json")):
        yield _written(module, suffix, folder, "write_keypoints", take)


def _written(module: str, suffix: str, folder: Path, function: str, subject: object) -> Seed:
    path = folder / f"seed{suffix}"
    getattr(importlib.import_module(f"mimik.io.{module}"), function)(subject, path)
    return Seed(module, suffix, path.read_bytes())


def _json_seeds() -> Iterator[Seed]:
    points = np.random.default_rng(3).normal(size=(25, 3)).round(3)
    four = np.concatenate([points, np.ones((25, 1))], axis=1)
    person = {"person_id": [-1], "pose_keypoints_3d": four.reshape(-1).tolist()}
    yield Seed("openpose", ".json", json.dumps({"version": 1.3, "people": [person, person]}).encode())
    body = {"id": 0, "joints19": four[:19].reshape(-1).tolist()}
    yield Seed("panoptic", ".json", json.dumps({"version": 0.7, "univTime": 1.0, "bodies": [body]}).encode())
    landmark = {"x": 0.1, "y": -0.2, "z": 0.3, "visibility": 0.9}
    yield Seed("mediapipe", ".json", json.dumps({"fps": 30, "frames": [[landmark] * 33] * 2}).encode())
    head = ["frame", *(f"{axis}{k}" for k in range(33) for axis in "xyzv")]
    rows = [",".join(head), *(",".join([str(t), *["0.1", "0.2", "0.3", "0.9"] * 33]) for t in range(2))]
    yield Seed("mediapipe", ".csv", "\n".join(rows).encode())


def _array_seeds() -> Iterator[Seed]:
    rng = np.random.default_rng(4)
    for module, shape in (("human36m", (3, 17, 3)), ("smpl_joints", (3, 22, 3)), ("mediapipe", (3, 33, 4))):
        stream = io.BytesIO()
        np.savez(stream, keypoints=rng.normal(size=shape), fps=np.array(50))
        yield Seed(module, ".npz", stream.getvalue())
        if module != "mediapipe":
            stream = io.BytesIO()
            np.save(stream, rng.normal(size=shape))
            yield Seed(module, ".npy", stream.getvalue())


def _broken_archive(data: bytes, rng: np.random.Generator) -> bytes:
    """Break one member of a zip archive and pack it again, or drop, rename or double it."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = sorted(members)[int(rng.integers(len(members)))]
    choice = rng.random()
    if choice < 0.1:
        del members[name]
    elif choice < 0.2:
        other = sorted(members)[int(rng.integers(len(members)))]
        members[name] = members[other]
    elif choice < 0.5:
        members[name] = _broken_array(members[name], rng)
    else:
        members[name] = mutate(members[name], rng)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for key, value in members.items():
            archive.writestr(key, value)
    return stream.getvalue()


def _broken_array(data: bytes, rng: np.random.Generator) -> bytes:
    """Give an array another shape, type or odd values."""
    array = np.load(io.BytesIO(data))
    choice = int(rng.integers(6))
    if choice == 0:
        array = array.reshape(-1)
    elif choice == 1:
        array = array[: len(array) // 2] if array.ndim else array[None]
    elif choice == 2 and array.dtype.kind == "f" and array.size:
        array = array.copy()
        array.flat[int(rng.integers(array.size))] = rng.choice([np.nan, np.inf, 1e300, -1e9, 0.0])
    elif choice == 3:
        array = (
            np.nan_to_num(array).astype(rng.choice(["f4", "c16", "U8", "b1"])) if array.dtype.kind in "fiu" else array
        )
    elif choice == 4 and array.dtype.kind in "iu" and array.size:
        array = array.copy()
        array.flat[int(rng.integers(array.size))] = rng.integers(0, 120)
    else:
        array = np.zeros((0, *array.shape[1:]), array.dtype) if array.ndim else np.zeros(0)
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _flip_bits(data: bytes, rng: np.random.Generator) -> bytes:
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 9))):
        if out:
            out[int(rng.integers(len(out)))] ^= 1 << int(rng.integers(8))
    return bytes(out)


def _flip_head(data: bytes, rng: np.random.Generator) -> bytes:
    return _flip_bits(data[:_HEAD], rng) + data[_HEAD:]


def _truncate(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: int(rng.integers(len(data) + 1))]


def _cut_out(data: bytes, rng: np.random.Generator) -> bytes:
    start, size = int(rng.integers(len(data) + 1)), int(rng.integers(1, 200))
    return data[:start] + data[start + size :]


def _repeat(data: bytes, rng: np.random.Generator) -> bytes:
    start, size = int(rng.integers(len(data) + 1)), int(rng.integers(1, 400))
    return data[: start + size] + data[start : start + size] * int(rng.integers(1, 4)) + data[start + size :]


def _other_number(data: bytes, rng: np.random.Generator) -> bytes:
    return _replace_one(data, _NUMBER, NUMBERS[int(rng.integers(len(NUMBERS)))], rng)


def _other_word(data: bytes, rng: np.random.Generator) -> bytes:
    words = _WORD.findall(data[:4000])
    return _replace_one(data, _WORD, words[int(rng.integers(len(words)))] if words else b"", rng)


def _replace_one(data: bytes, pattern: re.Pattern[bytes], value: bytes, rng: np.random.Generator) -> bytes:
    """Replace one match of a pattern near a random place."""
    start = int(rng.integers(len(data) + 1)) if rng.random() < 0.5 else int(rng.integers(min(len(data), _HEAD) + 1))
    match = pattern.search(data, start)
    return data if match is None else data[: match.start()] + value + data[match.end() :]


def _random_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    start = int(rng.integers(len(data) + 1))
    return data[:start] + rng.bytes(int(rng.integers(1, 20))) + data[start + int(rng.integers(20)) :]


def _other_integer(data: bytes, rng: np.random.Generator) -> bytes:
    """Overwrite four bytes, as sizes and counts of binary formats are stored."""
    start = int(rng.integers(max(1, min(len(data), _HEAD if rng.random() < 0.5 else len(data)))))
    value = int(rng.choice([0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x10000, MAX_ARRAY_BYTES & 0xFFFFFFFF, len(data)]))
    return data[:start] + value.to_bytes(4, "little") + data[start + 4 :]


_WAYS = (
    _flip_bits,
    _flip_head,
    _truncate,
    _cut_out,
    _repeat,
    _other_number,
    _other_number,
    _other_word,
    _random_bytes,
    _other_integer,
)
