"""Right answers to chapter 04 written differently: each must get full marks."""

import math

import torch
import torch.nn.functional as F

from exercises.answers import right
from solutions.multi_head import merge_heads, split_heads
from solutions.scaling import scaled_attention
from solutions.self_attention import attention_scores


@right("both in one draw, einsum, a tensor of one number")
def dot_product_variance(d_k, samples, generator):
    queries, keys = torch.randn(2, samples, d_k, generator=generator)
    return torch.einsum("nd,nd->n", queries, keys).var()


@right("mean of the squares, the mean being zero")
def dot_product_variance(d_k, samples, generator):
    keys = torch.randn(samples, d_k, generator=generator)
    queries = torch.randn(samples, d_k, generator=generator)
    return float((queries * keys).sum(1).pow(2).mean())


@right("in double precision, by hand")
def dot_product_variance(d_k, samples, generator):
    near = {"generator": generator, "dtype": torch.float64}
    dots = torch.linalg.vecdot(
        torch.randn(samples, d_k, **near), torch.randn(samples, d_k, **near)
    )
    return ((dots - dots.mean()) ** 2).mean().item()


@right("pairs in a batched product")
def dot_product_variance(d_k, samples, generator):
    queries = torch.normal(0.0, 1.0, (samples, 1, d_k), generator=generator)
    keys = torch.normal(0.0, 1.0, (samples, d_k, 1), generator=generator)
    return torch.var(torch.bmm(queries, keys)).item()


@right("the library's own")
def entropy(weights):
    return torch.special.entr(weights).sum(-1)


@right("zeros replaced by one inside the logarithm")
def entropy(weights):
    safe = torch.where(weights > 0, weights, 1.0)
    return -(weights * safe.log()).sum(dim=-1)


@right("NaN turned to zero")
def entropy(weights):
    return -(weights * weights.log()).nan_to_num(nan=0.0).sum(dim=-1)


@right("clamped from below by the smallest number")
def entropy(weights):
    tiny = torch.finfo(weights.dtype).tiny
    return (weights * -weights.clamp(min=tiny).log()).sum(dim=-1)


@right("identity minus the weights")
def softmax_jacobian(weights):
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    return weights[..., :, None] * (eye - weights[..., None, :])


@right("einsum")
def softmax_jacobian(weights):
    return torch.diag_embed(weights) - torch.einsum(
        "...i,...j->...ij", weights, weights
    )


@right("an outer product, and the diagonal written over it")
def softmax_jacobian(weights):
    table = -weights.unsqueeze(-1) @ weights.unsqueeze(-2)
    diagonal = torch.diagonal(table, dim1=-2, dim2=-1)
    return table + torch.diag_embed(weights * (1 - weights) - diagonal)


@right("row by row, by automatic differentiation")
def softmax_jacobian(weights):
    rows = weights.reshape(-1, weights.shape[-1])
    tables = [
        torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), row.log())
        for row in rows.clamp(min=1e-30)
    ]
    return torch.stack(tables).reshape(*weights.shape, weights.shape[-1])


@right("the queries are scaled before the product")
def scaled_scores(queries, keys):
    return attention_scores(queries / math.sqrt(queries.size(-1)), keys)


@right("half of the scale for each")
def scaled_scores(queries, keys):
    share = keys.shape[-1] ** -0.25
    return (queries * share) @ (keys * share).transpose(-2, -1)


@right("einsum and rsqrt")
def scaled_scores(queries, keys):
    scale = torch.rsqrt(torch.tensor(keys.shape[-1], dtype=torch.float64))
    return torch.einsum("...qd,...kd->...qk", queries, keys) * scale.item()


@right("in double precision inside")
def scaled_scores(queries, keys):
    exact = queries.double() @ keys.double().mT / queries.shape[-1] ** 0.5
    return exact.to(queries.dtype)


@right("the fused kernel, which scales by itself")
def scaled_attention(queries, keys, values):
    return F.scaled_dot_product_attention(queries, keys, values)


@right("step by step, without the pieces before")
def scaled_attention(queries, keys, values):
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ values


@right("unnormalised until the end")
def scaled_attention(queries, keys, values):
    scores = torch.matmul(queries, keys.mT).div(math.sqrt(keys.shape[-1]))
    shares = torch.exp(scores - scores.amax(-1, keepdim=True))
    return (shares @ values) / shares.sum(-1, keepdim=True)


@right("one head after the other")
def scaled_heads(queries, keys, values, num_heads):
    pieces = [t.chunk(num_heads, dim=-1) for t in (queries, keys, values)]
    found = [scaled_attention(*head) for head in zip(*pieces, strict=True)]
    return torch.cat(found, dim=-1)


@right("the fused kernel on all heads")
def scaled_heads(queries, keys, values, num_heads):
    heads = [
        t.unflatten(-1, (num_heads, -1)).movedim(-2, 1) for t in (queries, keys, values)
    ]
    return F.scaled_dot_product_attention(*heads).movedim(1, -2).flatten(-2)


@right("einsum with heads as an axis behind the tokens")
def scaled_heads(queries, keys, values, num_heads):
    q, k, v = (t.unflatten(-1, (num_heads, -1)) for t in (queries, keys, values))
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(q.shape[-1])
    return torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), v).flatten(-2)


@right("the scale by the width of the model, corrected by the heads")
def scaled_heads(queries, keys, values, num_heads):
    scale = math.sqrt(num_heads / queries.shape[-1])
    q, k, v = (split_heads(t, num_heads) for t in (queries * scale, keys, values))
    return merge_heads(torch.softmax(q @ k.mT, dim=-1) @ v)
