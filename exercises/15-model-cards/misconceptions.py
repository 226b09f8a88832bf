"""Wrong answers that learners really give in chapter 15, each with its explanation."""

import torch
import torch.nn.functional as F

from exercises.answers import wrong, wrong_choice
from solutions.model_card import (
    attention_parameters,
    cache_bytes,
    embedding_parameters,
    feed_forward_parameters,
    flops_per_token,
    head_parameters,
    multiplied_weights,
    norm_parameters,
    parameters,
)

WHERE = "Where the parameters are"
LAYER = "One layer, piece by piece"
PUBLISHED = "What the makers say"
WORK = "Two operations for each weight"
TRAINING = "A whole training"
CACHE = "What a conversation leaves behind"
TIME = "Reading or computing?"
WEIGHTS = "Real weights in your own BERT"
MEANING = "Searching by meaning"


@wrong(
    check="attention-parameters",
    section=LAYER,
    sentence="there are no biases in the count. Each matrix has as many as it has "
    "outputs, if the card says so.",
)
def attention_parameters(card):
    queries, keys = (n * card.d_head for n in (card.num_heads, card.num_kv_heads))
    return card.d_model * (2 * queries + 2 * keys)


@wrong(
    check="attention-parameters",
    section=LAYER,
    sentence="keys and values are counted with all heads of the queries. They have "
    "num_kv_heads of their own.",
)
def attention_parameters(card):
    wide = card.num_heads * card.d_head
    weights = 4 * card.d_model * wide
    return weights + card.qkv_bias * 3 * wide + card.bias * card.d_model


@wrong(
    check="attention-parameters",
    section=LAYER,
    sentence="four square matrices of d_model: the heads are taken to share d_model "
    "among them. Count with num_heads * d_head and num_kv_heads * d_head.",
)
def attention_parameters(card):
    d = card.d_model
    return 4 * d * d + card.qkv_bias * 3 * d + card.bias * d


@wrong(
    check="attention-parameters",
    section=LAYER,
    sentence="the output matrix is missing: the heads are joined, and then multiplied "
    "once more.",
)
def attention_parameters(card):
    queries, keys = (n * card.d_head for n in (card.num_heads, card.num_kv_heads))
    return card.d_model * (queries + 2 * keys) + card.qkv_bias * (queries + 2 * keys)


@wrong(
    check="attention-parameters",
    section=LAYER,
    sentence="each head is given matrices of the full width. All heads together have "
    "them: a head is d_head wide.",
)
def attention_parameters(card):
    d = card.d_model
    queries, keys = card.num_heads * d, card.num_kv_heads * d
    weights = d * (2 * queries + 2 * keys)
    return weights + card.qkv_bias * (queries + 2 * keys) + card.bias * d


@wrong(
    check="attention-parameters",
    section=LAYER,
    sentence="the keys have fewer heads here, but the values have as many as the "
    "queries. Both have num_kv_heads.",
)
def attention_parameters(card):
    queries, keys = (n * card.d_head for n in (card.num_heads, card.num_kv_heads))
    weights = card.d_model * (3 * queries + keys)
    return weights + card.qkv_bias * (2 * queries + keys) + card.bias * card.d_model


@wrong(
    check="attention-parameters",
    section=LAYER,
    sentence="one switch decides about all biases. Those of queries, keys and values "
    "follow qkv_bias, that of the output follows bias.",
)
def attention_parameters(card):
    queries, keys = (n * card.d_head for n in (card.num_heads, card.num_kv_heads))
    weights = card.d_model * (2 * queries + 2 * keys)
    return weights + card.bias * (queries + 2 * keys + card.d_model)


@wrong(
    check="attention-parameters",
    section=LAYER,
    sentence="the bias of the output has as many numbers as the heads are wide. It is "
    "added to what comes out: d_model numbers.",
    seen="graded",
)
def attention_parameters(card):
    queries, keys = (n * card.d_head for n in (card.num_heads, card.num_kv_heads))
    weights = card.d_model * (2 * queries + 2 * keys)
    return weights + card.qkv_bias * (queries + 2 * keys) + card.bias * queries


@wrong(
    check="feed-forward-parameters",
    section=LAYER,
    sentence="the inner width is taken to be four times d_model. The card gives d_ff.",
)
def feed_forward_parameters(card):
    d, inner = card.d_model, 4 * card.d_model
    return (3 if card.gated else 2) * d * inner + (not card.gated) * card.bias * (
        d + inner
    )


