"""What training minimises and what validation measures."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mimik.learn.data import PoseData
from mimik.learn.geometry import geodesic_angle, sixd_to_rotation, world_to_local
from mimik.learn.spaces import RotationSpace


@dataclass(frozen=True, slots=True)
class PoseError:
    """Errors over a split: MPJAE in degrees (local rotations, the root's included), MPJPE in millimetres.

    `per_joint_deg` holds the MPJAE of each joint.
    """

    mpjae_deg: float
    mpjpe_mm: float
    per_joint_deg: tuple[float, ...]


def pose_loss(
    sixd: Tensor, D_world: Tensor, positions: Tensor, offsets: Tensor, data: PoseData, space: RotationSpace, fk: float
) -> Tensor:
    """Return the geodesic loss in the network's rotation space plus `fk` times the mean joint distance in metres.

    `sixd` (B, J, 6) is the prediction; the joints it leads to are compared with `positions` (B, J, 3).
    """
    predicted = sixd_to_rotation(sixd)
    loss = geodesic_angle(predicted, space.encode(D_world)).mean()
    if fk > 0.0:
        reached = data.positions(space.decode(predicted), offsets)
        loss = loss + fk * torch.linalg.vector_norm(reached - positions, dim=-1).mean()
    return loss


@torch.no_grad()
def measure(network: torch.nn.Module, data: PoseData, space: RotationSpace, *, batch: int = 4096) -> PoseError:
    """Measure a network on every pose of a split, as recorded."""
    network.eval()
    angles = torch.zeros(len(data.roles), device=data.device)
    distances = torch.zeros((), device=data.device)
    parents = torch.tensor(data.parents, device=data.device)
    for start in range(0, len(data), batch):
        positions, D_world, offsets = data.pose(data.in_order(start, batch))
        predicted = space.decode(sixd_to_rotation(network(positions).float()))
        local = geodesic_angle(world_to_local(predicted, parents), world_to_local(D_world, parents), clamp=1.0)
        angles += torch.rad2deg(local).sum(0)
        reached = data.positions(predicted, offsets)
        distances += torch.linalg.vector_norm(reached - positions, dim=-1).mean(1).sum()
    per_joint = (angles / len(data)).tolist()
    return PoseError(sum(per_joint) / len(per_joint), 1000.0 * float(distances) / len(data), tuple(per_joint))
