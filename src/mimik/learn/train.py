"""The training loop: draw a batch, step, validate now and then, keep the best, stop when it no longer gets better.

It trains any network that maps root-space positions (B, J, 3) to 6D rotations (B, J, 6). A run is a folder:

- `config.json` what was asked; `curve.csv`, `curve.png` loss and validation error over steps
- `checkpoint.pt` everything needed to go on; `best.pt` the weights with the lowest validation MPJAE
"""

import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from mimik.errors import FileError
from mimik.learn.curve import CurveRow, draw_curve, write_curve
from mimik.learn.data import Draw, PoseData
from mimik.learn.losses import PoseError, measure, pose_loss
from mimik.learn.spaces import RotationSpace


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """How to train. The defaults are IK-GAT's, but for the cosine schedule, which ends lower than a constant rate."""

    batch: int = 512
    learning_rate: float = 1e-3
    weight_decay: float = 0.01  # none on biases, norms and embeddings
    fk_weight: float = 0.1
    steps: int = 60_000
    minutes: float | None = None  # wall clock of this call, after which the run is saved and may be resumed
    finish_minutes: float | None = None  # the schedule ends here by the clock, where `steps` would take longer
    warmup: int = 500
    schedule: Literal["cosine", "constant"] = "cosine"
    validate_every: int = 1000
    patience: int = 25  # validations without a better MPJAE before stopping
    save_every_s: float = 120.0
    seed: int = 0
    bf16: bool = False  # run the network, not the geometry, in bfloat16; for large networks on CUDA
    cuda_graph: bool = True  # replay the whole step as one graph; CUDA only


@dataclass(slots=True)
class RunState:
    """Where a run stands; all of it goes into the checkpoint beside the weights and the optimizer."""

    step: int = 0
    best_mpjae_deg: float = math.inf
    best_step: int = 0
    stale: int = 0
    seconds: float = 0.0
    curve: list[CurveRow] = field(default_factory=list)


def train(
    network: nn.Module,
    space: RotationSpace,
    train_data: PoseData,
    val_data: PoseData,
    config: TrainConfig,
    out: Path,
    *,
    describe: dict[str, Any],
    resume: bool = False,
    report: Callable[[CurveRow], None] | None = None,
) -> RunState:
    """Train `network` in place, leave the best weights in it, and return how the run went.

    `describe` says what the network and the data are; it is stored in the run. `report` is called after each
    validation. Raises FileError when `out` holds a run and `resume` is False, or holds none and `resume` is True.
    """
    torch.manual_seed(config.seed)
    device = train_data.device
    network.to(device)
    space.to(device)
    optimizer = make_optimizer(network, config, device)
    draws = torch.Generator(device).manual_seed(config.seed)
    state = _begin(out, network, optimizer, draws, config, describe, resume=resume)
    network.train()  # a captured step keeps the mode it was captured in
    step_once = make_step(network, space, train_data, optimizer, config)
    began, saved = time.monotonic(), time.monotonic()
    earlier, loss_sum, summed = state.seconds, torch.zeros((), device=device), 0
    while not finished(state, config):
        network.train()
        set_learning_rate(optimizer, learning_rate(state.step, config, state.seconds))
        loss_sum += step_once(train_data.draw(config.batch, draws))
        state.step, summed = state.step + 1, summed + 1
        state.seconds = earlier + time.monotonic() - began
        if state.step % config.validate_every == 0 or finished(state, config):
            error = measure(network, val_data, space)
            row = _note(state, error, float(loss_sum) / summed, config)
            loss_sum, summed = torch.zeros_like(loss_sum), 0
            if state.best_step == state.step:
                torch.save({"network": network.state_dict(), "describe": describe}, out / "best.pt")
            write_curve(out / "curve.csv", state.curve)
            if report is not None:
                report(row)
        if time.monotonic() - saved > config.save_every_s:
            _save(out, network, optimizer, draws, state)
            saved = time.monotonic()
        if config.minutes is not None and time.monotonic() - began > 60.0 * config.minutes:
            break
    _save(out, network, optimizer, draws, state)
    draw_curve(out / "curve.csv", out / "curve.png", title=str(describe.get("name", "")))
    if (out / "best.pt").exists():
        network.load_state_dict(load_checkpoint(out / "best.pt")["network"])
    network.eval()
    return state


def finished(state: RunState, config: TrainConfig) -> bool:
    """Say whether a run has come to its end: by steps, by the clock, or because it no longer gets better."""
    late = config.finish_minutes is not None and state.seconds >= 60.0 * config.finish_minutes
    return late or state.step >= config.steps or state.stale >= config.patience


