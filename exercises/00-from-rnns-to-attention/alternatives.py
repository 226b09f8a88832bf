"""Right answers to chapter 00 written differently: each must get full marks."""

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import right


@right("with a one-hot vector")
def hard_lookup(query, keys, values):
    best = torch.argmax(torch.mv(keys, query))
    return F.one_hot(best, len(keys)).to(values.dtype) @ values


@right("in a loop that keeps the best so far")
def hard_lookup(query, keys, values):
    best, answer = None, None
    for key, value in zip(keys, values, strict=True):
        score = torch.dot(key, query).item()
        if best is None or score > best:
            best, answer = score, value
    return answer


@right("max, and its place")
def hard_lookup(query, keys, values):
    _, place = (keys * query).sum(dim=1).max(dim=0)
    return values.index_select(0, place[None])[0]


@right("einsum, and the exponentials by hand")
def soft_lookup(query, keys, values):
    scores = torch.einsum("kd,d->k", keys, query)
    grown = torch.exp(scores - scores.max())
    return torch.einsum("k,kv->v", grown, values) / grown.sum()


@right("PyTorch's fused attention, its scaling turned off")
def soft_lookup(query, keys, values):
    queries = query.unsqueeze(0)
    mixed = F.scaled_dot_product_attention(queries, keys, values, scale=1.0)
    return mixed.squeeze(0)


@right("value by value")
def soft_lookup(query, keys, values):
    scores = torch.stack([torch.dot(key, query) for key in keys])
    shares = (scores - scores.logsumexp(dim=0)).exp()
    return sum(share * value for share, value in zip(shares, values, strict=True))


@right("four blocks cut out by hand")
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    d = hidden.shape[1]
    made = torch.addmm(bias, x, W_x) + torch.mm(hidden, W_h)
    i, f = made[:, :d].sigmoid(), made[:, d : 2 * d].sigmoid()
    g, o = made[:, 2 * d : 3 * d].tanh(), made[:, 3 * d :].sigmoid()
    new = f * cell + i * g
    return o * new.tanh(), new


@right("token and state side by side, one matrix")
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    both = torch.cat([x, hidden], dim=-1) @ torch.cat([W_x, W_h], dim=0)
    i, f, g, o = torch.tensor_split(both + bias, 4, dim=-1)
    new = cell * f.sigmoid()
    new = new + i.sigmoid() * g.tanh()
    return [new.tanh() * o.sigmoid(), new]


@right("PyTorch's own cell, called with these weights")
def lstm_step(x, hidden, cell, W_x, W_h, bias):
    theirs = nn.LSTMCell(*W_x.shape[:1], len(W_h), device=x.device, dtype=x.dtype)
    weights = {"weight_ih": W_x.T, "weight_hh": W_h.T, "bias_ih": bias}
    weights["bias_hh"] = torch.zeros_like(bias)
    return torch.func.functional_call(theirs, weights, (x, (hidden, cell)))


@right("by the number of the token, into a list; states stacked and turned")
def read_sentence(x, W_x, W_h, bias):
    batch, seq, _ = x.shape
    hidden = torch.zeros(batch, W_h.shape[0], dtype=x.dtype, device=x.device)
    cell = torch.zeros_like(hidden)
    rows = []
    for t in range(seq):
        hidden, cell = lstm_step(x[:, t], hidden, cell, W_x, W_h, bias)
        rows.append(hidden)
    states = torch.stack(rows).transpose(0, 1)
    return states, states[:, -1]


@right("the tokens multiplied all at once, before the loop")
def read_sentence(x, W_x, W_h, bias):
    hidden = cell = x.new_zeros(x.shape[0], W_h.shape[0])
    nothing = torch.eye(W_x.shape[1], dtype=x.dtype, device=x.device)
    states = []
    for made in (x @ W_x).unbind(1):
        hidden, cell = lstm_step(made, hidden, cell, nothing, W_h, bias)
        states.append(hidden[:, None])
    return torch.cat(states, dim=1), hidden


@right("a batch of matrix products")
def dot_attention(query, states):
    scores = torch.bmm(states, query.unsqueeze(2)).squeeze(2)
    weights = F.softmax(scores, dim=1)
    context = torch.bmm(weights.unsqueeze(1), states).squeeze(1)
    return context, weights