@wrong(
    check="feed-forward-parameters",
    section=LAYER,
    sentence="the gate's matrix is missing: a gated layer has three.",
)
def feed_forward_parameters(card):
    biases = card.bias and not card.gated
    return 2 * card.d_model * card.d_ff + biases * (card.d_ff + card.d_model)


@wrong(
    check="feed-forward-parameters",
    section=LAYER,
    sentence="a gated layer is given biases. It has none.",
)
def feed_forward_parameters(card):
    if card.gated:
        return 3 * card.d_model * card.d_ff + card.bias * (2 * card.d_ff + card.d_model)
    return 2 * card.d_model * card.d_ff + card.bias * (card.d_ff + card.d_model)


@wrong(
    check="feed-forward-parameters",
    section=LAYER,
    sentence="the biases are not counted: d_ff on the way up, d_model on the way down.",
)
def feed_forward_parameters(card):
    return (3 if card.gated else 2) * card.d_model * card.d_ff


@wrong(
    check="feed-forward-parameters",
    section=LAYER,
    sentence="the way back down is missing. There is a matrix up and another one down.",
)
def feed_forward_parameters(card):
    if card.gated:
        return 2 * card.d_model * card.d_ff
    return card.d_model * card.d_ff + card.bias * card.d_ff


@wrong(
    check="layer-parameters",
    section=LAYER,
    sentence="the norms are missing: one for each sub-layer.",
)
def layer_parameters(card, cross=False):
    return (2 if cross else 1) * attention_parameters(card) + feed_forward_parameters(
        card
    )


@wrong(
    check="layer-parameters",
    section=LAYER,
    sentence="the second attention has no norm. Every sub-layer has one.",
)
def layer_parameters(card, cross=False):
    attentions = (2 if cross else 1) * attention_parameters(card)
    return attentions + feed_forward_parameters(card) + 2 * norm_parameters(card)


@wrong(
    check="layer-parameters",
    section=LAYER,
    sentence="cross is not looked at: the second attention and its norm are missing.",
)
def layer_parameters(card, cross=False):
    norms = 2 * norm_parameters(card)
    return attention_parameters(card) + feed_forward_parameters(card) + norms


@wrong(
    check="layer-parameters",
    section=LAYER,
    sentence="both attentions share one set of matrices. Cross-attention has its own.",
)
def layer_parameters(card, cross=False):
    norms = (3 if cross else 2) * norm_parameters(card)
    return attention_parameters(card) + feed_forward_parameters(card) + norms


@wrong(
    check="layer-parameters",
    section=LAYER,
    sentence="a layer is given the norm that stands at the end of a stack. It belongs "
    "to no layer.",
    seen="graded",
)
def layer_parameters(card, cross=False):
    norms = (3 if cross else 2) + card.norm_first
    attentions = (2 if cross else 1) * attention_parameters(card)
    return attentions + feed_forward_parameters(card) + norms * norm_parameters(card)


@wrong(
    check="parameters",
    section=WHERE,
    sentence="a tied head is counted as a matrix of its own. It is the table of the "
    "tokens, and that is counted already.",
)
def parameters(card):
    layers, cross = card.num_layers, card.decoder_layers
    norms = 2 * layers + 3 * cross + card.norm_first * (2 if cross else 1)
    found = {
        "embeddings": embedding_parameters(card),
        "attention": (layers + 2 * cross) * attention_parameters(card),
        "feed-forward": (layers + cross) * feed_forward_parameters(card),
        "norms": norms * norm_parameters(card),
        "head": card.vocab_size * card.d_model,
    }
    return found | {"all": sum(found.values())}


@wrong(
    check="parameters",
    section=WHERE,
    sentence="a decoder's layer is counted with one attention. Beside its own it has "
    "one that looks at the encoder.",
)
def parameters(card):
    layers, cross = card.num_layers, card.decoder_layers
    norms = 2 * layers + 3 * cross + card.norm_first * (2 if cross else 1)
    found = {
        "embeddings": embedding_parameters(card),
        "attention": (layers + cross) * attention_parameters(card),
        "feed-forward": (layers + cross) * feed_forward_parameters(card),
        "norms": norms * norm_parameters(card),
        "head": head_parameters(card),
    }
    return found | {"all": sum(found.values())}


