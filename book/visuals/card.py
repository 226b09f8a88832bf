"""The model card: a reader picks a model or types its sizes, and sees what follows."""

from collections.abc import Mapping

from book.visuals.elements import Element, plain_table
from solutions.model_card import cache_bytes, flops_per_token, parameters
from solutions.models import ModelConfig

#: What the counting of ``card-arithmetic.js`` needs to know of a card.
FIELDS = (
    "vocab_size", "d_model", "num_layers", "decoder_layers", "num_heads",
    "num_kv_heads", "d_head", "d_ff", "gated", "qkv_bias", "bias", "norm",
    "norm_first", "embedding_norm", "positions", "max_len", "num_types",
    "num_languages", "num_buckets", "head",
)  # fmt: skip


def model_card(
    cards: Mapping[str, ModelConfig], caption: str, *, context: int = 2048
) -> Element:
    """Show where the parameters of a model are, its work and its cache, to be changed.

    ``cards`` maps the names to choose from to their configurations; the first one is
    shown. ``context`` is the number of tokens that a token sees at first.
    Raises ValueError when there is no card.
    """
    if not cards:
        raise ValueError("cards is empty; expected at least one, by its name.")
    told = [
        {"name": name} | {field: getattr(card, field) for field in FIELDS}
        for name, card in cards.items()
    ]
    data = {"caption": caption, "context": context, "cards": told}
    heads = ["model", "parameters", f"FLOPs for a token of {context}", "cache bytes"]
    rows = (
        [
            name,
            f"{parameters(card)['all']:,}",
            f"{flops_per_token(card, context):,}",
            f"{cache_bytes(card, 1):,}",
        ]
        for name, card in cards.items()
    )
    return Element("model-card", data, plain_table(caption, heads, rows))
