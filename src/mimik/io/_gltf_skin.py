"""Meshes of a glTF file that one skeleton carries, as a single skin in the pose they were bound in."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mimik._types import Array, IntArray
from mimik.io._gltf_accessors import read_floats, read_integers
from mimik.io._gltf_bones import STAND_IN
from mimik.io._gltf_document import Document, Json, usable_numbers
from mimik.io._gltf_joints import JointSet
from mimik.io._gltf_nodes import NodeTree
from mimik.rig.kinematics import forward_kinematics
from mimik.rig.skeleton import Skeleton
from mimik.rig.skin import Skin
from mimik.rotation import quat_to_matrix

_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_FLAT = 1e-18  # a bind with a smaller determinant cannot be turned round
_ROUNDING = 1e-5  # a mesh frame this near to the world's is the world's


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One primitive: vertices (V, 3), faces (F, 3), joints (V, K), weights (V, K), colours (V, 4)."""

    vertices: Array
    faces: IntArray
    joints: IntArray
    weights: Array
    colours: Array


def read_skin(doc: Document, tree: NodeTree, joints: JointSet, skeleton: Skeleton) -> tuple[Skin | None, list[str]]:
    """Return the skin that the joints carry, None when there is no mesh or only one of bones, and notes.

    Node scales are folded into the binds. Meshes hung on a joint without a skin move rigidly with it.
    """
    place = {int(node): j for j, node in enumerate(joints.nodes)}
    world = _turned(tree.world_matrices(), joints)
    rigid = _rest_frames(skeleton)
    to_joint = np.linalg.inv(rigid) @ world[joints.nodes]  # the scale and shear a rig's joints do not have
    binds = _Binds(to_joint, rigid)
    parts: list[_Part] = []
    notes: list[str] = []
    hung: list[tuple[int, Json, int]] = []
    for i, node in enumerate(doc.table("nodes")):
        if node.get("mesh") is None:
            continue
        mesh = doc.entry("meshes", node["mesh"], f"mesh of node {i}")
        if mesh.get("extras") == STAND_IN:
            continue
        if node.get("skin") is None:
            owner = _owner(tree, i, place)
            hung += [] if owner is None else [(i, mesh, owner)]
            continue
        skin = doc.index(node["skin"], len(doc.table("skins")), f"skin of node {i}")
        if skin in joints.skins:
            parts += _parts(doc, mesh, *binds.of_skin(doc, skin, place), notes)
    for i, mesh, owner in hung:
        move = binds.frames[owner] @ np.linalg.inv(rigid[owner]) @ world[i]
        parts += _parts(doc, mesh, np.array([owner]), move[None], notes)
    if not parts:
        return None, notes
    unbind = np.asarray(np.linalg.inv(binds.frames), dtype=np.float64)
    return _joined(parts, unbind, str(doc.table("meshes")[0].get("name") or "")), notes


class _Binds:
    """Brings the binds of all skins to one: `frames` (J, 4, 4) are where the joints stand when the mesh is bound."""

    def __init__(self, to_joint: Array, rigid: Array) -> None:
        self._to_joint, self.frames = to_joint, rigid.copy()
        self._known = np.zeros(len(rigid), dtype=bool)

    def of_skin(self, doc: Document, index: int, place: dict[int, int]) -> tuple[IntArray, Array]:
        """Return the joints (N,) of a skin and the matrices (N, 4, 4) from its mesh frame to the common one."""
        skin = doc.table("skins")[index]
        nodes = doc.indices(skin.get("joints"), len(doc.table("nodes")), f"joint of skin {index}")
        table = np.array([place[n] for n in nodes if n in place], dtype=np.int64)
        if len(table) != len(nodes):
            raise doc.fail(f"skin {index} binds joints of two separate trees")
        own = self._to_joint[table] @ _inverse_binds(doc, skin, index, len(nodes))  # mesh frame -> rigid joint frame
        ranked = np.flatnonzero(np.abs(np.linalg.det(own[:, :3, :3])) > _FLAT)
        if not len(ranked):
            return table, self.frames[table] @ own
        shared = ranked[self._known[table[ranked]]]
        first = int(shared[0]) if len(shared) else int(ranked[np.argmin(table[ranked])])
        move = self.frames[table[first]] @ own[first]
        if np.abs(move - np.eye(4)).max() < _ROUNDING:
            move = np.eye(4)
        new = ranked[~self._known[table[ranked]]]
        self.frames[table[new]] = move @ np.linalg.inv(own[new])
        self._known[table[new]] = True
        moves = self.frames[table] @ own
        moves[new] = move
        return table, moves