@wrong(
    check="parameters",
    section=WHERE,
    sentence="the decoder is left out altogether: num_layers are those of the encoder "
    "alone.",
)
def parameters(card):
    layers = card.num_layers
    found = {
        "embeddings": embedding_parameters(card),
        "attention": layers * attention_parameters(card),
        "feed-forward": layers * feed_forward_parameters(card),
        "norms": (2 * layers + card.norm_first) * norm_parameters(card),
        "head": head_parameters(card),
    }
    return found | {"all": sum(found.values())}


@wrong(
    check="parameters",
    section=WHERE,
    sentence="the norm at the end is missing. With the norm first, each stack ends "
    "with one more.",
)
def parameters(card):
    layers, cross = card.num_layers, card.decoder_layers
    found = {
        "embeddings": embedding_parameters(card),
        "attention": (layers + 2 * cross) * attention_parameters(card),
        "feed-forward": (layers + cross) * feed_forward_parameters(card),
        "norms": (2 * layers + 3 * cross) * norm_parameters(card),
        "head": head_parameters(card),
    }
    return found | {"all": sum(found.values())}


@wrong(
    check="parameters",
    section=WHERE,
    sentence="every model is given a norm at its end. With the norm after the "
    "sub-layer, the last sub-layer has ended with one already.",
)
def parameters(card):
    layers, cross = card.num_layers, card.decoder_layers
    norms = 2 * layers + 3 * cross + (2 if cross else 1)
    found = {
        "embeddings": embedding_parameters(card),
        "attention": (layers + 2 * cross) * attention_parameters(card),
        "feed-forward": (layers + cross) * feed_forward_parameters(card),
        "norms": norms * norm_parameters(card),
        "head": head_parameters(card),
    }
    return found | {"all": sum(found.values())}


@wrong(
    check="parameters",
    section=WHERE,
    sentence="there is one norm at the end of the model. An encoder and a decoder have "
    "one each.",
)
def parameters(card):
    layers, cross = card.num_layers, card.decoder_layers
    norms = 2 * layers + 3 * cross + card.norm_first
    found = {
        "embeddings": embedding_parameters(card),
        "attention": (layers + 2 * cross) * attention_parameters(card),
        "feed-forward": (layers + cross) * feed_forward_parameters(card),
        "norms": norms * norm_parameters(card),
        "head": head_parameters(card),
    }
    return found | {"all": sum(found.values())}


@wrong(
    check="parameters",
    section=WHERE,
    sentence="the tables are left out of the sum. They are parameters like the others, "
    "though some cards give a count without them.",
)
def parameters(card):
    layers, cross = card.num_layers, card.decoder_layers
    norms = 2 * layers + 3 * cross + card.norm_first * (2 if cross else 1)
    found = {
        "attention": (layers + 2 * cross) * attention_parameters(card),
        "feed-forward": (layers + cross) * feed_forward_parameters(card),
        "norms": norms * norm_parameters(card),
        "head": head_parameters(card),
    }
    tables = {"embeddings": embedding_parameters(card)}
    return tables | found | {"all": sum(found.values())}


@wrong(
    check="multiplied-weights",
    section=WORK,
    sentence="all parameters are counted. Biases, norms and the tables that are looked "
    "up are not multiplied.",
)
def multiplied_weights(card):
    return parameters(card)["all"]


@wrong(
    check="multiplied-weights",
    section=WORK,
    sentence="the head is left out, or only counted when it has a matrix of its own. A "
    "shared matrix is multiplied as well.",
)
def multiplied_weights(card):
    layers, cross = card.num_layers, card.decoder_layers
    each = 2 * card.num_heads * card.d_head + 2 * card.num_kv_heads * card.d_head
    weights = (layers + 2 * cross) * card.d_model * each
    weights += (layers + cross) * (3 if card.gated else 2) * card.d_model * card.d_ff
    return weights + (card.head == "untied") * card.d_model * card.vocab_size


@wrong(
    check="multiplied-weights",
    section=WORK,
    sentence="the table at the entrance is counted beside the head. There a row is "
    "looked up, and nothing is multiplied.",
)
def multiplied_weights(card):
    layers, cross = card.num_layers, card.decoder_layers
    each = 2 * card.num_heads * card.d_head + 2 * card.num_kv_heads * card.d_head
    weights = (layers + 2 * cross) * card.d_model * each
    weights += (layers + cross) * (3 if card.gated else 2) * card.d_model * card.d_ff
    dense = card.d_model if card.head == "transformed" else 0
    return weights + card.d_model * (2 * card.vocab_size + dense)


