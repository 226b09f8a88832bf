"""Right answers to chapter 06 written differently: each must get full marks."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import right


@right("the library's own")
def relu(x):
    return torch.relu(x)


@right("a maximum with zeros")
def relu(x):
    return torch.maximum(x, torch.zeros_like(x))


@right("where")
def relu(x):
    return torch.where(x > 0, x, 0.0)


@right("a product with true and false")
def relu(x):
    return x * (x > 0)


@right("the half of x and its size")
def relu(x):
    return (x + x.abs()) / 2


@right("the library's own")
def gelu(x):
    return F.gelu(x)


@right("the normal distribution of the library")
def gelu(x):
    return x * torch.special.ndtr(x)


@right("erfc, in double precision inside")
def gelu(x):
    exact = x.double()
    return (0.5 * exact * torch.erfc(-exact / math.sqrt(2))).to(x.dtype)


@right("the library's own")
def gelu_tanh(x):
    return F.gelu(x, approximate="tanh")


@right("tanh written as a sigmoid")
def gelu_tanh(x):
    inner = math.sqrt(2 / math.pi) * x * (1 + 0.044715 * x * x)
    return x * torch.sigmoid(2 * inner)


@right("the library's own")
def swish(x):
    return F.silu(x)


@right("one division")
def swish(x):
    return x / (1 + torch.exp(-x))


@right("through tanh")
def swish(x):
    return 0.5 * x * (1 + torch.tanh(x / 2))


@right("functions of the library, layers in another order")
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        if d_ff is None:
            d_ff = d_model * 4
        self.bend = activation
        self.W_2 = nn.Linear(d_ff, d_model)
        self.W_1 = nn.Linear(d_model, d_ff)

    def forward(self, x):
        hidden = F.linear(x, self.W_1.weight, self.W_1.bias)
        return F.linear(self.bend(hidden), self.W_2.weight, self.W_2.bias)


@right("one token after the other")
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        width = 4 * d_model if d_ff is None else d_ff
        self.W_1 = nn.Linear(d_model, width)
        self.W_2 = nn.Linear(width, d_model)
        self.activation = activation

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        done = [self.W_2(self.activation(self.W_1(row))) for row in rows]
        return torch.stack(done).reshape(x.shape)


@right("a sum over hidden numbers by einsum")
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, activation=relu):
        super().__init__()
        d_ff = d_ff or 4 * d_model
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.activation = activation

    def forward(self, x):
        hidden = torch.einsum("...d,fd->...f", x, self.W_1.weight) + self.W_1.bias
        hidden = self.activation(hidden)
        return torch.einsum("...f,df->...d", hidden, self.W_2.weight) + self.W_2.bias


@right("written out in steps")
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_down = nn.Linear(d_ff, d_model, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)

    def forward(self, x):
        gate, up = self.W_gate(x), self.W_up(x)
        return self.W_down(up * gate * torch.sigmoid(gate))


@right("bare parameters")
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_gate = nn.Parameter(torch.randn(d_model, d_ff) / d_model**0.5)
        self.W_up = nn.Parameter(torch.randn(d_model, d_ff) / d_model**0.5)
        self.W_down = nn.Parameter(torch.randn(d_ff, d_model) / d_ff**0.5)

    def forward(self, x):
        return (F.silu(x @ self.W_gate) * (x @ self.W_up)) @ self.W_down


@right("F.linear on stacked weights")
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        both = torch.cat([self.W_gate.weight, self.W_up.weight])
        gate, up = F.linear(x, both).chunk(2, dim=-1)
        return self.W_down(F.silu(gate).mul(up))


@right("row by row")
def read_memory(x, keys, values):
    total = torch.zeros_like(x)
    for key, value in zip(keys, values, strict=True):
        fires = (x * key).sum(dim=-1, keepdim=True).clamp(min=0)
        total = total + fires * value
    return total


@right("einsum and the library's relu")
def read_memory(x, keys, values):
    fires = F.relu(torch.einsum("...d,rd->...r", x, keys))
    return torch.einsum("...r,rd->...d", fires, values)


@right("two linear layers of the library")
def read_memory(x, keys, values):
    return F.linear(F.linear(x, keys).relu(), values.mT)


@right("sorted, without relu: what fires stays in order")
def firing_rows(x, keys, count):
    return torch.argsort(x @ keys.T, dim=-1, descending=True)[..., :count]


@right("the best, again and again")
def firing_rows(x, keys, count):
    scores = x @ keys.mT
    found = []
    for _ in range(count):
        best = scores.argmax(dim=-1, keepdim=True)
        found.append(best)
        scores = scores.scatter(-1, best, -torch.inf)
    return torch.cat(found, dim=-1)
