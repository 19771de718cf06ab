"""Train the default dense network: one readable loop, from poses to an averaged network on disk.

`mimik train dense` calls it. A run is a folder:

- `config.json` what was asked; `curve.csv`, `curve.png` loss and validation errors over steps
- `checkpoint.pt` everything needed to go on; `network.pt` the averaged weights that validated best
"""

import csv
import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mimik.errors import FileError, OptionError
from mimik.learn.curve import draw_lines
from mimik.learn.dense_batches import Spoiling
from mimik.learn.dense_data import Pool, Poses, Samples, training_bodies
from mimik.learn.dense_measure import CASES, loss_of, report
from mimik.learn.dense_network import DenseNetwork
from mimik.learn.train import load_checkpoint
from mimik.learn.train_ikgat import TrainingPoses
from mimik.rig.builtin import builtin_rig
from mimik.rig.rig import Rig


@dataclass(frozen=True, slots=True)
class DenseConfig:
    """How to train. The schedule goes by the clock, so that one command fits any machine."""

    minutes: float = 8.0  # length of the run, over which the learning rate comes down
    batch: int = 8192
    width: int = 448
    hidden: int = 640
    blocks: int = 2
    dropout: float = 0.25
    rate: float = 3e-3
    decay: float = 0.3
    average: float = 0.999
    bodies: int = 50_000
    up_unknown: float = 0.3
    balance: float = 0.3  # from 0, every frame alike, to 1, every person alike
    world_weight: float = 0.25
    seed: int = 0
    pool: int = 65536  # samples made at once
    passes: int = 2  # how often each is used before new ones are made
    validate_seconds: float = 60.0
    validate_poses: int = 12_000  # at most, evenly chosen
    patience: int = 8  # validations without a better mean over all cases before stopping


@dataclass(slots=True)
class DenseState:
    """Where a run stands; `curve` holds one row for each validation."""

    step: int = 0
    seconds: float = 0.0
    best_deg: float = math.inf
    stale: int = 0
    curve: list[dict[str, float]] = field(default_factory=list)


@dataclass(slots=True)
class _Learner:
    """The network being trained, its running average, and the optimizer."""

    network: DenseNetwork
    averaged: DenseNetwork
    optimizer: torch.optim.Optimizer


def train_dense(
    poses: TrainingPoses,
    out: Path,
    *,
    config: DenseConfig | None = None,
    rig: Rig | None = None,
    start_from: Path | None = None,
    resume: bool = False,
    device: str | None = None,
    show: Callable[[dict[str, float]], None] | None = None,
) -> tuple[DenseNetwork, DenseState]:
    """Train until the time is over or validation no longer gets better; return the best network and how it went.

    `rig` trains on bodies near that rig's own instead of bodies of all kinds; `start_from` is another run's
    `network.pt`, or an exported `.onnx`. `show` is called with each validation. Raises FileError when `out` holds a run
    and `resume` is False, or holds none and it is True; OptionError for weights of another shape and poses without a
    split.
    """
    config = config or DenseConfig()
    place = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    torch.set_float32_matmul_precision("high")
    torch.manual_seed(config.seed)
    train, val = (_poses_of(poses, split, place, config) for split in ("train", "val"))
    describe = _describe(poses, train, val, config, rig, start_from)
    learner = _learner(config, start_from, place)
    state = _begin(out, learner, describe, resume=resume)
    torch.manual_seed(config.seed + state.step)
    bodies = training_bodies(config.bodies, config.seed, place, rig)
    pool = Pool(train, bodies, Spoiling(up_unknown=config.up_unknown), config.pool)
    quats = val.quats[:: max(1, math.ceil(len(val) / config.validate_poses))]
    examined_on = rig or builtin_rig("humanoid")
    began, earlier, checked = time.monotonic(), state.seconds, time.monotonic()
    while not finished(state, config):
        loss = fit(learner, pool.refresh(), state, config)
        state.seconds = earlier + time.monotonic() - began
        if finished(state, config) or time.monotonic() - checked > config.validate_seconds:
            row = {"step": state.step, "seconds": state.seconds, "loss": float(loss)}
            row |= report(learner.averaged, quats, examined_on)
            if _note(state, row):
                torch.save({"network": learner.averaged.state_dict(), "describe": describe}, out / "network.pt")
            _save(out, learner, state)
            checked = time.monotonic()
            if show is not None:
                show(row)
    if not (out / "network.pt").exists():
        raise OptionError("the run was given no time to train in")
    return load_dense(out / "network.pt")[0], state