@wrong(
    check="multiplied-weights",
    section=WORK,
    sentence="the layer before BERT's head is missing: with head “transformed”, "
    "d_model times d_model weights more.",
)
def multiplied_weights(card):
    layers, cross = card.num_layers, card.decoder_layers
    each = 2 * card.num_heads * card.d_head + 2 * card.num_kv_heads * card.d_head
    weights = (layers + 2 * cross) * card.d_model * each
    weights += (layers + cross) * (3 if card.gated else 2) * card.d_model * card.d_ff
    return weights + card.d_model * card.vocab_size


@wrong(
    check="multiplied-weights",
    section=WORK,
    sentence="every layer is taken to have 12 times the square of d_model. That holds "
    "for GPT-2 and BERT, not for every card.",
)
def multiplied_weights(card):
    layers = card.num_layers + card.decoder_layers
    dense = card.d_model if card.head == "transformed" else 0
    return layers * 12 * card.d_model**2 + card.d_model * (card.vocab_size + dense)


@wrong(
    check="multiplied-weights",
    section=WORK,
    sentence="the second attention of a decoder's layer is missing.",
)
def multiplied_weights(card):
    layers = card.num_layers + card.decoder_layers
    each = 2 * card.num_heads * card.d_head + 2 * card.num_kv_heads * card.d_head
    weights = layers * card.d_model * each
    weights += layers * (3 if card.gated else 2) * card.d_model * card.d_ff
    dense = card.d_model if card.head == "transformed" else 0
    return weights + card.d_model * (card.vocab_size + dense)


@wrong(
    check="flops-per-token",
    section=WORK,
    sentence="a weight counts as one operation. It is two: a multiplication and an "
    "addition.",
)
def flops_per_token(card, context):
    attentions = card.num_layers + 2 * card.decoder_layers
    looks = attentions * 2 * card.num_heads * card.d_head * context
    return multiplied_weights(card) + looks


@wrong(
    check="flops-per-token",
    section=WORK,
    sentence="the looking is left out. Each query is compared with the keys of the "
    "whole context.",
)
def flops_per_token(card, context):
    return 2 * multiplied_weights(card)


@wrong(
    check="flops-per-token",
    section=WORK,
    sentence="only the comparing with keys is counted. The values are added up as "
    "well, which costs as much again.",
)
def flops_per_token(card, context):
    attentions = card.num_layers + 2 * card.decoder_layers
    looks = attentions * 2 * card.num_heads * card.d_head * context
    return 2 * multiplied_weights(card) + looks


@wrong(
    check="flops-per-token",
    section=WORK,
    sentence="the comparing is counted with the heads of the keys. Each head of the "
    "queries compares, also where several share their keys.",
)
def flops_per_token(card, context):
    attentions = card.num_layers + 2 * card.decoder_layers
    looks = attentions * 2 * card.num_kv_heads * card.d_head * context
    return 2 * (multiplied_weights(card) + looks)


@wrong(
    check="flops-per-token",
    section=WORK,
    sentence="this is the looking of a whole text. One token looks at the context "
    "once, so it grows with the context and not with its square.",
)
def flops_per_token(card, context):
    attentions = card.num_layers + 2 * card.decoder_layers
    looks = attentions * 2 * card.num_heads * card.d_head * context**2
    return 2 * (multiplied_weights(card) + looks)


@wrong(
    check="flops-per-token",
    section=WORK,
    sentence="a layer of the decoder looks once. It looks at its own text and at the "
    "encoder's.",
)
def flops_per_token(card, context):
    attentions = card.num_layers + card.decoder_layers
    looks = attentions * 2 * card.num_heads * card.d_head * context
    return 2 * (multiplied_weights(card) + looks)


@wrong(
    check="training-flops",
    section=TRAINING,
    sentence="this is the way forward alone. Backward costs twice as much again.",
)
def training_flops(num_parameters, num_tokens):
    return 2 * num_parameters * num_tokens


