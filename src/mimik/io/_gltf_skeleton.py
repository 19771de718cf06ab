"""Which nodes of a glTF file are the skeleton, and their transforms without scales.

Candidates come from the humanoid table, from skins (those that share bones count as one), from animated nodes, or, when
a file has none of these, from its trees of nodes without meshes. Nodes between joints become joints, nodes above the
root are folded into it.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from mimik._types import Array, IntArray
from mimik.errors import OptionError, one_of
from mimik.io._gltf_animation import Motion, keyed_nodes
from mimik.io._gltf_document import Document, Json
from mimik.io._gltf_humanoid import Humanoid
from mimik.io._gltf_nodes import NodeTree
from mimik.rig.build import build_rig
from mimik.rig.skeleton import MAX_JOINTS, Skeleton
from mimik.rotation import identity_quat, matrix_to_quat, quat_apply, quat_inv, quat_mul, quat_to_matrix

HALF_TURN_Y = np.array([0.0, 1.0, 0.0, 0.0])
_UNIFORM = 1e-5  # largest relative difference of the axes of a scale that counts as uniform
_COMPARED = 8
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


def choose_joints(doc: Document, tree: NodeTree, humanoid: Humanoid | None, wanted: str | int | None) -> JointSet:
    """Return the joints of the skeleton to read: `wanted` (root name, skin name, index) or the most human one."""
    found = candidates(doc, tree, humanoid)
    if not found:
        raise doc.fail("no skeleton: it has no skin, no animated node and no tree of nodes without meshes")
    labels = [c.label for c in found]
    if wanted is not None:
        if isinstance(wanted, int) and 0 <= wanted < len(found):
            return found[wanted]
        if wanted in labels:
            return found[labels.index(str(wanted))]
        raise OptionError(one_of("skeleton of this file", wanted, [*labels, *map(str, range(len(found)))]))
    if len(found) == 1:
        return found[0]
    best = max(range(min(len(found), _COMPARED)), key=lambda i: _rank(doc, tree, found[i], humanoid))
    others = [f"{c.label} ({len(c.nodes)} joints)" for i, c in enumerate(found) if i != best]
    note = f"{len(found)} skeletons; read {found[best].label!r}, others: {', '.join(others[:12])} (option skeleton=)"
    return replace(found[best], notes=(*found[best].notes, note))


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
        plain = {n for n, node in enumerate(doc.table("nodes")) if not _carries(node)}
        merged = [(_closure(tree, part), set()) for part in _split_by_root(tree, plain) if len(part) > 1]
    merged.sort(key=lambda group: -len(group[0]))
    turn = HALF_TURN_Y if humanoid is not None and humanoid.kind == "VRM 0.x" else np.array([0.0, 0.0, 0.0, 1.0])
    return _label(doc, [_joint_set(doc, tree, nodes, skins, turn) for nodes, skins in merged])


def bake(doc: Document, tree: NodeTree, joints: JointSet, motion: Motion | None = None) -> tuple[Array, Array]:
    """Return local rotations (T, J, 4) and translations (T, J, 3) without scales; T is 1 without motion.

    Translations are in metres relative to the parent joint; those of the root are its world position. World positions
    are exact for any scales; rotations are exact for uniform ones and the nearest rotation for others.
    """
    frames = 1 if motion is None else motion.frame_count
    doc.spend(frames * len(joints.nodes) * 8 * 24)
    chain = [*joints.above, *map(int, joints.nodes)]
    skewed = any(_skewed(_values(tree.scale, motion.scale if motion else {}, node)) for node in chain)
    skewed = skewed or bool(set(tree.sheared) & set(chain))
    with np.errstate(all="ignore"):
        rotations, translations = (_bake_matrices if skewed else _bake_uniform)(tree, joints, motion, frames)
    if not (np.isfinite(rotations).all() and np.isfinite(translations).all()):
        raise doc.fail("its transforms grow beyond all numbers")
    return rotations, translations


def make_skeleton(doc: Document, tree: NodeTree, joints: JointSet) -> Skeleton:
    """Return the skeleton of the joints at the file's rest."""
    rotations, translations = bake(doc, tree, joints)
    names = unique_names([tree.names[n] for n in joints.nodes])
    return Skeleton(tuple(names), joints.parents, translations[0], rotations[0], _tips(doc, tree, joints))


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


