"""Role space: what a motion is, apart from the rig that performs it.

    D_world[role] = q_world[joint] inv(q_world_tpose[joint])

is the rotation of a body part from the canonical T-pose to now, in world axes. Whatever the axes, the rest pose or the
number of spine joints of a rig, the same motion has the same D. `RoleMap` goes both ways between D and local rotations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from mimik._types import Array, ArrayLike, IntArray
from mimik.errors import RigError
from mimik.rig.pose import LocalPose
from mimik.rig.rig import Rig
from mimik.rig.role_kernels import BLEND, FIXED, FOLLOW, ROLE, TWIST, UNTWIST, roles_to_local, world_to_roles
from mimik.rig.roles import BODY_PARENTS, BODY_ROLES, PARENT_ROLE
from mimik.rotation import identity_quat, quat_apply, quat_between

ROLE_COUNT = len(BODY_ROLES)
ROLE_INDEX: Mapping[str, int] = {role: i for i, role in enumerate(BODY_ROLES)}
_CHAINS = (("pelvis", "spine1", "spine2", "spine3"), ("spine3", "neck", "head"))
_SPREAD = {"pelvis", "spine1", "spine2", "spine3", "neck"}
_LOWER = {f"{s}_{a}": f"{s}_{b}" for s in ("left", "right") for a, b in (("elbow", "wrist"), ("knee", "ankle"))}
_UPPER = {f"{s}_{a}": f"{s}_{b}" for s in ("left", "right") for a, b in (("shoulder", "elbow"), ("hip", "knee"))}


@dataclass(frozen=True, slots=True, eq=False)
class RoleMap:
    """How the joints of one rig follow the 22 body roles, and the other way. Made by `role_map(rig)`.

    rules ... middle                     (J, ...) rule of each joint, see `mimik.rig.role_kernels`
    joint, from_a, from_b, from_share    (22, ...) joint of each role, or the two roles a missing one lies between
    above                                ancestors of the pelvis and the pelvis itself, from the root down
    """

    rig: Rig
    rules: IntArray
    role_a: IntArray
    role_b: IntArray
    share: Array
    axis: Array
    middle: Array
    joint: IntArray
    from_a: IntArray
    from_b: IntArray
    from_share: Array
    above: tuple[int, ...]

    def to_rig(self, D_world: ArrayLike, pelvis: ArrayLike, *, own: Mapping[int, Array] | None = None) -> LocalPose:
        """Return the rig's local pose for role rotations (..., 22, 4) and the pelvis' path (..., 3) in metres.

        Joints with a role take it exactly; extra spine and neck joints share the bend between their neighbours; twist
        bones take their part of the twist; every other extra joint keeps its T-pose place on its parent. Joints above
        the pelvis stand still and the root's position absorbs the difference. `own` gives extra joints rotations
        (..., 4) against their parents, in T-pose axes (what `own_rotations` returns), for fingers and the like.
        """
        D = np.asarray(D_world, dtype=np.float64)
        batch = D.shape[:-2]
        if D.shape[-2:] != (ROLE_COUNT, 4):
            raise RigError(f"role rotations have shape {D.shape}; expected (..., {ROLE_COUNT}, 4)")
        flat = np.ascontiguousarray(D).reshape(-1, ROLE_COUNT, 4)
        given, own_index = self._own_arrays(own or {}, batch)
        local = np.empty((*batch, self.rig.joint_count, 4))
        D_joint = np.empty((len(flat), self.rig.joint_count, 4))
        roles_to_local(
            flat, given, own_index, self.rig.parents, self.rules, self.role_a, self.role_b, self.share, self.axis,
            self.middle[None], self.rig.q_world_tpose[None],
            local.reshape(D_joint.shape), D_joint,
        )  # fmt: skip
        path = np.broadcast_to(np.asarray(pelvis, dtype=np.float64), (*batch, 3)).reshape(-1, 3)
        root = path - self._root_to_pelvis(D_joint)
        local.setflags(write=False)
        return LocalPose(self.rig.skeleton, local, root.reshape(*batch, 3))

    def from_rig(self, pose: LocalPose) -> tuple[Array, Array]:
        """Return role rotations (..., 22, 4) and the pelvis' path (..., 3) of a local pose of this rig.

        A spine or neck role the rig lacks lies between its neighbours, any other missing role follows its parent role.
        """
        world = pose.to_world()
        batch = world.rotations.shape[:-2]
        flat = np.ascontiguousarray(world.rotations).reshape(-1, self.rig.joint_count, 4)
        D = np.empty((len(flat), ROLE_COUNT, 4))
        world_to_roles(flat, self.rig.q_world_tpose[None], self.joint, self.from_a, self.from_b, self.from_share, D)
        return D.reshape(*batch, ROLE_COUNT, 4), world.positions[..., self.above[-1], :]

    def _root_to_pelvis(self, D_joint: Array) -> Array:
        reach = np.zeros((len(D_joint), 3))
        for parent, joint in pairwise(self.above):
            offset_tpose = quat_apply(self.rig.q_world_tpose[parent], self.rig.offsets[joint])
            reach += quat_apply(D_joint[:, parent], offset_tpose)
        return reach

    def _own_arrays(self, own: Mapping[int, Array], batch: tuple[int, ...]) -> tuple[Array, IntArray]:
        count = int(np.prod(batch, dtype=np.int64))
        given, index = np.zeros((count, max(1, len(own)), 4)), np.full(self.rig.joint_count, -1)
        for i, (joint, rotations) in enumerate(own.items()):
            if self.rules[joint] == ROLE:
                raise RigError(f"joint {self.rig.names[joint]!r} has a body role; its rotation comes from the role")
            given[:, i] = np.broadcast_to(rotations, (*batch, 4)).reshape(-1, 4)
            index[joint] = i
        return given, index


def role_rotations_to_rig(rig: Rig, D_world: ArrayLike, pelvis: ArrayLike) -> LocalPose:
    """Return a rig's local pose for role rotations (..., 22, 4) and the pelvis' path (..., 3); see `RoleMap.to_rig`."""
    return role_map(rig).to_rig(D_world, pelvis)


def rig_to_role_rotations(rig: Rig, pose: LocalPose) -> tuple[Array, Array]:
    """Return role rotations (..., 22, 4) and the pelvis' path (..., 3) of a pose of `rig`; see `RoleMap.from_rig`."""
    return role_map(rig).from_rig(pose)


