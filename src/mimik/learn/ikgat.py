"""IK-GAT: joint rotations from joint positions by graph attention on the skeleton.

Following "Amortized Inverse Kinematics via Graph Attention for Real-Time Human Avatar Animation" (2026). One layer, for
joint i with neighbours N(i) in the tree, itself included:

    e_ij  = LeakyReLU(a^T [W h_i || W h_j])            a per head, W shared by all joints
    h_i'  = LayerNorm(ELU(sum_j softmax_j(e_ij) W h_j + W_loc(mean of the kinematic neighbours of i - h_i)))

where the W_loc term stands in the later half of the layers, on end effectors and their parents. The rotations are read
from h + W_skip x by a linear head and Gram-Schmidt.

The size the paper gives, 374 thousand parameters, comes out when one W_loc serves both refined layers and each joint
has its own rows in the head. The 6.1 million multiply-adds it gives are those of everything but the refinement
(see `count_costs`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mimik.errors import OptionError, one_of
from mimik.rig.roles import BODY_PARENTS, BODY_ROLES

GraphName = Literal["both", "one", "full"]
NEGATIVE_SLOPE = 0.2
_MASKED = -1e9


@dataclass(frozen=True, slots=True)
class IkGatConfig:
    """The network's shape; the defaults are the paper's, every switch one of its ablations.

    `graph`: neighbours both ways along the tree, one way (from the parent), or all joints. `attention` False averages
    the neighbours instead.
    """

    names: tuple[str, ...] = BODY_ROLES
    parents: tuple[int, ...] = tuple(int(p) for p in BODY_PARENTS)
    width: int = 256
    layers: int = 4
    heads: int = 8
    dropout: float = 0.1
    graph: GraphName = "both"
    attention: bool = True
    embedding: bool = True
    shortcut: bool = True
    refinement: bool = True

    def __post_init__(self) -> None:
        if self.graph not in get_args(GraphName):
            raise OptionError(one_of("graph", self.graph, get_args(GraphName)))
        if self.width % self.heads:
            raise OptionError(f"width {self.width} is not a multiple of {self.heads} heads")


class GraphAttention(nn.Module):
    """Multi-head attention over the neighbours in a fixed graph, all heads and joints in one product."""

    bias_mask: Tensor
    mean: Tensor

    def __init__(self, width: int, heads: int, adjacency: Tensor, *, attention: bool) -> None:
        """`adjacency` (J, J) bool: row i holds what joint i listens to, itself included."""
        super().__init__()
        self.heads, self.attention = heads, attention
        self.weight = nn.Linear(width, width, bias=False)
        self.bias = nn.Parameter(torch.zeros(width))
        if attention:
            self.score = nn.Parameter(torch.empty(2, heads, width // heads))  # a, for the listener and for the source
            nn.init.xavier_uniform_(self.score)
        nn.init.xavier_uniform_(self.weight.weight)
        self.register_buffer("bias_mask", torch.where(adjacency, 0.0, _MASKED), persistent=False)
        self.register_buffer("mean", adjacency.float() / adjacency.sum(1, keepdim=True), persistent=False)

    def forward(self, h: Tensor) -> Tensor:
        """Return (B, J, F) from (B, J, F)."""
        wh = self.weight(h).unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (B, H, J, F/H)
        weights = self.mean
        if self.attention:
            listener = (wh * self.score[0][:, None]).sum(-1)  # (B, H, J)
            source = (wh * self.score[1][:, None]).sum(-1)
            e = F.leaky_relu(listener[..., :, None] + source[..., None, :], NEGATIVE_SLOPE)
            weights = torch.softmax(e + self.bias_mask, dim=-1)  # (B, H, J, J)
        return (weights @ wh).transpose(1, 2).flatten(2) + self.bias


class IkGat(nn.Module):
    """Root-space positions (B, J, 3) in metres to 6D rotations (B, J, 6)."""

    gather: Tensor
    scatter: Tensor

    def __init__(self, config: IkGatConfig | None = None) -> None:
        super().__init__()
        self.config = c = config or IkGatConfig()
        joints, width = len(c.names), c.width
        adjacency = graph_adjacency(c.parents, c.graph)
        self.project = nn.Linear(3, width)
        self.embedding = nn.Parameter(torch.randn(joints, width) * 0.02) if c.embedding else None
        self.attend = nn.ModuleList(
            GraphAttention(width, c.heads, adjacency, attention=c.attention) for _ in range(c.layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(c.layers))
        self.local = nn.Linear(width, width, bias=False) if c.refinement else None
        self.skip = nn.Linear(3, width, bias=False) if c.shortcut else None
        self.head = nn.Parameter(torch.randn(joints, width, 6) / math.sqrt(width))
        self.head_bias = nn.Parameter(torch.tensor([1.0, 0.0, 0.0, 0.0, 1.0, 0.0]).repeat(joints, 1))
        self.dropout = nn.Dropout(c.dropout)
        gather, scatter = refinement_matrices(c.parents)
        self.register_buffer("gather", gather, persistent=False)
        self.register_buffer("scatter", scatter, persistent=False)

    def forward(self, positions: Tensor) -> Tensor:
        """Return 6D rotations (B, J, 6) of root-space joint positions (B, J, 3), metres."""
        h = self.project(positions)  # (B, J, F)
        if self.embedding is not None:
            h = h + self.embedding
        for index, (attend, norm) in enumerate(zip(self.attend, self.norms)):
            message = attend(h)
            if self.local is not None and 2 * index >= len(self.attend):
                message = message + self.scatter @ self.local(self.gather @ h)
            h = self.dropout(norm(F.elu(message)))
        if self.skip is not None:
            h = h + self.skip(positions)
        return (h.transpose(0, 1) @ self.head).transpose(0, 1) + self.head_bias


def graph_adjacency(parents: Sequence[int], graph: GraphName) -> Tensor:
    """Return (J, J) bool with self-loops: row i is true where joint i hears joint j."""
    adjacency = torch.eye(len(parents), dtype=torch.bool)
    if graph == "full":
        return torch.ones_like(adjacency)
    for j, parent in enumerate(parents):
        if parent >= 0:
            adjacency[j, parent] = True
            adjacency[parent, j] |= graph == "both"
    return adjacency


def refined_joints(parents: Sequence[int]) -> list[int]:
    """Return end effectors (joints without children) and their parents, sorted."""
    ends = [j for j in range(len(parents)) if j not in parents]
    return sorted({*ends, *(parents[j] for j in ends if parents[j] >= 0)})


def refinement_matrices(parents: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return gather (R, J), which takes neighbours' mean minus own at refined joints, and scatter (J, R) back."""
    tree = graph_adjacency(parents, "both").float() - torch.eye(len(parents))
    joints = refined_joints(parents)
    mean = tree / tree.sum(1, keepdim=True).clamp(min=1.0)
    eye = torch.eye(len(parents))
    return (mean - eye)[joints], eye[:, joints]


