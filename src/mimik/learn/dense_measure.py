"""Loss and validation of the dense network. Validation ends as solving does: see `mimik.solve.dense.kernels.after`."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from mimik.learn.dense_batches import follow_parents, pose, quat_matrix
from mimik.learn.dense_data import Samples, one_body, prepare
from mimik.learn.dense_geometry import PARENT, Body, Observed, constant, correct, settle, temper
from mimik.rig.rig import Rig

CASES: Mapping[str, Mapping[str, float]] = {
    "clean": {}, "noise5": {"noise": 0.005}, "noise10": {"noise": 0.01}, "noise20": {"noise": 0.02},
    "noise40": {"noise": 0.04}, "missing2": {"missing": 2}, "landmarks": {"landmarks": True}, "no_up": {"up": False},
}  # fmt: skip
"""What validation measures: noise in metres, joints missing at random, landmarks shown, the up direction known."""

PART = 8192  # poses measured at once


def local_rotations(rotation: Tensor) -> Tensor:
    """Return rotations relative to the parent role (B, 22, 3, 3)."""
    parents = constant(PARENT[1:], rotation.device)
    return torch.cat([rotation[:, :1], rotation[:, parents].transpose(-1, -2) @ rotation[:, 1:]], dim=1)


def angle(a: Tensor, b: Tensor) -> Tensor:
    """Angle between rotations in radians, from the chord; finite gradients everywhere."""
    chord = ((a - b).square().sum(dim=(-1, -2)) + 1e-8).sqrt() / math.sqrt(8.0)
    return 2.0 * torch.asin(chord.clamp(max=1.0 - 1e-6))


def predict(network: torch.nn.Module, samples: Samples) -> Tensor:
    """Return D_world rotations (B, 22, 3, 3): geometry, correction, and the pull onto the seen bones."""
    rotation = correct(samples.g, samples.own, samples.noise, network(samples.x).float())
    return settle(rotation, samples.g, samples.bones)


def loss_of(network: torch.nn.Module, samples: Samples, world_weight: float) -> Tensor:
    """Return the mean local angle error, plus a share of the world one."""
    found = predict(network, samples)
    local = angle(local_rotations(found), local_rotations(samples.target))
    return local.mean() + world_weight * angle(found, samples.target).mean()


@torch.no_grad()
def validate(network: torch.nn.Module, quats: Tensor, rig: Rig, *, seed: int = 1, **how: float) -> Tensor:
    """Return the mean local angle error of each joint (22,) in degrees; `how` is one of CASES."""
    generator = torch.Generator(device=quats.device).manual_seed(seed)
    total = torch.zeros(22, device=quats.device)
    for part in quats.split(PART):
        body = one_body(rig, len(part), quats.device)
        target = follow_parents(quat_matrix(part), body.present)
        seen = _observe(target, body, generator, how)
        found = temper(predict(network, prepare(seen, body, target)), seen.seen, seen.landmarks_seen)
        total += angle(local_rotations(found), local_rotations(target)).sum(0)
    return torch.rad2deg(total / len(quats))


def _observe(target: Tensor, body: Body, generator: torch.Generator, how: Mapping[str, float]) -> Observed:
    count, device = len(target), target.device
    positions, landmarks = pose(target, body)
    noise = float(how.get("noise", 0.0))
    jitter = torch.randn(positions.shape, generator=generator, device=device)
    order = torch.rand(count, 22, generator=generator, device=device).argsort(dim=1)
    seen = (order >= int(how.get("missing", 0))) & body.present
    up = torch.zeros(count, 3, device=device)
    up[:, 1] = float(how.get("up", True))
    shown = torch.full((count, 22), bool(how.get("landmarks", False)), dtype=torch.bool, device=device)
    told = torch.full((count, 22), noise, device=device)
    return Observed(positions + noise * jitter, seen, landmarks, shown, told, up)


def report(network: torch.nn.Module, quats: Tensor, rig: Rig) -> dict[str, float]:
    """Return the mean error in degrees of every case on a rig, over the joints it has."""
    present = one_body(rig, 1, quats.device).present[0]
    return {name: float(validate(network, quats, rig, **how)[present].mean()) for name, how in CASES.items()}