@wrong(
    check="training-flops",
    section=TRAINING,
    sentence="backward is counted like forward. It has two gradients to compute: of "
    "the weights, and of the vectors.",
)
def training_flops(num_parameters, num_tokens):
    return 4 * num_parameters * num_tokens


@wrong(
    check="training-flops",
    section=TRAINING,
    sentence="a weight counts as one operation in each direction. It is a "
    "multiplication and an addition.",
)
def training_flops(num_parameters, num_tokens):
    return 3 * num_parameters * num_tokens


@wrong(
    check="cache-bytes",
    section=CACHE,
    sentence="only one of keys and values is counted. Both are kept.",
)
def cache_bytes(card, num_tokens, bytes_each=2):
    layers = card.decoder_layers or card.num_layers
    return layers * card.num_kv_heads * card.d_head * num_tokens * bytes_each


@wrong(
    check="cache-bytes",
    section=CACHE,
    sentence="all heads of the queries are counted. Queries are not kept; keys and "
    "values have num_kv_heads.",
)
def cache_bytes(card, num_tokens, bytes_each=2):
    layers = card.decoder_layers or card.num_layers
    return 2 * layers * card.num_heads * card.d_head * num_tokens * bytes_each


@wrong(
    check="cache-bytes",
    section=CACHE,
    sentence="d_model numbers are kept for each key. It is num_kv_heads * d_head.",
)
def cache_bytes(card, num_tokens, bytes_each=2):
    layers = card.decoder_layers or card.num_layers
    return 2 * layers * card.d_model * num_tokens * bytes_each


@wrong(
    check="cache-bytes",
    section=CACHE,
    sentence="one layer is counted. Every layer keeps keys and values of its own.",
)
def cache_bytes(card, num_tokens, bytes_each=2):
    return 2 * card.num_kv_heads * card.d_head * num_tokens * bytes_each


@wrong(
    check="cache-bytes",
    section=CACHE,
    sentence="numbers are counted, not bytes: multiply by bytes_each.",
)
def cache_bytes(card, num_tokens, bytes_each=2):
    layers = card.decoder_layers or card.num_layers
    return 2 * layers * card.num_kv_heads * card.d_head * num_tokens


@wrong(
    check="cache-bytes",
    section=CACHE,
    sentence="a number always has two bytes here. Their size is handed over as "
    "bytes_each.",
)
def cache_bytes(card, num_tokens, bytes_each=2):
    layers = card.decoder_layers or card.num_layers
    return 4 * layers * card.num_kv_heads * card.d_head * num_tokens


@wrong(
    check="cache-bytes",
    section=CACHE,
    sentence="the layers of the encoder are counted. It has read its text once and for "
    "all; the decoder keeps a cache.",
)
def cache_bytes(card, num_tokens, bytes_each=2):
    each = 2 * card.num_kv_heads * card.d_head * bytes_each
    return card.num_layers * each * num_tokens


@wrong(
    check="cache-bytes",
    section=CACHE,
    sentence="the layers of encoder and decoder are added up. Only the decoder keeps "
    "keys and values of each token that is written.",
)
def cache_bytes(card, num_tokens, bytes_each=2):
    each = 2 * card.num_kv_heads * card.d_head * bytes_each
    return (card.num_layers + card.decoder_layers) * each * num_tokens


@wrong(
    check="cache-bytes",
    section=CACHE,
    sentence="the bytes grow with the square of the tokens. The scores do that, and "
    "are not kept: each token leaves as much as the one before.",
)
def cache_bytes(card, num_tokens, bytes_each=2):
    layers = card.decoder_layers or card.num_layers
    return 2 * layers * card.num_kv_heads * card.d_head * num_tokens**2 * bytes_each


@wrong(
    check="seconds-for-token",
    section=TIME,
    sentence="the shorter of the two times is given. Both must be done, so the longer "
    "one holds.",
)
def seconds_for_token(
    card, context, bytes_per_second, flops_per_second, bytes_each=2, batch=1
):
    read = multiplied_weights(card) * bytes_each
    read += batch * cache_bytes(card, context, bytes_each)
    times = {
        "reading": read / bytes_per_second,
        "computing": batch * flops_per_token(card, context) / flops_per_second,
    }
    return times | {"at least": min(times.values())}