@dataclass(frozen=True, slots=True)
class NetworkCosts:
    """Parameters, and multiply-adds of one frame: all of them, and those of the distal refinement among them."""

    parameters: int
    multiply_adds: int
    refinement_multiply_adds: int

    @property
    def backbone_multiply_adds(self) -> int:
        """Multiply-adds without the refinement: the figure the paper gives."""
        return self.multiply_adds - self.refinement_multiply_adds


def count_costs(network: IkGat) -> NetworkCosts:
    """Count parameters and multiply-adds; attention is counted per edge of the graph, as in the formula."""
    c = network.config
    joints, width = len(c.names), c.width
    edges = int(graph_adjacency(c.parents, c.graph).sum())
    layer = joints * width * width + edges * width
    if c.attention:
        layer += edges * 2 * width
    ends = joints * (3 * width + 6 * width + (3 * width if c.shortcut else 0))
    refined = len(refined_joints(c.parents)) * width * width * (c.layers - (c.layers + 1) // 2) if c.refinement else 0
    parameters = sum(p.numel() for p in network.parameters())
    return NetworkCosts(parameters, c.layers * layer + ends + refined, refined)


def remap_joints(source: IkGat, config: IkGatConfig) -> IkGat:
    """Return a network for another joint list that starts from a trained one.

    A joint takes the embedding and the head of the joint with its name; others start from the mean of all (the paper's
    remap). Everything else is shared by all joints and copied.
    """
    target = IkGat(config)
    state = source.state_dict()
    known = {name: i for i, name in enumerate(source.config.names)}
    for key in ("embedding", "head", "head_bias"):
        if key in state:
            rows = state[key]
            state[key] = torch.stack([rows[known[n]] if n in known else rows.mean(0) for n in config.names])
    target.load_state_dict(state)
    return target
