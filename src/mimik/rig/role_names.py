"""Find roles from joint names, with the hierarchy as judge of what an ambiguous word means.

`LeftShoulder` is a collar beside `LeftArm` and a shoulder beside `left_collar`; `LeftFoot` is an ankle beside
`LeftToeBase` and a toe base beside `left_ankle`; `left_hip` is a thigh, `LHipJoint` is not. Spines and necks are read
from the hierarchy between pelvis, collars and head, whatever their joints are called.
"""

from collections.abc import Callable, Iterable

import numpy as np

from mimik.rig.joint_words import JointWord, read_names
from mimik.rig.kinematics import forward_kinematics
from mimik.rig.roles import FINGERS
from mimik.rig.skeleton import Skeleton

Found = dict[str, int]


def roles_from_names(skeleton: Skeleton) -> Found:
    """Return role -> joint as far as the names tell; roles that contradict the hierarchy are left out."""
    words = read_names(skeleton.names)
    found: Found = {}
    for side in ("left", "right"):
        found.update(_leg(skeleton, words, side))
        found.update(_arm(skeleton, words, side))
    found.update(_trunk(skeleton, words, found))
    found.update(face_and_fingers(skeleton, words, found))
    return found


def face_and_fingers(skeleton: Skeleton, words: list[JointWord], found: Found) -> Found:
    """Return the roles of jaw, eyes and fingers below the head and the wrists already found."""
    extra = _face(skeleton, words, found)
    for side in ("left", "right"):
        wrist = found.get(f"{side}_wrist")
        if wrist is not None:
            extra.update(_fingers(skeleton, words, side, wrist))
    return extra


def trunk_chain(skeleton: Skeleton, lower: int, upper: int) -> list[int]:
    """Return the joints from `lower` (exclusive) up to its descendant `upper` (inclusive)."""
    chain = []
    joint = upper
    while joint > lower:
        chain.append(joint)
        joint = int(skeleton.parents[joint])
    return chain[::-1] if joint == lower else []


def common_ancestor(skeleton: Skeleton, joints: Iterable[int]) -> int:
    """Return the lowest joint from which all of `joints` descend."""
    paths = []
    for joint in joints:
        path = {joint}
        while joint > 0:
            joint = int(skeleton.parents[joint])
            path.add(joint)
        paths.append(path)
    return max(set.intersection(*paths)) if paths else 0


