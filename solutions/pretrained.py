"""Real models from a folder: ``config.json`` becomes a card, the weights are copied.

Chapter 15. Nothing is downloaded, and nothing that is read is run.
"""

import json
from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor

from solutions import families
from solutions.checkpoints import load_weights
from solutions.models import Model, ModelConfig

ACTIVATIONS = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "silu": "swish",
}
_BERT = {
    "d_model": "hidden_size",
    "num_layers": "num_hidden_layers",
    "num_heads": "num_attention_heads",
    "d_ff": "intermediate_size",
    "max_len": "max_position_embeddings",
    "activation": "hidden_act",
    "eps": "layer_norm_eps",
    "num_types": "type_vocab_size",
}
_BART = {
    "d_model": "d_model",
    "num_layers": "encoder_layers",
    "decoder_layers": "decoder_layers",
    "num_heads": "encoder_attention_heads",
    "d_ff": "encoder_ffn_dim",
    "activation": "activation_function",
    "scale_embedding": "scale_embedding",
}

#: For each kind of ``config.json``: our family, its table of names, and where its
#: settings stand.
KINDS = {
    "bert": (families.bert, "bert", _BERT),
    "roberta": (families.roberta, "bert", _BERT),
    "big_bird": (
        families.bigbird,
        "bert",
        _BERT | {"block": "block_size", "random_blocks": "num_random_blocks"},
    ),
    "distilbert": (
        families.distilbert,
        "distilbert",
        {
            "d_model": "dim",
            "num_layers": "n_layers",
            "num_heads": "n_heads",
            "d_ff": "hidden_dim",
            "max_len": "max_position_embeddings",
            "activation": "activation",
        },
    ),
    "gpt2": (
        families.gpt2,
        "gpt",
        {
            "d_model": "n_embd",
            "num_layers": "n_layer",
            "num_heads": "n_head",
            "max_len": "n_positions",
            "activation": "activation_function",
            "eps": "layer_norm_epsilon",
        },
    ),
    "t5": (
        families.t5,
        "t5",
        {
            "d_model": "d_model",
            "num_layers": "num_layers",
            "decoder_layers": "num_decoder_layers",
            "num_heads": "num_heads",
            "d_head": "d_kv",
            "d_ff": "d_ff",
            "eps": "layer_norm_epsilon",
            "num_buckets": "relative_attention_num_buckets",
            "max_distance": "relative_attention_max_distance",
        },
    ),
    "bart": (families.bart, "bart", _BART),
    "m2m_100": (families.m2m100, "bart", _BART),
    "llama": (
        families.llama,
        "llama",
        {
            "d_model": "hidden_size",
            "num_layers": "num_hidden_layers",
            "num_heads": "num_attention_heads",
            "num_kv_heads": "num_key_value_heads",
            "d_ff": "intermediate_size",
            "eps": "rms_norm_eps",
        },
    ),
}


def read_card(folder: Path) -> tuple[ModelConfig, str]:
    """Turn a folder's ``config.json`` into a card; give it with its table of names.

    Raises ValueError when the file is not there, or of a kind that is not known.
    """
    path = Path(folder) / "config.json"
    if not path.is_file():
        raise ValueError(f"{folder} holds no config.json; expected a model's folder.")
    settings = json.loads(path.read_text(encoding="utf-8"))
    kind = settings.get("model_type")
    if kind not in KINDS:
        raise ValueError(
            f"{path} describes a model of kind {kind!r}; expected one of {[*KINDS]}."
        )
    family, table, places = KINDS[kind]
    sizes = {
        ours: settings[theirs] for ours, theirs in places.items() if theirs in settings
    }
    if "activation" in sizes:
        sizes["activation"] = ACTIVATIONS[sizes["activation"]]
    if settings.get("pad_token_id") is not None:
        sizes["pad_id"] = settings["pad_token_id"]
    if kind == "gpt2":
        sizes["d_ff"] = settings.get("n_inner") or 4 * sizes["d_model"]
    if kind == "bart":
        sizes["max_len"] = settings["max_position_embeddings"] + 2
    if kind == "t5" and "gated" in settings.get("feed_forward_proj", ""):
        family = families.t5_v1_1
    if settings.get("attention_type") == "original_full":
        sizes["block"] = 0
    return family(vocab_size=settings["vocab_size"], **sizes), table


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Read every safetensors file of a folder.

    Raises ValueError when there is none: other kinds of files may hold programs.
    """
    files = sorted(Path(folder).glob("*.safetensors"))
    if not files:
        raise ValueError(
            f"{folder} holds no .safetensors file. Files of other kinds (.bin, .pt) "
            "may run programs when they are read, and are not."
        )
    tensors = {}
    for path in files:
        tensors |= load_file(path)
    return tensors


def load_model(folder: Path) -> Model:
    """Build the model that a folder describes, and copy its weights into it.

    A checkpoint without a head gets the tokens' own matrix as its head. Raises
    ValueError saying what does not fit.
    """
    card, table = read_card(folder)
    tensors = read_weights(folder)
    has_head = any(name.startswith(("cls.", "lm_head.", "vocab_")) for name in tensors)
    if card.head == "transformed" and not has_head:
        card = type(card)(**vars(card) | {"head": "tied"})
    model = Model(card).eval()
    load_weights(model, tensors, table)
    return model