def learning_rate(step: int, config: TrainConfig, seconds: float = 0.0) -> float:
    """Return the rate at a step: linear warm-up, then constant or half a cosine down to a hundredth."""
    if step < config.warmup:
        return config.learning_rate * (step + 1) / config.warmup
    if config.schedule == "constant":
        return config.learning_rate
    done = (step - config.warmup) / max(1, config.steps - config.warmup)
    if config.finish_minutes is not None:
        done = min(1.0, max(done, seconds / (60.0 * config.finish_minutes)))
    return config.learning_rate * (0.01 + 0.99 * 0.5 * (1.0 + math.cos(math.pi * done)))


def make_optimizer(network: nn.Module, config: TrainConfig, device: torch.device) -> torch.optim.Optimizer:
    """Return AdamW with weight decay on weight matrices only: not on biases, norms and embeddings."""
    decayed: list[Tensor] = []
    free: list[Tensor] = []
    for name, parameter in network.named_parameters():
        plain = parameter.ndim < 2 or "bias" in name or "norm" in name or "embedding" in name
        (free if plain else decayed).append(parameter)
    groups = [
        {"params": decayed, "weight_decay": config.weight_decay},
        {"params": free, "weight_decay": 0.0},
    ]
    if device.type == "cuda":  # a rate in a tensor can change under a captured graph
        rate = torch.tensor(config.learning_rate, device=device)
        return torch.optim.AdamW(groups, lr=rate, fused=True, capturable=True)
    return torch.optim.AdamW(groups, lr=config.learning_rate)


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Set the rate of all parameter groups."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def make_step(
    network: nn.Module, space: RotationSpace, data: PoseData, optimizer: torch.optim.Optimizer, config: TrainConfig
) -> Callable[[Draw], Tensor]:
    """Return the function that takes one optimizer step on a batch and returns its loss, unsynchronised."""

    def step(draw: Draw) -> Tensor:
        positions, D_world, offsets = data.pose(draw)
        with torch.autocast(data.device.type, torch.bfloat16, enabled=config.bf16):
            sixd = network(positions)
        loss = pose_loss(sixd.float(), D_world, positions, offsets, data, space, config.fk_weight)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.detach()

    if data.device.type != "cuda" or not config.cuda_graph:
        return step
    return _captured(step, data.draw(config.batch, torch.Generator(data.device).manual_seed(config.seed)))


def _captured(step: Callable[[Draw], Tensor], example: Draw) -> Callable[[Draw], Tensor]:
    """Record one step as a CUDA graph: small networks are bound by launches, and a replay is one launch.

    The warm-up before it takes three real steps on the example.
    """
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):  # lazy initialisation must happen before the capture
            step(example)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step(example)

    def replay(draw: Draw) -> Tensor:
        for static, values in zip(example.tensors(), draw.tensors()):
            static.copy_(values)
        graph.replay()
        return loss

    return replay


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Load a checkpoint on the CPU, tensors and plain values only; raises FileError when it is none."""
    try:
        loaded: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # zip, pickle and torch raise many kinds for a broken file
        raise FileError(path, f"is no checkpoint of a run ({error})") from error
    return loaded


def _begin(
    out: Path,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    draws: torch.Generator,
    config: TrainConfig,
    describe: dict[str, Any],
    *,
    resume: bool,
) -> RunState:
    checkpoint = out / "checkpoint.pt"
    if not resume:
        if checkpoint.exists():
            raise FileError(out, "holds a run already; give --resume to go on with it, or another folder")
        out.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"train": asdict(config), "describe": describe}, indent=1, default=str)
        (out / "config.json").write_text(text, encoding="utf-8")
        return RunState()
    saved = load_checkpoint(checkpoint)
    network.load_state_dict(saved["network"])
    optimizer.load_state_dict(saved["optimizer"])
    for group in optimizer.param_groups:  # loading leaves a rate in a tensor where the file had it, on the CPU
        if isinstance(group["lr"], Tensor):
            group["lr"] = group["lr"].to(draws.device)
    draws.set_state(saved["draws"])
    return RunState(**{**saved["state"], "curve": [CurveRow(**row) for row in saved["state"]["curve"]]})


def _save(
    out: Path, network: nn.Module, optimizer: torch.optim.Optimizer, draws: torch.Generator, state: RunState
) -> None:
    content = {
        "network": network.state_dict(),
        "optimizer": optimizer.state_dict(),
        "draws": draws.get_state(),
        "state": asdict(state),
    }
    partial = out / "checkpoint.pt.partial"
    torch.save(content, partial)
    partial.replace(out / "checkpoint.pt")


def _note(state: RunState, error: PoseError, loss: float, config: TrainConfig) -> CurveRow:
    row = CurveRow(
        state.step,
        loss,
        error.mpjae_deg,
        error.mpjpe_mm,
        learning_rate(state.step, config, state.seconds),
        state.seconds,
    )
    state.curve.append(row)
    if error.mpjae_deg < state.best_mpjae_deg:
        state.best_mpjae_deg, state.best_step, state.stale = error.mpjae_deg, state.step, 0
    else:
        state.stale += 1
    return row