def _rank(doc: Document, tree: NodeTree, joints: JointSet, humanoid: Humanoid | None) -> tuple[int, int, int]:
    in_table = len(set(map(int, joints.nodes)) & set(humanoid.bones.values())) if humanoid else 0
    roles = len(build_rig(make_skeleton(doc, tree, joints)).roles)
    return in_table, roles, len(joints.nodes)


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
    return _closure(tree, {n for n in inside if not _carries(nodes[n])} | {top})


def _carries(node: Json) -> bool:
    """Say whether a node shows something: a mesh, a camera, a light."""
    extensions = node.get("extensions")
    return bool(node.keys() & {"mesh", "camera"}) or (isinstance(extensions, dict) and _LIGHTS in extensions)


def _joint_set(doc: Document, tree: NodeTree, nodes: set[int], skins: set[int], turn: Array) -> JointSet:
    if len(nodes) > MAX_JOINTS:
        raise doc.fail(f"a skeleton of {len(nodes)} joints; at most {MAX_JOINTS} are read")
    order = _depth_first(tree, nodes)
    place = {node: j for j, node in enumerate(order)}
    parents = [place.get(int(tree.parents[node]), -1) for node in order]
    above = tree.ancestors(order[0])
    notes = [f"node {tree.names[n]!r} is sheared: positions are kept, its axes are squared" for n in tree.sheared]
    chain = [*above, *order]
    skewed = [tree.names[n] for n in chain if _skewed(tree.scale[n][None])]
    if skewed:
        notes.append(f"scales differ by axis on {', '.join(skewed[:6])}: positions are kept, joint axes are squared")
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
        names = {skins[i].get("name") for i in joints.skins}
        name = names.pop() if len(names) == 1 else None
        labels.append(name if isinstance(name, str) and name else joints.label)
    return [replace(joints, label=label) for joints, label in zip(sets, unique_names(labels))]


def _tips(doc: Document, tree: NodeTree, joints: JointSet) -> Array:
    """Return (J, 3) bone ends of leaves: their only plain child node, such as "HeadTop_End"; NaN elsewhere."""
    nodes, scales = doc.table("nodes"), _world_scales(tree, joints)
    parents = set(joints.parents.tolist())
    tips = np.full((len(joints.nodes), 3), np.nan)
    for j, node in enumerate(joints.nodes):
        ends = [c for c in tree.children(int(node)) if not _carries(nodes[c])]
        extras = nodes[node].get("extras")
        own = extras.get("tip") if isinstance(extras, dict) else None
        if isinstance(own, list) and len(own) == 3 and all(isinstance(v, int | float) for v in own):
            tips[j] = own
        elif j not in parents and len(ends) == 1:
            tips[j] = tree.translation[ends[0]] * scales[j]
    return tips


def _world_scales(tree: NodeTree, joints: JointSet) -> Array:
    """Return the mean world scale (J,) of every joint at rest."""
    above = float(np.prod([tree.scale[n].mean() for n in joints.above]))
    scales = np.empty(len(joints.nodes))
    for j, node in enumerate(joints.nodes):
        scales[j] = tree.scale[node].mean() * (scales[joints.parents[j]] if j else above)
    return scales


def _values(rest: Array, keyed: dict[int, Array], node: int) -> Array:
    """Return (T or 1, W) values of a node: sampled where it has keys, its rest otherwise."""
    return keyed[node] if node in keyed else rest[node][None]


