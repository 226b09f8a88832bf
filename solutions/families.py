"""The named models: each is a configuration with its published sizes.

Chapters 11, 12 and 14. A family is one function with the switches that all of its
models share; a named model adds sizes.
"""

from solutions.models import ModelConfig


def bert(**sizes) -> ModelConfig:
    """Post-norm encoder, learned positions, two segments.

    Source: Devlin et al. (2019).
    """
    fixed = {"eps": 1e-12, "embedding_norm": True, "num_types": 2}
    return ModelConfig(**fixed | {"head": "transformed"} | sizes)


def roberta(**sizes) -> ModelConfig:
    """BERT whose positions begin after the filling's number.

    Source: Liu et al. (2019).
    """
    fixed = {"eps": 1e-5, "num_types": 1, "position_start": "pad", "pad_id": 1}
    return bert(**fixed | {"begin_id": 0, "end_id": 2} | sizes)


def distilbert(**sizes) -> ModelConfig:
    """BERT without segments, half as deep. Source: Sanh et al. (2019)."""
    return bert(**{"num_types": 0} | sizes)


def xlm(**sizes) -> ModelConfig:
    """Encoder with a vector for each language. Source: Conneau and Lample (2019)."""
    fixed = {"eps": 1e-12, "embedding_norm": True, "head": "tied_bias", "pad_id": 2}
    return ModelConfig(**fixed | sizes)


def gpt(**sizes) -> ModelConfig:
    """Post-norm decoder with learned positions. Source: Radford et al. (2018)."""
    return ModelConfig(**{"causal": True, "activation": "gelu_tanh"} | sizes)


def gpt2(**sizes) -> ModelConfig:
    """GPT with the norm first. Source: Radford et al. (2019)."""
    return gpt(**{"norm_first": True} | sizes)


def gpt3(**sizes) -> ModelConfig:
    """GPT-2 whose layers look far and near by turns. Source: Brown et al. (2020)."""
    return gpt2(**{"windows": (0, 256)} | sizes)


def gpt_neo(**sizes) -> ModelConfig:
    """An open model after GPT-3: no scaling, no bias for queries, keys and values.

    Source: Black et al. (2021).
    """
    return gpt3(**{"qkv_bias": False, "scaled": False} | sizes)


def ctrl(**sizes) -> ModelConfig:
    """Decoder that is told what to write by its first token.

    Source: Keskar et al. (2019).
    """
    fixed = {"causal": True, "norm_first": True, "eps": 1e-6, "activation": "relu"}
    waves = {"positions": "halves", "scale_embedding": True, "head": "tied_bias"}
    return ModelConfig(**fixed | waves | sizes)


def t5(**sizes) -> ModelConfig:
    """Encoder–decoder with relative positions, no biases, no scaling.

    Source: Raffel et al. (2020), sections 2.1 and 3.1.1.
    """
    fixed = {"norm": "rms", "eps": 1e-6, "norm_first": True, "activation": "relu"}
    bare = {"qkv_bias": False, "bias": False, "scaled": False, "scale_logits": True}
    return ModelConfig(**fixed | bare | {"positions": "relative"} | sizes)


def t5_v1_1(**sizes) -> ModelConfig:
    """T5 with a gated feed-forward layer. Source: Shazeer (2020); its model card."""
    fixed = {"activation": "gelu_tanh", "gated": True, "scale_logits": False}
    return t5(**fixed | sizes)


def bart(**sizes) -> ModelConfig:
    """Post-norm encoder–decoder, learned positions from 2 on.

    Source: Lewis et al. (2020).
    """
    fixed = {"embedding_norm": True, "position_start": 2, "head": "tied_bias"}
    ids = {"pad_id": 1, "begin_id": 2, "end_id": 2}
    return ModelConfig(**fixed | ids | sizes)


