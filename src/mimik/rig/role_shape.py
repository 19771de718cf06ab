"""Find roles from a skeleton's shape when names say nothing: two long equal legs below, two equal arms above.

Bone lengths do the work, so that the answer does not depend on the bind; only left and right need a pose, the motion's
or a rest that stands.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mimik._types import Array
from mimik.rig.kinematics import forward_kinematics
from mimik.rig.role_names import Found, common_ancestor, spine_roles, trunk_chain
from mimik.rig.skeleton import Skeleton

# bounds on what is searched: skeletons of people stay far below them
_LONGEST = 24  # joints of a limb
_MOST = 8  # limbs at one fork
_MOST_PAIRS = 60
_ALIKE = 0.15  # relative difference of the lengths of a left and a right limb


@dataclass(frozen=True, slots=True)
class Limb:
    """A branch of the tree: its joints along the longest way out, and how far each is from the fork (metres)."""

    joints: tuple[int, ...]
    reach: tuple[float, ...]
    length: float


def roles_from_shape(skeleton: Skeleton, poses: Array | None = None) -> tuple[Found, tuple[str, ...]]:
    """Return body roles -> joint, and notes; nothing when the skeleton does not look like a person.

    poses (T, J, 3): joint positions in some frames of motion, Y up, to tell left from right; default the rest.
    """
    lengths = _bone_lengths(skeleton)
    tree = _Tree(skeleton, lengths)
    found = _legs_and_arms(tree)
    if found is None:
        return {}, ("no joint named as part of a body, and the skeleton does not look like one",)
    pelvis, chest, legs, arms = found
    if poses is None:
        _, rest = forward_kinematics(skeleton.parents, skeleton.offsets, skeleton.rest, np.zeros(3))
        poses = rest[None]
    leg_roles = [_leg(limb) for limb in legs]
    arm_roles = [_arm(tree, limb) for limb in arms]
    roles: Found = {"pelvis": pelvis, **spine_roles(skeleton, trunk_chain(skeleton, pelvis, chest))}
    roles.update(_neck_and_head(tree, chest, arms))
    left_leg, left_arm, sure = _left_side(poses, leg_roles, arm_roles)
    for pair, left in ((leg_roles, left_leg), (arm_roles, left_arm)):
        for k, parts in enumerate(pair):
            side = "left" if k == left else "right"
            roles.update({f"{side}_{part}": joint for part, joint in parts.items()})
    notes = ["roles were found from the skeleton's shape, its names say nothing"]
    if not sure:
        notes.append("left and right are a guess: neither feet, knees nor elbows show where the figure faces")
    return roles, tuple(notes)


class _Tree:
    """Distances in the tree of joints."""

    def __init__(self, skeleton: Skeleton, lengths: Array) -> None:
        self.skeleton, self.lengths = skeleton, lengths
        count = skeleton.joint_count
        ends = np.nan_to_num(np.linalg.norm(skeleton.tips, axis=-1))
        self.beyond = ends.copy()  # (J,) longest way from a joint outwards
        self.next = np.full(count, -1, dtype=np.int64)
        for j in range(count - 1, 0, -1):
            parent = int(skeleton.parents[j])
            way = float(lengths[j] + self.beyond[j])
            if self.next[parent] < 0 or way > self.beyond[parent]:
                self.beyond[parent], self.next[parent] = way, j

    def limb(self, child: int) -> Limb:
        """Return the branch that starts with `child`."""
        joints: list[int] = []
        reach: list[float] = []
        far = 0.0
        joint = child
        while joint >= 0 and len(joints) <= _LONGEST:
            far += float(self.lengths[joint])
            joints.append(joint)
            reach.append(far)
            joint = int(self.next[joint])
        return Limb(tuple(joints), tuple(reach), float(self.lengths[child] + self.beyond[child]))

    def pairs(self, fork: int, least: float, joints: int) -> list[tuple[Limb, Limb]]:
        """Return the pairs of equal branches at a joint, at least `least` metres long with some `joints`."""
        limbs = [self.limb(c) for c in self.skeleton.children(fork)]
        limbs = [limb for limb in limbs if limb.length >= least and joints <= len(limb.joints) <= _LONGEST]
        limbs = sorted(limbs, key=lambda limb: -limb.length)[:_MOST]
        return [
            (a, b) for a, b in combinations(limbs, 2) if abs(a.length - b.length) < _ALIKE * max(a.length, b.length)
        ]


def _bone_lengths(skeleton: Skeleton) -> Array:
    """Return bone lengths (J,), zero down to the first fork: above it stand the world and the way to the start."""
    lengths = np.linalg.norm(skeleton.offsets, axis=-1)
    joint = 0
    lengths[joint] = 0.0
    while len(children := skeleton.children(joint)) == 1:
        joint = children[0]
        lengths[joint] = 0.0
    return np.asarray(lengths)


def _legs_and_arms(tree: _Tree) -> tuple[int, int, tuple[Limb, Limb], tuple[Limb, Limb]] | None:
    """Return pelvis, chest, and the two pairs of limbs whose lengths together are greatest."""
    whole = float(tree.beyond[0])
    forks = [j for j in range(tree.skeleton.joint_count) if len(tree.skeleton.children(j)) >= 2]
    legs = [(j, pair) for j in forks for pair in tree.pairs(j, 0.25 * whole, 3)]
    arms = [(j, pair) for j in forks for pair in tree.pairs(j, 0.15 * whole, 3)]
    legs, arms = (sorted(pairs, key=lambda p: -p[1][0].length)[:_MOST_PAIRS] for pairs in (legs, arms))
    best, result = 0.0, None
    for fork, leg in legs:
        for chest, arm in arms:
            pelvis = common_ancestor(tree.skeleton, (fork, chest))
            apart = sum(float(tree.lengths[j]) for j in trunk_chain(tree.skeleton, pelvis, fork))
            if pelvis == chest or apart > 0.15 * whole:
                continue
            if any(tree.skeleton.descends_from(chest, limb.joints[0]) for limb in leg):
                continue
            score = sum(limb.length for limb in (*leg, *arm)) - 2.0 * _unlike(leg) - 2.0 * _unlike(arm)
            score += 0.1 * whole * (len(tree.skeleton.children(chest)) > 2)  # a head stands between the arms
            if score > best:
                best, result = score, (pelvis, chest, leg, arm)
    return result


def _unlike(pair: tuple[Limb, Limb]) -> float:
    a, b = pair
    return abs(a.length - b.length) + 0.05 * abs(len(a.joints) - len(b.joints))


def _leg(limb: Limb) -> dict[str, int]:
    """Choose hip, knee and ankle: two nearly equal bones that make most of the leg; the toe base follows."""
    best = min(
        combinations(range(len(limb.joints)), 3),
        key=lambda hka: (
            _misfit(limb, hka, lower=1.0, share=0.78, end=0.35)
            + 0.02 * hka[2]
            + 0.3 * (limb.reach[hka[0]] < 0.02 * limb.length)
        ),  # hips stand apart
    )
    hip, knee, ankle = (limb.joints[k] for k in best)
    roles = {"hip": hip, "knee": knee, "ankle": ankle}
    shin = limb.reach[best[2]] - limb.reach[best[1]]
    for k in range(best[2] + 1, len(limb.joints)):
        if limb.reach[k] - limb.reach[best[2]] > 0.12 * shin:
            roles["foot"] = limb.joints[k]
            break
    return roles


def _arm(tree: _Tree, limb: Limb) -> dict[str, int]:
    """Choose shoulder, elbow and wrist; a joint before the shoulder is the collar."""

    def misfit(sew: tuple[int, ...]) -> float:
        fingers = len(tree.skeleton.children(limb.joints[sew[2]]))
        fan = 0.5 if fingers >= 3 else 0.15 if fingers == 2 else 0.0
        return _misfit(limb, sew, lower=0.86, share=0.62, end=0.65) + 0.01 * sew[2] - fan

    best = min(combinations(range(len(limb.joints)), 3), key=misfit)
    roles = {part: limb.joints[k] for part, k in zip(("shoulder", "elbow", "wrist"), best)}
    upper = limb.reach[best[1]] - limb.reach[best[0]]
    before = [k for k in range(best[0]) if limb.reach[best[0]] - limb.reach[k] > 0.15 * upper]
    if before:
        roles["collar"] = limb.joints[before[0]]
    return roles


def _misfit(limb: Limb, joints: tuple[int, ...], *, lower: float, share: float, end: float) -> float:
    """Say how far two bones are from the ratio 1 : lower : end with what follows, and from their share of the limb."""
    a, b, c = (limb.reach[k] for k in joints)
    rest = limb.length - c
    if b - a < 1e-6 or c - b < 1e-6:
        return 100.0
    ends = min(0.3 * abs(np.log(rest / (c - b) / end)), 0.2) if rest > 0.02 * limb.length else 0.2
    return float(abs(np.log((c - b) / (b - a) / lower)) + abs(np.log((c - a) / limb.length / share)) + ends)


def _neck_and_head(tree: _Tree, chest: int, arms: tuple[Limb, Limb]) -> Found:
    """Return neck and head on the longest branch between the arms."""
    taken = {limb.joints[0] for limb in arms}
    middle = [tree.limb(c) for c in tree.skeleton.children(chest) if c not in taken]
    if not middle:
        return {}
    chain = list(max(middle, key=lambda limb: limb.length).joints)
    fans = [k for k, j in enumerate(chain) if len(tree.skeleton.children(j)) >= 2]
    steps = [float(tree.lengths[j]) for j in chain]
    if fans and fans[0] > 0:
        chain = chain[: fans[0] + 1]
    elif len(chain) >= 3 and not np.isfinite(tree.skeleton.tips[chain[-1]]).all():
        # a joint at the crown or a nub, not the head's own
        chain = chain if 0.5 < steps[-1] / max(steps[-2], 1e-9) < 1.3 else chain[:-1]
    if len(chain) == 1:
        return {"head": chain[0]}
    return {"neck": chain[0], "head": chain[-1]}


def _left_side(poses: Array, legs: list[dict[str, int]], arms: list[dict[str, int]]) -> tuple[int, int, bool]:
    """Return which leg and which arm of the pairs is the left one, and whether the figure shows it."""
    hips, shoulders = (np.stack([poses[:, p[k]] for p in pair]) for pair, k in ((legs, "hip"), (arms, "shoulder")))
    up = _unit(shoulders.mean(axis=0) - hips.mean(axis=0))
    front = _facing(poses, legs, arms)
    side = np.cross(up, front)
    leg_vote = float(np.sum(side * _unit(hips[0] - hips[1])))
    arm_vote = float(np.sum(side * _unit(shoulders[0] - shoulders[1])))
    strength = float(np.linalg.norm(front, axis=-1).sum())
    sure = abs(leg_vote) > 0.02 * len(poses) and strength > 0.0
    if not sure:
        leg_vote = float(np.sum(hips[0, :, 0] - hips[1, :, 0]))
        arm_vote = float(np.sum(shoulders[0, :, 0] - shoulders[1, :, 0]))
    return (0 if leg_vote >= 0 else 1), (0 if arm_vote >= 0 else 1), sure


def _facing(poses: Array, legs: list[dict[str, int]], arms: list[dict[str, int]]) -> Array:
    """Return where the figure faces in each frame (T, 3), not of unit length: feet, and how knees and elbows bend."""
    front = np.zeros((len(poses), 3))
    for leg in legs:
        if "foot" in leg:
            shin = _unit(poses[:, leg["ankle"]] - poses[:, leg["knee"]])
            foot = poses[:, leg["foot"]] - poses[:, leg["ankle"]]
            front += 3.0 * (foot - (foot * shin).sum(-1, keepdims=True) * shin)
        front += _bulge(poses, leg, ("hip", "knee", "ankle"))
    for arm in arms:
        front -= 0.3 * _bulge(poses, arm, ("shoulder", "elbow", "wrist"))
    return front


def _bulge(poses: Array, limb: Mapping[str, int], parts: tuple[str, str, str]) -> Array:
    """Return how far the middle joint stands off the line between the ends (T, 3)."""
    a, b, c = (poses[:, limb[p]] for p in parts)
    line = _unit(c - a)
    off = b - a
    return off - (off * line).sum(-1, keepdims=True) * line


def _unit(v: Array) -> Array:
    norm = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.asarray(v / np.where(norm > 1e-9, norm, 1.0))
