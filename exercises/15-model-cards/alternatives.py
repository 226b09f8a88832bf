"""Right answers to chapter 15 written differently: each must get full marks."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import right
from solutions.model_card import (
    attention_parameters,
    cache_bytes,
    embedding_parameters,
    feed_forward_parameters,
    flops_per_token,
    head_parameters,
    layer_parameters,
    multiplied_weights,
    norm_parameters,
)
from solutions.models import ModelConfig


@right("a table of shapes, added up")
def attention_parameters(card):
    q, kv = card.num_heads * card.d_head, card.num_kv_heads * card.d_head
    shapes = [(card.d_model, q), (card.d_model, kv), (card.d_model, kv)]
    total = 0
    for rows, columns in shapes:
        total += rows * columns
        if card.qkv_bias:
            total += columns
    total += q * card.d_model
    if card.bias:
        total += card.d_model
    return total


@right("built without memory, and counted")
def attention_parameters(card):
    q, kv = card.num_heads * card.d_head, card.num_kv_heads * card.d_head
    d, bias = card.d_model, card.qkv_bias
    layers = [nn.Linear(d, size, bias=bias, device="meta") for size in (q, kv, kv)]
    layers.append(nn.Linear(q, d, bias=card.bias, device="meta"))
    return sum(p.numel() for layer in layers for p in layer.parameters())


@right("one head after another")
def attention_parameters(card):
    one = (card.d_model + int(card.qkv_bias)) * card.d_head
    total = sum(one for _ in range(card.num_heads + 2 * card.num_kv_heads))
    return total + (card.num_heads * card.d_head + int(card.bias)) * card.d_model


@right("a bias as one more row")
def feed_forward_parameters(card):
    if card.gated:
        return card.d_ff * card.d_model * 3
    up = (card.d_model + card.bias) * card.d_ff
    down = (card.d_ff + card.bias) * card.d_model
    return up + down


@right("layers without memory")
def feed_forward_parameters(card):
    has = card.bias and not card.gated
    up = nn.Linear(card.d_model, card.d_ff, bias=has, device="meta")
    down = nn.Linear(card.d_ff, card.d_model, bias=has, device="meta")
    layers = [up, down] + [up] * card.gated
    return sum(sum(p.numel() for p in layer.parameters()) for layer in layers)


@right("the second attention brings its norm along")
def layer_parameters(card, cross=False):
    with_norm = [attention_parameters(card) + norm_parameters(card)]
    with_norm *= 2 if cross else 1
    return sum(with_norm, feed_forward_parameters(card) + norm_parameters(card))


@right("layer by layer, in a loop")
def parameters(card):
    counts = dict.fromkeys(["embeddings", "attention", "feed-forward", "norms"], 0)
    counts["embeddings"] += embedding_parameters(card)
    stacks = [(card.num_layers, 1)]
    if card.decoder_layers:
        stacks.append((card.decoder_layers, 2))
    for layers, attentions in stacks:
        for _ in range(layers):
            counts["attention"] += attentions * attention_parameters(card)
            counts["feed-forward"] += feed_forward_parameters(card)
            counts["norms"] += (attentions + 1) * norm_parameters(card)
        if card.norm_first:
            counts["norms"] += norm_parameters(card)
    counts["head"] = head_parameters(card)
    counts["all"] = sum(counts.values())
    return counts


@right("in another order, from whole layers")
def parameters(card):
    n, m = card.num_layers, card.decoder_layers
    every = n * layer_parameters(card) + m * layer_parameters(card, cross=True)
    ends = (2 if m else 1) * norm_parameters(card) if card.norm_first else 0
    attention = (n + m + m) * attention_parameters(card)
    inner = (n + m) * feed_forward_parameters(card)
    tables, head = embedding_parameters(card), head_parameters(card)
    return {
        "all": every + ends + tables + head,
        "norms": every + ends - attention - inner,
        "feed-forward": inner,
        "attention": attention,
        "head": head,
        "embeddings": tables,
    }


@right("the parameters, less what is not multiplied")
def multiplied_weights(card):
    bare = ModelConfig(
        **{
            name: getattr(card, name)
            for name in (
                "vocab_size", "d_model", "num_layers", "num_heads", "d_ff",
                "decoder_layers", "num_kv_heads", "d_head", "gated",
            )
        },
        qkv_bias=False,
        bias=False,
    )  # fmt: skip
    layers, cross = card.num_layers, card.decoder_layers
    total = (layers + 2 * cross) * attention_parameters(bare)
    total += (layers + cross) * feed_forward_parameters(bare)
    total += card.vocab_size * card.d_model
    return total + (card.head == "transformed") * card.d_model**2


@right("a list of all matrices")
def multiplied_weights(card):
    q, kv, d = (
        card.num_heads * card.d_head,
        card.num_kv_heads * card.d_head,
        card.d_model,
    )
    attention = [(d, q), (d, kv), (d, kv), (q, d)]
    inner = [(d, card.d_ff), (card.d_ff, d)] + [(d, card.d_ff)] * card.gated
    matrices = card.num_layers * (attention + inner)
    matrices += card.decoder_layers * (attention + attention + inner)
    matrices.append((d, card.vocab_size))
    if card.head == "transformed":
        matrices.append((d, d))
    return sum(rows * columns for rows, columns in matrices)


@right("head by head and key by key")
def flops_per_token(card, context):
    multiplications = multiplied_weights(card)
    additions = multiplications
    for _ in range(card.num_layers + 2 * card.decoder_layers):
        for _ in range(card.num_heads):
            multiplications += card.d_head * context + context * card.d_head
            additions += context * card.d_head + card.d_head * context
    return multiplications + additions


@right("forward and backward, each by itself")
def training_flops(num_parameters, num_tokens):
    forward = 2 * num_parameters * num_tokens
    backward = 2 * forward
    return forward + backward


@right("as the size of a tensor, times its bytes")
def cache_bytes(card, num_tokens, bytes_each=2):
    layers = card.decoder_layers if card.decoder_layers else card.num_layers
    shape = (layers, 2, card.num_kv_heads, num_tokens, card.d_head)
    return math.prod(shape) * bytes_each


@right("keys and values apart, with a tensor that has no memory")
def cache_bytes(card, num_tokens, bytes_each=2):
    shape = (card.num_kv_heads, num_tokens, card.d_head)
    keys = torch.empty(shape, device="meta").numel() * bytes_each
    return (keys + keys) * (card.decoder_layers or card.num_layers)


@right("with an if in place of max")
def seconds_for_token(
    card, context, bytes_per_second, flops_per_second, bytes_each=2, batch=1
):
    kept = sum(cache_bytes(card, context, bytes_each) for _ in range(batch))
    reading = (bytes_each * multiplied_weights(card) + kept) / bytes_per_second
    work = flops_per_token(card, context) * batch
    computing = work / flops_per_second
    longer = reading if reading > computing else computing
    return {"at least": longer, "computing": computing, "reading": reading}


@right("all caches at once: as one long text")
def seconds_for_token(
    card, context, bytes_per_second, flops_per_second, bytes_each=2, batch=1
):
    times = {}
    weights = multiplied_weights(card) * bytes_each / bytes_per_second
    caches = cache_bytes(card, context * batch, bytes_each) / bytes_per_second
    times["reading"] = weights + caches
    times["computing"] = flops_per_token(card, context) / flops_per_second * batch
    times["at least"] = sorted(times.values())[-1]
    return times


@right("loops over names, sorted at the end")
def misfits(tensors, own):
    result = {"missing": [], "left over": [], "of another shape": []}
    for name in own:
        if name not in tensors:
            result["missing"].append(name)
        elif list(tensors[name].shape) != list(own[name].shape):
            result["of another shape"].append(name)
    for name in tensors:
        if name not in own:
            result["left over"].append(name)
    for names in result.values():
        names.sort()
    return result


@right("sets of names with their shapes")
def misfits(tensors, own):
    theirs = {(name, tuple(tensor.shape)) for name, tensor in tensors.items()}
    mine = {(name, tuple(tensor.shape)) for name, tensor in own.items()}
    differing = {name for name, _ in theirs ^ mine}
    return {
        "missing": sorted(differing - set(tensors)),
        "left over": sorted(differing - set(own)),
        "of another shape": sorted(differing & set(own) & set(tensors)),
    }


@right("one sentence after another, with Python's sort")
def nearest(question, sentences, count):
    cosines = []
    for i, sentence in enumerate(sentences):
        dot = (sentence * question).sum()
        cosines.append((i, (dot / (sentence.norm() * question.norm())).item()))
    return sorted(cosines, key=lambda pair: pair[1], reverse=True)[:count]


@right("both brought to length one, sorted by torch, in double precision")
def nearest(question, sentences, count):
    near = F.normalize(sentences.double(), dim=1) @ F.normalize(
        question.double(), dim=0
    )
    values, places = torch.sort(near, descending=True)
    pairs = zip(places.tolist(), values.tolist(), strict=True)
    return [(place, value) for place, value in pairs][:count]


@right("einsum, argsort, and a dictionary on the way")
def nearest(question, sentences, count):
    lengths = torch.einsum("nd,nd->n", sentences, sentences).sqrt()
    dots = torch.einsum("nd,d->n", sentences, question)
    cosines = dots / lengths / question.norm()
    order = (-cosines).argsort()[:count]
    found = {int(place): float(cosines[place]) for place in order}
    return list(found.items())