def finished(state: DenseState, config: DenseConfig) -> bool:
    """Say whether a run has come to its end, by the clock or because it no longer gets better."""
    return state.seconds >= 60.0 * config.minutes or state.stale >= config.patience


def learning_rate(state: DenseState, config: DenseConfig) -> float:
    """Return the rate: a warm-up of 500 steps, and half a cosine over the time of the run."""
    progress = min(state.seconds / (60.0 * config.minutes), 1.0)
    return config.rate * min(1.0, (state.step + 1) / 500) * 0.5 * (1.0 + math.cos(math.pi * progress))


def fit(learner: _Learner, samples: Samples, state: DenseState, config: DenseConfig) -> Tensor:
    """Use a pool of samples `passes` times; return the last loss. The learning rate stays for the pool."""
    for group in learner.optimizer.param_groups:
        group["lr"] = learning_rate(state, config)
    network, loss = learner.network, torch.zeros(())
    for _ in range(config.passes):
        for rows in torch.randperm(config.pool, device=samples.x.device).split(config.batch):
            loss = loss_of(network, samples.rows(rows), config.world_weight)
            learner.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            learner.optimizer.step()
            state.step += 1
            keep = min(config.average, state.step / (state.step + 10))
            with torch.no_grad():
                torch._foreach_lerp_(list(learner.averaged.parameters()), list(network.parameters()), 1.0 - keep)
    return loss.detach()


def load_dense(path: Path) -> tuple[DenseNetwork, dict[str, Any]]:
    """Return the network of a run's `network.pt`, ready to predict, and what the run says of itself.

    An exported `.onnx` file holds as much. Raises FileError and OptionError for files that are none of this kind.
    """
    saved = _exported(path) if path.suffix == ".onnx" else load_checkpoint(path)
    describe: dict[str, Any] = saved.get("describe", {})
    if describe.get("name") != "dense":
        raise OptionError(f"{path} holds a {describe.get('name')!r} network, not 'dense'")
    network = DenseNetwork(**describe["network"])
    network.load_state_dict(saved["network"])
    return network.eval(), describe


def _exported(path: Path) -> dict[str, Any]:
    import onnx

    try:
        model = onnx.load(path, load_external_data=False)
        contract = next(json.loads(entry.value) for entry in model.metadata_props if entry.key == "mimik")
    except Exception as error:  # protobuf and json raise many kinds for a broken file
        raise FileError(path, f"is no exported network ({error})") from error
    weights = {t.name: torch.from_numpy(onnx.numpy_helper.to_array(t).copy()) for t in model.graph.initializer}
    return {"network": weights, "describe": {**contract["details"], "name": contract["name"]}}


def print_validation(row: dict[str, float]) -> None:
    """Print one validation as a line."""
    print("  ".join(f"{key} {value:.0f}" if value >= 100 else f"{key} {value:.3g}" for key, value in row.items()))


def _poses_of(poses: TrainingPoses, split: Any, device: torch.device, config: DenseConfig) -> Poses:
    if not len(poses.rotvecs.get(split, ())):
        raise OptionError(f"{poses.source} holds no poses of the split {split!r}")
    return Poses(poses.rotvecs[split], poses.people.get(split), device, config.balance)


