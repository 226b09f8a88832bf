"""Every family held against the reference library's own class, on the same weights.

Chapters 11 to 15. The reference is ``transformers``; nothing else here needs it, and
it is imported only when a pair is made.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from solutions import families
from solutions.checkpoints import load_weights
from solutions.models import Model, ModelConfig

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
    "bos_token_id": None, "eos_token_id": None,
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
    """A class of the reference library, and our configuration for it.

    ``names`` is the table of weight names that the two share.
    """

    kind: str
    settings: dict
    ours: ModelConfig
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
            "bos_token_id": None, "eos_token_id": None,
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


def reference(twin: Twin) -> nn.Module:
    """Make a model of the reference library, with every number drawn at random."""
    import transformers

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


def make_pair(name: str) -> tuple[nn.Module, Model]:
    """Make the reference's model of a family, and ours with the same weights."""
    twin = TWINS[name]
    theirs, ours = reference(twin), Model(twin.ours).eval()
    load_weights(ours, theirs.state_dict(), twin.names)
    return theirs, ours


def inputs(model: Model, padding: str) -> dict[str, Tensor]:
    """Make a batch: tokens, which of them are real, and a target where it is needed.

    ``padding`` is "none", "right" or "left".
    """
    config = model.config
    seq = 48 if config.block else 12
    generator = torch.Generator().manual_seed(1)
    draw = lambda *shape: torch.randint(7, 99, shape, generator=generator)
    tokens, real = draw(2, seq), torch.ones(2, seq, dtype=torch.bool)
    if padding == "right":
        real[1, -4:] = False
    elif padding == "left":
        real[1, :4] = False
    tokens[~real] = config.pad_id
    made = {"tokens": tokens, "real": real}
    if config.decoder_layers:
        target = draw(2, 9)
        made |= {"target_in": target, "target_real": torch.ones_like(target) == 1}
        if padding == "right":
            target[1, -3:], made["target_real"][1, -3:] = config.pad_id, False
    if config.num_languages:
        made["languages"] = torch.arange(2)[:, None].expand(tokens.shape)
    return made


def ask(theirs: nn.Module, given: dict[str, Tensor]):
    """Run the reference's model on our inputs."""
    names = {"input_ids": given["tokens"], "attention_mask": given["real"].long()}
    if "target_in" in given:
        names |= {
            "decoder_input_ids": given["target_in"],
            "decoder_attention_mask": given["target_real"].long(),
        }
    if "languages" in given:
        names["langs"] = given["languages"]
    return theirs(**names, output_hidden_states=True)


def gap(mine: Tensor, theirs: Tensor, real: Tensor) -> float:
    """Give the largest difference at real tokens.

    Shapes: mine and theirs (batch, seq, any), real (batch, seq); theirs may be longer.
    """
    theirs = theirs[:, : mine.shape[1]]
    return (mine - theirs)[real].abs().max().item()


@torch.no_grad()
def gap_of_logits(theirs: nn.Module, ours: Model, given: dict[str, Tensor]) -> float:
    """Give the largest difference of the logits."""
    seen = given.get("target_real", given["real"])
    return gap(ours(**given), ask(theirs, given).logits, seen)


@torch.no_grad()
def gap_of_states(theirs: nn.Module, ours: Model, given: dict[str, Tensor]) -> float:
    """Give the largest difference of any state: of both stacks, after every layer."""
    expected, real = ask(theirs, given), given["real"]
    known = {k: v for k, v in given.items() if not k.startswith("target")}
    states = ours.states(**known)
    if "target_in" not in given:
        return _gap_of_layers(states, expected.hidden_states, real)
    seen = given["target_real"]
    written = ours.decoder_states(given["target_in"], states[-1], real, real=seen)
    return max(
        _gap_of_layers(states, expected.encoder_hidden_states, real),
        _gap_of_layers(written, expected.decoder_hidden_states, seen),
    )


def _gap_of_layers(mine, theirs, real: Tensor) -> float:
    pairs = zip(mine, theirs, strict=True)
    return max(gap(one, other, real) for one, other in pairs)


def gap_of_gradients(theirs: nn.Module, ours: Model, given: dict[str, Tensor]) -> float:
    """Give the largest difference of the loss's gradient in the table of tokens.

    All that a model does stands between the two.
    """
    seen = given.get("target_real", given["real"])
    generator = torch.Generator().manual_seed(2)
    labels = torch.randint(7, 99, seen.shape, generator=generator)
    tables = theirs.get_input_embeddings().weight, ours.tokens.weight
    logits = ask(theirs, given).logits, ours(**given)
    slopes = [
        torch.autograd.grad(F.cross_entropy(found[seen], labels[seen]), table)[0]
        for found, table in zip(logits, tables, strict=True)
    ]
    return (slopes[0] - slopes[1]).abs().max().item()


#: In training the reference draws other random blocks than in use.
WITHOUT_GRADIENTS = ("bigbird-sparse",)
PADDINGS = ("none", "right", "left")
#: Below this, all that differs is the rounding of float32.
LIMIT = 1e-5


@dataclass(frozen=True)
class Row:
    """How far a family is from the reference; gradients are None where none compare.

    Each is the largest difference: over no filling, filling on the right, and on the
    left; gradients with filling on the right.
    """

    family: str
    kind: str
    logits: float
    states: float
    gradients: float | None


def parity_rows() -> Iterator[Row]:
    """Measure every family, one after another."""
    for name, twin in TWINS.items():
        theirs, ours = make_pair(name)
        batches = {padding: inputs(ours, padding) for padding in PADDINGS}
        slopes = None
        if name not in WITHOUT_GRADIENTS:
            slopes = gap_of_gradients(theirs, ours, batches["right"])
        yield Row(
            name,
            twin.kind,
            max(gap_of_logits(theirs, ours, given) for given in batches.values()),
            max(gap_of_states(theirs, ours, given) for given in batches.values()),
            slopes,
        )
