"""The container of glTF: JSON tables plus binary buffers, from .glb, or .gltf with embedded or side files.

Everything a file says is checked where it is taken, so that the layers above can index without fear. A document
remembers how many bytes it has decoded and refuses to go on past a budget: small files cannot ask for huge memory.
"""

import base64
import binascii
import json
import os
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from mimik.errors import FileError
from mimik.io.files import atomic_write, read_bytes

Json = dict[str, Any]

MAX_FILE_BYTES = 2 << 30
MAX_DECODED_BYTES = 1 << 30
_LARGEST = 1e12
_GLB_MAGIC, _JSON_CHUNK, _BIN_CHUNK = b"glTF", 0x4E4F534A, 0x004E4942
_EMBEDDED = "data:application/octet-stream;base64,"


class Document:
    """A glTF file in memory. `json` may be edited; binary data are added through `mimik.io._gltf_build`."""

    def __init__(self, path: Path, tables: Json, binary: bytes | None = None) -> None:
        """Wrap parsed JSON and the binary chunk of a .glb (None in a .gltf)."""
        self.path, self.json = path, tables
        self._binary = binary
        self._loaded: dict[int, bytes] = {}  # buffer index -> its bytes
        self._decoded = 0

    def fail(self, message: str) -> FileError:
        """Return an error that names this file."""
        return FileError(self.path, message)

    def table(self, key: str) -> list[Json]:
        """Return a top-level table such as "nodes"; an absent one is empty."""
        return self.objects(self.json.get(key), key)

    def objects(self, value: object, what: str) -> list[Json]:
        """Check that `value` is a list of JSON objects; None counts as empty."""
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            raise self.fail(f"{what} must be a list of objects")
        return value

    def mapping(self, value: object, what: str) -> Json:
        """Check that `value` is a JSON object; None counts as empty."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.fail(f"{what} must be an object")
        return value

    def index(self, value: object, count: int, what: str) -> int:
        """Check that `value` is an integer from 0 to count - 1."""
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
            raise self.fail(f"{what} is {value!r}; valid are the integers 0 to {count - 1}")
        return value

    def indices(self, value: object, count: int, what: str) -> list[int]:
        """Check that `value` is a list of integers from 0 to count - 1; None counts as empty."""
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.fail(f"{what} must be a list of indices")
        return [self.index(entry, count, what) for entry in value]

    def entry(self, key: str, value: object, what: str) -> Json:
        """Return the entry of table `key` that the index `value` of `what` names."""
        table = self.table(key)
        return table[self.index(value, len(table), what)]

    def extension(self, name: str) -> Json | None:
        """Return a top-level extension object, None where the file has none."""
        found = self.mapping(self.json.get("extensions"), "extensions").get(name)
        return None if found is None else self.mapping(found, f"extension {name}")

    def spend(self, size: int) -> None:
        """Count decoded bytes against the budget; raises FileError when it is used up."""
        self._decoded += size
        if self._decoded > MAX_DECODED_BYTES:
            raise self.fail(f"its tables ask for more than {MAX_DECODED_BYTES >> 30} GiB of memory")

    def add_buffer(self, data: bytes) -> int:
        """Append a buffer of new data and return its index; it is merged with the others when the file is saved."""
        buffers = self.json.setdefault("buffers", [])
        buffers.append({"byteLength": len(data)})
        self._loaded[len(buffers) - 1] = data
        return len(buffers) - 1

    def buffer(self, index: int) -> bytes:
        """Return the bytes of a buffer: the binary chunk, an embedded data URI or a side file."""
        if index not in self._loaded:
            entry = self.table("buffers")[index]
            uri = entry.get("uri")
            if uri is None:
                if index != 0 or self._binary is None:
                    raise self.fail(f"buffer {index} has no uri and there is no binary chunk for it")
                data = self._binary
            else:
                data = self.load_uri(uri, f"buffer {index}")
            length = self.index(entry.get("byteLength"), MAX_FILE_BYTES, f"byteLength of buffer {index}")
            if len(data) < length:
                raise self.fail(f"buffer {index} holds {len(data)} bytes, its byteLength says {length}")
            self._loaded[index] = data[:length]
        return self._loaded[index]

    def load_uri(self, uri: object, what: str) -> bytes:
        """Return the bytes behind a data URI or a side file inside this file's own folder."""
        if not isinstance(uri, str):
            raise self.fail(f"the uri of {what} must be text")
        if uri.startswith("data:"):
            head, comma, body = uri.partition(",")
            if not comma or not head.endswith(";base64"):
                raise self.fail(f"{what} has a data URI that is not base64")
            try:
                return base64.b64decode(body, validate=True)
            except (binascii.Error, ValueError) as error:
                raise self.fail(f"{what} has a broken data URI: {error}") from None
        return read_bytes(self.side_file(uri, what), limit=MAX_FILE_BYTES)

    def side_file(self, uri: str, what: str) -> Path:
        """Return the path of a side file; raises FileError when it would leave this file's folder."""
        name = unquote(uri)
        folder = Path(os.path.realpath(self.path.parent))
        parts = name.split("/")
        if not name or "\0" in name or "\\" in name or ":" in name or name.startswith("/") or ".." in parts:
            raise self.fail(f"{what} points to {uri!r}; side files must lie in the folder of the file itself")
        try:
            target = Path(os.path.realpath(folder / name))
            there = target.is_file()
        except (OSError, ValueError):  # names that no file system takes
            target, there = folder, False
        if not target.is_relative_to(folder):
            raise self.fail(f"{what} points to {uri!r}, a link that leaves the folder of the file")
        if not there:
            raise self.fail(f"{what} needs the side file {uri[:200]!r}, which is not there")
        return target


