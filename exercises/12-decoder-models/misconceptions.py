"""Wrong answers that learners really give in chapter 12, each with its explanation."""

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import wrong, wrong_choice
from solutions.decoders import GPTBlock, alternating_windows, with_control_code
from solutions.feed_forward import FeedForward, gelu_tanh
from solutions.masking import causal_mask, masked_attention
from solutions.multi_head import MultiHeadAttention
from solutions.residual_norm import LayerNorm, Residual
from solutions.tokens import LanguageModelHead, next_token_loss

BLOCK = "Nothing to look over at"
TASKS = "One text, one vector"
NORM = "The norm first, and one more at the end"
CALM = "A calm start"
PUBLISHED = "The published weights"
CODES = "Say what kind of text it is"
SOURCES = "Which code would have written this?"
SHOTS = "Show, do not train"
WINDOWS = "Far and near by turns"


@wrong(
    check="block",
    section=BLOCK,
    sentence="the activation is the exact GELU. GPT's is its approximation with tanh; "
    "they differ in the fourth digit.",
)
class GPTBlock(nn.Module):
    def __init__(self, d_model, num_heads, norm_first=False):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        think = FeedForward(d_model, 4 * d_model, F.gelu)
        self.attention = Residual(d_model, attend, norm_first)
        self.feed_forward = Residual(d_model, think, norm_first)

    def forward(self, x, mask=None):
        return self.feed_forward(self.attention(x, mask=mask))


@wrong(
    check="block",
    section=BLOCK,
    sentence="the activation is ReLU, as in 2017. GPT's is the tanh GELU.",
)
class GPTBlock(nn.Module):
    def __init__(self, d_model, num_heads, norm_first=False):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        think = FeedForward(d_model, 4 * d_model, F.relu)
        self.attention = Residual(d_model, attend, norm_first)
        self.feed_forward = Residual(d_model, think, norm_first)

    def forward(self, x, mask=None):
        return self.feed_forward(self.attention(x, mask=mask))


@wrong(
    check="block",
    section=NORM,
    sentence="`norm_first` is not handed on: the block is GPT's, whatever is asked "
    "for.",
)
class GPTBlock(nn.Module):
    def __init__(self, d_model, num_heads, norm_first=False):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        think = FeedForward(d_model, 4 * d_model, gelu_tanh)
        self.attention = Residual(d_model, attend)
        self.feed_forward = Residual(d_model, think)

    def forward(self, x, mask=None):
        return self.feed_forward(self.attention(x, mask=mask))


@wrong(
    check="block",
    section=NORM,
    sentence="the norm always comes first. That is GPT-2; GPT norms after each sum.",
)
class GPTBlock(nn.Module):
    def __init__(self, d_model, num_heads, norm_first=False):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        think = FeedForward(d_model, 4 * d_model, gelu_tanh)
        self.attention = Residual(d_model, attend, True)
        self.feed_forward = Residual(d_model, think, True)

    def forward(self, x, mask=None):
        return self.feed_forward(self.attention(x, mask=mask))


@wrong(
    check="block",
    section=NORM,
    sentence="`norm_first` is turned round: with it the norm comes last.",
)
class GPTBlock(nn.Module):
    def __init__(self, d_model, num_heads, norm_first=False):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        think = FeedForward(d_model, 4 * d_model, gelu_tanh)
        self.attention = Residual(d_model, attend, not norm_first)
        self.feed_forward = Residual(d_model, think, not norm_first)

    def forward(self, x, mask=None):
        return self.feed_forward(self.attention(x, mask=mask))


@wrong(
    check="block",
    section=NORM,
    sentence="only the attention has its norm first; the feed-forward layer needs "
    "`norm_first` too.",
)
class GPTBlock(nn.Module):
    def __init__(self, d_model, num_heads, norm_first=False):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        think = FeedForward(d_model, 4 * d_model, gelu_tanh)
        self.attention = Residual(d_model, attend, norm_first)
        self.feed_forward = Residual(d_model, think)

    def forward(self, x, mask=None):
        return self.feed_forward(self.attention(x, mask=mask))


@wrong(
    check="block",
    section=BLOCK,
    sentence="the mask is not handed on to the attention: every token sees what comes "
    "later.",
)
class GPTBlock(nn.Module):
    def __init__(self, d_model, num_heads, norm_first=False):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        think = FeedForward(d_model, 4 * d_model, gelu_tanh)
        self.attention = Residual(d_model, attend, norm_first)
        self.feed_forward = Residual(d_model, think, norm_first)

    def forward(self, x, mask=None):
        return self.feed_forward(self.attention(x, mask=None))


