"""Wrong answers that learners really give in chapter 00, each with its explanation.

``check`` is the check that must catch the answer; ``sentence`` is what the learner is
told; ``section`` is the heading of chapter 00 that explains it.
"""

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import wrong, wrong_choice

LOOKUP = "Two ways to look something up"
READ = "Reading one word at a time"
BOTTLENECK = "One vector for a whole sentence"
DOT = "Looking back at everything"
ADDITIVE = "Two ways to score"
MODEL = "The translator"


@wrong(
    check="hard-lookup",
    section=LOOKUP,
    sentence="the worst key is chosen: take the largest dot product.",
)
def hard_lookup(query, keys, values):
    return values[(keys @ query).argmin()]


@wrong(
    check="hard-lookup",
    section=LOOKUP,
    sentence="the key is given back. It only decides; what is handed over is its "
    "value.",
)
def hard_lookup(query, keys, values):
    return keys[(keys @ query).argmax()]


@wrong(
    check="hard-lookup",
    section=LOOKUP,
    sentence="all values are mixed. This look-up takes one and leaves the others.",
)
def hard_lookup(query, keys, values):
    return torch.softmax(keys @ query, dim=-1) @ values


@wrong(
    check="hard-lookup",
    section=LOOKUP,
    sentence="the place of the best key is given back, not its value.",
)
def hard_lookup(query, keys, values):
    return (keys @ query).argmax()


@wrong(
    check="hard-lookup",
    section=LOOKUP,
    sentence="keys that point the other way are taken to fit as well: the size of a "
    "dot product counts with its sign.",
)
def hard_lookup(query, keys, values):
    return values[(keys @ query).abs().argmax()]


@wrong(
    check="hard-lookup",
    section=LOOKUP,
    sentence="the lengths of the keys are divided out, so that this compares "
    "directions alone. The dot product was asked for.",
)
def hard_lookup(query, keys, values):
    return values[F.cosine_similarity(keys, query[None]).argmax()]


@wrong(
    check="hard-lookup",
    section=LOOKUP,
    sentence="the nearest key is chosen, by distance. The dot product was asked for.",
)
def hard_lookup(query, keys, values):
    return values[(keys - query).norm(dim=-1).argmin()]


@wrong(
    check="hard-lookup",
    section=LOOKUP,
    sentence="of keys that fit equally well the last one is taken. Take the first.",
)
def hard_lookup(query, keys, values):
    return values[len(keys) - 1 - (keys @ query).flip(0).argmax()]


@wrong(
    check="hard-lookup",
    section=LOOKUP,
    sentence="the values are compared with the query. The keys are what it is compared "
    "with.",
)
def hard_lookup(query, keys, values):
    return values[(values[:, : len(query)] @ query).argmax()]


@wrong(
    check="hard-lookup",
    section=LOOKUP,
    sentence="only the score of the best key is multiplied in: the value is given back "
    "changed. Hand it over as it is.",
)
def hard_lookup(query, keys, values):
    scores = keys @ query
    return scores.max() * values[scores.argmax()]


@wrong(
    check="hard-lookup",
    section=LOOKUP,
    sentence="the search for the best score begins at 0, so that a query whose scores "
    "are all negative finds nothing. Begin with the first score, or use argmax.",
    seen="graded",
)
def hard_lookup(query, keys, values):
    best, place = 0.0, 0
    for i, key in enumerate(keys):
        if float(key @ query) > best:
            best, place = float(key @ query), i
    return values[place]


@wrong(
    check="soft-lookup",
    section=LOOKUP,
    sentence="one value is chosen. A choice has no gradient: mix all values, by their "
    "weights.",
)
def soft_lookup(query, keys, values):
    return values[(keys @ query).argmax()]


@wrong(
    check="soft-lookup",
    section=LOOKUP,
    sentence="the scores are multiplied with the values. Softmax has to make weights "
    "of them first.",
)
def soft_lookup(query, keys, values):
    return (keys @ query) @ values


@wrong(
    check="soft-lookup",
    section=LOOKUP,
    sentence="the scores are divided by their sum without taking the exponential. A "
    "negative score would become a negative weight.",
)
def soft_lookup(query, keys, values):
    scores = keys @ query
    return scores / scores.sum() @ values


@wrong(
    check="soft-lookup",
    section=LOOKUP,
    sentence="every score is squashed by itself (sigmoid), so that the weights do not "
    "add up to one.",
)
def soft_lookup(query, keys, values):
    return torch.sigmoid(keys @ query) @ values