def is_skewed(tree: NodeTree, joints: JointSet) -> bool:
    """Say whether some node at rest has a scale that differs by axis, or a shear."""
    chain = [*joints.above, *map(int, joints.nodes)]
    return any(_skewed(tree.scale[node][None]) for node in chain) or bool(set(tree.sheared) & set(chain))


def _skewed(scale: Array) -> bool:
    return bool(np.any(np.ptp(scale, axis=-1) > _UNIFORM * np.abs(scale).max(axis=-1)))


def _bake_uniform(tree: NodeTree, joints: JointSet, motion: Motion | None, frames: int) -> tuple[Array, Array]:
    keyed = (motion.translation, motion.rotation, motion.scale) if motion else ({}, {}, {})
    place, turn, size = np.zeros((1, 3)), joints.turn[None], np.ones((1, 1))
    for node in joints.above:
        place = place + quat_apply(turn, size * _values(tree.translation, keyed[0], node))
        turn = quat_mul(turn, _values(tree.rotation, keyed[1], node))
        size = size * _values(tree.scale, keyed[2], node).mean(axis=1, keepdims=True)
    rotations, translations = np.empty((frames, len(joints.nodes), 4)), np.empty((frames, len(joints.nodes), 3))
    sizes: list[Array] = []
    for j, node in enumerate(map(int, joints.nodes)):
        before = sizes[joints.parents[j]] if j else size
        rotations[:, j] = _values(tree.rotation, keyed[1], node)
        translations[:, j] = before * _values(tree.translation, keyed[0], node)
        sizes.append(before * _values(tree.scale, keyed[2], node).mean(axis=1, keepdims=True))
    translations[:, 0] = place + quat_apply(turn, translations[:, 0])
    rotations[:, 0] = quat_mul(turn, rotations[:, 0])
    return rotations, translations


def _bake_matrices(tree: NodeTree, joints: JointSet, motion: Motion | None, frames: int) -> tuple[Array, Array]:
    """Follow the full matrices, then take the nearest rotations and the places they need."""
    keyed = (motion.translation, motion.rotation, motion.scale) if motion else ({}, {}, {})
    linear, place = quat_to_matrix(joints.turn)[None], np.zeros((1, 3))
    for node in joints.above:
        linear, place = _step(tree, keyed, node, linear, place)
    count = len(joints.nodes)
    linears: list[Array] = []
    places: list[Array] = []
    q_world, rotations = identity_quat(frames, count), identity_quat(frames, count)
    translations = np.zeros((frames, count, 3))
    for j, node in enumerate(map(int, joints.nodes)):
        parent = int(joints.parents[j])
        step = _step(tree, keyed, node, linears[parent] if j else linear, places[parent] if j else place)
        linears.append(step[0])
        places.append(step[1])
        q_world[:, j] = _nearest_rotation(step[0])
        if j == 0:
            rotations[:, 0], translations[:, 0] = q_world[:, 0], step[1]
        else:
            back = quat_inv(q_world[:, parent])
            rotations[:, j] = quat_mul(back, q_world[:, j])
            translations[:, j] = quat_apply(back, step[1] - places[parent])
    return rotations, translations


def _step(
    tree: NodeTree, keyed: tuple[dict[int, Array], ...], node: int, linear: Array, place: Array
) -> tuple[Array, Array]:
    """Go from a parent's world matrix and place to those of `node`."""
    place = place + (linear @ _values(tree.translation, keyed[0], node)[..., None])[..., 0]
    own = quat_to_matrix(_values(tree.rotation, keyed[1], node)) * _values(tree.scale, keyed[2], node)[:, None, :]
    return linear @ own, place


def _nearest_rotation(linear: Array) -> Array:
    """Return quaternions (T, 4) of the rotations nearest to matrices (T, 3, 3); mirrored ones are turned inside out."""
    u, _, vt = np.linalg.svd(np.nan_to_num(linear))
    turn = u @ vt
    turn = np.where(np.linalg.det(turn)[:, None, None] < 0.0, -turn, turn)
    return matrix_to_quat(turn)
