"""Wrong answers that learners really give in chapter 14, each with its explanation."""

import torch
import torch.nn.functional as F

from exercises.answers import wrong, wrong_choice
from solutions.block_sparse import block_table
from solutions.positions import relative_distances, t5_buckets

TASKS = "Every task is text"
SPANS = "Hide spans, ask for them"
INSIDE = "What is different inside T5"
NOISES = "Five ways to spoil a text"
SHIFT = "What the decoder is given"
LANGUAGES = "A token for each language"
PLACES = "Counting real tokens only"
BLOCKS = "Who looks at whom"
SPARSE = "A cost that grows with the length"


@wrong(
    check="span-corruption",
    section=SPANS,
    sentence="every span gets the same sentinel. Then nobody can tell which part of "
    "the answer belongs where: the first span has the first, the second the second.",
)
def span_corruption(tokens, spans, sentinels):
    if len(sentinels) <= len(spans):
        raise ValueError("too few sentinels")
    inputs, targets, place = [], [], 0
    for start, length in spans:
        inputs += [*tokens[place:start], sentinels[0]]
        targets += [sentinels[0], *tokens[start : start + length]]
        place = start + length
    return inputs + tokens[place:], [*targets, sentinels[0]]


@wrong(
    check="span-corruption",
    section=SPANS,
    sentence="the target does not end with a sentinel of its own. It tells the model "
    "that the last span is over.",
)
def span_corruption(tokens, spans, sentinels):
    if len(sentinels) <= len(spans):
        raise ValueError("too few sentinels")
    inputs, targets, place = [], [], 0
    for (start, length), sentinel in zip(spans, sentinels, strict=False):
        inputs += [*tokens[place:start], sentinel]
        targets += [sentinel, *tokens[start : start + length]]
        place = start + length
    return inputs + tokens[place:], targets


@wrong(
    check="span-corruption",
    section=SPANS,
    sentence="what stands behind the last span is missing from the input.",
)
def span_corruption(tokens, spans, sentinels):
    if len(sentinels) <= len(spans):
        raise ValueError("too few sentinels")
    inputs, targets, place = [], [], 0
    for (start, length), sentinel in zip(spans, sentinels, strict=False):
        inputs += [*tokens[place:start], sentinel]
        targets += [sentinel, *tokens[start : start + length]]
        place = start + length
    return inputs, [*targets, sentinels[len(spans)]]


@wrong(
    check="span-corruption",
    section=SPANS,
    sentence="each hidden token has a sentinel of its own. One sentinel stands for the "
    "whole span: that is what makes the texts short.",
)
def span_corruption(tokens, spans, sentinels):
    hidden = [p for start, length in spans for p in range(start, start + length)]
    if len(sentinels) <= len(spans):
        raise ValueError("too few sentinels")
    names = dict(zip(hidden, sentinels * 9, strict=False))
    inputs = [names.get(place, token) for place, token in enumerate(tokens)]
    targets = []
    for place in hidden:
        targets += [names[place], tokens[place]]
    return inputs, [*targets, sentinels[len(spans)]]


@wrong(
    check="span-corruption",
    section=SPANS,
    sentence="the target is the whole text, as in BART. T5 asks for the hidden spans "
    "only, each behind its sentinel.",
)
def span_corruption(tokens, spans, sentinels):
    if len(sentinels) <= len(spans):
        raise ValueError("too few sentinels")
    inputs, place = [], 0
    for (start, length), sentinel in zip(spans, sentinels, strict=False):
        inputs += [*tokens[place:start], sentinel]
        place = start + length
    return inputs + tokens[place:], tokens


@wrong(
    check="span-corruption",
    section=SPANS,
    sentence="in the target the sentinel stands behind its span. It comes first: it "
    "says which span follows.",
)
def span_corruption(tokens, spans, sentinels):
    if len(sentinels) <= len(spans):
        raise ValueError("too few sentinels")
    inputs, targets, place = [], [], 0
    for (start, length), sentinel in zip(spans, sentinels, strict=False):
        inputs += [*tokens[place:start], sentinel]
        targets += [*tokens[start : start + length], sentinel]
        place = start + length
    return inputs + tokens[place:], [*targets, sentinels[len(spans)]]


@wrong(
    check="span-corruption",
    section=SPANS,
    sentence="the second number of a span is taken for its end. It is its length.",
)
def span_corruption(tokens, spans, sentinels):
    if len(sentinels) <= len(spans):
        raise ValueError("too few sentinels")
    inputs, targets, place = [], [], 0
    for (start, end), sentinel in zip(spans, sentinels, strict=False):
        inputs += [*tokens[place:start], sentinel]
        targets += [sentinel, *tokens[start:end]]
        place = end
    return inputs + tokens[place:], [*targets, sentinels[len(spans)]]


@wrong(
    check="span-corruption",
    section=SPANS,
    sentence="the target ends with the last of all sentinels, not with the next one.",
)
def span_corruption(tokens, spans, sentinels):
    if len(sentinels) <= len(spans):
        raise ValueError("too few sentinels")
    inputs, targets, place = [], [], 0
    for (start, length), sentinel in zip(spans, sentinels, strict=False):
        inputs += [*tokens[place:start], sentinel]
        targets += [sentinel, *tokens[start : start + length]]
        place = start + length
    return inputs + tokens[place:], [*targets, sentinels[-1]]


@wrong(
    check="span-corruption",
    section=SPANS,
    sentence="as many sentinels as spans pass without an error, though the target "
    "needs one more for its end.",
)
def span_corruption(tokens, spans, sentinels):
    if len(sentinels) < len(spans):
        raise ValueError("too few sentinels")
    inputs, targets, place = [], [], 0
    for (start, length), sentinel in zip(spans, sentinels, strict=False):
        inputs += [*tokens[place:start], sentinel]
        targets += [sentinel, *tokens[start : start + length]]
        place = start + length
    return inputs + tokens[place:], [*targets, *sentinels[len(spans) : len(spans) + 1]]


