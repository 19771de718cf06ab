"""What a network predicts rotations in: local, world, or bone-aligned world frames (IK-GAT, section 3.2).

A bone-aligned frame is F_world = D_world B, where B (3, 3) is the joint's frame in the T-pose: its first axis runs
along the bone, so that turning about that axis is twist and nothing else. B is constant and known, and so
D_world = F_world B^T is exact. The other two spaces exist for the paper's ablation.
"""

from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from mimik._types import Array
from mimik.errors import OptionError, one_of
from mimik.learn.geometry import local_to_world, world_to_local

SpaceName = Literal["bone", "world", "local"]
_FORWARD = np.array([0.0, 0.0, 1.0])
_UP = np.array([0.0, 1.0, 0.0])
_LEAF_DIRECTION = {"head": _UP, "left_foot": _FORWARD, "right_foot": _FORWARD}


class RotationSpace(nn.Module):
    """Turn D_world (..., J, 3, 3) into a network's targets and back."""

    B: Tensor
    parent_index: Tensor

    def __init__(self, name: SpaceName, parents: list[int], bone_frames: Array) -> None:
        """`bone_frames` (J, 3, 3) from `tpose_bone_frames`; raises OptionError for an unknown space."""
        super().__init__()
        if name not in get_args(SpaceName):
            raise OptionError(one_of("rotation space", name, get_args(SpaceName)))
        self.name, self.parents = name, parents
        self.register_buffer("B", torch.as_tensor(bone_frames, dtype=torch.float32), persistent=False)
        self.register_buffer("parent_index", torch.tensor(parents), persistent=False)

    def encode(self, D_world: Tensor) -> Tensor:
        """Return the target rotations (..., J, 3, 3) of D_world."""
        if self.name == "bone":
            return D_world @ self.B
        return world_to_local(D_world, self.parent_index) if self.name == "local" else D_world

    def decode(self, rotations: Tensor) -> Tensor:
        """Return D_world (..., J, 3, 3) of predicted rotations."""
        if self.name == "bone":
            return rotations @ self.B.transpose(-1, -2)
        return local_to_world(rotations, self.parents) if self.name == "local" else rotations


def tpose_bone_frames(names: tuple[str, ...], parents: list[int], offsets: Array) -> Array:
    """Return B (J, 3, 3) in T-pose axes: columns are the bone's direction, a reference side, and their cross product.

    The direction of a joint runs to its child, of a fork to the mean of its children, of a leaf along the bone before
    it (head upward, toes forward). The side is the forward axis made perpendicular, or up for bones that point forward.
    """
    frames = np.empty((len(names), 3, 3))
    for j, name in enumerate(names):
        children = [k for k, parent in enumerate(parents) if parent == j]
        along = np.sum(offsets[children], axis=0) if children else _LEAF_DIRECTION.get(name, offsets[j])
        length = float(np.linalg.norm(along))
        x = along / length if length > 1e-6 else _UP
        side = _UP if abs(x[2]) > 0.7 else _FORWARD
        y = side - (side @ x) * x
        y /= np.linalg.norm(y)
        frames[j] = np.stack([x, y, np.cross(x, y)], axis=1)
    return frames
