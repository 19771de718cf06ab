"""Rigs with odd joints for the motion tests: other axes, extra joints, missing roles."""

from dataclasses import replace

import numpy as np

from mimik.api import load_rig
from mimik.rig import Rig, Skeleton
from mimik.rotation import quat_apply, quat_inv, quat_mul
from tests.builders import random_quats


def humanoid() -> Rig:
    """Return the built-in humanoid."""
    return load_rig("humanoid")


def turned_axes(rig: Rig, rng: np.random.Generator) -> Rig:
    """Return the same body with every joint's axes turned at random: an arbitrary bind."""
    turns = random_quats(rng, rig.joint_count)
    parents, s = rig.parents, rig.skeleton
    before = np.where(parents[:, None] >= 0, turns[parents], [0.0, 0.0, 0.0, 1.0])
    rest = quat_mul(quat_mul(quat_inv(before), s.rest), turns)
    offsets = quat_apply(quat_inv(before), s.offsets)
    tips = quat_apply(quat_inv(turns), s.tips)
    skeleton = Skeleton(s.names, parents, offsets, rest, tips)
    return replace(rig, skeleton=skeleton, q_world_tpose=quat_mul(rig.q_world_tpose, turns), skin=None)


def with_joint(rig: Rig, name: str, parent: str, *, share: float = 0.5, child: str | None = None) -> Rig:
    """Return the rig with one more joint on `parent`: on the way to role `child`, or a leaf where that is None.

    The new joint lies at `share` of the bone to `child`, or of the parent's first bone, with the parent's axes.
    """
    s, at = rig.skeleton, rig.roles[parent]
    below = rig.roles[child] if child else s.children(at)[0]
    place = at + 1
    index = [j if j < place else j + 1 for j in range(s.joint_count)]
    names = [*s.names[:place], name, *s.names[place:]]
    parents = [-1 if p < 0 else index[p] for p in s.parents]
    parents.insert(place, index[at])
    arrays = [np.insert(a, place, row, axis=0) for a, row in (
        (s.offsets, share * s.offsets[below]), (s.rest, [0, 0, 0, 1.0]), (s.tips, np.full(3, np.nan)),
        (rig.q_world_tpose, rig.q_world_tpose[at]))]  # fmt: skip
    if child:
        parents[index[below]] = place
        arrays[0][index[below]] = (1.0 - share) * s.offsets[below]
    skeleton = Skeleton(tuple(names), np.array(parents), arrays[0], arrays[1], arrays[2])
    return Rig(skeleton, arrays[3], {role: index[j] for role, j in rig.roles.items()}, name="odd")


def without(rig: Rig, *roles: str) -> Rig:
    """Return the rig with some roles forgotten; the joints stay."""
    return rig.with_roles({role: j for role, j in rig.roles.items() if role not in roles})


def joint_like_bodies(rng: np.random.Generator) -> dict[str, Rig]:
    """Return many kinds of rigs."""
    plain = humanoid()
    return {
        "humanoid": plain,
        "turned": turned_axes(plain, rng),
        "extra spine": with_joint(plain, "spine extra", "spine1", child="spine2"),
        "extra neck": with_joint(plain, "neck extra", "neck", child="head"),
        "twist in chain": with_joint(plain, "forearm roll", "left_elbow", child="left_wrist", share=0.4),
        "twist leaf": with_joint(plain, "thigh_twist", "left_hip", share=0.3),
        "smpl": load_rig("smpl"),
        "mixamo": load_rig("mixamo"),
        "ue5": load_rig("ue5"),
        "vrm": load_rig("vrm"),
        "cmu": load_rig("cmu"),
    }