def _learner(config: DenseConfig, start_from: Path | None, device: torch.device) -> _Learner:
    network = DenseNetwork(config.width, config.hidden, config.blocks, config.dropout).to(device)
    averaged = DenseNetwork(config.width, config.hidden, config.blocks).to(device).eval()
    if start_from is not None:
        given, _ = load_dense(start_from)
        if given.shape != network.shape:
            raise OptionError(f"{start_from} holds a network of shape {given.shape}, not {network.shape}")
        network.load_state_dict(given.state_dict())
    averaged.load_state_dict(network.state_dict())
    groups = [
        {"params": [p for p in network.parameters() if p.ndim > 1], "weight_decay": config.decay},
        {"params": [p for p in network.parameters() if p.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=config.rate, betas=(0.9, 0.98), fused=True)
    return _Learner(network, averaged, optimizer)


def _describe(
    poses: TrainingPoses, train: Poses, val: Poses, config: DenseConfig, rig: Rig | None, start_from: Path | None
) -> dict[str, Any]:
    network = DenseNetwork(config.width, config.hidden, config.blocks)
    return {
        "name": "dense",
        "network": network.shape,
        "rig": "bodies of all kinds" if rig is None else rig.name,
        "start_from": start_from and start_from.name,
        "data": {"source": poses.source, "hash": poses.fingerprint, "frames": {"train": len(train), "val": len(val)}},
        "parameters": sum(p.numel() for p in network.parameters()),
        "multiply_adds": sum(p.numel() for p in network.parameters() if p.ndim > 1),
        "train": asdict(config),
    }


def _begin(out: Path, learner: _Learner, describe: dict[str, Any], *, resume: bool) -> DenseState:
    checkpoint = out / "checkpoint.pt"
    if not resume:
        if checkpoint.exists():
            raise FileError(out, "holds a run already; give --resume to go on with it, or another folder")
        out.mkdir(parents=True, exist_ok=True)
        (out / "config.json").write_text(json.dumps(describe, indent=1), encoding="utf-8")
        return DenseState()
    saved = load_checkpoint(checkpoint)
    if saved["shape"] != learner.network.shape:
        raise OptionError(f"the run in {out} has the shape {saved['shape']}, not {learner.network.shape}")
    learner.network.load_state_dict(saved["network"])
    learner.averaged.load_state_dict(saved["averaged"])
    learner.optimizer.load_state_dict(saved["optimizer"])
    return DenseState(**saved["state"])


def _note(state: DenseState, row: dict[str, float]) -> bool:
    """Add a validation to the curve; say whether it is the best so far."""
    state.curve.append(row)
    mean = sum(row[case] for case in CASES) / len(CASES)
    better = mean < state.best_deg
    state.best_deg, state.stale = min(mean, state.best_deg), 0 if better else state.stale + 1
    return better


def _save(out: Path, learner: _Learner, state: DenseState) -> None:
    """Write the checkpoint and the curve, as table and as picture."""
    parts = {name: getattr(learner, name).state_dict() for name in ("network", "averaged", "optimizer")}
    partial = out / "checkpoint.pt.partial"
    torch.save({**parts, "shape": learner.network.shape, "state": asdict(state)}, partial)
    partial.replace(out / "checkpoint.pt")
    write_dense_curve(out, state.curve)


def write_dense_curve(out: Path, curve: list[dict[str, float]], *, name: str = "curve") -> None:
    """Write a curve as `curve.csv` and, where Matplotlib is installed, `curve.png`."""
    with (out / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(curve[0]))
        writer.writeheader()
        writer.writerows(curve)
    lines = {f"{case} (degrees)": [row[case] for row in curve] for case in CASES}
    lines["training loss (degrees)"] = [math.degrees(row["loss"]) for row in curve]
    draw_lines(out / f"{name}.png", [int(row["step"]) for row in curve], lines, title="dense, validation MPJAE")
