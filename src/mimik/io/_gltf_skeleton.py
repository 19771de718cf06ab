"""The skeleton to read from a glTF file: the one asked for, or the most human one."""

from dataclasses import replace

import numpy as np

from mimik._types import Array
from mimik.errors import OptionError, one_of
from mimik.io._gltf_bake import bake
from mimik.io._gltf_document import Document, usable_numbers
from mimik.io._gltf_humanoid import Humanoid
from mimik.io._gltf_joints import JointSet, candidates, carries, unique_names
from mimik.io._gltf_nodes import NodeTree
from mimik.rig.build import build_rig
from mimik.rig.skeleton import Skeleton

_COMPARED = 8


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


def make_skeleton(doc: Document, tree: NodeTree, joints: JointSet) -> Skeleton:
    """Return the skeleton of the joints at the file's rest."""
    rotations, translations = bake(doc, tree, joints)
    names = unique_names([tree.names[n] for n in joints.nodes])
    return Skeleton(tuple(names), joints.parents, translations[0], rotations[0], _tips(doc, tree, joints))


def _rank(doc: Document, tree: NodeTree, joints: JointSet, humanoid: Humanoid | None) -> tuple[int, int, int]:
    in_table = len(set(map(int, joints.nodes)) & set(humanoid.bones.values())) if humanoid else 0
    roles = len(build_rig(make_skeleton(doc, tree, joints)).roles)
    return in_table, roles, len(joints.nodes)


def _tips(doc: Document, tree: NodeTree, joints: JointSet) -> Array:
    """Return (J, 3) bone ends of leaves: their only plain child node, such as "HeadTop_End"; NaN elsewhere."""
    nodes, scales = doc.table("nodes"), _world_scales(tree, joints)
    parents = set(joints.parents.tolist())
    tips = np.full((len(joints.nodes), 3), np.nan)
    for j, node in enumerate(joints.nodes):
        ends = [c for c in tree.children(int(node)) if not carries(nodes[c])]
        extras = nodes[node].get("extras")
        own = usable_numbers(extras.get("tip"), 3) if isinstance(extras, dict) else None
        if own is not None:
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