def tpose_positions(rig: Rig) -> Array:
    """Return joint positions (J, 3) in the canonical T-pose, standing on the floor, pelvis above the origin."""
    return rig.tpose().positions()


def role_offsets(rig: Rig) -> Array:
    """Return (22, 3) T-pose offsets of the body roles from their parent roles, metres; zero for missing roles.

    The pelvis' row is its place in the standing T-pose: its height above the floor.
    """
    points, mapping = tpose_positions(rig), role_map(rig)
    place = np.zeros((ROLE_COUNT, 3))
    offsets = np.zeros((ROLE_COUNT, 3))
    for r, parent in enumerate(BODY_PARENTS):
        joint = mapping.joint[r]
        place[r] = points[joint] if joint >= 0 else place[parent]
        offsets[r] = place[r] - place[parent] if parent >= 0 else place[r]
    return offsets


def role_positions(offsets: Array, D_world: Array, pelvis: Array) -> Array:
    """Return role positions (..., 22, 3) of role rotations (..., 22, 4) on a body of `role_offsets` (22, 3)."""
    points = np.empty((*D_world.shape[:-1], 3))
    points[..., 0, :] = pelvis
    for r in range(1, ROLE_COUNT):
        parent = BODY_PARENTS[r]
        points[..., r, :] = points[..., parent, :] + quat_apply(D_world[..., parent, :], offsets[r])
    return points


@lru_cache(maxsize=32)
def role_map(rig: Rig) -> RoleMap:
    """Return the mapping between a rig and the body roles; raises RigError when the rig has no pelvis."""
    if "pelvis" not in rig.roles:
        raise RigError(f"rig {rig.name!r} has no joint with the role 'pelvis'; give one with roles={{'pelvis': joint}}")
    joint = np.array([rig.roles.get(role, -1) for role in BODY_ROLES])
    rules, role_a, role_b, share, axis = _joint_rules(rig)
    middle = _middle_of_range(rules, role_a, axis)
    from_a, from_b, from_share = _missing_roles(joint)
    return RoleMap(rig, rules, role_a, role_b, share, axis, middle, joint, from_a, from_b, from_share, _ancestors(rig))


def _ancestors(rig: Rig) -> tuple[int, ...]:
    chain = [rig.roles["pelvis"]]
    while rig.parents[chain[0]] >= 0:
        chain.insert(0, int(rig.parents[chain[0]]))
    return tuple(chain)


def _missing_roles(joint: IntArray) -> tuple[IntArray, IntArray, Array]:
    """Find the two present roles each missing role lies between; both the same where it simply follows."""
    a, b, share = np.arange(ROLE_COUNT), np.arange(ROLE_COUNT), np.zeros(ROLE_COUNT)
    for r in range(ROLE_COUNT):
        if joint[r] < 0 and BODY_PARENTS[r] >= 0:
            a[r] = b[r] = a[BODY_PARENTS[r]] if joint[BODY_PARENTS[r]] < 0 else BODY_PARENTS[r]
    for chain in _CHAINS:
        places = [ROLE_INDEX[role] for role in chain]
        present = [i for i, r in enumerate(places) if joint[r] >= 0]
        for low, high in pairwise(present):
            for i in range(low + 1, high):
                a[places[i]], b[places[i]] = places[low], places[high]
                share[places[i]] = (i - low) / (high - low)
    return a, b, share


