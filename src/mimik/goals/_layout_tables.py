"""Known keypoint layouts: the points of each in order, and those whose meaning differs from their name's usual one."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LayoutTable:
    """One known layout.

    names        the points in the order of its arrays
    meaning      key of a point -> site, where it differs from the usual meaning; a leading `~` marks it as only near
    array        arrays of this many points without names are taken for this layout
    """

    name: str
    names: tuple[str, ...]
    meaning: Mapping[str, str] = field(default_factory=dict)
    array: bool = True


def _table(
    name: str, names: str, special: Mapping[str, str] | None = None, *, array: bool = True, **meaning: str
) -> LayoutTable:
    meaning |= special or {}
    both: dict[str, str] = {}
    for key, site in meaning.items():
        if key.startswith("both_"):
            near, site = ("~", site[1:]) if site.startswith("~") else ("", site)
            both |= {f"{s}_{key[5:]}": f"{near}{s}_{site}" if site else "" for s in ("left", "right")}
        else:
            both[key] = site
    return LayoutTable(name, tuple(names.split()), both, array)


def _sides(names: str) -> str:
    return " ".join(f"{side}_{name}" for side in ("left", "right") for name in names.split())


_COCO = (
    "nose left_eye right_eye left_ear right_ear left_shoulder right_shoulder left_elbow right_elbow left_wrist"
    " right_wrist left_hip right_hip left_knee right_knee left_ankle right_ankle"
)
_FEET = "left_big_toe left_small_toe left_heel right_big_toe right_small_toe right_heel"
_SMPL22 = (
    "pelvis left_hip right_hip spine1 left_knee right_knee spine2 left_ankle right_ankle spine3 left_foot right_foot"
    " neck left_collar right_collar head left_shoulder right_shoulder left_elbow right_elbow left_wrist right_wrist"
)
_SMPL_HAND = "index1 index2 index3 middle1 middle2 middle3 pinky1 pinky2 pinky3 ring1 ring2 ring3 thumb1 thumb2 thumb3"
_MEDIAPIPE = (
    "nose left_eye_inner left_eye left_eye_outer right_eye_inner right_eye right_eye_outer left_ear right_ear"
    " mouth_left mouth_right left_shoulder right_shoulder left_elbow right_elbow left_wrist right_wrist left_pinky"
    " right_pinky left_index right_index left_thumb right_thumb left_hip right_hip left_knee right_knee left_ankle"
    " right_ankle left_heel right_heel left_foot_index right_foot_index"
)
_MEDIAPIPE_HAND = "hand_wrist thumb_cmc thumb_mcp thumb_ip thumb_tip " + " ".join(
    f"{finger}_finger_{part}"
    for finger in ("index", "middle", "ring", "pinky")
    for part in ("mcp", "pip", "dip", "tip")
)
_MMPOSE_HAND = "hand_root thumb1 thumb2 thumb3 thumb4 " + " ".join(
    f"{finger}{k}" for finger in ("forefinger", "middle_finger", "ring_finger", "pinky_finger") for k in (1, 2, 3, 4)
)
_KNUCKLES = {
    "both_pinky": "pinky_knuckle",
    "both_index": "index_knuckle",
    "both_thumb": "thumb_knuckle",
    "both_footindex": "big_toe",
}
_PANOPTIC15 = "Neck Nose BodyCenter lShoulder lElbow lWrist lHip lKnee lAnkle rShoulder rElbow rWrist rHip rKnee rAnkle"
_HALPE = (
    "Nose LEye REye LEar REar LShoulder RShoulder LElbow RElbow LWrist RWrist LHip RHip LKnee RKnee LAnkle RAnkle Head"
    " Neck Hip LBigToe RBigToe LSmallToe RSmallToe LHeel RHeel"
)
_OPENCAP = (
    "Neck RShoulder RElbow RWrist LShoulder LElbow LWrist midHip RHip RKnee RAnkle LHip LKnee LAnkle LBigToe LSmallToe"
    " LHeel RBigToe RSmallToe RHeel r.ASIS_study L.ASIS_study r.PSIS_study L.PSIS_study r_knee_study r_mknee_study"
    " r_ankle_study r_mankle_study r_toe_study r_5meta_study r_calc_study L_knee_study L_mknee_study L_ankle_study"
    " L_mankle_study L_toe_study L_calc_study L_5meta_study r_shoulder_study L_shoulder_study C7_study r_thigh1_study"
    " r_thigh2_study r_thigh3_study L_thigh1_study L_thigh2_study L_thigh3_study r_sh1_study r_sh2_study r_sh3_study"
    " L_sh1_study L_sh2_study L_sh3_study RHJC_study LHJC_study r_lelbow_study r_melbow_study r_lwrist_study"
    " r_mwrist_study L_lelbow_study L_melbow_study L_lwrist_study L_mwrist_study"
)
_MARKERS = (
    "LFHD RFHD LBHD RBHD C7 T10 CLAV STRN RBAC LSHO LUPA LELB LFRM LWRA LWRB LFIN RSHO RUPA RELB RFRM RWRA RWRB RFIN"
    " {} LTHI LKNE LTIB LANK LHEE LTOE RTHI RKNE RTIB RANK RHEE RTOE"
)

TABLES: tuple[LayoutTable, ...] = (
    _table("roles", _SMPL22),
    _table("smpl24", _SMPL22 + " left_hand right_hand", both_hand="~middle_knuckle"),
    _table(
        "smplx55",
        f"{_SMPL22} jaw left_eye_smplhf right_eye_smplhf {_sides(_SMPL_HAND)}",
    ),
    _table("smplh52", f"{_SMPL22} {_sides(_SMPL_HAND)}"),
    _table(
        "body25",
        "Nose Neck RShoulder RElbow RWrist LShoulder LElbow LWrist MidHip RHip RKnee RAnkle LHip LKnee LAnkle REye LEye"
        " REar LEar LBigToe LSmallToe LHeel RBigToe RSmallToe RHeel",
        neck="mid_shoulder",
    ),
    _table("coco17", _COCO),
    _table(
        "coco18",
        "Nose Neck RShoulder RElbow RWrist LShoulder LElbow LWrist RHip RKnee RAnkle LHip LKnee LAnkle REye LEye REar"
        " LEar",
        neck="mid_shoulder",
    ),
    _table("coco23", f"{_COCO} {_FEET}"),
    _table(
        "coco_wholebody",
        f"{_COCO} {_FEET} {' '.join(f'face-{i}' for i in range(68))} {_sides(_MMPOSE_HAND)}",
    ),
    _table("mediapipe", _MEDIAPIPE, _KNUCKLES),
    _table("mediapipe_hands", f"{_MEDIAPIPE} {_sides(_MEDIAPIPE_HAND)}", _KNUCKLES, both_handwrist=""),
    _table(
        "human36m",
        "Hip RHip RKnee RFoot LHip LKnee LFoot Spine Thorax Neck/Nose Head LShoulder LElbow LWrist RShoulder RElbow"
        " RWrist",
        hip="mid_hip",
        both_foot="ankle",
        spine="~spine2",
        necknose="~head",
        head="head_top",
    ),
    _table("panoptic19", _PANOPTIC15 + " lEye lEar rEye rEar", neck="~neck"),
    _table("panoptic15", _PANOPTIC15, neck="~neck"),
    _table("halpe26", _HALPE, neck="mid_shoulder", head="head_top", hip="mid_hip"),
    _table("opencap", _OPENCAP, array=False, neck="mid_shoulder"),
    _table("plug_in_gait", _MARKERS.format("LASI RASI LPSI RPSI"), array=False, both_toe="~foot"),
    _table(
        "cmu_markers",
        _MARKERS.format("LFWT RFWT LBWT RBWT") + " LSHN RSHN LMT5 RMT5",
        array=False,
        both_toe="~foot",
    ),
    _table(
        "theia",
        "pelvis torso head l_uarm l_larm l_hand r_uarm r_larm r_hand l_thigh l_shank l_foot l_toes r_thigh r_shank"
        " r_foot r_toes",
        array=False,
        torso="~spine3",
        both_hand="wrist",
        both_foot="ankle",
    ),
    _table(
        "kinect_v2",
        "SpineBase SpineMid Neck Head ShoulderLeft ElbowLeft WristLeft HandLeft ShoulderRight ElbowRight WristRight"
        " HandRight HipLeft KneeLeft AnkleLeft FootLeft HipRight KneeRight AnkleRight FootRight SpineShoulder"
        " HandTipLeft ThumbLeft HandTipRight ThumbRight",
        spinebase="mid_hip",
        spinemid="~spine2",
        spineshoulder="~neck",
        neck="~head",
        head="",
        both_hand="~middle_knuckle",
        both_foot="~foot",
        both_thumb="thumb_tip",
    ),
    _table(
        "azure_kinect",
        "PELVIS SPINE_NAVEL SPINE_CHEST NECK CLAVICLE_LEFT SHOULDER_LEFT ELBOW_LEFT WRIST_LEFT HAND_LEFT HANDTIP_LEFT"
        " THUMB_LEFT CLAVICLE_RIGHT SHOULDER_RIGHT ELBOW_RIGHT WRIST_RIGHT HAND_RIGHT HANDTIP_RIGHT THUMB_RIGHT"
        " HIP_LEFT KNEE_LEFT ANKLE_LEFT FOOT_LEFT HIP_RIGHT KNEE_RIGHT ANKLE_RIGHT FOOT_RIGHT HEAD NOSE EYE_LEFT"
        " EAR_LEFT EYE_RIGHT EAR_RIGHT",
        spinenavel="~spine1",
        spinechest="~spine3",
        both_hand="~middle_knuckle",
        both_foot="~big_toe",
        both_thumb="thumb_tip",
    ),
    _table(
        "mixamo",
        "Hips Spine Spine1 Spine2 Neck Head LeftShoulder LeftArm LeftForeArm LeftHand RightShoulder RightArm "
        "RightForeArm RightHand LeftUpLeg LeftLeg LeftFoot LeftToeBase RightUpLeg RightLeg RightFoot RightToeBase",
        array=False,
        spine="spine1",
        spine1="spine2",
        spine2="spine3",
        both_shoulder="collar",
        both_arm="shoulder",
        both_hand="wrist",
        both_leg="knee",
        both_foot="ankle",
    ),
    _table(
        "ue5",
        "pelvis spine_01 spine_02 spine_03 spine_04 spine_05 neck_01 head clavicle_l upperarm_l lowerarm_l hand_l"
        " clavicle_r upperarm_r lowerarm_r hand_r thigh_l calf_l foot_l ball_l thigh_r calf_r foot_r ball_r",
        array=False,
        spine01="spine1",
        spine02="",
        spine03="spine2",
        spine04="",
        spine05="spine3",
        neck01="neck",
        both_hand="wrist",
        both_foot="ankle",
    ),
    _table(
        "vrm",
        "hips spine chest upperChest neck head leftShoulder leftUpperArm leftLowerArm leftHand rightShoulder"
        " rightUpperArm rightLowerArm rightHand leftUpperLeg leftLowerLeg leftFoot leftToes rightUpperLeg rightLowerLeg"
        " rightFoot rightToes",
        array=False,
        spine="spine1",
        chest="spine2",
        upperchest="spine3",
        both_shoulder="collar",
        both_hand="wrist",
        both_foot="ankle",
    ),
)
"""Every known layout; of several with as many points, arrays without names are told apart by their bone lengths."""

ALIASES: dict[str, str] = {
    "body_25": "body25",
    "openpose": "body25",
    "coco": "coco17",
    "openpose18": "coco18",
    "wholebody": "coco_wholebody",
    "coco133": "coco_wholebody",
    "blazepose": "mediapipe",
    "mediapipe33": "mediapipe",
    "h36m": "human36m",
    "human3.6m": "human36m",
    "smpl": "smpl24",
    "smpl22": "roles",
    "smplx": "smplx55",
    "smplh": "smplh52",
    "panoptic": "panoptic19",
    "halpe": "halpe26",
    "pose2sim": "halpe26",
    "pig": "plug_in_gait",
    "kinect": "kinect_v2",
    "azure": "azure_kinect",
    "unreal": "ue5",
}
