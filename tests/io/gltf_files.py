"""Builds glTF files for the tests, apart from the code under test, and poses their nodes with plain matrices."""

import json
import struct
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

COMPONENTS = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


class GltfFile:
    """Nodes, accessors, skins and animations of one file."""

    def __init__(self):
        self.json = {"asset": {"version": "2.0"}, "nodes": [], "accessors": [], "bufferViews": []}
        self.data = bytearray()

    def node(self, name, *, parent=None, **properties):
        """Append a node; returns its index."""
        self.json["nodes"].append({"name": name, **properties})
        index = len(self.json["nodes"]) - 1
        if parent is not None:
            self.json["nodes"][parent].setdefault("children", []).append(index)
        return index

    def view(self, data):
        """Append bytes as a buffer view."""
        self.data += b"\0" * (-len(self.data) % 4)
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data)})
        self.data += data
        return len(self.json["bufferViews"]) - 1

    def accessor(self, values, dtype="f4", **extra):
        """Append an accessor of (N,) or (N, W) values."""
        table = np.asarray(values, dtype=f"<{dtype}").reshape(len(values), -1)
        entry = {"bufferView": self.view(table.tobytes()), "componentType": COMPONENTS[dtype]}
        self.json["accessors"].append({**entry, "count": len(table), "type": KINDS[table.shape[1]], **extra})
        return len(self.json["accessors"]) - 1

    def skin(self, joints, inverse_binds=None, **extra):
        """Append a skin."""
        entry = {"joints": list(joints), **extra}
        if inverse_binds is not None:
            columns = np.asarray(inverse_binds).transpose(0, 2, 1).reshape(-1, 16)
            entry["inverseBindMatrices"] = self.accessor(columns)
        self.json.setdefault("skins", []).append(entry)
        return len(self.json["skins"]) - 1

    def mesh(self, vertices, joints=None, weights=None, faces=((0, 1, 2),), **extra):
        """Append a mesh of one primitive."""
        attributes = {"POSITION": self.accessor(vertices)}
        if joints is not None:
            attributes["JOINTS_0"] = self.accessor(joints, "u2")
            attributes["WEIGHTS_0"] = self.accessor(weights)
        primitive = {"attributes": attributes, "indices": self.accessor(np.ravel(faces), "u2"), **extra}
        self.json.setdefault("meshes", []).append({"primitives": [primitive]})
        return len(self.json["meshes"]) - 1

    def animation(self, channels, name=None):
        """Append an animation of (node, path, times, values, interpolation) channels."""
        samplers, entries = [], []
        for node, path, times, values, interpolation in channels:
            output = values if isinstance(values, int) else self.accessor(values)
            source = times if isinstance(times, int) else self.accessor(times)
            samplers.append({"input": source, "output": output, "interpolation": interpolation})
            entries.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})
        self.json.setdefault("animations", []).append({"channels": entries, "samplers": samplers})
        if name is not None:
            self.json["animations"][-1]["name"] = name

    def save(self, path):
        """Write as .glb, or as .gltf with a side file; returns the path."""
        path = Path(path)
        tables = {key: value for key, value in self.json.items() if value != []}
        if self.data:
            tables["buffers"] = [{"byteLength": len(self.data)}]
        if path.suffix == ".gltf":
            if self.data:
                tables["buffers"][0].setdefault("uri", path.stem + ".bin")
                path.with_suffix(".bin").write_bytes(self.data)
            path.write_text(json.dumps(tables))
            return path
        text = json.dumps(tables).encode()
        text += b" " * (-len(text) % 4)
        data = bytes(self.data) + b"\0" * (-len(self.data) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
        path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
        return path


def node_matrix(node, moved=None):
    """Return the local matrix of a node, with some of its properties replaced."""
    node = {**node, **(moved or {})}
    if "matrix" in node:
        return np.array(node["matrix"], dtype=float).reshape(4, 4).T
    matrix = np.eye(4)
    turn = Rotation.from_quat(node.get("rotation", [0, 0, 0, 1])).as_matrix()
    matrix[:3, :3] = turn @ np.diag(node.get("scale", [1, 1, 1]))
    matrix[:3, 3] = node.get("translation", [0, 0, 0])
    return matrix


def world_matrices(nodes, moved=None):
    """Return the world matrix of every node; `moved` maps nodes to replaced properties."""
    moved = moved or {}
    parents = {child: i for i, node in enumerate(nodes) for child in node.get("children", [])}

    def world(i):
        own = node_matrix(nodes[i], moved.get(i))
        return world(parents[i]) @ own if i in parents else own

    return np.array([world(i) for i in range(len(nodes))])


def read_json(path):
    """Return the JSON of a .glb."""
    data = Path(path).read_bytes()
    return json.loads(data[20 : 20 + struct.unpack_from("<I", data, 12)[0]])
