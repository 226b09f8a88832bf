"""Wrong answers that learners really give in chapter 01, each with its explanation.

``check`` is the check that must catch the answer; ``sentence`` is what the learner is
told; ``section`` is the heading of chapter 01 that explains it.
"""

import torch
from torch import nn

from exercises.answers import wrong, wrong_choice

SOFTMAX = "A softmax that does not overflow"
LOOPS = "One pair at a time"
MATRICES = "All pairs at once"
VIEWS = "Three views of the same token"
LAYER = "A layer that learns"
ORDER = "The order is not seen"
LOOKUP = "A look-up that does not choose"


@wrong(
    check="softmax",
    section=SOFTMAX,
    sentence="the softmax runs over the first axis, down the columns, instead of along "
    "each row. Use the last axis: dim=-1.",
)
def softmax(scores):
    exponentials = torch.exp(scores - scores.amax(dim=0, keepdim=True))
    return exponentials / exponentials.sum(dim=0, keepdim=True)


@wrong(
    check="softmax",
    section=SOFTMAX,
    sentence="the softmax runs over the axis of the queries (dim=-2): columns sum to "
    "one, not rows. Use the last axis: dim=-1.",
)
def softmax(scores):
    if scores.dim() < 2:
        return torch.softmax(scores, dim=-1)
    return torch.softmax(scores, dim=-2)


@wrong(
    check="softmax",
    section=SOFTMAX,
    sentence="all the scores share one sum, so the whole tensor adds up to one. Every "
    "row must add up to one by itself: sum over dim=-1.",
)
def softmax(scores):
    exponentials = torch.exp(scores - scores.max())
    return exponentials / exponentials.sum()


@wrong(
    check="softmax",
    section=SOFTMAX,
    sentence="the scores are divided by their sum without taking the exponential "
    "first. A negative score would become a negative weight.",
)
def softmax(scores):
    return scores / scores.sum(dim=-1, keepdim=True)


@wrong(
    check="softmax",
    section=SOFTMAX,
    sentence="this is a sigmoid: every score is squashed by itself, and the weights of "
    "a row do not add up to one.",
)
def softmax(scores):
    return torch.sigmoid(scores)


@wrong(
    check="softmax",
    section=SOFTMAX,
    sentence="the exponentials are not divided by their sum, so the weights of a row "
    "do not add up to one.",
)
def softmax(scores):
    return torch.exp(scores - scores.amax(dim=-1, keepdim=True))


@wrong(
    check="softmax",
    section=SOFTMAX,
    sentence="this is the logarithm of the softmax. Take the softmax itself.",
)
def softmax(scores):
    return torch.log_softmax(scores, dim=-1)


@wrong(
    check="softmax",
    section=SOFTMAX,
    sentence="powers of two are taken instead of powers of e: use torch.exp.",
)
def softmax(scores):
    powers = 2 ** (scores - scores.amax(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1, keepdim=True)


@wrong(
    check="softmax",
    section=LOOKUP,
    sentence="only the largest score gets a weight. That is a hard look-up: it has no "
    "gradient, so nothing could learn from it. Softmax gives every score a share.",
)
def softmax(scores):
    return nn.functional.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype)


@wrong(
    check="softmax",
    section=SOFTMAX,
    sentence="the scores of the caller are changed: `-=` works in place. Write "
    "`scores = scores - ...`, which makes a new tensor.",
)
def softmax(scores):
    scores -= scores.amax(dim=-1, keepdim=True)
    exponentials = torch.exp(scores)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@wrong(
    check="softmax",
    section=SOFTMAX,
    sentence="the copy is changed in place after it has been used, and the gradient "
    "is lost or wrong. Make a new tensor instead: `scores = scores - ...`.",
)
def softmax(scores):
    out = scores.clone()
    out -= out.amax(dim=-1, keepdim=True)
    out.exp_()
    out /= out.sum(dim=-1, keepdim=True)
    return out


