"""Right answers to chapter 05 written differently: each must get full marks."""

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import right


@right("the other way round, and torch.add")
def residual(x, sublayer):
    return torch.add(sublayer(x), x)


@right("in place, but on the sub-layer's own fresh output")
def residual(x, sublayer):
    y = sublayer(x)
    y += x
    return y


@right("a copy that is added to")
def residual(x, sublayer):
    y = x.clone()
    return y.add_(sublayer(x))


@right("a sum over a stack")
def residual(x, sublayer):
    return torch.stack([x, sublayer(x)]).sum(dim=0)


@right("autograd finds it")
def residual_jacobian(W):
    x = torch.zeros(len(W), dtype=W.dtype, device=W.device)
    return torch.autograd.functional.jacobian(lambda x: x + x @ W, x)


@right("the identity is added before turning round")
def residual_jacobian(W):
    return (W + torch.eye(W.shape[0]).to(W)).mT


@right("one on the diagonal of a copy")
def residual_jacobian(W):
    jacobian = W.T.clone()
    jacobian.diagonal().add_(1)
    return jacobian


@right("two loops")
def residual_jacobian(W):
    d_model = len(W)
    jacobian = W.new_zeros(d_model, d_model)
    for i in range(d_model):
        for j in range(d_model):
            jacobian[i, j] = W[j, i] + (1 if i == j else 0)
    return jacobian


@right("the library's own")
def layer_norm(x, gain, bias, eps=1e-5):
    return F.layer_norm(x, (x.shape[-1],), gain, bias, eps)


@right("torch.var with correction=0 and rsqrt")
def layer_norm(x, gain, bias, eps=1e-5):
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return torch.addcmul(bias, (x - mean) * torch.rsqrt(variance + eps), gain)


@right("in double precision inside")
def layer_norm(x, gain, bias, eps=1e-5):
    exact = x.double()
    exact = exact - exact.mean(-1, keepdim=True)
    exact = exact / (exact.square().mean(-1, keepdim=True) + eps) ** 0.5
    return (exact * gain.double() + bias.double()).to(x.dtype)


@right("sums divided by the width, no keepdim")
def layer_norm(x, gain, bias, eps=1e-5):
    d_model = x.size(-1)
    centred = x - (x.sum(-1) / d_model).unsqueeze(-1)
    variance = torch.einsum("...c,...c->...", centred, centred) / d_model
    return bias + gain * centred / (variance[..., None] + eps).sqrt()


@right("mean of squares minus square of mean")
def layer_norm(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    variance = (x * x).mean(-1, keepdim=True) - mean * mean
    return (x - mean) * (variance.clamp(min=0) + eps).pow(-0.5) * gain + bias


@right("token by token")
def layer_norm(x, gain, bias, eps=1e-5):
    rows = []
    for token in x.reshape(-1, x.shape[-1]):
        centred = token - token.mean()
        deviation = torch.sqrt(centred.dot(centred) / len(token) + eps)
        rows.append(centred / deviation * gain + bias)
    return torch.stack(rows).reshape(x.shape)


@right("written out again, parameters in another order")
class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.gain = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + self.eps) * self.gain + self.bias


@right("registered by name, and the library's own")
class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.d_model, self.eps = d_model, eps
        self.register_parameter("gain", nn.Parameter(torch.ones(d_model)))
        self.register_parameter("bias", nn.Parameter(torch.zeros(d_model)))

    def forward(self, x):
        return F.layer_norm(x, (self.d_model,), self.gain, self.bias, self.eps)


@right("the library's own")
def rms_norm(x, gain, eps=1e-6):
    return F.rms_norm(x, x.shape[-1:], gain, eps)


@right("rsqrt, and the gain first")
def rms_norm(x, gain, eps=1e-6):
    return gain * (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps))


@right("through the length of the vector")
def rms_norm(x, gain, eps=1e-6):
    squares = torch.linalg.vecdot(x, x).unsqueeze(-1)
    return x / (squares / x.shape[-1] + eps).sqrt() * gain


@right("in single precision inside, as large models do")
def rms_norm(x, gain, eps=1e-6):
    exact = x.double() if x.dtype == torch.float64 else x.float()
    normed = exact * torch.rsqrt(exact.pow(2).mean(-1, keepdim=True) + eps)
    return normed.to(x.dtype) * gain


@right("with the library's own")
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        return F.rms_norm(x, self.gain.shape, self.gain, self.eps)


@right("a gain made from torch.full, arithmetic in forward")
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.full((d_model,), 1.0))

    def forward(self, x):
        norm = x.norm(2, dim=-1, keepdim=True)
        mean_square = norm * norm / x.shape[-1]
        return self.gain * x / (mean_square + self.eps) ** 0.5


@right("F.dropout that knows the mode")
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.norm = LayerNorm(d_model)
        self.sublayer = sublayer
        self.norm_first = norm_first
        self.p = dropout

    def forward(self, x, *inputs, **options):
        read = self.norm(x) if self.norm_first else x
        added = self.sublayer(read, *inputs, **options)
        y = x + F.dropout(added, self.p, training=self.training)
        return y if self.norm_first else self.norm(y)


@right("two methods, through the function residual")
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.inner = sublayer
        self.drop = nn.Dropout(p=dropout)
        self.norm = LayerNorm(d_model)
        self.forward = self.pre if norm_first else self.post

    def pre(self, x, *inputs, **options):
        return residual(
            x, lambda t: self.drop(self.inner(self.norm(t), *inputs, **options))
        )

    def post(self, x, *inputs, **options):
        return self.norm(
            residual(x, lambda t: self.drop(self.inner(t, *inputs, **options)))
        )


@right("a norm and an identity, one of them on each side")
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.norm, self.sublayer = LayerNorm(d_model), sublayer
        self.dropout = nn.Dropout(dropout)
        self.before = nn.Identity()
        self.norm_first = norm_first

    def forward(self, x, *inputs, **options):
        before, after = self.before, self.norm
        if self.norm_first:
            before, after = after, before
        added = self.dropout(self.sublayer(before(x), *inputs, **options))
        return after(added + x)
