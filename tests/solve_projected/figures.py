"""Small figures for the projected solver's tests: one with every kind of joint, one arm, one person."""

from functools import cache

import numpy as np

import mimik
from mimik import Rig, Skeleton
from mimik.goals.targets import (
    AboveGround,
    CentreOfMass,
    Direction,
    Distance,
    LookAt,
    NearPose,
    Orientation,
    Pole,
    Position,
)
from mimik.rig.limits import JointRange, Limits
from mimik.rotation import identity_quat
from tests.builders import random_quats


def rig_of(skeleton: Skeleton, limits: Limits | None = None) -> Rig:
    return Rig(skeleton, identity_quat(skeleton.joint_count), {}, limits=limits)


def every_joint(rng: np.random.Generator) -> Rig:
    """A tree whose joints are a slide, a ball in a cone, a boxed ball, a ZYZ ball, a universal, hinges, fixed, free."""
    parents = [-1, 0, 1, 2, 3, 1, 5, 6, 7]
    offsets = rng.normal(size=(9, 3)) * 0.3
    skeleton = Skeleton.build([f"j{i}" for i in range(9)], parents, offsets, rest=random_quats(rng, 9))
    free = JointRange.free()
    return rig_of(
        skeleton,
        Limits(
            {
                "j1": JointRange.ball((1, 2, 0.5), [-np.inf] * 2 + [-0.8], [np.inf] * 2 + [0.9], cone=0.9),
                "j2": JointRange.euler("zyz", -1.2, 1.3),
                "j3": JointRange.universal([[1, 0, 0], [0, 0, 1]], -1.0, 1.0),
                "j4": JointRange.hinge((1, 1, 0), -1.5, 1.5),
                "j5": JointRange.slide([[1, 0, 0], [0, 1, 1]], -0.2, 0.2),
                "j6": JointRange.ball((0, 0, 1), -0.7, 0.8),
                "j7": JointRange.fixed(),
                "j8": free,
            }
        ),
    )


def arm(limits: Limits | None = None) -> Rig:
    """Shoulder, elbow, wrist along X, each bone 0.3 m."""
    offsets = [[0, 0, 0], [0.3, 0, 0], [0.3, 0, 0]]
    return rig_of(Skeleton.build(["shoulder", "elbow", "wrist"], [-1, 0, 1], offsets), limits)


@cache
def person() -> Rig:
    return mimik.load_rig("humanoid")


def every_goal(rig: Rig, rng: np.random.Generator) -> dict:
    """One goal of each kind on the joints of `every_joint`, with weights and offsets."""
    full = rng.normal(size=(3, 3))
    return {
        "position": Position("j4", rng.normal(size=3), rng.normal(size=3) * 0.1, weight=full @ full.T),
        "orientation": Orientation("j8", random_quats(rng), weight=0.7),
        "direction": Direction("j6", rng.normal(size=3), weight=2.0),
        "look_at": LookAt("j4", rng.normal(size=3), (0, 1, 0.2), rng.normal(size=3) * 0.1),
        "pole": Pole("j3", rng.normal(size=3) * 2.0, weight=1.5),
        "distance": Distance("j4", "j8", 0.1, rng.normal(size=3) * 0.1),
        "above": AboveGround("j4", 3.0),
        "centre": CentreOfMass(np.array([[4.0, 4.0], [5.0, 4.0], [4.0, 5.0]])),
        "near": NearPose(rig.rest_pose(), weight=0.3),
    }
