"""Right answers to chapter 07 written differently: each must get full marks."""

import math

import torch
import torch.nn.functional as F

from exercises.answers import right


@right("places compared with places")
def causal_mask(query_len, key_len=None):
    key_len = key_len or query_len
    queries = torch.arange(key_len - query_len, key_len)
    return queries[:, None] >= torch.arange(key_len)


@right("not the upper triangle")
def causal_mask(query_len, key_len=None):
    if key_len is None:
        key_len = query_len
    ahead = torch.triu(torch.ones(query_len, key_len), 1 + key_len - query_len)
    return ahead == 0


@right("the last rows of the square")
def causal_mask(query_len, key_len=None):
    seq = key_len if key_len is not None else query_len
    return torch.tril(torch.ones(seq, seq)).bool()[seq - query_len :]


@right("a loop over rows")
def causal_mask(query_len, key_len=None):
    key_len = query_len if key_len is None else key_len
    mask = torch.zeros(query_len, key_len, dtype=torch.bool)
    for i in range(query_len):
        mask[i, : key_len - query_len + i + 1] = True
    return mask


@right("unsqueeze and ne")
def padding_mask(tokens, pad_id):
    return tokens.ne(pad_id).unsqueeze(1).unsqueeze(2)


@right("not equal, by way of ~, and view")
def padding_mask(tokens, pad_id):
    batch, seq = tokens.shape
    return (~(tokens == pad_id)).view(batch, 1, 1, seq)


@right("reduce with logical_and")
def combine_masks(*masks):
    there = [mask for mask in masks if mask is not None]
    if not there:
        return None
    combined = there[0]
    for mask in there[1:]:
        combined = torch.logical_and(combined, mask)
    return combined


@right("broadcast, stack, all")
def combine_masks(*masks):
    there = [mask for mask in masks if mask is not None]
    if not there:
        return None
    return torch.stack(torch.broadcast_tensors(*there)).all(dim=0)


@right("a product of booleans")
def combine_masks(*masks):
    result = None
    for mask in masks:
        if mask is None:
            continue
        result = mask.clone() if result is None else result * mask
    return result


@right("nobody forbids it")
def combine_masks(*masks):
    there = [mask for mask in masks if mask is not None]
    if len(there) == 0:
        return None
    forbidden = ~there[0]
    for mask in there[1:]:
        forbidden = forbidden | ~mask
    return ~forbidden


@right("the lowest finite number, and hidden weights set to zero")
def masked_softmax(scores, mask):
    if mask is None:
        return scores.softmax(-1)
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).softmax(-1).masked_fill(~mask, 0)


@right("masked by hand: exponentials times the mask, then shared out")
def masked_softmax(scores, mask):
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    shifted = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    shifted = (shifted - shifted.amax(-1, keepdim=True)).masked_fill(~mask, 0)
    exponentials = shifted.exp() * mask
    total = exponentials.sum(dim=-1, keepdim=True)
    return exponentials / total.masked_fill(total == 0, 1)


@right("an additive mask, zero for rows that see nothing")
def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    something = mask.any(-1, keepdim=True)
    bias = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device)
    bias = bias.masked_fill(~mask & something, float("-inf"))
    return torch.softmax(scores + bias, dim=-1) * something


@right("double precision inside, and where")
def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    minus = torch.tensor(-math.inf, dtype=torch.float64, device=scores.device)
    empty = ~mask.any(dim=-1, keepdim=True)
    exact = torch.where(mask | empty, scores.double(), minus).softmax(dim=-1)
    zero = torch.zeros((), dtype=torch.float64, device=scores.device)
    return torch.where(empty, zero, exact).to(scores.dtype)


@right("NaN replaced where masked_fill stops its gradient")
def masked_softmax(scores, mask):
    if mask is None:
        return F.softmax(scores, dim=-1)
    weights = F.softmax(scores.masked_fill(mask.logical_not(), -torch.inf), dim=-1)
    return torch.nan_to_num(weights, nan=0.0)


@right("the fused kernel")
def masked_attention(queries, keys, values, mask=None):
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)


@right("scaled queries and einsum")
def masked_attention(queries, keys, values, mask=None):
    queries = queries / math.sqrt(queries.shape[-1])
    scores = torch.einsum("...qd,...kd->...qk", queries, keys)
    return torch.einsum("...qk,...kv->...qv", masked_softmax(scores, mask), values)


@right("hidden before the scale, which minus infinity does not mind")
def masked_attention(queries, keys, values, mask=None):
    scores = queries @ keys.mT
    if mask is None:
        return torch.softmax(scores / queries.shape[-1] ** 0.5, -1) @ values
    empty = ~mask.any(-1, keepdim=True)
    hidden = torch.where(mask | empty, scores, -torch.inf)
    weights = torch.softmax(hidden / queries.shape[-1] ** 0.5, dim=-1)
    return weights.masked_fill(empty, 0) @ values


