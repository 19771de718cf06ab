"""glTF 2.0: .glb and .gltf (and the glTF inside .vrm). Reading skeleton, skin and animation; writing clips.

Reading: joints are the nodes of the skin (or of the humanoid table, or those the animation moves); nodes above them are
folded into the root, node scales into the bone lengths. Writing: a clip on a rig that came from a glTF file goes into a
copy of that file, whose meshes, materials, morphs and extensions stay as they are; any other gets a clean file.
"""

import os
from pathlib import Path

import numpy as np

from mimik._types import Array
from mimik.errors import OptionError, one_of
from mimik.io._gltf_animation import Motion, choose_animation, keyed_nodes, read_motion
from mimik.io._gltf_bake import bake, nearest_rotations
from mimik.io._gltf_document import Document, read_document, save_document
from mimik.io._gltf_export import GENERATOR, Rest, clip_document
from mimik.io._gltf_humanoid import Humanoid, read_humanoid
from mimik.io._gltf_joints import JointSet
from mimik.io._gltf_nodes import NodeTree, read_nodes
from mimik.io._gltf_skeleton import choose_joints, make_skeleton
from mimik.io._gltf_skin import read_skin
from mimik.io._gltf_template import fill_template, fitting_template
from mimik.motion.clip import Clip
from mimik.rig.build import build_rig
from mimik.rig.kinematics import world_to_local
from mimik.rig.rig import Rig
from mimik.rig.roles import ROLES, roles_from_vrm
from mimik.rig.skin import Skin
from mimik.rotation import IDENTITY, matrix_to_quat, quat_inv, quat_mul

_STILL = 1e-5  # metres a joint may stray from its offset and still count as fixed


def read_rig(
    path: str | os.PathLike[str],
    *,
    skeleton: str | int | None = None,
    roles: dict[str, str | int] | None = None,
    skin: bool = True,
) -> Rig:
    """Read the rig of a file; an animation in it only helps to find the T-pose.

    `skeleton` picks one of several by label or index (the notes list them), `roles` go before what the file says,
    `skin=False` leaves the meshes out. Raises FileError, RigError, OptionError.
    """
    doc, tree, joints, humanoid = _open(path, skeleton)
    motion = None
    moved = {*joints.above, *map(int, joints.nodes)}
    for i, animation in enumerate(doc.table("animations")):
        if keyed_nodes(doc, animation) & moved:
            motion = read_motion(doc, tree, i, moved, None)
            break
    return _build(doc, tree, joints, humanoid, motion, roles, skin)[0]


def read_clip(
    path: str | os.PathLike[str],
    *,
    animation: str | int | None = None,
    skeleton: str | int | None = None,
    fps: float | None = None,
    roles: dict[str, str | int] | None = None,
    skin: bool = True,
) -> Clip:
    """Read an animation and its rig; frame 0 is the first key.

    `animation` and `skeleton` pick one of several by name or index, `fps` resamples (else the rate comes from the key
    times and stands in the notes), `skin=False` leaves the meshes out. Raises FileError, RigError, OptionError.
    """
    doc, tree, joints, humanoid = _open(path, skeleton)
    moved = [*joints.above, *map(int, joints.nodes)]
    index, notes = choose_animation(doc, animation, moved)
    motion = read_motion(doc, tree, index, moved, fps)
    rig, rotations, translations = _build(doc, tree, joints, humanoid, motion, roles, skin)
    root = translations[:, 0]
    slide = np.abs(translations[:, 1:] - rig.offsets[1:]).max(axis=(0, 2), initial=0.0) if rig.joint_count > 1 else []
    sliding = [rig.names[j + 1] for j in np.flatnonzero(np.asarray(slide) > _STILL)]
    if sliding:
        notes = (*notes, f"{len(sliding)} joints move against their parents: {', '.join(sliding[:8])}")
    return Clip(
        rig,
        rotations,
        root,
        fps=motion.fps,
        name=motion.name,
        translations=translations if sliding else None,
        notes=(*notes, *motion.notes),
    )


