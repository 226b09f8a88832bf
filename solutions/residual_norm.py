"""Residual connections and normalisation: what lets layers be stacked.

Chapter 05. A layer adds to what it was given; a norm keeps each token's numbers at
the same size, before the layer (pre-norm) or after the sum (post-norm).
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn


def residual(x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
    """Add to the tokens what a layer makes of them.

    Shapes: x (..., d_model) -> (..., d_model). Its derivative is ``I + dF/dx``.
    Source: He et al. (2016), section 3.1.
    """
    return x + sublayer(x)


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Bring each token's numbers to mean 0 and variance 1, then stretch and shift.

    The variance is the biased one (divided by d_model); ``eps`` stands inside the
    root. Shapes: x (..., d_model), gain and bias (d_model,) -> (..., d_model).
    Source: Ba et al. (2016), equation 4.
    """
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(variance + eps) * gain + bias


def rms_norm(x: Tensor, gain: Tensor, eps: float = 1e-6) -> Tensor:
    """Bring each token's numbers to a mean square of 1; the mean is not taken away.

    Shapes: x (..., d_model), gain (d_model,) -> (..., d_model).
    Source: Zhang and Sennrich (2019), equation 4.
    """
    mean_square = x.pow(2).mean(dim=-1, keepdim=True)
    return x / torch.sqrt(mean_square + eps) * gain


class LayerNorm(nn.Module):
    """Normalise each token by itself, with a learned gain and bias.

    Shapes: x (..., d_model) -> (..., d_model). Gain begins at 1 and bias at 0.
    Source: Ba et al. (2016), section 3.
    """

    def __init__(self, d_model: int, eps: float = 1e-5):
        """Create ``gain`` and ``bias``, each of ``d_model`` numbers."""
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the last axis."""
        return layer_norm(x, self.gain, self.bias, self.eps)


class RMSNorm(nn.Module):
    """Divide each token by its root mean square, with a learned gain and no bias.

    Shapes: x (..., d_model) -> (..., d_model). Gain begins at 1.
    Source: Zhang and Sennrich (2019), section 4.
    """

    def __init__(self, d_model: int, eps: float = 1e-6):
        """Create ``gain`` of ``d_model`` numbers."""
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the last axis."""
        return rms_norm(x, self.gain, self.eps)


class Residual(nn.Module):
    """Wrap a sub-layer: dropout on what it adds, and a norm before it or after.

    Post-norm (``norm_first=False``) is ``norm(x + dropout(sublayer(x)))``, pre-norm
    is ``x + dropout(sublayer(norm(x)))``.
    Shapes: x (..., d_model) -> (..., d_model); ``options`` go to the sub-layer.
    Source: Vaswani et al. (2017), section 3.1; Xiong et al. (2020), table 1.
    """

    def __init__(
        self,
        d_model: int,
        sublayer: Callable[..., Tensor],
        norm_first: bool = False,
        dropout: float = 0.0,
    ):
        """Keep the sub-layer and create its norm."""
        super().__init__()
        self.sublayer, self.norm = sublayer, LayerNorm(d_model)
        self.norm_first, self.dropout = norm_first, nn.Dropout(dropout)

    def forward(self, x: Tensor, *inputs, **options) -> Tensor:
        """Add what the sub-layer makes of ``x``."""
        if self.norm_first:
            return x + self.dropout(self.sublayer(self.norm(x), *inputs, **options))
        return self.norm(x + self.dropout(self.sublayer(x, *inputs, **options)))


def residual_jacobian(W: Tensor) -> Tensor:
    """Give the derivative of ``x + x @ W`` by ``x``: the identity and the layer's own.

    Shapes: W (d_model, d_model) -> (d_model, d_model), entry (i, j) is the derivative
    of output i by input j.
    Source: He et al. (2016), "Identity mappings", equation 5.
    """
    return torch.eye(len(W), dtype=W.dtype, device=W.device) + W.T
