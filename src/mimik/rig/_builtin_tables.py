"""Joint names and hierarchies of the built-in rigs, each joint placed on the figure of figure.py.

One joint a line: name, parent, place, and for a leaf the point where its bone ends. A place `a+b:0.3` lies three
tenths of the way from point a to point b. `{S}` lines are written for the left and then for the right side.
"""

from mimik.rig.roles import BODY_ROLES, FINGERS, PARENT_ROLE

Row = tuple[str, str, str, str]
"""Joint name, parent name ("" for the root), place, end point ("" when the bone does not end here)."""

_BODY_ENDS = {
    "head": "head_top",
    **{f"{s}_{r}": f"{s}_{e}" for s in ("left", "right") for r, e in (("foot", "toe_tip"), ("wrist", "hand_tip"))},
}


def humanoid_rows() -> list[Row]:
    """Return the 22 body roles under their own names."""
    return [(role, PARENT_ROLE[role], role, _BODY_ENDS.get(role, "")) for role in BODY_ROLES]


def smpl_rows() -> list[Row]:
    """Return the 24 joints of SMPL in its own order."""
    own = {f"{side}_collar": f"{side}_inner_collar" for side in ("left", "right")}
    rows = [
        (role, PARENT_ROLE[role], own.get(role, role), _BODY_ENDS.get(role, ""))
        for role in BODY_ROLES
        if "wrist" not in role
    ]
    for side in ("left", "right"):
        rows.append((f"{side}_wrist", f"{side}_elbow", f"{side}_wrist", ""))
    for side in ("left", "right"):
        rows.append((f"{side}_hand", f"{side}_wrist", f"{side}_middle1", f"{side}_hand_tip"))
    return rows


def mixamo_rows() -> list[Row]:
    """Return Mixamo's 65 joints with its prefix."""
    rows = _parse(_MIXAMO_TRUNK)
    for side, s in (("Left", "left"), ("Right", "right")):
        rows += _parse(_MIXAMO_ARM, S=side, s=s)
        for finger in FINGERS:
            rows += _finger_rows(finger, s, f"{side}Hand", f"{side}Hand{finger.capitalize()}{{k}}", joints=4)
    for side, s in (("Left", "left"), ("Right", "right")):
        rows += _parse(_MIXAMO_LEG, S=side, s=s)
    return [("mixamorig:" + n, "mixamorig:" + p if p else "", place, end) for n, p, place, end in rows]


def vrm_rows() -> list[Row]:
    """Return the VRM 1.0 humanoid bones."""
    rows = _parse(_VRM_TRUNK)
    for s in ("left", "right"):
        rows += _parse(_VRM_LIMBS, s=s)
        rows += _finger_rows("thumb", s, f"{s}Hand", "", names=[f"{s}Thumb{part}" for part in _VRM_THUMB])
        for finger, word in (("index", "Index"), ("middle", "Middle"), ("ring", "Ring"), ("pinky", "Little")):
            rows += _finger_rows(finger, s, f"{s}Hand", "", names=[f"{s}{word}{part}" for part in _VRM_FINGER])
    return rows


def cmu_rows() -> list[Row]:
    """Return the 31 joints of the CMU motion capture BVH files."""
    rows = []
    for side, s, letter in (("Left", "left", "L"), ("Right", "right", "R")):
        rows += _parse(_CMU_LEG, S=side, s=s, L=letter)
    trunk = _parse(_CMU_TRUNK)
    arms = [
        row
        for side, s, letter in (("Left", "left", "L"), ("Right", "right", "R"))
        for row in _parse(_CMU_ARM, S=side, s=s, L=letter)
    ]
    return [trunk[0], *rows, *trunk[1:], *arms]


def ue5_rows() -> list[Row]:
    """Return the Unreal Engine 5 mannequin's deforming joints."""
    rows = _parse(_UE_TRUNK)
    for s, letter in (("left", "l"), ("right", "r")):
        rows += _parse(_UE_ARM, s=s, L=letter)
        for finger in ("index", "middle", "ring", "pinky"):
            rows.append((f"{finger}_metacarpal_{letter}", f"hand_{letter}", f"{s}_{finger}0", ""))
            rows += _finger_rows(finger, s, f"{finger}_metacarpal_{letter}", f"{finger}_0{{k}}_{letter}")
        rows += _finger_rows("thumb", s, f"hand_{letter}", f"thumb_0{{k}}_{letter}")
    for s, letter in (("left", "l"), ("right", "r")):
        rows += _parse(_UE_LEG, s=s, L=letter)
    return rows


def _finger_rows(
    finger: str, side: str, parent: str, pattern: str, *, joints: int = 3, names: list[str] | None = None
) -> list[Row]:
    """Return the rows of one finger; with four joints the last stands at the fingertip."""
    names = [pattern.format(k=k + 1) for k in range(joints)] if names is None else names
    places = [f"{side}_{finger}{k}" for k in (1, 2, 3)] + [f"{side}_{finger}_tip"]
    ends = [""] * (len(names) - 1) + ["" if len(names) == 4 else places[3]]
    return [(n, p, at, end) for n, p, at, end in zip(names, [parent, *names], places, ends)]


