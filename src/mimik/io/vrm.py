"""VRM avatars: glTF with a humanoid table. VRM 0.x and 1.0 are read, 1.0 is written.

A VRM 0.x figure faces -Z and is turned round on reading; writing into such a file turns the motion back.
"""

import os
from pathlib import Path
from typing import Any

from mimik.errors import RigError
from mimik.io import gltf
from mimik.io._gltf_document import Document, Json, read_document, save_document
from mimik.io._gltf_export import clip_document, rig_document
from mimik.io._gltf_humanoid import REQUIRED_BONES, read_humanoid, vrm_bones
from mimik.io._gltf_template import fill_template, fitting_template
from mimik.motion.clip import Clip
from mimik.rig.rig import Rig

LICENCE = "https://vrm.dev/licenses/1.0/"


def read_rig(path: str | os.PathLike[str], **options: Any) -> Rig:
    """Read the avatar's rig with roles from its humanoid table; options as for `mimik.io.gltf.read_rig`."""
    _check(path)
    return gltf.read_rig(path, **options)


def read_clip(path: str | os.PathLike[str], **options: Any) -> Clip:
    """Read an animation stored in the file; options as for `mimik.io.gltf.read_clip`."""
    _check(path)
    return gltf.read_clip(path, **options)


def write_clip(
    clip: Clip,
    path: str | os.PathLike[str],
    *,
    template: str | os.PathLike[str] | bool | None = None,
    author: str = "unknown",
    name: str | None = None,
) -> list[str]:
    """Write the clip inside a VRM: a copy of the VRM its rig came from (or `template`), else a new VRM 1.0.

    The new avatar stands in the T-pose that VRM 1.0 asks for. Raises RigError when a bone that VRM needs has no role.
    """
    title = name or clip.name or "motion"
    notes: list[str] = []
    source = fitting_template(clip.rig, template, notes)
    if source is not None and read_humanoid(read_document(source)) is not None:
        doc = fill_template(clip, source, title, Path(path), notes)
    else:
        doc, nodes = clip_document(clip, title, "tpose", True)
        _add_humanoid(doc, clip.rig, nodes.tolist(), author)
    save_document(doc, path)
    return [*notes, "most VRM programs ignore animations inside a .vrm; write .vrma for motion"]


def write_rig(rig: Rig, path: str | os.PathLike[str], *, author: str = "unknown") -> list[str]:
    """Write a rig as VRM 1.0 avatar in its T-pose, without motion. Raises RigError when a needed bone has no role."""
    doc, nodes = rig_document(rig, rig.tpose())
    _add_humanoid(doc, rig, nodes.tolist(), author)
    save_document(doc, path)
    return []


def _check(path: str | os.PathLike[str]) -> None:
    doc = read_document(path)
    if read_humanoid(doc) is None:
        raise doc.fail("no humanoid table (VRMC_vrm or VRM), so this is no VRM; rename it to .glb to read it as glTF")


def require_bones(rig: Rig, bones: dict[str, int], what: str) -> None:
    """Raise RigError unless all bones that VRM needs are there."""
    missing = [bone for bone in REQUIRED_BONES if bone not in bones]
    if missing:
        raise RigError(f"{what} needs the bones {', '.join(missing)}; rig {rig.name!r} has no joints in these roles")


def _add_humanoid(doc: Document, rig: Rig, nodes: list[int], author: str) -> None:
    bones = vrm_bones(rig)
    require_bones(rig, bones, "VRM 1.0")
    meta: Json = {
        "name": rig.name or "mimik avatar",
        "authors": [author],
        "licenseUrl": LICENCE,
        "avatarPermission": "onlyAuthor",
        "commercialUsage": "personalNonProfit",
    }
    table = {bone: {"node": nodes[joint]} for bone, joint in bones.items()}
    entry = {"specVersion": "1.0", "meta": meta, "humanoid": {"humanBones": table}}
    doc.json["extensionsUsed"] = ["VRMC_vrm"]
    doc.json["extensions"] = {"VRMC_vrm": entry}
