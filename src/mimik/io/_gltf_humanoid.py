"""Humanoid tables of VRM 0.x, VRM 1.0 and VRMA files: which node is which bone of a human."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from mimik.io._gltf_document import Document
from mimik.rig.rig import Rig
from mimik.rig.roles import VRM_ROLES

_SPINE_BONES, _SPINE_ROLES = ("spine", "chest", "upperChest"), ("spine1", "spine2", "spine3")

REQUIRED_BONES = (
    "hips", "spine", "head",
    "leftUpperLeg", "leftLowerLeg", "leftFoot", "rightUpperLeg", "rightLowerLeg", "rightFoot",
    "leftUpperArm", "leftLowerArm", "leftHand", "rightUpperArm", "rightLowerArm", "rightHand",
)  # fmt: skip
"""The bones without which VRM 1.0 and VRMA accept no humanoid."""

BONE_OF_ROLE: Mapping[str, str] = MappingProxyType({role: bone for bone, role in VRM_ROLES.items()})


@dataclass(frozen=True, slots=True, eq=False)
class Humanoid:
    """A humanoid table: VRM bone name -> node index, and the kind of file it stands in."""

    kind: Literal["VRM 0.x", "VRM 1.0", "VRMA"]
    bones: Mapping[str, int]


def read_humanoid(doc: Document) -> Humanoid | None:
    """Return the humanoid table of a VRM or VRMA file, None for plain glTF; raises FileError when it is broken."""
    count = len(doc.table("nodes"))
    for extension, kind in (("VRMC_vrm", "VRM 1.0"), ("VRMC_vrm_animation", "VRMA")):
        found = doc.extension(extension)
        if found is not None:
            humanoid = doc.mapping(found.get("humanoid"), f"humanoid of {extension}")
            table = doc.mapping(humanoid.get("humanBones"), f"humanBones of {extension}")
            nodes = {bone: doc.mapping(entry, f"bone {bone!r}").get("node") for bone, entry in table.items()}
            return Humanoid(kind, _checked(doc, nodes, count))  # type: ignore[arg-type]
    found = doc.extension("VRM")
    if found is None:
        return None
    humanoid = doc.mapping(found.get("humanoid"), "humanoid of VRM")
    rows = doc.objects(humanoid.get("humanBones"), "humanBones of VRM")
    return Humanoid("VRM 0.x", _checked(doc, {str(row.get("bone")): row.get("node") for row in rows}, count))


def _checked(doc: Document, nodes: Mapping[str, object], count: int) -> dict[str, int]:
    bones = {bone: doc.index(node, count, f"node of bone {bone!r}") for bone, node in nodes.items() if node != -1}
    if len(set(bones.values())) != len(bones):
        twice = next(bone for bone, node in bones.items() if list(bones.values()).count(node) > 1)
        raise doc.fail(f"its humanoid table names the node of bone {twice!r} twice")
    if not bones:
        raise doc.fail("its humanoid table is empty")
    return bones


def vrm_bones(rig: Rig) -> dict[str, int]:
    """Return VRM bone name -> joint for all roles of a rig; its spine joints fill spine, chest, upperChest upwards."""
    spine = [rig.roles[role] for role in _SPINE_ROLES if role in rig.roles]
    bones = dict(zip(_SPINE_BONES, spine))
    for role, joint in rig.roles.items():
        if role in BONE_OF_ROLE and role not in _SPINE_ROLES:
            bones[BONE_OF_ROLE[role]] = joint
    return bones


def bone_parents(bones: Mapping[str, int]) -> dict[str, str]:
    """Return the nearest bone above each of `bones` in the humanoid hierarchy; the hips have the empty string."""
    return {bone: _nearest(bone, bones) for bone in bones}


def _nearest(bone: str, bones: Mapping[str, int]) -> str:
    while bone := _PARENT_BONE.get(bone, ""):
        if bone in bones:
            return bone
    return ""


def _parent_bones() -> dict[str, str]:
    from mimik.rig.roles import PARENT_ROLE

    return {bone: BONE_OF_ROLE.get(PARENT_ROLE.get(role, ""), "") for bone, role in VRM_ROLES.items()}


_PARENT_BONE = _parent_bones()
