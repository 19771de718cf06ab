"""IK-GAT for running: the same function with every product of constants taken beforehand.

Equal to `IkGat` in exact arithmetic, and by test within 1e-5:

- the score vectors a become two more columns per head of W, so that a layer has one large product and one transpose
- the attention's bias moves into the values, where layer one has it for nothing: attention weights add up to one
- projection, embedding and the first W become one affine map of the positions
- W_skip times the head becomes three more columns of the head
- LayerNorm takes no notice of a shift, so ELU(x) + 1 = min(exp(x), max(x, 0) + 1) serves for ELU: three fast operations
  for a slow one
- the pelvis is subtracted inside the network, by a product with a constant matrix
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mimik.errors import OptionError
from mimik.learn.ikgat import NEGATIVE_SLOPE, GraphAttention, IkGat


class FusedIkGat(nn.Module):
    """Positions (B, J, 3) in metres, anywhere in the world, to 6D rotations (B, J, 6)."""

    def __init__(self, network: IkGat) -> None:
        """Fold a trained network; raises OptionError for one without attention, embedding or shortcut."""
        super().__init__()
        c = network.config
        if not c.attention or network.embedding is None or network.skip is None:
            raise OptionError("only networks with attention, embedding and shortcut are exported")
        self.network, self.heads = network, c.heads
        with torch.no_grad():
            widened = [_with_scores(layer) for layer in network.attend]
            self.first_weight = nn.Parameter(network.project.weight.T @ widened[0])  # (3, H (F/H + 2))
            start = (network.project.bias + network.embedding) @ widened[0]
            self.first_bias = nn.Parameter(start + _value_bias(network.attend[0]))  # (J, H (F/H + 2))
            self.weights = nn.ParameterList(nn.Parameter(w) for w in widened[1:])
            skip = network.skip.weight.T @ network.head  # (J, 3, 6)
            head = torch.cat([network.head, skip], dim=1)  # (J, F + 3, 6)
            self.head = nn.Parameter(head.transpose(1, 2).contiguous())
            self.to_root = nn.Parameter(torch.eye(len(c.names)))
            self.to_root[:, 0] -= 1.0

    def forward(self, positions: Tensor) -> Tensor:
        """Return 6D rotations."""
        x = self.to_root @ positions
        net = self.network
        h = x
        for index, (attend, norm) in enumerate(zip(net.attend, net.norms)):
            if index == 0:
                message = self._attention(x @ self.first_weight + self.first_bias, attend)
            else:
                message = self._attention(h @ self.weights[index - 1], attend) + attend.bias
            if net.local is not None and 2 * index >= len(net.attend):
                message = message + net.scatter @ net.local(net.gather @ h)
            h = norm(torch.minimum(torch.exp(message), F.relu(message) + 1.0))
        sixd = self.head @ torch.cat([h, x], dim=2)[..., None]  # (B, J, 6, 1)
        return sixd[..., 0] + net.head_bias

    def _attention(self, wide: Tensor, attend: GraphAttention) -> Tensor:
        by_head = wide.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (B, H, J, F/H + 2)
        values, listener, source = by_head.split([by_head.shape[-1] - 2, 1, 1], dim=-1)
        e = F.leaky_relu(listener + source.squeeze(3).unsqueeze(2), NEGATIVE_SLOPE)
        weights = torch.softmax(e + attend.bias_mask, dim=-1)
        return (weights @ values).transpose(1, 2).flatten(2)


def _with_scores(layer: GraphAttention) -> Tensor:
    """Return W^T (F, H (F/H + 2)): each head's columns, followed by those of its listener's and source's scores."""
    by_head = layer.weight.weight.detach().T.unflatten(1, (layer.heads, -1))  # (F, H, F/H)
    scores = torch.einsum("fhd,khd->fhk", by_head, layer.score.detach())  # (F, H, 2)
    return torch.cat([by_head, scores], dim=2).flatten(1)


def _value_bias(layer: GraphAttention) -> Tensor:
    """Return the bias laid out as `_with_scores` lays out columns, zero for the scores."""
    return nn.functional.pad(layer.bias.detach().unflatten(0, (layer.heads, -1)), (0, 2)).flatten()
