"""The vocabulary of layouts: the sites of a body, the spellings each goes by, and which site hangs on which."""

SIDES = ("left", "right")
_SIDED_LANDMARKS = (
    "heel",
    "big_toe",
    "small_toe",
    "index_knuckle",
    "middle_knuckle",
    "pinky_knuckle",
    "thumb_knuckle",
    "hand_tip",
)
LANDMARKS: tuple[str, ...] = (
    *("nose", "left_eye", "right_eye", "left_ear", "right_ear", "head_top"),
    *(f"{side}_{name}" for side in SIDES for name in _SIDED_LANDMARKS),
)
"""Points on the surface of the body, in the order of every landmark array."""

FINGERS = ("thumb", "index", "middle", "ring", "pinky")
EXTRA_ROLES: tuple[str, ...] = (
    "jaw",
    *(f"{side}_{finger}{k}" for side in SIDES for finger in FINGERS for k in (1, 2, 3)),
)
"""Joints beyond the 22 body roles that a layout may hold."""

AUXILIARY: tuple[str, ...] = (
    *("mid_hip", "mid_shoulder", "head_centre", "mid_head", "neck_front", "neck_back", "sternum", "back"),
    *(
        f"{side}_{name}"
        for side in SIDES
        for name in (
            *("front_waist", "back_waist", "shoulder_top", "outer_elbow", "inner_elbow", "outer_wrist", "inner_wrist"),
            *("outer_knee", "inner_knee", "outer_ankle", "inner_ankle", "outer_foot", "front_head", "back_head"),
            *(f"{finger}_tip" for finger in FINGERS),
        )
    ),
)
"""Points that are neither joint nor landmark but help to find one: mid-points and surface markers."""

# site without its side -> keys without their side, as `names.point_key` spells them
SIDED_KEYS: dict[str, str] = {
    "shoulder": "shoulder shldr upperarm uparm uarm arm humerus gh gleno glenohumeral sjc",
    "elbow": "elbow forearm lowerarm lowarm larm loarm radius ejc",
    "wrist": "wrist hand handroot handwrist wjc",
    "hip": "hip hipjoint upleg upperleg thigh femur hjc hjcstudy",
    "knee": "knee kneejoint lowerleg lowleg calf shank shin tibia kjc",
    "ankle": "ankle anklejoint ajc talus",
    "foot": "foot toebase toe toes ball mtp football",
    "collar": "collar clavicle clav",
    "eye": "eye eyesmplhf",
    "ear": "ear",
    "heel": "heel hee calc calcstudy calcaneus",
    "big_toe": "bigtoe hallux footindex toetip toeend",
    "small_toe": "smalltoe littletoe pinkytoe",
    "hand_tip": "handtip",
    "index_knuckle": "indexknuckle",
    "middle_knuckle": "middleknuckle",
    "pinky_knuckle": "pinkyknuckle",
    "thumb_knuckle": "thumbknuckle",
    "front_waist": "asis asisstudy asi fwt",
    "back_waist": "psis psisstudy psi bwt",
    "shoulder_top": "acromion sho shoulderstudy",
    "outer_elbow": "lelbowstudy elb lateralelbow elbowlateral",
    "inner_elbow": "melbowstudy medialelbow elbowmedial elbm",
    "outer_wrist": "lwriststudy wra wristradial radialwrist",
    "inner_wrist": "mwriststudy wrb wristulnar ulnarwrist",
    "outer_knee": "kneestudy kne lateralknee kneelateral",
    "inner_knee": "mkneestudy knem medialknee kneemedial",
    "outer_ankle": "anklestudy ank lateralankle anklelateral",
    "inner_ankle": "manklestudy ankm medialankle anklemedial",
    "outer_foot": "5metastudy mt5 meta5 fifthmetatarsal",
    "front_head": "fhd",
    "back_head": "bhd",
    **{f"{finger}1": f"{finger}1 {finger}01 {finger}proximal" for finger in FINGERS},
    **{f"{finger}2": f"{finger}2 {finger}02 {finger}intermediate" for finger in FINGERS},
    **{f"{finger}3": f"{finger}3 {finger}03 {finger}distal" for finger in FINGERS},
    **{f"{finger}_tip": f"{finger}tip {finger}4 {finger}fingertip" for finger in FINGERS},
}
for _finger in FINGERS[1:]:  # MediaPipe's and MMPose's hands count from the knuckle
    _mm = "forefinger" if _finger == "index" else _finger + "finger"
    for _k, _part in ((1, "mcp"), (2, "pip"), (3, "dip")):
        SIDED_KEYS[f"{_finger}{_k}"] += f" {_finger}finger{_part} {_finger}{_part} {_mm}{_k} hand{_finger}{_k}"
        SIDED_KEYS[f"{_finger}{_k}"] += f" hand{_finger}finger{_part} hand{_finger}{_part}"
    SIDED_KEYS[f"{_finger}_tip"] += f" {_mm}4 {_finger}fingertip hand{_finger}fingertip hand{_finger}tip hand{_finger}4"
for _k, _part in ((1, "cmc"), (2, "mcp"), (3, "ip")):
    SIDED_KEYS[f"thumb{_k}"] += f" thumb{_part} handthumb{_part} handthumb{_k}"
SIDED_KEYS["thumb_tip"] += " handthumbtip handthumb4"