def _parse(text: str, **words: str) -> list[Row]:
    rows = []
    for line in text.format(**words).strip().splitlines():
        name, parent, place, *end = line.split()
        rows.append((name, "" if parent == "-" else parent, place, end[0] if end else ""))
    return rows


_VRM_THUMB = ("Metacarpal", "Proximal", "Distal")
_VRM_FINGER = ("Proximal", "Intermediate", "Distal")

_MIXAMO_TRUNK = """
Hips - pelvis
Spine Hips spine1
Spine1 Spine spine2
Spine2 Spine1 spine3
Neck Spine2 neck
Head Neck head
HeadTop_End Head head_top
"""
_MIXAMO_ARM = """
{S}Shoulder Spine2 {s}_collar
{S}Arm {S}Shoulder {s}_shoulder
{S}ForeArm {S}Arm {s}_elbow
{S}Hand {S}ForeArm {s}_wrist
"""
_MIXAMO_LEG = """
{S}UpLeg Hips {s}_hip
{S}Leg {S}UpLeg {s}_knee
{S}Foot {S}Leg {s}_ankle
{S}ToeBase {S}Foot {s}_foot
{S}Toe_End {S}ToeBase {s}_toe_tip
"""
_VRM_TRUNK = """
hips - pelvis
spine hips spine1
chest spine spine2
upperChest chest spine3
neck upperChest neck
head neck head head_top
"""
_VRM_LIMBS = """
{s}UpperLeg hips {s}_hip
{s}LowerLeg {s}UpperLeg {s}_knee
{s}Foot {s}LowerLeg {s}_ankle
{s}Toes {s}Foot {s}_foot {s}_toe_tip
{s}Shoulder upperChest {s}_collar
{s}UpperArm {s}Shoulder {s}_shoulder
{s}LowerArm {s}UpperArm {s}_elbow
{s}Hand {s}LowerArm {s}_wrist
"""
_CMU_LEG = """
{L}HipJoint Hips pelvis
{S}UpLeg {L}HipJoint {s}_hip
{S}Leg {S}UpLeg {s}_knee
{S}Foot {S}Leg {s}_ankle
{S}ToeBase {S}Foot {s}_foot {s}_toe_tip
"""
_CMU_TRUNK = """
Hips - pelvis
LowerBack Hips pelvis+spine1:0.5
Spine LowerBack spine1+spine2:0.5
Spine1 Spine spine3
Neck Spine1 neck
Neck1 Neck neck+head:0.5
Head Neck1 head head_top
"""
_CMU_ARM = """
{S}Shoulder Spine1 {s}_collar
{S}Arm {S}Shoulder {s}_shoulder
{S}ForeArm {S}Arm {s}_elbow
{S}Hand {S}ForeArm {s}_wrist
{S}FingerBase {S}Hand {s}_wrist+{s}_middle1:0.6
{S}HandIndex1 {S}FingerBase {s}_middle1 {s}_hand_tip
{L}Thumb {S}Hand {s}_thumb1 {s}_thumb_tip
"""
_UE_TRUNK = """
root - ground
pelvis root pelvis
spine_01 pelvis spine1
spine_02 spine_01 spine1+spine2:0.5
spine_03 spine_02 spine2
spine_04 spine_03 spine2+spine3:0.6
spine_05 spine_04 spine3
neck_01 spine_05 neck
neck_02 neck_01 neck+head:0.5
head neck_02 head head_top
"""
_UE_ARM = """
clavicle_{L} spine_05 {s}_collar
upperarm_{L} clavicle_{L} {s}_shoulder
upperarm_twist_01_{L} upperarm_{L} {s}_shoulder+{s}_elbow:0.33 {s}_shoulder+{s}_elbow:0.66
upperarm_twist_02_{L} upperarm_{L} {s}_shoulder+{s}_elbow:0.66 {s}_elbow
lowerarm_{L} upperarm_{L} {s}_elbow
lowerarm_twist_02_{L} lowerarm_{L} {s}_elbow+{s}_wrist:0.33 {s}_elbow+{s}_wrist:0.66
lowerarm_twist_01_{L} lowerarm_{L} {s}_elbow+{s}_wrist:0.66 {s}_wrist
hand_{L} lowerarm_{L} {s}_wrist
"""
_UE_LEG = """
thigh_{L} pelvis {s}_hip
thigh_twist_01_{L} thigh_{L} {s}_hip+{s}_knee:0.33 {s}_hip+{s}_knee:0.66
thigh_twist_02_{L} thigh_{L} {s}_hip+{s}_knee:0.66 {s}_knee
calf_{L} thigh_{L} {s}_knee
calf_twist_02_{L} calf_{L} {s}_knee+{s}_ankle:0.33 {s}_knee+{s}_ankle:0.66
calf_twist_01_{L} calf_{L} {s}_knee+{s}_ankle:0.66 {s}_ankle
foot_{L} calf_{L} {s}_ankle
ball_{L} foot_{L} {s}_foot {s}_toe_tip
"""
