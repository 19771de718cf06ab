"""Find the roles of a skeleton: what the user says, then names, then shape, each checked against the hierarchy."""

from collections.abc import Mapping

from mimik._types import Array
from mimik.rig.kinematics import forward_kinematics
from mimik.rig.rest import Motion
from mimik.rig.role_names import roles_from_names
from mimik.rig.role_shape import roles_from_shape
from mimik.rig.roles import BODY_ROLES, PARENT_ROLE, ROLES
from mimik.rig.skeleton import Skeleton

_LIMBS = tuple(f"{side}_{part}" for side in ("left", "right") for part in ("hip", "knee", "shoulder", "elbow"))
_FRAMES = 200
_MOST_JOINTS = 4000


def find_roles(
    skeleton: Skeleton, *, given: Mapping[str, int] | None = None, motion: Motion | None = None
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return role -> joint in the order of ROLES, and notes on what was guessed.

    `given` roles are kept as they are; a joint of -1 there takes the role away. Shape is asked when names and `given`
    leave out whole limbs.
    """
    given = given or {}
    if skeleton.joint_count > _MOST_JOINTS:
        return {r: j for r, j in given.items() if j >= 0}, (
            f"{skeleton.joint_count} joints: roles are looked for among at most {_MOST_JOINTS}",
        )
    named = consistent_roles(skeleton, {**roles_from_names(skeleton), **given}, kept=given)
    notes: tuple[str, ...] = ()
    if sum(role in named for role in _LIMBS) < len(_LIMBS) - 2:
        shaped, notes = roles_from_shape(skeleton, _poses(skeleton, motion))
        if shaped:
            kept = {r: j for r, j in named.items() if r not in BODY_ROLES or r in given}
            named = consistent_roles(skeleton, {**kept, **shaped, **given}, kept=given)
        elif named:
            notes = ()
    return {role: named[role] for role in ROLES if role in named}, notes


def consistent_roles(skeleton: Skeleton, roles: Mapping[str, int], *, kept: Mapping[str, int]) -> dict[str, int]:
    """Drop roles that do not descend from the nearest role above them, or share a joint with one; `kept` ones stay."""
    good: dict[str, int] = {}
    for role in ROLES:
        joint = roles.get(role, -1)
        if joint < 0:
            continue
        above = PARENT_ROLE[role]
        while above and above not in good:
            above = PARENT_ROLE[above]
        fits = not above or (joint != good[above] and skeleton.descends_from(joint, good[above]))
        if role in kept or (fits and joint not in good.values()):
            good[role] = joint
    return good


def _poses(skeleton: Skeleton, motion: Motion | None) -> Array | None:
    """Return joint positions (T, J, 3) of some frames, None without motion."""
    if motion is None or len(motion[0]) == 0:
        return None
    rotations, root, translations = motion
    step = max(1, len(rotations) // _FRAMES)
    moves = None if translations is None else translations[::step]
    _, places = forward_kinematics(skeleton.parents, skeleton.offsets, rotations[::step], root[::step], moves)
    return places
