"""The default dense network: a residual MLP over geometric features that corrects base rotations."""

import torch
from torch import Tensor, nn

from mimik.solve.dense.layout import FEATURE_WIDTH, OUTPUT_WIDTH


class Block(nn.Module):
    """x + W2 act(W1 x), the second matrix starting at zero."""

    def __init__(self, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)
        self.drop = nn.Dropout(dropout)
        nn.init.zeros_(self.down.weight)
        nn.init.zeros_(self.down.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, width) to the same shape."""
        return x + self.down(self.drop(torch.relu(self.up(x))))


class DenseNetwork(nn.Module):
    """Features (B, FEATURE_WIDTH) to 6D corrections (B, 132); zero output leaves the geometry's rotations."""

    def __init__(self, width: int = 384, hidden: int = 512, blocks: int = 3, dropout: float = 0.0) -> None:
        super().__init__()
        self.shape = {"width": width, "hidden": hidden, "blocks": blocks}
        self.enter = nn.Linear(FEATURE_WIDTH, width)
        self.blocks = nn.ModuleList(Block(width, hidden, dropout) for _ in range(blocks))
        self.leave = nn.Linear(width, OUTPUT_WIDTH)
        nn.init.zeros_(self.leave.weight)
        nn.init.zeros_(self.leave.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map features (B, FEATURE_WIDTH) to corrections (B, OUTPUT_WIDTH)."""
        h = torch.relu(self.enter(x))
        for block in self.blocks:
            h = block(h)
        return self.leave(torch.relu(h))
