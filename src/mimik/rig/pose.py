"""Poses as two types: local (relative to parents) and world, so that they cannot be swapped by accident."""

from dataclasses import dataclass

import numpy as np

from mimik._types import Array, frozen_array
from mimik.errors import RigError
from mimik.rig.kinematics import forward_kinematics, world_to_local
from mimik.rig.skeleton import Skeleton


@dataclass(frozen=True, slots=True, eq=False)
class WorldPose:
    """World rotations (..., J, 4) and joint positions (..., J, 3), metres, of one pose or a batch."""

    skeleton: Skeleton
    rotations: Array
    positions: Array

    def to_local(self) -> "LocalPose":
        """Return the local rotations and the root's path; joint distances are the skeleton's again."""
        local = world_to_local(self.skeleton.parents, self.rotations)
        return LocalPose(self.skeleton, local, self.positions[..., 0, :])


@dataclass(frozen=True, slots=True, eq=False)
class LocalPose:
    """Local rotations (..., J, 4) relative to parents and root position (..., 3), metres, of one pose or a batch.

    `translations` (..., J, 3) holds the joints' places in their parents' frames where joints slide; None where all
    keep the skeleton's offsets.
    """

    skeleton: Skeleton
    rotations: Array
    root: Array
    translations: Array | None = None

    def __post_init__(self) -> None:
        """Check the shapes against the skeleton and freeze the arrays."""
        count = self.skeleton.joint_count
        batch = np.shape(self.rotations)[:-2]
        _set(self, "rotations", self.rotations, (*batch, count, 4))
        _set(self, "root", self.root, (*batch, 3))
        if self.translations is not None:
            _set(self, "translations", self.translations, (*batch, count, 3))

    def to_world(self) -> WorldPose:
        """Run forward kinematics."""
        s = self.skeleton
        q_world, p_world = forward_kinematics(s.parents, s.offsets, self.rotations, self.root, self.translations)
        return WorldPose(s, q_world, p_world)

    def positions(self) -> Array:
        """Return joint positions (..., J, 3) in metres."""
        return self.to_world().positions


def _set(pose: LocalPose, field: str, values: Array, shape: tuple[int, ...]) -> None:
    array = frozen_array(values)
    if array.shape != shape:
        raise RigError(f"{field} has shape {array.shape}; this skeleton and batch need {shape}")
    object.__setattr__(pose, field, array)
