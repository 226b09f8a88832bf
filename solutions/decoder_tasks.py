"""What the decoder models of chapter 12 are trained for, small enough for two cores."""

import math
import random
import re
from collections import Counter

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from solutions.data import (
    Vocabulary,
    kinds_of_text,
    number_in_words,
    reference_text,
)
from solutions.decoders import calm_start, coded_windows, few_shot_prompt
from solutions.families import ctrl, gpt, gpt2, gpt3
from solutions.generation import generate, sample, with_temperature
from solutions.models import Model, ModelConfig
from solutions.runs import Batch, Preset, Recipe


def following(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
    """Compare each prediction with the token that comes next; id 0 is filling.

    Shapes: one tensor (batch, length + 1) -> the sum of the losses, and their count.
    """
    (ids,) = batch
    logits, targets = model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten()
    total = F.cross_entropy(logits, targets, reduction="sum", ignore_index=0)
    return total, (targets != 0).sum()


def begin(config: ModelConfig) -> Model:
    """Create a model that begins calmly, by the seed that was set."""
    model = Model(config)
    calm_start(model, torch.Generator().manual_seed(torch.initial_seed()))
    return model


class TextTask:
    """Predict the next character of Python's own help; the last tenth is held out."""

    def __init__(self, preset: Preset, config: ModelConfig, vocabulary: Vocabulary):
        """Cut the text in two, and create the model."""
        self.vocabulary, self.preset = vocabulary, preset
        ids = vocabulary.batch([reference_text()])[0]
        self.known, self.held_out = ids.tensor_split([len(ids) * 9 // 10])
        self.model = begin(config)

    def batch(self, generator: torch.Generator) -> Batch:
        """Draw windows of the text: one tensor (batch, length + 1)."""
        length, count = self.preset.length, self.preset.batch
        starts = torch.randint(
            len(self.known) - length, (count, 1), generator=generator
        )
        return (self.known[starts + torch.arange(length + 1)],)

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        """Compare each prediction with the character that comes next."""
        return following(model, batch)

    def measure(self, model: nn.Module) -> float:
        """Give the bits per character on 128 windows of the held-out text."""
        length = self.preset.length
        rows = self.held_out.unfold(0, length + 1, length)[:128]
        device = next(model.parameters()).device
        total, count = self.loss(model, (rows.to(device),))
        return (total / count).item() / math.log(2)

    def samples(self, model: nn.Module) -> list[tuple[str, str]]:
        """Let the model go on from a beginning."""
        device, begun = next(model.parameters()).device, "The class "
        prompt = self.vocabulary.batch([begun]).to(device)
        generator = torch.Generator(device).manual_seed(0)
        choose = lambda logits: sample(with_temperature(logits, 0.7), generator)
        room = self.preset.length - len(begun)
        written = generate(model, prompt, room, choose)[0]
        return [(begun, "".join(self.vocabulary.words(written)))]


def text_task(family, preset: Preset, control: bool) -> TextTask:
    """Create the task for a family; the control sees one character at a time."""
    vocabulary = Vocabulary.of([reference_text()])
    window = {"windows": (1,)} if control else {}
    config = family(
        vocab_size=len(vocabulary),
        max_len=preset.length,
        end_id=-1,  # a text that never ends
        **preset.sizes,
        **window,
    )
    return TextTask(preset, config, vocabulary)


class Judge:
    """Tell kinds of text apart by three characters at a time, without any network.

    Each kind counts its runs of three; a text is of the kind that makes it likeliest.
    """

    def __init__(self, texts: dict[str, str]):
        """Count the runs of each kind."""
        self.counts = {kind: Counter(self.runs(text)) for kind, text in texts.items()}
        self.totals = {kind: counts.total() for kind, counts in self.counts.items()}

    def runs(self, text: str) -> list[str]:
        """Give every three characters that stand together."""
        return [text[i : i + 3] for i in range(len(text) - 2)]

    def kind_of(self, text: str) -> str:
        """Name the likeliest kind; what was never seen counts half."""

        def surprise(kind: str) -> float:
            counts, total = self.counts[kind], self.totals[kind]
            return -sum(math.log((counts[r] or 0.5) / total) for r in self.runs(text))

        return min(self.counts, key=surprise)


class KindTask:
    """Write help, code, number words or dates, as the first token says.

    The control has the same token at the head of every text.
    """

    def __init__(self, preset: Preset, control: bool):
        """Cut each kind into windows under its code, and create the model."""
        texts, self.preset = kinds_of_text(), preset
        known = {kind: text[: len(text) * 9 // 10] for kind, text in texts.items()}
        signs = {kind: "<any>" if control else f"<{kind}>" for kind in texts}
        self.vocabulary = Vocabulary.of([*texts.values(), signs.values()])
        self.codes = {
            kind: self.vocabulary.symbols.index(sign) for kind, sign in signs.items()
        }
        self.windows = [
            coded_windows(
                self.vocabulary.batch([text])[0], self.codes[kind], preset.length + 1
            )
            for kind, text in known.items()
        ]
        self.judge = Judge(known)
        config = ctrl(
            vocab_size=len(self.vocabulary),
            max_len=preset.length + 1,
            end_id=-1,
            **preset.sizes,
        )
        self.model = begin(config)

    def batch(self, generator: torch.Generator) -> Batch:
        """Draw windows, of every kind as many: one tensor (batch, length + 1)."""
        each = self.preset.batch // len(self.windows)
        rows = [
            windows[torch.randint(len(windows), (each,), generator=generator)]
            for windows in self.windows
        ]
        return (torch.cat(rows),)

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        """Compare each prediction with the character that comes next."""
        return following(model, batch)

    def write(self, model: nn.Module, kind: str, count: int, seed: int = 0) -> list:
        """Let the model write ``count`` texts under a code."""
        device = next(model.parameters()).device
        prompt = torch.full((count, 1), self.codes[kind], device=device)
        generator = torch.Generator(device).manual_seed(seed)
        choose = lambda logits: sample(with_temperature(logits, 0.8), generator)
        written = generate(model, prompt, self.preset.length, choose)
        return ["".join(self.vocabulary.words(row)) for row in written]

    def measure(self, model: nn.Module) -> float:
        """Give the share of written texts that are of the kind that was asked for."""
        right = [
            self.judge.kind_of(text) == kind
            for kind in self.codes
            for text in self.write(model, kind, 32)
        ]
        return sum(right) / len(right)

    def samples(self, model: nn.Module) -> list[tuple[str, str]]:
        """Let the model write one text of each kind."""
        return [(kind, self.write(model, kind, 1)[0]) for kind in self.codes]


class ShotsTask:
    """Say numbers in the language of the examples that stand above the question.

    In the control the examples are in any languages, so that they tell nothing.
    """

    SHOTS, NUMBERS = 4, 30
    LANGUAGES = ("en", "de", "da", "no", "es", "pt", "fr", "ko")

    def __init__(self, preset: Preset, control: bool):
        """Collect the words, and create the model."""
        self.preset, self.control = preset, control
        self.said = {
            language: [" ".join(number_in_words(n, language)) for n in self.numbers]
            for language in self.LANGUAGES
        }
        words = [text.split() for said in self.said.values() for text in said]
        figures = [str(n) for n in self.numbers]
        self.vocabulary = Vocabulary.of([*words, figures, ["=>", "\n"]])
        config = gpt3(
            vocab_size=len(self.vocabulary),
            max_len=preset.length,
            windows=(0, 8),
            **preset.sizes,
        )
        self.model = begin(config)

    @property
    def numbers(self) -> range:
        """Give the numbers that are asked for."""
        return range(self.NUMBERS)

    def prompt(self, draw: random.Random, shots: int, later: int = 0) -> tuple:
        """Draw a prompt and its answer; ``later`` asks for a number further on."""
        numbers = draw.sample(self.numbers, shots + 1)
        language = draw.choice(self.LANGUAGES)
        spoken = [language] * (shots + 1)
        if self.control:
            spoken = [draw.choice(self.LANGUAGES) for _ in numbers]
        pairs = [
            (str(n), self.said[spoken[i]][(n + later) % self.NUMBERS])
            for i, n in enumerate(numbers)
        ]
        return few_shot_prompt(pairs[:-1], pairs[-1][0]), pairs[-1][1]

    def cut(self, text: str) -> list[str]:
        """Cut a text into words, figures, arrows and ends of lines."""
        return re.findall(r"\n|\S+", text)

    def batch(self, generator: torch.Generator) -> Batch:
        """Draw prompts with their answers: one tensor (batch, longest)."""
        draw = random.Random(int(torch.randint(2**31, (), generator=generator)))
        drawn = [self.prompt(draw, self.SHOTS) for _ in range(self.preset.batch)]
        texts = [self.cut(f"{prompt} {answer}\n") for prompt, answer in drawn]
        return (self.vocabulary.batch(texts),)

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        """Compare each prediction with the token that comes next."""
        return following(model, batch)

    @torch.no_grad()
    def accuracy(self, model: nn.Module, shots: int, later: int = 0) -> float:
        """Give the share of 200 prompts whose whole answer is the likeliest one.

        The likeliest tokens one by one are what greedy choice would write.
        """
        draw, device = random.Random(shots), next(model.parameters()).device
        drawn = [self.prompt(draw, shots, later) for _ in range(200)]
        texts = [self.cut(f"{prompt} {answer}\n") for prompt, answer in drawn]
        ids = self.vocabulary.batch(texts).to(device)
        best = model(ids[:, :-1]).argmax(dim=-1)
        right = 0
        for row, (text, (_, answer)) in enumerate(zip(texts, drawn, strict=True)):
            last, count = len(text), len(self.cut(answer)) + 1
            expected = ids[row, last - count : last]
            right += torch.equal(best[row, last - count - 1 : last - 1], expected)
        return right / len(texts)

    def measure(self, model: nn.Module) -> float:
        """Give the share of right answers with four examples."""
        return self.accuracy(model, self.SHOTS)

    def samples(self, model: nn.Module) -> list[tuple[str, str]]:
        """Tell how often it is right with 0 to 4 examples, and in a new task."""
        told = [
            (f"{shots} examples", f"{self.accuracy(model, shots):.2f} right")
            for shots in range(self.SHOTS + 1)
        ]
        new = self.accuracy(model, self.SHOTS, later=1)
        return [*told, ("a new task: the next number", f"{new:.2f} right")]


SMALL = Preset(steps=700, batch=16, rate=2e-3, length=64)
KINDS = Preset(steps=500, batch=16, rate=2e-3, length=64)
SHOTS = Preset(steps=700, batch=24, rate=2e-3, num_layers=2, length=64)
LARGE = Preset(
    steps=5000,
    batch=128,
    rate=1e-3,
    warmup=200,
    d_model=512,
    num_layers=8,
    num_heads=8,
    length=256,
    bfloat16=True,
    compiled=True,
)

RECIPES = {
    "gpt": Recipe(
        title="GPT: the next character of Python's help",
        metric="bits per character",
        band=(2.6, 3.1),
        control="every layer sees one character only",
        control_band=(3.6, 4.2),
        new_task=lambda preset, control: text_task(gpt, preset, control),
        presets={"cpu": SMALL, "gpu": LARGE},
    ),
    "gpt2": Recipe(
        title="GPT-2: the next character of Python's help, the norm first",
        metric="bits per character",
        band=(2.5, 3.05),
        control="every layer sees one character only",
        control_band=(3.6, 4.2),
        new_task=lambda preset, control: text_task(gpt2, preset, control),
        presets={"cpu": SMALL, "gpu": LARGE},
    ),
    "ctrl": Recipe(
        title="CTRL: four kinds of text, by the first token",
        metric="share of texts of the kind asked for",
        band=(0.9, 1.0),
        control="the same code at the head of every text",
        control_band=(0.15, 0.35),
        new_task=KindTask,
        presets={"cpu": KINDS, "gpu": LARGE},
    ),
    "gpt3": Recipe(
        title="GPT-3: a language told by examples in the prompt",
        metric="share of right answers with 4 examples",
        band=(0.9, 1.0),
        control="examples in any language",
        control_band=(0.1, 0.4),
        new_task=ShotsTask,
        presets={"cpu": SHOTS, "gpu": LARGE},
    ),
}
