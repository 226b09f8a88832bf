"""From recurrent networks to attention: an encoder, a decoder, and what lies between.

Chapter 00. The encoder reads the source one token at a time. The decoder gets either
its last state alone, or a fresh mixture of all its states at every step.
"""

import torch
from torch import Tensor, nn


def hard_lookup(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Give the value of the one key that fits the query best.

    Shapes: query (d_k,), keys (num_keys, d_k), values (num_keys, d_v) -> (d_v,).
    Of several keys that fit equally well the first one counts.
    """
    return values[(keys @ query).argmax()]


def soft_lookup(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Give a mixture of all values, more of those whose keys fit the query.

    Shapes: query (d_k,), keys (num_keys, d_k), values (num_keys, d_v) -> (d_v,).
    Source: Bahdanau et al. (2015), section 3.1.
    """
    return torch.softmax(keys @ query, dim=-1) @ values


def lstm_step(
    x: Tensor, hidden: Tensor, cell: Tensor, W_x: Tensor, W_h: Tensor, bias: Tensor
) -> tuple[Tensor, Tensor]:
    """Read one token: forget a part of the cell, write a part, show a part.

    Shapes: x (batch, d_in), hidden and cell (batch, d_hidden), W_x (d_in, 4 d_hidden),
    W_h (d_hidden, 4 d_hidden), bias (4 d_hidden,) -> new hidden, new cell. The four
    blocks of columns are the input gate, forget gate, candidate and output gate.
    Source: Hochreiter and Schmidhuber (1997); forget gate by Gers et al. (2000).
    """
    gates = x @ W_x + hidden @ W_h + bias
    write, keep, candidate, show = gates.chunk(4, dim=-1)
    cell = torch.sigmoid(keep) * cell + torch.sigmoid(write) * torch.tanh(candidate)
    return torch.sigmoid(show) * torch.tanh(cell), cell


def read_sentence(
    x: Tensor, W_x: Tensor, W_h: Tensor, bias: Tensor
) -> tuple[Tensor, Tensor]:
    """Read a sentence from left to right, and keep the state after every token.

    Shapes: x (batch, seq, d_in), W_x (d_in, 4 d_hidden), W_h (d_hidden, 4 d_hidden),
    bias (4 d_hidden,) -> states (batch, seq, d_hidden), last state (batch, d_hidden).
    The last state is the context vector. Hidden state and cell begin with zeros.
    Source: Sutskever et al. (2014), section 2.
    """
    hidden = cell = x.new_zeros(len(x), len(W_h))
    states = []
    for token in x.unbind(dim=1):
        hidden, cell = lstm_step(token, hidden, cell, W_x, W_h, bias)
        states.append(hidden)
    return torch.stack(states, dim=1), hidden


def dot_attention(query: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
    """Mix the encoder's states by how well each fits the decoder's state.

    Shapes: query (batch, d_hidden), states (batch, seq, d_hidden)
    -> context (batch, d_hidden), weights (batch, seq).
    Source: Luong et al. (2015), section 3.1, the "dot" score.
    """
    scores = torch.einsum("bd,bsd->bs", query, states)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bs,bsd->bd", weights, states), weights


class AdditiveAttention(nn.Module):
    """Score each state with a small network of its own, and mix the states.

    ``score = v · tanh(W_q query + W_k state)``; the three are linear layers without
    bias. Shapes: query (batch, d_query), states (batch, seq, d_state)
    -> context (batch, d_state), weights (batch, seq).
    Source: Bahdanau et al. (2015), section 3.1 and appendix A.1.2.
    """

    def __init__(self, d_query: int, d_state: int, d_attention: int):
        """Create the projections to ``d_attention`` numbers, and from them to one."""
        super().__init__()
        self.W_q = nn.Linear(d_query, d_attention, bias=False)
        self.W_k = nn.Linear(d_state, d_attention, bias=False)
        self.v = nn.Linear(d_attention, 1, bias=False)

    def forward(self, query: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
        """Give the context of ``query`` and the weights that made it."""
        # (batch, 1, d_attention) + (batch, seq, d_attention)
        together = torch.tanh(self.W_q(query)[:, None] + self.W_k(states))
        weights = torch.softmax(self.v(together).squeeze(-1), dim=-1)
        return torch.einsum("bs,bsd->bd", weights, states), weights


class Seq2Seq(nn.Module):
    """Read a source with one LSTM, write the target with another.

    ``attention`` is "none" (the last state is the only context), "dot" or "additive".
    Shapes: source (batch, source_len), target_in (batch, target_len), both of token
    ids -> logits (batch, target_len, vocab_size), weights (batch, target_len,
    source_len) or None. Each step is predicted from the decoder's state and the
    context, in this order. Raises ValueError for another ``attention``.
    Source: Sutskever et al. (2014); Bahdanau et al. (2015); Luong et al. (2015).
    """

    def __init__(self, vocab_size: int, d_hidden: int, attention: str = "none"):
        """Create two embeddings, two LSTMs, what attention needs, and the output."""
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

    def forward(
        self, source: Tensor, target_in: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Give the logits of every next token, and where each step looked."""
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
