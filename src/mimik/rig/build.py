"""Make a rig of a skeleton: find roles, the canonical T-pose and the kind of rest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mimik.errors import RigError, one_of
from mimik.rig.rest import Motion, find_tpose
from mimik.rig.rig import Rig
from mimik.rig.role_find import find_roles
from mimik.rig.roles import BODY_ROLES, ROLE_ALIASES, canonical_role
from mimik.rig.skeleton import Skeleton

if TYPE_CHECKING:
    from mimik.rig.limits import Limits
    from mimik.rig.skin import Skin


def build_rig(
    skeleton: Skeleton,
    *,
    name: str = "",
    roles: Mapping[str, str | int] | None = None,
    motion: Motion | None = None,
    limits: Limits | None = None,
    skin: Skin | None = None,
    source: Path | None = None,
    notes: tuple[str, ...] = (),
) -> Rig:
    """Recognise a skeleton (metres, Y up, facing anywhere) and return the rig.

    roles   role or alias -> joint name or index; these go before what is found ("" or -1 takes a role away)
    motion  (rotations (T, J, 4), root (T, 3), translations (T, J, 3) or None) of the file, for binds that are no pose

    Roles come from `roles`, then from names, then from the skeleton's shape. What is missing or guessed stands in the
    rig's notes. Raises RigError for a role or joint that does not exist.
    """
    given = _given_roles(skeleton, roles or {})
    with np.errstate(over="ignore", invalid="ignore"):  # absurd files hold absurd numbers
        found, said = find_roles(skeleton, given=given, motion=motion)
        tpose = find_tpose(skeleton, found, motion)
    missing = [r for r in BODY_ROLES if r not in found]
    if missing and len(missing) < len(BODY_ROLES):
        said = (*said, "no joint for " + ", ".join(missing))
    return Rig(
        skeleton,
        tpose.q_world,
        roles=found,
        name=name or skeleton.names[0],
        limits=limits,
        skin=skin,
        rest_kind=tpose.kind,
        source=source,
        hinge_turns=tpose.hinge_turns,
        loose_hinges=tpose.loose_hinges,
        notes=(*notes, *said, *tpose.notes),
    )


def _given_roles(skeleton: Skeleton, roles: Mapping[str, str | int]) -> dict[str, int]:
    given = {}
    for key, joint in roles.items():
        role = canonical_role(key)
        if role is None:
            raise RigError(one_of("role", key, ROLE_ALIASES))
        if joint in ("", -1):
            given[role] = -1
            continue
        index = skeleton.index(joint) if isinstance(joint, str) else int(joint)
        if not 0 <= index < skeleton.joint_count:
            raise RigError(f"role {key!r} names joint {index}; there are joints 0 to {skeleton.joint_count - 1}")
        given[role] = index
    return given