@right("broadcast, multiply, add")
def dot_attention(query, states):
    weights = torch.softmax((states * query[:, None]).sum(dim=-1), dim=-1)
    return [(weights[..., None] * states).sum(dim=1), weights]


@right("sentence by sentence")
def dot_attention(query, states):
    weights = [torch.softmax(s @ q, 0) for q, s in zip(query, states, strict=True)]
    contexts = [w @ s for w, s in zip(weights, states, strict=True)]
    return torch.stack(contexts), torch.stack(weights)


@right("bare parameters")
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_state, d_attention):
        super().__init__()
        self.v = nn.Parameter(torch.randn(d_attention, 1) / d_attention**0.5)
        self.W_k = nn.Parameter(torch.randn(d_state, d_attention) / d_state**0.5)
        self.W_q = nn.Parameter(torch.randn(d_query, d_attention) / d_query**0.5)

    def forward(self, query, states):
        asked, offered = query @ self.W_q, states @ self.W_k
        scores = (asked.unsqueeze(1) + offered).tanh() @ self.v
        weights = scores[..., 0].softmax(dim=1)
        return (weights.unsqueeze(1) @ states)[:, 0], weights


@right("the softmax over the tokens while the axis of one is still there")
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_state, d_attention):
        super().__init__()
        self.W_q = nn.Linear(d_query, d_attention, bias=False)
        self.W_k = nn.Linear(d_state, d_attention, bias=False)
        self.v = nn.Linear(d_attention, 1, bias=False)

    def forward(self, query, states):
        asked = self.W_q(query).repeat_interleave(states.shape[1], dim=0)
        offered = self.W_k(states).flatten(0, 1)
        scores = self.v(torch.tanh(asked + offered)).view(*states.shape[:2], 1)
        weights = torch.softmax(scores, dim=1)
        return (weights * states).sum(dim=1), weights.squeeze(2)


@right("all steps at once; another order of the parts")
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        if attention not in {"none", "dot", "additive"}:
            raise ValueError(f"no such attention: {attention}")
        self.kind = attention
        self.output = nn.Linear(d_hidden + d_hidden, vocab_size)
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)

    def forward(self, source, target_in):
        states, state = self.encoder(self.source_embedding(source))
        hidden, _ = self.decoder(self.target_embedding(target_in), state)
        batch, steps, d = hidden.shape
        weights = None
        if self.kind == "none":
            context = state[0].transpose(0, 1).expand(batch, steps, d)
        elif self.kind == "dot":
            weights = torch.softmax(hidden @ states.mT, dim=-1)
            context = weights @ states
        else:
            queries = hidden.reshape(batch * steps, d)
            repeated = states.repeat_interleave(steps, dim=0)
            context, weights = self.additive(queries, repeated)
            context = context.view(batch, steps, d)
            weights = weights.view(batch, steps, -1)
        return self.output(torch.cat((hidden, context), dim=2)), weights


@right("one step after the other, each with its own call of the decoder")
class Seq2Seq(nn.Module):
    def __init__(self, vocab_size, d_hidden, attention="none"):
        super().__init__()
        looks = {"none": None, "dot": dot_attention}
        if attention == "additive":
            self.additive = AdditiveAttention(d_hidden, d_hidden, d_hidden)
            looks["additive"] = self.additive
        if attention not in looks:
            raise ValueError("attention is none, dot or additive")
        self.look = looks[attention]
        self.source_embedding = nn.Embedding(vocab_size, d_hidden)
        self.target_embedding = nn.Embedding(vocab_size, d_hidden)
        self.encoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.decoder = nn.LSTM(d_hidden, d_hidden, batch_first=True)
        self.output = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in):
        states, state = self.encoder(self.source_embedding(source))
        last = state[0][0]
        logits, shares = [], []
        for token in self.target_embedding(target_in).split(1, dim=1):
            hidden, state = self.decoder(token, state)
            context = last
            if self.look is not None:
                context, weights = self.look(hidden[:, 0], states)
                shares.append(weights)
            logits.append(self.output(torch.cat([hidden[:, 0], context], dim=1)))
        weights = torch.stack(shares, dim=1) if shares else None
        return torch.stack(logits, dim=1), weights