CENTRAL_KEYS: dict[str, str] = {
    "pelvis": "pelvis hips root bip01",
    "spine1": "spine1 spinelower lowerspine lumbar abdomen",
    "spine2": "spine2 spine spinemid midspine torso belly",
    "spine3": "spine3 chest upperchest thoraxtop spineupper upperspine",
    "neck": "neck neck1 neck01 thorax neckbase",
    "head": "head",
    "nose": "nose",
    "head_top": "headtop tophead vertex headend topofhead",
    "jaw": "jaw",
    "mid_hip": "midhip hip bodycenter body hipcenter midhips pelviscenter",
    "mid_shoulder": "midshoulder shouldercenter midshoulders",
    "neck_back": "c7 c7study",
    "neck_front": "clav clavicle jugular suprasternal",
    "sternum": "strn sternum",
    "back": "t10 t8",
}
# points of known layouts that are told apart but used for nothing
UNUSED_SIDED = (
    "eyeinner eyeouter mouth pelvis thigh1study thigh2study thigh3study sh1study sh2study sh3study tibstudy"
    " thi tib upa frm fin mt1 shn nipple toestudy"
)
UNUSED_CENTRAL = "rbac mouth chin background " + " ".join(f"face{i}" for i in range(68))

# site -> the sites it may hang on, the nearest first; what bone lengths and gap filling go by
PARENTS: dict[str, tuple[str, ...]] = {
    "neck": ("spine3", "spine2", "spine1", "pelvis", "mid_hip"),
    "mid_shoulder": ("spine3", "spine2", "pelvis", "mid_hip"),
    "spine1": ("pelvis", "mid_hip"),
    "spine2": ("spine1", "pelvis", "mid_hip"),
    "spine3": ("spine2", "spine1", "pelvis", "mid_hip"),
    "head": ("neck", "mid_shoulder", "spine3"),
    "head_centre": ("neck", "mid_shoulder", "spine3"),
    "head_top": ("head", "head_centre", "nose", "neck", "mid_shoulder"),
    "nose": ("head", "head_centre", "neck", "mid_shoulder", "left_ear", "left_shoulder"),
    "jaw": ("head", "nose"),
}
for _s, _o in (SIDES, SIDES[::-1]):
    PARENTS |= {
        f"{_s}_hip": ("pelvis", "mid_hip"),
        f"{_s}_knee": (f"{_s}_hip",),
        f"{_s}_ankle": (f"{_s}_knee",),
        f"{_s}_outer_knee": (f"{_s}_front_waist",),
        f"{_s}_inner_knee": (f"{_s}_outer_knee",),
        f"{_s}_outer_ankle": (f"{_s}_outer_knee",),
        f"{_s}_inner_ankle": (f"{_s}_outer_ankle",),
        f"{_s}_outer_foot": (f"{_s}_outer_ankle",),
        f"{_s}_outer_elbow": (f"{_s}_shoulder_top",),
        f"{_s}_inner_elbow": (f"{_s}_outer_elbow",),
        f"{_s}_outer_wrist": (f"{_s}_outer_elbow",),
        f"{_s}_inner_wrist": (f"{_s}_outer_elbow",),
        f"{_s}_foot": (f"{_s}_ankle", f"{_s}_outer_ankle"),
        f"{_s}_heel": (f"{_s}_ankle", f"{_s}_outer_ankle", f"{_s}_foot"),
        f"{_s}_big_toe": (f"{_s}_foot", f"{_s}_ankle"),
        f"{_s}_small_toe": (f"{_s}_foot", f"{_s}_ankle"),
        f"{_s}_collar": ("spine3", "neck"),
        f"{_s}_shoulder": (f"{_s}_collar", "neck", "mid_shoulder", "spine3"),
        f"{_s}_elbow": (f"{_s}_shoulder",),
        f"{_s}_wrist": (f"{_s}_elbow",),
        f"{_s}_hand_tip": (f"{_s}_middle_knuckle", f"{_s}_wrist"),
        f"{_s}_eye": ("nose", "head"),
        f"{_s}_ear": ("nose", "head", "head_centre", "neck", "mid_shoulder"),
    }
    PARENTS |= {f"{_s}_{name}_knuckle": (f"{_s}_wrist",) for name in ("index", "middle", "pinky", "thumb")}
    for _finger in FINGERS:
        PARENTS[f"{_s}_{_finger}1"] = (f"{_s}_wrist",)
        PARENTS[f"{_s}_{_finger}2"] = (f"{_s}_{_finger}1",)
        PARENTS[f"{_s}_{_finger}3"] = (f"{_s}_{_finger}2",)
        PARENTS[f"{_s}_{_finger}_tip"] = (f"{_s}_{_finger}3",)


def _spellings() -> dict[str, str]:
    table: dict[str, str] = {}
    for site, keys in SIDED_KEYS.items():
        table |= {f"{side}_{key}": f"{side}_{site}" for side in SIDES for key in keys.split()}
    for site, keys in CENTRAL_KEYS.items():
        table |= dict.fromkeys(keys.split(), site)
    for side, letter in zip(SIDES, "lr", strict=True):  # surface markers: LASI, RKNE, LHJC
        for site, keys in SIDED_KEYS.items():
            table |= {letter + key: f"{side}_{site}" for key in keys.split() if len(key) == 3}
        table |= dict.fromkeys((f"{side}_{key}" for key in UNUSED_SIDED.split()), "")
        table |= dict.fromkeys((letter + key for key in UNUSED_SIDED.split() if len(key) == 3), "")
        table[f"{letter}hjcstudy"] = f"{side}_hip"
    table |= dict.fromkeys(UNUSED_CENTRAL.split(), "")
    for site in (*LANDMARKS, *EXTRA_ROLES, *AUXILIARY):
        side, _, rest = site.partition("_")
        table[f"{side}_{rest.replace('_', '')}" if side in SIDES else site.replace("_", "")] = site
    return table


SPELLINGS: dict[str, str] = _spellings()
"""Key of a name -> the site it means where no layout says otherwise; an empty site is a known point of no use."""
