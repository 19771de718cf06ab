"""A clean glTF document of a rig and its motion: armature node, joints, skin, mesh, animation."""

from pathlib import Path
from typing import Literal

import numpy as np

from mimik._types import IntArray
from mimik.io._gltf_bones import STAND_IN, bone_skin
from mimik.io._gltf_build import AnimationBuilder, Builder, add_mesh, add_skin
from mimik.io._gltf_document import Document, Json
from mimik.motion.clip import Clip
from mimik.rig.pose import LocalPose
from mimik.rig.rig import Rig

Rest = Literal["file", "tpose"]
GENERATOR = "mimik"


def clip_document(clip: Clip, title: str, rest: Rest, skin: bool) -> tuple[Document, IntArray]:
    """Return a new document of the clip and the node (J,) of each joint."""
    pose = clip.rig.tpose() if rest == "tpose" else clip.rig.rest_pose()
    doc, nodes = rig_document(clip.rig, pose, skin=skin)
    builder = Builder(doc)
    animation = AnimationBuilder(builder, clip.frame_count, clip.fps)
    animation.translation(int(nodes[0]), clip.root)
    for j, node in enumerate(nodes.tolist()):
        animation.rotation(node, clip.rotations[:, j])
        if j and clip.translations is not None and np.abs(clip.translations[:, j] - clip.rig.offsets[j]).max() > 0.0:
            animation.translation(node, clip.translations[:, j])
    builder.add("animations", animation.finish(title))
    return builder.finish(), nodes


def rig_document(rig: Rig, pose: LocalPose, *, skin: bool = True) -> tuple[Document, IntArray]:
    """Return a new document with the rig resting in `pose` (one pose) and the node (J,) of each joint."""
    doc = new_document()
    builder = Builder(doc)
    nodes = np.arange(1, rig.joint_count + 1)
    top: Json = {"name": _top_name(rig), "children": [1]}
    doc.json["nodes"] = [top, *_joint_nodes(rig, pose)]
    doc.json["scenes"], doc.json["scene"] = [{"name": "Scene", "nodes": [0]}], 0
    world = pose.to_world()
    mesh_skin = rig.skin or bone_skin(rig, world.rotations, world.positions)
    skin_index = add_skin(builder, mesh_skin, nodes, 1, top["name"])
    if skin:
        label = mesh_skin.name or "body"
        mesh = add_mesh(builder, mesh_skin, label)
        if rig.skin is None:
            doc.json["meshes"][mesh]["extras"] = STAND_IN
        body = builder.add("nodes", {"name": label, "mesh": mesh, "skin": skin_index})
        doc.json["scenes"][0]["nodes"].append(body)  # a skinned mesh ignores what stands above it
    return builder.finish(), nodes


def new_document() -> Document:
    """Return an empty glTF 2.0 document."""
    return Document(Path("new.glb"), {"asset": {"version": "2.0", "generator": GENERATOR}})


def _top_name(rig: Rig) -> str:
    name = rig.name or "Armature"
    return f"{name} armature" if name in rig.names else name


def _joint_nodes(rig: Rig, pose: LocalPose) -> list[Json]:
    """Return the nodes of the joints; role and bone tip stand in their extras."""
    role_of = {joint: role for role, joint in rig.roles.items()}
    nodes = []
    for j, name in enumerate(rig.names):
        place = pose.root if j == 0 else rig.offsets[j]
        node: Json = {
            "name": name,
            "translation": place.tolist(),
            "rotation": np.clip(pose.rotations[j], -1.0, 1.0).tolist(),
        }
        children = rig.skeleton.children(j)
        if children:
            node["children"] = [c + 1 for c in children]
        tip, extras = rig.skeleton.tips[j], {}
        if np.isfinite(tip).all():
            extras["tip"] = tip.tolist()
        if j in role_of:
            extras["role"] = role_of[j]
        if extras:
            node["extras"] = extras
        nodes.append(node)
    return nodes
