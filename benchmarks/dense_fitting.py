"""Per-frame optimisation: L-BFGS on joint rotations, positions against a Gaussian prior of poses.

Each frame minimises  |p(theta) - seen|^2 / (2 s^2) + (theta - mean)^T C^-1 (theta - mean) / 2  over rotation vectors of
all joints against their mean, C the covariance of whole poses in the training motion. Frames are independent; they run
side by side, each with its own step length.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from mimik._types import Array
from mimik.rig.roles import BODY_PARENTS
from mimik.rotation import matrix_to_quat, quat_inv, quat_mean, quat_mul, quat_to_matrix, quat_to_rotvec

ITERATIONS, MEMORY, LEAST_NOISE = 150, 12, 0.002
JOINTS = len(BODY_PARENTS)


@dataclass(frozen=True, slots=True, eq=False)
class PosePrior:
    """Mean local rotation of each joint but the pelvis (22, 4), and the inverse square root of the covariance (63, 63).

    Deviations are rotation vectors in the joints' own frames: local = mean exp(theta).
    """

    mean: Array
    whiten: Array

    @staticmethod
    def measured(D_world: Array) -> "PosePrior":
        """Measure the prior on training poses (N, 22, 4)."""
        local = np.array(D_world)
        local[:, 1:] = quat_mul(quat_inv(D_world[:, BODY_PARENTS[1:]]), D_world[:, 1:])
        mean = np.stack([quat_mean(local[:, j]) for j in range(JOINTS)])
        away = quat_to_rotvec(quat_mul(quat_inv(mean[1:]), local[:, 1:])).reshape(len(local), -1)
        spread, axes = np.linalg.eigh(np.cov(away, rowvar=False) + 1e-4 * np.eye(away.shape[1]))
        return PosePrior(mean, (axes / np.sqrt(spread)).T)


def fit_frames(points: Array, offsets: Array, prior: PosePrior, pelvis: Array, *, noise: float = 0.0) -> Array:
    """Return D_world (N, 22, 4) of positions (N, 22, 3) on a body of T-pose offsets (22, 3).

    pelvis  (N, 4) rotation the pelvis starts from; noise in metres, taken as at least 2 mm
    """
    mean = torch.as_tensor(quat_to_matrix(prior.mean)).expand(len(points), -1, -1, -1).clone()
    mean[:, 0] = torch.as_tensor(quat_to_matrix(pelvis))
    whiten, bones = torch.tensor(prior.whiten), torch.tensor(offsets)
    seen = torch.as_tensor(points - points[:, :1])
    weight = 0.5 / max(noise, LEAST_NOISE) ** 2

    def cost(theta: Tensor) -> Tensor:
        _, places = pose_of(theta, mean, bones)
        prior_cost = (theta[:, 3:] @ whiten.T).square().sum(1)
        return weight * (places - seen).square().sum((1, 2)) + 0.5 * prior_cost

    theta = minimise(cost, torch.zeros(len(points), 3 * JOINTS, dtype=torch.float64))
    with torch.no_grad():
        return matrix_to_quat(pose_of(theta, mean, bones)[0].numpy())


def pose_of(theta: Tensor, mean: Tensor, bones: Tensor) -> tuple[Tensor, Tensor]:
    """Return world rotations (N, 22, 3, 3) and places from the pelvis (N, 22, 3)."""
    local = mean @ exponential(theta.reshape(len(theta), JOINTS, 3))
    turned, places = [local[:, 0]], [torch.zeros_like(theta[:, :3])]
    for j in range(1, JOINTS):
        parent = int(BODY_PARENTS[j])
        turned.append(turned[parent] @ local[:, j])
        places.append(places[parent] + turned[parent] @ bones[j])
    return torch.stack(turned, 1), torch.stack(places, 1)


def exponential(v: Tensor) -> Tensor:
    """Return rotation matrices (..., 3, 3) of rotation vectors (..., 3)."""
    zero = torch.zeros_like(v[..., 0])
    x, y, z = v.unbind(-1)
    k = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).reshape(*v.shape[:-1], 3, 3)
    angle = (v.square().sum(-1) + 1e-12).sqrt()[..., None, None]
    first, second = torch.sin(angle) / angle, 2.0 * (torch.sin(0.5 * angle) / angle).square()
    return torch.eye(3, dtype=v.dtype) + first * k + second * (k @ k)


def minimise(cost: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Minimise a cost (N,) of independent rows x (N, D) by L-BFGS with backtracking, each row for itself."""
    value, slope = value_and_slope(cost, x)
    moves: list[tuple[Tensor, Tensor, Tensor]] = []
    for _ in range(ITERATIONS):
        step = -direction(slope, moves)
        downhill = (step * slope).sum(1)
        step = torch.where((downhill < 0)[:, None], step, -slope)
        downhill = (step * slope).sum(1)
        length = torch.ones_like(value) if moves else 0.3 / step.norm(dim=1).clamp(min=1e-9)
        for _ in range(12):
            with torch.no_grad():
                good = cost(x + length[:, None] * step) <= value + 1e-4 * length * downhill
            if bool(good.all()):
                break
            length = torch.where(good, length, 0.4 * length)
        moved = torch.where(good, length, 0.0)[:, None] * step
        x = x + moved
        new_value, new_slope = value_and_slope(cost, x)
        change = new_slope - slope
        curve = (moved * change).sum(1)
        moves = [*moves, (moved, change, torch.where(curve > 1e-12, 1.0 / curve.clamp(min=1e-12), 0.0))][-MEMORY:]
        if float((value - new_value).max()) < 1e-7:
            break
        value, slope = new_value, new_slope
    return x


def value_and_slope(cost: Callable[[Tensor], Tensor], x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the cost (N,) and its gradient (N, D)."""
    x = x.detach().requires_grad_(True)
    value = cost(x)
    (slope,) = torch.autograd.grad(value.sum(), x)
    return value.detach(), slope


def direction(slope: Tensor, moves: list[tuple[Tensor, Tensor, Tensor]]) -> Tensor:
    """Return the inverse Hessian times the gradient (N, D) by the two-loop recursion; rows of no curvature drop out."""
    q, shares = slope, []
    for moved, change, rho in reversed(moves):
        share = rho * (moved * q).sum(1)
        q = q - share[:, None] * change
        shares.append(share)
    if moves:
        moved, change, rho = moves[-1]
        size = (moved * change).sum(1) / change.square().sum(1).clamp(min=1e-12)
        q = torch.where(rho > 0, size, 1e-4)[:, None] * q
    for (moved, change, rho), share in zip(moves, reversed(shares)):
        q = q + (share - rho * (change * q).sum(1))[:, None] * moved
    return q