@wrong(
    check="put-back",
    section=SPANS,
    sentence="the spans are put back in the order in which they were written. Which "
    "place they belong to is what their sentinel says.",
)
def put_back(inputs, answer, sentinels):
    spans = []
    for token in answer:
        if token in sentinels:
            spans.append([])
        elif spans:
            spans[-1].append(token)
    restored = []
    for token in inputs:
        if token in sentinels:
            restored += spans.pop(0) if spans else []
        else:
            restored.append(token)
    return restored


@wrong(
    check="put-back",
    section=SPANS,
    sentence="a sentinel that the answer leaves out stays in the text. It stands for "
    "nothing.",
)
def put_back(inputs, answer, sentinels):
    spans, name = {}, None
    for token in answer:
        if token in sentinels:
            name = token
        else:
            spans.setdefault(name, []).append(token)
    return [t for token in inputs for t in spans.get(token, [token])]


@wrong(
    check="put-back",
    section=SPANS,
    sentence="a sentinel that the answer leaves out is an error. A model may write "
    "anything: read generously.",
)
def put_back(inputs, answer, sentinels):
    spans, name = {}, None
    for token in answer:
        if token in sentinels:
            name = token
            spans[name] = []
        else:
            spans[name].append(token)
    restored = []
    for token in inputs:
        restored += spans[token] if token in sentinels else [token]
    return restored


@wrong(
    check="put-back",
    section=SPANS,
    sentence="a sentinel that comes twice begins anew, and what it had is lost. It "
    "goes on where it stopped.",
    seen="graded",
)
def put_back(inputs, answer, sentinels):
    spans, name = {}, None
    for token in answer:
        if token in sentinels:
            name = token
            spans[name] = []
        else:
            spans.setdefault(name, []).append(token)
    restored = []
    for token in inputs:
        restored += spans.get(token, []) if token in sentinels else [token]
    return restored


@wrong(
    check="t5-bias",
    section=INSIDE,
    sentence="the buckets look both ways, so half of them are kept for keys ahead, "
    "which the decoder never sees. Use `both_ways=False`.",
)
def t5_decoder_bias(table, query_len, key_len, max_distance=128):
    distances = relative_distances(key_len, key_len)[key_len - query_len :]
    buckets = t5_buckets(distances, len(table), max_distance, both_ways=True)
    return table[buckets].permute(2, 0, 1).masked_fill(distances > 0, -torch.inf)


@wrong(
    check="t5-bias",
    section=INSIDE,
    sentence="the sign of the distance is turned round: query minus key. Then all keys "
    "behind share one bucket.",
)
def t5_decoder_bias(table, query_len, key_len, max_distance=128):
    distances = relative_distances(key_len, key_len)[key_len - query_len :]
    buckets = t5_buckets(-distances, len(table), max_distance, both_ways=False)
    return table[buckets].permute(2, 0, 1).masked_fill(distances > 0, -torch.inf)


@wrong(
    check="t5-bias",
    section=INSIDE,
    sentence="with a cache, the new query is taken to stand at place 0. It stands "
    "behind all the keys that are there.",
)
def t5_decoder_bias(table, query_len, key_len, max_distance=128):
    distances = relative_distances(query_len, key_len)
    buckets = t5_buckets(distances, len(table), max_distance, both_ways=False)
    return table[buckets].permute(2, 0, 1).masked_fill(distances > 0, -torch.inf)


@wrong(
    check="t5-bias",
    section=INSIDE,
    sentence="keys ahead of the query have no wall in front of them: the decoder would "
    "see what it is to write.",
)
def t5_decoder_bias(table, query_len, key_len, max_distance=128):
    distances = relative_distances(key_len, key_len)[key_len - query_len :]
    buckets = t5_buckets(distances, len(table), max_distance, both_ways=False)
    return table[buckets].permute(2, 0, 1)


@wrong(
    check="t5-bias",
    section=INSIDE,
    sentence="the heads come last. Scores are (heads, query_len, key_len): the heads "
    "must come first.",
)
def t5_decoder_bias(table, query_len, key_len, max_distance=128):
    distances = relative_distances(key_len, key_len)[key_len - query_len :]
    buckets = t5_buckets(distances, len(table), max_distance, both_ways=False)
    return table[buckets].masked_fill((distances > 0)[..., None], -torch.inf)


@wrong(
    check="t5-bias",
    section=INSIDE,
    sentence="the query's own key is walled off as well. A token may look at itself.",
)
def t5_decoder_bias(table, query_len, key_len, max_distance=128):
    distances = relative_distances(key_len, key_len)[key_len - query_len :]
    buckets = t5_buckets(distances, len(table), max_distance, both_ways=False)
    return table[buckets].permute(2, 0, 1).masked_fill(distances >= 0, -torch.inf)


@wrong(
    check="t5-bias",
    section=INSIDE,
    sentence="the distances are cut off at the size of the table. Buckets grow wider "
    "with the distance: use t5_buckets.",
    seen="graded",
)
def t5_decoder_bias(table, query_len, key_len, max_distance=128):
    distances = relative_distances(key_len, key_len)[key_len - query_len :]
    buckets = (-distances).clamp(0, len(table) - 1)
    return table[buckets].permute(2, 0, 1).masked_fill(distances > 0, -torch.inf)


@wrong(
    check="t5-bias",
    section=INSIDE,
    sentence="max_distance is always 128, whatever is handed over.",
    seen="graded",
)
def t5_decoder_bias(table, query_len, key_len, max_distance=128):
    distances = relative_distances(key_len, key_len)[key_len - query_len :]
    buckets = t5_buckets(distances, len(table), both_ways=False)
    return table[buckets].permute(2, 0, 1).masked_fill(distances > 0, -torch.inf)


