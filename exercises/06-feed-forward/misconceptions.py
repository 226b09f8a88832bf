"""Wrong answers that learners really give in chapter 06, each with its explanation.

``check`` is the check that must catch the answer; ``sentence`` is what the learner is
told; ``section`` is the heading of chapter 06 that explains it.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import wrong, wrong_choice

HULL = "An average stays inside"
BEND = "What a bend can do"
NETWORK = "Widen, bend, narrow"
ALONE = "Each token by itself"
CURVES = "Softer bends"
GATED = "A gate instead of a bend"
MEMORY = "A memory of patterns"


@wrong(
    check="relu",
    section=BEND,
    sentence="negative numbers are turned round to positive ones (abs). They must "
    "become zero.",
)
def relu(x):
    return x.abs()


@wrong(
    check="relu",
    section=BEND,
    sentence="the positive numbers became zero and the negative ones stayed. It is the "
    "other way round: max(0, x).",
)
def relu(x):
    return x.clamp(max=0)


@wrong(
    check="relu",
    section=BEND,
    sentence="the numbers of the caller are changed in place (clamp_, relu_ or an "
    "index). Make a new tensor.",
)
def relu(x):
    return x.clamp_(min=0)


@wrong(
    check="relu",
    section=BEND,
    sentence="a little of the negative numbers is let through: this is a leaky ReLU. "
    "Here negative numbers become zero.",
)
def relu(x):
    return F.leaky_relu(x)


@wrong(
    check="relu",
    section=BEND,
    sentence="every positive number became one. That is a step: it forgets how large "
    "they were, and has no gradient.",
)
def relu(x):
    return (x > 0).to(x.dtype)


@wrong(
    check="relu",
    section=BEND,
    sentence="numbers above one are cut off. ReLU has no upper end.",
)
def relu(x):
    return x.clamp(0, 1)


@wrong(
    check="relu",
    section=BEND,
    sentence="this is softplus, a rounded ReLU: it is not zero for negative numbers.",
)
def relu(x):
    return F.softplus(x)


@wrong(
    check="relu",
    section=BEND,
    sentence="no gradient comes back: the result is cut from the graph (detach, .data "
    "or no_grad).",
)
def relu(x):
    return x.detach().clamp(min=0)


@wrong(
    check="relu",
    section=BEND,
    sentence="the negative numbers were left out, so that the shape changed. They must "
    "stay in their places, as zeros.",
)
def relu(x):
    return x[x > 0]


@wrong(
    check="gelu",
    section=CURVES,
    sentence="this is the approximation with tanh. It is off by up to five "
    "ten-thousandths; here the exact form with erf is asked for.",
)
def gelu(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3))
    return x * 0.5 * (1 + torch.tanh(inner))


@wrong(
    check="gelu",
    section=CURVES,
    sentence="this is the approximation with a sigmoid, x · σ(1.702 x). Use erf.",
)
def gelu(x):
    return x * torch.sigmoid(1.702 * x)


@wrong(
    check="gelu",
    section=CURVES,
    sentence="x is not divided by the root of two before erf. erf belongs to another "
    "normal curve, a narrower one.",
)
def gelu(x):
    return x * 0.5 * (1 + torch.erf(x))


@wrong(
    check="gelu",
    section=CURVES,
    sentence="the half is missing, so that the weight goes up to two.",
)
def gelu(x):
    return x * (1 + torch.erf(x / math.sqrt(2)))


@wrong(
    check="gelu",
    section=CURVES,
    sentence="the one is missing: erf goes from minus one to one, and a chance from "
    "zero to one.",
)
def gelu(x):
    return x * 0.5 * torch.erf(x / math.sqrt(2))


@wrong(
    check="gelu",
    section=CURVES,
    sentence="this is the chance itself. It has to be multiplied by x.",
)
def gelu(x):
    return 0.5 * (1 + torch.erf(x / math.sqrt(2)))


@wrong(
    check="gelu",
    section=CURVES,
    sentence="this is the height of the normal curve, not the area to the left of x.",
)
def gelu(x):
    return x * torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)


@wrong(
    check="gelu",
    section=CURVES,
    sentence="the number is multiplied by a random zero or one. GELU takes the chance "
    "itself, and is the same at each call.",
)
def gelu(x):
    return x * (torch.randn_like(x) < x)


@wrong(
    check="gelu-tanh",
    section=CURVES,
    sentence="this is the exact form with erf. Models trained with the tanh form need "
    "the tanh form.",
)
def gelu_tanh(x):
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


@wrong(
    check="gelu-tanh",
    section=CURVES,
    sentence="the cube is a square: the small correction is of x to the third.",
)
def gelu_tanh(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(2))
    return x * 0.5 * (1 + torch.tanh(inner))


@wrong(
    check="gelu-tanh",
    section=CURVES,
    sentence="the small correction with x to the third is missing.",
)
def gelu_tanh(x):
    return x * 0.5 * (1 + torch.tanh(math.sqrt(2 / math.pi) * x))


@wrong(
    check="gelu-tanh",
    section=CURVES,
    sentence="the factor before the brackets is 2/π, and should be its root.",
)
def gelu_tanh(x):
    inner = 2 / math.pi * (x + 0.044715 * x.pow(3))
    return x * 0.5 * (1 + torch.tanh(inner))


@wrong(
    check="gelu-tanh",
    section=CURVES,
    sentence="the root multiplies x alone. It multiplies the whole bracket, the small "
    "correction too.",
)
def gelu_tanh(x):
    inner = math.sqrt(2 / math.pi) * x + 0.044715 * x.pow(3)
    return x * 0.5 * (1 + torch.tanh(inner))


@wrong(
    check="gelu-tanh",
    section=CURVES,
    sentence="this is the approximation with a sigmoid, x · σ(1.702 x), another one.",
)
def gelu_tanh(x):
    return x * torch.sigmoid(1.702 * x)


@wrong(
    check="swish",
    section=CURVES,
    sentence="this is the sigmoid alone. It has to be multiplied by x.",
)
def swish(x):
    return torch.sigmoid(x)


@wrong(
    check="swish",
    section=CURVES,
    sentence="x is multiplied by its tanh. Swish multiplies it by its sigmoid.",
)
def swish(x):
    return x * torch.tanh(x)


@wrong(
    check="swish",
    section=CURVES,
    sentence="the sign in the exponential is wrong: this is x · σ(-x).",
)
def swish(x):
    return x * torch.sigmoid(-x)


@wrong(
    check="swish",
    section=CURVES,
    sentence="this is GELU. Swish takes the sigmoid.",
)
def swish(x):
    return F.gelu(x)


@wrong(
    check="swish",
    section=CURVES,
    sentence="this is the sigmoid of x scaled by 1.702, which approximates GELU. Swish "
    "takes the sigmoid of x itself.",
)
def swish(x):
    return x * torch.sigmoid(1.702 * x)


@wrong(
    check="swish",
    section=CURVES,
    sentence="this is the hard swish, made of straight pieces for small machines.",
)
def swish(x):
    return F.hardswish(x)


@wrong(
    check="swish",
    section=CURVES,
    sentence="e to the x overflows for large x, and infinity divided by infinity is "
    "NaN. torch.sigmoid is safe.",
)
def swish(x):
    return x * torch.exp(x) / (1 + torch.exp(x))


@wrong(
    check="feed-forward",
    section=BEND,
    sentence="there is no activation between the two layers. Two linear layers are one "
    "linear layer.",
)
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        d_ff = d_ff or 4 * d_model
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.W_2(self.W_1(x))


@wrong(
    check="feed-forward",
    section=NETWORK,
    sentence="the activation comes after the second layer, so that no number can be "
    "negative. It belongs between the two.",
)
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        d_ff = d_ff or 4 * d_model
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.activation = activation

    def forward(self, x):
        return self.activation(self.W_2(self.W_1(x)))


@wrong(
    check="feed-forward",
    section=NETWORK,
    sentence="there is an activation after the second layer too. What a layer adds may "
    "be negative: only the hidden numbers are bent.",
)
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        d_ff = d_ff or 4 * d_model
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.activation = activation

    def forward(self, x):
        return self.activation(self.W_2(self.activation(self.W_1(x))))


@wrong(
    check="feed-forward",
    section=NETWORK,
    sentence="the activation is on the input. It belongs on the hidden numbers, after "
    "the first layer.",
)
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        d_ff = d_ff or 4 * d_model
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.activation = activation

    def forward(self, x):
        return self.W_2(self.W_1(self.activation(x)))


@wrong(
    check="feed-forward",
    section=CURVES,
    sentence="the activation that was asked for is not used: it is always ReLU.",
)
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        d_ff = d_ff or 4 * d_model
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.W_2(torch.relu(self.W_1(x)))


@wrong(
    check="feed-forward",
    section=NETWORK,
    sentence="the linear layers have no bias. In the 2017 paper the feed-forward layer "
    "has both, b_1 and b_2.",
)
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        d_ff = d_ff or 4 * d_model
        self.W_1 = nn.Linear(d_model, d_ff, bias=False)
        self.W_2 = nn.Linear(d_ff, d_model, bias=False)
        self.activation = activation

    def forward(self, x):
        return self.W_2(self.activation(self.W_1(x)))


@wrong(
    check="feed-forward",
    section=NETWORK,
    sentence="without d_ff the hidden layer is as wide as the token. It should be four "
    "times as wide.",
)
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        d_ff = d_ff or d_model
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.activation = activation

    def forward(self, x):
        return self.W_2(self.activation(self.W_1(x)))


@wrong(
    check="feed-forward",
    section=NETWORK,
    sentence="the hidden layer is always four times as wide: the d_ff that was given "
    "is not used.",
)
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        self.W_1 = nn.Linear(d_model, 4 * d_model)
        self.W_2 = nn.Linear(4 * d_model, d_model)
        self.activation = activation

    def forward(self, x):
        return self.W_2(self.activation(self.W_1(x)))


@wrong(
    check="feed-forward",
    section=NETWORK,
    sentence="the input is added to the output. That is the residual connection, which "
    "the wrapper of chapter 05 adds; here the network alone is asked for.",
)
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        d_ff = d_ff or 4 * d_model
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.activation = activation

    def forward(self, x):
        return x + self.W_2(self.activation(self.W_1(x)))


@wrong(
    check="feed-forward",
    section=ALONE,
    sentence="tokens are mixed: each gets a share of the mean of its sentence. Here no "
    "token may see another.",
)
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        d_ff = d_ff or 4 * d_model
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.activation = activation

    def forward(self, x):
        if x.dim() > 1:
            x = x - x.mean(dim=-2, keepdim=True)
        return self.W_2(self.activation(self.W_1(x)))


@wrong(
    check="feed-forward",
    section=NETWORK,
    sentence="the linear layers are created in forward, new and random at each call, "
    "and the optimiser never sees them. Create them once, in __init__.",
)
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        self.sizes = d_model, d_ff or 4 * d_model
        self.activation = activation

    def forward(self, x):
        d_model, d_ff = self.sizes
        hidden = self.activation(nn.Linear(d_model, d_ff)(x))
        return nn.Linear(d_ff, d_model)(hidden)


@wrong(
    check="feed-forward",
    section=NETWORK,
    sentence="the hidden numbers are cut from the graph (detach, .data or no_grad), so "
    "that W_1 never learns.",
)
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        d_ff = d_ff or 4 * d_model
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.activation = activation

    def forward(self, x):
        with torch.no_grad():
            hidden = self.activation(self.W_1(x))
        return self.W_2(hidden)


@wrong(
    check="feed-forward",
    section=NETWORK,
    sentence="the hidden numbers are put through a softmax, as in attention. Here each "
    "is bent by itself.",
)
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        d_ff = d_ff or 4 * d_model
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.W_2(torch.softmax(self.W_1(x), dim=-1))


@wrong(
    check="feed-forward",
    section=NETWORK,
    sentence="dropout is at work inside. It is not asked for here: the wrapper of "
    "chapter 05 drops what is added.",
)
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        d_ff = d_ff or 4 * d_model
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.activation, self.dropout = activation, nn.Dropout(0.5)

    def forward(self, x):
        return self.W_2(self.dropout(self.activation(self.W_1(x))))


@wrong(
    check="swiglu",
    section=GATED,
    sentence="the gate is not bent: swish is missing, and what is left is a product of "
    "two straight projections.",
)
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.W_down(self.W_gate(x) * self.W_up(x))


@wrong(
    check="swiglu",
    section=GATED,
    sentence="gate and up have changed places: it is the gate that goes through swish.",
)
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.W_down(self.W_gate(x) * F.silu(self.W_up(x)))


@wrong(
    check="swiglu",
    section=GATED,
    sentence="gate and up are added. A gate multiplies, number by number.",
)
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) + self.W_up(x))


@wrong(
    check="swiglu",
    section=GATED,
    sentence="the gate is a plain sigmoid. That is the older GLU; SwiGLU takes swish.",
)
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.W_down(torch.sigmoid(self.W_gate(x)) * self.W_up(x))


@wrong(
    check="swiglu",
    section=GATED,
    sentence="swish is taken of the product. Only the gate is bent, before it is "
    "multiplied.",
)
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x) * self.W_up(x)))


@wrong(
    check="swiglu",
    section=GATED,
    sentence="both projections go through swish. What comes from W_up stays straight.",
)
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * F.silu(self.W_up(x)))


@wrong(
    check="swiglu",
    section=GATED,
    sentence="one projection is both gate and content. Each has its own: W_gate and "
    "W_up.",
)
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_gate(x))


@wrong(
    check="swiglu",
    section=GATED,
    sentence="the linear layers have a bias. Here they must not: write bias=False.",
)
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_ff)
        self.W_up = nn.Linear(d_model, d_ff)
        self.W_down = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


@wrong(
    check="swiglu",
    section=GATED,
    sentence="the gate is bent by GELU. That is GEGLU, a close relative; here swish is "
    "asked for.",
)
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.gelu(self.W_gate(x)) * self.W_up(x))


@wrong(
    check="swiglu",
    section=GATED,
    sentence="the gate is cut from the graph, so that W_gate never learns.",
)
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)).detach() * self.W_up(x))


@wrong(
    check="read-memory",
    section=MEMORY,
    sentence="the rows are weighted by a softmax. That is attention; here each row "
    "fires by itself, and the weights need not add up to one.",
)
def read_memory(x, keys, values):
    return torch.softmax(x @ keys.T, dim=-1) @ values


@wrong(
    check="read-memory",
    section=MEMORY,
    sentence="rows with a negative score subtract their value. relu keeps them silent.",
)
def read_memory(x, keys, values):
    return (x @ keys.T) @ values


@wrong(
    check="read-memory",
    section=MEMORY,
    sentence="only the row that fires most is read. All rows that fire add "
    "their value.",
)
def read_memory(x, keys, values):
    scores = torch.relu(x @ keys.T)
    best, rows = scores.max(dim=-1, keepdim=True)
    return best * values[rows.squeeze(-1)]


@wrong(
    check="read-memory",
    section=MEMORY,
    sentence="each firing row counts the same. A row counts for as much as it fires.",
)
def read_memory(x, keys, values):
    return (x @ keys.T > 0).to(values.dtype) @ values


@wrong(
    check="read-memory",
    section=MEMORY,
    sentence="the keys are added up instead of the values. Keys only decide how much.",
)
def read_memory(x, keys, values):
    return torch.relu(x @ keys.T) @ keys


@wrong(
    check="read-memory",
    section=MEMORY,
    sentence="relu is applied to what was read. It belongs to the scores.",
)
def read_memory(x, keys, values):
    return torch.relu((x @ keys.T) @ values)


@wrong(
    check="read-memory",
    section=MEMORY,
    sentence="the values are averaged over the rows. They are added.",
)
def read_memory(x, keys, values):
    return torch.relu(x @ keys.T) @ values / len(keys)


@wrong(
    check="read-memory",
    section=MEMORY,
    sentence="the scores are divided until they add up to one. They are used as they "
    "are: where nothing fires, nothing is read.",
)
def read_memory(x, keys, values):
    scores = torch.relu(x @ keys.T)
    return scores / scores.sum(dim=-1, keepdim=True) @ values


@wrong(
    check="firing-rows",
    section=MEMORY,
    sentence="how much the rows fire is given, and not which rows they are.",
)
def firing_rows(x, keys, count):
    return torch.relu(x @ keys.T).topk(count, dim=-1).values


@wrong(
    check="firing-rows",
    section=MEMORY,
    sentence="these are the rows that fire least. The strongest come first.",
)
def firing_rows(x, keys, count):
    return (x @ keys.T).topk(count, dim=-1, largest=False).indices


@wrong(
    check="firing-rows",
    section=MEMORY,
    sentence="the rows are in the order of their numbers. The strongest comes first.",
)
def firing_rows(x, keys, count):
    return torch.relu(x @ keys.T).topk(count, dim=-1).indices.sort(dim=-1).values


@wrong(
    check="firing-rows",
    section=MEMORY,
    sentence="the weakest of the chosen rows comes first. Begin with the strongest.",
)
def firing_rows(x, keys, count):
    return torch.relu(x @ keys.T).argsort(dim=-1)[..., -count:]


@wrong(
    check="firing-rows",
    section=MEMORY,
    sentence="rows with a large negative score are counted as firing. They are silent.",
)
def firing_rows(x, keys, count):
    return (x @ keys.T).abs().topk(count, dim=-1).indices


@wrong(
    check="firing-rows",
    section=MEMORY,
    sentence="the same rows are given for all tokens together. Each token has its own.",
)
def firing_rows(x, keys, count):
    total = torch.relu(x @ keys.T).reshape(-1, len(keys)).sum(dim=0)
    return total.topk(count).indices.expand(*x.shape[:-1], count)


@wrong(
    check="firing-rows",
    section=MEMORY,
    sentence="the keys were brought to length one first. A long key fires more, and "
    "that counts.",
)
def firing_rows(x, keys, count):
    return (x @ F.normalize(keys, dim=-1).T).topk(count, dim=-1).indices


wrong_choice(
    "hull",
    check="concept-hull",
    section=HULL,
    a="weights are positive and add up to one: the result lies among the values.",
    c="an average is usually shorter than the longest vector in it.",
    d="it can come close to a copy, but any mixture is possible too.",
)
wrong_choice(
    "tokens_together",
    check="concept-together",
    section=ALONE,
    a="that is attention. The feed-forward layer looks at one token at a time.",
    b="that is masked attention. The feed-forward layer looks at one token at a time.",
    c="that is a convolution. The feed-forward layer looks at one token at a time.",
)
wrong_choice(
    "no_bend",
    check="concept-bend",
    section=BEND,
    b="without a bend, the width in the middle adds nothing.",
    c="width helps only together with a bend.",
    d="it can compute any linear map, and no other.",
)
wrong_choice(
    "same_weights",
    check="concept-weights",
    section=ALONE,
    a="position-wise means: the same network at every position.",
    b="attention weights depend on the sentence; these are parameters.",
    d="it has about two thirds of all weights of the layer.",
)
wrong_choice(
    "which_gelu",
    check="concept-gelu",
    section=CURVES,
    a="shapes and types fit, so nothing is raised. That is why it is easy to miss.",
    b="they differ by up to five ten-thousandths at each hidden number.",
    c="they differ by up to five ten-thousandths at each hidden number, not more.",
)
