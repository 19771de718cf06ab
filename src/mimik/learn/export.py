"""Trained networks as ONNX, with the contract in the file's metadata.

    python -m mimik.learn.export RUN/best.pt -o ikgat.onnx --test STORE

`metadata_props` hold one JSON object under the key `mimik`: what goes in and out (names, shapes, units), roles, a hash
of the weights and of the training data, the commit, and the metrics given by who exports.
"""

import argparse
import hashlib
import json
import subprocess
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from torch import Tensor, nn

from mimik.errors import FileError, MimikError, OptionError
from mimik.io.files import atomic_write
from mimik.learn.card import write_card
from mimik.learn.data import PoseData
from mimik.learn.ikgat_fused import FusedIkGat
from mimik.learn.losses import measure
from mimik.learn.train_ikgat import load_ikgat, make_space, open_poses

OPSET = 18
KEY = "mimik"


@dataclass(frozen=True, slots=True)
class Contract:
    """What a network takes and gives. Inputs and outputs map names to a sentence with shape, unit and frame."""

    name: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    roles: tuple[str, ...]
    data: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)


def export_onnx(
    network: nn.Module, examples: Mapping[str, Tensor], outputs: tuple[str, ...], path: Path, contract: Contract
) -> None:
    """Write `network` as one ONNX file with a dynamic batch, checked against PyTorch on `examples`.

    `examples` are named inputs whose first axis is the batch, at least 2 long. Raises MimikError when the exported file
    does not answer as the network does.
    """
    network.eval()
    batch = torch.export.Dim("batch", min=1, max=1 << 20)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = Path(folder) / "network.onnx"
        torch.onnx.export(
            network, tuple(examples.values()), plain, input_names=list(examples), output_names=list(outputs),
            opset_version=OPSET, dynamo=True, dynamic_shapes=tuple({0: batch} for _ in examples), external_data=False,
            optimize=True, verbose=False,
        )  # fmt: skip
        model = onnx.load(plain)
    for node in model.graph.node:  # where each node came from: larger than the weights, and paths of this machine
        node.ClearField("metadata_props")
        node.ClearField("doc_string")
    del model.graph.value_info[:]
    text = json.dumps({**asdict(contract), "weights": weights_hash(model), "commit": commit()}, default=str)
    del model.metadata_props[:]
    entry = model.metadata_props.add()
    entry.key, entry.value = KEY, text
    onnx.checker.check_model(model)
    difference = compare(network, model.SerializeToString(), examples)
    if difference > 1e-4:
        raise MimikError(f"the exported network differs from PyTorch by {difference:.2g}; it was not written")
    with atomic_write(path) as partial:
        onnx.save(model, partial)


@torch.no_grad()
def compare(network: nn.Module, model: bytes | str, examples: Mapping[str, Tensor]) -> float:
    """Return the largest difference between PyTorch's and ONNX Runtime's answers, for the batch and its first row."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    worst = 0.0
    for rows in (slice(None), slice(0, 1)):
        feed = {name: values[rows] for name, values in examples.items()}
        ours = network(*feed.values())
        theirs = session.run(None, {name: values.numpy() for name, values in feed.items()})
        for a, b in zip(ours if isinstance(ours, tuple) else (ours,), theirs):
            worst = max(worst, float(np.abs(a.numpy() - b).max()))
    return worst


def weights_hash(model: onnx.ModelProto) -> str:
    """Return a SHA-256 over all constants of a model, by name."""
    digest = hashlib.sha256()
    for tensor in sorted(model.graph.initializer, key=lambda t: t.name):
        digest.update(onnx.numpy_helper.to_array(tensor).tobytes())
    return digest.hexdigest()


def commit() -> str:
    """Return the commit of the source tree, "unknown" outside a repository."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def read_contract(path: Path) -> dict[str, Any]:
    """Return the contract of an exported file; raises MimikError when it has none."""
    for entry in onnx.load(path, load_external_data=False).metadata_props:
        if entry.key == KEY:
            contract: dict[str, Any] = json.loads(entry.value)
            return contract
    raise MimikError(f"{path} has no {KEY!r} entry in its metadata")


def replace_metrics(path: Path, metrics: Mapping[str, Any]) -> None:
    """Write other figures into the contract of an exported file, and leave all else as it is."""
    contract = {**read_contract(path), "metrics": metrics}
    model = onnx.load(path)
    next(entry for entry in model.metadata_props if entry.key == KEY).value = json.dumps(contract, default=str)
    with atomic_write(path) as partial:
        onnx.save(model, partial)


def export_ikgat(run: Path, path: Path, *, metrics: Mapping[str, Any] | None = None) -> None:
    """Export a run's `best.pt` as the network that `method="ikgat"` runs; raises OptionError for ablations of it."""
    network, describe = load_ikgat(run)
    if describe["space"] == "local":
        raise OptionError("networks that predict local rotations are not exported")
    roles = network.config.names
    space = make_space(describe["space"], roles, np.array(describe["body"]))
    contract = Contract(
        name="ikgat",
        inputs={"positions": "(batch, roles, 3) joint positions, metres, Y up, anywhere in the world"},
        outputs={
            "sixd": "(batch, roles, 6) first two columns of R before Gram-Schmidt; D_world = R tpose_frames[role]^T is "
            "the rotation of a role from the canonical T-pose, in world axes"
        },
        roles=roles,
        data=describe["data"],
        metrics=metrics or {},
        details={
            "tpose_frames": space.encode(torch.eye(3).expand(len(roles), 3, 3)).tolist(),
            **{key: describe[key] for key in ("space", "rig", "parameters", "multiply_adds", "train", "network")},
        },
    )
    examples = torch.randn(5, len(roles), 3, generator=torch.Generator().manual_seed(0))
    export_onnx(FusedIkGat(network), {"positions": examples}, ("sixd",), path, contract)


def figures_on_test(run: Path, poses: Path) -> dict[str, Any]:
    """Measure a run's best weights on the test split of a store or pack, on the rig it was trained for."""
    network, describe = load_ikgat(run)
    roles, body = network.config.names, np.array(describe["body"])
    rotvecs = open_poses(poses, splits=("test",)).rotvecs
    if "test" not in rotvecs:
        raise FileError(poses, "holds no test split")
    data = PoseData(rotvecs["test"], body[None], torch.device("cpu"), roles=roles)
    error = measure(network, data, make_space(describe["space"], roles, body))
    return {
        "test frames": len(data),
        "test MPJAE, degrees": error.mpjae_deg,
        "test MPJPE, mm": error.mpjpe_mm,
        "parameters": describe["parameters"],
        "multiply-adds": describe["multiply_adds"],
        "test MPJAE by joint, degrees": dict(zip(roles, error.per_joint_deg)),
    }


def main() -> None:
    """Export from the command line, with the model card beside the network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="best.pt of a run")
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--test", type=Path, help="store or pack whose test split gives the figures")
    given = parser.parse_args()
    export_ikgat(given.run, given.out, metrics=figures_on_test(given.run, given.test) if given.test else {})
    commands = (
        "mimik data import FOLDER -o STORE",
        "mimik train ikgat --data STORE -o RUN",
        f"python -m mimik.learn.export RUN/best.pt -o {given.out.name} --test STORE",
    )
    write_card(read_contract(given.out), given.out.with_suffix(".md"), commands=commands)


if __name__ == "__main__":
    main()