@wrong(
    check="t5-decoder",
    section=INSIDE,
    sentence="the scores are divided by the square root of the width. T5 does not "
    "scale: its weights begin smaller instead.",
)
def t5_decoder(x, memory, layers, bias):
    for m in layers:
        root = m["W_q"].shape[1] ** 0.5
        scores = (x @ m["W_q"]) @ (x @ m["W_k"]).mT / root + bias
        x = x + torch.softmax(scores, dim=-1) @ (x @ m["W_v"]) @ m["W_o"]
        scores = (x @ m["C_q"]) @ (memory @ m["C_k"]).mT / root
        x = x + torch.softmax(scores, dim=-1) @ (memory @ m["C_v"]) @ m["C_o"]
    return x


@wrong(
    check="t5-decoder",
    section=INSIDE,
    sentence="cross-attention has a bias too. The places of the source are not those "
    "of the target: there is no distance between them.",
)
def t5_decoder(x, memory, layers, bias):
    for m in layers:
        scores = (x @ m["W_q"]) @ (x @ m["W_k"]).mT + bias
        x = x + torch.softmax(scores, dim=-1) @ (x @ m["W_v"]) @ m["W_o"]
        scores = (x @ m["C_q"]) @ (memory @ m["C_k"]).mT + bias
        x = x + torch.softmax(scores, dim=-1) @ (memory @ m["C_v"]) @ m["C_o"]
    return x


@wrong(
    check="t5-decoder",
    section=INSIDE,
    sentence="only the first layer has the bias. The table *lives* in the first layer "
    "of the published models, but all layers add it.",
)
def t5_decoder(x, memory, layers, bias):
    for m in layers:
        scores = (x @ m["W_q"]) @ (x @ m["W_k"]).mT + bias
        bias = torch.zeros_like(bias)
        x = x + torch.softmax(scores, dim=-1) @ (x @ m["W_v"]) @ m["W_o"]
        scores = (x @ m["C_q"]) @ (memory @ m["C_k"]).mT
        x = x + torch.softmax(scores, dim=-1) @ (memory @ m["C_v"]) @ m["C_o"]
    return x


@wrong(
    check="t5-decoder",
    section=INSIDE,
    sentence="the bias is not used at all: the model would not know the order of its "
    "tokens.",
)
def t5_decoder(x, memory, layers, bias):
    for m in layers:
        scores = (x @ m["W_q"]) @ (x @ m["W_k"]).mT
        x = x + torch.softmax(scores, dim=-1) @ (x @ m["W_v"]) @ m["W_o"]
        scores = (x @ m["C_q"]) @ (memory @ m["C_k"]).mT
        x = x + torch.softmax(scores, dim=-1) @ (memory @ m["C_v"]) @ m["C_o"]
    return x


@wrong(
    check="t5-decoder",
    section=INSIDE,
    sentence="the residuals are missing: each sub-layer's result is *added* to x.",
)
def t5_decoder(x, memory, layers, bias):
    for m in layers:
        scores = (x @ m["W_q"]) @ (x @ m["W_k"]).mT + bias
        x = torch.softmax(scores, dim=-1) @ (x @ m["W_v"]) @ m["W_o"]
        scores = (x @ m["C_q"]) @ (memory @ m["C_k"]).mT
        x = torch.softmax(scores, dim=-1) @ (memory @ m["C_v"]) @ m["C_o"]
    return x


@wrong(
    check="t5-decoder",
    section=INSIDE,
    sentence="in cross-attention the queries come from the memory and the keys from x. "
    "It is the other way round: the decoder asks.",
)
def t5_decoder(x, memory, layers, bias):
    for m in layers:
        scores = (x @ m["W_q"]) @ (x @ m["W_k"]).mT + bias
        x = x + torch.softmax(scores, dim=-1) @ (x @ m["W_v"]) @ m["W_o"]
        scores = (memory @ m["C_q"]) @ (x @ m["C_k"]).mT
        x = x + torch.softmax(scores, dim=-1).mT @ (memory @ m["C_v"]) @ m["C_o"]
    return x


@wrong(
    check="t5-decoder",
    section=INSIDE,
    sentence="all layers use the matrices of the first one. They share the bias only.",
)
def t5_decoder(x, memory, layers, bias):
    for _ in layers:
        m = layers[0]
        scores = (x @ m["W_q"]) @ (x @ m["W_k"]).mT + bias
        x = x + torch.softmax(scores, dim=-1) @ (x @ m["W_v"]) @ m["W_o"]
        scores = (x @ m["C_q"]) @ (memory @ m["C_k"]).mT
        x = x + torch.softmax(scores, dim=-1) @ (memory @ m["C_v"]) @ m["C_o"]
    return x


@wrong(
    check="t5-logits",
    section=INSIDE,
    sentence="the vectors are compared as they are. T5 multiplies them by "
    "d_model ** -0.5 first.",
)
def t5_logits(x, table):
    return x @ table.T


@wrong(
    check="t5-logits",
    section=INSIDE,
    sentence="the vectors are multiplied by the root of their width. Divide by it.",
)
def t5_logits(x, table):
    return x @ table.T * x.shape[-1] ** 0.5


@wrong(
    check="t5-logits",
    section=INSIDE,
    sentence="the vectors are divided by their width, not by its square root.",
)
def t5_logits(x, table):
    return x @ table.T / x.shape[-1]


@wrong(
    check="t5-logits",
    section=INSIDE,
    sentence="the root is of the number of tokens. It is of the width of the vectors.",
)
def t5_logits(x, table):
    return x @ table.T / len(table) ** 0.5


@wrong(
    check="mask-some",
    section=NOISES,
    sentence="the chosen tokens are left out. That is deletion; a mask keeps the "
    "place.",
)
def mask_some(tokens, chosen, mask_id):
    return [token for token, c in zip(tokens, chosen, strict=True) if not c]


@wrong(
    check="mask-some",
    section=NOISES,
    sentence="the tokens that were *not* chosen are masked.",
)
def mask_some(tokens, chosen, mask_id):
    return [token if c else mask_id for token, c in zip(tokens, chosen, strict=True)]


