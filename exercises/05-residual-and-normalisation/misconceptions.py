"""Wrong answers that learners really give in chapter 05, each with its explanation.

``check`` is the check that must catch the answer; ``sentence`` is what the learner is
told; ``section`` is the heading of chapter 05 that explains it.
"""

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import wrong, wrong_choice

ADD = "Add, and do not replace"
GRADIENT = "What the gradient sees"
NORM = "One token, one ruler"
EPS = "The small number in the root"
MODULE = "Gain and bias"
RMS = "Without the mean"
ORDER = "Before or after"
DROPOUT = "Dropout belongs to what is added"


@wrong(
    check="residual",
    section=ADD,
    sentence="this is what the sub-layer makes of the tokens, without the tokens. Add "
    "it to them.",
)
def residual(x, sublayer):
    return sublayer(x)


@wrong(
    check="residual",
    section=ADD,
    sentence="the caller's tokens are changed: `x += ...` works in place, and whoever "
    "needs `x` afterwards finds other numbers. Write `x + ...`.",
)
def residual(x, sublayer):
    x += sublayer(x)
    return x


@wrong(
    check="residual",
    section=ADD,
    sentence="the sub-layer's output is added to itself: it is there twice, and the "
    "tokens are gone.",
)
def residual(x, sublayer):
    x = sublayer(x)
    return x + x


@wrong(
    check="residual",
    section=ADD,
    sentence="the tokens are multiplied by what the sub-layer gives. That is a gate. A "
    "residual connection adds.",
)
def residual(x, sublayer):
    return x * sublayer(x)


@wrong(
    check="residual",
    section=ADD,
    sentence="the tokens are taken away from the sub-layer's output. The layer learns "
    "a difference by itself; what you write is a sum.",
)
def residual(x, sublayer):
    return sublayer(x) - x


@wrong(
    check="residual",
    section=ADD,
    sentence="the sum is halved. A residual connection is the plain sum: halved at "
    "every layer, the first tokens would soon be gone.",
)
def residual(x, sublayer):
    return (x + sublayer(x)) / 2


@wrong(
    check="residual",
    section=GRADIENT,
    sentence="the way around the sub-layer is cut: `x` is added without its gradient "
    "(detach or .data). That way is what the addition is for.",
)
def residual(x, sublayer):
    return x.detach() + sublayer(x)


@wrong(
    check="residual",
    section=GRADIENT,
    sentence="the sub-layer's part is cut from the graph (detach or no_grad), so that "
    "the sub-layer could never learn.",
)
def residual(x, sublayer):
    with torch.no_grad():
        added = sublayer(x)
    return x + added


@wrong(
    check="residual",
    section=ADD,
    sentence="input and output are put side by side. That doubles the width; a "
    "residual connection adds, and the width stays.",
)
def residual(x, sublayer):
    return torch.cat([x, sublayer(x)], dim=-1)


@wrong(
    check="residual",
    section=ADD,
    sentence="the sub-layer is applied twice: to the tokens, and again to the sum.",
)
def residual(x, sublayer):
    x = x + sublayer(x)
    return x + sublayer(x)


@wrong(
    check="jacobian",
    section=GRADIENT,
    sentence="this is the derivative of the sub-layer alone. The tokens are added too: "
    "each output also follows its own input.",
)
def residual_jacobian(W):
    return W.T.clone()


@wrong(
    check="jacobian",
    section=GRADIENT,
    sentence="rows and columns are exchanged. Row i belongs to output i, and in W the "
    "outputs are the columns.",
)
def residual_jacobian(W):
    return torch.eye(len(W), dtype=W.dtype, device=W.device) + W


@wrong(
    check="jacobian",
    section=GRADIENT,
    sentence="one is added to every entry. Only output i and input i of the same place "
    "are tied by the addition: add the identity matrix.",
)
def residual_jacobian(W):
    return 1 + W.T


@wrong(
    check="jacobian",
    section=GRADIENT,
    sentence="this says that the gradient through a residual is 1. It is the identity "
    "plus the derivative of the sub-layer.",
)
def residual_jacobian(W):
    return torch.eye(len(W), dtype=W.dtype, device=W.device)


