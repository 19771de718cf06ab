"""VRM animation (VRMC_vrm_animation 1.0): motion for any VRM avatar, on normalised humanoid bones.

A file holds the humanoid bones alone, resting in the T-pose with identity rotations, their rotations over time and the
path of the hips. Any rig with roles can be written; what is read back is a rig of those bones.
"""

import os
from typing import Any

import numpy as np

from mimik._types import Array, IntArray
from mimik.io import gltf
from mimik.io._gltf_build import AnimationBuilder, Builder
from mimik.io._gltf_document import Json, read_document, save_document
from mimik.io._gltf_export import new_document
from mimik.io._gltf_humanoid import bone_parents, read_humanoid, vrm_bones
from mimik.io.vrm import require_bones
from mimik.motion.clip import Clip
from mimik.rig.rig import Rig
from mimik.rotation import quat_inv, quat_mul

_EXTENSION = "VRMC_vrm_animation"
_LOOKED_AT = ("leftEye", "rightEye")  # VRMA moves the eyes through lookAt, never as bones


def read_rig(path: str | os.PathLike[str], **options: Any) -> Rig:
    """Read the humanoid bones of a VRMA file as a rig; options as for `mimik.io.gltf.read_rig`."""
    _check(path)
    return gltf.read_rig(path, **options)


def read_clip(path: str | os.PathLike[str], **options: Any) -> Clip:
    """Read the body motion of a VRMA file; options as for `mimik.io.gltf.read_clip`."""
    ignored = _check(path)
    clip = gltf.read_clip(path, **options)
    return Clip(
        clip.rig,
        clip.rotations,
        clip.root,
        fps=clip.fps,
        name=clip.name,
        translations=clip.translations,
        notes=(*clip.notes, *ignored),
    )


def write_clip(clip: Clip, path: str | os.PathLike[str], *, name: str | None = None) -> list[str]:
    """Write a clip of any rig with roles; return what the format could not hold.

    Rotations are those from the canonical T-pose, so they fit every avatar; the hips' path is that of the pelvis.
    Raises RigError when a bone that VRM needs has no role.
    """
    rig = clip.rig
    bones = {bone: joint for bone, joint in vrm_bones(rig).items() if bone not in _LOOKED_AT}
    require_bones(rig, bones, "VRMA")
    order = _parents_first(bones)
    parents = bone_parents(bones)
    world, stand = clip.world(), rig.tpose().to_world()
    turns = quat_mul(world.rotations, quat_inv(rig.q_world_tpose))  # (T, J, 4) from the T-pose, in world axes
    doc = new_document()
    builder = Builder(doc)
    animation = AnimationBuilder(builder, clip.frame_count, clip.fps)
    for i, bone in enumerate(order):
        own = turns[:, bones[bone]]
        above = parents[bone]
        animation.rotation(i, quat_mul(quat_inv(turns[:, bones[above]]), own) if above else own)
    animation.translation(0, world.positions[:, bones["hips"]])
    doc.json["nodes"] = _bone_nodes(order, parents, bones, stand.positions)
    doc.json["scenes"], doc.json["scene"] = [{"nodes": [0]}], 0
    doc.json["animations"] = [animation.finish(name or clip.name or "motion")]
    table = {bone: {"node": i} for i, bone in enumerate(order)}
    doc.json["extensionsUsed"] = [_EXTENSION]
    doc.json["extensions"] = {_EXTENSION: {"specVersion": "1.0", "humanoid": {"humanBones": table}}}
    save_document(builder.finish(), path)
    return _left_out(rig, bones, clip)


def _check(path: str | os.PathLike[str]) -> list[str]:
    doc = read_document(path)
    humanoid = read_humanoid(doc)
    if humanoid is None or humanoid.kind != "VRMA":
        raise doc.fail(f"no {_EXTENSION} extension, so this is no VRM animation")
    entry = doc.extension(_EXTENSION) or {}
    return [f"{part} of the VRM animation is not read" for part in ("expressions", "lookAt") if entry.get(part)]


def _parents_first(bones: dict[str, int]) -> list[str]:
    parents = bone_parents(bones)
    order: list[str] = []
    waiting = ["hips"]
    while waiting:
        bone = waiting.pop(0)
        order.append(bone)
        waiting += [child for child in bones if parents[child] == bone]
    return order


def _bone_nodes(order: list[str], parents: dict[str, str], bones: dict[str, int], places: Array) -> list[Json]:
    """Return nodes resting in the T-pose with identity rotations."""
    nodes: list[Json] = []
    for bone in order:
        above = parents[bone]
        base = places[bones[above]] if above else np.zeros(3)
        node: Json = {"name": bone, "translation": (places[bones[bone]] - base).tolist()}
        children = [i for i, child in enumerate(order) if parents[child] == bone]
        nodes.append({**node, "children": children} if children else node)
    return nodes


def _left_out(rig: Rig, bones: dict[str, int], clip: Clip) -> list[str]:
    """Name the joints whose own motion VRMA has no bone for."""
    spare: IntArray = np.setdiff1d(np.arange(rig.joint_count), list(bones.values()))
    moving = [j for j in spare.tolist() if np.ptp(clip.rotations[:, j], axis=0).max() > 1e-6]
    inner = [rig.names[j] for j in moving if j != 0]
    notes = []
    if inner:
        shown = ", ".join(inner[:8]) + (f" and {len(inner) - 8} more" if len(inner) > 8 else "")
        notes.append(f"VRMA has no bone for {shown}: their turns are kept only in the bones below them")
    if clip.translations is not None:
        notes.append("VRMA moves the hips alone: sliding joints are left at their rest places")
    return notes
