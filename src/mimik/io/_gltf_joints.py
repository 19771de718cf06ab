"""Which nodes of a glTF file are joints of a skeleton.

Candidates come from the humanoid table, from skins (those that share bones count as one), from animated nodes, or, when
a file has none of these, from its trees of nodes without meshes. Nodes between joints become joints, nodes above the
root are folded into it.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from mimik._types import Array, IntArray
from mimik.io._gltf_animation import keyed_nodes
from mimik.io._gltf_document import Document, Json
from mimik.io._gltf_humanoid import Humanoid
from mimik.io._gltf_nodes import NodeTree, skewed
from mimik.rig.skeleton import MAX_JOINTS

HALF_TURN_Y = np.array([0.0, 1.0, 0.0, 0.0])
_MAX_SKINS = 1000
_TREES = 64
_LIGHTS = "KHR_lights_punctual"


@dataclass(frozen=True, slots=True, eq=False)
class JointSet:
    """Nodes (J,) that become joints, root first; `above` are the nodes over the root, outermost first.

    `turn` stands in front of everything: VRM 0.x figures face -Z and are turned round.
    """

    nodes: IntArray
    parents: IntArray
    above: tuple[int, ...]
    skins: tuple[int, ...]
    label: str
    turn: Array
    notes: tuple[str, ...] = ()


def candidates(doc: Document, tree: NodeTree, humanoid: Humanoid | None) -> list[JointSet]:
    """Return all skeletons of a file, the largest first; labels are unique."""
    groups = [(set(joints), {i}) for i, joints in enumerate(_skin_joints(doc))]
    if humanoid is not None:
        groups.append((set(humanoid.bones.values()), set()))
    merged = _merge(tree, [(part, skins) for nodes, skins in groups for part in _split_by_root(tree, nodes)])
    if not merged:
        keyed = set().union(*(keyed_nodes(doc, a) for a in doc.table("animations")), set())
        parts = sorted(_split_by_root(tree, keyed), key=len, reverse=True)[:_TREES]
        merged = [(_subtree(doc, tree, _apex(tree, part)), set()) for part in parts]
    if not merged:
        plain = {n for n, node in enumerate(doc.table("nodes")) if not carries(node)}
        merged = [(_closure(tree, part), set()) for part in _split_by_root(tree, plain) if len(part) > 1]
    merged.sort(key=lambda group: -len(group[0]))
    turn = HALF_TURN_Y if humanoid is not None and humanoid.kind == "VRM 0.x" else np.array([0.0, 0.0, 0.0, 1.0])
    return _label(doc, [_joint_set(doc, tree, nodes, skins, turn) for nodes, skins in merged])


def _skin_joints(doc: Document) -> list[list[int]]:
    count = len(doc.table("nodes"))
    if len(doc.table("skins")) > _MAX_SKINS:
        raise doc.fail(f"{len(doc.table('skins'))} skins; at most {_MAX_SKINS} are read")
    lists = [doc.indices(s.get("joints"), count, f"joint of skin {i}") for i, s in enumerate(doc.table("skins"))]
    empty = [i for i, joints in enumerate(lists) if not joints]
    if empty:
        raise doc.fail(f"skin {empty[0]} has no joints")
    return lists


def _split_by_root(tree: NodeTree, nodes: set[int]) -> list[set[int]]:
    """Split nodes that stand in different trees of the scene."""
    top = np.arange(len(tree.parents))
    for node in tree.order:
        if tree.parents[node] >= 0:
            top[node] = top[tree.parents[node]]
    parts: dict[int, set[int]] = {}
    for node in nodes:
        parts.setdefault(int(top[node]), set()).add(node)
    return list(parts.values())


def _apex(tree: NodeTree, nodes: set[int]) -> int:
    """Return the lowest node that is above, or one of, all `nodes`, which stand in one tree."""
    heap = [(-int(tree.depth[node]), node) for node in nodes]
    heapq.heapify(heap)
    waiting = set(nodes)
    while len(waiting) > 1:
        _, node = heapq.heappop(heap)
        waiting.discard(node)
        parent = int(tree.parents[node])
        if parent not in waiting:
            waiting.add(parent)
            heapq.heappush(heap, (-int(tree.depth[parent]), parent))
    return waiting.pop()


def _closure(tree: NodeTree, nodes: set[int]) -> set[int]:
    """Add the nodes between `nodes` and the apex above them."""
    apex = _apex(tree, nodes)
    closed = {apex}
    for node in nodes:
        while node not in closed:
            closed.add(node)
            node = int(tree.parents[node])
    return closed


def _merge(tree: NodeTree, parts: list[tuple[set[int], set[int]]]) -> list[tuple[set[int], set[int]]]:
    """Join the parts whose closures share nodes; return (nodes, skins) groups."""
    groups: list[tuple[set[int], set[int]]] = []
    for nodes, skins in parts:
        closed, joined = _closure(tree, nodes), set(skins)
        while touching := [g for g in groups if g[0] & closed]:
            for group in touching:
                groups.remove(group)
                closed, joined = closed | group[0], joined | group[1]
            closed = _closure(tree, closed)
        groups.append((closed, joined))
    return groups


def _subtree(doc: Document, tree: NodeTree, top: int) -> set[int]:
    """Return `top` and all nodes below it, less leaves that carry a mesh, a camera or a light."""
    inside = {top}
    for node in tree.order:
        if int(tree.parents[node]) in inside:
            inside.add(int(node))
    nodes = doc.table("nodes")
    return _closure(tree, {n for n in inside if not carries(nodes[n])} | {top})


def carries(node: Json) -> bool:
    """Say whether a node shows something: a mesh, a camera, a light."""
    extensions = node.get("extensions")
    return bool(node.keys() & {"mesh", "camera"}) or (isinstance(extensions, dict) and _LIGHTS in extensions)


def _joint_set(doc: Document, tree: NodeTree, nodes: set[int], skins: set[int], turn: Array) -> JointSet:
    if len(nodes) > MAX_JOINTS:
        raise doc.fail(f"a skeleton of {len(nodes)} joints; at most {MAX_JOINTS} are read")
    order = _joint_order(doc, tree, nodes, skins)
    place = {node: j for j, node in enumerate(order)}
    parents = [place.get(int(tree.parents[node]), -1) for node in order]
    above = tree.ancestors(order[0])
    notes = [f"node {tree.names[n]!r} is sheared: positions are kept, its axes are squared" for n in tree.sheared]
    chain = [*above, *order]
    uneven = [tree.names[n] for n in chain if skewed(tree.scale[n])]
    if uneven:
        notes.append(f"scales differ by axis on {', '.join(uneven[:6])}: positions are kept, joint axes are squared")
    if turn[3] == 0.0:
        notes.append("VRM 0.x faces -Z: turned to face +Z")
    return JointSet(
        np.array(order, dtype=np.int64),
        np.array(parents, dtype=np.int64),
        tuple(above),
        tuple(sorted(skins)),
        tree.names[order[0]],
        turn,
        tuple(notes[:8]),
    )


def _joint_order(doc: Document, tree: NodeTree, nodes: set[int], skins: set[int]) -> list[int]:
    """Keep the order of the only skin, else that of the nodes, where parents stand first; else go limb by limb."""
    listed = doc.table("skins")[min(skins)]["joints"] if len(skins) == 1 else []
    for order in (listed, sorted(nodes)):
        if len(order) == len(nodes) and set(order) == nodes:
            rank = {node: k for k, node in enumerate(order)}
            if all(rank.get(int(tree.parents[node]), -1) < k for k, node in enumerate(order)):
                return list(order)
    return _depth_first(tree, nodes)


def _depth_first(tree: NodeTree, nodes: set[int]) -> list[int]:
    """Order nodes with parents before children, limb by limb, children in the file's order."""
    below: dict[int, list[int]] = {}
    for node in tree.order:
        if int(node) in nodes:
            below.setdefault(int(tree.parents[node]), []).append(int(node))
    root = next(int(n) for n in tree.order if int(n) in nodes)
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(reversed(below.get(node, [])))
    return order


def _label(doc: Document, sets: list[JointSet]) -> list[JointSet]:
    """Name each skeleton by its only skin where that has a name of its own, else by its root joint."""
    skins = doc.table("skins")
    labels = []
    for joints in sets:
        name = skins[joints.skins[0]].get("name") if len(joints.skins) == 1 else None
        labels.append(name if isinstance(name, str) and name else joints.label)
    return [replace(joints, label=label) for joints, label in zip(sets, unique_names(labels))]


def unique_names(names: Iterable[str]) -> list[str]:
    """Append _2, _3, ... to names that came before."""
    seen: set[str] = set()
    out = []
    for name in names:
        unique, k = name, 1
        while unique in seen:
            k += 1
            unique = f"{name}_{k}"
        seen.add(unique)
        out.append(unique)
    return out
