"""Train the natural-pose network: from where a few joints are, how a body probably stands.

`python -m mimik.learn.natural --data DIR --out src/mimik/weights/natural.npz`. Motion is taken in role space, posed on
bodies of other proportions, mirrored and seen under noisy headings; which joints are known is drawn anew every time.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from mimik.rig.roles import BODY_MIRROR, BODY_PARENTS, BODY_ROLES
from mimik.solve.projected.natural_features import PAIRS, SIX

CMU = {
    "pelvis": "Hips", "spine1": "SpineBase", "spine2": "SpineMid", "spine3": "SpineTop", "neck": "NeckBase",
    "head": "Head",
    **{f"{s}_{r}": f"{S}{n}" for s, S in (("left", "Left"), ("right", "Right")) for r, n in {
        "hip": "UpLeg", "knee": "Leg", "ankle": "Foot", "foot": "ToeBase", "collar": "Shoulder", "shoulder": "Arm",
        "elbow": "ForeArm", "wrist": "Hand"}.items()},
}  # fmt: skip
REPEATED = {
    "117": "85", "102": "78", "103": "93", "105": "91", "121": "90", "122": "83", "73": "70", "123": "70", "139": "77",
    "64": "63", "84": "74",
}  # fmt: skip
"""Training subjects whose recordings stand in the database a second time, under the number given: they are left out.
85 is a test subject; the others would only count twice."""

COUNT = len(BODY_ROLES)


def quat_to_matrix(q: Tensor) -> Tensor:
    """Rotation matrices (..., 3, 3) of quaternions (..., 4)."""
    x, y, z, w = q.unbind(-1)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return torch.stack([torch.stack(r, -1) for r in rows], -2)


def sixd_to_matrix(six: Tensor) -> Tensor:
    """Rotation matrices (..., 3, 3) whose first two columns come from (..., 6)."""
    a = nn.functional.normalize(six[..., :3], dim=-1)
    b = nn.functional.normalize(six[..., 3:] - (a * six[..., 3:]).sum(-1, keepdim=True) * a, dim=-1)
    return torch.stack([a, b, torch.linalg.cross(a, b)], -1)


def place(matrices: Tensor, offsets: Tensor) -> Tensor:
    """Positions (N, 22, 3) of role rotations (N, 22, 3, 3) on bodies with T-pose offsets (N, 22, 3)."""
    at = [torch.zeros_like(offsets[:, 0])]
    for r in range(1, COUNT):
        p = int(BODY_PARENTS[r])
        at.append(at[p] + (matrices[:, p] @ offsets[:, r, :, None])[..., 0])
    return torch.stack(at, 1)


def subject_files(folder: Path, split: str) -> list[Path]:
    """Files of a split, one a subject, without the subjects that repeat others."""
    found = sorted(folder.glob(f"cmu_{split}_*.npz"))
    return [path for path in found if path.stem.rsplit("_", maxsplit=1)[1] not in REPEATED]


def load(folder: Path, split: str, stride: int) -> tuple[Tensor, Tensor]:
    """Role rotations (N, 22, 4) and each frame's T-pose offsets (N, 22, 3) of a split of the motion files."""
    from mimik.rotation import quat_mul, rotvec_to_quat

    rotations, bodies = [], []
    for path in subject_files(folder, split):
        with np.load(path, allow_pickle=False) as d:
            names, parents = [str(n) for n in d["names"]], d["parents"]
            rotvec = np.cumsum(d["rotvec_delta"], axis=0, dtype=np.int16)[::stride] * (np.pi / 32767)
            offsets = d["offsets"]
        world, rest = np.empty((*rotvec.shape[:2], 4)), np.zeros((len(names), 3))
        local = rotvec_to_quat(rotvec)
        for j, p in enumerate(parents):
            world[:, j] = local[:, j] if p < 0 else quat_mul(world[:, p], local[:, j])
            rest[j] = offsets[j] if p < 0 else rest[p] + offsets[j]
        joints = [names.index(CMU[role]) for role in BODY_ROLES]
        tpose = rest[joints]
        body = tpose - tpose[np.maximum(BODY_PARENTS, 0)]
        rotations.append(world[:, joints].astype(np.float32))
        bodies.append(np.broadcast_to(body.astype(np.float32), (len(rotvec), COUNT, 3)))
    return torch.from_numpy(np.concatenate(rotations)), torch.from_numpy(np.concatenate(bodies))


def mirrored(q: Tensor) -> Tensor:
    """The same motion seen in a mirror: sides swapped, x reversed."""
    return q[:, torch.from_numpy(BODY_MIRROR)] * torch.tensor([1.0, -1.0, -1.0, 1.0])


def vary_bodies(offsets: Tensor, gen: torch.Generator) -> Tensor:
    """Bodies of other proportions: every bone longer or shorter, left and right alike, spines split elsewhere."""
    scale = 1.0 + 0.1 * torch.randn(len(offsets), COUNT, 1, generator=gen).clamp(-2, 2)
    scale = 0.5 * (scale + scale[:, torch.from_numpy(BODY_MIRROR)])
    shift = 0.02 * torch.randn(len(offsets), COUNT, 3, generator=gen)
    shift = 0.5 * (shift + shift[:, torch.from_numpy(BODY_MIRROR)] * torch.tensor([-1.0, 1.0, 1.0]))
    keep = (torch.rand(len(offsets), 1, 1, generator=gen) < 0.5).float()
    varied = offsets * scale + shift
    varied[:, 0] = 0.0
    return keep * offsets + (1 - keep) * varied