def _inverse_binds(doc: Document, skin: Json, index: int, count: int) -> Array:
    """Return (count, 4, 4); identities where the file gives none."""
    if skin.get("inverseBindMatrices") is None:
        return np.tile(np.eye(4), (count, 1, 1))
    what = f"inverseBindMatrices of skin {index}"
    given = read_floats(doc, skin["inverseBindMatrices"], "MAT4", what)
    if len(given) < count:
        raise doc.fail(f"{what} holds {len(given)} matrices for {count} joints")
    inverse = given[:count].reshape(-1, 4, 4).transpose(0, 2, 1).copy()
    inverse[:, 3] = [0.0, 0.0, 0.0, 1.0]
    return inverse


def _turned(world: Array, joints: JointSet) -> Array:
    turn = np.eye(4)
    turn[:3, :3] = quat_to_matrix(joints.turn)
    return turn @ world


def _rest_frames(skeleton: Skeleton) -> Array:
    """Return (J, 4, 4) of the joints at rest."""
    q, p = forward_kinematics(skeleton.parents, skeleton.offsets, skeleton.rest, skeleton.offsets[0])
    frames = np.zeros((len(p), 4, 4))
    frames[:, :3, :3], frames[:, :3, 3], frames[:, 3, 3] = quat_to_matrix(q), p, 1.0
    return frames


def _owner(tree: NodeTree, node: int, place: dict[int, int]) -> int | None:
    while node >= 0:
        if node in place:
            return place[node]
        node = int(tree.parents[node])
    return None


def _parts(doc: Document, mesh: Json, table: IntArray, moves: Array, notes: list[str]) -> list[_Part]:
    parts = []
    for primitive in doc.objects(mesh.get("primitives"), "mesh primitives"):
        if primitive.get("mode", _TRIANGLES) not in (_TRIANGLES, _STRIP, _FAN):
            continue
        if "KHR_draco_mesh_compression" in doc.mapping(primitive.get("extensions"), "extensions"):
            notes.append("a mesh is compressed with Draco and was left out of the skin")
            continue
        part = _part(doc, primitive, table, moves)
        if part is not None:
            parts.append(part)
    return parts


def _part(doc: Document, primitive: Json, table: IntArray, moves: Array) -> _Part | None:
    attributes = doc.mapping(primitive.get("attributes"), "mesh attributes")
    if attributes.get("POSITION") is None:
        return None
    vertices = read_floats(doc, attributes["POSITION"], "VEC3", "POSITION")
    count = len(vertices)
    if attributes.get("JOINTS_0") is None:
        bound, weights = np.zeros((count, 1), dtype=np.int64), np.ones((count, 1))
    else:
        bound, weights = _influences(doc, attributes, len(table), count)
    weights = weights / weights.sum(axis=1, keepdims=True)
    moved = np.zeros_like(vertices)
    for k in range(weights.shape[1]):
        move = moves[bound[:, k]]
        moved += weights[:, k, None] * ((move[:, :3, :3] @ vertices[:, :, None])[..., 0] + move[:, :3, 3])
    colours = _colours(doc, primitive, attributes, count)
    return _Part(moved, _faces(doc, primitive, count), table[bound], weights, colours)


