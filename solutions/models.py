"""One stack of blocks for every model of the course, and what tells them apart.

Chapters 11 to 14. A model is a :class:`ModelConfig`. Whatever attention must know
beside queries, keys and values is one tensor that is added to the scores.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from solutions.block_sparse import bigbird_blocks, block_sparse_attention
from solutions.feed_forward import FeedForward, SwiGLU, gelu, gelu_tanh, relu, swish
from solutions.multi_head import merge_heads, share_heads, split_heads
from solutions.positions import RelativeBias, rotate
from solutions.residual_norm import LayerNorm, Residual, RMSNorm

ACTIVATIONS = {"relu": relu, "gelu": gelu, "gelu_tanh": gelu_tanh, "swish": swish}
POSITIONS = ("learned", "interleaved", "halves", "halves_to_end", "relative", "rotary")
HEADS = ("tied", "tied_bias", "transformed", "untied")


@dataclass(frozen=True)
class ModelConfig:
    """Everything that tells one model from another; each field is a switch by itself.

    ``causal`` alone is a decoder, ``decoder_layers`` makes an encoder–decoder, neither
    an encoder. ``position_start`` is the number of the first position, or "pad": count
    real tokens only, from ``pad_id`` on. ``windows`` gives each layer the number of
    keys it may look back at, 0 for all, again from the first when it runs out.
    ``block`` and ``random_blocks`` make attention sparse in blocks. ``head`` is what
    turns vectors into logits. Raises ValueError for values that do not go together.
    """

    vocab_size: int
    d_model: int
    num_layers: int
    num_heads: int
    d_ff: int
    decoder_layers: int = 0
    causal: bool = False
    num_kv_heads: int = 0
    d_head: int = 0
    norm: str = "layer"
    eps: float = 1e-5
    norm_first: bool = False
    embedding_norm: bool = False
    activation: str = "gelu"
    gated: bool = False
    qkv_bias: bool = True
    bias: bool = True
    scaled: bool = True
    positions: str = "learned"
    position_start: int | str = 0
    max_len: int = 512
    scale_embedding: bool = False
    num_types: int = 0
    num_languages: int = 0
    windows: tuple[int, ...] = (0,)
    block: int = 0
    random_blocks: int = 0
    num_buckets: int = 32
    max_distance: int = 128
    rotary_base: float = 10000.0
    head: str = "tied"
    scale_logits: bool = False
    pad_id: int = 0
    begin_id: int = 0
    end_id: int = 1
    dropout: float = 0.0

    def __post_init__(self):
        """Fill in what follows from other fields, and check that all fit together."""
        heads, width = self.num_kv_heads or self.num_heads, self.d_head
        object.__setattr__(self, "num_kv_heads", heads)
        object.__setattr__(self, "d_head", width or self.d_model // self.num_heads)
        choices = {
            "norm": ("layer", "rms"),
            "activation": tuple(ACTIVATIONS),
            "positions": POSITIONS,
            "head": HEADS,
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"{name} is {getattr(self, name)!r}; expected one of {allowed}."
                )
        if not width and self.d_model % self.num_heads:
            raise ValueError(
                f"{self.num_heads} heads do not divide d_model {self.d_model}; "
                "choose other numbers, or give d_head."
            )
        if self.num_heads % heads:
            raise ValueError(f"{self.num_heads} heads cannot share {heads} key heads.")
        if self.causal and (self.decoder_layers or self.block):
            raise ValueError("a causal model has no decoder and no sparse blocks.")


def new_norm(config: ModelConfig) -> nn.Module:
    """Create the norm that a configuration asks for."""
    kind = LayerNorm if config.norm == "layer" else RMSNorm
    return kind(config.d_model, config.eps)


class Gated(SwiGLU):
    """The gated feed-forward layer with any activation at its gate.

    Shapes: x (..., d_model) -> (..., d_model). Source: Shazeer (2020), section 2.
    """

    def __init__(self, config: ModelConfig):
        """Create the three projections, and keep the activation."""
        super().__init__(config.d_model, config.d_ff)
        self.activation = ACTIVATIONS[config.activation]

    def forward(self, x: Tensor) -> Tensor:
        """Apply the same network to every position."""
        return self.W_down(self.activation(self.W_gate(x)) * self.W_up(x))


def new_feed_forward(config: ModelConfig) -> nn.Module:
    """Create the feed-forward layer that a configuration asks for."""
    if config.gated:
        return Gated(config)
    made = FeedForward(config.d_model, config.d_ff, ACTIVATIONS[config.activation])
    if not config.bias:
        made.W_1.bias = made.W_2.bias = None
    return made


class Attention(nn.Module):
    """Attention for every model: over the tokens themselves, or over a memory.

    Shapes: x (batch, query_len, d_model); ``memory`` (batch, key_len, d_model) if the
    keys are elsewhere; ``bias`` is added to the scores and broadcasts against (batch,
    heads, query_len, key_len); ``kept`` holds earlier keys and values and is added to;
    ``positions`` (batch or 1, query_len) turn queries and keys; ``blocks`` chooses the
    keys of each block of queries -> (batch, query_len, d_model).
    Source: Vaswani et al. (2017), section 3.2.2.
    """

    def __init__(self, config: ModelConfig):
        """Create the four projections."""
        super().__init__()
        self.num_heads, self.num_kv_heads = config.num_heads, config.num_kv_heads
        self.scale = config.d_head**-0.5 if config.scaled else 1.0
        self.rotary_base = config.rotary_base if config.positions == "rotary" else 0
        wide, narrow = (n * config.d_head for n in (self.num_heads, self.num_kv_heads))
        self.W_q = nn.Linear(config.d_model, wide, bias=config.qkv_bias)
        self.W_k = nn.Linear(config.d_model, narrow, bias=config.qkv_bias)
        self.W_v = nn.Linear(config.d_model, narrow, bias=config.qkv_bias)
        self.W_o = nn.Linear(wide, config.d_model, bias=config.bias)

    def forward(
        self, x, memory=None, *, bias=None, kept=None, positions=None, blocks=None
    ) -> Tensor:
        """Look from ``x`` at itself and what is kept of it, or at ``memory``."""
        queries = split_heads(self.W_q(x), self.num_heads)
        if self.rotary_base:
            queries = rotate(queries, positions[:, None], self.rotary_base)
        keys, values = self.read(x, memory, kept, positions)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        if blocks is not None:
            found = block_sparse_attention(
                queries * self.scale, keys, values, blocks, bias
            )
        else:
            found = F.scaled_dot_product_attention(
                queries, keys, values, attn_mask=bias, scale=self.scale
            )
        return self.W_o(merge_heads(found))

    def read(self, x, memory, kept, positions) -> tuple[Tensor, Tensor]:
        """Make keys and values; those of a memory only once, if there is a cache."""
        if memory is not None and kept:
            return kept["keys"], kept["values"]
        source = x if memory is None else memory
        keys = split_heads(self.W_k(source), self.num_kv_heads)
        values = split_heads(self.W_v(source), self.num_kv_heads)
        if self.rotary_base:
            keys = rotate(keys, positions[:, None], self.rotary_base)
        if kept is not None:
            if kept:
                keys = torch.cat([kept["keys"], keys], dim=2)
                values = torch.cat([kept["values"], values], dim=2)
            kept.update(keys=keys, values=values)
        return keys, values


class Block(nn.Module):
    """Self-attention, in a decoder cross-attention, and feed-forward, each a residual.

    Shapes: x (batch, seq, d_model) -> the same.
    Source: Vaswani et al. (2017), section 3.1; Radford et al. (2019), section 2.3.
    """

    def __init__(self, config: ModelConfig, cross: bool = False):
        """Wrap each sub-layer in a residual with the norm of the configuration."""
        super().__init__()

        def wrapped(sublayer: nn.Module) -> Residual:
            args = config.d_model, sublayer, config.norm_first, config.dropout
            residual = Residual(*args)
            residual.norm = new_norm(config)
            return residual

        self.attention = wrapped(Attention(config))
        self.cross_attention = wrapped(Attention(config)) if cross else None
        self.feed_forward = wrapped(new_feed_forward(config))

    def forward(self, x, memory=None, memory_bias=None, kept=None, **options) -> Tensor:
        """Apply the sub-layers; ``kept`` is a pair of caches, or None."""
        own, other = kept or (None, None)
        x = self.attention(x, kept=own, **options)
        if self.cross_attention is not None:
            x = self.cross_attention(x, memory, bias=memory_bias, kept=other)
        return self.feed_forward(x)


class Embeddings(nn.Module):
    """Turn token ids into vectors that know their place, their segment, their language.

    Shapes: tokens (batch, seq) of ids -> (batch, seq, d_model).
    Source: Devlin et al. (2019), section 3; Conneau and Lample (2019), figure 1.
    """

    def __init__(self, config: ModelConfig, tokens: nn.Embedding):
        """Share the table of the tokens, and create the others."""
        super().__init__()
        self.config, self.tokens = config, tokens
        if config.positions == "learned":
            self.positions = nn.Embedding(config.max_len, config.d_model)
        if config.num_types:
            self.types = nn.Embedding(config.num_types, config.d_model)
        if config.num_languages:
            self.languages = nn.Embedding(config.num_languages, config.d_model)
        self.norm = new_norm(config) if config.embedding_norm else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, tokens, places, types=None, languages=None) -> Tensor:
        """Look up the tokens and add what is known of them; ``places`` as tokens."""
        config, x = self.config, self.tokens(tokens)
        if config.scale_embedding:
            x = x * config.d_model**0.5
        if config.positions == "learned":
            x = x + self.positions(places)
        elif config.positions in WAVES:
            waves = WAVES[config.positions](places, config.d_model)
            if config.position_start == "pad":
                waves = waves * (places != config.pad_id)[..., None]
            x = x + waves.to(x)
        if config.num_types:
            x = x + self.types(torch.zeros_like(tokens) if types is None else types)
        if languages is not None:
            x = x + self.languages(languages)
        return self.dropout(self.norm(x))


def interleaved_waves(places: Tensor, d_model: int) -> Tensor:
    """Give sinusoids as in the 2017 paper: sine and cosine by turns.

    Shapes: places (...) of integers -> (..., d_model), likewise below.
    """
    rates = 1.0 / 10000.0 ** (torch.arange(0, d_model, 2) / d_model)
    angles = places[..., None].cpu() * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def halved_waves(places: Tensor, d_model: int) -> Tensor:
    """Give sinusoids as CTRL does: all sines first, then all cosines."""
    exponents = torch.arange(0, d_model, 2) / d_model
    angles = places[..., None].cpu() * (1 / torch.pow(10000.0, exponents))
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def halved_waves_to_end(places: Tensor, d_model: int) -> Tensor:
    """Give sinusoids as M2M-100 does: the slowest turns exactly once in 10,000."""
    half = d_model // 2
    step = -torch.log(torch.tensor(10000.0)) / (half - 1)
    angles = places[..., None].cpu() * torch.exp(torch.arange(half) * step)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


WAVES = {
    "interleaved": interleaved_waves,
    "halves": halved_waves,
    "halves_to_end": halved_waves_to_end,
}


class Stack(nn.Module):
    """Embeddings and blocks: an encoder, or a decoder with or without a memory.

    Shapes: tokens (batch, seq) of ids -> the states after the embeddings and after
    every block, each (batch, seq, d_model); in a pre-norm model the last is normed.
    """

    def __init__(self, config, tokens: nn.Embedding, num_layers: int, causal, cross):
        """Create the embeddings, the blocks, and what they share."""
        super().__init__()
        self.config, self.causal = config, causal
        self.embeddings = Embeddings(config, tokens)
        self.blocks = nn.ModuleList(Block(config, cross) for _ in range(num_layers))
        self.norm = new_norm(config) if config.norm_first else nn.Identity()
        if config.positions == "relative":
            sizes = config.num_heads, config.num_buckets, config.max_distance
            self.relative = RelativeBias(*sizes, both_ways=not causal)

    def forward(
        self,
        tokens: Tensor,
        real: Tensor | None = None,
        memory: Tensor | None = None,
        memory_real: Tensor | None = None,
        cache: dict | None = None,
        places: Tensor | None = None,
        **more: Tensor,
    ) -> list[Tensor]:
        """Apply all blocks; ``real`` (batch, key_len) is True where tokens are real.

        With a ``cache`` (see :meth:`Model.new_cache`) ``tokens`` are the new ones only,
        and ``real`` covers the old ones too. ``places`` are positions that are not
        counted from the beginning.
        """
        config, seq = self.config, tokens.shape[1]
        past = cache["length"] if cache else 0
        real = torch.ones_like(tokens, dtype=torch.bool) if real is None else real
        places = self.places(tokens, real, past) if places is None else places
        x = self.embeddings(tokens, places, **more)
        blocks = self.sparse_blocks(seq) if config.block else None
        spots = torch.arange(past, past + seq, device=tokens.device)[None]
        memory_bias = None if memory is None else as_bias(memory_real, x)
        biases, states = {}, [x]
        for i, block in enumerate(self.blocks):
            window = config.windows[i % len(config.windows)]
            if window not in biases:
                biases[window] = self.bias(real, seq, window, x, blocks is not None)
            kept = cache["layers"][i] if cache else None
            options = {"bias": biases[window], "positions": spots, "blocks": blocks}
            states.append(block(states[-1], memory, memory_bias, kept, **options))
        if cache:
            cache["length"] = past + seq
        states[-1] = self.norm(states[-1])
        return states

    def places(self, tokens, real, past: int) -> Tensor:
        """Number the positions of the tokens: (batch, seq)."""
        start, max_len = self.config.position_start, self.config.max_len
        first = self.config.pad_id + 1 if start == "pad" else start
        last = first + past + tokens.shape[1]
        if self.config.positions == "learned" and last > max_len:
            raise ValueError(
                f"{past + tokens.shape[1]} tokens; this model has positions for "
                f"{max_len - first}. Cut the text."
            )
        if start == "pad":
            counted = real.long().cumsum(-1) * real + self.config.pad_id
            return counted[:, past:]
        seq = tokens.shape[1]
        places = torch.arange(start + past, start + past + seq, device=tokens.device)
        return places.expand(tokens.shape)

    def bias(self, real, seq: int, window: int, x: Tensor, sparse: bool) -> Tensor:
        """Say what is added to the scores: nothing, a distance's share, or a wall."""
        key_len = real.shape[1]
        if sparse:
            return real
        spots = torch.arange(key_len, device=x.device)
        behind = spots[key_len - seq :, None] - spots[None, :]
        allowed = real[:, None, None, :]
        if self.causal:
            allowed = allowed & (behind >= 0)
        if window:
            allowed = allowed & (behind < window)
        bias = as_bias(allowed, x)
        if self.config.positions == "relative":
            bias = bias + self.relative(key_len, key_len)[:, key_len - seq :]
        return bias

    def sparse_blocks(self, seq: int):
        """Choose the blocks of keys of each block of queries."""
        count, remainder = divmod(seq, self.config.block)
        if remainder:
            raise ValueError(
                f"{seq} tokens; expected a multiple of the block, {self.config.block}."
            )
        return bigbird_blocks(count, self.config.random_blocks)