def draw_known(count: int, gen: torch.Generator) -> Tensor:
    """Which joints are known (count, 22): the six of the experiment half of the time, else a random handful."""
    known = torch.zeros(count, COUNT)
    known[:, list(SIX)] = 1.0
    rate = 0.1 + 0.5 * torch.rand(count, 1, generator=gen)
    random = (torch.rand(count, COUNT, generator=gen) < rate).float()
    drop = (torch.rand(count, COUNT, generator=gen) < 0.25).float()
    mode = torch.rand(count, 1, generator=gen)
    some = known * (1 - drop)
    more = torch.clamp(known + random, max=1.0)
    return torch.where(mode < 0.5, known, torch.where(mode < 0.7, some, torch.where(mode < 0.85, more, random)))


def canonical(points: Tensor, known: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Heading (N, 3, 3) to world of the known points, as `natural_features.heading` finds it, and centred points."""
    weight = known[..., None]
    centre = (points * weight).sum(1, keepdim=True) / weight.sum(1, keepdim=True).clamp(min=1.0)
    across = torch.zeros(len(points), 2)
    for left, right, share in PAIRS:
        both = (known[:, left] * known[:, right] * share)[:, None]
        across = across + both * (points[:, left] - points[:, right])[:, [0, 2]]
    angle = torch.atan2(-across[:, 1], across[:, 0]) + noise
    c, s, zero, one = torch.cos(angle), torch.sin(angle), torch.zeros(len(points)), torch.ones(len(points))
    turn = torch.stack(
        [torch.stack([c, zero, s], -1), torch.stack([zero, one, zero], -1), torch.stack([-s, zero, c], -1)], 1
    )
    return turn, (points - centre) * weight


def make_network(width: int) -> nn.Sequential:
    """Known points, which are known, the body's T-pose in; first two columns of 22 rotations out."""
    return nn.Sequential(
        nn.Linear(COUNT * 7, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, COUNT * 6)
    )


def batch_loss(
    net: nn.Module, q: Tensor, offsets: Tensor, gen: torch.Generator, augment: bool
) -> tuple[Tensor, Tensor]:
    """Loss and mean joint position error in centimetres for a body of standard height."""
    if augment:
        offsets = vary_bodies(offsets, gen)
    tpose = place(torch.eye(3).expand(len(q), COUNT, 3, 3), offsets)
    size = tpose[:, 15, 1] - 0.5 * (tpose[:, 7, 1] + tpose[:, 8, 1])
    offsets, tpose = offsets / size[:, None, None], tpose / size[:, None, None]
    truth = quat_to_matrix(q)
    points = place(truth, offsets)
    known = draw_known(len(q), gen) if augment else torch.zeros(len(q), COUNT).index_fill_(1, torch.tensor(SIX), 1.0)
    noise = 0.3 * torch.randn(len(q), generator=gen) if augment else torch.zeros(len(q))
    turn, centred = canonical(points, known, noise)
    seen = (centred @ turn) * known[..., None]
    truth, points = turn.transpose(-1, -2)[:, None] @ truth, points @ turn
    six = net(torch.cat([seen.flatten(1), known, tpose.flatten(1)], -1)).view(-1, COUNT, 6)
    guess = sixd_to_matrix(six + torch.tensor([1.0, 0, 0, 0, 1.0, 0]))
    at = place(guess, offsets)
    gap = (known[..., None] * (points - at)).sum(1, keepdim=True) / known.sum(1)[:, None, None].clamp(min=1.0)
    miss = (at + gap - points).norm(dim=-1)
    turned = (guess - truth).square().sum((-1, -2))
    return 4.0 * miss.mean() + 0.15 * torch.sqrt(turned + 1e-4).mean(), 150.0 * miss.mean()


def train(folder: Path, out: Path, *, steps: int, width: int, batch: int, seed: int) -> None:
    """Train, print the validation error as it goes, save weights with their card."""
    torch.manual_seed(seed)
    gen = torch.Generator().manual_seed(seed)
    q, offsets = load(folder, "train", 6)
    vq, voffsets = load(folder, "val", 20)
    net = make_network(width)
    optimiser = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, total_steps=steps, pct_start=0.05)
    began, error = time.time(), 0.0
    for step in range(steps):
        at = torch.randint(len(q), (batch,), generator=gen)
        picked = q[at] if step % 2 else mirrored(q[at])
        loss, _ = batch_loss(net, picked, offsets[at], gen, True)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if step % 500 == 499 or step == steps - 1:
            with torch.no_grad():
                error = float(batch_loss(net, vq, voffsets, gen, False)[1])
            print(
                f"step {step + 1} loss {loss.item():.4f} validation {error:.2f} cm {time.time() - began:.0f} s",
                flush=True,
            )
            subjects = len(subject_files(folder, "train"))
            save(
                net, out, width=width, steps=steps, batch=batch, seed=seed, validation_cm=error, subjects=subjects,
                frames=len(q), seconds=round(time.time() - began),
            )  # fmt: skip


def save(net: nn.Sequential, out: Path, **card: object) -> None:
    """Write the three layers and the card as one npz."""
    arrays = {}
    for k, layer in enumerate(m for m in net if isinstance(m, nn.Linear)):
        arrays[f"w{k}"] = layer.weight.detach().numpy().astype(np.float16)
        arrays[f"b{k}"] = layer.bias.detach().numpy().astype(np.float32)
    card = {
        "name": "natural", "data": "CMU motion capture, train split by subject", "left_out": sorted(REPEATED), **card
    }  # fmt: skip
    np.savez_compressed(out, card=np.array(json.dumps(card)), **arrays)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=12000)
    parser.add_argument("--width", type=int, default=192)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--seed", type=int, default=0)
    arguments = vars(parser.parse_args())
    train(arguments.pop("data"), arguments.pop("out"), **arguments)