@right("a triangle less a triangle")
def sliding_window_mask(seq, window):
    lower = torch.ones(seq, seq, dtype=torch.bool).tril()
    return lower & ~lower.tril(-window)


@right("triu of tril")
def sliding_window_mask(seq, window):
    return torch.ones(seq, seq).tril().triu(1 - window).bool()


@right("two loops over pairs")
def strided_mask(seq, stride):
    mask = torch.zeros(seq, seq, dtype=torch.bool)
    for i in range(seq):
        for j in range(i + 1):
            mask[i, j] = i - j <= stride or (i - j) % stride == 0
    return mask


@right("diagonals")
def strided_mask(seq, stride):
    mask = torch.ones(seq, seq, dtype=torch.bool).tril().triu(-stride)
    for distance in range(0, seq, stride):
        mask.diagonal(-distance).fill_(True)
    return mask


@right("a list of lists")
def fixed_mask(seq, stride, summary=1):
    return torch.tensor(
        [
            [
                j <= i
                and (i // stride == j // stride or j % stride + summary >= stride)
                for j in range(seq)
            ]
            for i in range(seq)
        ],
        dtype=torch.bool,
    )


@right("block by block")
def fixed_mask(seq, stride, summary=1):
    mask = torch.zeros(seq, seq, dtype=torch.bool)
    for start in range(0, seq, stride):
        mask[start : start + stride, start : start + stride] = True
        mask[:, start + stride - summary : start + stride] = True
    return mask.tril()


@right("random numbers, sorted")
def bigbird_mask(num_blocks, block, num_random, generator):
    mask = torch.zeros(num_blocks, num_blocks, dtype=torch.bool)
    for i in range(num_blocks):
        mask[i, max(0, i - 1) : i + 2] = True
    mask[0], mask[-1], mask[:, 0], mask[:, -1] = True, True, True, True
    chance = torch.rand(num_blocks, num_blocks, generator=generator)
    chosen = chance.masked_fill(mask, 2.0).argsort(dim=1)[:, :num_random]
    mask.scatter_(1, chosen, True)
    mask = mask[:, None, :, None].expand(num_blocks, block, num_blocks, block)
    return mask.reshape(num_blocks * block, num_blocks * block)


@right("drawn until there are enough, kron at the end")
def bigbird_mask(num_blocks, block, num_random, generator):
    rows = []
    for i in range(num_blocks):
        seen = {0, num_blocks - 1, i - 1, i, i + 1} & set(range(num_blocks))
        if i in (0, num_blocks - 1):
            seen = set(range(num_blocks))
        goal = min(num_blocks, len(seen) + num_random)
        while len(seen) < goal:
            seen.add(torch.randint(num_blocks, (), generator=generator).item())
        rows.append([float(j in seen) for j in range(num_blocks)])
    return torch.kron(torch.tensor(rows), torch.ones(block, block)).bool()


@right("multinomial without replacement")
def bigbird_mask(num_blocks, block, num_random, generator):
    places = torch.arange(num_blocks)
    seen = (places[:, None] - places).abs() < 2
    ends = (places == 0) | (places == num_blocks - 1)
    seen = seen | ends | ends[:, None]
    for i in range(num_blocks):
        free = (~seen[i]).float()
        count = min(num_random, int(free.sum()))
        if count:
            seen[i, torch.multinomial(free, count, generator=generator)] = True
    which = torch.arange(num_blocks * block) // block
    return seen[which][:, which]


@right("one query at a time")
def sliding_window_attention(queries, keys, values, window):
    outputs = []
    for i in range(queries.shape[-2]):
        near = slice(max(0, i - window + 1), i + 1)
        query = queries[..., i : i + 1, :]
        outputs.append(
            masked_attention(query, keys[..., near, :], values[..., near, :])
        )
    return torch.cat(outputs, dim=-2)


@right("gathered windows and einsum")
def sliding_window_attention(queries, keys, values, window):
    seq, d_k = queries.shape[-2:]
    places = torch.arange(seq)[:, None] + torch.arange(1 - window, 1)
    there = (places >= 0).to(queries.device)
    places = places.clamp(min=0).to(queries.device)
    scores = torch.einsum("...qd,...qwd->...qw", queries, keys[..., places, :])
    scores = (scores / math.sqrt(d_k)).masked_fill(~there, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("...qw,...qwd->...qd", weights, values[..., places, :])


@right("chunks of a window, each with the chunk before it")
def sliding_window_attention(queries, keys, values, window):
    seq = queries.shape[-2]
    outputs = []
    for start in range(0, seq, window):
        end, first = min(seq, start + window), max(0, start - window)
        query_places = torch.arange(start, end, device=queries.device)[:, None]
        behind = query_places - torch.arange(first, end, device=queries.device)
        outputs.append(
            F.scaled_dot_product_attention(
                queries[..., start:end, :],
                keys[..., first:end, :],
                values[..., first:end, :],
                attn_mask=(behind >= 0) & (behind < window),
            )
        )
    return torch.cat(outputs, dim=-2)