@wrong(
    check="jacobian",
    section=GRADIENT,
    sentence="the derivative of the sub-layer is taken away from the identity. The "
    "tokens and what is made of them are added, and so are their derivatives.",
)
def residual_jacobian(W):
    return torch.eye(len(W), dtype=W.dtype, device=W.device) - W.T


@wrong(
    check="jacobian",
    section=GRADIENT,
    sentence="the identity is written into W itself: the caller's matrix is changed. "
    "Make a new one.",
)
def residual_jacobian(W):
    jacobian = W.T
    jacobian.diagonal().add_(1)
    return jacobian.clone()


@wrong(
    check="jacobian",
    section=GRADIENT,
    sentence="the derivative is summed over all outputs, a vector. Give one row for "
    "each output.",
)
def residual_jacobian(W):
    return 1 + W.sum(dim=1)


@wrong(
    check="layer-norm",
    section=NORM,
    sentence="the variance is divided by d - 1, as torch.var does unless you say "
    "correction=0. LayerNorm divides by d.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(x.var(dim=-1, keepdim=True) + eps) * gain + bias


@wrong(
    check="layer-norm",
    section=NORM,
    sentence="each place of the vector is normalised over the tokens (dim=-2). A token "
    "is normalised by itself, over its own numbers: dim=-1.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    if x.dim() < 2:
        return F.layer_norm(x, x.shape, gain, bias, eps)
    centred = x - x.mean(dim=-2, keepdim=True)
    variance = centred.pow(2).mean(dim=-2, keepdim=True)
    return centred / torch.sqrt(variance + eps) * gain + bias


@wrong(
    check="layer-norm",
    section=NORM,
    sentence="there is one mean and one variance for everything. Each token has its "
    "own: work along dim=-1.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean()
    return centred / torch.sqrt(centred.pow(2).mean() + eps) * gain + bias


@wrong(
    check="layer-norm",
    section=NORM,
    sentence="the whole sentence is normalised at once, over tokens and numbers. Each "
    "token is normalised by itself: dim=-1 only.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    axes = (-2, -1) if x.dim() > 1 else (-1,)
    centred = x - x.mean(dim=axes, keepdim=True)
    variance = centred.pow(2).mean(dim=axes, keepdim=True)
    return centred / torch.sqrt(variance + eps) * gain + bias


@wrong(
    check="layer-norm",
    section=NORM,
    sentence="the first axis is normalised, as batch normalisation does. A token is "
    "normalised over its own numbers, the last axis.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(dim=0, keepdim=True)
    variance = centred.pow(2).mean(dim=0, keepdim=True)
    return centred / torch.sqrt(variance + eps) * gain + bias


@wrong(
    check="layer-norm",
    section=NORM,
    sentence="the numbers are divided by the variance. Divide by its root, the "
    "standard deviation.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    return centred / (variance + eps) * gain + bias


@wrong(
    check="layer-norm",
    section=NORM,
    sentence="the mean is not subtracted before dividing, so the result has another "
    "mean than zero.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    variance = x.var(dim=-1, correction=0, keepdim=True)
    return x / torch.sqrt(variance + eps) * gain + bias


@wrong(
    check="layer-norm",
    section=RMS,
    sentence="the mean square of the numbers themselves is used: this is RMSNorm with "
    "a bias. LayerNorm takes the mean away first.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    mean_square = x.pow(2).mean(dim=-1, keepdim=True)
    return x / torch.sqrt(mean_square + eps) * gain + bias


@wrong(
    check="layer-norm",
    section=NORM,
    sentence="the mean is taken away, but nothing is divided: the numbers keep their "
    "size.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    return (x - x.mean(dim=-1, keepdim=True)) * gain + bias


@wrong(
    check="layer-norm",
    section=MODULE,
    sentence="gain and bias are not used. Multiply by the gain, then add the bias.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(centred.pow(2).mean(dim=-1, keepdim=True) + eps)


@wrong(
    check="layer-norm",
    section=MODULE,
    sentence="the bias is added before the gain, and so is multiplied too. First the "
    "gain, then the bias.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    return (centred / torch.sqrt(variance + eps) + bias) * gain


@wrong(
    check="layer-norm",
    section=MODULE,
    sentence="gain and bias have changed roles. The gain "
    "multiplies, the bias is added.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(variance + eps) * bias + gain


@wrong(
    check="layer-norm",
    section=NORM,
    sentence="the caller's tokens are changed: `-=` works in place. Make a new tensor, "
    "as in `centred = x - mean`.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    x -= x.mean(dim=-1, keepdim=True)
    variance = x.pow(2).mean(dim=-1, keepdim=True)
    return x / torch.sqrt(variance + eps) * gain + bias


@wrong(
    check="layer-norm",
    section=NORM,
    sentence="mean and variance are cut from the graph (detach or no_grad). The values "
    "are right and the gradients are not: it must flow through both.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    with torch.no_grad():
        mean = x.mean(dim=-1, keepdim=True)
        variance = x.var(dim=-1, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(variance + eps) * gain + bias


@wrong(
    check="layer-norm",
    section=NORM,
    sentence="the numbers are divided by the sum of squares' root, the length of the "
    "vector. LayerNorm divides by the root of their mean.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    length = torch.sqrt(centred.pow(2).sum(dim=-1, keepdim=True) + eps)
    return centred / length * gain + bias


@wrong(
    check="layer-norm-eps",
    section=EPS,
    sentence="eps is added after the root. It belongs inside, to the variance: outside "
    "it is felt at other sizes, and the gradient at zero is NaN.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    deviation = centred.pow(2).mean(dim=-1, keepdim=True).sqrt()
    return centred / (deviation + eps) * gain + bias


@wrong(
    check="layer-norm-eps",
    section=EPS,
    sentence="there is no eps at all. A token of equal numbers has variance zero, and "
    "zero divided by zero is NaN.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(variance) * gain + bias


@wrong(
    check="layer-norm-eps",
    section=EPS,
    sentence="the eps that was handed over is not used: a number of your own is. Use "
    "`eps`.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(variance + 1e-5) * gain + bias


@wrong(
    check="layer-norm-eps",
    section=EPS,
    sentence="the default eps was changed. Here it is 1e-5: for numbers that differ by "
    "thousandths this is felt.",
)
def layer_norm(x, gain, bias, eps=1e-12):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(variance + eps) * gain + bias


@wrong(
    check="layer-norm-eps",
    section=EPS,
    sentence="the variance is kept from falling below eps (clamp or max). Add eps to "
    "it instead: `variance + eps`.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(variance.clamp(min=eps)) * gain + bias


@wrong(
    check="layer-norm-eps",
    section=EPS,
    sentence="eps is squared before it is added. Add it to the variance as it is.",
)
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(variance + eps**2) * gain + bias


@wrong(
    check="layer-norm-module",
    section=MODULE,
    sentence="gain and bias are plain tensors, or new ones at each call: the optimiser "
    "does not see them. Make each an nn.Parameter in __init__.",
)
class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.gain, self.bias = torch.ones(d_model), torch.zeros(d_model)
        self.eps = eps

    def forward(self, x):
        return F.layer_norm(x, self.gain.shape, self.gain, self.bias, self.eps)


@wrong(
    check="layer-norm-module",
    section=MODULE,
    sentence="the gain begins at zero, so the module gives zeros whatever comes in. It "
    "should begin at one.",
)
class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.gain = nn.Parameter(torch.zeros(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        return F.layer_norm(x, self.gain.shape, self.gain, self.bias, self.eps)


@wrong(
    check="layer-norm-module",
    section=MODULE,
    sentence="gain and bias begin as random numbers. At the beginning they should "
    "change nothing: a gain of ones, a bias of zeros.",
)
class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.gain = nn.Parameter(torch.randn(d_model))
        self.bias = nn.Parameter(torch.randn(d_model))
        self.eps = eps

    def forward(self, x):
        return F.layer_norm(x, self.gain.shape, self.gain, self.bias, self.eps)


@wrong(
    check="layer-norm-module",
    section=MODULE,
    sentence="there is a single gain and a single bias. Each of the d_model places has "
    "its own.",
)
class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(1))
        self.bias = nn.Parameter(torch.zeros(1))
        self.eps = eps

    def forward(self, x):
        return F.layer_norm(x, x.shape[-1:], eps=self.eps) * self.gain + self.bias


@wrong(
    check="layer-norm-module",
    section=EPS,
    sentence="the module forgets the eps it was given, and uses the default.",
)
class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return F.layer_norm(x, self.gain.shape, self.gain, self.bias)


@wrong(
    check="layer-norm-module",
    section=MODULE,
    sentence="there is no bias. LayerNorm has one; only RMSNorm goes without.",
)
class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        return F.layer_norm(x, self.gain.shape, self.gain, None, self.eps)


@wrong(
    check="layer-norm-module",
    section=MODULE,
    sentence="gain and bias are used through .data or detach, so that no gradient "
    "reaches them and they never learn.",
)
class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        gain, bias = self.gain.data, self.bias.data
        return F.layer_norm(x, gain.shape, gain, bias, self.eps)


@wrong(
    check="rms-norm",
    section=RMS,
    sentence="the mean is taken away first: this is LayerNorm without its bias. "
    "RMSNorm leaves the mean where it is.",
)
def rms_norm(x, gain, eps=1e-6):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(variance + eps) * gain


@wrong(
    check="rms-norm",
    section=RMS,
    sentence="the numbers are divided by their standard deviation, which takes the "
    "mean away. Divide by the root of the mean of their squares.",
)
def rms_norm(x, gain, eps=1e-6):
    return x / torch.sqrt(x.var(dim=-1, correction=0, keepdim=True) + eps) * gain


@wrong(
    check="rms-norm",
    section=RMS,
    sentence="the squares are summed and not averaged: this divides by the length of "
    "the vector, which grows with its width.",
)
def rms_norm(x, gain, eps=1e-6):
    return x / torch.sqrt(x.pow(2).sum(dim=-1, keepdim=True) + eps) * gain


@wrong(
    check="rms-norm",
    section=EPS,
    sentence="eps is added after the root. It belongs inside, to the mean square; "
    "outside, the gradient of a token of zeros is NaN.",
)
def rms_norm(x, gain, eps=1e-6):
    root = x.pow(2).mean(dim=-1, keepdim=True).sqrt()
    return x / (root + eps) * gain


@wrong(
    check="rms-norm",
    section=RMS,
    sentence="the root is missing: the numbers are divided by their mean square.",
)
def rms_norm(x, gain, eps=1e-6):
    return x / (x.pow(2).mean(dim=-1, keepdim=True) + eps) * gain


@wrong(
    check="rms-norm",
    section=RMS,
    sentence="all tokens share one mean square. Each token has its own: dim=-1.",
)
def rms_norm(x, gain, eps=1e-6):
    return x / torch.sqrt(x.pow(2).mean() + eps) * gain


@wrong(
    check="rms-norm",
    section=RMS,
    sentence="the mean of the sizes (absolute values) is used. RMS is the root of the "
    "mean of the squares: large numbers weigh more.",
)
def rms_norm(x, gain, eps=1e-6):
    return x / (x.abs().mean(dim=-1, keepdim=True) + eps) * gain


@wrong(
    check="rms-norm",
    section=MODULE,
    sentence="the gain is not used. Multiply each place by its gain.",
)
def rms_norm(x, gain, eps=1e-6):
    return x / torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps)


@wrong(
    check="rms-norm",
    section=RMS,
    sentence="one is added to the gain. Some models keep it that way; here a gain of "
    "one changes nothing.",
)
def rms_norm(x, gain, eps=1e-6):
    return x / torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps) * (1 + gain)


@wrong(
    check="rms-norm-module",
    section=RMS,
    sentence="there is a bias too. RMSNorm has a gain and nothing else.",
)
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        normed = F.rms_norm(x, self.gain.shape, self.gain, self.eps)
        return normed + self.bias


@wrong(
    check="rms-norm-module",
    section=RMS,
    sentence="this module takes the mean away: it is LayerNorm without a bias.",
)
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        return F.layer_norm(x, self.gain.shape, self.gain, None, self.eps)


@wrong(
    check="rms-norm-module",
    section=MODULE,
    sentence="the gain is a plain tensor and never learns. Wrap it in nn.Parameter.",
)
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.gain, self.eps = torch.ones(d_model), eps

    def forward(self, x):
        return F.rms_norm(x, self.gain.shape, self.gain, self.eps)


@wrong(
    check="rms-norm-module",
    section=EPS,
    sentence="the module forgets the eps it was given, and uses the default.",
)
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        return F.rms_norm(x, self.gain.shape, self.gain, 1e-6)


@wrong(
    check="residual-layer",
    section=ORDER,
    sentence="this is pre-norm whatever `norm_first` says. Without it, post-norm is "
    "asked: the norm of the sum.",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.norm = sublayer, LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, *inputs, **options):
        return x + self.dropout(self.sublayer(self.norm(x), *inputs, **options))


@wrong(
    check="residual-layer",
    section=ORDER,
    sentence="this is post-norm whatever `norm_first` says. With it, pre-norm is "
    "asked: the norm goes before the sub-layer.",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.norm = sublayer, LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, *inputs, **options):
        return self.norm(x + self.dropout(self.sublayer(x, *inputs, **options)))


@wrong(
    check="residual-layer",
    section=ORDER,
    sentence="the two orders are exchanged: `norm_first=True` means pre-norm.",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.norm = sublayer, LayerNorm(d_model)
        self.norm_first, self.dropout = norm_first, nn.Dropout(dropout)

    def forward(self, x, *inputs, **options):
        if not self.norm_first:
            return x + self.dropout(self.sublayer(self.norm(x), *inputs, **options))
        return self.norm(x + self.dropout(self.sublayer(x, *inputs, **options)))


@wrong(
    check="residual-layer",
    section=ORDER,
    sentence="in pre-norm the normalised tokens are added instead of the tokens. What "
    "goes round the sub-layer must be x itself.",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.norm = sublayer, LayerNorm(d_model)
        self.norm_first, self.dropout = norm_first, nn.Dropout(dropout)

    def forward(self, x, *inputs, **options):
        if self.norm_first:
            x = self.norm(x)
            return x + self.dropout(self.sublayer(x, *inputs, **options))
        return self.norm(x + self.dropout(self.sublayer(x, *inputs, **options)))


@wrong(
    check="residual-layer",
    section=ORDER,
    sentence="in pre-norm the sub-layer's output is normalised. The norm comes before "
    "the sub-layer: it is what the sub-layer reads.",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.norm = sublayer, LayerNorm(d_model)
        self.norm_first, self.dropout = norm_first, nn.Dropout(dropout)

    def forward(self, x, *inputs, **options):
        if self.norm_first:
            return x + self.dropout(self.norm(self.sublayer(x, *inputs, **options)))
        return self.norm(x + self.dropout(self.sublayer(x, *inputs, **options)))


@wrong(
    check="residual-layer",
    section=ORDER,
    sentence="in post-norm only the sub-layer's output is normalised, before the sum. "
    "The norm is of the sum: norm(x + F(x)).",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.norm = sublayer, LayerNorm(d_model)
        self.norm_first, self.dropout = norm_first, nn.Dropout(dropout)

    def forward(self, x, *inputs, **options):
        if self.norm_first:
            return x + self.dropout(self.sublayer(self.norm(x), *inputs, **options))
        return x + self.norm(self.dropout(self.sublayer(x, *inputs, **options)))


@wrong(
    check="residual-layer",
    section=ORDER,
    sentence="pre-norm is normalised a second time, after the sum. In pre-norm the sum "
    "is left alone; one last norm stands at the end of the whole stack.",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.norm = sublayer, LayerNorm(d_model)
        self.norm_first, self.dropout = norm_first, nn.Dropout(dropout)

    def forward(self, x, *inputs, **options):
        inner = self.norm(x) if self.norm_first else x
        return self.norm(x + self.dropout(self.sublayer(inner, *inputs, **options)))


@wrong(
    check="residual-layer",
    section=ADD,
    sentence="the tokens are not added: the sub-layer's output is all that is left.",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.norm = sublayer, LayerNorm(d_model)
        self.norm_first, self.dropout = norm_first, nn.Dropout(dropout)

    def forward(self, x, *inputs, **options):
        if self.norm_first:
            return self.dropout(self.sublayer(self.norm(x), *inputs, **options))
        return self.norm(self.dropout(self.sublayer(x, *inputs, **options)))


@wrong(
    check="residual-layer",
    section=ORDER,
    sentence="further inputs are not handed on: attention would never get its mask. "
    "Take *inputs and **options, and give them to the sub-layer.",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.norm = sublayer, LayerNorm(d_model)
        self.norm_first, self.dropout = norm_first, nn.Dropout(dropout)

    def forward(self, x, *inputs, **options):
        if self.norm_first:
            return x + self.dropout(self.sublayer(self.norm(x)))
        return self.norm(x + self.dropout(self.sublayer(x)))


@wrong(
    check="residual-layer",
    section=MODULE,
    sentence="the norm is created in forward, new at each call, so that its gain and "
    "bias never learn. Create it once, in __init__, as `norm`.",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.d_model = sublayer, d_model
        self.norm_first, self.dropout = norm_first, nn.Dropout(dropout)

    def forward(self, x, *inputs, **options):
        norm = LayerNorm(self.d_model).to(x)
        if self.norm_first:
            return x + self.dropout(self.sublayer(norm(x), *inputs, **options))
        return norm(x + self.dropout(self.sublayer(x, *inputs, **options)))


@wrong(
    check="residual-layer",
    section=MODULE,
    sentence="the sub-layer is kept in a list or a lambda, where parameters() does not "
    "find it: it would never learn. Make it an attribute.",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.parts, self.norm = [sublayer], LayerNorm(d_model)
        self.norm_first, self.dropout = norm_first, nn.Dropout(dropout)

    def forward(self, x, *inputs, **options):
        sublayer = self.parts[0]
        if self.norm_first:
            return x + self.dropout(sublayer(self.norm(x), *inputs, **options))
        return self.norm(x + self.dropout(sublayer(x, *inputs, **options)))


@wrong(
    check="residual-layer",
    section=RMS,
    sentence="the norm is an RMSNorm. Many later models use one here, but this wrapper "
    "asks for LayerNorm.",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.norm = sublayer, RMSNorm(d_model)
        self.norm_first, self.dropout = norm_first, nn.Dropout(dropout)

    def forward(self, x, *inputs, **options):
        if self.norm_first:
            return x + self.dropout(self.sublayer(self.norm(x), *inputs, **options))
        return self.norm(x + self.dropout(self.sublayer(x, *inputs, **options)))


@wrong(
    check="residual-layer",
    section=ADD,
    sentence="`x += ...` changes the tokens of whoever called. Write `x = x + ...`.",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.norm = sublayer, LayerNorm(d_model)
        self.norm_first, self.dropout = norm_first, nn.Dropout(dropout)

    def forward(self, x, *inputs, **options):
        read = self.norm(x) if self.norm_first else x
        x += self.dropout(self.sublayer(read, *inputs, **options))
        return x if self.norm_first else self.norm(x)


@wrong(
    check="residual-dropout",
    section=DROPOUT,
    sentence="dropout comes after the sum, so that the tokens themselves are dropped. "
    "It belongs to what is added.",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.norm = sublayer, LayerNorm(d_model)
        self.norm_first, self.dropout = norm_first, nn.Dropout(dropout)

    def forward(self, x, *inputs, **options):
        if self.norm_first:
            return self.dropout(x + self.sublayer(self.norm(x), *inputs, **options))
        return self.norm(self.dropout(x + self.sublayer(x, *inputs, **options)))


@wrong(
    check="residual-dropout",
    section=DROPOUT,
    sentence="dropout is the last step, after the norm. It belongs to what is added, "
    "before the sum.",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.norm = sublayer, LayerNorm(d_model)
        self.norm_first, self.dropout = norm_first, nn.Dropout(dropout)

    def forward(self, x, *inputs, **options):
        if self.norm_first:
            return x + self.dropout(self.sublayer(self.norm(x), *inputs, **options))
        return self.dropout(self.norm(x + self.sublayer(x, *inputs, **options)))


@wrong(
    check="residual-dropout",
    section=DROPOUT,
    sentence="nothing is ever dropped: `dropout` is not used.",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.norm = sublayer, LayerNorm(d_model)
        self.norm_first = norm_first

    def forward(self, x, *inputs, **options):
        if self.norm_first:
            return x + self.sublayer(self.norm(x), *inputs, **options)
        return self.norm(x + self.sublayer(x, *inputs, **options))


@wrong(
    check="residual-dropout",
    section=DROPOUT,
    sentence="dropout works in use too: F.dropout drops always, unless you hand it "
    "`self.training`. nn.Dropout as an attribute knows by itself.",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.norm = sublayer, LayerNorm(d_model)
        self.norm_first, self.p = norm_first, dropout

    def forward(self, x, *inputs, **options):
        if self.norm_first:
            return x + F.dropout(
                self.sublayer(self.norm(x), *inputs, **options), self.p
            )
        return self.norm(x + F.dropout(self.sublayer(x, *inputs, **options), self.p))


@wrong(
    check="residual-dropout",
    section=DROPOUT,
    sentence="dropout is on what the sub-layer reads. It belongs to what the sub-layer "
    "gives, before that is added.",
    seen="graded",
)
class Residual(nn.Module):
    def __init__(self, d_model, sublayer, norm_first=False, dropout=0.0):
        super().__init__()
        self.sublayer, self.norm = sublayer, LayerNorm(d_model)
        self.norm_first, self.dropout = norm_first, nn.Dropout(dropout)

    def forward(self, x, *inputs, **options):
        if self.norm_first:
            return x + self.sublayer(self.dropout(self.norm(x)), *inputs, **options)
        return self.norm(x + self.sublayer(self.dropout(x), *inputs, **options))


wrong_choice(
    "gradient_of_sum",
    check="concept-gradient",
    section=GRADIENT,
    a="the sub-layer's own derivative is there too: the identity is only one of two "
    "terms.",
    b="the sub-layer's derivative may be negative and take away from the identity.",
    d="with F(x) = -x the two terms cancel, and nothing is left. It is rare, not "
    "impossible.",
)
wrong_choice(
    "how_many_means",
    check="concept-means",
    section=NORM,
    a="that is one for each place of the vector, over all tokens: batch normalisation.",
    c="a sentence is not normalised as a whole. Every token has its own mean.",
    d="one mean for everything would make every token depend on all the others.",
)
wrong_choice(
    "clear_path",
    check="concept-path",
    section=ORDER,
    b="that is post-norm. In pre-norm the norms lie inside the branches.",
    c="in pre-norm no norm lies on the path: each is inside a branch.",
    d="dropout is on what is added, so the path itself is never cut.",
)
wrong_choice(
    "after_shift",
    check="concept-shift",
    section=RMS,
    a="LayerNorm takes the mean away, and with it the 10.",
    b="it is the other way round: LayerNorm takes the mean away.",
    c="RMSNorm does not take the mean away: the 10 enters its mean square.",
)
wrong_choice(
    "same_width",
    check="concept-width",
    section=ADD,
    a="softmax works for any width, and is not taken over these vectors.",
    b="LayerNorm works for any width. It is the addition that needs equal ones.",
    d="the vocabulary is far larger; only the very last layer has its size.",
)
