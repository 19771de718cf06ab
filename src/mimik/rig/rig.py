"""The rig: a skeleton and what is known of it (which joint is which, how its T-pose stands, limits, skin)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from mimik._types import Array, ArrayLike, IntArray
from mimik.errors import RigError, one_of
from mimik.rig.kinematics import world_to_local
from mimik.rig.pose import LocalPose
from mimik.rig.skeleton import Skeleton
from mimik.rotation import quat_apply

if TYPE_CHECKING:
    from mimik.rig.limits import Limits
    from mimik.rig.skin import Skin

RestKind = Literal["T", "A", "arbitrary"]


@dataclass(frozen=True, slots=True, eq=False)
class Rig:
    """A body one can pose: skeleton, roles, canonical T-pose, joint limits, skin.

    roles          role -> joint index, for the joints that were recognised
    q_world_tpose  (J, 4) world orientation of every joint when the figure stands in the canonical T-pose, facing +Z
    rest_kind      what the skeleton's rest is: a T-pose, an A-pose, or an arbitrary bind
    hinge_turns    role -> radians by which knees and elbows bend off the usual plane, see `rig.hinges`
    loose_hinges   roles of the knees whose motion showed that they turn about all axes
    notes          what was guessed or is missing, for reports
    """

    skeleton: Skeleton
    q_world_tpose: Array
    roles: Mapping[str, int] = field(default_factory=dict)
    name: str = ""
    limits: Limits | None = None
    skin: Skin | None = None
    rest_kind: RestKind = "T"
    source: Path | None = None
    hinge_turns: Mapping[str, float] = field(default_factory=dict)
    loose_hinges: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check roles against the skeleton and freeze."""
        q = np.array(self.q_world_tpose, dtype=np.float64)
        if q.shape != (self.joint_count, 4) or not np.isfinite(q).all():
            raise RigError(f"q_world_tpose must be finite and ({self.joint_count}, 4), not {q.shape}")
        q.setflags(write=False)
        for role, joint in self.roles.items():
            if not 0 <= joint < self.joint_count:
                raise RigError(f"role {role!r} names joint {joint}; this rig has joints 0 to {self.joint_count - 1}")
        object.__setattr__(self, "q_world_tpose", q)
        object.__setattr__(self, "roles", MappingProxyType(dict(self.roles)))
        object.__setattr__(self, "hinge_turns", MappingProxyType(dict(self.hinge_turns)))
        object.__setattr__(self, "notes", tuple(self.notes))

    @property
    def names(self) -> tuple[str, ...]:
        """Joint names."""
        return self.skeleton.names

    @property
    def parents(self) -> IntArray:
        """Parent of each joint, -1 for the root."""
        return self.skeleton.parents

    @property
    def offsets(self) -> Array:
        """Joint origins (J, 3) in their parents' frames, metres."""
        return self.skeleton.offsets

    @property
    def joint_count(self) -> int:
        """Number of joints."""
        return self.skeleton.joint_count

    def joint(self, name: str) -> int:
        """Return the joint of a role, a role's alias, or a joint name; raises RigError that lists what is valid."""
        from mimik.rig.roles import canonical_role

        if name in self.roles:
            return self.roles[name]
        if name in self.skeleton.names:
            return self.skeleton.index(name)
        role = canonical_role(name)
        if role is not None and role in self.roles:
            return self.roles[role]
        raise RigError(one_of("role or joint of this rig", name, [*self.roles, *self.names]))

    def tpose(self) -> LocalPose:
        """Return the canonical T-pose, standing with its lowest joint or tip at height zero above the origin."""
        s = self.skeleton
        local = world_to_local(s.parents, self.q_world_tpose)
        world = LocalPose(s, local, np.zeros(3)).to_world()
        ends = world.positions + np.nan_to_num(quat_apply(self.q_world_tpose, s.tips))
        pelvis = world.positions[self.roles.get("pelvis", 0)]
        lowest = float(min(world.positions[:, 1].min(), ends[:, 1].min()))
        return LocalPose(s, local, np.array([-pelvis[0], -lowest, -pelvis[2]]))

    def rest_pose(self) -> LocalPose:
        """Return the pose the file's rest describes."""
        return LocalPose(self.skeleton, self.skeleton.rest, self.skeleton.offsets[0])

    def with_roles(self, roles: Mapping[str, int]) -> Rig:
        """Return a copy with other roles."""
        return replace(self, roles=dict(roles))

    def with_limits(self, limits: Limits | None) -> Rig:
        """Return a copy with other joint limits."""
        return replace(self, limits=limits)

    def with_offsets(self, offsets: ArrayLike, tips: ArrayLike | None = None) -> Rig:
        """Return a copy with other bone offsets (J, 3); the skin, fitted to the old bones, is dropped."""
        return replace(self, skeleton=self.skeleton.with_offsets(offsets, tips), skin=None)

    def __repr__(self) -> str:
        return f"Rig({self.name!r}, {self.joint_count} joints, {len(self.roles)} roles, rest {self.rest_kind})"
