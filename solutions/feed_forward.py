"""Feed-forward: what each token does by itself with what it has gathered.

Chapter 06. Attention mixes tokens and stays within the mixture; a small network,
the same for every position, is what makes something new of it.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn


def relu(x: Tensor) -> Tensor:
    """Keep positive numbers, and make the others zero.

    Shapes: any -> the same. Source: Nair and Hinton (2010).
    """
    return x.clamp(min=0)


def gelu(x: Tensor) -> Tensor:
    """Weight each number by the chance that a standard normal one is smaller.

    Shapes: any -> the same. Source: Hendrycks and Gimpel (2016), section 2; used by
    BERT.
    """
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def gelu_tanh(x: Tensor) -> Tensor:
    """Compute GELU by its approximation with tanh.

    Shapes: any -> the same. It differs from :func:`gelu` by up to 5e-4.
    Source: Hendrycks and Gimpel (2016), section 2; used by GPT-2.
    """
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3))
    return x * 0.5 * (1 + torch.tanh(inner))


def swish(x: Tensor) -> Tensor:
    """Weight each number by its own sigmoid; PyTorch calls it SiLU.

    Shapes: any -> the same. Source: Ramachandran et al. (2017), with beta = 1.
    """
    return x * torch.sigmoid(x)


class FeedForward(nn.Module):
    """Widen each token's vector, bend it, and narrow it again.

    ``W_1`` and ``W_2`` are linear layers with bias; ``d_ff`` is 4 d_model if not given.
    Shapes: x (..., d_model) -> (..., d_model); no position sees another.
    Source: Vaswani et al. (2017), section 3.3.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int | None = None,
        activation: Callable[[Tensor], Tensor] = relu,
    ):
        """Create the two layers, and keep the activation between them."""
        super().__init__()
        d_ff = d_ff or 4 * d_model
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        """Apply the same network to every position."""
        return self.W_2(self.activation(self.W_1(x)))


class SwiGLU(nn.Module):
    """Let one half of the widened vector decide how much of the other half passes.

    ``W_gate, W_up`` (d_model to d_ff) and ``W_down`` (back) have no bias.
    Shapes: x (..., d_model) -> (..., d_model).
    Source: Shazeer (2020), equation 6.
    """

    def __init__(self, d_model: int, d_ff: int):
        """Create the three projections."""
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the same network to every position."""
        return self.W_down(swish(self.W_gate(x)) * self.W_up(x))


def read_memory(x: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Read a memory of patterns: each key that fires adds its value, as ReLU allows.

    A feed-forward layer without biases is this, with ``W_1`` the keys and ``W_2`` the
    values. Shapes: x (..., d_model), keys (d_ff, d_model), values (d_ff, d_model)
    -> (..., d_model).
    Source: Geva et al. (2021), section 2.
    """
    return relu(x @ keys.T) @ values


def firing_rows(x: Tensor, keys: Tensor, count: int) -> Tensor:
    """Find the rows of the memory that fire most for a pattern, the strongest first.

    Shapes: x (..., d_model), keys (d_ff, d_model) -> (..., count) of integers.
    Source: Geva et al. (2021), section 3.
    """
    return relu(x @ keys.T).topk(count, dim=-1).indices