@wrong(
    check="soft-lookup",
    section=LOOKUP,
    sentence="the keys are mixed. They only decide; what is mixed are the values.",
)
def soft_lookup(query, keys, values):
    return torch.softmax(keys @ query, dim=-1) @ keys


@wrong(
    check="soft-lookup",
    section=LOOKUP,
    sentence="the scores are divided by the root of their width. Chapter 04 adds that; "
    "here they stay as they are.",
)
def soft_lookup(query, keys, values):
    return torch.softmax(keys @ query / len(query) ** 0.5, dim=-1) @ values


@wrong(
    check="soft-lookup",
    section=LOOKUP,
    sentence="the weights are given back. They still have to mix the values.",
)
def soft_lookup(query, keys, values):
    return torch.softmax(keys @ query, dim=-1)


@wrong(
    check="soft-lookup",
    section=LOOKUP,
    sentence="the logarithm of the softmax is taken.",
)
def soft_lookup(query, keys, values):
    return torch.log_softmax(keys @ query, dim=-1) @ values


@wrong(
    check="soft-lookup",
    section=LOOKUP,
    sentence="the weights are cut off from the graph (detach, .data or no_grad), so "
    "that nothing can learn where to look.",
)
def soft_lookup(query, keys, values):
    return torch.softmax((keys @ query).detach(), dim=-1) @ values


@wrong(
    check="soft-lookup",
    section=LOOKUP,
    sentence="the mixture is divided by the number of values once more. The weights "
    "add up to one already.",
)
def soft_lookup(query, keys, values):
    return torch.softmax(keys @ query, dim=-1) @ values / len(values)


@wrong(
    check="soft-lookup",
    section=LOOKUP,
    sentence="the exponential of a large score overflows. Use torch.softmax, or take "
    "the largest score away first.",
    seen="graded",
)
def soft_lookup(query, keys, values):
    grown = torch.exp(keys @ query)
    return grown / grown.sum() @ values


