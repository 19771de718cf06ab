"""Train the default dense network: one readable loop, from packed poses to an averaged network on disk.

python -m mimik.learn.dense_train --pack poses.npz --out RUN --seconds 540
"""

import argparse
import json
import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mimik.learn.dense_batches import Spoiling, mirror, pose, quat_matrix, spoil
from mimik.learn.dense_bodies import random_bodies
from mimik.learn.dense_geometry import PARENT, Body, Bones, Observed, bones, constant, correct, features, settle
from mimik.learn.dense_network import DenseNetwork
from mimik.rig.builtin import builtin_rig
from mimik.rotation import rotvec_to_quat
from mimik.solve.dense.body import role_body

VALIDATION = {
    "clean": {}, "noise5": {"noise": 0.005}, "noise10": {"noise": 0.01}, "noise20": {"noise": 0.02},
    "noise40": {"noise": 0.04}, "missing2": {"missing": 2}, "landmarks": {"landmarks": True}, "no_up": {"up": False},
}  # fmt: skip


@dataclass
class DenseConfig:
    """What a training is. Lengths in seconds of wall time, so that one command fits any machine."""

    pack: str
    out: str
    seconds: float = 540.0
    batch: int = 8192
    width: int = 384
    hidden: int = 512
    blocks: int = 3
    dropout: float = 0.05
    rate: float = 2e-3
    decay: float = 0.02
    average: float = 0.999
    bodies: int = 50_000
    up_unknown: float = 0.3
    balance: float = 0.0
    world_weight: float = 0.25
    seed: int = 0
    pool: int = 65536  # samples made at once
    passes: int = 2  # how often each is used before new ones are made
    resume: bool = False
    checkpoint_seconds: float = 120.0
    validate_seconds: float = 60.0


def local_rotations(rotation: Tensor) -> Tensor:
    """Return rotations relative to the parent role (B, 22, 3, 3)."""
    parents = constant(PARENT[1:], rotation.device)
    return torch.cat([rotation[:, :1], rotation[:, parents].transpose(-1, -2) @ rotation[:, 1:]], dim=1)


def angle(a: Tensor, b: Tensor) -> Tensor:
    """Angle between rotations in radians, from the chord; finite gradients everywhere."""
    chord = ((a - b).square().sum(dim=(-1, -2)) + 1e-8).sqrt() / math.sqrt(8.0)
    return 2.0 * torch.asin(chord.clamp(max=1.0 - 1e-6))


@dataclass
class Samples:
    """What training needs of poses: features, base rotations, seen bones, target rotations."""

    x: Tensor
    g: Tensor
    own: Tensor
    noise: Tensor
    bones: Bones
    target: Tensor

    def rows(self, index: Tensor) -> "Samples":
        """Return some of the samples."""
        b = self.bones
        cut = Bones(b.then[index], b.now[index], b.share[index], b.fixed[index])
        return Samples(self.x[index], self.g[index], self.own[index], self.noise[index], cut, self.target[index])


def prepare(seen: Observed, body: Body, target: Tensor) -> Samples:
    """Run the geometry, which has nothing to learn."""
    x, g, p, own = features(seen, body)
    return Samples(x, g, own, seen.noise, bones(seen, body, p), target)


def predict(network: torch.nn.Module, samples: Samples) -> Tensor:
    """Return D_world rotations (B, 22, 3, 3): geometry, correction, and the pull onto the seen bones."""
    rotation = correct(samples.g, samples.own, samples.noise, network(samples.x).float())
    return settle(rotation, samples.g, samples.bones)


def loss_of(network: torch.nn.Module, samples: Samples, world_weight: float) -> Tensor:
    """Return the mean local angle error, plus a share of the world one."""
    found = predict(network, samples)
    local = angle(local_rotations(found), local_rotations(samples.target))
    return local.mean() + world_weight * angle(found, samples.target).mean()


class Pool:
    """Samples made afresh on demand; on CUDA the making is one captured graph."""

    def __init__(self, poses: "Poses", offsets: Tensor, landmarks: Tensor, how: Spoiling, count: int) -> None:
        self.poses, self.offsets, self.landmarks, self.how, self.count = poses, offsets, landmarks, how, count
        self.graph: torch.cuda.CUDAGraph | None = None
        self.samples = self._make()
        if offsets.is_cuda:
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.samples = self._make()

    @torch.no_grad()
    def _make(self) -> Samples:
        rows = torch.randint(len(self.offsets), (self.count,), device=self.offsets.device)
        everything = torch.ones(self.count, 22, dtype=torch.bool, device=self.offsets.device)
        body = Body(self.offsets[rows], everything, self.landmarks[rows])
        target, seen, body, _ = spoil(self.poses.draw(self.count), body, self.how)
        return prepare(seen, body, target)

    def refresh(self) -> Samples:
        """Return new samples; on CUDA they overwrite the last ones."""
        if self.graph is None:
            self.samples = self._make()
        else:
            self.graph.replay()
        return self.samples