@wrong(
    check="delete-some",
    section=NOISES,
    sentence="the chosen tokens are kept, and the others left out.",
)
def delete_some(tokens, chosen):
    return [token for token, c in zip(tokens, chosen, strict=True) if c]


@wrong(
    check="delete-some",
    section=NOISES,
    sentence="every token that is *equal* to a chosen one is left out. Choose by "
    "place.",
    seen="graded",
)
def delete_some(tokens, chosen):
    gone = {token for token, c in zip(tokens, chosen, strict=True) if c}
    return [token for token in tokens if token not in gone]


@wrong(
    check="delete-some",
    section=NOISES,
    sentence="tokens are removed by what they are, and from the list that you were "
    "given. Make a new list, and choose by place.",
    seen="graded",
)
def delete_some(tokens, chosen):
    for token, gone in zip(list(tokens), chosen, strict=True):
        if gone:
            tokens.remove(token)
    return tokens


@wrong(
    check="infill",
    section=NOISES,
    sentence="each hidden token has a mask. In infilling a span has one mask, however "
    "long it is: how many are missing is for the model to find out.",
)
def infill(tokens, spans, mask_id):
    spoilt = list(tokens)
    for start, length in spans:
        spoilt[start : start + length] = [mask_id] * length
    return spoilt


@wrong(
    check="infill",
    section=NOISES,
    sentence="a span of length 0 is left out. It has a mask as well: one too many.",
)
def infill(tokens, spans, mask_id):
    spoilt, place = [], 0
    for start, length in spans:
        if length:
            spoilt += [*tokens[place:start], mask_id]
            place = start + length
    return spoilt + tokens[place:]


@wrong(
    check="infill",
    section=NOISES,
    sentence="a span of length 0 hides a token. It hides nothing.",
)
def infill(tokens, spans, mask_id):
    spoilt, place = [], 0
    for start, length in spans:
        spoilt += [*tokens[place:start], mask_id]
        place = start + max(length, 1)
    return spoilt + tokens[place:]


@wrong(
    check="infill",
    section=NOISES,
    sentence="what stands behind the last span is missing.",
)
def infill(tokens, spans, mask_id):
    spoilt, place = [], 0
    for start, length in spans:
        spoilt += [*tokens[place:start], mask_id]
        place = start + length
    return spoilt


@wrong(
    check="infill",
    section=NOISES,
    sentence="the spans are replaced from the front, in a list that grows shorter: the "
    "later starts no longer fit. Go from behind, or keep the place.",
)
def infill(tokens, spans, mask_id):
    spoilt = list(tokens)
    for start, length in spans:
        spoilt[start : start + length] = [mask_id]
    return spoilt


@wrong(
    check="permute-sentences",
    section=NOISES,
    sentence="the order is read the wrong way round: order[i] is where sentence i "
    "goes. It is the sentence that comes i-th.",
)
def permute_sentences(sentences, order):
    placed = dict(zip(order, sentences, strict=True))
    return [token for place in sorted(placed) for token in placed[place]]


@wrong(
    check="permute-sentences",
    section=NOISES,
    sentence="the sentences stay apart. Give one list of tokens.",
)
def permute_sentences(sentences, order):
    return [sentences[place] for place in order]


@wrong(
    check="rotate-document",
    section=NOISES,
    sentence="what came before the new beginning is lost. It goes to the end.",
)
def rotate_document(tokens, start):
    return tokens[start:]


@wrong(
    check="rotate-document",
    section=NOISES,
    sentence="the document is turned the other way: so many tokens are taken from the "
    "end. Begin at the token `start`.",
)
def rotate_document(tokens, start):
    return tokens[-start:] + tokens[:-start]


@wrong(
    check="shift-right",
    section=SHIFT,
    sentence="the shift wraps round: the last target comes first. The decoder begins "
    "with begin_id.",
)
def shift_right(targets, begin_id, pad_id):
    return targets.roll(1, dims=-1).masked_fill(targets.roll(1, -1) == -100, pad_id)


@wrong(
    check="shift-right",
    section=SHIFT,
    sentence="-100 stays in the decoder's input. There is no such token: it becomes "
    "filling.",
)
def shift_right(targets, begin_id, pad_id):
    shifted = targets.roll(1, dims=-1)
    shifted[:, 0] = begin_id
    return shifted


@wrong(
    check="shift-right",
    section=SHIFT,
    sentence="everything is shifted to the left. The decoder must read the token "
    "*before* the one that it writes.",
)
def shift_right(targets, begin_id, pad_id):
    shifted = targets.roll(-1, dims=-1)
    shifted[:, -1] = begin_id
    return shifted.masked_fill(shifted == -100, pad_id)


@wrong(
    check="shift-right",
    section=SHIFT,
    sentence="the first target is replaced, and nothing is shifted.",
)
def shift_right(targets, begin_id, pad_id):
    shifted = targets.clone()
    shifted[:, 0] = begin_id
    return shifted.masked_fill(shifted == -100, pad_id)


@wrong(
    check="shift-right",
    section=SHIFT,
    sentence="the decoder begins with filling. Begin with begin_id: in BART it is the "
    "token that ends a text.",
)
def shift_right(targets, begin_id, pad_id):
    shifted = targets.roll(1, dims=-1)
    shifted[:, 0] = pad_id
    return shifted.masked_fill(shifted == -100, pad_id)


@wrong(
    check="shift-right",
    section=SHIFT,
    sentence="the decoder's input is longer than the targets: the last target is to be "
    "written, but never read.",
)
def shift_right(targets, begin_id, pad_id):
    filled = targets.masked_fill(targets == -100, pad_id)
    return F.pad(filled, (1, 0), value=begin_id)


