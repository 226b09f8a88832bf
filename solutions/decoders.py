"""How decoder models begin, and how they are told what to do.

Chapter 12: GPT, GPT-2, CTRL and GPT-3.
"""

import torch
from torch import Tensor

from solutions.models import Model


@torch.no_grad()
def calm_start(model: Model, generator: torch.Generator, std: float = 0.02) -> None:
    """Begin as GPT-2 does: small weights, smaller ones where a residual is written.

    All matrices are drawn with ``std``; those that write into the residual stream are
    divided by ``sqrt(2 * layers)``, since so many of them add up. Biases are zero.
    Source: Radford et al. (2019), section 2.3.
    """
    writers = ("W_o.weight", "W_2.weight", "W_down.weight")
    layers = len(model.stack.blocks)
    for name, parameter in model.named_parameters():
        if parameter.ndim == 2:
            size = std / (2 * layers) ** 0.5 if name.endswith(writers) else std
            drawn = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(drawn * size)
        elif name.endswith("bias"):
            parameter.zero_()


def alternating_windows(num_layers: int, window: int) -> tuple[int, ...]:
    """Let layers look at everything and at the last few tokens by turns; 0 is all.

    Source: Brown et al. (2020), section 2.1, after Child et al. (2019).
    """
    return tuple(window if layer % 2 else 0 for layer in range(num_layers))


def with_control_code(tokens: Tensor, code: int) -> Tensor:
    """Begin every text with the token that says what kind of text it is.

    Shapes: tokens (batch, seq) of ids -> (batch, seq + 1).
    Source: Keskar et al. (2019), section 3.
    """
    first = torch.full_like(tokens[:, :1], code)
    return torch.cat([first, tokens], dim=1)


def few_shot_prompt(
    examples: list[tuple[str, str]], question: str, arrow: str = " => "
) -> str:
    """Write worked examples above a question, one a line; the last answer is missing.

    Source: Brown et al. (2020), figure 2.1.
    """
    lines = [f"{asked}{arrow}{answer}" for asked, answer in examples]
    return "\n".join([*lines, f"{question}{arrow}".rstrip()])


def last_real(x: Tensor, real: Tensor) -> Tensor:
    """Give the vector of the last real token: it alone has seen the whole text.

    Shapes: x (batch, seq, d_model), real (batch, seq) -> (batch, d_model).
    Source: Radford et al. (2018), section 3.2.
    """
    places = torch.arange(real.shape[1], device=x.device)
    last = torch.where(real, places, -1).argmax(dim=-1)
    return x[torch.arange(len(x), device=x.device), last]
