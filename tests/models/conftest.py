"""Tiny models of the reference library, with every number drawn at random."""

from dataclasses import dataclass

import pytest
import torch

from solutions import families
from solutions.checkpoints import load_weights
from solutions.models import Model

transformers = pytest.importorskip("transformers")

SIZES = {"vocab_size": 99, "d_model": 32, "num_layers": 3, "num_heads": 4, "d_ff": 64}
LONG = SIZES | {"max_len": 64}
GPTS = LONG | {"d_ff": 128}
BOTH = SIZES | {"decoder_layers": 3}
BERT = {
    "vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 3,
    "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 64,
    "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
}  # fmt: skip
GPT = {
    "vocab_size": 99, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 64,
    "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0,
}  # fmt: skip
BART = {
    "vocab_size": 99, "d_model": 32, "encoder_layers": 3, "decoder_layers": 3,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64, "max_position_embeddings": 64, "dropout": 0.0,
    "attention_dropout": 0.0, "activation_dropout": 0.0,
}  # fmt: skip
T5 = {
    "vocab_size": 99, "d_model": 32, "d_kv": 6, "d_ff": 64, "num_layers": 3,
    "num_decoder_layers": 3, "num_heads": 4, "dropout_rate": 0.0,
    "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20,
    "decoder_start_token_id": 0,
}  # fmt: skip
FOUR_LAYERS = {"num_layers": 4, "windows": (0, 3)}


@dataclass(frozen=True)
class Twin:
    """A class of the reference library, and our configuration for it."""

    kind: str
    settings: dict
    ours: object
    names: str


TWINS = {
    "bert": Twin("BertForMaskedLM", BERT, families.bert(**LONG), "bert"),
    "roberta": Twin(
        "RobertaForMaskedLM",
        BERT | {"pad_token_id": 5, "type_vocab_size": 1, "layer_norm_eps": 1e-5},
        families.roberta(**LONG | {"pad_id": 5}),
        "bert",
    ),
    "distilbert": Twin(
        "DistilBertForMaskedLM",
        {
            "vocab_size": 99, "dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 64,
            "max_position_embeddings": 64, "dropout": 0.0, "attention_dropout": 0.0,
        },
        families.distilbert(**LONG),
        "distilbert",
    ),
    "xlm": Twin(
        "XLMWithLMHeadModel",
        {
            "vocab_size": 99, "emb_dim": 32, "n_layers": 3, "n_heads": 4, "n_langs": 3,
            "max_position_embeddings": 64, "dropout": 0.0, "attention_dropout": 0.0,
        },
        families.xlm(**GPTS | {"num_languages": 3}),
        "xlm",
    ),
    "gpt": Twin("OpenAIGPTLMHeadModel", GPT, families.gpt(**GPTS), "gpt"),
    "gpt2": Twin("GPT2LMHeadModel", GPT, families.gpt2(**GPTS), "gpt"),
    "gpt-neo": Twin(
        "GPTNeoForCausalLM",
        {
            "vocab_size": 99, "hidden_size": 32, "num_layers": 4, "num_heads": 4,
            "attention_types": [[["global", "local"], 2]], "window_size": 3,
            "intermediate_size": 64, "max_position_embeddings": 64,
            "resid_dropout": 0.0, "embed_dropout": 0.0, "attention_dropout": 0.0,
        },
        families.gpt_neo(**LONG | FOUR_LAYERS),
        "gpt_neo",
    ),
    "ctrl": Twin(
        "CTRLLMHeadModel",
        {
            "vocab_size": 99, "n_embd": 32, "n_layer": 3, "n_head": 4, "dff": 64,
            "n_positions": 64, "resid_pdrop": 0.0, "embd_pdrop": 0.0,
        },
        families.ctrl(**SIZES),
        "ctrl",
    ),
    "t5": Twin(
        "T5ForConditionalGeneration",
        T5,
        families.t5(**BOTH | {"d_head": 6, "num_buckets": 8, "max_distance": 20}),
        "t5",
    ),
    "t5-v1.1": Twin(
        "T5ForConditionalGeneration",
        T5 | {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
        families.t5_v1_1(**BOTH | {"d_head": 6, "num_buckets": 8, "max_distance": 20}),
        "t5",
    ),
    "bart": Twin(
        "BartForConditionalGeneration",
        BART,
        families.bart(**BOTH | {"max_len": 66}),
        "bart",
    ),
    "m2m100": Twin(
        "M2M100ForConditionalGeneration",
        BART | {"encoder_layerdrop": 0.0, "decoder_layerdrop": 0.0},
        families.m2m100(**BOTH),
        "bart",
    ),
    "bigbird": Twin(
        "BigBirdForMaskedLM",
        BERT | {"attention_type": "original_full"},
        families.bigbird(**LONG | {"block": 0}),
        "bert",
    ),
    "bigbird-sparse": Twin(
        "BigBirdForMaskedLM",
        BERT | {"attention_type": "block_sparse", "block_size": 4,
                "num_random_blocks": 2},
        families.bigbird(**LONG | {"block": 4, "random_blocks": 2}),
        "bert",
    ),
    "llama": Twin(
        "LlamaForCausalLM",
        {
            "vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 3,
            "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 64,
        },
        families.llama(**SIZES | {"num_kv_heads": 2}),
        "llama",
    ),
}  # fmt: skip


def reference(twin: Twin):
    """Make a model of the reference library, with every number drawn at random."""
    kind = getattr(transformers, twin.kind)
    made = kind(kind.config_class(**twin.settings)).eval()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, tensor in made.state_dict().items():
            if tensor.is_floating_point():
                noise = torch.randn(tensor.shape, generator=generator)
                is_norm = tensor.ndim == 1 and "bias" not in name
                tensor.copy_(1 + 0.3 * noise if is_norm else 0.15 * noise)
    made.tie_weights()
    return made


@pytest.fixture(scope="module", params=TWINS)
def pair(request):
    """Give a name, the reference's model, and ours with the same weights."""
    torch.set_num_threads(1)
    twin = TWINS[request.param]
    theirs, ours = reference(twin), Model(twin.ours).eval()
    load_weights(ours, theirs.state_dict(), twin.names)
    return request.param, theirs, ours
