"""How fast the course's models are, beside the transformers library and a plain loop.

Chapter 13. All three have the same weights and do the same work in one process, by
turns, and the best time counts. Without a GPU that is the CPU seconds of one thread,
so that it matters little what else the machine does.
"""

import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from solutions.checkpoints import load_weights
from solutions.families import gpt2
from solutions.generation import generate
from solutions.model_card import flops_per_token
from solutions.models import Model, ModelConfig
from solutions.training import best_device

LIBRARY, PLAIN = "transformers", "a plain loop"
RATE = 1e-4


@dataclass(frozen=True)
class Sizes:
    """A GPT-2 small enough for a CPU, and the texts it reads and writes."""

    vocab_size: int = 2000
    d_model: int = 256
    num_layers: int = 4
    num_heads: int = 8
    batch: int = 4
    prompt: int = 64
    new: int = 32
    rounds: int = 5

    @property
    def length(self) -> int:
        """Give the length of the longest text, its prompt included."""
        return self.prompt + self.new


@dataclass(frozen=True)
class Row:
    """One kind of work, against whom, the seconds of both, and how much work it is.

    ``tokens`` are read or written, ``flops`` are multiplications and additions.
    """

    work: str
    against: str
    ours: float
    theirs: float
    tokens: int
    flops: int

    @property
    def ratio(self) -> float:
        """Say how many times as long the other one takes."""
        return self.theirs / self.ours


def speed_rows(sizes: Sizes | None = None) -> list[Row]:
    """Time forward, training step and cached generation of GPT-2, three ways.

    Raises AssertionError when the three do not give the same. Needs the package
    transformers, which is imported here only.
    """
    sizes, device = sizes or Sizes(), best_device()
    torch.manual_seed(0)
    library = _library_model(sizes).to(device)
    ours = Model(_our_config(sizes))
    load_weights(ours, library.state_dict(), "gpt")
    ours = ours.to(device).eval()
    plain = {name: t.detach().clone() for name, t in library.state_dict().items()}
    shape = sizes.batch, sizes.length
    tokens = torch.randint(sizes.vocab_size, shape, device=device)
    prompt = tokens[:, : sizes.prompt]
    works = {
        "forward": (
            lambda: ours(tokens),
            lambda: library(tokens).logits,
            lambda: plain_logits(plain, sizes.num_heads, tokens),
        ),
        "cached generation": (
            lambda: generate(ours, prompt, sizes.new),
            lambda: _library_writes(library, prompt, sizes.new),
            lambda: plain_writes(plain, sizes.num_heads, prompt, sizes.new),
        ),
        "training step": (
            _stepper(ours.parameters(), lambda: ours(tokens), tokens),
            _stepper(library.parameters(), lambda: library(tokens).logits, tokens),
            _stepper(
                [t.requires_grad_() for name, t in plain.items() if name != _COPY],
                lambda: plain_logits(plain, sizes.num_heads, tokens),
                tokens,
            ),
        ),
    }
    rows = []
    for work, ways in works.items():
        with one_thread():
            seconds = by_turns(ways, sizes.rounds, training="step" in work)
        amount = _amount(work, sizes, ours.config)
        for against, theirs in zip((LIBRARY, PLAIN), seconds[1:], strict=True):
            rows.append(Row(work, against, seconds[0], theirs, *amount))
    return rows


def _amount(work: str, sizes: Sizes, config: ModelConfig) -> tuple[int, int]:
    """Count the tokens of a kind of work, and its multiplications and additions.

    What is written last is not read any more; a step back costs twice a step forward.
    """
    writes = work == "cached generation"
    read = range(1, sizes.length + (not writes))
    flops = sizes.batch * sum(flops_per_token(config, seen) for seen in read)
    tokens = sizes.batch * (sizes.new if writes else sizes.length)
    return tokens, flops * 3 if work == "training step" else flops


def peak_flops(side: int | None = None, rounds: int = 5) -> float:
    """Measure what this machine can do at best: one product of two large matrices.

    In float32, with one thread where there is no GPU; operations in a second.
    """
    device = best_device()
    side = side or (8192 if device.type == "cuda" else 1024)
    one, other = torch.randn(2, side, side, device=device)
    with one_thread():
        (best,) = by_turns((lambda: one @ other,), rounds)
    return 2 * side**3 / best


def by_turns(
    ways: tuple[Callable[[], Tensor], ...], rounds: int, training: bool = False
) -> list[float]:
    """Time several ways to do the same, in turns; give the best seconds of each.

    The first turn is not timed: there the results are compared.
    Raises AssertionError when they differ.
    """
    best = [float("inf")] * len(ways)
    with torch.set_grad_enabled(training):
        first, *others = (way() for way in ways)
        for other in others:
            torch.testing.assert_close(other, first, atol=1e-4, rtol=1e-4)
        for _ in range(rounds):
            for i, way in enumerate(ways):
                started = clock()
                way()
                best[i] = min(best[i], clock() - started)
    return best


def clock() -> float:
    """Read a clock: CPU seconds, or with a GPU real ones when it has finished."""
    if not torch.cuda.is_available():
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


