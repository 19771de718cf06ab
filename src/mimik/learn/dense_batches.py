"""Training samples for the default dense network, made on the device as they are needed.

Rotations come from motion, bodies are random, and what is seen is spoiled as real takes are: noise, missing joints,
rigs without some joints, landmarks of some kinds only, an unknown up direction.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from mimik.learn.dense_geometry import PARENT, Body, Observed, constant, turn
from mimik.rig.roles import BODY_MIRROR
from mimik.solve.dense.body import LANDMARK_JOINT

LIMBS = (
    (18, 20),
    (19, 21),
    (16, 18, 20),
    (17, 19, 21),
    (10, 11),
    (7, 10),
    (8, 11),
    (4, 7, 10),
    (5, 8, 11),
    (20, 21),
    (15,),
)
LACKING = ((3,), (6,), (3, 6), (13, 14), (10, 11), (12,), (6, 13, 14), (3, 6, 13, 14))
FACE, HANDS, FEET = (0, 6), (6, 16), (16, 22)


@dataclass
class Spoiling:
    """How often what happens to a sample; shares of the batch."""

    clean: float = 0.4
    whole: float = 0.65
    lacking: float = 0.15
    landmarks: float = 0.35
    up_unknown: float = 0.3
    largest_noise: float = 0.06


def quat_matrix(q: Tensor) -> Tensor:
    """Return rotation matrices of unit quaternions (..., 4)."""
    x, y, z, w = q.unbind(-1)
    m = [
        1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
        2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
        2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y),
    ]  # fmt: skip
    return torch.stack(m, dim=-1).unflatten(-1, (3, 3))


def mirror(rotation: Tensor) -> Tensor:
    """Mirror D_world rotations (B, 22, 3, 3) left to right: swap the sides, conjugate by diag(-1, 1, 1)."""
    sign = constant((-1.0, 1.0, 1.0), rotation.device)
    return rotation[:, constant(tuple(int(j) for j in BODY_MIRROR), rotation.device)] * sign[:, None] * sign


def follow_parents(rotation: Tensor, present: Tensor) -> Tensor:
    """Return rotations (B, 22, 3, 3) in which joints a body lacks, False in present (B, 22), are rigid."""
    target = list(rotation.unbind(1))
    for j in range(1, 22):
        target[j] = torch.where(present[:, j, None, None], target[j], target[PARENT[j]])
    return torch.stack(target, dim=1)


def pose(rotation: Tensor, body: Body) -> tuple[Tensor, Tensor]:
    """Return joint positions (B, 22, 3) with the pelvis at the origin, and landmark positions (B, 22, 3)."""
    p = [torch.zeros_like(body.offsets[:, 0])]
    for j in range(1, 22):
        p.append(p[PARENT[j]] + turn(rotation[:, PARENT[j]], body.offsets[:, j]))
    positions = torch.stack(p, dim=1)
    joint = constant(tuple(int(j) for j in LANDMARK_JOINT), rotation.device)
    return positions, positions[:, joint] + turn(rotation[:, joint], body.landmarks)


def spoil(rotation: Tensor, body: Body, how: Spoiling) -> tuple[Tensor, Observed, Body, Tensor]:
    """Return target rotations, what is seen of them, the body, and which samples are clean (B,)."""
    count, device = len(rotation), rotation.device

    def rand(*shape: int) -> Tensor:
        return torch.rand(*shape, device=device)

    present = body.present.clone()
    lacks = rand(count) < how.lacking
    choice = torch.randint(len(LACKING), (count,), device=device)
    for k, joints in enumerate(LACKING):
        hit = lacks & (choice == k)
        for j in joints:
            present[:, j] &= ~hit
    target = follow_parents(rotation, present)
    positions, landmarks = pose(target, body)
    seen = present & _joints_seen(count, device, how)
    clean = rand(count) < how.clean
    level = torch.exp(math.log(how.largest_noise / 0.001) * rand(count)) * 0.001 * ~clean
    own = level[:, None] * torch.exp(0.5 * torch.randn(count, 22, device=device) * (rand(count, 1) < 0.25))
    positions = positions + own[..., None] * torch.randn_like(positions)
    landmarks = landmarks + level[:, None, None] * torch.randn_like(landmarks)
    landmarks_seen = _landmarks_seen(count, device, how)
    up = torch.zeros(count, 3, device=device)
    up[:, 1] = (rand(count) >= how.up_unknown).float()
    told = own * torch.exp(0.15 * torch.randn(count, 1, device=device))
    observed = Observed(positions, seen, landmarks, landmarks_seen, told, up)
    return target, observed, Body(body.offsets, present, body.landmarks), clean


def _joints_seen(count: int, device: torch.device, how: Spoiling) -> Tensor:
    """Hide nothing, one to four joints, or a limb."""
    order = torch.rand(count, 22, device=device).argsort(dim=1)
    hidden = torch.randint(1, 5, (count, 1), device=device)
    few = order >= hidden
    limbs = constant(tuple(int(j not in joints) for joints in LIMBS for j in range(22)), device).view(-1, 22).bool()
    limb = limbs[torch.randint(len(LIMBS), (count,), device=device)]
    kind = torch.rand(count, 1, device=device)
    rest = (1.0 - how.whole) * 0.6 + how.whole
    return torch.where(kind < how.whole, torch.ones_like(few), torch.where(kind < rest, few, limb))


def _landmarks_seen(count: int, device: torch.device, how: Spoiling) -> Tensor:
    """Show no landmarks, or those of face, hands and feet in any mix, a few of them hidden."""
    some = torch.rand(count, 1, device=device) < how.landmarks
    shown = torch.zeros(count, 22, dtype=torch.bool, device=device)
    for first, last in (FACE, HANDS, FEET):
        shown[:, first:last] = torch.rand(count, 1, device=device) < 0.75
    every = torch.rand(count, 1, device=device) < 0.4
    kept = torch.rand(count, 22, device=device) < 0.75
    return some & shown & (every | kept)