def m2m100(**sizes) -> ModelConfig:
    """Pre-norm encoder–decoder among a hundred languages. Source: Fan et al. (2021)."""
    fixed = {"norm_first": True, "activation": "relu", "scale_embedding": True}
    places = {"positions": "halves_to_end", "position_start": "pad"}
    ids = {"pad_id": 1, "begin_id": 2, "end_id": 2}
    return ModelConfig(**fixed | places | ids | sizes)


def bigbird(**sizes) -> ModelConfig:
    """BERT for long texts: sparse in blocks. Source: Zaheer et al. (2020)."""
    return bert(**{"activation": "gelu_tanh", "block": 64, "random_blocks": 3} | sizes)


def llama(**sizes) -> ModelConfig:
    """What changed since: RMSNorm, rotary positions, gates, fewer key heads.

    Source: Touvron et al. (2023), section 2.2.
    """
    fixed = {"causal": True, "norm": "rms", "eps": 1e-6, "norm_first": True}
    bare = {"qkv_bias": False, "bias": False, "head": "untied", "positions": "rotary"}
    return ModelConfig(**fixed | bare | {"activation": "swish", "gated": True} | sizes)


def _sizes(vocab_size, d_model, num_layers, num_heads, d_ff, **more) -> dict:
    sizes = {"vocab_size": vocab_size, "d_model": d_model, "num_layers": num_layers}
    return sizes | {"num_heads": num_heads, "d_ff": d_ff} | more


# Published sizes, by name: vocabulary, width, layers, heads, inner width. What does
# not change a count is left out, such as the base of the rotary positions.
NAMED = {
    "bert-base": bert(**_sizes(30522, 768, 12, 12, 3072)),
    "bert-large": bert(**_sizes(30522, 1024, 24, 16, 4096)),
    "distilbert": distilbert(**_sizes(30522, 768, 6, 12, 3072)),
    "roberta-base": roberta(**_sizes(50265, 768, 12, 12, 3072, max_len=514)),
    "xlm-mlm-en": xlm(**_sizes(30145, 2048, 12, 16, 8192)),
    "gpt": gpt(**_sizes(40478, 768, 12, 12, 3072)),
    "gpt2": gpt2(**_sizes(50257, 768, 12, 12, 3072, max_len=1024)),
    "gpt2-xl": gpt2(**_sizes(50257, 1600, 48, 25, 6400, max_len=1024)),
    "ctrl": ctrl(**_sizes(246534, 1280, 48, 16, 8192)),
    "gpt3": gpt3(**_sizes(50257, 12288, 96, 96, 49152, max_len=2048)),
    "t5-small": t5(**_sizes(32128, 512, 6, 8, 2048, decoder_layers=6)),
    "t5-base": t5(**_sizes(32128, 768, 12, 12, 3072, decoder_layers=12)),
    "bart-base": bart(
        **_sizes(50265, 768, 6, 12, 3072, decoder_layers=6, max_len=1026)
    ),
    "bart-large": bart(
        **_sizes(50265, 1024, 12, 16, 4096, decoder_layers=12, max_len=1026)
    ),
    "m2m100-418m": m2m100(**_sizes(128112, 1024, 12, 16, 4096, decoder_layers=12)),
    "bigbird-base": bigbird(**_sizes(50358, 768, 12, 12, 3072, max_len=4096)),
    "llama-7b": llama(**_sizes(32000, 4096, 32, 32, 11008)),
    "mistral-7b": llama(**_sizes(32000, 4096, 32, 32, 14336, num_kv_heads=8)),
    "qwen2.5-0.5b": llama(
        **_sizes(151936, 896, 24, 14, 4864, num_kv_heads=2, qkv_bias=True, head="tied")
    ),
    "qwen2.5-7b": llama(
        **_sizes(152064, 3584, 28, 28, 18944, num_kv_heads=4, qkv_bias=True)
    ),
    "llama3-8b": llama(**_sizes(128256, 4096, 32, 32, 14336, num_kv_heads=8)),
    "llama3-405b": llama(**_sizes(128256, 16384, 126, 128, 53248, num_kv_heads=8)),
}