class Poses:
    """All poses of a split on the device, drawn at random and mirrored half of the time."""

    def __init__(self, pack: str, split: str, device: torch.device, balance: float = 0.0) -> None:
        """Load a split; `balance` from 0 to 1 draws from every frame alike up to from every subject alike."""
        with np.load(pack) as data:
            quats = rotvec_to_quat(data[f"{split}_rotvec"] * (np.pi / 32767.0))
            subject = data[f"{split}_body"]
        self.quats = torch.as_tensor(quats, dtype=torch.float32, device=device)
        weights = np.bincount(subject)[subject] ** -balance
        self.cumulative = torch.as_tensor(np.cumsum(weights / weights.sum()), dtype=torch.float32, device=device)

    def __len__(self) -> int:
        return len(self.quats)

    def draw(self, count: int) -> Tensor:
        """Return D_world rotations (count, 22, 3, 3)."""
        rows = torch.searchsorted(self.cumulative, torch.rand(count, device=self.quats.device)).clamp(max=len(self) - 1)
        rotation = quat_matrix(self.quats[rows])
        flip = torch.rand(count, 1, 1, 1, device=rotation.device) < 0.5
        return torch.where(flip, mirror(rotation), rotation)


def fixed_body(name: str, count: int, device: torch.device) -> Body:
    """Return a built-in rig's body, repeated (count, ...)."""
    body = role_body(builtin_rig(name))
    tensors = [torch.as_tensor(np.array(a), device=device) for a in (body.offsets, body.present, body.landmarks)]
    offsets, present, landmarks = (t.expand(count, *t.shape) for t in tensors)
    return Body(offsets.float(), present, landmarks.float())


@torch.no_grad()
def validate(network: torch.nn.Module, quats: Tensor, body_name: str, *, seed: int = 1, **how: float) -> Tensor:
    """Return the mean local angle error of each joint (22,) in degrees on whole poses."""
    generator = torch.Generator(device=quats.device).manual_seed(seed)
    rotation = quat_matrix(quats)
    count, device = len(quats), quats.device
    body = fixed_body(body_name, count, device)
    positions, landmarks = pose(rotation, body)
    noise = float(how.get("noise", 0.0))
    jitter = torch.randn(positions.shape, generator=generator, device=device)
    seen = torch.ones(count, 22, dtype=torch.bool, device=device)
    if missing := int(how.get("missing", 0)):
        order = torch.rand(count, 22, generator=generator, device=device).argsort(dim=1)
        seen = order >= missing
    up = torch.zeros(count, 3, device=device)
    up[:, 1] = float(how.get("up", True))
    shown = torch.full((count, 22), bool(how.get("landmarks", False)), dtype=torch.bool, device=device)
    told = torch.full((count, 22), noise, device=device)
    observed = Observed(positions + noise * jitter, seen, landmarks, shown, told, up)
    errors = []
    for k in range(0, count, 16384):
        part = slice(k, k + 16384)
        cut = Observed(*(getattr(observed, f)[part] for f in Observed.__dataclass_fields__))
        samples = prepare(cut, Body(body.offsets[part], body.present[part], body.landmarks[part]), rotation[part])
        errors.append(angle(local_rotations(predict(network, samples)), local_rotations(samples.target)))
    return torch.rad2deg(torch.cat(errors).mean(0))


def report(network: torch.nn.Module, quats: Tensor) -> dict[str, float]:
    """Return the mean error in degrees of every validation case, on humanoid, and clean on cmu."""
    rows = {name: float(validate(network, quats, "humanoid", **how).mean()) for name, how in VALIDATION.items()}
    rows["cmu_body"] = float(validate(network, quats, "cmu").mean())
    return rows


