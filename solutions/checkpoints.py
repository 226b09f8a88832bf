"""Weights from elsewhere: names translated, shapes checked, nothing left over.

Chapters 11 to 15. Only safetensors files are read: they hold numbers and no code.
"""

import re

import torch
from torch import Tensor, nn

Rules = list[tuple[str, str]]

NORMS = [(r"(norm)\.weight$", r"\1.gain")]
_BERT_LAYER = [
    (r"^(?:\w+\.)?encoder\.layer\.(\d+)\.", r"stack.blocks.\1."),
    (r"attention\.self\.query", "attention.sublayer.W_q"),
    (r"attention\.self\.key", "attention.sublayer.W_k"),
    (r"attention\.self\.value", "attention.sublayer.W_v"),
    (r"attention\.output\.dense", "attention.sublayer.W_o"),
    (r"attention\.output\.LayerNorm", "attention.norm"),
    (r"intermediate\.dense", "feed_forward.sublayer.W_1"),
    (r"output\.dense", "feed_forward.sublayer.W_2"),
    (r"output\.LayerNorm", "feed_forward.norm"),
]
_BERT_EMBEDDINGS = [
    (r"^(?:\w+\.)?embeddings\.word_embeddings", "tokens"),
    (r"^(?:\w+\.)?embeddings\.position_embeddings", "stack.embeddings.positions"),
    (r"^(?:\w+\.)?embeddings\.token_type_embeddings", "stack.embeddings.types"),
    (r"^(?:\w+\.)?embeddings\.LayerNorm", "stack.embeddings.norm"),
]
_BERT_HEAD = [
    (r"^cls\.predictions\.transform\.dense", "head.dense"),
    (r"^cls\.predictions\.transform\.LayerNorm", "head.norm"),
    (r"^cls\.predictions\.bias", "head.bias"),
    (r"^lm_head\.dense", "head.dense"),
    (r"^lm_head\.layer_norm", "head.norm"),
    (r"^lm_head\.bias", "head.bias"),
]
_DISTILBERT = [
    *_BERT_EMBEDDINGS,
    (r"^(?:\w+\.)?transformer\.layer\.(\d+)\.", r"stack.blocks.\1."),
    (r"attention\.(q|k|v)_lin", r"attention.sublayer.W_\1"),
    (r"attention\.out_lin", "attention.sublayer.W_o"),
    (r"sa_layer_norm", "attention.norm"),
    (r"ffn\.lin(1|2)", r"feed_forward.sublayer.W_\1"),
    (r"output_layer_norm", "feed_forward.norm"),
    (r"^vocab_transform", "head.dense"),
    (r"^vocab_layer_norm", "head.norm"),
    (r"^vocab_projector\.bias", "head.bias"),
]
_XLM = [
    (r"^(?:transformer\.)?embeddings\.", "tokens."),
    (r"^(?:transformer\.)?position_embeddings", "stack.embeddings.positions"),
    (r"^(?:transformer\.)?lang_embeddings", "stack.embeddings.languages"),
    (r"^(?:transformer\.)?layer_norm_emb", "stack.embeddings.norm"),
    (r"^(?:transformer\.)?attentions\.(\d+)\.(q|k|v)_lin",
     r"stack.blocks.\1.attention.sublayer.W_\2"),
    (r"^(?:transformer\.)?attentions\.(\d+)\.out_lin",
     r"stack.blocks.\1.attention.sublayer.W_o"),
    (r"^(?:transformer\.)?layer_norm1\.(\d+)", r"stack.blocks.\1.attention.norm"),
    (r"^(?:transformer\.)?ffns\.(\d+)\.lin(1|2)",
     r"stack.blocks.\1.feed_forward.sublayer.W_\2"),
    (r"^(?:transformer\.)?layer_norm2\.(\d+)", r"stack.blocks.\1.feed_forward.norm"),
    (r"^pred_layer\.proj\.bias", "head.bias"),
]  # fmt: skip
_GPT = [
    (r"^(?:transformer\.)?(?:wte|tokens_embed)", "tokens"),
    (r"^(?:transformer\.)?(?:wpe|positions_embed)", "stack.embeddings.positions"),
    (r"^(?:transformer\.)?h\.(\d+)\.", r"stack.blocks.\1."),
    (r"^(?:transformer\.)?ln_f", "stack.norm"),
    (r"\.ln_1", ".attention.norm"),
    (r"\.ln_2", ".feed_forward.norm"),
    (r"\.attn\.attention\.(q|k|v)_proj", r".attention.sublayer.W_\1"),
    (r"\.attn\.(q|k|v)$", r".attention.sublayer.W_\1"),
    (r"\.attn\.c_attn", ".attention.sublayer.W_qkv"),
    (r"\.attn\.(?:attention\.out_proj|c_proj)", ".attention.sublayer.W_o"),
    (r"\.mlp\.c_fc", ".feed_forward.sublayer.W_1"),
    (r"\.mlp\.c_proj", ".feed_forward.sublayer.W_2"),
]
_CTRL = [
    (r"^(?:transformer\.)?w\.", "tokens."),
    (r"^(?:transformer\.)?h\.(\d+)\.", r"stack.blocks.\1."),
    (r"^(?:transformer\.)?layernorm", "stack.norm"),
    (r"multi_head_attention\.W(q|k|v)", r"attention.sublayer.W_\1"),
    (r"multi_head_attention\.dense", "attention.sublayer.W_o"),
    (r"ffn\.0", "feed_forward.sublayer.W_1"),
    (r"ffn\.2", "feed_forward.sublayer.W_2"),
    (r"layernorm1", "attention.norm"),
    (r"layernorm2", "feed_forward.norm"),
    (r"^lm_head\.bias", "head.bias"),
]
_T5 = [
    (r"^shared", "tokens"),
    (r"^encoder\.block\.(\d+)\.", r"stack.blocks.\1."),
    (r"^decoder\.block\.(\d+)\.", r"decoder.blocks.\1."),
    (r"^encoder\.final_layer_norm", "stack.norm"),
    (r"^decoder\.final_layer_norm", "decoder.norm"),
    (r"^(stack|decoder)\.blocks\.0\.layer\.0\.SelfAttention\.relative_attention_bias",
     r"\1.relative.table"),
    (r"layer\.0\.SelfAttention\.(q|k|v|o)", r"attention.sublayer.W_\1"),
    (r"layer\.1\.EncDecAttention\.(q|k|v|o)", r"cross_attention.sublayer.W_\1"),
    (r"layer\.\d\.DenseReluDense\.wi_0", "feed_forward.sublayer.W_gate"),
    (r"layer\.\d\.DenseReluDense\.wi_1", "feed_forward.sublayer.W_up"),
    (r"layer\.\d\.DenseReluDense\.wi", "feed_forward.sublayer.W_1"),
    (r"layer\.\d\.DenseReluDense\.wo", "feed_forward.sublayer.W_2"),
    (r"layer\.0\.layer_norm", "attention.norm"),
    (r"(stack\.blocks\.\d+)\.layer\.1\.layer_norm", r"\1.feed_forward.norm"),
    (r"(decoder\.blocks\.\d+)\.layer\.1\.layer_norm", r"\1.cross_attention.norm"),
    (r"layer\.2\.layer_norm", "feed_forward.norm"),
]  # fmt: skip
_BART = [
    (r"^(?:model\.)?shared", "tokens"),
    (r"^(?:model\.)?encoder\.layers\.(\d+)\.", r"stack.blocks.\1."),
    (r"^(?:model\.)?decoder\.layers\.(\d+)\.", r"decoder.blocks.\1."),
    (r"^(?:model\.)?encoder\.embed_positions", "stack.embeddings.positions"),
    (r"^(?:model\.)?decoder\.embed_positions", "decoder.embeddings.positions"),
    (r"^(?:model\.)?encoder\.layernorm_embedding", "stack.embeddings.norm"),
    (r"^(?:model\.)?decoder\.layernorm_embedding", "decoder.embeddings.norm"),
    (r"^(?:model\.)?encoder\.layer_norm", "stack.norm"),
    (r"^(?:model\.)?decoder\.layer_norm", "decoder.norm"),
    (r"self_attn\.(q|k|v)_proj", r"attention.sublayer.W_\1"),
    (r"self_attn\.out_proj", "attention.sublayer.W_o"),
    (r"self_attn_layer_norm", "attention.norm"),
    (r"encoder_attn\.(q|k|v)_proj", r"cross_attention.sublayer.W_\1"),
    (r"encoder_attn\.out_proj", "cross_attention.sublayer.W_o"),
    (r"encoder_attn_layer_norm", "cross_attention.norm"),
    (r"\.fc(1|2)", r".feed_forward.sublayer.W_\1"),
    (r"final_layer_norm", "feed_forward.norm"),
    (r"^final_logits_bias", "head.bias"),
]
_LLAMA = [
    (r"^(?:model\.)?embed_tokens", "tokens"),
    (r"^(?:model\.)?layers\.(\d+)\.", r"stack.blocks.\1."),
    (r"^(?:model\.)?norm\.weight", "stack.norm.weight"),
    (r"self_attn\.(q|k|v|o)_proj", r"attention.sublayer.W_\1"),
    (r"input_layernorm", "attention.norm"),
    (r"post_attention_layernorm", "feed_forward.norm"),
    (r"mlp\.(gate|up|down)_proj", r"feed_forward.sublayer.W_\1"),
    (r"^lm_head", "head"),
]

