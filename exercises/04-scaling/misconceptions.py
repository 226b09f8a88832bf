"""Wrong answers that learners really give in chapter 04, each with its explanation.

``check`` is the check that must catch the answer; ``sentence`` is what the learner is
told; ``section`` is the heading of chapter 04 that explains it.
"""

import math

import torch

from exercises.answers import wrong, wrong_choice
from solutions.multi_head import merge_heads, split_heads
from solutions.scaling import scaled_attention, scaled_scores
from solutions.self_attention import attention_scores, softmax

GROW = "Scores grow with the width"
ENTROPY = "How even is a row?"
STUCK = "A row that cannot move"
ROOT = "Divide by the root"
HEADS = "The width of a head, not of the model"
TRAIN = "Does it matter in training?"


@wrong(
    check="dot-product-variance",
    section=GROW,
    sentence="this is the standard deviation. The variance is its square.",
)
def dot_product_variance(d_k, samples, generator):
    queries = torch.randn(samples, d_k, generator=generator)
    keys = torch.randn(samples, d_k, generator=generator)
    return (queries * keys).sum(dim=-1).std().item()


@wrong(
    check="dot-product-variance",
    section=GROW,
    sentence="the numbers are drawn between 0 and 1, by rand. Draw standard normal "
    "numbers, with mean 0 and variance 1: randn.",
)
def dot_product_variance(d_k, samples, generator):
    queries = torch.rand(samples, d_k, generator=generator)
    keys = torch.rand(samples, d_k, generator=generator)
    return (queries * keys).sum(dim=-1).var().item()


@wrong(
    check="dot-product-variance",
    section=GROW,
    sentence="the generator is not used, so that every call gives other numbers, "
    "whatever the seed. Pass generator=generator to randn.",
)
def dot_product_variance(d_k, samples, generator):
    queries, keys = torch.randn(samples, d_k), torch.randn(samples, d_k)
    return (queries * keys).sum(dim=-1).var().item()


@wrong(
    check="dot-product-variance",
    section=GROW,
    sentence="queries and keys are the same numbers. Then the dot product is a length, "
    "whose variance is twice as large. Draw the keys anew.",
)
def dot_product_variance(d_k, samples, generator):
    queries = torch.randn(samples, d_k, generator=generator)
    return (queries * queries).sum(dim=-1).var().item()


@wrong(
    check="dot-product-variance",
    section=GROW,
    sentence="the products are not added up: the variance of single products is 1, "
    "whatever the width. Sum along each vector first.",
)
def dot_product_variance(d_k, samples, generator):
    queries = torch.randn(samples, d_k, generator=generator)
    keys = torch.randn(samples, d_k, generator=generator)
    return (queries * keys).var().item()


@wrong(
    check="dot-product-variance",
    section=GROW,
    sentence="the products are added up over the samples, not along each vector. Sum "
    "over the last axis: one dot product for each pair.",
)
def dot_product_variance(d_k, samples, generator):
    queries = torch.randn(samples, d_k, generator=generator)
    keys = torch.randn(samples, d_k, generator=generator)
    return (queries * keys).sum(dim=0).var(correction=0).item()


@wrong(
    check="dot-product-variance",
    section=ROOT,
    sentence="the dot products are scaled before they are measured, so the variance "
    "is always 1. Here it is to be seen how they grow.",
)
def dot_product_variance(d_k, samples, generator):
    queries = torch.randn(samples, d_k, generator=generator)
    keys = torch.randn(samples, d_k, generator=generator)
    return ((queries * keys).sum(dim=-1) / math.sqrt(d_k)).var().item()


@wrong(
    check="dot-product-variance",
    section=GROW,
    sentence="the width is given back without drawing anything. It is what the formula "
    "expects; measure it.",
    seen="graded",
)
def dot_product_variance(d_k, samples, generator):
    return float(d_k)


@wrong(
    check="dot-product-variance",
    section=GROW,
    sentence="this is the mean of the dot products, which is near zero. The variance "
    "says how far they spread around it.",
)
def dot_product_variance(d_k, samples, generator):
    queries = torch.randn(samples, d_k, generator=generator)
    keys = torch.randn(samples, d_k, generator=generator)
    return (queries * keys).sum(dim=-1).mean().item()


@wrong(
    check="dot-product-variance",
    section=GROW,
    sentence="every query is compared with every key: `@` makes a table of samples "
    "times samples. Multiply number by number, and add up along each row.",
    seen="graded",
)
def dot_product_variance(d_k, samples, generator):
    queries = torch.randn(samples, d_k, generator=generator)
    keys = torch.randn(samples, d_k, generator=generator)
    return (queries @ keys.T).diagonal().var().item()