@contextmanager
def one_thread():
    """Compute with one thread, and afterwards with as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _stepper(parameters, logits: Callable[[], Tensor], tokens: Tensor):
    """Make one step of training: predict, compare, go back, change the weights."""
    optimizer = torch.optim.AdamW(parameters, lr=RATE)

    def step() -> Tensor:
        guesses = logits()[:, :-1].flatten(0, 1)
        loss = F.cross_entropy(guesses, tokens[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


# --- the library --------------------------------------------------------------------


def _our_config(sizes: Sizes):
    return gpt2(
        vocab_size=sizes.vocab_size,
        d_model=sizes.d_model,
        num_layers=sizes.num_layers,
        num_heads=sizes.num_heads,
        d_ff=4 * sizes.d_model,
        max_len=sizes.length,
        end_id=-1,  # a text that never ends: all write equally much
    )


def _library_model(sizes: Sizes):
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=sizes.vocab_size,
        n_embd=sizes.d_model,
        n_layer=sizes.num_layers,
        n_head=sizes.num_heads,
        n_positions=sizes.length,
        bos_token_id=0,
        eos_token_id=0,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
    )
    model = GPT2LMHeadModel(config).eval()
    with torch.no_grad():  # larger than at the start, so that no two tokens are alike
        for tensor in model.parameters():
            if tensor.ndim == 2:
                tensor.mul_(4)
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0
    return model


def _library_writes(model, prompt: Tensor, new: int) -> Tensor:
    written = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=new,
        do_sample=False,
        num_beams=1,
    )
    return written[:, prompt.shape[1] :]


# --- the plain loop -----------------------------------------------------------------

_COPY = "lm_head.weight"  # the table of tokens under another name


def plain_logits(
    weights: dict[str, Tensor],
    num_heads: int,
    tokens: Tensor,
    cache: list | None = None,
) -> Tensor:
    """Compute GPT-2 with functions of PyTorch alone, from weights by published names.

    ``cache`` is a list of (keys, values), one pair a layer, and is filled.
    Shapes: tokens (batch, new) of ids -> logits (batch, new, vocab_size).
    """
    past, new = cache[0][0].shape[2] if cache else 0, tokens.shape[1]
    table, places = weights["transformer.wte.weight"], weights["transformer.wpe.weight"]
    x, width = F.embedding(tokens, table) + places[past : past + new], table.shape[1]
    kept = []
    for layer in range(sum(name.endswith("c_attn.weight") for name in weights)):
        begin = f"transformer.h.{layer}."
        own = {n.removeprefix(begin): t for n, t in weights.items() if begin in n}
        y = F.layer_norm(x, (width,), own["ln_1.weight"], own["ln_1.bias"])
        y = y @ own["attn.c_attn.weight"] + own["attn.c_attn.bias"]
        cut = y.unflatten(-1, (3, num_heads, -1)).permute(2, 0, 3, 1, 4)
        queries, keys, values = cut
        if cache:
            keys = torch.cat([cache[layer][0], keys], dim=2)
            values = torch.cat([cache[layer][1], values], dim=2)
        kept.append((keys, values))
        causal = {"is_causal": past == 0 and new > 1}
        y = F.scaled_dot_product_attention(queries, keys, values, **causal)
        y = y.transpose(1, 2).flatten(2)
        x = x + y @ own["attn.c_proj.weight"] + own["attn.c_proj.bias"]
        y = F.layer_norm(x, (width,), own["ln_2.weight"], own["ln_2.bias"])
        y = F.gelu(
            y @ own["mlp.c_fc.weight"] + own["mlp.c_fc.bias"], approximate="tanh"
        )
        x = x + y @ own["mlp.c_proj.weight"] + own["mlp.c_proj.bias"]
    if cache is not None:
        cache[:] = kept
    last = weights["transformer.ln_f.weight"], weights["transformer.ln_f.bias"]
    return F.layer_norm(x, (width,), *last) @ table.T


@torch.no_grad()
def plain_writes(weights, num_heads: int, prompt: Tensor, new: int) -> Tensor:
    """Write ``new`` tokens, always the likeliest: (batch, new)."""
    cache: list = []
    written = [prompt]
    for _ in range(new):
        logits = plain_logits(weights, num_heads, written[-1], cache)
        written.append(logits[:, -1].argmax(dim=-1, keepdim=True))
    return torch.cat(written[1:], dim=1)


def written(rows: list[Row], peak: float) -> str:
    """Write the rows as a table; ``peak`` is what :func:`peak_flops` gives."""
    heads = f"{'work':18} {'against':13} {'ours':>9} {'theirs':>9} {'ratio':>6}"
    heads += f" {'tokens/s':>9} {'of peak':>8}"
    lines = [
        f"{row.work:18} {row.against:13} {row.ours * 1000:6.1f} ms "
        f"{row.theirs * 1000:6.1f} ms {row.ratio:6.2f}"
        f" {row.tokens / row.ours:9,.0f} {row.flops / row.ours / peak:8.0%}"
        for row in rows
    ]
    said = f"The peak is {peak / 1e9:,.0f} GFLOP/s: one product of large matrices."
    return "\n".join([heads, *lines, said])
