"""Rotations and forward kinematics in PyTorch, for batches of role-space poses. RoMa where it has the function.

Rotations are matrices (..., 3, 3), joints run over a tree given by `parents` (root -1, parents first).
"""

from collections.abc import Sequence

import roma
import torch
from torch import Tensor

GEODESIC_CLAMP = 1.0 - 1e-6  # asin has an infinite slope at half turns


def sixd_to_rotation(sixd: Tensor) -> Tensor:
    """Return rotations (..., 3, 3) whose first two columns are the Gram-Schmidt basis of (..., 6) = two 3-vectors."""
    columns = sixd.unflatten(-1, (2, 3)).transpose(-1, -2)  # (..., 3, 2)
    return roma.special_gramschmidt(columns, epsilon=1e-8)


def rotation_to_sixd(rotation: Tensor) -> Tensor:
    """Return the first two columns of rotations (..., 3, 3) as (..., 6)."""
    return rotation[..., :2].transpose(-1, -2).flatten(-2)


def geodesic_angle(a: Tensor, b: Tensor, *, clamp: float = GEODESIC_CLAMP) -> Tensor:
    """Return the angle (...) in radians between rotations (..., 3, 3).

    Its gradient is zero where they agree, and at half turns, where it would be infinite.
    """
    return roma.rotmat_geodesic_distance(a, b, clamping=clamp)


def world_to_local(rotations: Tensor, parents: Tensor) -> Tensor:
    """Return R_parent_joint (..., J, 3, 3) of R_world_joint; the root keeps its world rotation."""
    local = rotations[..., parents[1:], :, :].transpose(-1, -2) @ rotations[..., 1:, :, :]
    return torch.cat([rotations[..., :1, :, :], local], dim=-3)


def local_to_world(rotations: Tensor, parents: Sequence[int]) -> Tensor:
    """Return R_world_joint (..., J, 3, 3) of R_parent_joint, one batched product per depth of the tree."""
    world: list[Tensor] = [rotations[..., j, :, :] for j in range(len(parents))]
    for joints in depth_levels(parents)[1:]:
        above = torch.stack([world[parents[j]] for j in joints], dim=-3)
        below = above @ torch.stack([rotations[..., j, :, :] for j in joints], dim=-3)
        for k, j in enumerate(joints):
            world[j] = below[..., k, :, :]
    return torch.stack(world, dim=-3)


def depth_levels(parents: Sequence[int]) -> list[list[int]]:
    """Return the joints by their distance from the root."""
    depth = [0] * len(parents)
    for j, parent in enumerate(parents):
        depth[j] = depth[parent] + 1 if parent >= 0 else 0
    return [[j for j in range(len(parents)) if depth[j] == level] for level in range(max(depth) + 1)]


def path_matrix(parents: Sequence[int]) -> Tensor:
    """Return (J, J): 1 where bone k lies on the way from the root to joint j, the root's own row and column zero."""
    paths = torch.zeros(len(parents), len(parents))
    for j, parent in enumerate(parents):
        if parent >= 0:
            paths[j] = paths[parent]
            paths[j, j] = 1.0
    return paths


def root_space_positions(rotations: Tensor, offsets: Tensor, parents: Tensor, paths: Tensor) -> Tensor:
    """Return joint positions (..., J, 3) relative to the root, of world rotations (..., J, 3, 3), metres.

    `offsets` (..., J, 3) are T-pose offsets from the parent. With world rotations known, every bone is turned at once
    and `paths` from `path_matrix` adds them up: no loop over the tree.
    """
    bones = rotations[..., parents.clamp(min=0), :, :] @ offsets[..., None]  # (..., J, 3, 1)
    return paths @ bones[..., 0]