@wrong(
    check="softmax",
    section=SOFTMAX,
    sentence="the result is cut off from the graph (detach, .data, numpy or no_grad), "
    "so no gradient reaches the scores and nothing could learn.",
)
def softmax(scores):
    exponentials = torch.exp(scores.detach() - scores.detach().amax(-1, keepdim=True))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@wrong(
    check="softmax-stable",
    section=SOFTMAX,
    sentence="the exponential of a large score overflows, and infinity divided by "
    "infinity is NaN. Subtract the largest score of each row first.",
)
def softmax(scores):
    exponentials = torch.exp(scores)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@wrong(
    check="softmax-stable",
    section=SOFTMAX,
    sentence="one largest score is taken for all rows. A row far below it becomes all "
    "zeros, and zero divided by zero is NaN. Take the largest of each row.",
)
def softmax(scores):
    exponentials = torch.exp(scores - scores.max())
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@wrong(
    check="softmax-stable",
    section=SOFTMAX,
    sentence="the smallest score is subtracted instead of the largest, so the largest "
    "still overflows.",
)
def softmax(scores):
    exponentials = torch.exp(scores - scores.amin(dim=-1, keepdim=True))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@wrong(
    check="softmax-stable",
    section=SOFTMAX,
    sentence="the scores are clamped, so that large scores become equal and small ones "
    "are lost. Subtract the largest score of each row instead: nothing is lost.",
)
def softmax(scores):
    exponentials = torch.exp(scores.clamp(-50, 50))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@wrong(
    check="scores-with-loops",
    section=LOOPS,
    sentence="rows and columns are exchanged: row i must belong to query i, and column "
    "j to key j.",
)
def scores_with_loops(queries, keys):
    scores = queries.new_zeros(len(keys), len(queries))
    for i, query in enumerate(queries):
        for j, key in enumerate(keys):
            scores[j, i] = (query * key).sum()
    return scores


@wrong(
    check="scores-with-loops",
    section=LOOPS,
    sentence="the last key is never compared: range(n - 1) ends one too early. "
    "range(n) already stops before n.",
)
def scores_with_loops(queries, keys):
    scores = queries.new_zeros(len(queries), len(keys))
    for i in range(len(queries)):
        for j in range(len(keys) - 1):
            scores[i, j] = queries[i] @ keys[j]
    return scores


@wrong(
    check="scores-with-loops",
    section=LOOPS,
    sentence="this is the cosine: the dot product divided by both lengths. Attention "
    "takes the dot product as it is; a long key may count for more.",
)
def scores_with_loops(queries, keys):
    scores = queries.new_zeros(len(queries), len(keys))
    for i, query in enumerate(queries):
        for j, key in enumerate(keys):
            scores[i, j] = (query @ key) / (query.norm() * key.norm())
    return scores


@wrong(
    check="scores-with-loops",
    section=LOOPS,
    sentence="this is the distance between query and key. Attention takes the dot "
    "product: large means alike.",
)
def scores_with_loops(queries, keys):
    scores = queries.new_zeros(len(queries), len(keys))
    for i, query in enumerate(queries):
        for j, key in enumerate(keys):
            scores[i, j] = (query - key).norm()
    return scores


@wrong(
    check="output-with-loops",
    section=LOOPS,
    sentence="each turn of the loop replaces the output, so only the last value is "
    "left. Add to it: `+=`.",
)
def output_with_loops(weights, values):
    outputs = values.new_zeros(len(weights), values.shape[1])
    for i, row in enumerate(weights):
        for weight, value in zip(row, values, strict=True):
            outputs[i] = weight * value
    return outputs


@wrong(
    check="output-with-loops",
    section=LOOPS,
    sentence="the sum is divided by the number of tokens once more. The weights add up "
    "to one already, so the sum is the average.",
)
def output_with_loops(weights, values):
    outputs = values.new_zeros(len(weights), values.shape[1])
    for i, row in enumerate(weights):
        for weight, value in zip(row, values, strict=True):
            outputs[i] += weight * value / len(values)
    return outputs


@wrong(
    check="output-with-loops",
    section=LOOKUP,
    sentence="only the value with the largest weight is returned. That is a hard "
    "look-up; attention mixes all values.",
)
def output_with_loops(weights, values):
    return torch.stack([values[row.argmax()] for row in weights])


