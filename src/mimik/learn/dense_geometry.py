"""Geometry before the network, in PyTorch: the twin of solve/dense/kernels.py, batched and differentiable.

From role positions and a body in T-pose it computes a base rotation for every joint (what positions say, least twist
where they say nothing) and the features the network corrects it from. All rotations are D_world: from the canonical
T-pose to now, in world axes.
"""

from dataclasses import dataclass
from functools import cache

import roma
import torch
from torch import Tensor

from mimik.solve.dense.body import CHILD, HINGE_AXES, LANDMARK_JOINT
from mimik.solve.dense.layout import (
    FEATURE_WIDTH,
    HINGE_PRIOR,
    LANDMARK_PRIOR,
    LEAF_TRUST,
    LEAVES,
    NOISE_EVEN,
    NOISE_WIDE,
    SETTLE_FULL,
    SHORT_NECK,
    SWING_JOINTS,
    USUAL_LEAVES,
    settle_share,
)

PARENT = (-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19)
TINY = 1e-9
TORSO, UPPER, LOWER = (0, 1, 2, 3, 6, 9, 12, 13, 14, 16, 17), (9, 12, 13, 14, 16, 17), (0, 1, 2, 3)
LEFT, RIGHT, MIDDLE = (1, 13, 16), (2, 14, 17), (0, 3, 6, 9, 12)
_LIMBS: tuple[tuple[tuple[int, ...], int | None], ...] = (
    ((12,), None), ((13, 14), None), ((16, 17), 0), ((18, 19), None), ((1, 2), 2), ((4, 5), None), ((7, 8), None),
)  # fmt: skip
WIDE_COLLARS = 0.04
"""Distance of the collar joints, metres, from which they tell how the chest is turned."""


@cache
def constant(values: tuple[float, ...] | tuple[int, ...], device: torch.device) -> Tensor:
    """Return numbers as a tensor that stays on the device, so that steps can be captured as graphs."""
    return torch.tensor(values, device=device)


@dataclass
class Observed:
    """What is seen of a batch of poses: positions (B, 22, 3), seen (B, 22), landmarks (B, 22, 3), landmarks_seen
    (B, 22), noise (B, 22) metres, up (B, 3) the world's up or zero where it is unknown.
    """

    positions: Tensor
    seen: Tensor
    landmarks: Tensor
    landmarks_seen: Tensor
    noise: Tensor
    up: Tensor


@dataclass
class Body:
    """Bodies of a batch: offsets (B, 22, 3), present (B, 22), landmarks (B, 22, 3); see RoleBody."""

    offsets: Tensor
    present: Tensor
    landmarks: Tensor


def unit(v: Tensor) -> Tensor:
    """Scale to unit length; zero stays zero."""
    return v / v.norm(dim=-1, keepdim=True).clamp_min(TINY)


def cross(a: Tensor, b: Tensor) -> Tensor:
    """Cross product over the last axis."""
    return torch.linalg.cross(a, b, dim=-1)


def turn(rotation: Tensor, v: Tensor) -> Tensor:
    """Rotate vectors (..., 3) by matrices (..., 3, 3)."""
    return (rotation * v.unsqueeze(-2)).sum(-1)


def back(rotation: Tensor, v: Tensor) -> Tensor:
    """Rotate vectors by the inverse."""
    return (rotation * v.unsqueeze(-1)).sum(-2)


def frame(primary: Tensor, secondary: Tensor) -> Tensor:
    """Return the frame (..., 3, 3) with columns along primary, secondary made normal to it, and their product."""
    x = unit(primary)
    y = unit(secondary - (secondary * x).sum(-1, keepdim=True) * x)
    return torch.stack([x, y, cross(x, y)], dim=-1)


def triad(a: Tensor, b: Tensor, a_now: Tensor, b_now: Tensor) -> Tensor:
    """Return the rotation that takes direction a to a_now exactly and b as near to b_now as that allows."""
    return frame(a_now, b_now) @ frame(a, b).transpose(-1, -2)