def _joint_rules(rig: Rig) -> tuple[IntArray, IntArray, IntArray, Array, Array]:
    count, points = rig.joint_count, tpose_positions(rig)
    role_of = {joint: role for role, joint in rig.roles.items() if role in ROLE_INDEX}
    rules, share, axis = np.full(count, FOLLOW), np.zeros(count), np.zeros((count, 3))
    role_a, role_b = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for j in _ancestors(rig)[:-1]:
        rules[j] = FIXED
    for j, role in role_of.items():
        rules[j], role_a[j] = ROLE, ROLE_INDEX[role]
    below = _roles_below(rig, role_of)
    for j in range(count):
        if rules[j] != FOLLOW:
            continue
        owner, steps = _owner(rig, role_of, j)
        if owner is None:
            continue
        ahead = below[j]
        if len(ahead) == 1 and owner in _SPREAD and ahead[0] in _SPREAD | {"head"}:
            rules[j], partner, share[j] = BLEND, ahead[0], steps / (steps + _steps_down(rig, role_of, j))
        elif len(ahead) == 1 and _LOWER.get(owner) == ahead[0]:
            rules[j], partner, share[j] = TWIST, ahead[0], steps / (steps + _steps_down(rig, role_of, j) - 1)
            axis[j] = points[rig.roles[partner]] - points[j]
        elif not ahead and _is_twist_bone(rig.names[j]):
            rules[j], partner, share[j], axis[j] = _twist_bone(rig, points, j, owner)
        else:
            continue
        role_a[j], role_b[j] = ROLE_INDEX[owner], ROLE_INDEX[partner]
        length = np.linalg.norm(axis[j])
        if rules[j] != BLEND and length < 1e-6:
            rules[j] = FOLLOW
        axis[j] /= max(float(length), 1e-6)
    return rules, role_a, role_b, share, axis


def _twist_bone(rig: Rig, points: Array, j: int, owner: str) -> tuple[int, str, float, Array]:
    """Say how the leaf bone j turns with the limb segment it lies in: by its place along that segment."""
    end = _LOWER.get(owner) or _UPPER.get(owner)
    if end is None or end not in rig.roles:
        return FOLLOW, owner, 0.0, np.zeros(3)
    start = points[rig.roles[owner]]
    axis = points[rig.roles[end]] - start
    place = float(np.clip((points[j] - start) @ axis / max(float(axis @ axis), 1e-12), 0.0, 1.0))
    if owner in _LOWER:
        return TWIST, end, place, axis
    parent = next(role for role in _role_ancestors(owner) if role in rig.roles)
    return UNTWIST, parent, place, axis


def _middle_of_range(rules: IntArray, role_a: IntArray, axis: Array) -> Array:
    """Turn upper arms from the T-pose to where the reach of an arm has its middle: out, forward and a little down.

    Twist against a direction is undefined half a turn away from it; no arm reaches the opposite of that middle.
    """
    middle = identity_quat(len(rules))
    for j in np.flatnonzero(rules == UNTWIST):
        if BODY_ROLES[role_a[j]].endswith("shoulder"):
            middle[j] = quat_between(axis[j], np.array([np.sign(axis[j, 0]) * 0.65, -0.35, 0.65]))
    return middle


def _role_ancestors(role: str) -> list[str]:
    chain = []
    while parent := PARENT_ROLE[role]:
        chain.append(parent)
        role = parent
    return chain


def _is_twist_bone(name: str) -> bool:
    lowered = name.lower()
    return "twist" in lowered or "roll" in lowered


def _owner(rig: Rig, role_of: Mapping[int, str], joint: int) -> tuple[str | None, int]:
    """Return the role of the nearest ancestor that has one, and how many steps up it stands."""
    steps = 0
    while joint >= 0:
        if joint in role_of:
            return role_of[joint], steps
        joint, steps = int(rig.parents[joint]), steps + 1
    return None, steps


def _roles_below(rig: Rig, role_of: Mapping[int, str]) -> list[list[str]]:
    """Return for each joint the nearest roles among its descendants."""
    below: list[list[str]] = [[] for _ in range(rig.joint_count)]
    for j in range(rig.joint_count - 1, 0, -1):
        below[rig.parents[j]].extend([role_of[j]] if j in role_of else below[j])
    return below


def _steps_down(rig: Rig, role_of: Mapping[int, str], joint: int) -> int:
    """Return how many steps below `joint` its one role descendant stands."""
    target = next(j for j in range(joint + 1, rig.joint_count) if j in role_of and rig.skeleton.descends_from(j, joint))
    steps = 0
    while target != joint:
        target, steps = int(rig.parents[target]), steps + 1
    return steps
