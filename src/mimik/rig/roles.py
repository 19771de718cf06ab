"""Roles: which joint of a rig is the pelvis, the left elbow, the right toe.

Networks, goals and retargeting speak of joints by role, so that they work on any rig. The 22 body roles stand in a
fixed order; fingers, jaw and eyes follow. `left_foot` is the toe base and `left_ankle` the joint above it.
"""

import re
from types import MappingProxyType

import numpy as np

from mimik._types import IntArray

_BODY_TREE = (
    ("pelvis", ""),
    ("left_hip", "pelvis"),
    ("right_hip", "pelvis"),
    ("spine1", "pelvis"),
    ("left_knee", "left_hip"),
    ("right_knee", "right_hip"),
    ("spine2", "spine1"),
    ("left_ankle", "left_knee"),
    ("right_ankle", "right_knee"),
    ("spine3", "spine2"),
    ("left_foot", "left_ankle"),
    ("right_foot", "right_ankle"),
    ("neck", "spine3"),
    ("left_collar", "spine3"),
    ("right_collar", "spine3"),
    ("head", "neck"),
    ("left_shoulder", "left_collar"),
    ("right_shoulder", "right_collar"),
    ("left_elbow", "left_shoulder"),
    ("right_elbow", "right_shoulder"),
    ("left_wrist", "left_elbow"),
    ("right_wrist", "right_elbow"),
)
FINGERS = ("thumb", "index", "middle", "ring", "pinky")
_FINGER_TREE = tuple(
    (f"{side}_{finger}{k}", f"{side}_{finger}{k - 1}" if k > 1 else f"{side}_wrist")
    for side in ("left", "right")
    for finger in FINGERS
    for k in (1, 2, 3)
)
_FACE_TREE = (("jaw", "head"), ("left_eye", "head"), ("right_eye", "head"))

BODY_ROLES: tuple[str, ...] = tuple(role for role, _ in _BODY_TREE)
"""The 22 body roles in the order every array by role uses."""

ROLES: tuple[str, ...] = BODY_ROLES + tuple(role for role, _ in (*_FACE_TREE, *_FINGER_TREE))
"""All roles: body, face, fingers."""

PARENT_ROLE = MappingProxyType(dict((*_BODY_TREE, *_FACE_TREE, *_FINGER_TREE)))
"""Role -> the role it hangs from when nothing is missing; empty for the pelvis."""

BODY_PARENTS: IntArray = np.array([BODY_ROLES.index(p) if p else -1 for _, p in _BODY_TREE], dtype=np.int64)
"""(22,) parents of the body roles, -1 for the pelvis."""
BODY_PARENTS.setflags(write=False)


def mirror_role(role: str) -> str:
    """Return the role on the other side of the body; roles of the middle are their own mirror."""
    if role.startswith("left_"):
        return "right_" + role[5:]
    if role.startswith("right_"):
        return "left_" + role[6:]
    return role


BODY_MIRROR: IntArray = np.array([BODY_ROLES.index(mirror_role(role)) for role in BODY_ROLES], dtype=np.int64)
"""(22,) index of each body role's mirror."""
BODY_MIRROR.setflags(write=False)

_ALIASES = {
    "pelvis": "pelvis hips root hip_center mid_hip",
    "spine1": "spine spine_1 lower_back abdomen lower_spine spine_lower",
    "spine2": "spine_2 mid_back middle_spine spine_middle waist",
    "spine3": "spine_3 chest upper_chest thorax upper_back torso upper_spine spine_upper",
    "neck": "lower_neck neck_1",
    "head": "skull",
    "jaw": "chin",
    "_hip": "upper_leg thigh up_leg femur",
    "_knee": "lower_leg shin calf tibia leg",
    "_ankle": "",
    "_foot": "toe toes toe_base ball forefoot",
    "_collar": "clavicle clav scapula",
    "_shoulder": "upper_arm arm humerus",
    "_elbow": "forearm fore_arm lower_arm",
    "_wrist": "hand",
    "_eye": "",
    **{f"_{finger}{k}": f"{finger}_{k} {finger}_0{k} {finger}0{k}" for finger in FINGERS for k in (1, 2, 3)},
    **{f"_{finger}1": f"{finger} {finger}_proximal {finger}_1" for finger in FINGERS},
    "_pinky2": "pinky_2 little2 little_2",
    "_pinky3": "pinky_3 little3 little_3",
}


