"""Train IK-GAT as published, on one rig: `python -m mimik.learn.train_ikgat --data STORE_OR_PACK -o RUN`."""

import argparse
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mimik._types import Array, IntArray
from mimik.errors import OptionError
from mimik.learn.curve import CurveRow
from mimik.learn.data import PoseData, kept_offsets, kept_parents, rig_body, store_rotvecs
from mimik.learn.ikgat import IkGat, IkGatConfig, count_costs, remap_joints
from mimik.learn.importers import Split
from mimik.learn.pack import load_pack
from mimik.learn.spaces import RotationSpace, SpaceName, tpose_bone_frames
from mimik.learn.store import MotionStore
from mimik.learn.train import RunState, TrainConfig, load_checkpoint, train
from mimik.rig.builtin import BUILTIN_RIGS, builtin_rig
from mimik.rig.rig import Rig
from mimik.rig.roles import BODY_ROLES


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPoses:
    """Poses of the splits, rotation vectors as packs hold them, where they come from, and whose each one is."""

    rotvecs: dict[Split, np.ndarray[Any, np.dtype[np.int16]]]
    source: str
    fingerprint: str
    people: dict[Split, IntArray] = field(default_factory=dict)


def open_poses(path: Path, *, count: int = 400_000, splits: tuple[Split, ...] = ("train", "val")) -> TrainingPoses:
    """Open a store (a folder), choosing `count` diverse training poses, or a pack (a file), taken as it is.

    Splits that a pack lacks are left out. Raises FileError when `path` is neither.
    """
    if path.is_dir():
        store = MotionStore(path)
        frames: dict[Split, IntArray] = {
            split: store.frames(store.split(split), fps=30.0) for split in splits if split != "train"
        }
        if "train" in splits:
            frames["train"] = store.select("train", count)
        rotvecs = {split: store_rotvecs(store, index) for split, index in frames.items()}
        return TrainingPoses(rotvecs, path.name, store.hash, {s: store.bodies(index) for s, index in frames.items()})
    pack = load_pack(path)
    with np.load(path, allow_pickle=False) as data:
        fingerprint = str(data["store"])
    held = [split for split in splits if split in pack]
    people = {split: pack[split].body.astype(np.int64) for split in held}
    return TrainingPoses({split: pack[split].rotvec for split in held}, path.name, fingerprint, people)


def rig_roles(rig: Rig) -> tuple[str, ...]:
    """Return the body roles a rig has, in the common order: the joints its network knows."""
    return tuple(role for role in BODY_ROLES if role in rig.roles)


def make_space(name: SpaceName, roles: tuple[str, ...], body: Array) -> RotationSpace:
    """Return the rotation space of a network for `roles` on a body (22, 3)."""
    parents = kept_parents(roles)
    return RotationSpace(name, parents, tpose_bone_frames(roles, parents, kept_offsets(body[None], roles)[0]))


def train_ikgat(
    poses: TrainingPoses,
    rig: Rig,
    out: Path,
    *,
    network_config: IkGatConfig | None = None,
    config: TrainConfig | None = None,
    space: SpaceName = "bone",
    start_from: Path | None = None,
    resume: bool = False,
    device: str | None = None,
    report: Callable[[CurveRow], None] | None = None,
) -> tuple[IkGat, RunState]:
    """Train IK-GAT for a rig and return it with its best weights; `out` receives the run (see `mimik.learn.train`).

    `start_from` is another run's `best.pt`, from which joints are taken over by role. Raises FileError and OptionError
    for runs and options that do not fit.
    """
    place = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    config = config or TrainConfig()
    torch.manual_seed(config.seed)
    body, roles = rig_body(rig), rig_roles(rig)
    shape = replace(network_config or IkGatConfig(), names=roles, parents=tuple(kept_parents(roles)))
    network = IkGat(shape) if start_from is None else remap_joints(load_ikgat(start_from)[0], shape)
    data = {split: PoseData(poses.rotvecs[split], body[None], place, roles=roles) for split in ("train", "val")}
    costs = count_costs(network)
    describe = {
        "name": "ikgat",
        "network": asdict(shape),
        "space": space,
        "body": body.tolist(),
        "rig": rig.name,
        "data": {"source": poses.source, "hash": poses.fingerprint, "frames": {s: len(d) for s, d in data.items()}},
        "parameters": costs.parameters,
        "multiply_adds": costs.multiply_adds,
        "train": asdict(config),
    }
    frames = make_space(space, roles, body)
    state = train(
        network, frames, data["train"], data["val"], config, out, describe=describe, resume=resume, report=report
    )
    return network, state


def load_ikgat(path: Path) -> tuple[IkGat, dict[str, Any]]:
    """Return the network of a run's `best.pt`, ready to predict, and what the run says of itself."""
    saved = load_checkpoint(path)
    describe: dict[str, Any] = saved["describe"]
    fields = describe["network"]
    if describe.get("name") != "ikgat":
        raise OptionError(f"{path} holds a {describe.get('name')!r} network, not 'ikgat'")
    network = IkGat(IkGatConfig(**{**fields, "names": tuple(fields["names"]), "parents": tuple(fields["parents"])}))
    network.load_state_dict(saved["network"])
    return network.eval(), describe


def main(arguments: list[str] | None = None) -> None:
    """Train from the command line, for machines without the `mimik` command."""
    usual, shape = TrainConfig(), IkGatConfig()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="motion store (folder) or pack (file)")
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder of the run")
    parser.add_argument("--rig", choices=BUILTIN_RIGS, default="humanoid")
    parser.add_argument("--from", dest="start_from", type=Path, help="best.pt of a run to start from")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--space", choices=("bone", "world", "local"), default="bone")
    parser.add_argument("--steps", type=int, default=usual.steps)
    parser.add_argument("--minutes", type=float, help="stop after this time; --resume goes on")
    parser.add_argument("--finish-minutes", type=float, help="end the schedule by the clock")
    parser.add_argument("--batch", type=int, default=usual.batch)
    parser.add_argument("--lr", type=float, default=usual.learning_rate)
    parser.add_argument("--validate-every", type=int, default=usual.validate_every)
    parser.add_argument("--dropout", type=float, default=shape.dropout)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-graph", action="store_true", help="do not capture the step as a CUDA graph")
    given = parser.parse_args(arguments)
    config = TrainConfig(
        batch=given.batch, learning_rate=given.lr, steps=given.steps, minutes=given.minutes,
        finish_minutes=given.finish_minutes, seed=given.seed,
        validate_every=given.validate_every, cuda_graph=not given.no_graph,
    )  # fmt: skip
    train_ikgat(
        open_poses(given.data), builtin_rig(given.rig), given.out, config=config, space=given.space,
        network_config=IkGatConfig(dropout=given.dropout), start_from=given.start_from, resume=given.resume,
        report=print_row,
    )  # fmt: skip


def print_row(row: CurveRow) -> None:
    """Print one validation as a line."""
    print(
        f"step {row.step:7d}  loss {row.loss:.4f}  val {row.mpjae_deg:.3f} deg  {row.mpjpe_mm:.2f} mm"
        f"  lr {row.learning_rate:.1e}  {row.seconds:.0f} s",
        flush=True,
    )


if __name__ == "__main__":
    main()