@wrong(
    check="seconds-for-token",
    section=TIME,
    sentence="the two times are added up. A machine reads and computes at the same "
    "time.",
)
def seconds_for_token(
    card, context, bytes_per_second, flops_per_second, bytes_each=2, batch=1
):
    read = multiplied_weights(card) * bytes_each
    read += batch * cache_bytes(card, context, bytes_each)
    times = {
        "reading": read / bytes_per_second,
        "computing": batch * flops_per_token(card, context) / flops_per_second,
    }
    return times | {"at least": sum(times.values())}


@wrong(
    check="seconds-for-token",
    section=TIME,
    sentence="the weights are read anew for each text. One reading serves all of them; "
    "that is why texts are put together.",
)
def seconds_for_token(
    card, context, bytes_per_second, flops_per_second, bytes_each=2, batch=1
):
    read = multiplied_weights(card) * bytes_each
    read += cache_bytes(card, context, bytes_each)
    times = {
        "reading": batch * read / bytes_per_second,
        "computing": batch * flops_per_token(card, context) / flops_per_second,
    }
    return times | {"at least": max(times.values())}


@wrong(
    check="seconds-for-token",
    section=TIME,
    sentence="one cache is read for all texts. Each text has its own.",
)
def seconds_for_token(
    card, context, bytes_per_second, flops_per_second, bytes_each=2, batch=1
):
    read = multiplied_weights(card) * bytes_each
    read += cache_bytes(card, context, bytes_each)
    times = {
        "reading": read / bytes_per_second,
        "computing": batch * flops_per_token(card, context) / flops_per_second,
    }
    return times | {"at least": max(times.values())}


@wrong(
    check="seconds-for-token",
    section=TIME,
    sentence="the cache is not read. Each token looks at all keys and values before "
    "it.",
)
def seconds_for_token(
    card, context, bytes_per_second, flops_per_second, bytes_each=2, batch=1
):
    times = {
        "reading": multiplied_weights(card) * bytes_each / bytes_per_second,
        "computing": batch * flops_per_token(card, context) / flops_per_second,
    }
    return times | {"at least": max(times.values())}


@wrong(
    check="seconds-for-token",
    section=TIME,
    sentence="the operations of one text are counted, not of all in the batch.",
)
def seconds_for_token(
    card, context, bytes_per_second, flops_per_second, bytes_each=2, batch=1
):
    read = multiplied_weights(card) * bytes_each
    read += batch * cache_bytes(card, context, bytes_each)
    times = {
        "reading": read / bytes_per_second,
        "computing": flops_per_token(card, context) / flops_per_second,
    }
    return times | {"at least": max(times.values())}


@wrong(
    check="seconds-for-token",
    section=TIME,
    sentence="the weights have two bytes each, whatever bytes_each says.",
)
def seconds_for_token(
    card, context, bytes_per_second, flops_per_second, bytes_each=2, batch=1
):
    read = multiplied_weights(card) * 2
    read += batch * cache_bytes(card, context, bytes_each)
    times = {
        "reading": read / bytes_per_second,
        "computing": batch * flops_per_token(card, context) / flops_per_second,
    }
    return times | {"at least": max(times.values())}


@wrong(
    check="seconds-for-token",
    section=TIME,
    sentence="weights are counted, not bytes: multiply by bytes_each.",
)
def seconds_for_token(
    card, context, bytes_per_second, flops_per_second, bytes_each=2, batch=1
):
    read = multiplied_weights(card) + batch * cache_bytes(card, context, bytes_each)
    times = {
        "reading": read / bytes_per_second,
        "computing": batch * flops_per_token(card, context) / flops_per_second,
    }
    return times | {"at least": max(times.values())}


@wrong(
    check="seconds-for-token",
    section=TIME,
    sentence="all parameters are read, also the tables of which one row is looked up, "
    "so this is no lower bound. Read what is multiplied.",
)
def seconds_for_token(
    card, context, bytes_per_second, flops_per_second, bytes_each=2, batch=1
):
    read = parameters(card)["all"] * bytes_each
    read += batch * cache_bytes(card, context, bytes_each)
    times = {
        "reading": read / bytes_per_second,
        "computing": batch * flops_per_token(card, context) / flops_per_second,
    }
    return times | {"at least": max(times.values())}


@wrong(
    check="misfits",
    section=WEIGHTS,
    sentence="missing and left over have changed places. Missing is what the model has "
    "and the checkpoint has not.",
)
def misfits(tensors, own):
    both = tensors.keys() & own.keys()
    return {
        "missing": sorted(tensors.keys() - both),
        "left over": sorted(own.keys() - both),
        "of another shape": sorted(
            name for name in both if tensors[name].shape != own[name].shape
        ),
    }