#: How each family names its weights, and which of its tensors are copies of others.
TABLES: dict[str, Rules] = {
    "bert": [*_BERT_EMBEDDINGS, *_BERT_LAYER, *_BERT_HEAD],
    "distilbert": _DISTILBERT,
    "xlm": _XLM,
    "gpt": _GPT,
    "gpt_neo": _GPT,
    "ctrl": _CTRL,
    "t5": _T5,
    "bart": _BART,
    "llama": _LLAMA,
}
COPIES = re.compile(
    r"(cls\.predictions\.decoder\.|lm_head\.decoder\.|vocab_projector\.weight"
    r"|pred_layer\.proj\.weight|embed_tokens\.weight|^lm_head\.weight"
    r"|position_ids|embed_positions\.weights|\.attn\.bias|attention\.bias$"
    r"|masked_bias|^pooler\.|\.pooler\.|^cls\.seq_relationship)"
)


def translate_names(
    tensors: dict[str, Tensor], family: str, model: nn.Module
) -> dict[str, Tensor]:
    """Give the tensors of a checkpoint under this course's names.

    Convolutions of GPT and GPT-2 become linear layers: their weights are turned, and
    queries, keys and values taken apart. Raises ValueError for an unknown family.
    """
    if family not in TABLES:
        raise ValueError(f"family is {family!r}; expected one of {[*TABLES]}.")
    wanted = model.state_dict().keys()
    found = {}
    for old, tensor in tensors.items():
        new = old
        for pattern, name in [*TABLES[family], *NORMS]:
            new = re.sub(pattern, name, new)
        if new not in wanted:
            new = new.replace("W_2", "W_down")  # in T5 one name serves both kinds
        if new in wanted or not COPIES.search(old):
            found |= _pieces(new, _turned(old, tensor, family))
    return found