@wrong(
    check="block",
    section=BLOCK,
    sentence="the feed-forward layer comes before the attention. First look, then "
    "think.",
)
class GPTBlock(nn.Module):
    def __init__(self, d_model, num_heads, norm_first=False):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        think = FeedForward(d_model, 4 * d_model, gelu_tanh)
        self.attention = Residual(d_model, attend, norm_first)
        self.feed_forward = Residual(d_model, think, norm_first)

    def forward(self, x, mask=None):
        return self.attention(self.feed_forward(x), mask=mask)


@wrong(
    check="block",
    section=BLOCK,
    sentence="both sub-layers read the same input, side by side. The feed-forward "
    "layer reads what the attention has written.",
)
class GPTBlock(nn.Module):
    def __init__(self, d_model, num_heads, norm_first=False):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        think = FeedForward(d_model, 4 * d_model, gelu_tanh)
        self.attention = Residual(d_model, attend, norm_first)
        self.feed_forward = Residual(d_model, think, norm_first)

    def forward(self, x, mask=None):
        return self.attention(x, mask=mask) + self.feed_forward(x) - x


@wrong(
    check="gpt",
    section=NORM,
    sentence="GPT-2's final norm is missing: what the last block has added goes to the "
    "head as it is.",
)
class GPT(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_layers, num_heads, max_len, norm_first=False
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(
            GPTBlock(d_model, num_heads, norm_first) for _ in range(num_layers)
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
        self.head = LanguageModelHead(self.tokens)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x, causal_mask(tokens.shape[1]).to(tokens.device))
        return self.head(x)


@wrong(
    check="gpt",
    section=BLOCK,
    sentence="the head's matrix is cut off from the graph (detach, .data or no_grad): "
    "the vectors learn from the tokens that go in, and not from those that come out.",
)
class GPT(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_layers, num_heads, max_len, norm_first=False
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(
            GPTBlock(d_model, num_heads, norm_first) for _ in range(num_layers)
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x, causal_mask(tokens.shape[1]).to(tokens.device))
        return self.norm(x) @ self.tokens.weight.detach().T


@wrong(
    check="gpt",
    section=NORM,
    sentence="GPT has a final norm as well. Its last block ends with a norm already; "
    "only GPT-2 needs one.",
)
class GPT(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_layers, num_heads, max_len, norm_first=False
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(
            GPTBlock(d_model, num_heads, norm_first) for _ in range(num_layers)
        )
        self.norm = LayerNorm(d_model)
        self.head = LanguageModelHead(self.tokens)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x, causal_mask(tokens.shape[1]).to(tokens.device))
        return self.head(self.norm(x))


@wrong(
    check="gpt",
    section=BLOCK,
    sentence="there is no causal mask: every token sees the answer that it is to "
    "guess.",
)
class GPT(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_layers, num_heads, max_len, norm_first=False
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(
            GPTBlock(d_model, num_heads, norm_first) for _ in range(num_layers)
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
        self.head = LanguageModelHead(self.tokens)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


@wrong(
    check="gpt",
    section=BLOCK,
    sentence="the mask is given to the first block only. In the second, every token "
    "sees what comes later.",
)
class GPT(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_layers, num_heads, max_len, norm_first=False
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(
            GPTBlock(d_model, num_heads, norm_first) for _ in range(num_layers)
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
        self.head = LanguageModelHead(self.tokens)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        mask = causal_mask(tokens.shape[1]).to(tokens.device)
        for block in self.blocks:
            x = block(x, mask)
            mask = None
        return self.head(self.norm(x))


@wrong(
    check="gpt",
    section=BLOCK,
    sentence="the mask is one step off: every token sees the next one, which it is to "
    "guess.",
)
class GPT(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_layers, num_heads, max_len, norm_first=False
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(
            GPTBlock(d_model, num_heads, norm_first) for _ in range(num_layers)
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
        self.head = LanguageModelHead(self.tokens)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        seq = tokens.shape[1]
        mask = torch.ones(seq, seq, dtype=torch.bool, device=tokens.device).tril(1)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


@wrong(
    check="gpt",
    section=BLOCK,
    sentence="the places are never added: the model does not know where a token "
    "stands.",
)
class GPT(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_layers, num_heads, max_len, norm_first=False
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(
            GPTBlock(d_model, num_heads, norm_first) for _ in range(num_layers)
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
        self.head = LanguageModelHead(self.tokens)

    def forward(self, tokens):
        x = self.tokens(tokens)
        for block in self.blocks:
            x = block(x, causal_mask(tokens.shape[1]).to(tokens.device))
        return self.head(self.norm(x))


@wrong(
    check="gpt",
    section=BLOCK,
    sentence="the places are counted from 1. The first row of the table is for the "
    "first token.",
)
class GPT(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_layers, num_heads, max_len, norm_first=False
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(
            GPTBlock(d_model, num_heads, norm_first) for _ in range(num_layers)
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
        self.head = LanguageModelHead(self.tokens)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions.weight[1 : tokens.shape[1] + 1]
        for block in self.blocks:
            x = block(x, causal_mask(tokens.shape[1]).to(tokens.device))
        return self.head(self.norm(x))


@wrong(
    check="gpt",
    section=BLOCK,
    sentence="the vectors of the tokens are multiplied by √d_model, as in the "
    "Transformer of 2017 and in CTRL. GPT and GPT-2 take them as they are.",
)
class GPT(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_layers, num_heads, max_len, norm_first=False
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(
            GPTBlock(d_model, num_heads, norm_first) for _ in range(num_layers)
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
        self.head = LanguageModelHead(self.tokens)

    def forward(self, tokens):
        x = self.tokens(tokens) * self.tokens.embedding_dim**0.5
        x = x + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x, causal_mask(tokens.shape[1]).to(tokens.device))
        return self.head(self.norm(x))


@wrong(
    check="gpt",
    section=BLOCK,
    sentence="the head has a matrix of its own. It shares the tokens' matrix.",
)
class GPT(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_layers, num_heads, max_len, norm_first=False
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(
            GPTBlock(d_model, num_heads, norm_first) for _ in range(num_layers)
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        nn.init.constant_(self.head.weight, 0.1)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x, causal_mask(tokens.shape[1]).to(tokens.device))
        return self.head(self.norm(x))


@wrong(
    check="gpt",
    section=BLOCK,
    sentence="one block is made and used again and again. Each layer has weights of "
    "its own.",
)
class GPT(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_layers, num_heads, max_len, norm_first=False
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        block = GPTBlock(d_model, num_heads, norm_first)
        self.blocks = nn.ModuleList([block] * num_layers)
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
        self.head = LanguageModelHead(self.tokens)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x, causal_mask(tokens.shape[1]).to(tokens.device))
        return self.head(self.norm(x))


@wrong(
    check="gpt",
    section=NORM,
    sentence="the number of layers and the number of heads have changed places.",
    seen="graded",
)
class GPT(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_layers, num_heads, max_len, norm_first=False
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(
            GPTBlock(d_model, num_layers, norm_first) for _ in range(num_heads)
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
        self.head = LanguageModelHead(self.tokens)

    def forward(self, tokens):
        seq = tokens.shape[1]
        places = torch.arange(seq, device=tokens.device)
        x = self.tokens(tokens) + self.positions(places)
        for block in self.blocks:
            x = block(x, causal_mask(seq).to(tokens.device))
        return self.head(self.norm(x))


@wrong(
    check="one-text",
    section=TASKS,
    sentence="the sign between the parts is missing: nobody can tell where one ends.",
)
def as_one_text(parts, start, between, extract):
    return [start, *(i for part in parts for i in part), extract]


@wrong(
    check="one-text",
    section=TASKS,
    sentence="there is a sign behind the last part as well. It stands between parts "
    "only.",
)
def as_one_text(parts, start, between, extract):
    text = [start]
    for part in parts:
        text += [*part, between]
    return [*text, extract]


@wrong(
    check="one-text",
    section=TASKS,
    sentence="the token to read out stands at the beginning, as BERT's [CLS]. There, a "
    "decoder has seen nothing yet: it belongs at the end.",
)
def as_one_text(parts, start, between, extract):
    text = [extract, start]
    for i, part in enumerate(parts):
        text += [between] * (i > 0) + part
    return text


@wrong(
    check="one-text",
    section=TASKS,
    sentence="the texts are joined inside the first part, which is changed for "
    "everybody who holds it.",
)
def as_one_text(parts, start, between, extract):
    text = parts[0]
    for part in parts[1:]:
        text += [between, *part]
    return [start, *text, extract]


@wrong(
    check="one-text",
    section=TASKS,
    sentence="the last part is recognised by what it holds, so that an equal part "
    "before it gets no sign behind it. Count the parts.",
    seen="graded",
)
def as_one_text(parts, start, between, extract):
    text = [start]
    for part in parts:
        text += part
        if part != parts[-1]:
            text.append(between)
    return [*text, extract]


@wrong(
    check="last-real",
    section=TASKS,
    sentence="the vector of the last place is taken, even where it is filling.",
)
def last_real(x, real):
    return x[:, -1]


@wrong(
    check="last-real",
    section=TASKS,
    sentence="the vector of the first token is taken, as BERT does. In a decoder it "
    "has seen nothing but itself.",
)
def last_real(x, real):
    return x[:, 0]


@wrong(
    check="last-real",
    section=TASKS,
    sentence="the number of real tokens is taken for the place of the last one. With "
    "filling on the left, it is elsewhere.",
)
def last_real(x, real):
    return x[torch.arange(len(x), device=x.device), real.sum(dim=1) - 1]


@wrong(
    check="last-real",
    section=TASKS,
    sentence="the real tokens are averaged. The last one alone has seen the whole "
    "text.",
)
def last_real(x, real):
    share = real.to(x.dtype)[..., None]
    return (x * share).sum(dim=1) / share.sum(dim=1)


@wrong(
    check="last-real",
    section=TASKS,
    sentence="the first real token is taken: argmax gives the first True. The last one "
    "is asked for.",
)
def last_real(x, real):
    return x[torch.arange(len(x), device=x.device), real.int().argmax(dim=1)]


@wrong(
    check="last-real",
    section=TASKS,
    sentence="the number of real tokens is the place after the last one: subtract 1.",
)
def last_real(x, real):
    place = real.sum(dim=1) % real.shape[1]
    return x[torch.arange(len(x), device=x.device), place]


@wrong(
    check="fine-tuning",
    section=TASKS,
    sentence="both losses count alike. The one of the next token is multiplied by the "
    "weight.",
)
def fine_tuning_loss(class_logits, labels, logits, tokens, pad_id, weight=0.5):
    task = F.cross_entropy(class_logits, labels)
    return task + next_token_loss(logits, tokens, pad_id)


@wrong(
    check="fine-tuning",
    section=TASKS,
    sentence="the weight is given to the task. It belongs to the loss of the next "
    "token.",
)
def fine_tuning_loss(class_logits, labels, logits, tokens, pad_id, weight=0.5):
    task = F.cross_entropy(class_logits, labels)
    return weight * task + next_token_loss(logits, tokens, pad_id)


@wrong(
    check="fine-tuning",
    section=TASKS,
    sentence="the two are mixed, so that the task counts less the more the other one "
    "counts. The task's loss is added whole.",
)
def fine_tuning_loss(class_logits, labels, logits, tokens, pad_id, weight=0.5):
    task = F.cross_entropy(class_logits, labels)
    return (1 - weight) * task + weight * next_token_loss(logits, tokens, pad_id)


@wrong(
    check="fine-tuning",
    section=TASKS,
    sentence="only the task is learned. The next token is to be predicted beside it.",
)
def fine_tuning_loss(class_logits, labels, logits, tokens, pad_id, weight=0.5):
    return F.cross_entropy(class_logits, labels)


@wrong(
    check="fine-tuning",
    section=TASKS,
    sentence="the weight is always 0.5, whatever is asked for.",
)
def fine_tuning_loss(class_logits, labels, logits, tokens, pad_id, weight=0.5):
    task = F.cross_entropy(class_logits, labels)
    return task + 0.5 * next_token_loss(logits, tokens, pad_id)


@wrong(
    check="fine-tuning",
    section=TASKS,
    sentence="the class scores go through a softmax before the cross-entropy, which "
    "takes one itself.",
)
def fine_tuning_loss(class_logits, labels, logits, tokens, pad_id, weight=0.5):
    task = F.cross_entropy(torch.softmax(class_logits, dim=-1), labels)
    return task + weight * next_token_loss(logits, tokens, pad_id)


@wrong(
    check="calm-start",
    section=CALM,
    sentence="all matrices begin alike. Those that write into the stream begin "
    "smaller.",
)
def calm_weights(shapes, num_layers, generator, std=0.02):
    return {
        name: torch.randn(tuple(shape), generator=generator) * std
        if len(shape) == 2
        else torch.full(tuple(shape), float(name.endswith("gain")))
        for name, shape in shapes.items()
    }


@wrong(
    check="calm-start",
    section=CALM,
    sentence="the divisor is √N. Each of the N blocks writes twice: it is √(2N).",
)
def calm_weights(shapes, num_layers, generator, std=0.02):
    weights = {}
    for name, shape in shapes.items():
        writes = name.endswith(("W_o.weight", "W_2.weight", "W_down.weight"))
        if len(shape) == 2:
            size = std / num_layers**0.5 if writes else std
            weights[name] = torch.randn(tuple(shape), generator=generator) * size
        else:
            weights[name] = torch.full(tuple(shape), float(name.endswith("gain")))
    return weights


@wrong(
    check="calm-start",
    section=CALM,
    sentence="the divisor is 2N, without the root. Variances add up, not deviations.",
)
def calm_weights(shapes, num_layers, generator, std=0.02):
    weights = {}
    for name, shape in shapes.items():
        writes = name.endswith(("W_o.weight", "W_2.weight", "W_down.weight"))
        if len(shape) == 2:
            size = std / (2 * num_layers) if writes else std
            weights[name] = torch.randn(tuple(shape), generator=generator) * size
        else:
            weights[name] = torch.full(tuple(shape), float(name.endswith("gain")))
    return weights


@wrong(
    check="calm-start",
    section=CALM,
    sentence="the attention's output begins smaller, the feed-forward layer's does "
    "not. W_2 writes into the stream as well.",
)
def calm_weights(shapes, num_layers, generator, std=0.02):
    weights = {}
    for name, shape in shapes.items():
        if len(shape) == 2:
            size = std
            if name.endswith("W_o.weight"):
                size = std / (2 * num_layers) ** 0.5
            weights[name] = torch.randn(tuple(shape), generator=generator) * size
        else:
            weights[name] = torch.full(tuple(shape), float(name.endswith("gain")))
    return weights


@wrong(
    check="calm-start",
    section=CALM,
    sentence="all matrices are divided by √(2N). Only those that write into the stream "
    "are.",
)
def calm_weights(shapes, num_layers, generator, std=0.02):
    weights = {}
    for name, shape in shapes.items():
        if len(shape) == 2:
            size = std / (2 * num_layers) ** 0.5
            weights[name] = torch.randn(tuple(shape), generator=generator) * size
        else:
            weights[name] = torch.full(tuple(shape), float(name.endswith("gain")))
    return weights


@wrong(
    check="calm-start",
    section=CALM,
    sentence="the divisor is the root of the matrix's width. Here it is the depth that "
    "counts.",
)
def calm_weights(shapes, num_layers, generator, std=0.02):
    weights = {}
    for name, shape in shapes.items():
        writes = name.endswith(("W_o.weight", "W_2.weight", "W_down.weight"))
        if len(shape) == 2:
            size = std / shape[1] ** 0.5 if writes else std
            weights[name] = torch.randn(tuple(shape), generator=generator) * size
        else:
            weights[name] = torch.full(tuple(shape), float(name.endswith("gain")))
    return weights


@wrong(
    check="calm-start",
    section=CALM,
    sentence="gains begin with zero. Then every norm gives zero, and nothing can be "
    "learned behind it.",
)
def calm_weights(shapes, num_layers, generator, std=0.02):
    weights = {}
    for name, shape in shapes.items():
        writes = name.endswith(("W_o.weight", "W_2.weight", "W_down.weight"))
        if len(shape) == 2:
            size = std / (2 * num_layers) ** 0.5 if writes else std
            weights[name] = torch.randn(tuple(shape), generator=generator) * size
        else:
            weights[name] = torch.zeros(tuple(shape))
    return weights


@wrong(
    check="calm-start",
    section=CALM,
    sentence="the generator is not used: the same seed does not give the same model.",
    seen="graded",
)
def calm_weights(shapes, num_layers, generator, std=0.02):
    weights = {}
    for name, shape in shapes.items():
        writes = name.endswith(("W_o.weight", "W_2.weight", "W_down.weight"))
        if len(shape) == 2:
            size = std / (2 * num_layers) ** 0.5 if writes else std
            weights[name] = torch.randn(tuple(shape)) * size
        else:
            weights[name] = torch.full(tuple(shape), float(name.endswith("gain")))
    return weights


@wrong(
    check="split",
    section=PUBLISHED,
    sentence="the matrices are not turned. They are square, so that nothing fails; "
    "but a linear layer keeps the transpose.",
)
def split_convolution(weight, bias):
    found = {}
    pairs = zip("qkv", weight.chunk(3, dim=1), bias.chunk(3), strict=True)
    for letter, matrix, vector in pairs:
        found |= {f"W_{letter}.weight": matrix, f"W_{letter}.bias": vector}
    return found


@wrong(
    check="split",
    section=PUBLISHED,
    sentence="the columns are dealt out by turns: one for queries, one for keys, one "
    "for values. First come all columns of the queries.",
)
def split_convolution(weight, bias):
    return {
        name: part
        for i, letter in enumerate("qkv")
        for name, part in (
            (f"W_{letter}.weight", weight[:, i::3].T),
            (f"W_{letter}.bias", bias[i::3]),
        )
    }


@wrong(
    check="split",
    section=PUBLISHED,
    sentence="keys and queries have changed places. The order is queries, keys, "
    "values.",
)
def split_convolution(weight, bias):
    found = {}
    pairs = zip("kqv", weight.chunk(3, dim=1), bias.chunk(3), strict=True)
    for letter, matrix, vector in pairs:
        found |= {f"W_{letter}.weight": matrix.T, f"W_{letter}.bias": vector}
    return found


@wrong(
    check="split",
    section=PUBLISHED,
    sentence="the matrix is read in another shape instead of being turned: the numbers "
    "come into a wrong order.",
)
def split_convolution(weight, bias):
    parts = weight.reshape(3, -1, weight.shape[0])
    found = {}
    for letter, matrix, vector in zip("qkv", parts, bias.chunk(3), strict=True):
        found |= {f"W_{letter}.weight": matrix, f"W_{letter}.bias": vector}
    return found


@wrong(
    check="split",
    section=PUBLISHED,
    sentence="the biases are left behind.",
)
def split_convolution(weight, bias):
    parts = zip("qkv", weight.chunk(3, dim=1), strict=True)
    return {f"W_{letter}.weight": matrix.T for letter, matrix in parts}


@wrong(
    check="strict",
    section=PUBLISHED,
    sentence="a missing name is not noticed: the model keeps what it began with, and "
    "nothing tells you.",
)
def strictly(found, wanted):
    for name, tensor in found.items():
        if name not in wanted or tuple(tensor.shape) != tuple(wanted[name]):
            raise ValueError(name)
    return dict(found)


@wrong(
    check="strict",
    section=PUBLISHED,
    sentence="what is left over is not noticed. A tensor that nobody wants is often "
    "one under a wrong name.",
)
def strictly(found, wanted):
    for name, shape in wanted.items():
        if name not in found or tuple(found[name].shape) != tuple(shape):
            raise ValueError(name)
    return {name: found[name] for name in wanted}


@wrong(
    check="strict",
    section=PUBLISHED,
    sentence="the shapes are not compared.",
)
def strictly(found, wanted):
    if set(found) != set(wanted):
        raise ValueError(str(set(found) ^ set(wanted)))
    return dict(found)


@wrong(
    check="strict",
    section=PUBLISHED,
    sentence="only how many there are is compared, not their names.",
    seen="graded",
)
def strictly(found, wanted):
    if len(found) != len(wanted):
        raise ValueError("another number of weights")
    for name in set(found) & set(wanted):
        if tuple(found[name].shape) != tuple(wanted[name]):
            raise ValueError(name)
    return dict(found)


@wrong(
    check="strict",
    section=PUBLISHED,
    sentence="nothing is checked: what fits is taken and the rest forgotten, which is "
    "`strict=False`.",
)
def strictly(found, wanted):
    return {name: found[name] for name in wanted if name in found}


@wrong(
    check="control-code",
    section=CODES,
    sentence="the code stands at the end. Nothing that is written before can see it.",
)
def with_control_code(tokens, codes):
    return torch.cat([tokens, codes[:, None]], dim=1)


@wrong(
    check="control-code",
    section=CODES,
    sentence="the code replaces the first token, which is lost.",
)
def with_control_code(tokens, codes):
    return torch.cat([codes[:, None], tokens[:, 1:]], dim=1)


@wrong(
    check="control-code",
    section=CODES,
    sentence="all texts get the code of the first. Each has its own.",
)
def with_control_code(tokens, codes):
    return F.pad(tokens, (1, 0), value=int(codes[0]))


@wrong(
    check="control-code",
    section=CODES,
    sentence="the code is added to every token's id. It is a token by itself, at the "
    "head.",
)
def with_control_code(tokens, codes):
    return tokens + codes[:, None]


@wrong(
    check="windows",
    section=CODES,
    sentence="only the first window has its code. The model never sees two windows at "
    "once: each needs one.",
)
def coded_windows(text, code, length):
    coded = torch.cat([torch.tensor([code]), text])
    return coded[: len(coded) // length * length].reshape(-1, length)


@wrong(
    check="windows",
    section=CODES,
    sentence="the windows have become longer than asked for: the code is one of the "
    "`length` tokens.",
)
def coded_windows(text, code, length):
    windows = text[: len(text) // length * length].reshape(-1, length)
    return with_control_code(windows, torch.full_like(windows[:, 0], code))


@wrong(
    check="windows",
    section=CODES,
    sentence="the code is written over the first token of each window. That token of "
    "the text is lost.",
)
def coded_windows(text, code, length):
    windows = text[: len(text) // length * length].reshape(-1, length).clone()
    windows[:, 0] = code
    return windows


@wrong(
    check="windows",
    section=CODES,
    sentence="the windows overlap. Each token stands in one of them.",
)
def coded_windows(text, code, length):
    windows = text.unfold(0, length - 1, 1)
    return with_control_code(windows, torch.full_like(windows[:, 0], code))


@wrong(
    check="windows",
    section=CODES,
    sentence="the rest is kept and filled up. What fills no window is left out.",
)
def coded_windows(text, code, length):
    room = length - 1
    text = F.pad(text, (0, -len(text) % room))
    windows = text.reshape(-1, room)
    return with_control_code(windows, torch.full_like(windows[:, 0], code))


@wrong(
    check="sources",
    section=SOURCES,
    sentence="the probabilities are multiplied as they are. Of a long text nothing is "
    "left but zeros.",
)
def source_shares(logits, tokens):
    chances = torch.softmax(logits, dim=-1)
    chosen = chances[:, torch.arange(len(tokens)), tokens].prod(dim=1)
    return chosen / chosen.sum()


@wrong(
    check="sources",
    section=SOURCES,
    sentence="the scores are added up without becoming logarithms of probabilities "
    "first.",
)
def source_shares(logits, tokens):
    chosen = logits[:, torch.arange(len(tokens)), tokens].sum(dim=1)
    return torch.softmax(chosen, dim=0)


@wrong(
    check="sources",
    section=SOURCES,
    sentence="the logarithms are averaged over the text, so that a long text says no "
    "more than a short one. They are added.",
)
def source_shares(logits, tokens):
    chances = torch.log_softmax(logits, dim=-1)
    chosen = chances[:, torch.arange(len(tokens)), tokens].mean(dim=1)
    return torch.softmax(chosen, dim=0)


@wrong(
    check="sources",
    section=SOURCES,
    sentence="the probabilities are added where they must be multiplied.",
)
def source_shares(logits, tokens):
    chances = torch.softmax(logits, dim=-1)
    chosen = chances[:, torch.arange(len(tokens)), tokens].sum(dim=1)
    return chosen / chosen.sum()


@wrong(
    check="sources",
    section=SOURCES,
    sentence="the tokens are shifted by one more step. The logits of a place are for "
    "the token of that place already.",
)
def source_shares(logits, tokens):
    if len(tokens) == 1:
        return torch.full((len(logits),), 1 / len(logits), dtype=logits.dtype)
    chances = torch.log_softmax(logits[:, :-1], dim=-1)
    chosen = chances[:, torch.arange(len(tokens) - 1), tokens[1:]].sum(dim=1)
    return torch.softmax(chosen, dim=0)


@wrong(
    check="sources",
    section=SOURCES,
    sentence="only the best code gets something. Give every code its share.",
)
def source_shares(logits, tokens):
    chances = torch.log_softmax(logits, dim=-1)
    chosen = chances[:, torch.arange(len(tokens)), tokens].sum(dim=1)
    return F.one_hot(chosen.argmax(), len(logits)).to(logits.dtype)


@wrong(
    check="sources",
    section=SOURCES,
    sentence="the logarithms come back, not probabilities that add up to 1.",
)
def source_shares(logits, tokens):
    chances = torch.log_softmax(logits, dim=-1)
    return chances[:, torch.arange(len(tokens)), tokens].sum(dim=1)


@wrong(
    check="prompt",
    section=SHOTS,
    sentence="the text ends with the space behind the arrow. The space belongs to the "
    "token that is to be written.",
)
def few_shot_prompt(examples, question, arrow=" => "):
    lines = [f"{asked}{arrow}{answer}" for asked, answer in examples]
    return "\n".join([*lines, f"{question}{arrow}"])


@wrong(
    check="prompt",
    section=SHOTS,
    sentence="the question stands above the examples. The model goes on where the text "
    "ends: it must end with the question.",
)
def few_shot_prompt(examples, question, arrow=" => "):
    lines = [f"{asked}{arrow}{answer}" for asked, answer in examples]
    return "\n".join([f"{question}{arrow}".rstrip(), *lines])


@wrong(
    check="prompt",
    section=SHOTS,
    sentence="the arrow is missing behind the question: the model does not know that "
    "an answer is due.",
)
def few_shot_prompt(examples, question, arrow=" => "):
    lines = [f"{asked}{arrow}{answer}" for asked, answer in examples]
    return "\n".join([*lines, question])


@wrong(
    check="prompt",
    section=SHOTS,
    sentence="there is a new line at the end. The model would begin with a new "
    "example.",
)
def few_shot_prompt(examples, question, arrow=" => "):
    lines = [f"{asked}{arrow}{answer}\n" for asked, answer in examples]
    return "".join([*lines, f"{question}{arrow}".rstrip() + "\n"])


@wrong(
    check="prompt",
    section=SHOTS,
    sentence="the arrow is always the same, whatever is asked for.",
)
def few_shot_prompt(examples, question, arrow=" => "):
    lines = [f"{asked} => {answer}" for asked, answer in examples]
    return "\n".join([*lines, f"{question} =>"])


@wrong(
    check="masks",
    section=WINDOWS,
    sentence="the bands come first. Layer 0 sees everything, layer 1 a band.",
)
def alternating_windows(num_layers, window):
    return tuple(0 if layer % 2 else window for layer in range(num_layers))


@wrong(
    check="masks",
    section=WINDOWS,
    sentence="every layer has a band. Every second one sees everything, so that what "
    "is far can be reached.",
)
def alternating_windows(num_layers, window):
    return (window,) * num_layers


@wrong(
    check="masks",
    section=WINDOWS,
    sentence="the first half of the layers sees everything, the second half a band. "
    "They take turns.",
)
def alternating_windows(num_layers, window):
    half = (num_layers + 1) // 2
    return (0,) * half + (window,) * (num_layers - half)


@wrong(
    check="masks",
    section=WINDOWS,
    sentence="the band is one token too wide: the token itself is one of the window.",
)
def layer_masks(num_layers, seq, window):
    whole = causal_mask(seq)
    band = whole & ~whole.tril(-window - 1)
    return torch.stack(
        [band if w else whole for w in alternating_windows(num_layers, window)]
    )


@wrong(
    check="masks",
    section=WINDOWS,
    sentence="the band looks ahead as well. A decoder never does.",
)
def layer_masks(num_layers, seq, window):
    whole = causal_mask(seq)
    places = torch.arange(seq)
    band = (places[:, None] - places).abs() < window
    return torch.stack(
        [band if w else whole for w in alternating_windows(num_layers, window)]
    )


@wrong(
    check="masks",
    section=WINDOWS,
    sentence="the layers with a 0 see everything that comes later too. They are "
    "causal.",
)
def layer_masks(num_layers, seq, window):
    whole = causal_mask(seq)
    band = whole & ~whole.tril(-window)
    free = torch.ones(seq, seq, dtype=torch.bool)
    return torch.stack(
        [band if w else free for w in alternating_windows(num_layers, window)]
    )


@wrong(
    check="masks",
    section=WINDOWS,
    sentence="the text is cut into blocks, and a token sees its own block only. A band "
    "goes along with the token.",
)
def layer_masks(num_layers, seq, window):
    whole = causal_mask(seq)
    blocks = torch.arange(seq) // window
    band = whole & (blocks[:, None] == blocks)
    return torch.stack(
        [band if w else whole for w in alternating_windows(num_layers, window)]
    )


@wrong(
    check="masks",
    section=WINDOWS,
    sentence="True and False have changed places. True means may attend.",
)
def layer_masks(num_layers, seq, window):
    whole = causal_mask(seq)
    band = whole & ~whole.tril(-window)
    return ~torch.stack(
        [band if w else whole for w in alternating_windows(num_layers, window)]
    )


wrong_choice(
    "few_shot",
    check="concept-few-shot",
    section=SHOTS,
    a="no step of training is made. The weights are the same before and after.",
    b="embeddings are weights too, and no weight changes.",
    d="that would be fine-tuning. In a prompt nothing is trained.",
)

wrong_choice(
    "final_norm",
    check="concept-final-norm",
    section=NORM,
    a="depth is not the reason: one block with the norm first would need it too.",
    c="a tied head compares with any vectors. The length of what arrives is the "
    "matter.",
    d="it has hardly any parameters. It does something: look at what reaches the head "
    "without it.",
)

wrong_choice(
    "steering",
    check="concept-steering",
    section=CODES,
    a="all of the network is used for every code.",
    b="nothing is added to the logits. The code is read, as every other token is.",
    c="the code is given, not predicted. It is read, and what follows is predicted.",
)

wrong_choice(
    "penalty",
    check="concept-penalty",
    section=SOURCES,
    a="−2.5 is larger than −3: the token has become more likely.",
    c="then the penalty would do nothing for most tokens: most scores may be negative.",
    d="2.5 is far larger than −3: the token has become much more likely.",
)


@wrong(
    check="sources",
    section=SOURCES,
    sentence="a small number is added before the logarithm. It hides how unlikely a "
    "text is: log_softmax needs no such help.",
    seen="graded",
)
def source_shares(logits, tokens):
    chances = torch.log(torch.softmax(logits, dim=-1) + 1e-12)
    chosen = chances.gather(-1, tokens.expand(len(logits), -1)[..., None])
    return torch.softmax(chosen.sum(dim=(1, 2)), dim=0)


@wrong(
    check="prompt",
    section=SHOTS,
    sentence="spaces at the head of the examples or of the question are taken away. "
    "Only the one behind the last arrow goes.",
    seen="graded",
)
def few_shot_prompt(examples, question, arrow=" => "):
    lines = [f"{asked}{arrow}{answer}" for asked, answer in examples]
    return "\n".join([*lines, f"{question}{arrow}"]).strip()
