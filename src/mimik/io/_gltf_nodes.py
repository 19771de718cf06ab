"""The node tree of a glTF document: parents, order and rest transforms, checked for cycles and broken numbers."""

from dataclasses import dataclass

import numpy as np

from mimik._types import Array, IntArray
from mimik.io._gltf_document import Document, Json, usable_numbers
from mimik.rotation import matrix_to_quat, quat_normalize, quat_to_matrix

MAX_NODES = 20_000
UNIFORM = 1e-5  # largest relative difference of the axes of a scale that counts as uniform


@dataclass(frozen=True, slots=True, eq=False)
class NodeTree:
    """All nodes of a file with their rest transforms, relative to their parents.

    names (N,), parents (N,) with -1 for roots, order (N,) parents before children, depth (N,),
    translation (N, 3), rotation (N, 4), scale (N, 3); sheared lists matrix nodes that no such triple can hold.
    """

    names: tuple[str, ...]
    parents: IntArray
    order: IntArray
    depth: IntArray
    translation: Array
    rotation: Array
    scale: Array
    sheared: tuple[int, ...]

    def children(self, node: int) -> list[int]:
        """Return the children of a node."""
        return [int(n) for n in np.flatnonzero(self.parents == node)]

    def ancestors(self, node: int) -> list[int]:
        """Return the nodes above `node`, outermost first."""
        chain = []
        while (node := int(self.parents[node])) >= 0:
            chain.append(node)
        return chain[::-1]

    def world_matrices(self) -> Array:
        """Return the world matrix (N, 4, 4) of every node at rest, scales included."""
        local = np.zeros((len(self.parents), 4, 4))
        local[:, :3, :3] = quat_to_matrix(self.rotation) * self.scale[:, None, :]
        local[:, :3, 3], local[:, 3, 3] = self.translation, 1.0
        for node in self.order:
            if self.parents[node] >= 0:
                local[node] = local[self.parents[node]] @ local[node]
        return local


def read_nodes(doc: Document) -> NodeTree:
    """Read and check the node table; raises FileError for cycles, shared children and numbers that are not finite."""
    nodes = doc.table("nodes")
    if len(nodes) > MAX_NODES:
        raise doc.fail(f"{len(nodes)} nodes; at most {MAX_NODES} are read")
    parents, order, depth = _links(doc, nodes)
    translation, rotation, scale = np.zeros((len(nodes), 3)), np.zeros((len(nodes), 4)), np.ones((len(nodes), 3))
    rotation[:, 3] = 1.0
    sheared = []
    for i, node in enumerate(nodes):
        if node.get("matrix") is not None:
            matrix = _numbers(doc, node["matrix"], 16, f"matrix of node {i}").reshape(4, 4).T
            translation[i], rotation[i], scale[i], exact = _split_matrix(matrix)
            if not exact:
                sheared.append(i)
            continue
        for key, into in (("translation", translation), ("rotation", rotation), ("scale", scale)):
            if node.get(key) is not None:
                into[i] = _numbers(doc, node[key], into.shape[1], f"{key} of node {i}")
    names = tuple(name if isinstance(name := n.get("name"), str) and name else f"node_{i}" for i, n in enumerate(nodes))
    return NodeTree(names, parents, order, depth, translation, quat_normalize(rotation), scale, tuple(sheared))


def _links(doc: Document, nodes: list[Json]) -> tuple[IntArray, IntArray, IntArray]:
    """Return parents, an order with parents first, and depths."""
    count = len(nodes)
    parents = np.full(count, -1, dtype=np.int64)
    children = []
    for i, node in enumerate(nodes):
        children.append(doc.indices(node.get("children"), count, f"child of node {i}"))
        for child in children[i]:
            if parents[child] >= 0:
                raise doc.fail(f"node {child} is a child of node {parents[child]} and of node {i}")
            parents[child] = i
    order = [i for i in range(count) if parents[i] < 0]
    depth = np.zeros(count, dtype=np.int64)
    for node_index in order:
        depth[children[node_index]] = depth[node_index] + 1
        order.extend(children[node_index])
    if len(order) != count:
        stuck = sorted(set(range(count)) - set(order))
        raise doc.fail(f"nodes {stuck[:8]} are their own ancestors")
    return parents, np.array(order, dtype=np.int64), depth


def _numbers(doc: Document, value: object, count: int, what: str) -> Array:
    numbers = usable_numbers(value, count)
    if numbers is None:
        raise doc.fail(f"{what} must be a list of {count} usable numbers, not {str(value)[:80]}")
    return np.array(numbers)


def _split_matrix(matrix: Array) -> tuple[Array, Array, Array, bool]:
    """Return translation, rotation, scale of an affine matrix, and whether they give it back exactly."""
    linear = matrix[:3, :3]
    scale = np.linalg.norm(linear, axis=0)
    if scale.min() < 1e-30:
        return matrix[:3, 3], np.array([0.0, 0.0, 0.0, 1.0]), scale, bool(scale.max() < 1e-30)
    if np.linalg.det(linear / scale) < 0.0:
        scale = -scale
    u, _, vt = np.linalg.svd(linear / scale)
    turn = u @ vt
    return (
        matrix[:3, 3],
        matrix_to_quat(turn),
        scale,
        bool(np.abs(turn * scale - linear).max() <= 1e-5 * abs(scale).max()),
    )


def skewed(scale: Array) -> bool:
    """Say whether some of the scales (..., 3) differ by axis."""
    return bool(np.any(np.ptp(scale, axis=-1) > UNIFORM * np.abs(scale).max(axis=-1)))