def swing(rotation: Tensor, bone: Tensor, direction: Tensor) -> Tensor:
    """Turn `rotation` by the least rotation that lays `bone` along `direction`; unchanged where either is zero."""
    u, w = turn(rotation, unit(bone)), unit(direction)
    valid = ((bone.norm(dim=-1) > TINY) & (direction.norm(dim=-1) > TINY))[..., None, None]
    axis, cosine = cross(u, w), (u * w).sum(-1)
    x, y, z = axis.unbind(-1)
    zero = torch.zeros_like(x)
    k = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], dim=-1).unflatten(-1, (3, 3))
    eye = constant((1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), axis.device).to(axis.dtype).view(3, 3)
    least = eye + k + (k @ k) / (1.0 + cosine).clamp_min(1e-4)[..., None, None]
    return torch.where(valid, least @ rotation, rotation)


def orthogonal(a: Tensor, steps: int = 8) -> Tensor:
    """Return the rotation nearest to matrices with positive determinant (scaled Newton iteration)."""
    x = a
    for _ in range(steps):
        cofactor = torch.stack(
            [
                cross(x[..., :, 1], x[..., :, 2]),
                cross(x[..., :, 2], x[..., :, 0]),
                cross(x[..., :, 0], x[..., :, 1]),
            ],
            dim=-1,
        )
        det = (x[..., :, 0] * cofactor[..., :, 0]).sum(-1).abs().clamp_min(1e-12)[..., None, None]
        g = det.pow(-1.0 / 3.0)
        x = 0.5 * (g * x + cofactor / (g * det))
    return x


def fill_torso(seen: Observed, body: Body) -> tuple[Tensor, Tensor]:
    """Return the body's own frame (B, 3, 3) and positions with unseen torso joints put where it has them."""
    t_pose = [torch.zeros_like(body.offsets[:, 0])]
    for j in range(1, 22):
        t_pose.append(t_pose[PARENT[j]] + body.offsets[:, j])
    then, p, m = torch.stack(t_pose, dim=1), seen.positions, seen.seen.to(seen.positions.dtype)

    def centre(q: Tensor, joints: tuple[int, ...]) -> Tensor:
        k = constant(joints, q.device)
        w = m[:, k, None]
        return (w * q[:, k]).sum(1) / w.sum(1).clamp_min(1.0)

    def across(q: Tensor) -> Tensor:
        pairs = [(m[:, a] * m[:, a + 1])[:, None] for a in (1, 16, 13)]
        both = sum(pair * (q[:, a] - q[:, a + 1]) for pair, a in zip(pairs, (1, 16, 13)))
        sides = [torch.where((m[:, k].sum(1) > 0)[:, None], centre(q, k), centre(q, MIDDLE)) for k in (LEFT, RIGHT)]
        return torch.where(sum(pairs) > 0, both, sides[0] - sides[1])

    def upward(q: Tensor) -> Tensor:
        return centre(q, UPPER) - centre(q, LOWER)

    own = triad(upward(then), across(then), upward(p), across(p))
    shift = centre(p, TORSO) - turn(own, centre(then, TORSO))
    guess = turn(own[:, None], then) + shift[:, None]
    unseen_torso = torch.zeros(22, dtype=torch.bool, device=p.device).index_fill(0, constant(TORSO, p.device), True)
    return own, torch.where((unseen_torso & ~seen.seen)[..., None], guess, p)