def _alias_table() -> dict[str, str]:
    table = {role: role for role in ROLES}
    for role, words in _ALIASES.items():
        sides = ("left", "right") if role.startswith("_") else ("",)
        for side in sides:
            prefix = f"{side}_" if side else ""
            table.update({prefix + word: side + role for word in words.split()})
    return table


_TABLE = _alias_table()

ROLE_ALIASES = MappingProxyType(_TABLE)
"""Every accepted spelling (lower case with underscores) -> role."""

VRM_ROLES = MappingProxyType(
    {
        "hips": "pelvis",
        "spine": "spine1",
        "chest": "spine2",
        "upperChest": "spine3",
        "neck": "neck",
        "head": "head",
        "jaw": "jaw",
        "leftEye": "left_eye",
        "rightEye": "right_eye",
        **{
            side + bone: f"{side}_{role}"
            for side in ("left", "right")
            for bone, role in {
                "UpperLeg": "hip",
                "LowerLeg": "knee",
                "Foot": "ankle",
                "Toes": "foot",
                "Shoulder": "collar",
                "UpperArm": "shoulder",
                "LowerArm": "elbow",
                "Hand": "wrist",
                "ThumbMetacarpal": "thumb1",
                "ThumbProximal": "thumb2",
                "ThumbDistal": "thumb3",
                **{
                    f"{bone}{part}": f"{finger}{k}"
                    for bone, finger in {
                        "Index": "index",
                        "Middle": "middle",
                        "Ring": "ring",
                        "Little": "pinky",
                    }.items()
                    for k, part in ((1, "Proximal"), (2, "Intermediate"), (3, "Distal"))
                },
            }.items()
        },
    }
)
"""VRM 1.0 humanoid bone -> role, for a spine of three; see `roles_from_vrm`."""


def canonical_role(name: str) -> str | None:
    """Return the role a user means (`LeftHand`, `l_wrist`, `left hand`, `hips` ...), or None when it is none."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    words = re.sub(r"[\s.\-_]+", "_", words).lower().strip("_")
    for side, letter in (("left", "l"), ("right", "r")):
        if words.startswith(f"{letter}_"):
            words = f"{side}_{words[2:]}"
        elif words.endswith((f"_{letter}", f"_{side}")):
            words = f"{side}_{words.rpartition('_')[0]}"
    return _TABLE.get(words)


def roles_from_vrm(bones: dict[str, str]) -> dict[str, str]:
    """Turn a VRM 0 or 1 humanoid table (bone -> joint name) into role -> joint name; unknown bones are left out.

    VRM 0 calls the three thumb bones Proximal, Intermediate, Distal and VRM 1 Metacarpal, Proximal, Distal. A spine
    without `upperChest` ends in `chest`, and one without `chest` in `spine`.
    """
    old_thumbs = "leftThumbIntermediate" in bones or "rightThumbIntermediate" in bones
    renamed = {_thumb_of_vrm0(bone) if old_thumbs else bone: joint for bone, joint in bones.items()}
    found = {VRM_ROLES[bone]: joint for bone, joint in renamed.items() if bone in VRM_ROLES}
    for lower in ("spine2", "spine1"):
        if "spine3" not in found and lower in found:
            found["spine3"] = found.pop(lower)
    return found


def _thumb_of_vrm0(bone: str) -> str:
    return bone.replace("ThumbProximal", "ThumbMetacarpal").replace("ThumbIntermediate", "ThumbProximal")