@wrong(
    check="lstm-step",
    section=READ,
    sentence="input gate and forget gate are exchanged. The blocks stand in the order "
    "input, forget, candidate, output.",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + hidden @ W_h + bias
    keep, write, candidate, show = gates.chunk(4, dim=-1)
    cell = torch.sigmoid(keep) * cell + torch.sigmoid(write) * torch.tanh(candidate)
    return torch.sigmoid(show) * torch.tanh(cell), cell


@wrong(
    check="lstm-step",
    section=READ,
    sentence="the candidate and the output gate are exchanged. The blocks stand in the "
    "order input, forget, candidate, output.",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + hidden @ W_h + bias
    write, keep, show, candidate = gates.chunk(4, dim=-1)
    cell = torch.sigmoid(keep) * cell + torch.sigmoid(write) * torch.tanh(candidate)
    return torch.sigmoid(show) * torch.tanh(cell), cell


@wrong(
    check="lstm-step",
    section=READ,
    sentence="nothing is forgotten: the old cell must be multiplied by the forget "
    "gate.",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + hidden @ W_h + bias
    write, _keep, candidate, show = gates.chunk(4, dim=-1)
    cell = cell + torch.sigmoid(write) * torch.tanh(candidate)
    return torch.sigmoid(show) * torch.tanh(cell), cell


@wrong(
    check="lstm-step",
    section=READ,
    sentence="forgetting is what is not written: this ties the two gates together. "
    "Each has its own block of columns.",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + hidden @ W_h + bias
    write, _keep, candidate, show = gates.chunk(4, dim=-1)
    cell = (1 - torch.sigmoid(write)) * cell + torch.sigmoid(write) * torch.tanh(
        candidate
    )
    return torch.sigmoid(show) * torch.tanh(cell), cell


@wrong(
    check="lstm-step",
    section=READ,
    sentence="the candidate goes through a sigmoid. It is what may be written, and may "
    "be negative: use tanh.",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + hidden @ W_h + bias
    write, keep, candidate, show = gates.chunk(4, dim=-1)
    cell = torch.sigmoid(keep) * cell + torch.sigmoid(write) * torch.sigmoid(candidate)
    return torch.sigmoid(show) * torch.tanh(cell), cell


@wrong(
    check="lstm-step",
    section=READ,
    sentence="the candidate is written as it is. It must go through tanh.",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + hidden @ W_h + bias
    write, keep, candidate, show = gates.chunk(4, dim=-1)
    cell = torch.sigmoid(keep) * cell + torch.sigmoid(write) * candidate
    return torch.sigmoid(show) * torch.tanh(cell), cell


@wrong(
    check="lstm-step",
    section=READ,
    sentence="the cell is shown as it is. It must go through tanh before the output "
    "gate.",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + hidden @ W_h + bias
    write, keep, candidate, show = gates.chunk(4, dim=-1)
    cell = torch.sigmoid(keep) * cell + torch.sigmoid(write) * torch.tanh(candidate)
    return torch.sigmoid(show) * cell, cell


@wrong(
    check="lstm-step",
    section=READ,
    sentence="the hidden state shows the old cell. First the cell is brought up to "
    "date, then it is shown.",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + hidden @ W_h + bias
    write, keep, candidate, show = gates.chunk(4, dim=-1)
    new = torch.sigmoid(keep) * cell + torch.sigmoid(write) * torch.tanh(candidate)
    return torch.sigmoid(show) * torch.tanh(cell), new


@wrong(
    check="lstm-step",
    section=READ,
    sentence="cell and hidden state are given back in the wrong order: hidden state "
    "first.",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + hidden @ W_h + bias
    write, keep, candidate, show = gates.chunk(4, dim=-1)
    cell = torch.sigmoid(keep) * cell + torch.sigmoid(write) * torch.tanh(candidate)
    return cell, torch.sigmoid(show) * torch.tanh(cell)


@wrong(
    check="lstm-step",
    section=READ,
    sentence="the hidden state of before plays no part in the gates: h W_h is missing.",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + bias
    write, keep, candidate, show = gates.chunk(4, dim=-1)
    cell = torch.sigmoid(keep) * cell + torch.sigmoid(write) * torch.tanh(candidate)
    return torch.sigmoid(show) * torch.tanh(cell), cell


@wrong(
    check="lstm-step",
    section=READ,
    sentence="the bias is missing.",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + hidden @ W_h
    write, keep, candidate, show = gates.chunk(4, dim=-1)
    cell = torch.sigmoid(keep) * cell + torch.sigmoid(write) * torch.tanh(candidate)
    return torch.sigmoid(show) * torch.tanh(cell), cell


@wrong(
    check="lstm-step",
    section=READ,
    sentence="the gates go through tanh. A gate lets through between nothing and "
    "everything: use a sigmoid.",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + hidden @ W_h + bias
    write, keep, candidate, show = gates.chunk(4, dim=-1)
    cell = torch.tanh(keep) * cell + torch.tanh(write) * torch.tanh(candidate)
    return torch.tanh(show) * torch.tanh(cell), cell


@wrong(
    check="lstm-step",
    section=READ,
    sentence="the input gate is not used, so that every token is written in full.",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + hidden @ W_h + bias
    _write, keep, candidate, show = gates.chunk(4, dim=-1)
    cell = torch.sigmoid(keep) * cell + torch.tanh(candidate)
    return torch.sigmoid(show) * torch.tanh(cell), cell


@wrong(
    check="lstm-step",
    section=READ,
    sentence="the output gate is not used, so that the whole cell is shown.",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + hidden @ W_h + bias
    write, keep, candidate, _show = gates.chunk(4, dim=-1)
    cell = torch.sigmoid(keep) * cell + torch.sigmoid(write) * torch.tanh(candidate)
    return torch.tanh(cell), cell


@wrong(
    check="lstm-step",
    section=READ,
    sentence="the batch is cut into four parts. The blocks stand side by side in the "
    "last axis: chunk(4, dim=-1).",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + hidden @ W_h + bias
    write, keep, candidate, show = (
        gates.T.reshape(4, -1, len(x)).transpose(1, 2).flip(0)
    )
    cell = torch.sigmoid(keep) * cell + torch.sigmoid(write) * torch.tanh(candidate)
    return torch.sigmoid(show) * torch.tanh(cell), cell


@wrong(
    check="lstm-step",
    section=READ,
    sentence="the gates look at the cell. They are made from the token and the hidden "
    "state.",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + cell @ W_h + bias
    write, keep, candidate, show = gates.chunk(4, dim=-1)
    cell = torch.sigmoid(keep) * cell + torch.sigmoid(write) * torch.tanh(candidate)
    return torch.sigmoid(show) * torch.tanh(cell), cell


@wrong(
    check="lstm-step",
    section=READ,
    sentence="the cell of the caller is changed in place. Make a new one.",
)
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    gates = x @ W_x + hidden @ W_h + bias
    write, keep, candidate, show = gates.chunk(4, dim=-1)
    cell *= torch.sigmoid(keep)
    cell += torch.sigmoid(write) * torch.tanh(candidate)
    return torch.sigmoid(show) * torch.tanh(cell), cell


@wrong(
    check="read-sentence",
    section=READ,
    sentence="the sentence is read from right to left.",
)
def read_sentence(x, W_x, W_h, bias):
    hidden = cell = x.new_zeros(len(x), len(W_h))
    states = []
    for token in x.flip(1).unbind(dim=1):
        hidden, cell = lstm_step(token, hidden, cell, W_x, W_h, bias)
        states.append(hidden)
    return torch.stack(states, dim=1), hidden


@wrong(
    check="read-sentence",
    section=READ,
    sentence="the cell is forgotten after every token. It must be carried on, like the "
    "hidden state.",
)
def read_sentence(x, W_x, W_h, bias):
    hidden = cell = x.new_zeros(len(x), len(W_h))
    states = []
    empty = cell
    for token in x.unbind(dim=1):
        hidden, _ = lstm_step(token, hidden, empty, W_x, W_h, bias)
        states.append(hidden)
    return torch.stack(states, dim=1), hidden


@wrong(
    check="read-sentence",
    section=READ,
    sentence="the hidden state is forgotten after every token. It must be carried on, "
    "like the cell.",
)
def read_sentence(x, W_x, W_h, bias):
    hidden = cell = x.new_zeros(len(x), len(W_h))
    states = []
    empty = hidden
    for token in x.unbind(dim=1):
        hidden, cell = lstm_step(token, empty, cell, W_x, W_h, bias)
        states.append(hidden)
    return torch.stack(states, dim=1), hidden


@wrong(
    check="read-sentence",
    section=READ,
    sentence="the cells are kept. What is kept after each token is its hidden state.",
)
def read_sentence(x, W_x, W_h, bias):
    hidden = cell = x.new_zeros(len(x), len(W_h))
    states = []
    for token in x.unbind(dim=1):
        hidden, cell = lstm_step(token, hidden, cell, W_x, W_h, bias)
        states.append(cell)
    return torch.stack(states, dim=1), hidden


@wrong(
    check="read-sentence",
    section=READ,
    sentence="the last cell is given back. The context vector is the last hidden "
    "state.",
)
def read_sentence(x, W_x, W_h, bias):
    hidden = cell = x.new_zeros(len(x), len(W_h))
    states = []
    for token in x.unbind(dim=1):
        hidden, cell = lstm_step(token, hidden, cell, W_x, W_h, bias)
        states.append(hidden)
    return torch.stack(states, dim=1), cell


@wrong(
    check="read-sentence",
    section=READ,
    sentence="the state is kept before each token is read, so that the last one is "
    "missing.",
)
def read_sentence(x, W_x, W_h, bias):
    hidden = cell = x.new_zeros(len(x), len(W_h))
    states = []
    for token in x.unbind(dim=1):
        states.append(hidden)
        hidden, cell = lstm_step(token, hidden, cell, W_x, W_h, bias)
    return torch.stack(states, dim=1), hidden


@wrong(
    check="read-sentence",
    section=READ,
    sentence="the states are stacked in front of the batch. The axis of the tokens is "
    "the second: dim=1.",
)
def read_sentence(x, W_x, W_h, bias):
    hidden = cell = x.new_zeros(len(x), len(W_h))
    states = []
    for token in x.unbind(dim=1):
        hidden, cell = lstm_step(token, hidden, cell, W_x, W_h, bias)
        states.append(hidden)
    return torch.stack(states), hidden


@wrong(
    check="read-sentence",
    section=BOTTLENECK,
    sentence="the mean of all states is given back as the context. It is the last "
    "state.",
)
def read_sentence(x, W_x, W_h, bias):
    hidden = cell = x.new_zeros(len(x), len(W_h))
    states = []
    for token in x.unbind(dim=1):
        hidden, cell = lstm_step(token, hidden, cell, W_x, W_h, bias)
        states.append(hidden)
    return torch.stack(states, dim=1), sum(states) / len(states)


@wrong(
    check="read-sentence",
    section=READ,
    sentence="hidden state and cell begin with ones. They begin with zeros.",
)
def read_sentence(x, W_x, W_h, bias):
    hidden = cell = x.new_ones(len(x), len(W_h))
    states = []
    for token in x.unbind(dim=1):
        hidden, cell = lstm_step(token, hidden, cell, W_x, W_h, bias)
        states.append(hidden)
    return torch.stack(states, dim=1), hidden


@wrong(
    check="read-sentence",
    section=BOTTLENECK,
    sentence="the first state is given back as the context. The last one is what has "
    "read everything.",
)
def read_sentence(x, W_x, W_h, bias):
    hidden = cell = x.new_zeros(len(x), len(W_h))
    states = []
    for token in x.unbind(dim=1):
        hidden, cell = lstm_step(token, hidden, cell, W_x, W_h, bias)
        states.append(hidden)
    return torch.stack(states, dim=1), states[0]


@wrong(
    check="read-sentence",
    section=READ,
    sentence="hidden state and cell change places from step to step.",
)
def read_sentence(x, W_x, W_h, bias):
    hidden = cell = x.new_zeros(len(x), len(W_h))
    states = []
    for token in x.unbind(dim=1):
        cell, hidden = lstm_step(token, hidden, cell, W_x, W_h, bias)
        states.append(hidden)
    return torch.stack(states, dim=1), hidden


@wrong(
    check="dot-attention",
    section=DOT,
    sentence="the softmax runs over the sentences of the batch. Every sentence has one "
    "whole to share among its own tokens: the last axis.",
)
def dot_attention(query, states):
    scores = torch.einsum("bd,bsd->bs", query, states)
    weights = torch.softmax(scores, dim=0)
    return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="dot-attention",
    section=DOT,
    sentence="the scores are given back as weights. Softmax still has to turn them "
    "into shares.",
)
def dot_attention(query, states):
    scores = torch.einsum("bd,bsd->bs", query, states)
    weights = scores
    return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="dot-attention",
    section=DOT,
    sentence="the scores are divided by the root of their width. Chapter 04 adds that; "
    "here they stay as they are.",
)
def dot_attention(query, states):
    scores = torch.einsum("bd,bsd->bs", query, states) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="dot-attention",
    section=DOT,
    sentence="weights come before the context. The order asked for is context, "
    "weights.",
)
def dot_attention(query, states):
    scores = torch.einsum("bd,bsd->bs", query, states)
    weights = torch.softmax(scores, dim=-1)
    return weights, torch.einsum("bs,bsd->bd", weights, states)


@wrong(
    check="dot-attention",
    section=DOT,
    sentence="only the best state is taken. That is a hard look-up, and where to look "
    "could not be learned.",
)
def dot_attention(query, states):
    scores = torch.einsum("bd,bsd->bs", query, states)
    weights = F.one_hot(scores.argmax(dim=-1), scores.shape[-1]).to(scores.dtype)
    return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="dot-attention",
    section=DOT,
    sentence="the states are averaged, without weights.",
)
def dot_attention(query, states):
    scores = torch.einsum("bd,bsd->bs", query, states)
    weights = torch.softmax(scores, dim=-1)
    return states.mean(dim=1), weights


@wrong(
    check="dot-attention",
    section=DOT,
    sentence="query and states are brought to length one first. The plain dot product "
    "was asked for.",
)
def dot_attention(query, states):
    scores = torch.einsum(
        "bd,bsd->bs", F.normalize(query, dim=-1), F.normalize(states, dim=-1)
    )
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="dot-attention",
    section=DOT,
    sentence="every score is squashed by itself (sigmoid), so that the weights do not "
    "add up to one.",
)
def dot_attention(query, states):
    scores = torch.einsum("bd,bsd->bs", query, states)
    weights = torch.sigmoid(scores)
    return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="dot-attention",
    section=DOT,
    sentence="the query is added to the context. The context is the mixture of the "
    "states alone.",
)
def dot_attention(query, states):
    scores = torch.einsum("bd,bsd->bs", query, states)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bs,bsd->bd", weights, states) + query, weights


@wrong(
    check="dot-attention",
    section=DOT,
    sentence="the query of the first sentence is used for all of them.",
)
def dot_attention(query, states):
    scores = torch.einsum("d,bsd->bs", query[0], states)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="dot-attention",
    section=DOT,
    sentence="the weights stand in the wrong order: the first one is given to the last "
    "state.",
)
def dot_attention(query, states):
    scores = torch.einsum("bd,bsd->bs", query, states)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bs,bsd->bd", weights, states.flip(1)), weights


@wrong(
    check="additive-attention",
    section=ADDITIVE,
    sentence="the tanh is missing. Without it the query moves all scores alike, and "
    "has no say in where to look.",
)
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_state, d_attention):
        super().__init__()
        self.W_q = nn.Linear(d_query, d_attention, bias=False)
        self.W_k = nn.Linear(d_state, d_attention, bias=False)
        self.v = nn.Linear(d_attention, 1, bias=False)

    def forward(self, query, states):
        together = self.W_q(query)[:, None] + self.W_k(states)
        weights = torch.softmax(self.v(together).squeeze(-1), dim=-1)
        return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="additive-attention",
    section=ADDITIVE,
    sentence="the tanh comes after v. It belongs between the two layers: v · "
    "tanh(...).",
)
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_state, d_attention):
        super().__init__()
        self.W_q = nn.Linear(d_query, d_attention, bias=False)
        self.W_k = nn.Linear(d_state, d_attention, bias=False)
        self.v = nn.Linear(d_attention, 1, bias=False)

    def forward(self, query, states):
        together = self.W_q(query)[:, None] + self.W_k(states)
        weights = torch.softmax(torch.tanh(self.v(together)).squeeze(-1), dim=-1)
        return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="additive-attention",
    section=ADDITIVE,
    sentence="the softmax runs over the axis of size one that v leaves, so that every "
    "weight is one.",
)
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_state, d_attention):
        super().__init__()
        self.W_q = nn.Linear(d_query, d_attention, bias=False)
        self.W_k = nn.Linear(d_state, d_attention, bias=False)
        self.v = nn.Linear(d_attention, 1, bias=False)

    def forward(self, query, states):
        together = torch.tanh(self.W_q(query)[:, None] + self.W_k(states))
        weights = torch.softmax(self.v(together), dim=-1).squeeze(-1)
        return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="additive-attention",
    section=ADDITIVE,
    sentence="the softmax runs over the sentences of the batch. It must run over the "
    "tokens.",
)
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_state, d_attention):
        super().__init__()
        self.W_q = nn.Linear(d_query, d_attention, bias=False)
        self.W_k = nn.Linear(d_state, d_attention, bias=False)
        self.v = nn.Linear(d_attention, 1, bias=False)

    def forward(self, query, states):
        together = torch.tanh(self.W_q(query)[:, None] + self.W_k(states))
        weights = torch.softmax(self.v(together).squeeze(-1), dim=0)
        return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="additive-attention",
    section=ADDITIVE,
    sentence="query and state are multiplied. In additive attention they are added.",
)
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_state, d_attention):
        super().__init__()
        self.W_q = nn.Linear(d_query, d_attention, bias=False)
        self.W_k = nn.Linear(d_state, d_attention, bias=False)
        self.v = nn.Linear(d_attention, 1, bias=False)

    def forward(self, query, states):
        together = torch.tanh(self.W_q(query)[:, None] * self.W_k(states))
        weights = torch.softmax(self.v(together).squeeze(-1), dim=-1)
        return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="additive-attention",
    section=ADDITIVE,
    sentence="a ReLU stands where the tanh belongs.",
)
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_state, d_attention):
        super().__init__()
        self.W_q = nn.Linear(d_query, d_attention, bias=False)
        self.W_k = nn.Linear(d_state, d_attention, bias=False)
        self.v = nn.Linear(d_attention, 1, bias=False)

    def forward(self, query, states):
        together = torch.relu(self.W_q(query)[:, None] + self.W_k(states))
        weights = torch.softmax(self.v(together).squeeze(-1), dim=-1)
        return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="additive-attention",
    section=ADDITIVE,
    sentence="a linear layer has a bias. None of the three has one.",
)
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_state, d_attention):
        super().__init__()
        self.W_q = nn.Linear(d_query, d_attention)
        self.W_k = nn.Linear(d_state, d_attention)
        self.v = nn.Linear(d_attention, 1, bias=False)

    def forward(self, query, states):
        together = torch.tanh(self.W_q(query)[:, None] + self.W_k(states))
        weights = torch.softmax(self.v(together).squeeze(-1), dim=-1)
        return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="additive-attention",
    section=ADDITIVE,
    sentence="the projected states are mixed. The context is a mixture of the states "
    "as they are.",
)
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_state, d_attention):
        super().__init__()
        self.W_q = nn.Linear(d_query, d_attention, bias=False)
        self.W_k = nn.Linear(d_state, d_attention, bias=False)
        self.v = nn.Linear(d_attention, 1, bias=False)

    def forward(self, query, states):
        together = torch.tanh(self.W_q(query)[:, None] + self.W_k(states))
        weights = torch.softmax(self.v(together).squeeze(-1), dim=-1)
        return torch.einsum("bs,bsd->bd", weights, self.W_k(states)), weights