@wrong(
    check="shift-right",
    section=SHIFT,
    sentence="-100 is put right in the targets themselves. The loss needs them as they "
    "are.",
)
def shift_right(targets, begin_id, pad_id):
    targets[targets == -100] = pad_id
    shifted = targets.roll(1, dims=-1)
    shifted[:, 0] = begin_id
    return shifted


@wrong(
    check="shift-right",
    section=SHIFT,
    sentence="the batch is shifted as one long row, so each sentence but the first "
    "begins with the last token of the one before.",
)
def shift_right(targets, begin_id, pad_id):
    shifted = targets.roll(1)
    shifted[0, 0] = begin_id
    return shifted.masked_fill(shifted == -100, pad_id)


@wrong(
    check="bart-embeddings",
    section=SHIFT,
    sentence="the positions begin with row 0. In BART they begin with row 2.",
)
def bart_embeddings(tokens, table, positions, gain, bias):
    x = table[tokens] + positions[: tokens.shape[1]]
    return F.layer_norm(x, x.shape[-1:], gain, bias)


@wrong(
    check="bart-embeddings",
    section=SHIFT,
    sentence="the norm is missing. BART norms its embeddings before the first layer.",
)
def bart_embeddings(tokens, table, positions, gain, bias):
    return table[tokens] + positions[2 : 2 + tokens.shape[1]]


@wrong(
    check="bart-embeddings",
    section=SHIFT,
    sentence="the tokens are normed before the positions are added. Norm the sum.",
)
def bart_embeddings(tokens, table, positions, gain, bias):
    x = F.layer_norm(table[tokens], table.shape[-1:], gain, bias)
    return x + positions[2 : 2 + tokens.shape[1]]


@wrong(
    check="bart-embeddings",
    section=SHIFT,
    sentence="the tokens are multiplied by the square root of the width. M2M-100 does "
    "so, BART does not.",
)
def bart_embeddings(tokens, table, positions, gain, bias):
    x = table[tokens] * table.shape[-1] ** 0.5 + positions[2 : 2 + tokens.shape[1]]
    return F.layer_norm(x, x.shape[-1:], gain, bias)


@wrong(
    check="bart-embeddings",
    section=SHIFT,
    sentence="filling is not counted as a position. In BART it is: the rows go on from "
    "2, whatever the tokens are.",
    seen="graded",
)
def bart_embeddings(tokens, table, positions, gain, bias):
    real = tokens != 1
    x = table[tokens] + positions[real.long().cumsum(-1) * real + 1]
    return F.layer_norm(x, x.shape[-1:], gain, bias)


@wrong(
    check="bart-embeddings",
    section=SHIFT,
    sentence="eps is 1e-12, as in BERT. BART's is 1e-5.",
)
def bart_embeddings(tokens, table, positions, gain, bias):
    x = table[tokens] + positions[2 : 2 + tokens.shape[1]]
    return F.layer_norm(x, x.shape[-1:], gain, bias, eps=1e-12)


@wrong(
    check="bart-embeddings",
    section=SHIFT,
    sentence="gain and bias are not used.",
    seen="graded",
)
def bart_embeddings(tokens, table, positions, gain, bias):
    x = table[tokens] + positions[2 : 2 + tokens.shape[1]]
    return F.layer_norm(x, x.shape[-1:])


@wrong(
    check="with-languages",
    section=LANGUAGES,
    sentence="the source begins with the language that is wanted. Some other models do "
    "so; in M2M-100 each side begins with its own.",
)
def with_languages(source, target, spoken, wanted, end_id):
    return [wanted, *source, end_id], [spoken, *target, end_id]


@wrong(
    check="with-languages",
    section=LANGUAGES,
    sentence="both sides begin with the language of the source. Then nothing says "
    "which language is wanted.",
)
def with_languages(source, target, spoken, wanted, end_id):
    return [spoken, *source, end_id], [spoken, *target, end_id]


@wrong(
    check="with-languages",
    section=LANGUAGES,
    sentence="the source does not end with end_id. Both sides do.",
)
def with_languages(source, target, spoken, wanted, end_id):
    return [spoken, *source], [wanted, *target, end_id]


@wrong(
    check="with-languages",
    section=LANGUAGES,
    sentence="the language stands behind the text. It must come first: what is written "
    "depends on it from the first word on.",
)
def with_languages(source, target, spoken, wanted, end_id):
    return [*source, spoken, end_id], [*target, wanted, end_id]


@wrong(
    check="with-languages",
    section=LANGUAGES,
    sentence="both languages stand in the source, and none in the target.",
)
def with_languages(source, target, spoken, wanted, end_id):
    return [spoken, wanted, *source, end_id], [*target, end_id]


@wrong(
    check="real-places",
    section=PLACES,
    sentence="the count begins with 0. It begins with pad_id + 1, so that no real "
    "token has the place of filling.",
)
def real_places(tokens, pad_id, past=0):
    real = tokens != pad_id
    return (real.long().cumsum(-1) - 1 + past).clamp(min=0)


@wrong(
    check="real-places",
    section=PLACES,
    sentence="filling is counted too, so that filling on the left moves the text.",
)
def real_places(tokens, pad_id, past=0):
    places = torch.arange(tokens.shape[1]) + past + pad_id + 1
    return torch.where(tokens == pad_id, pad_id, places)


@wrong(
    check="real-places",
    section=PLACES,
    sentence="`past` is forgotten: every new token gets the first place.",
)
def real_places(tokens, pad_id, past=0):
    real = tokens != pad_id
    return real.long().cumsum(-1) * real + pad_id


@wrong(
    check="real-places",
    section=PLACES,
    sentence="filling has the place of the token before it. It gets pad_id.",
)
def real_places(tokens, pad_id, past=0):
    return (tokens != pad_id).long().cumsum(-1) + past + pad_id


@wrong(
    check="real-places",
    section=PLACES,
    sentence="`past` is added to filling as well. Filling always gets pad_id.",
    seen="graded",
)
def real_places(tokens, pad_id, past=0):
    real = tokens != pad_id
    return real.long().cumsum(-1) * real + pad_id + past