def train_dense(config: DenseConfig) -> DenseNetwork:
    """Train until the time is over; write checkpoint, curve and the averaged network to `config.out`."""
    torch.manual_seed(config.seed)
    torch.set_float32_matmul_precision("high")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    out = Path(config.out)
    out.mkdir(parents=True, exist_ok=True)
    network = DenseNetwork(config.width, config.hidden, config.blocks, config.dropout).to(device)
    averaged = DenseNetwork(config.width, config.hidden, config.blocks).to(device).eval()
    averaged.load_state_dict(network.state_dict())
    matrices = [p for p in network.parameters() if p.ndim > 1]
    vectors = [p for p in network.parameters() if p.ndim <= 1]
    groups = [{"params": matrices, "weight_decay": config.decay}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=config.rate, betas=(0.9, 0.98), fused=True)
    state = {"step": 0, "spent": 0.0, "best": math.inf}
    if config.resume and (out / "checkpoint.pt").exists():
        saved = torch.load(out / "checkpoint.pt", map_location=device, weights_only=True)
        network.load_state_dict(saved["network"])
        averaged.load_state_dict(saved["averaged"])
        optimizer.load_state_dict(saved["optimizer"])
        state = saved["state"]
    train, val = Poses(config.pack, "train", device, config.balance), Poses(config.pack, "val", device).quats[::3]
    offsets, landmarks = (
        torch.as_tensor(a, dtype=torch.float32, device=device)
        for a in random_bodies(np.random.default_rng(config.seed), config.bodies)
    )
    pool = Pool(train, offsets, landmarks, Spoiling(up_unknown=config.up_unknown), config.pool)
    started, spent = time.monotonic(), float(state["spent"])
    checked = saved_at = time.monotonic()
    while True:
        elapsed = spent + time.monotonic() - started
        progress = min(elapsed / config.seconds, 1.0)
        rate = config.rate * min(1.0, (state["step"] + 1) / 500) * 0.5 * (1 + math.cos(math.pi * progress))
        for group in optimizer.param_groups:
            group["lr"] = rate
        samples, loss = pool.refresh(), torch.zeros(())
        for _ in range(config.passes):
            for rows in torch.randperm(config.pool, device=device).split(config.batch):
                loss = loss_of(network, samples.rows(rows), config.world_weight)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                optimizer.step()
                state["step"] += 1
                keep = min(config.average, state["step"] / (state["step"] + 10))
                with torch.no_grad():
                    torch._foreach_lerp_(list(averaged.parameters()), list(network.parameters()), 1.0 - keep)
        done = progress >= 1.0
        now = time.monotonic()
        if done or now - checked > config.validate_seconds:
            checked = now
            row = {"step": state["step"], "seconds": round(elapsed), "loss": loss.item(), **report(averaged, val)}
            print(json.dumps({k: round(v, 3) for k, v in row.items()}), flush=True)
            with (out / "curve.jsonl").open("a") as log:
                log.write(json.dumps(row) + "\n")
        if done or now - saved_at > config.checkpoint_seconds:
            saved_at, state["spent"] = now, elapsed
            save(out, network, averaged, optimizer, state, config)
        if done:
            return averaged


def save(
    out: Path,
    network: DenseNetwork,
    averaged: DenseNetwork,
    optimizer: torch.optim.Optimizer,
    state: dict[str, float],
    config: DenseConfig,
) -> None:
    """Write the checkpoint, and the averaged network with its shape and configuration."""
    parts = {"network": network.state_dict(), "averaged": averaged.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save({**parts, "state": state}, out / "checkpoint.tmp")
    (out / "checkpoint.tmp").replace(out / "checkpoint.pt")
    whole = {"shape": averaged.shape, "weights": averaged.state_dict(), "config": asdict(config), "state": state}
    torch.save(whole, out / "network.pt")


def main() -> None:
    """Parse the configuration and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, field in DenseConfig.__dataclass_fields__.items():
        if field.type is bool:
            parser.add_argument(f"--{name}", type=lambda s: s == "true", default=field.default)
        else:
            required = name in ("pack", "out")
            parser.add_argument(
                f"--{name}", type=field.type, required=required, default=None if required else field.default
            )
    parser.add_argument("--test", help="a pack with a test split, measured at the end")
    given = vars(parser.parse_args())
    test = given.pop("test")
    network = train_dense(DenseConfig(**given))
    device = next(network.parameters()).device
    for pack, split in ((given["pack"], "val"), (test, "test")):
        if pack:
            quats = Poses(pack, split, device).quats
            print(split, json.dumps({k: round(v, 3) for k, v in report(network, quats).items()}))
            for case in ("clean", "noise5", "missing2", "landmarks"):
                print(
                    "  ", case, [round(float(e), 1) for e in validate(network, quats, "humanoid", **VALIDATION[case])]
                )
    print("parameters", sum(p.numel() for p in network.parameters()))


if __name__ == "__main__":
    main()