@wrong(
    check="misfits",
    section=WEIGHTS,
    sentence="only the number of numbers is compared. A matrix that is turned has as "
    "many, and does not fit.",
)
def misfits(tensors, own):
    both = tensors.keys() & own.keys()
    return {
        "missing": sorted(own.keys() - both),
        "left over": sorted(tensors.keys() - both),
        "of another shape": sorted(
            name for name in both if tensors[name].numel() != own[name].numel()
        ),
    }


@wrong(
    check="misfits",
    section=WEIGHTS,
    sentence="the shapes are not compared: only names are.",
)
def misfits(tensors, own):
    return {
        "missing": sorted(own.keys() - tensors.keys()),
        "left over": sorted(tensors.keys() - own.keys()),
        "of another shape": [],
    }


@wrong(
    check="misfits",
    section=WEIGHTS,
    sentence="what is left over goes unsaid. A tensor that is silently passed over is "
    "the usual sign of a wrong name.",
)
def misfits(tensors, own):
    both = tensors.keys() & own.keys()
    return {
        "missing": sorted(own.keys() - both),
        "left over": [],
        "of another shape": sorted(
            name for name in both if tensors[name].shape != own[name].shape
        ),
    }


@wrong(
    check="misfits",
    section=WEIGHTS,
    sentence="what is missing goes unsaid, so that random numbers would stay in the "
    "model, as strict=False leaves them.",
)
def misfits(tensors, own):
    both = tensors.keys() & own.keys()
    return {
        "missing": [],
        "left over": sorted(tensors.keys() - both),
        "of another shape": sorted(
            name for name in both if tensors[name].shape != own[name].shape
        ),
    }


@wrong(
    check="misfits",
    section=WEIGHTS,
    sentence="the names come in the order of the dictionaries. Sort them.",
)
def misfits(tensors, own):
    return {
        "missing": [name for name in own if name not in tensors],
        "left over": [name for name in tensors if name not in own],
        "of another shape": [
            name
            for name in own
            if name in tensors and tensors[name].shape != own[name].shape
        ],
    }


@wrong(
    check="misfits",
    section=WEIGHTS,
    sentence="only the number of axes is compared, not how long each is.",
)
def misfits(tensors, own):
    both = tensors.keys() & own.keys()
    return {
        "missing": sorted(own.keys() - both),
        "left over": sorted(tensors.keys() - both),
        "of another shape": sorted(
            name for name in both if tensors[name].ndim != own[name].ndim
        ),
    }


@wrong(
    check="misfits",
    section=WEIGHTS,
    sentence="what would broadcast is taken to fit: one number would be copied into "
    "all places.",
    seen="graded",
)
def misfits(tensors, own):
    def fits(theirs, mine):
        try:
            return torch.broadcast_shapes(theirs.shape, mine.shape) == mine.shape
        except RuntimeError:
            return False

    both = tensors.keys() & own.keys()
    return {
        "missing": sorted(own.keys() - both),
        "left over": sorted(tensors.keys() - both),
        "of another shape": sorted(
            name for name in both if not fits(tensors[name], own[name])
        ),
    }


@wrong(
    check="nearest",
    section=MEANING,
    sentence="dot products are compared, so long vectors win. Divide by both lengths.",
)
def nearest(question, sentences, count):
    scores = sentences @ question
    best = scores.topk(min(count, len(scores)))
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


@wrong(
    check="nearest",
    section=MEANING,
    sentence="the question is brought to length one, but the sentences keep their "
    "lengths.",
)
def nearest(question, sentences, count):
    scores = sentences @ F.normalize(question, dim=0)
    best = scores.topk(min(count, len(scores)))
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


@wrong(
    check="nearest",
    section=MEANING,
    sentence="the sentences are brought to length one, but the question keeps its own, "
    "so these are no cosines.",
)
def nearest(question, sentences, count):
    scores = F.normalize(sentences, dim=-1) @ question
    best = scores.topk(min(count, len(scores)))
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


