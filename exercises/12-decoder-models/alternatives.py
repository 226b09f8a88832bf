"""Right answers to chapter 12 written differently: each must get full marks."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import right
from solutions.decoders import GPTBlock, alternating_windows
from solutions.feed_forward import FeedForward, gelu_tanh
from solutions.masking import causal_mask, masked_attention
from solutions.multi_head import MultiHeadAttention
from solutions.residual_norm import LayerNorm, Residual
from solutions.tokens import LanguageModelHead, next_token_loss


@right("F.gelu, arguments by name, step by step")
class GPTBlock(nn.Module):
    def __init__(self, d_model, num_heads, norm_first=False):
        super().__init__()
        self.attention = Residual(
            d_model=d_model,
            sublayer=MultiHeadAttention(d_model, num_heads, attend=masked_attention),
            norm_first=norm_first,
        )
        self.feed_forward = Residual(
            d_model=d_model,
            sublayer=FeedForward(
                d_model, 4 * d_model, lambda x: F.gelu(x, approximate="tanh")
            ),
            norm_first=norm_first,
        )

    def forward(self, x, mask=None):
        h = self.attention(x, mask=mask)
        y = self.feed_forward(h)
        return y


@right("the parts made first, in another order; attention by PyTorch's own function")
class GPTBlock(nn.Module):
    def __init__(self, d_model, num_heads, norm_first=False):
        super().__init__()

        def attend(queries, keys, values, mask=None):
            return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)

        think = FeedForward(d_model, d_model * 4, gelu_tanh)
        look = MultiHeadAttention(d_model, num_heads, attend=attend)
        self.feed_forward = Residual(d_model, think, norm_first)
        self.attention = Residual(d_model, look, norm_first)

    def forward(self, x, mask=None):
        return self.feed_forward(self.attention(x, mask=mask))


@right("slices of the table, PyTorch's norm inside, the product written out")
class GPT(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_layers, num_heads, max_len, norm_first=False
    ):
        super().__init__()
        self.norm_first = norm_first
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(GPTBlock(d_model, num_heads, norm_first))
        if norm_first:
            self.norm = LayerNorm(d_model)

    def forward(self, tokens):
        _, seq = tokens.shape
        x = self.tokens.weight[tokens] + self.positions.weight[None, :seq]
        mask = torch.ones(seq, seq, dtype=torch.bool, device=x.device).tril()
        for block in self.blocks:
            x = block(x, mask=mask[None, None])
        if self.norm_first:
            x = self.norm(x)
        return torch.einsum("bsd,vd->bsv", x, self.tokens.weight)


@right("the head is there first, and lends its matrix to the tokens")
class GPT(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_layers, num_heads, max_len, norm_first=False
    ):
        super().__init__()
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.tokens.weight = self.head.weight
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(
            GPTBlock(d_model, num_heads, norm_first) for _ in range(num_layers)
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, tokens):
        seq = tokens.shape[-1]
        x = self.tokens(tokens) + self.positions(torch.arange(seq).to(tokens))
        for block in self.blocks:
            x = block(x, causal_mask(seq).to(tokens.device))
        return self.head(self.norm(x))


@right("a mask for the longest text, cut to size")
class GPT(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_layers, num_heads, max_len, norm_first=False
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        blocks = [GPTBlock(d_model, num_heads, norm_first) for _ in range(num_layers)]
        self.blocks = nn.ModuleList(blocks)
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
        self.head = LanguageModelHead(self.tokens)
        self.register_buffer("mask", causal_mask(max_len), persistent=False)

    def forward(self, tokens):
        seq = tokens.size(1)
        places = torch.ones_like(tokens).cumsum(dim=1) - 1
        x = self.tokens(tokens) + self.positions(places)
        for block in self.blocks:
            x = block(x, self.mask[:seq, :seq])
        return self.head(self.norm(x))


@right("joined step by step")
def as_one_text(parts, start, between, extract):
    text = [start]
    for part in parts[:-1]:
        text.extend(part)
        text.append(between)
    text.extend(parts[-1])
    text.append(extract)
    return text


@right("signs before each part, the first of them the start")
def as_one_text(parts, start, between, extract):
    signs = [start] + [between] * (len(parts) - 1)
    pairs = zip(signs, parts, strict=True)
    return [i for sign, part in pairs for i in (sign, *part)] + [extract]


@right("turned round, the first True")
def last_real(x, real):
    from_end = real.flip(1).int().argmax(dim=1)
    return x[torch.arange(len(x), device=x.device), real.shape[1] - 1 - from_end]


@right("row by row")
def last_real(x, real):
    rows = [row[marks][-1] for row, marks in zip(x, real, strict=True)]
    return torch.stack(rows)


@right("gathered at the largest place")
def last_real(x, real):
    places = torch.arange(1, real.shape[1] + 1, device=x.device)
    last = (real * places).amax(dim=1) - 1
    return x.gather(1, last[:, None, None].expand(-1, 1, x.shape[2])).squeeze(1)


@right("the class's probability looked up by hand")
def fine_tuning_loss(class_logits, labels, logits, tokens, pad_id, weight=0.5):
    chances = torch.log_softmax(class_logits, dim=-1)
    task = -chances.gather(1, labels[:, None]).mean()
    beside = next_token_loss(logits, tokens, pad_id=pad_id)
    return task + beside * weight


@right("both losses by PyTorch's own function")
def fine_tuning_loss(class_logits, labels, logits, tokens, pad_id, weight=0.5):
    guessed, targets = logits[:, :-1].transpose(1, 2), tokens[:, 1:]
    beside = F.cross_entropy(guessed, targets, ignore_index=pad_id)
    return weight * beside + F.cross_entropy(class_logits, labels)


@right("filled in place, the last word of the name looked at")
def calm_weights(shapes, num_layers, generator, std=0.02):
    found = {}
    for name, shape in shapes.items():
        tensor = torch.zeros(*shape)
        layer, kind = name.split(".")[-2:]
        if kind == "gain":
            tensor += 1
        elif tensor.ndim > 1:
            tensor.normal_(0, std, generator=generator)
            if layer in ("W_o", "W_2", "W_down"):
                tensor /= math.sqrt(2 * num_layers)
        found[name] = tensor
    return found


@right("matrices first, drawn in another order")
def calm_weights(shapes, num_layers, generator, std=0.02):
    small = std * (2 * num_layers) ** -0.5
    weights = {}
    for name in sorted(shapes, reverse=True):
        if len(shapes[name]) == 2:
            writes = any(f"{w}.weight" in name for w in ("W_o", "W_2", "W_down"))
            scale = small if writes else std
            weights[name] = scale * torch.randn(*shapes[name], generator=generator)
    for name in shapes:
        if name not in weights:
            fill = torch.ones if name.endswith("gain") else torch.zeros
            weights[name] = fill(*shapes[name])
    return weights


@right("turned first, then cut")
def split_convolution(weight, bias):
    d_model = weight.shape[0]
    queries, keys, values = weight.T.contiguous().split(d_model)
    return {
        "W_q.weight": queries,
        "W_k.weight": keys,
        "W_v.weight": values,
        "W_q.bias": bias[:d_model],
        "W_k.bias": bias[d_model : 2 * d_model],
        "W_v.bias": bias[2 * d_model :],
    }


@right("reshaped to four axes")
def split_convolution(weight, bias):
    d_model = len(weight)
    matrices = weight.reshape(d_model, 3, d_model).permute(1, 2, 0)
    vectors = bias.view(3, d_model)
    found = {f"W_{x}.weight": matrices[i] for i, x in enumerate("qkv")}
    return found | {f"W_{x}.bias": vectors[i] for i, x in enumerate("qkv")}


@right("dictionaries of shapes compared at once")
def strictly(found, wanted):
    mine = {name: list(tensor.shape) for name, tensor in found.items()}
    theirs = {name: list(shape) for name, shape in wanted.items()}
    if mine != theirs:
        raise ValueError(f"found {mine}, wanted {theirs}")
    return found


@right("one complaint at a time")
def strictly(found, wanted):
    if found.keys() - wanted.keys():
        raise ValueError(f"left over: {found.keys() - wanted.keys()}")
    result = {}
    for name, shape in wanted.items():
        if name not in found:
            raise ValueError(f"{name} is missing")
        if found[name].shape != torch.Size(shape):
            raise ValueError(f"{name} is {found[name].shape}")
        result[name] = found[name]
    return result


@right("an empty table that is filled")
def with_control_code(tokens, codes):
    batch, seq = tokens.shape
    table = tokens.new_empty(batch, seq + 1)
    table[:, 0] = codes
    table[:, 1:] = tokens
    return table


@right("row by row")
def with_control_code(tokens, codes):
    rows = zip(codes.unsqueeze(1), tokens, strict=True)
    return torch.stack([torch.cat(row) for row in rows])


@right("unfolded with steps as long as the windows")
def coded_windows(text, code, length):
    if len(text) < length - 1:
        return text.new_empty(0, length)
    windows = text.unfold(0, length - 1, length - 1)
    return F.pad(windows, (1, 0), value=code)


@right("an empty table that is filled")
def coded_windows(text, code, length):
    count = len(text) // (length - 1)
    table = torch.full((count, length), code, dtype=text.dtype, device=text.device)
    table[:, 1:] = text[: count * (length - 1)].view(count, length - 1)
    return table


@right("as a cross-entropy")
def source_shares(logits, tokens):
    losses = torch.stack([F.cross_entropy(x, tokens, reduction="sum") for x in logits])
    return (-losses).softmax(dim=0)


@right("logarithms minus their largest, in double precision")
def source_shares(logits, tokens):
    wide = logits.double()
    chances = wide - wide.logsumexp(dim=-1, keepdim=True)
    places = torch.arange(len(tokens), device=tokens.device)
    totals = chances[:, places, tokens].sum(dim=1)
    shares = (totals - totals.max()).exp()
    return (shares / shares.sum()).to(logits.dtype)


@right("one string that grows")
def few_shot_prompt(examples, question, arrow=" => "):
    text = ""
    for asked, answer in examples:
        text += asked + arrow + answer + "\n"
    return text + question + arrow.rstrip()


@right("a format")
def few_shot_prompt(examples, question, arrow=" => "):
    lines = [arrow.join(example) for example in examples]
    lines.append("{}{}".format(question, arrow.rstrip(" ")))
    return "\n".join(lines)


@right("a list that is filled")
def alternating_windows(num_layers, window):
    plan = [0] * num_layers
    plan[1::2] = [window] * (num_layers // 2)
    return tuple(plan)


@right("repeated and cut")
def alternating_windows(num_layers, window):
    return ((0, window) * num_layers)[:num_layers]


@right("by distances")
def layer_masks(num_layers, seq, window):
    places = torch.arange(seq)
    behind = places[:, None] - places[None, :]
    masks = []
    for size in alternating_windows(num_layers, window):
        masks.append((behind >= 0) & (behind < (size or seq)))
    return torch.stack(masks)


@right("every second layer of a tensor filled")
def layer_masks(num_layers, seq, window):
    masks = causal_mask(seq).repeat(num_layers, 1, 1)
    masks[1::2] &= torch.ones(seq, seq, dtype=torch.bool).triu(1 - window)
    return masks