def _influences(doc: Document, attributes: Json, joint_count: int, count: int) -> tuple[IntArray, Array]:
    joints, weights = [], []
    for k in range(4):
        if attributes.get(f"JOINTS_{k}") is None:
            break
        joints.append(read_integers(doc, attributes[f"JOINTS_{k}"], "VEC4", f"JOINTS_{k}", 1 << 16))
        weights.append(read_floats(doc, attributes.get(f"WEIGHTS_{k}"), "VEC4", f"WEIGHTS_{k}"))
        if len(joints[k]) != count or len(weights[k]) != count:
            raise doc.fail(f"JOINTS_{k} and WEIGHTS_{k} must have {count} entries like POSITION")
    index, weight = np.concatenate(joints, axis=1), np.maximum(np.concatenate(weights, axis=1), 0.0)
    index = np.where(weight > 0.0, index, 0)
    if index.size and index.max() >= joint_count:
        raise doc.fail(f"a vertex is bound to joint {int(index.max())} of a skin of {joint_count} joints")
    weight[weight.sum(axis=1) <= 0.0, 0] = 1.0
    return index, weight


def _faces(doc: Document, primitive: Json, count: int) -> IntArray:
    if primitive.get("indices") is None:
        corner = np.arange(count, dtype=np.int64)
    else:
        corner = read_integers(doc, primitive["indices"], "SCALAR", "mesh indices", max(count, 1))[:, 0]
    mode = primitive.get("mode", _TRIANGLES)
    if mode == _TRIANGLES:
        return corner[: len(corner) // 3 * 3].reshape(-1, 3)
    if mode == _FAN:
        first = np.full(max(len(corner) - 2, 0), corner[0] if len(corner) else 0)
        return np.stack([first, corner[1:-1], corner[2:]], axis=1) if len(first) else np.zeros((0, 3), dtype=np.int64)
    strip = np.stack([corner[:-2], corner[1:-1], corner[2:]], axis=1) if len(corner) > 2 else np.zeros((0, 3), np.int64)
    strip[1::2, :2] = strip[1::2, 1::-1].copy()
    return strip


def _colours(doc: Document, primitive: Json, attributes: Json, count: int) -> Array:
    """Return (V, 4): the material's base colour times the vertex colours."""
    colours = np.ones((count, 4))
    if primitive.get("material") is not None:
        material = doc.entry("materials", primitive["material"], "material of a mesh")
        base = doc.mapping(material.get("pbrMetallicRoughness"), "pbrMetallicRoughness").get("baseColorFactor")
        colours *= np.clip(usable_numbers(base, 4) or [1.0] * 4, 0.0, 1.0)
    if attributes.get("COLOR_0") is not None:
        kind = doc.entry("accessors", attributes["COLOR_0"], "COLOR_0").get("type")
        given = read_floats(doc, attributes["COLOR_0"], "VEC3" if kind == "VEC3" else "VEC4", "COLOR_0")
        if len(given) != count:
            raise doc.fail(f"COLOR_0 must have {count} entries like POSITION")
        colours[:, : given.shape[1]] *= np.clip(given, 0.0, 1.0)
    return colours


def _joined(parts: list[_Part], inverse_bind: Array, name: str) -> Skin:
    width = max(p.joints.shape[1] for p in parts)
    starts = np.cumsum([0, *(len(p.vertices) for p in parts)])
    return Skin(
        np.concatenate([p.vertices for p in parts]),
        np.concatenate([p.faces + start for p, start in zip(parts, starts)]),
        np.concatenate([_padded(p.joints, width) for p in parts]),
        np.concatenate([_padded(p.weights, width) for p in parts]),
        inverse_bind,
        colours=np.concatenate([p.colours for p in parts]),
        name=name,
    )


def _padded(values: npt.NDArray[Any], width: int) -> npt.NDArray[Any]:
    return np.pad(values, ((0, 0), (0, width - values.shape[1])))
