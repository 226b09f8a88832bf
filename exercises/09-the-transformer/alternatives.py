"""Right answers to chapter 09 written differently: each must get full marks."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import right
from solutions.cross_attention import CrossAttention
from solutions.feed_forward import FeedForward
from solutions.masking import (
    causal_mask,
    combine_masks,
    masked_attention,
    padding_mask,
)
from solutions.multi_head import MultiHeadAttention
from solutions.positions import sinusoidal_positions
from solutions.residual_norm import Residual
from solutions.transformer import smooth_targets


@right("two steps, and the sums written out")
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention = Residual(
            d_model, MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        )
        self.feed_forward = Residual(d_model, FeedForward(d_model, d_ff))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        added = self.attention.sublayer(x, mask=mask)
        x = self.attention.norm(x + self.dropout(added))
        added = self.feed_forward.sublayer(x)
        return self.feed_forward.norm(self.dropout(added) + x)


@right("PyTorch's fused attention in the heads")
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()

        def attend(queries, keys, values, mask):
            return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)

        heads = MultiHeadAttention(d_model, num_heads, attend=attend)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), False, dropout
        )
        self.attention = Residual(d_model, heads, False, dropout)

    def forward(self, x, mask=None):
        h = self.attention(x, mask=mask)
        return self.feed_forward(h)


@right("without Residual: sub-layer, gain and bias in dictionaries of the same names")
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()

        def part(sublayer):
            gain = nn.Parameter(torch.ones(d_model))
            bias = nn.Parameter(torch.zeros(d_model))
            norm = nn.ParameterDict({"gain": gain, "bias": bias})
            return nn.ModuleDict({"sublayer": sublayer, "norm": norm})

        heads = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = part(heads)
        self.feed_forward = part(FeedForward(d_model, d_ff))
        self.rate = dropout

    def forward(self, x, mask=None):
        for part, options in (
            (self.attention, {"mask": mask}),
            (self.feed_forward, {}),
        ):
            norm = part["norm"]
            added = F.dropout(part["sublayer"](x, **options), self.rate, self.training)
            x = F.layer_norm(x + added, x.shape[-1:], norm["gain"], norm["bias"])
        return x


@right("three steps with three names, created in another order")
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()

        def wrap(sublayer):
            return Residual(d_model, sublayer, dropout=dropout)

        self.feed_forward = wrap(FeedForward(d_model, d_ff))
        self.cross_attention = wrap(CrossAttention(d_model, num_heads))
        heads = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = wrap(heads)

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        looked_back = self.attention(x, mask=target_mask)
        looked_over = self.cross_attention(looked_back, memory, memory_mask)
        return self.feed_forward(looked_over)


@right("the sums written out, with a functional dropout")
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        heads = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, heads)
        self.cross_attention = Residual(d_model, CrossAttention(d_model, num_heads))
        self.feed_forward = Residual(d_model, FeedForward(d_model, d_ff))
        self.p = dropout

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        def add(part, *inputs, **options):
            added = part.sublayer(*inputs, **options)
            return part.norm(inputs[0] + F.dropout(added, self.p, self.training))

        x = add(self.attention, x, mask=target_mask)
        x = add(self.cross_attention, x, memory, mask=memory_mask)
        return add(self.feed_forward, x)


@right("appended one by one")
class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            self.layers.append(EncoderLayer(d_model, num_heads, d_ff, **more))

    def forward(self, x, mask=None):
        outputs = [x]
        for layer in self.layers:
            outputs.append(layer(outputs[-1], mask=mask))
        return outputs[-1]


@right("in a Sequential that is walked through by hand")
class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        layers = [
            EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)
        ]
        self.layers = nn.Sequential(*layers)

    def forward(self, x, mask=None):
        for i in range(len(self.layers)):
            x = self.layers[i](x, mask)
        return x


@right("a list first, then a ModuleList; masks by name")
class Decoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        layers = []
        while len(layers) < num_layers:
            layers.append(DecoderLayer(d_model, num_heads, d_ff, **more))
        self.layers = nn.ModuleList(layers)

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        masks = {"target_mask": target_mask, "memory_mask": memory_mask}
        for layer in self.layers:
            x = layer(x, memory, **masks)
        return x


@right("masks by hand, the output as a linear layer that shares its weight")
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id, self.d_model = pad_id, d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.output = nn.Linear(d_model, vocab_size, bias=False)
        self.output.weight = self.embedding.weight
        with torch.no_grad():
            self.embedding.weight.normal_(0, 1 / math.sqrt(d_model))
        self.drop = nn.Dropout(dropout)
        self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout=dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout=dropout)

    def embed(self, tokens):
        places = sinusoidal_positions(tokens.size(1), self.d_model)
        vectors = self.embedding(tokens)
        places = places.to(vectors.device, vectors.dtype)
        return self.drop(self.d_model**0.5 * vectors + places)

    def encode(self, source):
        real = source.ne(self.pad_id).view(len(source), 1, 1, -1)
        return self.encoder(self.embed(source), real)

    def decode(self, target_in, memory, source):
        batch, seq = target_in.shape
        square = torch.ones(seq, seq, dtype=torch.bool, device=target_in.device)
        real = target_in.ne(self.pad_id).view(batch, 1, 1, seq)
        seen = real & ~square.triu(1)
        there = source.ne(self.pad_id).view(batch, 1, 1, -1)
        return self.output(self.decoder(self.embed(target_in), memory, seen, there))

    def forward(self, source, target_in):
        memory = self.encode(source)
        return self.decode(target_in, memory, source)


@right("the output first, which lends its matrix; filling that never learns")
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.output = nn.Linear(d_model, vocab_size, bias=False)
        nn.init.normal_(self.output.weight, std=d_model**-0.5)
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=pad_id)
        self.embedding.weight = self.output.weight
        self.dropout = nn.Dropout(dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout=dropout)
        self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout=dropout)

    def embed(self, tokens):
        x = self.embedding(tokens) * self.embedding.embedding_dim**0.5
        return self.dropout(x + sinusoidal_positions(*x.shape[1:]).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        seen = combine_masks(causal, padding_mask(target_in, self.pad_id))
        real = padding_mask(source, self.pad_id)
        return self.output(self.decoder(self.embed(target_in), memory, seen, real))

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@right("the weight scaled instead of the vectors, F.linear at the end")
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.dropout = dropout
        sizes = (num_layers, d_model, num_heads, d_ff)
        self.encoder = Encoder(*sizes, dropout=dropout)
        self.decoder = Decoder(*sizes, dropout=dropout)
        drawn = torch.randn(vocab_size, d_model) * d_model**-0.5
        self.embedding = nn.Embedding.from_pretrained(drawn, freeze=False)

    def embed(self, tokens):
        weight = self.embedding.weight
        vectors = F.embedding(tokens, weight * math.sqrt(weight.shape[1]))
        vectors = vectors + sinusoidal_positions(*vectors.shape[1:]).to(vectors)
        return F.dropout(vectors, self.dropout, self.training)

    def encode(self, source):
        mask = padding_mask(source, self.pad_id)
        return self.encoder(self.embed(source), mask=mask)

    def decode(self, target_in, memory, source):
        seen = combine_masks(
            padding_mask(target_in, self.pad_id),
            None,
            causal_mask(target_in.shape[1]).to(target_in.device),
        )
        x = self.decoder(
            self.embed(target_in),
            memory,
            memory_mask=padding_mask(source, self.pad_id),
            target_mask=seen,
        )
        return F.linear(x, self.embedding.weight)

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@right("from a one-hot, by arithmetic")
def smooth_targets(targets, vocab_size, smoothing, pad_id=0):
    right_ones = F.one_hot(targets, vocab_size).float()
    pad = torch.zeros(vocab_size, device=targets.device)
    pad[pad_id] = 1
    smooth = right_ones * (1 - smoothing)
    smooth = smooth + (1 - right_ones - pad) * smoothing / (vocab_size - 2)
    return smooth * (targets != pad_id).unsqueeze(-1)


@right("places compared with targets")
def smooth_targets(targets, vocab_size, smoothing, pad_id=0):
    places = torch.arange(vocab_size, device=targets.device)
    wanted = targets.unsqueeze(-1)
    others = torch.where(places == wanted, 1 - smoothing, smoothing / (vocab_size - 2))
    return others * ((places != pad_id) & (wanted != pad_id))


@right("token by token")
def smooth_targets(targets, vocab_size, smoothing, pad_id=0):
    rows = []
    for target in targets.flatten().tolist():
        row = [smoothing / (vocab_size - 2)] * vocab_size
        row[target], row[pad_id] = 1 - smoothing, 0.0
        rows.append([0.0] * vocab_size if target == pad_id else row)
    smooth = torch.tensor(rows, device=targets.device)
    return smooth.view(*targets.shape, vocab_size)


@right("cross_entropy with probabilities, on the real tokens only")
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    real = targets != pad_id
    wanted = smooth_targets(targets[real], logits.shape[-1], smoothing, pad_id)
    return F.cross_entropy(logits[real], wanted.to(logits.dtype))


@right("two parts: the right token, and all the others")
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    logs = logits - logits.logsumexp(dim=-1, keepdim=True)
    chosen = logs.gather(-1, targets[..., None]).squeeze(-1)
    others = logs.sum(dim=-1) - chosen - logs[..., pad_id]
    losses = -(1 - smoothing) * chosen - smoothing / (logits.shape[-1] - 2) * others
    real = targets != pad_id
    return losses[real].sum() / real.sum()


@right("in double precision, as a product of matrices")
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    vocab = logits.shape[-1]
    logs = F.log_softmax(logits.double(), dim=-1).reshape(-1, vocab)
    wanted = smooth_targets(targets.reshape(-1), vocab, smoothing, pad_id).double()
    total = -torch.einsum("nv,nv->", wanted, logs)
    return (total / targets.ne(pad_id).sum()).to(logits.dtype)


@right("in two cases")
def warmup_rate(step, d_model, warmup=4000):
    if step <= 0:
        raise ValueError("steps count from 1")
    top = 1 / math.sqrt(d_model * warmup)
    if step <= warmup:
        return top * step / warmup
    return top * math.sqrt(warmup / step)


@right("as a tensor")
def warmup_rate(step, d_model, warmup=4000):
    if step < 1:
        raise ValueError(f"no step {step}")
    parts = torch.tensor([step**-0.5, step * warmup**-1.5], dtype=torch.float64)
    return parts.min() / d_model**0.5


@right("a list of columns")
def translate(model, source, begin_id, end_id, max_len):
    mode = model.training
    model.eval()
    columns = [source.new_full((source.shape[0],), begin_id)]
    going = torch.ones_like(columns[0], dtype=torch.bool)
    with torch.no_grad():
        memory = model.encode(source)
        while len(columns) <= max_len and going.any():
            logits = model.decode(torch.stack(columns, dim=1), memory, source)
            best = logits[:, -1, :].max(dim=-1).indices
            columns.append(torch.where(going, best, model.pad_id))
            going = going & (best != end_id)
    model.train(mode)
    return torch.stack(columns[1:], dim=1)


@right("one sentence after the other")
def translate(model, source, begin_id, end_id, max_len):
    mode = model.training
    model.train(False)
    rows = []
    for sentence in source.split(1):
        with torch.no_grad():
            memory = model.encode(sentence)
            row = [begin_id]
            while len(row) <= max_len and (len(row) == 1 or row[-1] != end_id):
                so_far = torch.tensor([row], device=source.device)
                row.append(int(model.decode(so_far, memory, sentence)[0, -1].argmax()))
        rows.append(torch.tensor(row[1:], device=source.device))
    model.train(mode)
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=model.pad_id)


@right("a full table, written into from the left, and cut at the end")
def translate(model, source, begin_id, end_id, max_len):
    mode, pad = model.training, model.pad_id
    model.eval()
    table = torch.full(
        (len(source), max_len + 1), pad, dtype=torch.long, device=source.device
    )
    table[:, 0] = begin_id
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    place = 0
    with torch.no_grad():
        memory = model.encode(source)
        while place < max_len and not ended.all():
            scores = model.decode(table[:, : place + 1], memory, source)[:, place]
            place += 1
            table[~ended, place] = scores.argmax(dim=-1)[~ended]
            ended |= table[:, place] == end_id
    model.train(mode)
    return table[:, 1 : place + 1]