@wrong(
    check="attention-scores",
    section=MATRICES,
    sentence="this is K Qᵀ: its rows are keys. Rows must be queries: Q Kᵀ.",
)
def attention_scores(queries, keys):
    return keys @ queries.transpose(-2, -1)


@wrong(
    check="attention-scores",
    section=MATRICES,
    sentence="the keys are reshaped instead of transposed. The shape fits, but the "
    "numbers are in other places: a key is no longer a column.",
)
def attention_scores(queries, keys):
    return queries @ keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])


@wrong(
    check="attention-scores",
    section=MATRICES,
    sentence="the scores are divided by the square root of d_k. That is right in the "
    "end, but not asked here: chapter 04 shows why it is needed.",
)
def attention_scores(queries, keys):
    return queries @ keys.transpose(-2, -1) / keys.shape[-1] ** 0.5


@wrong(
    check="attention-scores",
    section=MATRICES,
    sentence="`.T` turns round every axis of a batch. Exchange only the last two: "
    "transpose(-2, -1).",
)
def attention_scores(queries, keys):
    return queries @ keys.T


@wrong(
    check="attention-weights",
    section=MATRICES,
    sentence="the softmax runs over the queries, so each column adds up to one. Every "
    "query has one whole to share among the keys: rows must add up to one.",
)
def attention_weights(queries, keys):
    return torch.softmax(queries @ keys.transpose(-2, -1), dim=-2)


@wrong(
    check="attention-weights",
    section=MATRICES,
    sentence="these are the scores. Softmax still has to turn them into weights.",
)
def attention_weights(queries, keys):
    return queries @ keys.transpose(-2, -1)


@wrong(
    check="attention-weights",
    section=LOOKUP,
    sentence="only the best key gets a weight. That is a hard look-up: it has no "
    "gradient, so nothing could learn from it.",
)
def attention_weights(queries, keys):
    scores = queries @ keys.transpose(-2, -1)
    return nn.functional.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype)


@wrong(
    check="attention-weights",
    section=MATRICES,
    sentence="the scores are divided by the square root of d_k before the softmax. "
    "Chapter 04 adds that; here the scores stay as they are.",
)
def attention_weights(queries, keys):
    scores = queries @ keys.transpose(-2, -1) / keys.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1)


@wrong(
    check="attention",
    section=MATRICES,
    sentence="the raw scores are multiplied with the values. Softmax has to make "
    "weights of them first.",
)
def attention(queries, keys, values):
    return queries @ keys.transpose(-2, -1) @ values


@wrong(
    check="attention",
    section=MATRICES,
    sentence="the softmax comes after the values. It belongs to the scores: weights "
    "first, then the mixture.",
)
def attention(queries, keys, values):
    return torch.softmax(queries @ keys.transpose(-2, -1) @ values, dim=-1)


@wrong(
    check="attention",
    section=MATRICES,
    sentence="the keys are averaged instead of the values. Keys only decide how much; "
    "what is handed over is the values.",
)
def attention(queries, keys, values):
    return torch.softmax(queries @ keys.transpose(-2, -1), dim=-1) @ keys


@wrong(
    check="attention",
    section=MATRICES,
    sentence="the scores are divided by the square root of d_k. Chapter 04 adds that; "
    "here the formula is softmax(Q Kᵀ) V.",
)
def attention(queries, keys, values):
    return nn.functional.scaled_dot_product_attention(queries, keys, values)


@wrong(
    check="attention",
    section=MATRICES,
    sentence="the weights are transposed before they meet the values: Aᵀ V. Row i of "
    "the weights belongs to output i.",
)
def attention(queries, keys, values):
    weights = torch.softmax(queries @ keys.transpose(-2, -1), dim=-1)
    return weights.transpose(-2, -1) @ values


@wrong(
    check="attention",
    section=LOOKUP,
    sentence="only the value of the best key is returned. That is a hard look-up; "
    "attention mixes all values.",
)
def attention(queries, keys, values):
    best = (queries @ keys.transpose(-2, -1)).argmax(dim=-1)
    return values.gather(-2, best.unsqueeze(-1).expand(*best.shape, values.shape[-1]))


