"""Writing into a glTF document: accessors, skins, meshes, animations."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mimik._types import Array, IntArray
from mimik.io._gltf_document import Document, Json
from mimik.rig.skin import Skin
from mimik.rotation import quat_align

_COMPONENT_OF: Mapping[str, int] = {"u1": 5121, "u2": 5123, "u4": 5125, "f4": 5126}
_KIND_OF: Mapping[int, str] = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
VERTEX_DATA, INDEX_DATA = 34962, 34963
_GREY = (0.72, 0.75, 0.8, 1.0)


class Builder:
    """Collects new binary data for a document; `finish` hands them over as one buffer."""

    def __init__(self, doc: Document) -> None:
        """Add to `doc`."""
        self.doc = doc
        self._data = bytearray()
        self._buffer = len(doc.table("buffers"))
        self._shared: dict[tuple[int, bytes], int] = {}

    def add(self, key: str, entry: Json) -> int:
        """Append an entry to a top-level table and return its index."""
        table = self.doc.json.setdefault(key, [])
        table.append(entry)
        return len(table) - 1

    def view(self, data: bytes, target: int | None = None) -> int:
        """Append bytes on a 4-byte boundary and return their buffer view."""
        self._data += b"\0" * (-len(self._data) % 4)
        entry = {"buffer": self._buffer, "byteOffset": len(self._data), "byteLength": len(data)}
        if target is not None:
            entry["target"] = target
        self._data += data
        return self.add("bufferViews", entry)

    def accessor(self, values: npt.NDArray[Any], dtype: str, *, target: int | None = None, bounds: bool = False) -> int:
        """Append (N,) or (N, width) values; `bounds` writes min and max, as key times and positions need."""
        table = np.ascontiguousarray(values.reshape(len(values), -1), dtype=f"<{dtype}")
        entry: Json = {
            "bufferView": self.view(table.tobytes(), target),
            "componentType": _COMPONENT_OF[dtype],
            "count": len(table),
            "type": _KIND_OF[table.shape[1]],
        }
        if bounds:
            entry["min"], entry["max"] = table.min(axis=0).tolist(), table.max(axis=0).tolist()
        return self.add("accessors", entry)

    def times(self, seconds: Array) -> int:
        """Return the accessor of key times, shared by all channels that have the same ones."""
        key = (len(seconds), np.asarray(seconds, dtype="<f4").tobytes())
        if key not in self._shared:
            self._shared[key] = self.accessor(seconds, "f4", bounds=True)
        return self._shared[key]

    def finish(self) -> Document:
        """Hand the collected data to the document."""
        if self._data:
            self.doc.add_buffer(bytes(self._data))
        return self.doc


class AnimationBuilder:
    """Collects the channels of one animation, frames at `fps` from time 0."""

    def __init__(self, builder: Builder, frame_count: int, fps: float) -> None:
        """Write into `builder`."""
        self._builder, self._seconds, self._fps = builder, np.arange(frame_count) / fps, fps
        self.channels: list[Json] = []
        self.samplers: list[Json] = []

    def rotation(self, node: int, quats: Array) -> None:
        """Add local rotations (T, 4) of a node, with continuous signs."""
        self._channel(node, "rotation", quat_align(quats))

    def translation(self, node: int, places: Array) -> None:
        """Add local positions (T, 3) of a node."""
        self._channel(node, "translation", places)

    def finish(self, name: str) -> Json:
        """Return the animation; the frame rate stands in its extras."""
        return {"name": name, "channels": self.channels, "samplers": self.samplers, "extras": {"fps": self._fps}}

    def _channel(self, node: int, path: str, values: Array) -> None:
        seconds = self._seconds
        if len(values) > 2 and np.ptp(values, axis=0).max() == 0.0:
            seconds, values = seconds[[0, -1]], values[[0, -1]]
        sampler = {"input": self._builder.times(seconds), "output": self._builder.accessor(values, "f4")}
        self.samplers.append({**sampler, "interpolation": "LINEAR"})
        self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": path}})


def add_skin(builder: Builder, skin: Skin, nodes: IntArray, root: int, name: str) -> int:
    """Append a glTF skin over the joint nodes (J,) and return its index."""
    columns = skin.inverse_bind.transpose(0, 2, 1).reshape(-1, 16).copy()
    columns[:, [3, 7, 11]], columns[:, 15] = 0.0, 1.0
    binds = builder.accessor(columns, "f4")
    return builder.add(
        "skins", {"name": name, "inverseBindMatrices": binds, "joints": nodes.tolist(), "skeleton": root}
    )


def add_mesh(builder: Builder, skin: Skin, name: str) -> int:
    """Append the mesh of a skin with normals and, where it has them, vertex colours; return its index."""
    attributes = {
        "POSITION": builder.accessor(skin.vertices, "f4", target=VERTEX_DATA, bounds=True),
        "NORMAL": builder.accessor(skin.normals(), "f4", target=VERTEX_DATA),
    }
    plain = _one_colour(skin)
    if plain is None:
        attributes["COLOR_0"] = builder.accessor(np.asarray(skin.colours), "f4", target=VERTEX_DATA)
    groups = -(-skin.joints.shape[1] // 4)
    spare = groups * 4 - skin.joints.shape[1]
    weights = np.pad(skin.weights, ((0, 0), (0, spare)))
    joints = np.where(weights > 0.0, np.pad(skin.joints, ((0, 0), (0, spare))), 0)
    for k in range(groups):
        part = slice(4 * k, 4 * k + 4)
        attributes[f"JOINTS_{k}"] = builder.accessor(joints[:, part], "u2", target=VERTEX_DATA)
        attributes[f"WEIGHTS_{k}"] = builder.accessor(weights[:, part], "f4", target=VERTEX_DATA)
    indices = builder.accessor(skin.faces.reshape(-1), "u4", target=INDEX_DATA)
    material = builder.add(
        "materials",
        {
            "name": f"{name} material",
            "pbrMetallicRoughness": {
                "baseColorFactor": plain or [1.0, 1.0, 1.0, 1.0],
                "metallicFactor": 0.0,
                "roughnessFactor": 0.7,
            },
        },
    )
    primitive = {"attributes": attributes, "indices": indices, "material": material}
    return builder.add("meshes", {"name": name, "primitives": [primitive]})


def _one_colour(skin: Skin) -> list[float] | None:
    """Return the colour of the whole mesh, None when its vertices differ."""
    if skin.colours is None or not len(skin.colours):
        return list(_GREY)
    return skin.colours[0].tolist() if np.ptp(skin.colours, axis=0).max() == 0.0 else None
