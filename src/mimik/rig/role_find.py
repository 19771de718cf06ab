"""Find the roles of a skeleton: what the user says, then names, then shape, each checked against the hierarchy."""

from collections.abc import Mapping

from mimik.rig.rest import Motion
from mimik.rig.role_names import roles_from_names
from mimik.rig.roles import PARENT_ROLE, ROLES
from mimik.rig.skeleton import Skeleton


def find_roles(
    skeleton: Skeleton, *, given: Mapping[str, int] | None = None, motion: Motion | None = None
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return role -> joint in the order of ROLES, and notes on what was guessed.

    `given` roles are kept as they are; a joint of -1 there takes the role away.
    """
    given = given or {}
    named = consistent_roles(skeleton, {**roles_from_names(skeleton), **given}, kept=given)
    notes: tuple[str, ...] = ()
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