@wrong(
    check="project",
    section=VIEWS,
    sentence="the tokens are cut into pieces. Queries, keys and values are three "
    "projections of the whole vector, each with its own matrix.",
)
def project(x, W_q, W_k, W_v):
    return x.tensor_split(3, dim=-1)


@wrong(
    check="project",
    section=VIEWS,
    sentence="one matrix makes both queries and keys. Each has its own: with one for "
    "both, a token could only look for what is like itself.",
)
def project(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_q, x @ W_v


@wrong(
    check="project",
    section=VIEWS,
    sentence="the values are made with the matrix of the keys. Values have their own "
    "matrix, W_v.",
)
def project(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_k, x @ W_k


@wrong(
    check="project",
    section=VIEWS,
    sentence="the matrices are transposed. Here a matrix has d_model rows, and is used "
    "as x @ W; only inside nn.Linear is the weight kept the other way round.",
)
def project(x, W_q, W_k, W_v):
    return x @ W_q.T, x @ W_k.T, x @ W_v.T


@wrong(
    check="project",
    section=VIEWS,
    sentence="keys come before queries. The order asked for is queries, keys, values.",
)
def project(x, W_q, W_k, W_v):
    return x @ W_k, x @ W_q, x @ W_v


@wrong(
    check="project",
    section=VIEWS,
    sentence="the projections are made one after the other: keys from the queries, "
    "values from the keys. All three are made from the tokens x.",
)
def project(x, W_q, W_k, W_v):
    queries = x @ W_q
    keys = queries @ W_k[: W_q.shape[1]]
    return queries, keys, keys @ W_v[: W_k.shape[1]]


@wrong(
    check="self-attention",
    section=LAYER,
    sentence="the linear layers have a bias. Here they must not: write bias=False.",
)
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k)
        self.W_k = nn.Linear(d_model, d_k)
        self.W_v = nn.Linear(d_model, d_v)

    def forward(self, x):
        scores = self.W_q(x) @ self.W_k(x).transpose(-2, -1)
        return torch.softmax(scores, dim=-1) @ self.W_v(x)


@wrong(
    check="self-attention",
    section=LAYER,
    sentence="the linear layers are created in forward, new and random at each call, "
    "and the optimiser never sees them. Create them once, in __init__.",
)
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.sizes = d_model, d_k, d_v

    def forward(self, x):
        d_model, d_k, d_v = self.sizes
        W_q = nn.Linear(d_model, d_k, bias=False)
        W_k = nn.Linear(d_model, d_k, bias=False)
        W_v = nn.Linear(d_model, d_v, bias=False)
        return torch.softmax(W_q(x) @ W_k(x).transpose(-2, -1), dim=-1) @ W_v(x)


@wrong(
    check="self-attention",
    section=LAYER,
    sentence="keys and queries share one projection, W_q. Each needs its own.",
)
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x):
        scores = self.W_q(x) @ self.W_q(x).transpose(-2, -1)
        return torch.softmax(scores, dim=-1) @ self.W_v(x)


@wrong(
    check="self-attention",
    section=LAYER,
    sentence="the values are the tokens themselves. They must go through W_v first.",
)
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x):
        scores = self.W_q(x) @ self.W_k(x).transpose(-2, -1)
        return torch.softmax(scores, dim=-1) @ x


@wrong(
    check="self-attention",
    section=LAYER,
    sentence="the projections are divided by the square root of d_k, or the scores "
    "are. Chapter 04 adds that; here the scores stay as they are.",
)
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x):
        queries, keys, values = self.W_q(x), self.W_k(x), self.W_v(x)
        return nn.functional.scaled_dot_product_attention(queries, keys, values)


@wrong(
    check="self-attention",
    section=LAYER,
    sentence="some parameters can never learn: they are used through .data or a copy, "
    "need no gradient, or are not used at all.",
    seen="graded",
)
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x):
        W_q, W_k, W_v = (w.weight.data.mT for w in (self.W_q, self.W_k, self.W_v))
        return torch.softmax((x @ W_q) @ (x @ W_k).mT, dim=-1) @ (x @ W_v)


