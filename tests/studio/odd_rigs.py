"""Rigs a mannequin must survive: almost nothing of a body, or far too much of it."""

import numpy as np

from mimik.rig import Skeleton
from mimik.rig.builtin import builtin_rig
from mimik.rig.pose import LocalPose
from mimik.rig.rig import Rig
from tests.builders import SEED, chain, random_tree


def plain_rig(skeleton: Skeleton) -> Rig:
    """Return a rig without roles whose T-pose is the skeleton's rest."""
    return Rig(skeleton, LocalPose(skeleton, skeleton.rest, np.zeros(3)).to_world().rotations)


def without(rig: Rig, *gone: str) -> Rig:
    """Return a rig that lacks the roles whose names contain one of `gone`; the joints stay."""
    return rig.with_roles({role: j for role, j in rig.roles.items() if not any(part in role for part in gone)})


def odd_rigs() -> dict[str, Rig]:
    """Return the strange ones by name."""
    human = builtin_rig("humanoid")
    flat = human.offsets.copy()
    flat[human.roles["left_knee"]] = 0.0
    flat[human.roles["neck"]] = 0.0
    one = Skeleton.build(["only"], [-1], np.zeros((1, 3)))
    many = random_tree(np.random.default_rng(SEED), 200)
    return {
        "one leg": without(human, "left_hip", "left_knee", "left_ankle", "left_foot"),
        "no arms": without(human, "shoulder", "elbow", "wrist", "collar"),
        "no head": without(human, "head", "neck"),
        "only legs": without(human, "shoulder", "elbow", "wrist", "collar", "head", "neck", "spine"),
        "no roles": without(human, ""),
        "zero bones": human.with_offsets(flat),
        "tiny": builtin_rig("humanoid", height=0.01),
        "giant": builtin_rig("humanoid", height=60.0),
        "one joint": plain_rig(one),
        "chain": plain_rig(chain(4)),
        "200 joints": plain_rig(many),
    }
