"""The two networks IK-GAT is compared with, trained by the same loop on the same poses.

    python benchmarks/dense_baselines.py mlp --data STORE_OR_PACK -o RUN
    python benchmarks/dense_baselines.py transformer --data STORE_OR_PACK -o RUN --bf16

Both map root-space positions (B, 22, 3) to 6D rotations in bone-aligned world frames, as IK-GAT does. The MLP sees each
joint alone (its position and which joint it is); the transformer lets every joint see every other.
"""

import argparse
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor, nn

from mimik._types import Array
from mimik.errors import OptionError
from mimik.learn.data import PoseData, rig_body
from mimik.learn.geometry import sixd_to_rotation
from mimik.learn.spaces import RotationSpace
from mimik.learn.train import TrainConfig, load_checkpoint, train
from mimik.learn.train_ikgat import make_space, open_poses, print_row
from mimik.rig.builtin import builtin_rig
from mimik.rig.roles import BODY_ROLES

WIDTH = 256


class PerJointMlp(nn.Module):
    """Four hidden layers shared by the joints; nothing passes between joints. 273 thousand parameters."""

    def __init__(self, joints: int = len(BODY_ROLES), layers: int = 4, dropout: float = 0.1) -> None:
        super().__init__()
        self.project = nn.Linear(3, WIDTH)
        self.embedding = nn.Parameter(torch.randn(joints, WIDTH) * 0.02)
        blocks = [[nn.Linear(WIDTH, WIDTH), nn.ELU(), nn.LayerNorm(WIDTH), nn.Dropout(dropout)] for _ in range(layers)]
        self.layers = nn.Sequential(*(module for block in blocks for module in block))
        self.head = nn.Linear(WIDTH, 6)

    def forward(self, positions: Tensor) -> Tensor:
        """Return 6D rotations (B, J, 6) of root-space positions (B, J, 3)."""
        return self.head(self.layers(self.project(positions) + self.embedding))


class DenseTransformer(nn.Module):
    """Four standard encoder layers over the joints, 8 heads, four times wide inside. 3.2 million parameters."""

    def __init__(self, joints: int = len(BODY_ROLES), layers: int = 4, dropout: float = 0.1) -> None:
        super().__init__()
        self.project = nn.Linear(3, WIDTH)
        self.embedding = nn.Parameter(torch.randn(joints, WIDTH) * 0.02)
        layer = nn.TransformerEncoderLayer(
            WIDTH, 8, 4 * WIDTH, dropout, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, norm=nn.LayerNorm(WIDTH), enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, 6)

    def forward(self, positions: Tensor) -> Tensor:
        """Return 6D rotations (B, J, 6) of root-space positions (B, J, 3)."""
        return self.head(self.encoder(self.project(positions) + self.embedding))


BASELINES: dict[str, type[nn.Module]] = {"mlp": PerJointMlp, "transformer": DenseTransformer}


class Baseline:
    """A trained baseline: root-space positions in, role rotations out."""

    def __init__(self, path: Path) -> None:
        """Load a run's `best.pt`."""
        saved = load_checkpoint(path)
        self.describe = saved["describe"]
        if self.describe["name"] not in BASELINES:
            raise OptionError(f"{path} holds a {self.describe['name']!r} network, not one of {', '.join(BASELINES)}")
        self.network = BASELINES[self.describe["name"]]()
        self.network.load_state_dict(saved["network"])
        self.network.eval()
        self.space = humanoid_space()

    @torch.no_grad()
    def predict(self, positions: Array, *, batch: int = 4096) -> Array:
        """Return D_world rotation matrices (T, 22, 3, 3) of role positions (T, 22, 3), metres."""
        roots = torch.as_tensor(positions - positions[:, :1], dtype=torch.float32)
        parts = [self.space.decode(sixd_to_rotation(self.network(part))) for part in roots.split(batch)]
        rotations: Array = torch.cat(parts).double().numpy()
        return rotations


def humanoid_space() -> RotationSpace:
    """Return bone-aligned frames of the rig all networks of the comparison are trained on."""
    return make_space("bone", BODY_ROLES, rig_body(builtin_rig("humanoid")))


def main() -> None:
    """Train one baseline."""
    usual = TrainConfig()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=BASELINES)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=usual.steps)
    parser.add_argument("--minutes", type=float, help="stop after this time; --resume goes on")
    parser.add_argument("--finish-minutes", type=float, help="end the schedule by the clock")
    parser.add_argument("--lr", type=float, default=usual.learning_rate)
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--no-graph", action="store_true")
    given = parser.parse_args()
    config = TrainConfig(
        steps=given.steps,
        minutes=given.minutes,
        finish_minutes=given.finish_minutes,
        learning_rate=given.lr,
        bf16=given.bf16,
        cuda_graph=not given.no_graph,
    )
    torch.manual_seed(config.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    poses, body = open_poses(given.data), rig_body(builtin_rig("humanoid"))
    train_data, val_data = (PoseData(poses.rotvecs[split], body[None], device) for split in ("train", "val"))
    network = BASELINES[given.network]()
    describe = {
        "name": given.network,
        "parameters": sum(p.numel() for p in network.parameters()),
        "data": {"source": poses.source, "hash": poses.fingerprint, "frames": len(train_data)},
        "train": asdict(config),
    }
    space = humanoid_space()
    train(
        network,
        space,
        train_data,
        val_data,
        config,
        given.out,
        describe=describe,
        resume=given.resume,
        report=print_row,
    )


if __name__ == "__main__":
    main()