@wrong(
    check="additive-attention",
    section=ADDITIVE,
    sentence="v is not used: the numbers are added up as they are, instead of being "
    "weighed.",
)
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_state, d_attention):
        super().__init__()
        self.W_q = nn.Linear(d_query, d_attention, bias=False)
        self.W_k = nn.Linear(d_state, d_attention, bias=False)
        self.v = nn.Linear(d_attention, 1, bias=False)

    def forward(self, query, states):
        together = torch.tanh(self.W_q(query)[:, None] + self.W_k(states))
        weights = torch.softmax(together.sum(dim=-1), dim=-1)
        return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="additive-attention",
    section=ADDITIVE,
    sentence="the scores are given back as weights. Softmax still has to turn them "
    "into shares.",
)
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_state, d_attention):
        super().__init__()
        self.W_q = nn.Linear(d_query, d_attention, bias=False)
        self.W_k = nn.Linear(d_state, d_attention, bias=False)
        self.v = nn.Linear(d_attention, 1, bias=False)

    def forward(self, query, states):
        together = torch.tanh(self.W_q(query)[:, None] + self.W_k(states))
        weights = self.v(together).squeeze(-1)
        return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="additive-attention",
    section=ADDITIVE,
    sentence="the query is projected by the matrix that is meant for the states, or "
    "the other way round.",
)
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_state, d_attention):
        super().__init__()
        self.W_k = nn.Linear(d_query, d_attention, bias=False)
        self.W_q = nn.Linear(d_state, d_attention, bias=False)
        self.v = nn.Linear(d_attention, 1, bias=False)

    def forward(self, query, states):
        together = torch.tanh(self.W_k(query)[:, None] + self.W_q(states))
        weights = torch.softmax(self.v(together).squeeze(-1), dim=-1)
        return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="additive-attention",
    section=ADDITIVE,
    sentence="the linear layers are created in forward, new and random at each call. "
    "Create them once, in __init__.",
)
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_state, d_attention):
        super().__init__()
        self.sizes = d_query, d_state, d_attention

    def forward(self, query, states):
        d_query, d_state, d_attention = self.sizes
        W_q = nn.Linear(d_query, d_attention, bias=False)
        W_k = nn.Linear(d_state, d_attention, bias=False)
        v = nn.Linear(d_attention, 1, bias=False)
        together = torch.tanh(W_q(query)[:, None] + W_k(states))
        weights = torch.softmax(v(together).squeeze(-1), dim=-1)
        return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="additive-attention",
    section=ADDITIVE,
    sentence="the dot product decides where to look, and the small network is left "
    "out.",
)
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_state, d_attention):
        super().__init__()
        self.W_q = nn.Linear(d_query, d_attention, bias=False)
        self.W_k = nn.Linear(d_state, d_attention, bias=False)
        self.v = nn.Linear(d_attention, 1, bias=False)

    def forward(self, query, states):
        together = torch.tanh(self.W_q(query)[:, None] + self.W_k(states))
        weights = torch.softmax(
            (self.W_q(query)[:, None] * self.W_k(states)).sum(dim=-1)
            + 0 * self.v(together).squeeze(-1),
            dim=-1,
        )
        return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="additive-attention",
    section=ADDITIVE,
    sentence="the query is added to the tokens in the wrong axis: where there are as "
    "many sentences as tokens, sentences are mixed. Give it an axis for the "
    "tokens, [:, None].",
    seen="graded",
)
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_state, d_attention):
        super().__init__()
        self.W_q = nn.Linear(d_query, d_attention, bias=False)
        self.W_k = nn.Linear(d_state, d_attention, bias=False)
        self.v = nn.Linear(d_attention, 1, bias=False)

    def forward(self, query, states):
        asked = self.W_q(query)
        if len(query) != states.shape[1]:
            asked = asked[:, None]
        together = torch.tanh(asked + self.W_k(states))
        weights = torch.softmax(self.v(together).squeeze(-1), dim=-1)
        return torch.einsum("bs,bsd->bd", weights, states), weights