def write_clip(
    clip: Clip,
    path: str | os.PathLike[str],
    *,
    template: str | os.PathLike[str] | bool | None = None,
    rest: Rest = "file",
    skin: bool = True,
    name: str | None = None,
) -> list[str]:
    """Write a clip as .glb (or .gltf with embedded data); return what the format could not hold.

    template  the file to copy and animate; None takes the file the rig came from, when that still fits; False none
    rest      "file" keeps the rig's rest in the nodes, "tpose" puts the canonical T-pose there (axes stay)
    skin      False leaves the mesh out; a rig without a mesh gets slim octahedra so that viewers have bones to show
    name      of the animation; the clip's own otherwise

    Raises OptionError for a template with other joints. The file appears when it is whole.
    """
    if rest not in ("file", "tpose"):
        raise OptionError(one_of("rest", rest, ("file", "tpose")))
    if template and (rest != "file" or not skin):
        raise OptionError("a template keeps its own rest and mesh: leave out rest= and skin=, or the template")
    title = name or clip.name or "motion"
    notes: list[str] = []
    source = fitting_template(clip.rig, template, notes) if rest == "file" and skin else None
    if source is not None:
        doc = fill_template(clip, source, title, Path(path), notes)
    else:
        doc = clip_document(clip, title, rest, skin)[0]
    save_document(doc, path)
    if clip.fps != 24.0:
        notes.append(f"Blender keeps its scene rate (24 by default) when it opens glTF: set {clip.fps:g} fps there")
    return notes


def _open(
    path: str | os.PathLike[str], skeleton: str | int | None
) -> tuple[Document, NodeTree, JointSet, Humanoid | None]:
    doc = read_document(path)
    tree = read_nodes(doc)
    humanoid = read_humanoid(doc)
    return doc, tree, choose_joints(doc, tree, humanoid, skeleton), humanoid


def _build(
    doc: Document,
    tree: NodeTree,
    joints: JointSet,
    humanoid: Humanoid | None,
    motion: Motion | None,
    roles: dict[str, str | int] | None,
    with_skin: bool,
) -> tuple[Rig, Array, Array]:
    """Return the rig and the baked rotations and translations of the motion, of the rest without one."""
    skeleton = make_skeleton(doc, tree, joints)
    rotations, translations = bake(doc, tree, joints, motion)
    found = {**_own_roles(doc, joints), **_table_roles(joints, humanoid), **(roles or {})}
    mesh, said = read_skin(doc, tree, joints, skeleton) if with_skin else (None, [])
    notes = (*joints.notes, *said, *_size_notes(skeleton.offsets))
    rig = build_rig(
        skeleton,
        name=joints.label if _is_ours(doc) else doc.path.stem,
        roles=found,
        motion=None if motion is None else (rotations, translations[:, 0], translations),
        skin=mesh,
        source=Path(doc.path).resolve(),
        notes=notes,
    )
    if rig.rest_kind == "arbitrary" and mesh is not None and humanoid is None:
        rig = _rest_from_bind(rig, mesh, notes)
    return rig, rotations, translations


def _rest_from_bind(rig: Rig, mesh: Skin, notes: tuple[str, ...]) -> Rig:
    """Rest where the mesh was bound, if the figure stands there: some programs save the nodes in mid-motion."""
    bound = np.unique(mesh.joints[mesh.weights > 0.0])
    q_bind = quat_inv(matrix_to_quat(nearest_rotations(mesh.inverse_bind[:, :3, :3])))
    q_world = np.array(q_bind)
    for j in range(rig.joint_count):
        if j not in bound:
            above = q_world[rig.parents[j]] if j else IDENTITY
            q_world[j] = quat_mul(above, rig.skeleton.rest[j])
    skeleton = rig.skeleton.with_rest(world_to_local(rig.parents, q_world))
    said = "the nodes rest in no pose; the rest was taken from where the mesh is bound"
    standing = build_rig(
        skeleton, name=rig.name, roles=dict(rig.roles), skin=mesh, source=rig.source, notes=(*notes, said)
    )
    return rig if standing.rest_kind == "arbitrary" else standing


def _is_ours(doc: Document) -> bool:
    return doc.json["asset"].get("generator") == GENERATOR


def _own_roles(doc: Document, joints: JointSet) -> dict[str, str | int]:
    """Return the roles that mimik left in the nodes' extras."""
    nodes = doc.table("nodes")
    found: dict[str, str | int] = {}
    if not _is_ours(doc):
        return found
    for j, node in enumerate(joints.nodes):
        extras = nodes[node].get("extras")
        role = extras.get("role") if isinstance(extras, dict) else None
        if role in ROLES:
            found[str(role)] = j
    return found


def _table_roles(joints: JointSet, humanoid: Humanoid | None) -> dict[str, str | int]:
    if humanoid is None:
        return {}
    place = {int(node): j for j, node in enumerate(joints.nodes)}
    bones = {bone: str(place[node]) for bone, node in humanoid.bones.items() if node in place}
    return {role: int(joint) for role, joint in roles_from_vrm(bones).items()}


def _size_notes(offsets: Array) -> list[str]:
    """Say when the bones do not look like metres."""
    longest = float(np.linalg.norm(offsets[1:], axis=1).max(initial=0.0))
    if 0.02 < longest < 5.0 or len(offsets) < 5:
        return []
    return [f"the longest bone measures {longest:.3g} m: glTF is in metres, this file may not be"]
