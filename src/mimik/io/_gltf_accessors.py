"""Typed arrays of a glTF document: any component type, strided, normalised, sparse."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mimik._types import Array, IntArray
from mimik.io._gltf_document import MAX_FILE_BYTES, Document, Json

COMPONENTS: Mapping[int, str] = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS: Mapping[str, int] = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_PACKED = {"EXT_meshopt_compression", "KHR_meshopt_compression"}
_MAX_ELEMENTS, _MAX_UNBACKED = 1 << 28, 1 << 24


def read_floats(doc: Document, index: object, kind: str, what: str) -> Array:
    """Return an accessor as (N, width) float64, normalised integers scaled; raises FileError unless finite."""
    entry = doc.entry("accessors", index, what)
    raw = _read(doc, entry, kind, what)
    with np.errstate(invalid="ignore"):  # a signalling NaN; refused below
        values = raw.astype(np.float64)
    if raw.dtype.kind != "f" and entry.get("normalized") is True:
        values = np.maximum(values / np.iinfo(raw.dtype).max, -1.0)
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        raise doc.fail(f"{what} is not finite at entry {bad[0]}: {values[bad[0]].tolist()}")
    return values


def read_integers(doc: Document, index: object, kind: str, what: str, limit: int) -> IntArray:
    """Return an accessor of unsigned integers below `limit` as (N, width) int64."""
    raw = _read(doc, doc.entry("accessors", index, what), kind, what)
    if raw.dtype.kind != "u":
        raise doc.fail(f"{what} must hold unsigned integers")
    if raw.size and int(raw.max()) >= limit:
        raise doc.fail(f"{what} names {int(raw.max())}; valid are 0 to {limit - 1}")
    return raw.astype(np.int64)


def accessor_count(doc: Document, index: object, what: str) -> int:
    """Return how many elements an accessor says it has."""
    return doc.index(doc.entry("accessors", index, what).get("count"), _MAX_ELEMENTS, f"count of {what}")


def _read(doc: Document, entry: Json, kind: str, what: str) -> npt.NDArray[Any]:
    if entry.get("type") != kind:
        raise doc.fail(f"{what} is of type {entry.get('type')!r}; {kind} is needed")
    component = entry.get("componentType")
    if not isinstance(component, int) or component not in COMPONENTS:
        raise doc.fail(f"{what} has component type {component!r}; valid: {', '.join(map(str, COMPONENTS))}")
    count = doc.index(entry.get("count"), _MAX_ELEMENTS, f"count of {what}")
    dtype, width = np.dtype(COMPONENTS[component]), WIDTHS[kind]
    doc.spend(count * width * 8)
    if entry.get("bufferView") is None:
        if count * width > _MAX_UNBACKED:
            raise doc.fail(f"{what} asks for {count} elements without data behind them")
        values = np.zeros((count, width), dtype)
    else:
        values = _view(doc, entry, dtype, width, count, what)
    if entry.get("sparse") is not None:
        values = _with_sparse(doc, entry, values.copy(), what)
    return values


def _view(doc: Document, entry: Json, dtype: np.dtype[Any], width: int, count: int, what: str) -> npt.NDArray[Any]:
    """Return (count, width) values of a buffer view, whose stride may interleave other data."""
    view = doc.entry("bufferViews", entry.get("bufferView"), f"bufferView of {what}")
    if doc.mapping(view.get("extensions"), "extensions").keys() & {
        "EXT_meshopt_compression",
        "KHR_meshopt_compression",
    }:
        raise doc.fail(f"{what} is compressed with meshopt; save the file without compression")
    data = doc.buffer(doc.index(view.get("buffer"), len(doc.table("buffers")), f"buffer of {what}"))
    start = doc.index(view.get("byteOffset", 0), MAX_FILE_BYTES, f"byteOffset of the view of {what}")
    length = doc.index(view.get("byteLength"), MAX_FILE_BYTES, f"byteLength of the view of {what}")
    if start + length > len(data):
        raise doc.fail(f"the view of {what} ends at byte {start + length}; its buffer has {len(data)}")
    offset = doc.index(entry.get("byteOffset", 0), MAX_FILE_BYTES, f"byteOffset of {what}")
    item = dtype.itemsize * width
    stride = doc.index(view.get("byteStride", item), 1 << 16, f"byteStride of {what}")
    if stride < item:
        raise doc.fail(f"{what} has a stride of {stride} bytes for elements of {item}")
    if count and offset + stride * (count - 1) + item > length:
        raise doc.fail(f"{what} asks for {count} elements of {item} bytes; its view has {length} bytes")
    if not count:
        return np.zeros((0, width), dtype)
    return np.ndarray((count, width), dtype, data, start + offset, (stride, dtype.itemsize))


def _with_sparse(doc: Document, entry: Json, values: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    """Replace the elements that the sparse part lists."""
    sparse = doc.mapping(entry["sparse"], f"sparse part of {what}")
    count = doc.index(sparse.get("count"), len(values) + 1, f"sparse count of {what}")
    places = {**doc.mapping(sparse.get("indices"), "sparse indices"), "type": "SCALAR", "count": count}
    where = _read(doc, places, "SCALAR", f"sparse indices of {what}")[:, 0].astype(np.int64)
    if count and (where.min() < 0 or where.max() >= len(values)):
        raise doc.fail(f"a sparse index of {what} is {int(where.max())}; valid are 0 to {len(values) - 1}")
    given = {**doc.mapping(sparse.get("values"), "sparse values"), **{k: entry[k] for k in ("type", "componentType")}}
    values[where] = _read(doc, {**given, "count": count}, entry["type"], f"sparse values of {what}")
    return values