def as_bias(allowed: Tensor | None, x: Tensor) -> Tensor | None:
    """Turn a mask into numbers to add: 0 where True, a very low one where False.

    Shapes: (batch, key_len) or four axes -> four axes, in the dtype of ``x``.
    """
    if allowed is None:
        return None
    if allowed.ndim == 2:
        allowed = allowed[:, None, None, :]
    lowest = torch.finfo(x.dtype).min
    return torch.zeros_like(allowed, dtype=x.dtype).masked_fill(~allowed, lowest)


class Head(nn.Module):
    """Turn vectors into logits, in one of four ways.

    "tied" compares with the tokens' own vectors, "tied_bias" adds a number for each
    token, "transformed" has a layer before that, "untied" has a matrix of its own.
    Shapes: x (..., d_model) -> (..., vocab_size).
    Source: Press and Wolf (2017); Devlin et al. (2019), in their published code.
    """

    def __init__(self, config: ModelConfig, tokens: nn.Embedding):
        """Share the tokens' matrix, or create another."""
        super().__init__()
        self.config = config
        untied = nn.Parameter(torch.empty_like(tokens.weight).normal_(std=0.02))
        self.weight = untied if config.head == "untied" else tokens.weight
        if config.head in ("tied_bias", "transformed"):
            self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        if config.head == "transformed":
            self.dense = nn.Linear(config.d_model, config.d_model)
            self.norm = new_norm(config)

    def forward(self, x: Tensor) -> Tensor:
        """Give the logits."""
        if self.config.scale_logits:
            x = x * self.config.d_model**-0.5
        if self.config.head == "transformed":
            x = self.norm(ACTIVATIONS[self.config.activation](self.dense(x)))
        return F.linear(x, self.weight, getattr(self, "bias", None))