@wrong(
    check="real-places",
    section=PLACES,
    sentence="filling is always taken to be 1. Its id is handed over.",
    seen="graded",
)
def real_places(tokens, pad_id, past=0):
    real = tokens != 1
    return (real.long().cumsum(-1) + past) * real + 1


@wrong(
    check="real-places",
    section=PLACES,
    sentence="the count goes down the batch instead of along the text.",
)
def real_places(tokens, pad_id, past=0):
    real = tokens != pad_id
    return (real.long().cumsum(0) + past) * real + pad_id


@wrong(
    check="real-places",
    section=PLACES,
    sentence="filling in the middle is counted as well: real tokens are counted, not "
    "steps from the first one.",
    seen="graded",
)
def real_places(tokens, pad_id, past=0):
    real = tokens != pad_id
    first = real.long().argmax(dim=-1, keepdim=True)
    places = torch.arange(tokens.shape[1]) - first + 1 + past
    return torch.where(real, places + pad_id, pad_id)


@wrong(
    check="bigbird-blocks",
    section=BLOCKS,
    sentence="the window wraps round: block 1 has neighbours at the other end, or the "
    "last block counts as the neighbour of the first. Texts are no rings.",
)
def bigbird_blocks(num_blocks, num_random, generator=None):
    if num_blocks < 5 + 2 * num_random:
        raise ValueError("too few blocks")
    rows = []
    for i in range(1, num_blocks - 1):
        ends = [0, num_blocks - 1, (i - 2) % num_blocks, (i + 2) % num_blocks]
        near = sorted({*ends, i - 1, i, i + 1})
        others = [b for b in range(num_blocks) if b not in near]
        drawn = [0] * num_random
        if generator is not None:
            order = torch.randperm(len(others), generator=generator)[:num_random]
            drawn = [others[n] for n in order]
        rows.append(near + drawn)
    return rows


@wrong(
    check="bigbird-blocks",
    section=BLOCKS,
    sentence="the first and the last block are not looked at by the others. They look "
    "at everything, and everything looks at them: only so do they pass things on.",
)
def bigbird_blocks(num_blocks, num_random, generator=None):
    if num_blocks < 5 + 2 * num_random:
        raise ValueError("too few blocks")
    rows = []
    for i in range(1, num_blocks - 1):
        near, ends = [i - 1, i, i + 1], (0, num_blocks - 1)
        drawn = [0] * num_random
        if generator is not None:
            others = [b for b in range(num_blocks) if b not in near and b not in ends]
            order = torch.randperm(len(others), generator=generator)[:num_random]
            drawn = [others[n] for n in order]
        rows.append(near + drawn)
    return rows


@wrong(
    check="bigbird-blocks",
    section=BLOCKS,
    sentence="a block that is meant twice is listed twice, and would count twice: "
    "block 0 is the neighbour of block 1 *and* the first.",
)
def bigbird_blocks(num_blocks, num_random, generator=None):
    if num_blocks < 5 + 2 * num_random:
        raise ValueError("too few blocks")
    rows = []
    for i in range(1, num_blocks - 1):
        near = [0, i - 1, i, i + 1, num_blocks - 1]
        drawn = [0] * num_random
        if generator is not None:
            others = [b for b in range(num_blocks) if b not in near]
            order = torch.randperm(len(others), generator=generator)[:num_random]
            drawn = [others[n] for n in order]
        rows.append(near + drawn)
    return rows


@wrong(
    check="bigbird-blocks",
    section=BLOCKS,
    sentence="the last block is missing from the lists. Both ends are looked at by "
    "all.",
)
def bigbird_blocks(num_blocks, num_random, generator=None):
    if num_blocks < 5 + 2 * num_random:
        raise ValueError("too few blocks")
    rows = []
    for i in range(1, num_blocks - 1):
        near = sorted({0, i - 1, i, i + 1})
        drawn = [0] * num_random
        if generator is not None:
            others = [b for b in range(num_blocks - 1) if b not in near]
            order = torch.randperm(len(others), generator=generator)[:num_random]
            drawn = [others[n] for n in order]
        rows.append(near + drawn)
    return rows


@wrong(
    check="bigbird-blocks",
    section=BLOCKS,
    sentence="random blocks are drawn from all blocks, so some are those that are "
    "listed anyway, and would count twice.",
)
def bigbird_blocks(num_blocks, num_random, generator=None):
    if num_blocks < 5 + 2 * num_random:
        raise ValueError("too few blocks")
    rows = []
    for i in range(1, num_blocks - 1):
        near = sorted({0, i - 1, i, i + 1, num_blocks - 1})
        drawn = [0] * num_random
        if generator is not None:
            order = torch.randperm(num_blocks, generator=generator)
            drawn = order[:num_random].tolist()
        rows.append(near + drawn)
    return rows


@wrong(
    check="bigbird-blocks",
    section=BLOCKS,
    sentence="without a generator nothing is listed in the place of the random blocks. "
    "The published models list block 0 again.",
)
def bigbird_blocks(num_blocks, num_random, generator=None):
    if num_blocks < 5 + 2 * num_random:
        raise ValueError("too few blocks")
    rows = []
    for i in range(1, num_blocks - 1):
        near = sorted({0, i - 1, i, i + 1, num_blocks - 1})
        drawn = []
        if generator is not None:
            others = [b for b in range(num_blocks) if b not in near]
            order = torch.randperm(len(others), generator=generator)[:num_random]
            drawn = [others[n] for n in order]
        rows.append(near + drawn)
    return rows


@wrong(
    check="bigbird-blocks",
    section=BLOCKS,
    sentence="without a generator blocks are drawn all the same, so that a model would "
    "give another answer each time it is used.",
)
def bigbird_blocks(num_blocks, num_random, generator=None):
    if num_blocks < 5 + 2 * num_random:
        raise ValueError("too few blocks")
    generator = generator or torch.Generator().manual_seed(0)
    rows = []
    for i in range(1, num_blocks - 1):
        near = sorted({0, i - 1, i, i + 1, num_blocks - 1})
        others = [b for b in range(num_blocks) if b not in near]
        order = torch.randperm(len(others), generator=generator)[:num_random]
        rows.append(near + [others[n] for n in order])
    return rows