def base_rotations(seen: Observed, body: Body) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return base rotations (B, 22, 3, 3), filled positions (B, 22, 3), the body's own frame, and bend normals.

    The bend normals (B, 4, 3) are upper limb x lower limb in the least-twist frame, for shoulders and hips.
    """
    own, filled = fill_torso(seen, body)
    offsets, p, g = body.offsets, list(filled.unbind(1)), [own] * 22
    rough = seen.noise[:, :17].mean(1, keepdim=True)
    rough = ((rough - SETTLE_FULL) / (NOISE_WIDE - SETTLE_FULL)).clamp(0.0, 1.0)
    then = (offsets[:, 3] - 0.5 * (offsets[:, 1] + offsets[:, 2])) + rough * (offsets[:, 6] + offsets[:, 9])
    now = p[3] - 0.5 * (p[1] + p[2]) + rough * (p[9] - p[3])
    g[0] = triad(offsets[:, 1] - offsets[:, 2], then, p[1] - p[2], now)
    narrow = (offsets[:, 13] - offsets[:, 14]).norm(dim=-1, keepdim=True) <= WIDE_COLLARS
    arms = torch.where(narrow, torch.ones_like(rough), rough)
    then = offsets[:, 13] - offsets[:, 14] + arms * (offsets[:, 16] - offsets[:, 17])
    now = p[13] - p[14] + arms * (p[16] - p[13] - p[17] + p[14])
    short = offsets[:, 12].norm(dim=-1, keepdim=True) < SHORT_NECK  # a neck in the chest's own place
    to_shoulders = offsets[:, 9] + 0.5 * (offsets[:, 13] + offsets[:, 16] + offsets[:, 14] + offsets[:, 17])
    neck = torch.where(short, to_shoulders, offsets[:, 12])
    g[9] = triad(neck, then, torch.where(short, 0.5 * (p[16] + p[17]) - p[6], p[12] - p[9]), now)
    blend = orthogonal(torch.stack([2.0 * g[0] + g[9], g[0] + 2.0 * g[9]], dim=1) / 3.0)
    g[3] = swing(blend[:, 0], offsets[:, 6], p[6] - p[3])
    g[6] = swing(blend[:, 1], offsets[:, 9], p[9] - p[6])
    normals = []
    for joints, hinge in _LIMBS:
        now, normal = _limb(g, p, seen, body, joints, hinge)
        normals += [] if normal is None else [normal]
        for i, joint in enumerate(joints):
            g[joint] = now[:, i]
    positions = torch.stack(p, dim=1)
    g[7], g[8] = _on_landmarks(torch.stack([g[7], g[8]], dim=1), positions, seen, body, (7, 8)).unbind(1)
    leaves = torch.stack([g[12], g[18], g[19], g[7], g[8]], dim=1)
    g[15], g[20], g[21], g[10], g[11] = _on_landmarks(leaves, positions, seen, body, LEAVES).unbind(1)
    return torch.stack(g, dim=1), positions, own, torch.cat(normals, dim=1)


def _limb(
    g: list[Tensor], p: list[Tensor], seen: Observed, body: Body, joints: tuple[int, ...], hinge: int | None
) -> tuple[Tensor, Tensor | None]:
    """Return rotations (B, n, 3, 3) of like joints, left and right at once; a child that was not seen is filled first.

    With `hinge`, the first row of HINGE_AXES, the bend of the limb decides the twist as far as it is bent.
    """
    c = [int(CHILD[k]) for k in joints]
    parent = torch.stack([g[PARENT[k]] for k in joints], dim=1)
    bone = torch.stack([body.offsets[:, k] for k in c], dim=1)
    start = torch.stack([p[k] for k in joints], dim=1)
    shown = torch.stack([seen.seen[:, k] for k in c], dim=1)
    end = torch.where(shown[..., None], torch.stack([p[k] for k in c], dim=1), start + turn(parent, bone))
    for i, k in enumerate(c):
        p[k] = end[:, i]
    least = swing(parent, bone, end - start)
    if hinge is None:
        return least, None
    cc = [int(CHILD[k]) for k in c]
    flat = tuple(float(v) for v in HINGE_AXES[hinge : hinge + 2].ravel())
    axes = constant(flat, bone.device).view(2, 3).expand_as(bone)
    both = shown & torch.stack([seen.seen[:, k] for k in cc], dim=1)
    normal = cross(unit(end - start), unit(torch.stack([p[k] for k in cc], dim=1) - end)) * both[..., None]
    now = frame(end - start, HINGE_PRIOR * turn(least, axes) + normal)
    return now @ frame(bone, axes).transpose(-1, -2), back(least, normal)


@cache
def _landmark_rows(joints: tuple[int, ...], device: torch.device) -> tuple[Tensor, Tensor]:
    """Return which landmarks move with each joint, padded to a rectangle (n, k), and which entries are real."""
    rows = [[i for i, joint in enumerate(LANDMARK_JOINT) if joint == j] for j in joints]
    most = max(len(row) for row in rows)
    index = torch.tensor([row + [0] * (most - len(row)) for row in rows], device=device)
    real = torch.tensor([[True] * len(row) + [False] * (most - len(row)) for row in rows], device=device)
    return index, real


def _on_landmarks(base: Tensor, p: Tensor, seen: Observed, body: Body, joints: tuple[int, ...]) -> Tensor:
    """Turn base rotations (B, n, 3, 3) onto their joints' landmarks: the nearest, with a weak pull to the base."""
    index, real = _landmark_rows(joints, p.device)
    k = constant(joints, p.device)
    m = (seen.landmarks_seen[:, index] & seen.seen[:, k, None] & real)[..., None].to(p.dtype)  # (B, n, k, 1)
    now, then = (seen.landmarks[:, index] - p[:, k, None]) * m, body.landmarks[:, index] * m
    shown = m.amax(dim=2)
    if joints == (7, 8):
        child = constant((10, 11), p.device)
        now = torch.cat([now, ((p[:, child] - p[:, k]) * shown)[:, :, None]], dim=2)
        then = torch.cat([then, (body.offsets[:, child] * shown)[:, :, None]], dim=2)
    near = swing(base, then.sum(2), now.sum(2))
    size = (then.square().sum(dim=(2, 3)) + 1e-8)[..., None, None]
    a = (now.unsqueeze(-1) * then.unsqueeze(-2)).sum(2) / size
    return torch.where(shown[..., None] > 0, orthogonal(a + LANDMARK_PRIOR * near), base)


