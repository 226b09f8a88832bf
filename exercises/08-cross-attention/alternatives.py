"""Right answers to chapter 08 written differently: each must get full marks."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import right
from solutions.masking import masked_attention, masked_softmax
from solutions.multi_head import MultiHeadAttention, merge_heads, split_heads


@right("einsum, with queries scaled before")
def cross_attention_weights(queries, keys, mask=None):
    queries = queries / math.sqrt(queries.shape[-1])
    return masked_softmax(torch.einsum("...td,...sd->...ts", queries, keys), mask)


@right("masked by hand")
def cross_attention_weights(queries, keys, mask=None):
    scores = queries @ keys.transpose(-2, -1) * keys.size(-1) ** -0.5
    if mask is None:
        return F.softmax(scores, dim=-1)
    lowest = torch.finfo(scores.dtype).min
    return F.softmax(scores.masked_fill(~mask, lowest), dim=-1).masked_fill(~mask, 0)


@right("the fused kernel, asked for an identity in the place of values")
def cross_attention_weights(queries, keys, mask=None):
    eye = torch.eye(keys.shape[-2], dtype=keys.dtype, device=keys.device)
    eye = eye.expand(*keys.shape[:-1], keys.shape[-2])
    return F.scaled_dot_product_attention(queries, keys, eye, attn_mask=mask)


@right("matrices of its own, and the fused kernel")
class CrossAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None):
        super().__init__()
        self.heads, self.kv = num_heads, num_kv_heads or num_heads
        self.d_head = d_model // num_heads
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, self.kv * self.d_head, bias=False)
        self.W_k = nn.Linear(d_model, self.kv * self.d_head, bias=False)
        self.W_q = nn.Linear(d_model, d_model, bias=False)

    def cut(self, x, heads):
        return x.unflatten(-1, (heads, self.d_head)).transpose(1, 2)

    def forward(self, x, memory, mask=None):
        return self.look(x, *self.read(memory), mask)

    def read(self, memory):
        return [self.cut(W(memory), self.kv) for W in (self.W_k, self.W_v)]

    def look(self, x, keys, values, mask=None):
        times = self.heads // self.kv
        keys, values = (t.repeat_interleave(times, dim=1) for t in (keys, values))
        queries = self.cut(self.W_q(x), self.heads)
        found = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        return self.W_o(found.transpose(1, 2).flatten(2))

    def weights(self, x, memory, mask=None):
        keys = self.read(memory)[0].repeat_interleave(self.heads // self.kv, dim=1)
        return cross_attention_weights(self.cut(self.W_q(x), self.heads), keys, mask)


@right("bare parameters and einsum, heads in groups")
class CrossAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None):
        super().__init__()
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads or num_heads
        narrow = d_model // num_heads * self.num_kv_heads
        self.W_q = nn.Parameter(torch.randn(d_model, d_model) / d_model**0.5)
        self.W_k = nn.Parameter(torch.randn(d_model, narrow) / d_model**0.5)
        self.W_v = nn.Parameter(torch.randn(d_model, narrow) / d_model**0.5)
        self.W_o = nn.Parameter(torch.randn(d_model, d_model) / d_model**0.5)

    def read(self, memory):
        keys = split_heads(memory @ self.W_k, self.num_kv_heads)
        return keys, split_heads(memory @ self.W_v, self.num_kv_heads)

    def shares(self, x, keys, mask):
        queries = split_heads(x @ self.W_q, self.num_heads)
        queries = queries.unflatten(1, (self.num_kv_heads, -1))
        scores = torch.einsum("bkgtd,bksd->bkgts", queries, keys).flatten(1, 2)
        return masked_softmax(scores / math.sqrt(keys.shape[-1]), mask)

    def look(self, x, keys, values, mask=None):
        weights = self.shares(x, keys, mask).unflatten(1, (self.num_kv_heads, -1))
        found = torch.einsum("bkgts,bksd->bkgtd", weights, values)
        return merge_heads(found.flatten(1, 2)) @ self.W_o

    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def weights(self, x, memory, mask=None):
        return self.shares(x, self.read(memory)[0], mask)


@right("one head after the other")
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        return self.look(x, *self.read(memory), mask=mask)

    def read(self, memory):
        d_head = self.W_q.out_features // self.num_heads
        views = self.W_k(memory), self.W_v(memory)
        return tuple(torch.stack(v.split(d_head, dim=-1), dim=1) for v in views)

    def look(self, x, keys, values, mask=None):
        found = []
        for h, query in enumerate(self.W_q(x).chunk(self.num_heads, dim=-1)):
            kv = h * keys.shape[1] // self.num_heads
            own = mask if mask is None else mask[:, min(h, mask.shape[1] - 1)]
            found.append(masked_attention(query, keys[:, kv], values[:, kv], own))
        return self.W_o(torch.cat(found, dim=-1))

    def weights(self, x, memory, mask=None):
        keys = self.read(memory)[0]
        keys = keys.repeat_interleave(self.num_heads // keys.shape[1], dim=1)
        queries = split_heads(self.W_q(x), self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@right("looks by way of its own weights, and shares heads by expanding")
class CrossAttention(MultiHeadAttention):
    def share(self, x):
        batch, kv, seq, d_head = x.shape
        times = self.num_heads // kv
        return x[:, :, None].expand(batch, kv, times, seq, d_head).flatten(1, 2)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        values = split_heads(self.W_v(memory), self.num_kv_heads)
        return keys, values

    def shares(self, x, keys, mask):
        queries = split_heads(self.W_q(x), self.num_heads)
        return cross_attention_weights(queries, self.share(keys), mask)

    def look(self, x, keys, values, mask=None):
        found = self.shares(x, keys, mask) @ self.share(values)
        return self.W_o(merge_heads(found))

    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def weights(self, x, memory, mask=None):
        return self.shares(x, self.read(memory)[0], mask)


@right("the sum decides as the average does")
def alignment(weights):
    return weights.sum(1).max(-1).indices


@right("sorted, and the first taken")
def alignment(weights):
    return weights.mean(dim=1).argsort(dim=-1, descending=True, stable=True)[..., 0]


@right("loops over sentences and tokens")
def alignment(weights):
    rows = [
        [int(torch.argmax(sentence[:, t].mean(dim=0))) for t in range(weights.shape[2])]
        for sentence in weights
    ]
    return torch.tensor(rows, device=weights.device)
