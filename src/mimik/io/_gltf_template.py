"""Writing motion into a copy of an existing glTF file: only its animation changes."""

import os
from pathlib import Path

import numpy as np

from mimik.errors import FileError, MimikError, OptionError
from mimik.io._gltf_animation import animation_name
from mimik.io._gltf_bake import is_skewed
from mimik.io._gltf_build import AnimationBuilder, Builder
from mimik.io._gltf_document import Document, Json, read_document
from mimik.io._gltf_humanoid import read_humanoid
from mimik.io._gltf_joints import JointSet, candidates
from mimik.io._gltf_nodes import NodeTree, read_nodes
from mimik.io._gltf_skeleton import make_skeleton
from mimik.motion.clip import Clip
from mimik.rig.rig import Rig
from mimik.rotation import quat_apply, quat_inv, quat_mul

_SUFFIXES = (".glb", ".gltf", ".vrm")
_SAME_BONE = 1e-4  # metres
_MIME = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".ktx2": "image/ktx2"}


def fitting_template(rig: Rig, template: str | os.PathLike[str] | bool | None, notes: list[str]) -> Path | None:
    """Return the file to write into: the one named, or the one the rig came from while it still has that skeleton."""
    if template is False:
        return None
    if template is not None and template is not True:
        return Path(template)
    if rig.source is None or rig.source.suffix.lower() not in _SUFFIXES:
        if template is True:
            raise OptionError("template=True needs a rig that came from a .glb, .gltf or .vrm file; name the file")
        return None
    try:
        doc = read_document(rig.source)
        _matching(doc, read_nodes(doc), rig)
    except MimikError as error:
        if template is True:
            raise
        notes.append(f"written without the meshes of {rig.source.name}: {error}")
        return None
    return rig.source


def fill_template(clip: Clip, source: Path, title: str, target: Path, notes: list[str]) -> Document:
    """Return the document of `source` with the clip as its first animation.

    An animation of the same name is replaced, all others stay, and so do its channels of other nodes and of morphs.
    """
    doc = read_document(source)
    tree = read_nodes(doc)
    joints, order = _matching(doc, tree, clip.rig)
    builder = Builder(doc)
    animation = AnimationBuilder(builder, clip.frame_count, clip.fps)
    _add_channels(animation, clip, tree, joints, order, notes)
    entry = animation.finish(title)
    others = list(doc.table("animations"))
    replaced = next((i for i in range(len(others)) if animation_name(doc, i) == title), None)
    if replaced is not None:
        _keep_other_channels(doc, others.pop(replaced), entry, {int(n) for n in joints.nodes})
    doc.json["animations"] = [entry, *others]
    if others:
        notes.append(f"{len(others)} other animations of {source.name} are kept behind this one")
    _embed_images(builder, source, target, notes)
    return builder.finish()


def _matching(doc: Document, tree: NodeTree, rig: Rig) -> tuple[JointSet, list[int]]:
    """Return the file's skeleton with the rig's joints and, for each of its joints, the rig's joint.

    Raises OptionError when no skeleton of the file has the same joints, hierarchy and bone lengths.
    """
    reason = "it has no skeleton"
    for joints in candidates(doc, tree, read_humanoid(doc)):
        skeleton = make_skeleton(doc, tree, joints)
        missing = [name for name in rig.names if name not in skeleton.names]
        if missing or len(skeleton.names) != rig.joint_count:
            extra = [name for name in skeleton.names if name not in rig.names]
            reason = f"its joints differ from the rig's: {', '.join([*missing, *extra][:8])}"
            continue
        order = [rig.names.index(name) for name in skeleton.names]
        parents = [-1 if p < 0 else order[p] for p in skeleton.parents]
        if parents != rig.parents[order].tolist():
            reason = "its joints hang together in another way"
        elif np.abs(skeleton.offsets[1:] - rig.offsets[order[1:]]).max(initial=0.0) > _SAME_BONE:
            reason = "its bones have other lengths or axes than the rig's"
        else:
            return joints, order
    raise OptionError(f"{doc.path.name} does not fit as template: {reason}; retarget the clip to its rig first")


def _add_channels(
    animation: AnimationBuilder, clip: Clip, tree: NodeTree, joints: JointSet, order: list[int], notes: list[str]
) -> None:
    """Express local poses in the file's own nodes: below what stands above the root, divided by node scales."""
    place, turn, size = np.zeros(3), joints.turn, 1.0
    for node in joints.above:
        place = place + quat_apply(turn, size * tree.translation[node])
        turn = quat_mul(turn, tree.rotation[node])
        size *= float(tree.scale[node].mean())
    if is_skewed(tree, joints):
        notes.append("scales of the file differ by axis: rotations are carried over relative to its rest")
    sizes: list[float] = []
    for j, node in enumerate(joints.nodes.tolist()):
        before = sizes[joints.parents[j]] if j else size
        sizes.append(before * float(tree.scale[node].mean()))
        rotations = clip.rotations[:, order[j]]
        rest = clip.rig.skeleton.rest[order[j]]
        if j == 0:
            root = quat_apply(quat_inv(turn), clip.root - place) / before
            animation.translation(node, root)
            rotations, rest = quat_mul(quat_inv(turn), rotations), quat_mul(quat_inv(turn), rest)
        elif clip.translations is not None:
            animation.translation(node, clip.translations[:, order[j]] / before)
        if is_skewed(tree, joints):
            rotations = quat_mul(tree.rotation[node], quat_mul(quat_inv(rest), rotations))
        animation.rotation(node, rotations)


def _keep_other_channels(doc: Document, old: Json, new: Json, joints: set[int]) -> None:
    """Carry over the channels of a replaced animation that do not pose the skeleton: morph weights, props, cameras."""
    samplers = doc.objects(old.get("samplers"), "animation samplers")
    for channel in doc.objects(old.get("channels"), "channels"):
        target = doc.mapping(channel.get("target"), "channel target")
        if isinstance(target.get("node"), int) and target["node"] in joints and target.get("path") != "weights":
            continue
        sampler = samplers[doc.index(channel.get("sampler"), len(samplers), "sampler of a channel")]
        new["samplers"].append(sampler)
        new["channels"].append({**channel, "sampler": len(new["samplers"]) - 1})


def _embed_images(builder: Builder, source: Path, target: Path, notes: list[str]) -> None:
    """Take side-file images along, so that the new file stands alone."""
    doc = builder.doc
    if target.suffix.lower() == ".gltf" and target.resolve().parent == source.resolve().parent:
        return
    for i, image in enumerate(doc.table("images")):
        uri = image.get("uri")
        if not isinstance(uri, str) or uri.startswith("data:"):
            continue
        mime = _MIME.get(Path(uri).suffix.lower())
        try:
            data = doc.load_uri(uri, f"image {i}")
        except FileError as error:
            notes.append(f"a texture was not taken along: {error}")
            continue
        if mime is None:
            notes.append(f"texture {uri!r} was not taken along: glTF has no such image type")
            continue
        del image["uri"]
        image.update({"bufferView": builder.view(data), "mimeType": mime})
