"""What a joint's name says: side, body part and number, for every naming habit in use.

`LeftForeArm`, `mixamorig:LeftForeArm`, `lowerarm_l`, `Bip01 L Forearm`, `J_Bip_L_LowerArm`, `DEF-forearm.L`,
`lForearmBend`, `b_l_lowarm` and `左ひじ` all say the same: left, forearm.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


# body part -> words for it, spaces and underscores removed
_VOCABULARY = {
    "pelvis": "pelvis hips hipcenter midhip センター 腰 骨盆 髋 髋部 臀部",
    "hip": "hip",
    "hipjoint": "hipjoint",
    "thigh": "thigh upleg upperleg legupper femur upperthigh hipbone 足 大腿 太もも 太腿",
    "shin": "shin shank calf lowerleg lowleg leglower tibia knee crus ひざ 膝 小腿 脛",
    "leg": "leg",
    "ankle": "ankle talus 足首 脚踝 踝",
    "foot": "foot feet 脚",
    "toe": "toe toes toebase ball forefoot つま先 つまさき 脚趾 足趾",
    "spine": "spine chest upperchest torso abdomen thorax waist lowerback upperback midback back belly ribs ribcage "
    "spinebase spinemid spinenavel spinechest spineshoulder navel lumbar thoracic stomach chestlower chestupper "
    "abdomenlower abdomenupper t1 t4 t8 t12 l1 l3 l5 上半身 上半身2 脊椎 脊柱 胸 胸部",
    "neck": "neck neckbase neckmid lowerneck upperneck necklower neckupper cervical 首 颈 颈部 脖子",
    "head": "head skull cranium 頭 头 頭部 头部",
    "jaw": "jaw lowerjaw mandible chin",
    "eye": "eye eyeball eyebone 目",
    "collar": "collar clavicle clav scapula collarbone shoulderblade 肩 锁骨",
    "shoulder": "shoulder",
    "upperarm": "upperarm uparm uarm armupper arm shldr humerus bicep 腕 上腕 上臂",
    "forearm": "forearm lowerarm lowarm armlower farm elbow radius ulna ひじ 肘 前腕 前臂",
    "wrist": "wrist 手首 手腕",
    "hand": "hand palm 手",
    "thumb": "thumb 親指 拇指",
    "index": "index indexfinger pointer 人指 食指",
    "middle": "middle mid middlefinger 中指",
    "ring": "ring ringfinger 薬指 无名指",
    "pinky": "pinky little pinkie littlefinger pinkyfinger 小指",
    "finger": "finger fingerbase fingers",
    "root": "root reference armature hiproot",
}
_PART_OF_WORD = {word: part for part, words in _VOCABULARY.items() for word in _words(words)}

# joints that ride on a bone or end it: never a body joint
_HELPERS = _words(
    "twist roll helper corrective pole ik target ctrl control end nub site tip top share leaf adj adjust offset socket",
    "weapon prop breast boob butt glute muscle tweak hair skirt cloth tail wing metacarpal meta carpal metatarsals",
    "metatarsal heel tongue brow lid lip teeth lash pectoral pec latissimus attach effector marker dummy null ear nose",
    "bang bow cape sleeve out front rear patella 捩 捩れ 先 親 d ex ikparent 肩p 肩c",
)
# words that say nothing of the body
_NOISE = _words(
    "j jnt jt joint bone bip bip01 bip001 def org mch b c sk skl rig character character1 robot mixamorig bend",
    "cc base n f node nd x m bn main in stretch",
)
_SIDES = {
    "left": _words("left l lft lf izq izquierda links linke gauche sinistra sx 左"),
    "right": _words("right r rgt rt der derecha rechts rechte droite destra dx 右"),
}
_SIDE_OF_WORD = {word: side for side, words in _SIDES.items() for word in words}
# words that say where on the body a joint is, before the word that says which: `L_arm_elbow`, `LeftFootBall`
_LIMB_WORDS = _words("arm leg hand foot")
_GLUED_SIDES = (("left", "left"), ("right", "right"), ("左", "left"), ("右", "right"), ("l", "left"), ("r", "right"))


@dataclass(frozen=True, slots=True)
class JointWord:
    """What one joint's name says.

    side    "left", "right", or "" for the middle or when nothing is said
    part    a key of the vocabulary, or "" when the name says nothing of the body
    number  the numbers in the name, in order
    helper  the joint only rides on a bone (twist, roll, end, socket ...)
    """

    side: str
    part: str
    number: tuple[int, ...]
    helper: bool


def read_names(names: Sequence[str]) -> list[JointWord]:
    """Read all names of a skeleton together: a prefix that most of them share is no part of the name."""
    tokens = [_tokens(name) for name in names]
    for _ in range(3):
        heads = Counter(t[0] for t in tokens if len(t) > 1)
        if not heads:
            break
        word, count = heads.most_common(1)[0]
        if count < 0.6 * len(names) or word in _SIDE_OF_WORD or word in _PART_OF_WORD:
            break
        tokens = [t[1:] if len(t) > 1 and t[0] == word else t for t in tokens]
    return [_read(t) for t in tokens]


def _tokens(name: str) -> list[str]:
    """Split at separators, at capitals and around digits, in lower case, without the namespace."""
    bare = re.split(r"[:|]", name)[-1] or name
    bare = re.sub(r"(?<![A-Za-z])([LR])([UF])Arm", lambda m: f"{m[1]} {m[2].lower()}arm", bare)
    bare = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[0-9])(?=[A-Z][a-z])", " ", bare)
    words = re.findall(r"[^\W\d_]+\d*|\d+", bare.replace("_", " ").casefold())
    parts = [w if w in _PART_OF_WORD or w in _NOISE else re.sub(r"(?<=[^\W\d_])(?=\d)", " ", w) for w in words]
    return " ".join(parts).split()


def _read(tokens: list[str]) -> JointWord:
    side, helper, words, numbers = "", False, [], []
    for token in tokens:
        if token in _SIDE_OF_WORD and not side:
            side = _SIDE_OF_WORD[token]
        elif token.isdecimal():
            numbers.append(int(token[:9]))
        elif token in _HELPERS and not (token == "metacarpal" and "thumb" in tokens):
            helper = True
        elif token not in _NOISE:
            words.append(token)
    helper = helper or _inside_the_hand(tokens)
    joined = "".join(words)
    if len(words) > 1 and joined not in _PART_OF_WORD and words[0] in _LIMB_WORDS:
        words = words[1:] if "".join(words[1:]) in _PART_OF_WORD else words
        joined = "".join(words)
    if joined == "hip" and "joint" in tokens:
        joined = "hipjoint"
    if joined == "thorax" and side:
        joined = "collar"
    part = _PART_OF_WORD.get(joined, "")
    if not part and not side:
        side, part = _glued_side(joined)
    if not part:
        part, helper = _part_inside(words, helper)
    return JointWord(side, part, tuple(numbers), helper)


def _inside_the_hand(tokens: list[str]) -> bool:
    """Say whether the name is one of the bones within the palm: `LeftInHandIndex`."""
    return any(pair == ("in", "hand") for pair in pairwise(tokens))


def _glued_side(joined: str) -> tuple[str, str]:
    """Read `lhip`, `leftforearm`, `左腕`: a side without a separator before a known word."""
    for start, side in _GLUED_SIDES:
        rest = joined.removeprefix(start)
        if rest != joined and rest in _PART_OF_WORD:
            return side, _PART_OF_WORD[rest]
    return "", ""


def _part_inside(words: list[str], helper: bool) -> tuple[str, bool]:
    """Read a finger word beside others (`LeftHandThumb`, `index proximal`); anything else unknown is a helper."""
    for finger in ("thumb", "index", "middle", "ring", "pinky", "finger"):
        if any(_PART_OF_WORD.get(w) == finger for w in words):
            return finger, helper
    for size in range(len(words) - 1, 0, -1):
        for start in range(len(words) - size + 1):
            part = _PART_OF_WORD.get("".join(words[start : start + size]), "")
            if part:
                return part, True
    return "", helper