@wrong(
    check="entropy",
    section=ENTROPY,
    sentence="the sign is wrong. Logarithms of weights are negative: the entropy is "
    "minus their weighted sum.",
)
def entropy(weights):
    return torch.xlogy(weights, weights).sum(dim=-1)


@wrong(
    check="entropy",
    section=ENTROPY,
    sentence="a weight of zero makes the result NaN: 0 times minus infinity. It is to "
    "add nothing.",
)
def entropy(weights):
    return -(weights * weights.log()).sum(dim=-1)


@wrong(
    check="entropy",
    section=ENTROPY,
    sentence="the logarithm has base two, so the result is in bits. Take the natural "
    "logarithm.",
)
def entropy(weights):
    return -torch.xlogy(weights, weights).sum(dim=-1) / math.log(2)


@wrong(
    check="entropy",
    section=ENTROPY,
    sentence="softmax is taken of what are weights already. They add up to one: use "
    "them as they are.",
)
def entropy(weights):
    weights = torch.softmax(weights, dim=-1)
    return -torch.xlogy(weights, weights).sum(dim=-1)


@wrong(
    check="entropy",
    section=ENTROPY,
    sentence="all rows are added up to one number. Every row has an entropy of its "
    "own: sum over the last axis.",
)
def entropy(weights):
    return -torch.xlogy(weights, weights).sum()


@wrong(
    check="entropy",
    section=ENTROPY,
    sentence="the sum runs over the queries, down the columns. Sum over the keys: the "
    "last axis.",
)
def entropy(weights):
    return -torch.xlogy(weights, weights).sum(dim=0)


@wrong(
    check="entropy",
    section=ENTROPY,
    sentence="the logarithms are averaged, not added up.",
)
def entropy(weights):
    return -torch.xlogy(weights, weights).mean(dim=-1)


@wrong(
    check="entropy",
    section=ENTROPY,
    sentence="the logarithms are not weighted: every key counts the same. Multiply "
    "each logarithm by its weight.",
)
def entropy(weights):
    return -weights.clamp(min=1e-12).log().sum(dim=-1)


@wrong(
    check="entropy",
    section=ENTROPY,
    sentence="a small number is added to every weight, which falsifies all of them. "
    "torch.xlogy treats zero as it should be.",
    seen="graded",
)
def entropy(weights):
    return -(weights * (weights + 1e-9).log()).sum(dim=-1)


@wrong(
    check="entropy",
    section=ENTROPY,
    sentence="the entropy is divided by its largest value, ln n. It was to be given in "
    "nats, as it is.",
)
def entropy(weights):
    largest = math.log(max(weights.shape[-1], 2))
    return -torch.xlogy(weights, weights).sum(dim=-1) / largest


@wrong(
    check="softmax-jacobian",
    section=STUCK,
    sentence="only the diagonal is there. A weight also moves when another score is "
    "moved: -a_i a_j.",
)
def softmax_jacobian(weights):
    return torch.diag_embed(weights * (1 - weights))


@wrong(
    check="softmax-jacobian",
    section=STUCK,
    sentence="this is a (1 - a) for each weight, one row. Give the whole table: how "
    "every weight moves with every score.",
)
def softmax_jacobian(weights):
    return weights * (1 - weights)


@wrong(
    check="softmax-jacobian",
    section=STUCK,
    sentence="the sign of the other entries is wrong: when one score rises, all other "
    "weights must fall.",
)
def softmax_jacobian(weights):
    outer = weights[..., :, None] * weights[..., None, :]
    return torch.diag_embed(weights - 2 * weights**2) + outer


@wrong(
    check="softmax-jacobian",
    section=STUCK,
    sentence="the whole table has the wrong sign: raising a score raises its own "
    "weight.",
)
def softmax_jacobian(weights):
    outer = weights[..., :, None] * weights[..., None, :]
    return outer - torch.diag_embed(weights)


@wrong(
    check="softmax-jacobian",
    section=STUCK,
    sentence="the diagonal is a_i. It is a_i (1 - a_i): the product is subtracted "
    "there as well.",
)
def softmax_jacobian(weights):
    outer = weights[..., :, None] * weights[..., None, :]
    return torch.diag_embed(weights + weights**2) - outer


@wrong(
    check="softmax-jacobian",
    section=STUCK,
    sentence="only the products -a_i a_j are there. The diagonal has a_i on top.",
)
def softmax_jacobian(weights):
    return -weights[..., :, None] * weights[..., None, :]


@wrong(
    check="softmax-jacobian",
    section=STUCK,
    sentence="softmax is taken of what are weights already. The table is made from "
    "the weights as they come.",
)
def softmax_jacobian(weights):
    weights = torch.softmax(weights, dim=-1)
    outer = weights[..., :, None] * weights[..., None, :]
    return torch.diag_embed(weights) - outer


