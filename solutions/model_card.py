"""Reading a model card: from a few numbers to parameters, work, memory and time.

Chapter 15. A card is a :class:`~solutions.models.ModelConfig`; all that counts from a
card builds nothing. Two functions more are for real weights: whether they fit, and
which sentences they find.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from solutions.models import Model, ModelConfig


def norm_parameters(card: ModelConfig) -> int:
    """Count the numbers of one norm: LayerNorm has gains and biases, RMSNorm gains."""
    return card.d_model * (2 if card.norm == "layer" else 1)


def attention_parameters(card: ModelConfig) -> int:
    """Count the numbers of one attention: queries, keys, values and output."""
    queries, keys = (n * card.d_head for n in (card.num_heads, card.num_kv_heads))
    weights = card.d_model * (2 * queries + 2 * keys)
    return weights + card.qkv_bias * (queries + 2 * keys) + card.bias * card.d_model


def feed_forward_parameters(card: ModelConfig) -> int:
    """Count the numbers of one feed-forward layer; gated, it has three matrices."""
    if card.gated:
        return 3 * card.d_model * card.d_ff
    return 2 * card.d_model * card.d_ff + card.bias * (card.d_ff + card.d_model)


def layer_parameters(card: ModelConfig, cross: bool = False) -> int:
    """Count the numbers of one layer with its norms."""
    norms = (3 if cross else 2) * norm_parameters(card)
    attentions = (2 if cross else 1) * attention_parameters(card)
    return attentions + feed_forward_parameters(card) + norms


def embedding_parameters(card: ModelConfig) -> int:
    """Count the numbers of all tables: tokens, positions, segments, languages ..."""
    stacks = 2 if card.decoder_layers else 1
    rows = card.num_types + card.num_languages
    rows += card.max_len if card.positions == "learned" else 0
    inside = rows * card.d_model
    inside += card.num_buckets * card.num_heads if card.positions == "relative" else 0
    inside += norm_parameters(card) if card.embedding_norm else 0
    return card.vocab_size * card.d_model + stacks * inside


def head_parameters(card: ModelConfig) -> int:
    """Count the numbers of the head beyond the tokens' own matrix."""
    own = {"tied": 0, "tied_bias": card.vocab_size}
    own["untied"] = card.vocab_size * card.d_model
    dense = card.d_model * (card.d_model + 1) + norm_parameters(card)
    own["transformed"] = card.vocab_size + dense
    return own[card.head]


def parameters(card: ModelConfig) -> dict[str, int]:
    """Say where the parameters of a model are, part by part, and how many in all."""
    layers, cross = card.num_layers, card.decoder_layers
    attention = (layers + 2 * cross) * attention_parameters(card)
    feed_forward = (layers + cross) * feed_forward_parameters(card)
    stacks = 2 if cross else 1
    norms = (2 * layers + 3 * cross + card.norm_first * stacks) * norm_parameters(card)
    parts = {
        "embeddings": embedding_parameters(card),
        "attention": attention,
        "feed-forward": feed_forward,
        "norms": norms,
        "head": head_parameters(card),
    }
    return parts | {"all": sum(parts.values())}


def counted_parameters(card: ModelConfig) -> int:
    """Build a model without memory for its numbers, and count them."""
    with torch.device("meta"):
        model = Model(card)
    return sum(parameter.numel() for parameter in model.parameters())


def multiplied_weights(card: ModelConfig) -> int:
    """Count the weights that one token is multiplied by on its way through the model.

    All matrices of the layers, and the head's. The tables at the entrance are looked
    up, not multiplied. Of an encoder–decoder: for one token read and one written.
    """
    layers, cross = card.num_layers, card.decoder_layers
    each = 2 * card.num_heads * card.d_head + 2 * card.num_kv_heads * card.d_head
    weights = (layers + 2 * cross) * card.d_model * each
    weights += (layers + cross) * (3 if card.gated else 2) * card.d_model * card.d_ff
    dense = card.d_model if card.head == "transformed" else 0
    return weights + card.d_model * (card.vocab_size + dense)


def flops_per_token(card: ModelConfig, context: int) -> int:
    """Count the multiplications and additions for one token that sees ``context``.

    Two for each weight that it is multiplied by, and two for each number of each key
    and value that it looks at. Sparse attention looks at less.
    Source: Kaplan et al. (2020), section 2.1.
    """
    attentions = card.num_layers + 2 * card.decoder_layers
    looks = attentions * 2 * card.num_heads * card.d_head * context
    return 2 * (multiplied_weights(card) + looks)


def training_flops(num_parameters: int, num_tokens: int) -> int:
    """Estimate the work of a training: six operations for each parameter and token.

    Two forward, four backward. Source: Kaplan et al. (2020), section 2.1.
    """
    return 6 * num_parameters * num_tokens


def cache_bytes(card: ModelConfig, num_tokens: int, bytes_each: int = 2) -> int:
    """Count the bytes of the keys and values of ``num_tokens`` tokens of one text.

    Source: Shazeer (2019), section 2.4.1.
    """
    layers = card.decoder_layers or card.num_layers
    return 2 * layers * card.num_kv_heads * card.d_head * num_tokens * bytes_each


def seconds_for_token(
    card: ModelConfig,
    context: int,
    bytes_per_second: float,
    flops_per_second: float,
    bytes_each: int = 2,
    batch: int = 1,
) -> dict[str, float]:
    """Bound the time of a step from below: by what is read, and by what is computed.

    In a step each of ``batch`` texts gets one token. The weights are read once for
    all, the cache of each text by itself. The larger of the two bounds holds.
    Source: Williams et al. (2009), the roofline model.
    """
    read = multiplied_weights(card) * bytes_each
    read += batch * cache_bytes(card, context, bytes_each)
    times = {
        "reading": read / bytes_per_second,
        "computing": batch * flops_per_token(card, context) / flops_per_second,
    }
    return times | {"at least": max(times.values())}


def misfits(tensors: dict[str, Tensor], own: dict[str, Tensor]) -> dict[str, list[str]]:
    """Say which tensors of a checkpoint do not fit a model's own, by name and shape.

    Gives the sorted names that are "missing" in the checkpoint, "left over" in it, and
    in both but "of another shape".
    """
    both = tensors.keys() & own.keys()
    return {
        "missing": sorted(own.keys() - both),
        "left over": sorted(tensors.keys() - both),
        "of another shape": sorted(
            name for name in both if tensors[name].shape != own[name].shape
        ),
    }


def nearest(question: Tensor, sentences: Tensor, count: int) -> list[tuple[int, float]]:
    """Find the ``count`` sentences that point most nearly where a question points.

    Gives the place and the cosine of each, the nearest first; all of them if there are
    fewer. Shapes: question (d_model,), sentences (num, d_model).
    """
    cosines = F.cosine_similarity(question[None], sentences, dim=-1)
    best = cosines.topk(min(count, len(cosines)))
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))