class SentenceHead(nn.Module):
    """Classify a sentence by the vector of its first token.

    Shapes: x (batch, seq, d_model) -> (batch, num_classes). With tanh it is BERT's
    pooler and classifier, and RoBERTa's; with ReLU it is DistilBERT's.
    Source: Devlin et al. (2019), sections 3.1 and 4.1.
    """

    def __init__(self, d_model: int, num_classes: int, activation=torch.tanh):
        """Create the two layers."""
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, num_classes)
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        """Give the scores of the classes."""
        return self.output(self.activation(self.dense(x[:, 0])))


class Model(nn.Module):
    """Any model of the course: tokens in, logits out.

    An encoder or a decoder takes ``tokens``; an encoder–decoder reads ``tokens`` and
    predicts the tokens after each of ``target_in``.
    Shapes: tokens (batch, seq), target_in (batch, target_len) of ids, ``real`` as
    tokens, True where they are no filling -> logits (batch, seq or target_len, vocab).
    """

    def __init__(self, config: ModelConfig):
        """Create the table of tokens, one or two stacks, and the head."""
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocab_size, config.d_model)
        nn.init.normal_(self.tokens.weight, std=0.02)
        self.stack = Stack(config, self.tokens, config.num_layers, config.causal, False)
        if config.decoder_layers:
            layers = config.decoder_layers
            self.decoder = Stack(config, self.tokens, layers, causal=True, cross=True)
        self.head = Head(config, self.tokens)

    def states(self, tokens, real=None, **more) -> list[Tensor]:
        """Give the states of the only stack, or of the encoder, layer by layer."""
        return self.stack(tokens, real, **more)

    def decoder_states(self, target_in, memory, memory_real=None, **more):
        """Give the states of the decoder, layer by layer."""
        return self.decoder(target_in, memory=memory, memory_real=memory_real, **more)

    def forward(self, tokens, target_in=None, real=None, target_real=None, **more):
        """Give the logits of every place."""
        x = self.states(tokens, real, **more)[-1]
        if target_in is not None:
            x = self.decoder_states(target_in, x, real, real=target_real)[-1]
        return self.head(x)

    def new_cache(self) -> dict:
        """Make an empty cache of keys and values for the stack that writes."""
        layers = self.config.decoder_layers or self.config.num_layers
        return {"length": 0, "layers": [({}, {}) for _ in range(layers)]}