@wrong(
    check="softmax-jacobian",
    section=STUCK,
    sentence="weights of different rows are multiplied with each other. Every row has "
    "a table of its own.",
)
def softmax_jacobian(weights):
    if weights.dim() == 1:
        return torch.diag(weights) - torch.outer(weights, weights)
    return torch.diag_embed(weights) - weights.mT @ weights


@wrong(
    check="softmax-jacobian",
    section=STUCK,
    sentence="this is the derivative of a sigmoid on the diagonal and zero elsewhere, "
    "or of one row only: rows in front are lost.",
)
def softmax_jacobian(weights):
    row = weights.reshape(-1, weights.shape[-1])[0]
    return torch.diag(row) - torch.outer(row, row)


@wrong(
    check="scaled-scores",
    section=ROOT,
    sentence="the scores are not scaled. Divide them by the root of d_k.",
)
def scaled_scores(queries, keys):
    return attention_scores(queries, keys)


@wrong(
    check="scaled-scores",
    section=ROOT,
    sentence="the scores are divided by d_k itself; that also happens when queries and "
    "keys are both divided by its root. The spread of the scores is the root.",
)
def scaled_scores(queries, keys):
    return attention_scores(queries, keys) / queries.shape[-1]


@wrong(
    check="scaled-scores",
    section=ROOT,
    sentence="the scores are multiplied by the root of d_k, which makes them larger "
    "still. Divide.",
)
def scaled_scores(queries, keys):
    return attention_scores(queries, keys) * math.sqrt(queries.shape[-1])


@wrong(
    check="scaled-scores",
    section=ROOT,
    sentence="the scores are divided by the root of the number of keys. The length of "
    "the sentence plays no part: take the width of a key, the last axis.",
)
def scaled_scores(queries, keys):
    return attention_scores(queries, keys) / math.sqrt(keys.shape[-2])


@wrong(
    check="scaled-scores",
    section=ROOT,
    sentence="the scores are divided by the root of the number of queries. Take the "
    "width of a query, the last axis.",
)
def scaled_scores(queries, keys):
    return attention_scores(queries, keys) / math.sqrt(queries.shape[-2])


@wrong(
    check="scaled-scores",
    section=ROOT,
    sentence="the scores are divided by their own standard deviation. The scale must "
    "not depend on the sentence: it is the root of d_k.",
)
def scaled_scores(queries, keys):
    scores = attention_scores(queries, keys)
    return scores / scores.std(dim=-1, keepdim=True)


@wrong(
    check="scaled-scores",
    section=ROOT,
    sentence="queries and keys are brought to length one. That is cosine similarity; "
    "here the dot product is divided by the root of d_k.",
)
def scaled_scores(queries, keys):
    normed = [torch.nn.functional.normalize(t, dim=-1) for t in (queries, keys)]
    return attention_scores(*normed)


@wrong(
    check="scaled-scores",
    section=ROOT,
    sentence="the queries of the caller are changed: `/=` works in place. Make a new "
    "tensor.",
)
def scaled_scores(queries, keys):
    queries /= math.sqrt(queries.shape[-1])
    return attention_scores(queries, keys)


@wrong(
    check="scaled-scores",
    section=ROOT,
    sentence="the scores are divided by 8, the root of 64. That is the paper's width; "
    "take the width of the queries that come.",
)
def scaled_scores(queries, keys):
    return attention_scores(queries, keys) / 8


@wrong(
    check="scaled-scores",
    section=ROOT,
    sentence="the root is rounded to a whole number: // or int() has cut it off.",
    seen="graded",
)
def scaled_scores(queries, keys):
    return attention_scores(queries, keys) / int(math.sqrt(queries.shape[-1]))


@wrong(
    check="scaled-attention",
    section=ROOT,
    sentence="the weights are divided, after the softmax, and no longer add up to one. "
    "Divide the scores, before it.",
)
def scaled_attention(queries, keys, values):
    weights = softmax(attention_scores(queries, keys))
    return weights / math.sqrt(queries.shape[-1]) @ values


@wrong(
    check="scaled-attention",
    section=ROOT,
    sentence="the scores are scaled twice.",
)
def scaled_attention(queries, keys, values):
    scores = scaled_scores(queries, keys) / math.sqrt(queries.shape[-1])
    return softmax(scores) @ values


@wrong(
    check="scaled-attention",
    section=ROOT,
    sentence="the scores are not scaled: this is the attention of chapter 01.",
)
def scaled_attention(queries, keys, values):
    return softmax(attention_scores(queries, keys)) @ values