def spine_roles(skeleton: Skeleton, spine: list[int]) -> Found:
    """Name a chain of spine joints: the last is the chest, the first of several the lowest, the middle one between."""
    if not spine:
        return {}
    if len(spine) == 1:
        return {"spine3": spine[0]}
    if len(spine) == 2:
        return {"spine1": spine[0], "spine3": spine[1]}
    return {"spine1": spine[0], "spine2": spine[len(spine) // 2], "spine3": spine[-1]}


def _pick(words: list[JointWord], side: str, *parts: str, below: int = -1, skeleton: Skeleton) -> int | None:
    """Return the first joint in the hierarchy that is one of `parts` on `side`, below joint `below`.

    A joint that carries others goes before a leaf: volumes and helpers often bear the bones' own names.
    """
    leaf = None
    for part in parts:
        for joint, word in enumerate(words):
            if word.part != part or word.side != side or word.helper:
                continue
            if below < 0 or (joint != below and skeleton.descends_from(joint, below)):
                if skeleton.children(joint):
                    return joint
                leaf = joint if leaf is None else leaf
    return leaf


def _leg(skeleton: Skeleton, words: list[JointWord], side: str) -> Found:
    def pick(*parts: str, below: int | None = None) -> int | None:
        return _pick(words, side, *parts, below=-1 if below is None else below, skeleton=skeleton)

    thigh = pick("thigh", "hip")
    if thigh is None:  # LeftLeg above LeftShin, or Leg_1 above Leg_2
        leg = pick("leg")
        thigh = leg if leg is not None and pick("shin", "leg", below=leg) is not None else None
    knee = pick("shin", "leg", below=thigh)
    ankle = pick("ankle", "foot", below=knee)
    toe = _medoid_toe(skeleton, words, side, ankle)
    if toe is None and ankle is not None and knee is not None:
        ankle, toe = _through_the_foot(skeleton, words, side, knee, ankle)
    if toe is None and ankle is not None and words[ankle].part == "ankle":
        toe = pick("foot", below=ankle)
    return _present(side, hip=thigh, knee=knee, ankle=ankle, foot=toe)


def _through_the_foot(
    skeleton: Skeleton, words: list[JointWord], side: str, knee: int, ankle: int
) -> tuple[int, int | None]:
    """Return ankle and toe base where the toes hang from joints of another name beside the one called foot.

    The ankle is then the last joint on the way to the toes that stands where the foot does.
    """
    toe = _medoid_toe(skeleton, words, side, knee)
    if toe is None:
        return ankle, None
    rest = forward_kinematics(skeleton.parents, skeleton.offsets, skeleton.rest, np.zeros(3))[1]
    way = trunk_chain(skeleton, knee, toe)[:-1]
    beside = [j for j in way if np.linalg.norm(rest[j] - rest[ankle]) < 0.03 * np.linalg.norm(rest[knee] - rest[ankle])]
    return (beside[-1] if beside else ankle), toe


def _medoid_toe(skeleton: Skeleton, words: list[JointWord], side: str, ankle: int | None) -> int | None:
    """Return the toe base; of five toes side by side the one nearest their middle."""
    if ankle is None:
        return None
    toes = [
        j
        for j, w in enumerate(words)
        if w.part == "toe" and w.side == side and not w.helper and j != ankle and skeleton.descends_from(j, ankle)
    ]
    if not toes:
        return None
    siblings = [j for j in toes if skeleton.parents[j] == skeleton.parents[toes[0]]]
    middle = skeleton.offsets[siblings].mean(axis=0)
    return min(siblings, key=lambda j: float(((skeleton.offsets[j] - middle) ** 2).sum()))


def _arm(skeleton: Skeleton, words: list[JointWord], side: str) -> Found:
    def pick(*parts: str, below: int | None = None) -> int | None:
        return _pick(words, side, *parts, below=-1 if below is None else below, skeleton=skeleton)

    collar = pick("collar")
    shoulder = pick("upperarm", "shoulder", below=collar)
    if collar is None and shoulder is not None and words[shoulder].part == "upperarm":
        above = pick("shoulder")
        collar = above if above is not None and above != shoulder and _above(skeleton, above, shoulder) else None
    elbow = pick("forearm", below=shoulder)
    if elbow is None and shoulder is not None and words[shoulder].part == "upperarm":  # Arm_1 above Arm_2
        elbow = pick("upperarm", below=shoulder)
    # in ASF skeletons `lwrist`, below `lradius`, only turns the forearm; `lhand` bends
    carries_twist = elbow is not None and "radius" in skeleton.names[elbow].casefold()
    wrist = pick(*(("hand", "wrist") if carries_twist else ("wrist", "hand")), below=elbow)
    if wrist is not None:
        wrist = _bending_hand(skeleton, words, wrist)
    return _present(side, collar=collar, shoulder=shoulder, elbow=elbow, wrist=wrist)


def _bending_hand(skeleton: Skeleton, words: list[JointWord], wrist: int) -> int:
    """Return the joint that bends the hand where the one called hand only turns it (`LeftFingerBase` in CMU's BVH)."""
    for child in skeleton.children(wrist):
        same_place = np.linalg.norm(skeleton.offsets[child]) < 1e-5
        if same_place and words[child].part == "finger" and not words[child].number and skeleton.children(child):
            return child
    return wrist


def _above(skeleton: Skeleton, upper: int, lower: int) -> bool:
    return skeleton.descends_from(lower, upper)


def _present(side: str, **joints: int | None) -> Found:
    return {f"{side}_{role}": joint for role, joint in joints.items() if joint is not None}


def _trunk(skeleton: Skeleton, words: list[JointWord], found: Found) -> Found:
    """Return pelvis, spine, neck and head, from the hierarchy between the limbs."""
    head = _pick(words, "", "head", skeleton=skeleton)
    hips = [found[r] for r in ("left_hip", "right_hip") if r in found]
    arms = [found.get(f"{s}_collar", found.get(f"{s}_shoulder", -1)) for s in ("left", "right")]
    arms = [j for j in arms if j >= 0]
    pelvis = _pelvis(skeleton, words, hips, [*arms, *([] if head is None else [head])])
    roles: Found = {} if pelvis is None else {"pelvis": pelvis}
    if pelvis is None or not (arms or head is not None):
        return roles if head is None else {**roles, "head": head}
    top = _chest_top(skeleton, words, arms, head)
    below_head = trunk_chain(skeleton, pelvis, top)
    spine = [j for j in below_head if words[j].part != "neck" and not _is_twist(words[j])]
    roles.update(spine_roles(skeleton, spine))
    chest = spine[-1] if spine else pelvis
    roles.update(_neck_and_head(skeleton, words, chest, head, arms))
    return roles


def _is_twist(word: JointWord) -> bool:
    return word.helper and word.part == ""


def _pelvis(skeleton: Skeleton, words: list[JointWord], hips: list[int], upper: list[int]) -> int | None:
    """Return the joint from which legs and trunk branch; a joint called pelvis just above it goes first."""
    named = _pick(words, "", "pelvis", "hip", skeleton=skeleton)
    if len(hips) < 2:
        return named
    fork = int(skeleton.parents[common_ancestor(skeleton, hips)]) if len(set(hips)) < 2 else 0
    fork = common_ancestor(skeleton, [*hips, *upper])
    if named is not None and named < fork and words[fork].part == "spine" and skeleton.descends_from(fork, named):
        return named
    return fork


def _chest_top(skeleton: Skeleton, words: list[JointWord], arms: list[int], head: int | None) -> int:
    """Return the joint where arms and head part; without a head the one where the arms do."""
    if len(arms) + (head is not None) == 1:
        return int(skeleton.parents[arms[0]]) if arms else _below_neck(skeleton, words, head or 0)
    return common_ancestor(skeleton, [*arms, *([] if head is None else [head])])


def _below_neck(skeleton: Skeleton, words: list[JointWord], head: int) -> int:
    joint = int(skeleton.parents[head])
    while joint > 0 and words[joint].part == "neck":
        joint = int(skeleton.parents[joint])
    return max(joint, 0)


def _neck_and_head(skeleton: Skeleton, words: list[JointWord], chest: int, head: int | None, arms: list[int]) -> Found:
    if head is not None and not skeleton.descends_from(head, chest):
        return {"head": head}
    if head is None:
        chain = _middle_chain(skeleton, chest, arms, lambda j: words[j].part in ("neck", "spine") and not words[j].side)
        if len(chain) >= 2:
            return {"neck": chain[0], "head": chain[-1]}
        return {"neck": chain[0]} if chain else {}
    chain = [j for j in trunk_chain(skeleton, chest, head) if j != head]
    return {"neck": chain[0], "head": head} if chain else {"head": head}


def _middle_chain(skeleton: Skeleton, chest: int, arms: list[int], fits: Callable[[int], bool]) -> list[int]:
    """Follow joints of the middle upwards from the chest."""
    chain: list[int] = []
    joint = chest
    while True:
        steps = [c for c in skeleton.children(joint) if fits(c) and not any(skeleton.descends_from(a, c) for a in arms)]
        if not steps:
            return chain
        joint = steps[0]
        chain.append(joint)


def _face(skeleton: Skeleton, words: list[JointWord], found: Found) -> Found:
    head = found.get("head")
    if head is None:
        return {}
    roles = {
        "jaw": _pick(words, "", "jaw", below=head, skeleton=skeleton),
        "left_eye": _pick(words, "left", "eye", below=head, skeleton=skeleton),
        "right_eye": _pick(words, "right", "eye", below=head, skeleton=skeleton),
    }
    return {role: joint for role, joint in roles.items() if joint is not None}


def _fingers(skeleton: Skeleton, words: list[JointWord], side: str, wrist: int) -> Found:
    """Return up to three joints of each finger, from the knuckle outwards."""
    chains: dict[str, list[int]] = {}
    for joint in range(wrist + 1, skeleton.joint_count):
        word = words[joint]
        if word.helper or word.side not in (side, "") or not skeleton.descends_from(joint, wrist):
            continue
        finger = word.part if word.part in FINGERS else _numbered_finger(word, skeleton, words)
        if finger:
            chains.setdefault(finger, []).append(joint)
    knuckles = {finger: chain[_metacarpals(finger, chain, words) :] for finger, chain in chains.items()}
    return {f"{side}_{finger}{k + 1}": j for finger, chain in knuckles.items() for k, j in enumerate(chain[:3])}


def _metacarpals(finger: str, chain: list[int], words: list[JointWord]) -> int:
    """Return 1 where four joints of a finger are numbered from 0, or from the second on: the first lies in the palm."""
    if finger == "thumb" or len(chain) < 4:
        return 0
    first, second = (words[joint].number[-1:] for joint in chain[:2])
    return int(first == (0,) or (first, second) == ((), (1,)))


def _numbered_finger(word: JointWord, skeleton: Skeleton, words: list[JointWord]) -> str:
    """Read `Finger0` and `Finger01` (Biped, from 0) and `finger2-1` (MakeHuman, from 1)."""
    if word.part != "finger" or not word.number:
        return ""
    firsts = [w.number for w in words if w.part == "finger" and w.number]
    from_one = all(len(n) >= 2 and n[0] >= 1 for n in firsts)
    first = word.number[0] - 1 if from_one else int(str(word.number[0]).zfill(1)[0])
    return FINGERS[first] if 0 <= first < len(FINGERS) else ""