@wrong(
    check="self-attention",
    section=LAYER,
    sentence="the layer adds its input to its output. That is a residual connection, "
    "the subject of chapter 05; this layer gives the mixture alone.",
)
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x):
        scores = self.W_q(x) @ self.W_k(x).transpose(-2, -1)
        outputs = torch.softmax(scores, dim=-1) @ self.W_v(x)
        width = min(outputs.shape[-1], x.shape[-1])
        outputs[..., :width] = outputs[..., :width] + x[..., :width]
        return outputs


@wrong(
    check="shuffle",
    section=ORDER,
    sentence="the outputs are put back into the old order. They were to be shuffled "
    "with the same `order`, not with its inverse.",
)
def shuffle_both_ways(x, order, W_q, W_k, W_v):
    def attend(x):
        scores = (x @ W_q) @ (x @ W_k).transpose(-2, -1)
        return torch.softmax(scores, dim=-1) @ (x @ W_v)

    return attend(x[..., order, :]), attend(x)[..., order.argsort(), :]


@wrong(
    check="shuffle",
    section=ORDER,
    sentence="the numbers inside each vector are shuffled. Shuffle the tokens: the "
    "axis before the last.",
)
def shuffle_both_ways(x, order, W_q, W_k, W_v):
    def attend(x):
        scores = (x @ W_q) @ (x @ W_k).transpose(-2, -1)
        return torch.softmax(scores, dim=-1) @ (x @ W_v)

    return attend(x[..., order]), attend(x)[..., order]


@wrong(
    check="shuffle",
    section=ORDER,
    sentence="only one of the two is shuffled: the second result is in the old order.",
)
def shuffle_both_ways(x, order, W_q, W_k, W_v):
    def attend(x):
        scores = (x @ W_q) @ (x @ W_k).transpose(-2, -1)
        return torch.softmax(scores, dim=-1) @ (x @ W_v)

    return attend(x[..., order, :]), attend(x)


@wrong(
    check="shuffle",
    section=ORDER,
    sentence="the queries are shuffled, but keys and values are not, and the "
    "outputs are then shuffled a second time.",
)
def shuffle_both_ways(x, order, W_q, W_k, W_v):
    scores = (x[..., order, :] @ W_q) @ (x @ W_k).transpose(-2, -1)
    outputs = torch.softmax(scores, dim=-1) @ (x @ W_v)
    return outputs, outputs[..., order, :]


@wrong(
    check="shuffle",
    section=ORDER,
    sentence="the batch is shuffled: x[order] picks sentences. Shuffle the tokens of "
    "each sentence: the axis before the last.",
    seen="graded",
)
def shuffle_both_ways(x, order, W_q, W_k, W_v):
    def attend(x):
        scores = (x @ W_q) @ (x @ W_k).transpose(-2, -1)
        return torch.softmax(scores, dim=-1) @ (x @ W_v)

    return attend(x[order]), attend(x)[order]


wrong_choice(
    "projections",
    check="concept-projections",
    section=VIEWS,
    a="the vector is not cut. The whole vector goes through three matrices.",
    c="in self-attention all three come from the same tokens; that is the “self”.",
    d="there is one embedding for each word. The three views are made from it.",
)
wrong_choice(
    "value_role",
    check="concept-value",
    section=LOOKUP,
    a="its weight says how important a token is. The value is what it gives.",
    b="its score says how well a token fits. The value is what it gives.",
    d="a value is a vector of any numbers, not a probability.",
)
wrong_choice(
    "score_rows",
    check="concept-rows",
    section=MATRICES,
    a="self-attention compares tokens of the sentence, not words of the vocabulary.",
    b="the vocabulary takes no part: rows and columns are tokens of the sentence.",
    c="that is the shape of the queries. The score matrix has a column for each key.",
)
wrong_choice(
    "never_meet",
    check="concept-meet",
    section=MATRICES,
    b="queries and keys do meet: their product is the score.",
    c="weights and values are multiplied: that is how the output is mixed.",
    d="the keys are the tokens multiplied by W_k. Keys and values never meet.",
)
wrong_choice(
    "weights_learned",
    check="concept-learned",
    section=LAYER,
    a="the matrices W_q, W_k and W_v are parameters. The attention weights are not.",
    c="the weights depend on the sentence that is read, so they cannot be stored.",
    d="nothing is random here: the sentence decides.",
)