def usable_numbers(value: object, count: int) -> list[float] | None:
    """Return `value` as floats when it is a list of `count` numbers below 1e12 in size, else None."""
    if not isinstance(value, list) or len(value) != count:
        return None
    if not all(isinstance(v, int | float) and not isinstance(v, bool) and abs(v) < _LARGEST for v in value):
        return None
    return [float(v) for v in value]


def read_document(path: str | os.PathLike[str]) -> Document:
    """Read a .glb, .vrm, .vrma or .gltf file; the content decides which it is."""
    path = Path(path)
    data = read_bytes(path, limit=MAX_FILE_BYTES)
    text, binary = _split_glb(path, data) if data[:4] == _GLB_MAGIC else (data, None)
    try:
        tables = json.loads(text)
    except RecursionError:
        raise FileError(path, "its JSON is nested too deeply") from None
    except ValueError as error:
        raise FileError(path, f"neither GLB nor readable glTF JSON: {error}") from None
    if not isinstance(tables, dict):
        raise FileError(path, "its JSON is no object, so this is no glTF file")
    doc = Document(path, tables, binary)
    asset = doc.mapping(tables.get("asset"), "asset")
    if not str(asset.get("version", "")).startswith("2"):
        raise doc.fail(f"asset version is {asset.get('version')!r}; only glTF 2.x is read")
    return doc


def save_document(doc: Document, path: str | os.PathLike[str]) -> None:
    """Write as .gltf with embedded data when the name ends so, as GLB otherwise; the file appears when whole."""
    path = Path(path)
    tables = dict(doc.json)
    chunks = [doc.buffer(i) for i in range(len(doc.table("buffers")))]
    if path.suffix.lower() == ".gltf":
        tables["buffers"] = [
            {"byteLength": len(data), "uri": _EMBEDDED + base64.b64encode(data).decode("ascii")} for data in chunks
        ]
        payload = json.dumps(tables, ensure_ascii=False, indent=1, allow_nan=False).encode("utf-8", errors="replace")
    else:
        binary = _merge_buffers(doc, tables, chunks)
        payload = _join_glb(json.dumps(tables, ensure_ascii=False, separators=(",", ":"), allow_nan=False), binary)
    with atomic_write(path) as temporary:
        temporary.write_bytes(payload)


def _split_glb(path: Path, data: bytes) -> tuple[bytes, bytes | None]:
    """Return the JSON and binary chunks."""
    if len(data) < 20:
        raise FileError(path, f"cut short: a GLB needs at least 20 bytes, this file has {len(data)}")
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise FileError(path, f"GLB version {version}; only version 2 is read")
    if length > len(data):
        raise FileError(path, f"cut short: its header says {length} bytes, the file has {len(data)}")
    text, binary, at = None, None, 12
    while at + 8 <= length:
        size, kind = struct.unpack_from("<II", data, at)
        at += 8
        if at + size > length:
            raise FileError(path, f"cut short: a chunk of {size} bytes stands {length - at} bytes before the end")
        if kind == _JSON_CHUNK and text is None:
            text = data[at : at + size]
        elif kind == _BIN_CHUNK and binary is None:
            binary = data[at : at + size]
        at += size
    if text is None:
        raise FileError(path, "a GLB without a JSON chunk")
    return text, binary


def _join_glb(text: str, binary: bytes) -> bytes:
    body = text.encode("utf-8", errors="replace")
    body += b" " * (-len(body) % 4)
    binary += b"\0" * (-len(binary) % 4)
    chunks = struct.pack("<II", len(body), _JSON_CHUNK) + body
    if binary:
        chunks += struct.pack("<II", len(binary), _BIN_CHUNK) + binary
    return struct.pack("<4sII", _GLB_MAGIC, 2, 12 + len(chunks)) + chunks


def _merge_buffers(doc: Document, tables: Json, chunks: list[bytes]) -> bytes:
    """Lay all buffers behind each other as the one buffer of a GLB and move the buffer views along."""
    starts, merged = [], bytearray()
    for data in chunks:
        merged += b"\0" * (-len(merged) % 4)
        starts.append(len(merged))
        merged += data
    views = []
    for i, view in enumerate(doc.table("bufferViews")):
        start = starts[doc.index(view.get("buffer"), len(starts), f"buffer of view {i}")]
        offset = doc.index(view.get("byteOffset", 0), MAX_FILE_BYTES, f"byteOffset of view {i}")
        views.append({**view, "buffer": 0, "byteOffset": offset + start})
    if views:
        tables["bufferViews"] = views
    tables.pop("buffers", None)
    if merged:
        tables["buffers"] = [{"byteLength": len(merged)}]
    return bytes(merged)