def features(seen: Observed, body: Body) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return network inputs (B, FEATURE_WIDTH), base rotations (B, 22, 3, 3), filled positions and the own frame."""
    g, p, own, normals = base_rotations(seen, body)
    device = p.device
    size = body.offsets[:, 1:].norm(dim=-1).sum(-1)[:, None, None]
    m = seen.seen.to(p.dtype)
    places = back(own[:, None], p - p[:, :1]) * (4.0 / size)
    joints, child, parents = _swing_indices(device)
    bone, now = unit(body.offsets[:, child]), back(g[:, parents], unit(p[:, child] - p[:, joints]))
    swings = torch.cat([cross(bone, now), (bone * now).sum(-1, keepdim=True)], dim=-1)
    trunk = torch.stack([own.transpose(1, 2) @ g[:, 0], g[:, 0].transpose(1, 2) @ g[:, 9]], dim=1)[..., :2]
    above = constant(PARENT[1:], device)
    length = (p[:, 1:] - p[:, above]).norm(dim=-1)
    expected = body.offsets[:, 1:].norm(dim=-1)
    ratio = (length - expected) / (expected + 0.03) * (m[:, 1:] * m[:, above])
    lj = constant(tuple(int(j) for j in LANDMARK_JOINT), device)
    lm = (seen.landmarks_seen & seen.seen[:, lj]).to(p.dtype)
    left_over = (back(g[:, lj], seen.landmarks - p[:, lj]) - body.landmarks) * lm[..., None] * (40.0 / size)
    noise = torch.log1p(seen.noise / 0.002) * 0.4 * m
    up = back(own, seen.up)
    parts = [places.flatten(1), m, body.present.to(p.dtype), swings.flatten(1), trunk.flatten(1), normals.flatten(1)]
    parts += [ratio.clamp(-2.0, 2.0), left_over.clamp(-4.0, 4.0).flatten(1), lm, noise, up]
    x = torch.cat(parts, dim=1)
    assert x.shape[1] == FEATURE_WIDTH
    return x, g, p, own


@cache
def _swing_indices(device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    children, parents = ([int(CHILD[j]) for j in SWING_JOINTS], [max(PARENT[j], 0) for j in SWING_JOINTS])
    return constant(SWING_JOINTS, device), constant(tuple(children), device), constant(tuple(parents), device)


def correct(g: Tensor, own: Tensor, noise: Tensor, output: Tensor) -> Tensor:
    """Combine base rotations (B, 22, 3, 3) with the network's output (B, 264).

    Its first half corrects each base rotation in the joint's own frame, its second half gives the rotation in the
    body's own frame (B, 3, 3); the noise (B, 22) says how the two are weighed.
    """
    first, second = output.unflatten(1, (2, 22, 2, 3)).unbind(1)  # (B, 22, 2, 3): two columns each
    one = constant((1.0, 0.0, 0.0, 0.0, 1.0, 0.0), g.device).view(2, 3)
    corrected = (first + one) @ g.transpose(-1, -2)
    direct = second @ own[:, None].transpose(-1, -2)
    trust = (NOISE_EVEN / (NOISE_EVEN + noise))[..., None, None]
    columns = trust * corrected + (1.0 - trust) * direct
    return frame(columns[..., 0, :], columns[..., 1, :])


@dataclass
class Bones:
    """What the last step needs: bones in T-pose and as seen, unit (B, n, 3); how far to follow them (B, n); and whether
    pelvis and chest are fixed by three joints (B, 2). n counts SWING_JOINTS.
    """

    then: Tensor
    now: Tensor
    share: Tensor
    fixed: Tensor


def bones(seen: Observed, body: Body, p: Tensor) -> Bones:
    """Return the seen bones; a bone with an unseen end, or seen in noise, is followed less or not at all."""
    joints, child, _ = _swing_indices(p.device)
    share = settle_share(torch.maximum(seen.noise[:, joints], seen.noise[:, child]))
    share = share * (seen.seen[:, joints] & seen.seen[:, child]).to(p.dtype)
    pelvis = seen.seen[:, :4].all(1) & (seen.noise[:, :4].amax(1) <= SETTLE_FULL)
    chest_joints = constant((9, 12, 13, 14), p.device)
    wide = (body.offsets[:, 13] - body.offsets[:, 14]).norm(dim=-1) > WIDE_COLLARS
    chest = seen.seen[:, chest_joints].all(1) & (seen.noise[:, chest_joints].amax(1) <= SETTLE_FULL) & wide
    return Bones(
        unit(body.offsets[:, child]), unit(p[:, child] - p[:, joints]), share, torch.stack([pelvis, chest], dim=1)
    )


def settle(rotation: Tensor, g: Tensor, seen: Bones) -> Tensor:
    """Pull corrected rotations (B, 22, 3, 3) onto the seen bones; where three joints fix one, geometry decides."""
    joints = _swing_indices(rotation.device)[0]
    r = rotation[:, joints]
    aim = torch.lerp(turn(r, seen.then), seen.now, seen.share[..., None])
    settled = rotation.index_copy(1, joints, swing(r, seen.then, aim))
    fixed = torch.zeros_like(rotation[..., 0, 0], dtype=torch.bool)
    fixed = fixed.index_copy(1, constant((0, 9), rotation.device), seen.fixed)
    return torch.where(fixed[..., None, None], g, settled)


def temper(rotation: Tensor, seen: Tensor, landmarks_seen: Tensor) -> Tensor:
    """Draw leaves of rotations (B, 22, 3, 3) without landmarks (B, 22) towards their usual place on their parents.

    Leaves that were not seen (B, 22) themselves are put there.
    """
    device = rotation.device
    leaves, parents = constant(LEAVES, device), constant(tuple(PARENT[j] for j in LEAVES), device)
    usual = roma.unitquat_to_rotmat(unit(torch.tensor(USUAL_LEAVES, dtype=rotation.dtype, device=device)))
    base = rotation[:, parents] @ usual
    away = roma.rotmat_to_rotvec(base.transpose(-1, -2) @ rotation[:, leaves])
    trust = torch.tensor(LEAF_TRUST, dtype=rotation.dtype, device=device)[:, None]
    drawn = base @ roma.rotvec_to_rotmat(away * trust * seen[:, leaves, None])
    index, real = _landmark_rows(LEAVES, device)
    shown = (landmarks_seen[:, index] & real).any(dim=2)
    return rotation.index_copy(1, leaves, torch.where(shown[..., None, None], rotation[:, leaves], drawn))