@wrong(
    check="seq2seq",
    section=MODEL,
    sentence="the decoder begins with zeros. It must begin with the encoder's last "
    "hidden state and cell.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, _cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.target_embedding(target_in))
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([hidden, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=MODEL,
    sentence="the encoder's states are cut off from the graph (detach, .data or "
    "no_grad) before attention looks at them: the encoder would not learn what to "
    "offer.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, state = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.target_embedding(target_in), state)
        if self.attention == "none":
            context = state[0][0].detach()[:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states.detach()) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([hidden, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=MODEL,
    sentence="the state that the decoder begins with is cut off from the graph "
    "(detach, .data or no_grad): the decoder's mistakes would not reach the encoder.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(
            self.target_embedding(target_in), (last.detach(), cell.detach())
        )
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([hidden, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=MODEL,
    sentence="the weights of attention are cut off from the graph (detach, .data or "
    "no_grad): nobody could learn where to look.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.target_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        weights = torch.stack([weights for _, weights in looks], dim=1).detach()
        context = weights @ states
        return self.output(torch.cat([hidden, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=MODEL,
    sentence="the decoder gets the hidden state, and an empty cell. It needs both.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(
            self.target_embedding(target_in), (last, torch.zeros_like(cell))
        )
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([hidden, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=MODEL,
    sentence="the decoder's state is not used for the prediction: only the context is.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.target_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([context, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([context, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=MODEL,
    sentence="the context is not used for the prediction: only the decoder's state is.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.target_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(
                torch.cat([hidden, torch.zeros_like(context)], dim=-1)
            ), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(
            torch.cat([hidden, torch.zeros_like(context)], dim=-1)
        ), weights


@wrong(
    check="seq2seq",
    section=MODEL,
    sentence="context and state stand in the wrong order: the decoder's hidden state "
    "comes first.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.target_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([context, hidden], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([context, hidden], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=DOT,
    sentence="attention looks at what has been written, at the decoder's own states. "
    "It must look at the encoder's.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        _states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.target_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, hidden) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([hidden, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=DOT,
    sentence="the query is the embedded target token. It must be the decoder's hidden "
    "state of this step.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.target_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [
            look(step, states)
            for step in self.target_embedding(target_in).unbind(dim=1)
        ]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([hidden, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=DOT,
    sentence="every step asks with the same query, the last state. Each step has a "
    "state of its own.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.target_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(hidden[:, -1], states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([hidden, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=BOTTLENECK,
    sentence="without attention the context is the mean of all states. It must be the "
    "last state alone.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.target_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = states.mean(dim=1, keepdim=True).expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([hidden, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=BOTTLENECK,
    sentence="without attention the context is the last cell. It must be the last "
    "hidden state.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.target_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = cell[0][:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([hidden, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=MODEL,
    sentence="one embedding serves source and target. Here each has its own.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.source_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([hidden, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=MODEL,
    sentence="“dot” and “additive” are exchanged, or one of them is always used.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.target_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([hidden, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=MODEL,
    sentence="the result has been turned into probabilities. Give the scores as they "
    "are.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.target_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return torch.softmax(
            self.output(torch.cat([hidden, context], dim=-1)), dim=-1
        ), weights


@wrong(
    check="seq2seq",
    section=MODEL,
    sentence="an unknown kind of attention is accepted. Raise a ValueError that says "
    "what was expected.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.target_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([hidden, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=MODEL,
    sentence="the weights have their steps in the wrong axis: the axis of the steps is "
    "the second.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.target_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=2)
        return self.output(torch.cat([hidden, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=MODEL,
    sentence="the encoder reads the target. It reads the source.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(target_in))
        hidden, _ = self.decoder(self.target_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([hidden, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=MODEL,
    sentence="the source is read from right to left.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source.flip(1)))
        hidden, _ = self.decoder(self.target_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([hidden, context], dim=-1)), weights


@wrong(
    check="seq2seq",
    section=MODEL,
    sentence="one network reads and writes: the encoder is used as the decoder too.",
)
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in ("none", "dot", "additive"):
            raise ValueError(
                f'attention is {attention!r}; expected "none", "dot" or "additive".'
            )
        self.attention = attention
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, (last, cell) = self.encoder(self.source_embedding(source))
        hidden, _ = self.encoder(self.target_embedding(target_in), (last, cell))
        if self.attention == "none":
            context = last[0][:, None].expand_as(hidden)
            return self.output(torch.cat([hidden, context], dim=-1)), None
        look = dot_attention if self.attention == "dot" else self.additive
        looks = [look(step, states) for step in hidden.unbind(dim=1)]
        context = torch.stack([context for context, _ in looks], dim=1)
        weights = torch.stack([weights for _, weights in looks], dim=1)
        return self.output(torch.cat([hidden, context], dim=-1)), weights


wrong_choice(
    "bottleneck",
    check="concept-bottleneck",
    section=BOTTLENECK,
    a="an LSTM reads as long as you like. What it can keep is limited.",
    c="in the experiment all lengths have the same words, and the fall is there.",
    d="the decoder takes as many steps as it needs.",
)
wrong_choice(
    "who_is_who",
    check="concept-roles",
    section=DOT,
    a="then nothing would say what the decoder needs now. The query is the decoder's.",
    b="it is the decoder that is looking for something, so the query is its state.",
    d="then nothing of the source would reach the decoder.",
)
wrong_choice(
    "why_soft",
    check="concept-soft",
    section=LOOKUP,
    b="it is slower: it handles all values, not one.",
    c="it gives a mixture. What makes it useful is its gradient.",
    d="both compare the query with keys.",
)
wrong_choice(
    "where_from",
    check="concept-weights",
    section=DOT,
    a="the matrices are parameters. The weights are computed from the states.",
    b="they depend on the words, not only on their number.",
    c="nothing is drawn: the same sentence gives the same weights.",
)
