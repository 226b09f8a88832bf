"""How encoder models learn: hiding tokens, judging pairs, imitating a teacher.

Chapter 11: BERT, RoBERTa, DistilBERT and XLM.
"""

import itertools
import re

import torch
import torch.nn.functional as F
from torch import Tensor


def choose_tokens(
    tokens: Tensor, special: Tensor, rate: float, generator: torch.Generator
) -> Tensor:
    """Choose the tokens that a model must guess: a share of those that are real words.

    Shapes: tokens (batch, seq) of ids, special (num_special,) of ids that are never
    chosen -> (batch, seq) of booleans.
    Source: Devlin et al. (2019), section 3.1, with a rate of 0.15.
    """
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    return (drawn < rate) & ~torch.isin(tokens, special)


def mask_tokens(
    tokens: Tensor,
    chosen: Tensor,
    mask_id: int,
    vocab_size: int,
    generator: torch.Generator,
) -> Tensor:
    """Hide the chosen tokens: eight of ten behind a mask, one of ten behind another.

    One of ten stays as it is, so that every token may be one that must be guessed.
    Shapes: tokens and chosen (batch, seq) -> (batch, seq) of ids.
    Source: Devlin et al. (2019), section 3.1 and appendix A.1.
    """
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    others = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(chosen & (drawn < 0.8), mask_id, tokens)
    return torch.where(chosen & (drawn >= 0.9), others.to(tokens.device), hidden)


def masked_loss(logits: Tensor, tokens: Tensor, chosen: Tensor) -> Tensor:
    """Compare the guesses with the tokens, at the chosen places alone.

    Shapes: logits (batch, seq, vocab_size), tokens and chosen (batch, seq) -> ().
    Source: Devlin et al. (2019), section 3.1.
    """
    return F.cross_entropy(logits[chosen], tokens[chosen])


def pack_pair(
    first: list[int], second: list[int], begin_id: int, between_id: int
) -> tuple[list[int], list[int]]:
    """Put two sentences into one input: [CLS] first [SEP] second [SEP].

    Gives the tokens, and for each the number of its segment, 0 or 1.
    Source: Devlin et al. (2019), figure 2.
    """
    tokens = [begin_id, *first, between_id, *second, between_id]
    return tokens, [0] * (len(first) + 2) + [1] * (len(second) + 1)


def sentence_pairs(
    documents: list[list], generator: torch.Generator
) -> list[tuple[object, object, bool]]:
    """Pair every sentence with the one after it, or by even chance with a stranger.

    ``documents`` are lists of sentences; a stranger is from another document. Gives
    (first, second, whether it really follows).
    Source: Devlin et al. (2019), section 3.1, "next sentence prediction".
    """
    pairs = []
    for i, document in enumerate(documents):
        strangers = [s for j, d in enumerate(documents) if j != i for s in d]
        for first, second in itertools.pairwise(document):
            follows = torch.rand(1, generator=generator).item() < 0.5
            if not follows:
                place = torch.randint(len(strangers), (1,), generator=generator)
                second = strangers[place.item()]
            pairs.append((first, second, follows))
    return pairs


def first_vector(x: Tensor, matrix: Tensor, bias: Tensor) -> Tensor:
    """Make one vector for a whole input: that of its first token, through a layer.

    Shapes: x (batch, seq, d_model), matrix (d_model, d_model) as in ``x @ matrix``,
    bias (d_model,) -> (batch, d_model), between -1 and 1.
    Source: Devlin et al. (2019), section 3, and their published code, "pooler".
    """
    return torch.tanh(x[:, 0] @ matrix + bias)


def masks_over_time(
    tokens: Tensor,
    special: Tensor,
    rate: float,
    epochs: int,
    copies: int,
    generator: torch.Generator,
) -> Tensor:
    """Choose what to guess in each epoch: ``copies`` masks, used by turns.

    One copy is static masking; as many copies as epochs is dynamic masking.
    Shapes: tokens (batch, seq), special (num_special,) -> (epochs, batch, seq).
    Source: Liu et al. (2019), section 4.1.
    """
    masks = [choose_tokens(tokens, special, rate, generator) for _ in range(copies)]
    return torch.stack([masks[epoch % copies] for epoch in range(epochs)])


def positions_after_filling(tokens: Tensor, pad_id: int) -> Tensor:
    """Number the real tokens from ``pad_id + 1`` on; all filling has ``pad_id``.

    Shapes: tokens (batch, seq) of ids -> (batch, seq) of positions.
    Source: RoBERTa's published code (Liu et al., 2019).
    """
    real = (tokens != pad_id).long()
    return real.cumsum(dim=-1) * real + pad_id


def imitation_loss(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """Compare a student's probabilities with its teacher's, both softened.

    Times the square of the temperature, so that its gradient keeps its size.
    Shapes: student and teacher (..., vocab_size) of logits -> (), averaged over all
    axes but the last; no gradient reaches the teacher.
    Source: Hinton et al. (2015), section 2.
    """
    size = student.shape[-1]
    mine = torch.log_softmax(student / temperature, dim=-1).reshape(-1, size)
    theirs = torch.softmax(teacher.detach() / temperature, dim=-1).reshape(-1, size)
    return F.kl_div(mine, theirs, reduction="batchmean") * temperature**2


def direction_loss(student: Tensor, teacher: Tensor) -> Tensor:
    """Ask that a student's vectors point where its teacher's do.

    Shapes: both (..., d_model) -> (), one minus the cosine, averaged.
    Source: Sanh et al. (2019), section 2, "training loss".
    """
    return (1 - F.cosine_similarity(student, teacher.detach(), dim=-1)).mean()


def every_second_layer(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Give a student of half the depth the layers 0, 2, 4 ... of its teacher.

    ``weights`` are named as in ``state_dict()``; those of layer 4 begin with
    "stack.blocks.4." and become the student's layer 2. What belongs to no layer is
    kept. Raises ValueError when the depth is odd.
    Source: Sanh et al. (2019), section 3.
    """
    given, layers = {}, set()
    for name, weight in weights.items():
        found = re.match(r"(stack\.blocks\.)(\d+)(\..+)", name)
        if found:
            layer = int(found[2])
            layers.add(layer)
            if layer % 2:
                continue
            name = f"{found[1]}{layer // 2}{found[3]}"
        given[name] = weight.detach().clone()
    if len(layers) % 2:
        raise ValueError(f"{len(layers)} layers; expected an even number.")
    return given


def translation_pair(
    first: list[int], second: list[int], languages: tuple[int, int], end_id: int
) -> tuple[list[int], list[int], list[int]]:
    """Put a sentence and its translation side by side, so that each explains the other.

    Gives tokens, positions, and languages; the second's positions begin at 0 again.
    Each sentence stands between two ``end_id``.
    Source: Conneau and Lample (2019), section 3.4, "translation language modelling".
    """
    sides = [[end_id, *side, end_id] for side in (first, second)]
    positions = [place for side in sides for place in range(len(side))]
    spoken = [
        language for side, language in zip(sides, languages, strict=True) for _ in side
    ]
    return sides[0] + sides[1], positions, spoken


def sentence_vectors(x: Tensor, real: Tensor) -> Tensor:
    """Average the vectors of a sentence's real tokens, at length one.

    Shapes: x (batch, seq, d_model), real (batch, seq) -> (batch, d_model).
    Source: Reimers and Gurevych (2019), section 3, mean pooling.
    """
    weights = real[..., None].to(x.dtype)
    mean = (x * weights).sum(dim=1) / weights.sum(dim=1)
    return F.normalize(mean, dim=-1)