@wrong(
    check="nearest",
    section=MEANING,
    sentence="distances are compared, and not directions.",
)
def nearest(question, sentences, count):
    distances = (sentences - question).norm(dim=-1)
    best = distances.topk(min(count, len(distances)), largest=False)
    cosines = F.cosine_similarity(question[None], sentences, dim=-1)
    return [(i, cosines[i].item()) for i in best.indices.tolist()]


@wrong(
    check="nearest",
    section=MEANING,
    sentence="the farthest come first: a large cosine is a small angle.",
)
def nearest(question, sentences, count):
    cosines = F.cosine_similarity(question[None], sentences, dim=-1)
    best = cosines.topk(min(count, len(cosines)), largest=False)
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


@wrong(
    check="nearest",
    section=MEANING,
    sentence="the sign is lost: a vector that points the other way counts as near.",
)
def nearest(question, sentences, count):
    cosines = F.cosine_similarity(question[None], sentences, dim=-1).abs()
    best = cosines.topk(min(count, len(cosines)))
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


@wrong(
    check="nearest",
    section=MEANING,
    sentence="the right sentences, in the order of their places. Give the nearest "
    "first.",
)
def nearest(question, sentences, count):
    cosines = F.cosine_similarity(question[None], sentences, dim=-1)
    places = cosines.topk(min(count, len(cosines))).indices.sort().values
    return [(i, cosines[i].item()) for i in places.tolist()]


@wrong(
    check="nearest",
    section=MEANING,
    sentence="the lengths are taken along the wrong axis: each number over all "
    "sentences, instead of each sentence.",
)
def nearest(question, sentences, count):
    cosines = F.normalize(sentences, dim=0) @ F.normalize(question, dim=0)
    best = cosines.topk(min(count, len(cosines)))
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


@wrong(
    check="nearest",
    section=MEANING,
    sentence="places and cosines come as tensors. Turn them into plain numbers, with "
    ".item() or .tolist().",
)
def nearest(question, sentences, count):
    cosines = F.cosine_similarity(question[None], sentences, dim=-1)
    best = cosines.topk(min(count, len(cosines)))
    return list(zip(best.indices, best.values, strict=True))


@wrong(
    check="nearest",
    section=MEANING,
    sentence="this fails when more sentences are asked for than there are. Give them "
    "all.",
)
def nearest(question, sentences, count):
    cosines = F.cosine_similarity(question[None], sentences, dim=-1)
    best = cosines.topk(count)
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


@wrong(
    check="nearest",
    section=MEANING,
    sentence="the sentences are divided by their lengths in place, so the caller's "
    "vectors are changed.",
    seen="graded",
)
def nearest(question, sentences, count):
    sentences /= sentences.norm(dim=-1, keepdim=True)
    cosines = sentences @ F.normalize(question, dim=0)
    best = cosines.topk(min(count, len(cosines)))
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


wrong_choice(
    "width",
    check="concept-width",
    section=WHERE,
    a="the model dimension is the width of the vectors. The parameters follow from it "
    "and from all the other numbers, and are many more.",
    c="how many tokens it can read is the context length, another line of the card.",
    d="a head is this width divided by the number of heads, if the card does not say "
    "otherwise.",
)
wrong_choice(
    "memory_bound",
    check="concept-memory-bound",
    section=TIME,
    a="one token looks at the text once. For usual lengths that is the smaller part, "
    "and computing is not what takes the time.",
    b="the head is one matrix among many.",
    d="the layers do follow each other, but each of them waits for its weights.",
)
wrong_choice(
    "fewer_heads",
    check="concept-fewer-heads",
    section=CACHE,
    b="each head of the queries still compares itself with every key, its own or a "
    "shared one.",
    c="only the matrices of keys and values shrink; the feed-forward layers are "
    "most of a model.",
    d="the cache holds them before they are repeated, and the cache is what fills the "
    "memory.",
)
wrong_choice(
    "tied_table",
    check="concept-tied-table",
    section=WORK,
    a="at the entrance a row is looked up; but the head multiplies by all of it.",
    b="it is multiplied once, at the head. At the entrance a row is looked up.",
    c="every token is compared with all tokens of the vocabulary at the head.",
)
wrong_choice(
    "strict",
    check="concept-strict",
    section=WEIGHTS,
    a="strict=True raises that error. strict=False is what turns it off.",
    b="names are what is matched. Two matrices of the same shape could not be told "
    "apart by it.",
    d="every tensor whose name is not found is left out, matrices as well.",
)