@wrong(
    check="bigbird-blocks",
    section=BLOCKS,
    sentence="the lists begin with block 0. The first and the last block look at "
    "everything and have no list.",
)
def bigbird_blocks(num_blocks, num_random, generator=None):
    if num_blocks < 5 + 2 * num_random:
        raise ValueError("too few blocks")
    rows = []
    for i in range(num_blocks):
        near = {0, max(i - 1, 0), i, min(i + 1, num_blocks - 1), num_blocks - 1}
        drawn = [0] * num_random
        if generator is not None:
            others = [b for b in range(num_blocks) if b not in near]
            order = torch.randperm(len(others), generator=generator)[:num_random]
            drawn = [others[n] for n in order]
        rows.append(sorted(near) + drawn)
    return rows


@wrong(
    check="bigbird-blocks",
    section=BLOCKS,
    sentence="the random blocks are drawn once, and all blocks get the same. Draw anew "
    "for each.",
    seen="graded",
)
def bigbird_blocks(num_blocks, num_random, generator=None):
    if num_blocks < 5 + 2 * num_random:
        raise ValueError("too few blocks")
    order = list(range(num_blocks))
    if generator is not None:
        order = torch.randperm(num_blocks, generator=generator).tolist()
    rows = []
    for i in range(1, num_blocks - 1):
        near = sorted({0, i - 1, i, i + 1, num_blocks - 1})
        drawn = [0] * num_random
        if generator is not None:
            drawn = [b for b in order if b not in near][:num_random]
        rows.append(near + drawn)
    return rows


@wrong(
    check="bigbird-blocks",
    section=BLOCKS,
    sentence="too few blocks raise no error: there is no room for so many random ones.",
)
def bigbird_blocks(num_blocks, num_random, generator=None):
    rows = []
    for i in range(1, num_blocks - 1):
        near = sorted({0, i - 1, i, i + 1, num_blocks - 1})
        drawn = [0] * num_random
        if generator is not None:
            others = [b for b in range(num_blocks) if b not in near]
            order = torch.randperm(len(others), generator=generator)[:num_random]
            drawn = [others[n] for n in order]
        rows.append(near + drawn)
    return rows


@wrong(
    check="block-sparse",
    section=SPARSE,
    sentence="a block that is listed twice counts once: a mask of True and False "
    "cannot say how often.",
)
def block_sparse_attention(queries, keys, values, rows, real):
    count = len(rows) + 2
    seen = torch.ones(count, count, dtype=torch.bool)
    for i, row in enumerate(rows, 1):
        seen[i] = False
        seen[i, row] = True
    size = queries.shape[2] // count
    seen = seen.repeat_interleave(size, 0).repeat_interleave(size, 1)
    low = torch.finfo(queries.dtype).min
    wall = torch.zeros(seen.shape, dtype=queries.dtype).masked_fill(~seen, -torch.inf)
    bias = wall + (~real)[:, None, None, :].to(queries.dtype) * low
    return F.scaled_dot_product_attention(queries, keys, values, bias, scale=1.0)


@wrong(
    check="block-sparse",
    section=SPARSE,
    sentence="the scores are divided by the square root of the width. The queries have "
    "been scaled before, where the model scales at all.",
)
def block_sparse_attention(queries, keys, values, rows, real):
    count, root = len(rows) + 2, queries.shape[-1] ** 0.5
    size = queries.shape[2] // count
    everything, found = list(range(count)), []
    for i, row in enumerate([everything, *rows, everything]):
        places = torch.cat([torch.arange(b * size, b * size + size) for b in row])
        mine = queries[:, :, i * size : (i + 1) * size]
        scores = mine @ keys[:, :, places].mT / root
        low = torch.finfo(scores.dtype).min
        scores = scores.masked_fill(~real[:, places][:, None, None, :], low)
        found.append(scores.softmax(-1) @ values[:, :, places])
    return torch.cat(found, dim=2)


@wrong(
    check="block-sparse",
    section=SPARSE,
    sentence="filling is attended to. Keys where `real` is False get the lowest score.",
)
def block_sparse_attention(queries, keys, values, rows, real):
    count = len(rows) + 2
    size = queries.shape[2] // count
    everything, found = list(range(count)), []
    for i, row in enumerate([everything, *rows, everything]):
        places = torch.cat([torch.arange(b * size, b * size + size) for b in row])
        mine = queries[:, :, i * size : (i + 1) * size]
        scores = mine @ keys[:, :, places].mT
        found.append(scores.softmax(-1) @ values[:, :, places])
    return torch.cat(found, dim=2)


@wrong(
    check="block-sparse",
    section=SPARSE,
    sentence="the first and the last block look at themselves only. They look at "
    "everything.",
)
def block_sparse_attention(queries, keys, values, rows, real):
    count = len(rows) + 2
    size, found = queries.shape[2] // count, []
    for i, row in enumerate([[0], *rows, [count - 1]]):
        places = torch.cat([torch.arange(b * size, b * size + size) for b in row])
        mine = queries[:, :, i * size : (i + 1) * size]
        scores = mine @ keys[:, :, places].mT
        low = torch.finfo(scores.dtype).min
        scores = scores.masked_fill(~real[:, places][:, None, None, :], low)
        found.append(scores.softmax(-1) @ values[:, :, places])
    return torch.cat(found, dim=2)