def _turned(old: str, tensor: Tensor, family: str) -> Tensor:
    """Turn the weight of a convolution of GPT or GPT-2 as a linear layer keeps it."""
    is_convolution = re.search(r"\.(c_attn|c_proj|c_fc)\.weight$", old)
    return tensor.T if is_convolution and family == "gpt" else tensor


def _pieces(new: str, tensor: Tensor) -> dict[str, Tensor]:
    """Take queries, keys and values apart where they are kept as one."""
    if "W_qkv" in new:
        parts = zip("qkv", tensor.chunk(3, dim=0), strict=True)
        return {new.replace("W_qkv", f"W_{letter}"): part for letter, part in parts}
    return {new: tensor.flatten() if new == "head.bias" else tensor}


def load_weights(model: nn.Module, tensors: dict[str, Tensor], family: str) -> None:
    """Copy a checkpoint into a model; every tensor is used, and none is missing.

    Raises ValueError naming what is missing, left over, or of another shape.
    """
    found = translate_names(tensors, family, model)
    own = model.state_dict(keep_vars=True)
    shared = _names_of_shared(own)
    missing = sorted(set(own) - set(found) - shared)
    unknown = sorted(set(found) - set(own))
    wrong = [
        f"{name} is {tuple(found[name].shape)}, expected {tuple(own[name].shape)}"
        for name in sorted(set(found) & set(own))
        if found[name].shape != own[name].shape
    ]
    if missing or unknown or wrong:
        told = {"missing": missing, "left over": unknown, "of another shape": wrong}
        lines = [f"{kind}: {', '.join(n[:12])}" for kind, n in told.items() if n]
        raise ValueError("the checkpoint does not fit this model; " + "; ".join(lines))
    with torch.no_grad():
        for name, tensor in found.items():
            own[name].copy_(tensor)


def _names_of_shared(own: dict[str, Tensor]) -> set[str]:
    """Name every tensor that is another one under a second name."""
    seen, again = set(), set()
    for name, tensor in own.items():
        if id(tensor) in seen:
            again.add(name)
        seen.add(id(tensor))
    return again