@wrong(
    check="scaled-attention",
    section=ROOT,
    sentence="the scale is the root of the width of a value. Values take no part in "
    "the scores: take the width of a key.",
)
def scaled_attention(queries, keys, values):
    scores = attention_scores(queries, keys) / math.sqrt(values.shape[-1])
    return softmax(scores) @ values


@wrong(
    check="scaled-attention",
    section=ROOT,
    sentence="there is no softmax: the scaled scores themselves mix the values.",
)
def scaled_attention(queries, keys, values):
    return scaled_scores(queries, keys) @ values


@wrong(
    check="scaled-attention",
    section=ROOT,
    sentence="the softmax runs down the columns. Every query has one whole to share "
    "out: use the last axis.",
)
def scaled_attention(queries, keys, values):
    return torch.softmax(scaled_scores(queries, keys), dim=-2) @ values


@wrong(
    check="scaled-attention",
    section=ROOT,
    sentence="these are the weights. They must still mix the values.",
)
def scaled_attention(queries, keys, values):
    return softmax(scaled_scores(queries, keys))


@wrong(
    check="scaled-heads",
    section=HEADS,
    sentence="the scores of a head are divided by the root of d_model. A head compares "
    "vectors of d_head numbers: take the width after splitting.",
)
def scaled_heads(queries, keys, values, num_heads):
    heads = [split_heads(t, num_heads) for t in (queries, keys, values)]
    scores = attention_scores(*heads[:2]) / math.sqrt(queries.shape[-1])
    return merge_heads(softmax(scores) @ heads[2])


@wrong(
    check="scaled-heads",
    section=HEADS,
    sentence="the heads are not scaled.",
)
def scaled_heads(queries, keys, values, num_heads):
    heads = [split_heads(t, num_heads) for t in (queries, keys, values)]
    return merge_heads(softmax(attention_scores(*heads[:2])) @ heads[2])


@wrong(
    check="scaled-heads",
    section=HEADS,
    sentence="the scores are divided by the root of the number of heads. Take the "
    "width of a head.",
)
def scaled_heads(queries, keys, values, num_heads):
    heads = [split_heads(t, num_heads) for t in (queries, keys, values)]
    scores = attention_scores(*heads[:2]) / math.sqrt(num_heads)
    return merge_heads(softmax(scores) @ heads[2])


@wrong(
    check="scaled-heads",
    section=HEADS,
    sentence="nothing is split: all of d_model attends as one head.",
)
def scaled_heads(queries, keys, values, num_heads):
    return scaled_attention(queries, keys, values)


@wrong(
    check="scaled-heads",
    section=HEADS,
    sentence="the heads are joined by a reshape alone. Turn the axes back first, as "
    "merge_heads does.",
    seen="graded",
)
def scaled_heads(queries, keys, values, num_heads):
    heads = [split_heads(t, num_heads) for t in (queries, keys, values)]
    return scaled_attention(*heads).reshape(queries.shape)


@wrong(
    check="scaled-heads",
    section=HEADS,
    sentence="the heads are scaled twice: by their own width, and by that of the "
    "model.",
)
def scaled_heads(queries, keys, values, num_heads):
    heads = [split_heads(t, num_heads) for t in (queries, keys, values)]
    heads[0] = heads[0] / math.sqrt(queries.shape[-1])
    return merge_heads(scaled_attention(*heads))


@wrong(
    check="scaled-heads",
    section=HEADS,
    sentence="the heads are averaged. Put what they found side by side.",
)
def scaled_heads(queries, keys, values, num_heads):
    heads = [split_heads(t, num_heads) for t in (queries, keys, values)]
    found = scaled_attention(*heads)
    return merge_heads(found.mean(dim=1, keepdim=True).expand_as(found))


wrong_choice(
    "purpose",
    check="concept-purpose",
    section=GROW,
    a="it costs one division more. The size of a number does not change the cost.",
    b="softmax does that, with or without a scale.",
    d="the length of the sentence plays no part in a score; the width of a key does.",
)
wrong_choice(
    "which_root",
    check="concept-root",
    section=HEADS,
    b="that is the width of the model. A head compares vectors of 64 numbers.",
    c="that is the width itself. The spread of the scores is its root.",
    d="the number of heads plays no part but through the width of a head.",
)
wrong_choice(
    "saturated",
    check="concept-saturated",
    section=STUCK,
    a="even if it should, the gradient cannot say so: a (1 - a) is zero.",
    c="even if they should, the gradient cannot say so: a (1 - a) is zero.",
    d="it is the other way round: it vanishes.",
)
wrong_choice(
    "assumption",
    check="concept-assumption",
    section=GROW,
    a="training changes the vectors. The argument is about how they begin.",
    b="then the mean would not be zero, and the sum would mostly grow with it.",
    c="then it is a squared length, with a mean of d_k and twice the variance.",
)