@wrong(
    check="block-sparse",
    section=SPARSE,
    sentence="the lists are used one block too early: rows[0] belongs to block 1, not "
    "to block 0.",
)
def block_sparse_attention(queries, keys, values, rows, real):
    count = len(rows) + 2
    size = queries.shape[2] // count
    everything, found = list(range(count)), []
    for i, row in enumerate([*rows, everything, everything]):
        places = torch.cat([torch.arange(b * size, b * size + size) for b in row])
        mine = queries[:, :, i * size : (i + 1) * size]
        scores = mine @ keys[:, :, places].mT
        low = torch.finfo(scores.dtype).min
        scores = scores.masked_fill(~real[:, places][:, None, None, :], low)
        found.append(scores.softmax(-1) @ values[:, :, places])
    return torch.cat(found, dim=2)


@wrong(
    check="block-sparse",
    section=SPARSE,
    sentence="each block takes a softmax of its own, and the results are averaged. One "
    "softmax goes over all keys that a query sees.",
)
def block_sparse_attention(queries, keys, values, rows, real):
    count = len(rows) + 2
    size = queries.shape[2] // count
    everything, found = list(range(count)), []
    for i, row in enumerate([everything, *rows, everything]):
        mine, parts = queries[:, :, i * size : (i + 1) * size], []
        for b in row:
            spot = slice(b * size, b * size + size)
            scores = mine @ keys[:, :, spot].mT
            low = torch.finfo(scores.dtype).min
            scores = scores.masked_fill(~real[:, None, None, spot], low)
            parts.append(scores.softmax(-1) @ values[:, :, spot])
        found.append(torch.stack(parts).mean(0))
    return torch.cat(found, dim=2)


@wrong(
    check="block-sparse",
    section=SPARSE,
    sentence="shorter lists are filled up with block 0, and these extra blocks are "
    "attended to. They need a wall: `block_table` says which are real.",
)
def block_sparse_attention(queries, keys, values, rows, real):
    count = len(rows) + 2
    size = queries.shape[2] // count
    index, _ = block_table(rows, queries.device)
    everything, found = list(range(count)), []
    for i, row in enumerate([everything, *index.tolist(), everything]):
        places = torch.cat([torch.arange(b * size, b * size + size) for b in row])
        mine = queries[:, :, i * size : (i + 1) * size]
        scores = mine @ keys[:, :, places].mT
        low = torch.finfo(scores.dtype).min
        scores = scores.masked_fill(~real[:, places][:, None, None, :], low)
        found.append(scores.softmax(-1) @ values[:, :, places])
    return torch.cat(found, dim=2)


@wrong(
    check="block-sparse",
    section=SPARSE,
    sentence="filling gets minus infinity, so a query all of whose keys are filling "
    "becomes NaN. Use the lowest finite number.",
    seen="graded",
)
def block_sparse_attention(queries, keys, values, rows, real):
    count = len(rows) + 2
    size = queries.shape[2] // count
    everything, found = list(range(count)), []
    for i, row in enumerate([everything, *rows, everything]):
        places = torch.cat([torch.arange(b * size, b * size + size) for b in row])
        mine = queries[:, :, i * size : (i + 1) * size]
        scores = mine @ keys[:, :, places].mT
        hidden = ~real[:, places][:, None, None, :]
        scores = scores.masked_fill(hidden, -torch.inf)
        found.append(scores.softmax(-1) @ values[:, :, places])
    return torch.cat(found, dim=2)


@wrong(
    check="block-sparse",
    section=SPARSE,
    sentence="the blocks are taken to hold two tokens. Their size follows from the "
    "length of the text and the number of lists.",
    seen="graded",
)
def block_sparse_attention(queries, keys, values, rows, real):
    count, size = len(rows) + 2, 2
    everything, found = list(range(count)), []
    for i, row in enumerate([everything, *rows, everything]):
        places = torch.cat([torch.arange(b * size, b * size + size) for b in row])
        mine = queries[:, :, i * size : (i + 1) * size]
        scores = mine @ keys[:, :, places].mT
        low = torch.finfo(scores.dtype).min
        scores = scores.masked_fill(~real[:, places][:, None, None, :], low)
        found.append(scores.softmax(-1) @ values[:, :, places])
    return torch.cat(found, dim=2)


wrong_choice(
    "which_task",
    check="concept-which-task",
    section=TASKS,
    a="there is one head, the same for all tasks: it writes the next token.",
    b="nothing is added to the tokens. The task is said in words.",
    d="one training holds all tasks, mixed.",
)
wrong_choice(
    "one_mask",
    check="concept-one-mask",
    section=NOISES,
    b="what stands on the left can be read in both cases.",
    c="both read one language, or several, in the same way.",
    d="the mask can be seen in both cases. What cannot be seen is how long the span "
    "was.",
)
wrong_choice(
    "what_was_new",
    check="concept-what-was-new",
    section=LANGUAGES,
    a="there were models of about a hundred languages before. They learnt from pairs "
    "with English, and went through English.",
    c="there is one encoder and one decoder for all. Only a token tells the languages "
    "apart.",
    d="it learns from billions of pairs of sentences, which were found on the web.",
)
wrong_choice(
    "twice_as_long",
    check="concept-twice-as-long",
    section=SPARSE,
    b="so it is with full attention. Here each block looks at a fixed number of "
    "blocks.",
    c="there are twice as many queries, each with as many keys as before.",
    d="more tokens need more scores.",
)


@wrong(
    check="t5-logits",
    section=INSIDE,
    sentence="the table is cut off from the graph (detach, .data or no_grad): it would "
    "not learn from what is written.",
    seen="graded",
)
def t5_logits(x, table):
    return x * x.shape[-1] ** -0.5 @ table.detach().T


@wrong(
    check="bart-embeddings",
    section=SHIFT,
    sentence="gain and bias of the norm are cut off from the graph (detach, .data or "
    "no_grad): they would not learn.",
    seen="graded",
)
def bart_embeddings(tokens, table, positions, gain, bias):
    x = table[tokens] + positions[2 : 2 + tokens.shape[1]]
    return F.layer_norm(x, x.shape[-1:], gain.detach(), bias.detach(), eps=1e-5)
