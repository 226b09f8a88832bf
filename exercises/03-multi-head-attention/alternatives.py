"""Right answers to chapter 03 written differently: each must get full marks."""

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import right
from solutions.multi_head import head_width, merge_heads, share_heads, split_heads
from solutions.self_attention import attention


@right("divmod")
def head_width(d_model, num_heads):
    d_head, rest = divmod(d_model, num_heads)
    if rest:
        raise ValueError(f"{num_heads} heads leave {rest} numbers over")
    return d_head


@right("chunks, stacked")
def split_heads(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError(f"{x.shape[-1]} is no multiple of {num_heads}")
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


@right("unflatten and movedim")
def split_heads(x, num_heads):
    d_head = head_width(x.shape[-1], num_heads)
    return x.unflatten(-1, (num_heads, d_head)).movedim(-2, 1)


@right("a view of a contiguous copy, then permute")
def split_heads(x, num_heads):
    batch, seq, d_model = x.shape
    cut = x.contiguous().view(batch, seq, num_heads, head_width(d_model, num_heads))
    return cut.permute(0, 2, 1, 3).contiguous()


@right("head by head, in a loop")
def split_heads(x, num_heads):
    d_head = head_width(x.shape[2], num_heads)
    heads = x.new_empty(x.shape[0], num_heads, x.shape[1], d_head)
    for head in range(num_heads):
        heads[:, head] = x[:, :, head * d_head : (head + 1) * d_head]
    return heads


@right("einsum moves the axes")
def split_heads(x, num_heads):
    d_head = head_width(x.shape[-1], num_heads)
    return torch.einsum("bshd->bhsd", x.reshape(*x.shape[:2], num_heads, d_head))


@right("all heads side by side with cat")
def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


@right("permute, contiguous, view")
def merge_heads(x):
    batch, heads, seq, d_head = x.shape
    return x.permute(0, 2, 1, 3).contiguous().view(batch, seq, heads * d_head)


@right("swapaxes and reshape")
def merge_heads(x):
    turned = x.swapaxes(1, 2)
    return turned.reshape(*turned.shape[:2], -1)


@right("einsum, then flatten")
def merge_heads(x):
    return torch.einsum("bhsd->bshd", x).flatten(-2)


@right("expand and flatten: no copy until the end")
def share_heads(x, num_heads):
    batch, kv_heads, seq, d_head = x.shape
    if num_heads % kv_heads:
        raise ValueError("not a multiple")
    times = num_heads // kv_heads
    return x[:, :, None].expand(batch, kv_heads, times, seq, d_head).flatten(1, 2)


@right("an index for every query head")
def share_heads(x, num_heads):
    if num_heads % x.shape[1]:
        raise ValueError("not a multiple")
    group = num_heads // x.shape[1]
    return x[:, torch.arange(num_heads, device=x.device) // group]


@right("stack and flatten")
def share_heads(x, num_heads):
    times, rest = divmod(num_heads, x.shape[1])
    if rest or not times:
        raise ValueError("not a multiple")
    return torch.stack([x] * times, dim=2).flatten(1, 2)


@right("a list of copies")
def share_heads(x, num_heads):
    if num_heads % x.shape[1] != 0:
        raise ValueError("not a multiple")
    times = num_heads // x.shape[1]
    copies = [head for head in x.unbind(1) for _ in range(times)]
    return torch.stack(copies, dim=1)


@right("einsum for all of it")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_q = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        def heads(layer, count):
            weight = layer.weight.unflatten(0, (count, -1))
            weight = weight.repeat_interleave(self.num_heads // count, dim=0)
            return torch.einsum("bsm,hdm->bhsd", x, weight)

        if self.num_heads % self.num_kv_heads:
            raise ValueError("the query heads cannot share evenly")
        queries = heads(self.W_q, self.num_heads)
        keys = heads(self.W_k, self.num_kv_heads)
        values = heads(self.W_v, self.num_kv_heads)
        found = self.attend(queries, keys, values, **options)
        weight = self.W_o.weight.unflatten(1, (self.num_heads, -1))
        return torch.einsum("bhsd,mhd->bsm", found, weight)


@right("one head after the other")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        if num_kv_heads is None:
            num_kv_heads = num_heads
        if num_heads % num_kv_heads:
            raise ValueError("the query heads cannot share evenly")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.attend, self.d_head = attend, head_width(d_model, num_heads)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = self.W_q(x).split(self.d_head, dim=-1)
        keys = self.W_k(x).split(self.d_head, dim=-1)
        values = self.W_v(x).split(self.d_head, dim=-1)
        group = self.num_heads // self.num_kv_heads
        found = [
            self.attend(queries[i], keys[i // group], values[i // group], **options)
            for i in range(self.num_heads)
        ]
        return self.W_o(torch.cat(found, dim=-1))


@right("what each head found goes through its own part of W_o, and is added up")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = self.attend(queries, keys, values, **options)
        parts = self.W_o.weight.chunk(self.num_heads, dim=1)
        return sum(
            head @ part.T for head, part in zip(found.unbind(1), parts, strict=True)
        )


@right("queries, keys and values from one matrix, W_qkv")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.widths = [d_model, d_kv, d_kv]
        self.W_qkv = nn.Linear(d_model, sum(self.widths), bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries, keys, values = self.W_qkv(x).split(self.widths, dim=-1)
        queries = split_heads(queries, self.num_heads)
        keys = share_heads(split_heads(keys, self.num_kv_heads), self.num_heads)
        values = share_heads(split_heads(values, self.num_kv_heads), self.num_heads)
        return self.W_o(merge_heads(self.attend(queries, keys, values, **options)))


@right("bare parameters for the projections")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Parameter(torch.randn(d_model, d_model) / d_model**0.5)
        self.W_k = nn.Parameter(torch.randn(d_model, d_kv) / d_model**0.5)
        self.W_v = nn.Parameter(torch.randn(d_model, d_kv) / d_model**0.5)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(torch.matmul(x, self.W_q), self.num_heads)
        keys = split_heads(torch.matmul(x, self.W_k), self.num_kv_heads)
        values = split_heads(torch.matmul(x, self.W_v), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        return self.W_o(merge_heads(self.attend(queries, keys, values, **options)))


@right("heads folded into the batch while they attend")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        heads = (queries, *(share_heads(t, self.num_heads) for t in (keys, values)))
        folded = [head.flatten(0, 1) for head in heads]
        found = self.attend(*folded, **options).unflatten(0, (len(x), -1))
        return self.W_o(merge_heads(found))


@right("the library's kernel, its scaling turned off")
def attention_at(queries, keys, values, temperature=1.0):
    return F.scaled_dot_product_attention(queries, keys, values, scale=1 / temperature)


@right("step by step")
def attention_at(queries, keys, values, temperature=1.0):
    scores = torch.einsum("...qd,...kd->...qk", queries, keys) / temperature
    return torch.softmax(scores, dim=-1) @ values


@right("the keys are divided")
def attention_at(queries, keys, values, temperature=1.0):
    return attention(queries, keys / temperature, values)


@right("in closed form: the number of heads cancels")
def attention_flops(seq, d_model, num_heads):
    if d_model % num_heads != 0:
        raise ValueError("the heads do not divide the width")
    return 4 * seq * d_model * (2 * d_model + seq)


@right("product by product")
def attention_flops(seq, d_model, num_heads):
    def product(m, n, p):
        return 2 * m * n * p

    d_head = head_width(d_model, num_heads)
    total = 4 * product(seq, d_model, d_model)
    for _ in range(num_heads):
        total += product(seq, d_head, seq) + product(seq, seq, d_head)
    return total


@right("counted by the library, on empty tensors")
def attention_flops(seq, d_model, num_heads):
    from torch.utils.flop_counter import FlopCounterMode

    d_head = head_width(d_model, num_heads)
    x, weight = (torch.empty(n, d_model, device="meta") for n in (seq, d_model))
    heads = torch.empty(num_heads, seq, d_head, device="meta")
    with FlopCounterMode(display=False) as counter:
        for _ in range(4):
            x @ weight
        scores = heads @ heads.mT
        scores @ heads
    return counter.get_total_flops()


@right("a mask of ones and zeros")
def without_head(layer, head):
    weight = layer.W_o.weight.detach()
    keep = torch.ones(layer.num_heads, dtype=weight.dtype)
    keep[head] = 0
    return weight * keep.repeat_interleave(weight.shape[1] // layer.num_heads)


@right("chunks, joined again")
def without_head(layer, head):
    with torch.no_grad():
        parts = list(layer.W_o.weight.chunk(layer.num_heads, dim=1))
        parts[head] = torch.zeros_like(parts[head])
        return torch.cat(parts, dim=1)


@right("masked_fill, with the gradient kept")
def without_head(layer, head):
    width = layer.W_o.weight.shape[1]
    columns = torch.arange(width) // (width // layer.num_heads)
    return layer.W_o.weight.masked_fill(columns == head, 0.0)
