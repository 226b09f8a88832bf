"""What the models of chapter 14 are trained for, small enough for two cores.

T5 does several tasks that are told apart by their prefix, BART mends texts that were
spoilt in five ways, M2M-100 translates among five languages in every direction, and
BigBird finds an answer somewhere in a document of 4,096 tokens.
"""

from collections import Counter
from itertools import permutations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from solutions.block_sparse import bigbird_blocks
from solutions.data import (
    END,
    PAD,
    Vocabulary,
    filled,
    number_in_words,
    numbers_apart,
    reference_text,
)
from solutions.denoising import (
    delete_some,
    draw_infilling,
    draw_spans,
    infill,
    mask_some,
    permute_sentences,
    put_back,
    rotate_document,
    shift_right,
    span_corruption,
    with_languages,
)
from solutions.families import bart, bigbird, m2m100, t5
from solutions.generation import generate
from solutions.models import Model, ModelConfig, Stack
from solutions.runs import Batch, Preset, Recipe

Words = tuple[str, ...]
Pair = tuple[list[int], list[int]]

MASK = "<mask>"
SENTINELS = tuple(f"<{i}>" for i in range(12))
LANGUAGES = ("en", "ko", "ja", "fr", "es")
IGNORED = -100


def in_three_ways(number: int) -> list[Words]:
    """Write a number as digits, in English and in Korean: a document of three lines."""
    said = [tuple(str(number)), *(number_in_words(number, x) for x in ("en", "ko"))]
    return [(*line, ".") for line in said]


class PairTask:
    """Read a text and write another: what all tasks but BigBird's share.

    A task gives ``draw(number, generator)``, which makes a pair of texts as ids, both
    with their end, and ``questions``, pairs about numbers that were not learnt from.
    """

    forced = False  # whether the first token that is to be written is given

    def __init__(self, preset: Preset, config: ModelConfig, vocabulary: Vocabulary):
        """Create the model; ``preset.length`` says how many digits a number has."""
        self.preset, self.vocabulary = preset, vocabulary
        self.ids = {symbol: i for i, symbol in enumerate(vocabulary.symbols)}
        self.end_id = self.ids[END]
        largest = 10**preset.length
        self.known, self.held_out = numbers_apart(largest, max(20, largest // 20))
        self.found: dict[str, float] = {}  # by the last measurement
        self.model = Model(config)
        even_start(self.model)

    def ids_of(self, words) -> list[int]:
        """Turn symbols into ids."""
        return [self.ids[word] for word in words]

    def batch(self, generator: torch.Generator) -> Batch:
        """Draw numbers and what is asked of them: sources, and targets with -100."""
        chosen = torch.randint(
            len(self.known), (self.preset.batch,), generator=generator
        )
        pairs = [self.draw(self.known[i], generator) for i in chosen.tolist()]
        return filled([s for s, _ in pairs], 0), filled([t for _, t in pairs], IGNORED)

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        """Compare each token that is written with the one that should have been."""
        source, target = batch
        config = self.model.config
        before = shift_right(target, config.begin_id, config.pad_id)
        logits = model(source, before, real=source != config.pad_id)
        total = F.cross_entropy(
            logits.flatten(0, 1),
            target.flatten(),
            ignore_index=IGNORED,
            reduction="sum",
        )
        return total, (target != IGNORED).sum()

    def answers(self, model: nn.Module, pairs: list[Pair]) -> list[list[int]]:
        """Let the model write the second of each pair, up to its end."""
        device = next(model.parameters()).device
        source = filled([s for s, _ in pairs], 0).to(device)
        first = torch.tensor([t[0] for _, t in pairs], device=device)

        def force(logits: Tensor, written: Tensor) -> Tensor:
            if not self.forced or written.shape[1] > 1:
                return logits
            only = torch.full_like(logits, -torch.inf)
            return only.scatter(-1, first[:, None], 0.0)

        room = max(len(t) for _, t in pairs) + 2
        written = generate(model, source, room, real=source != 0, change=force)
        texts = []
        for row in written.tolist():
            ends = row.index(self.end_id) if self.end_id in row else len(row)
            texts.append(row[:ends])
        return texts

    def shares(self, model: nn.Module) -> dict[str, float]:
        """Give the share of held-out texts without a mistake, by what was asked."""
        found = {}
        for name, pairs in self.questions().items():
            written = self.answers(model, pairs)
            right = [
                self.fits(pair, mine) for pair, mine in zip(pairs, written, strict=True)
            ]
            found[name] = sum(right) / len(right)
        return found

    def fits(self, pair: Pair, written: list[int]) -> bool:
        """Tell whether what was written is right, to the last token."""
        return [*written, self.end_id] == pair[1]

    def measure(self, model: nn.Module) -> float:
        """Give the average share of all that was learnt."""
        shares = self.found = self.shares(model)
        learnt = [share for name, share in shares.items() if "(" not in name]
        return sum(learnt) / len(learnt)

    def samples(self, model: nn.Module) -> list[tuple[str, str]]:
        """Give the share for each question, and an answer to read."""
        shares, samples = self.found or self.shares(model), []
        for name, pairs in self.questions().items():
            (written,) = self.answers(model, pairs[:1])
            texts = (self.read(ids) for ids in (pairs[0][0], written))
            samples.append((f"{name}: {shares[name]:.2f}", " → ".join(texts)))
        return samples

    def read(self, ids: list[int]) -> str:
        """Turn ids into a text."""
        symbols = (self.vocabulary.symbols[i] for i in ids if i != self.end_id)
        return " ".join(s for s in symbols if s != PAD)


def even_start(model: Model) -> None:
    """Draw all tables of vectors alike: large ones for T5, small ones for the others.

    Otherwise positions would outshout the tokens that they are added to.
    """
    std = 1.0 if model.config.scale_logits else 0.02
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=std)


def vocabulary_of(preset: Preset, *more: str, languages=("en", "ko")) -> Vocabulary:
    """Collect the symbols of the numbers in some languages, and others."""
    numbers = range(10**preset.length)
    texts = [number_in_words(n, code) for code in languages for n in numbers]
    return Vocabulary.of([*texts, *"0123456789", ".", more])


# --- T5 -----------------------------------------------------------------------------

PREFIXES = {
    "Korean": ("translate", "English", "to", "Korean", ":"),
    "digits": ("translate", "English", "to", "digits", ":"),
    "parity": ("is", "this", "even", "or", "odd", "?"),
    "spans": ("fill", "the", "spans", ":"),
}
MORE = (*SENTINELS, *(word for prefix in PREFIXES.values() for word in prefix))


class PrefixTask(PairTask):
    """Four tasks in one model; the control is not told which one is asked for."""

    def __init__(self, preset: Preset, control: bool):
        """Collect the words, and create a small T5."""
        self.control = control
        vocabulary = vocabulary_of(preset, *MORE, "even", "odd")
        sizes = {**preset.sizes, "decoder_layers": preset.num_layers, "end_id": 2}
        super().__init__(preset, t5(vocab_size=len(vocabulary), **sizes), vocabulary)

    def pair(self, task: str, number: int, generator: torch.Generator) -> Pair:
        """Ask one of the four tasks about a number."""
        prefix = () if self.control else PREFIXES[task]
        source = self.ids_of(number_in_words(number, "en"))
        if task == "spans":
            text = self.ids_of(sum(in_three_ways(number), ()))
            spans = draw_spans(len(text), 0.15, 3.0, generator)
            source, target = span_corruption(text, spans, self.ids_of(SENTINELS))
        elif task == "Korean":
            target = self.ids_of(number_in_words(number, "ko"))
        elif task == "digits":
            target = self.ids_of(str(number))
        else:
            target = self.ids_of(["odd" if number % 2 else "even"])
        return [*self.ids_of(prefix), *source, self.end_id], [*target, self.end_id]

    def draw(self, number: int, generator: torch.Generator) -> Pair:
        """Draw one of the tasks."""
        which = torch.randint(len(PREFIXES), (1,), generator=generator).item()
        return self.pair(list(PREFIXES)[which], number, generator)

    def questions(self) -> dict[str, list[Pair]]:
        """Ask each task about 100 numbers."""
        generator, some = torch.Generator().manual_seed(0), self.held_out[:100]
        return {x: [self.pair(x, n, generator) for n in some] for x in PREFIXES}

    def fits(self, pair: Pair, written: list[int]) -> bool:
        """Put spans back into the text before it is compared."""
        names = self.ids_of(SENTINELS)
        if pair[1][0] not in names:
            return super().fits(pair, written)
        texts = (put_back(pair[0], answer, names) for answer in (written, pair[1][:-1]))
        return next(texts) == next(texts)


# --- BART ---------------------------------------------------------------------------

NOISES = ("masking", "deletion", "infilling", "permutation", "rotation")


class MendingTask(PairTask):
    """Write a document as it was; the control learns from documents not spoilt."""

    def __init__(self, preset: Preset, control: bool):
        """Collect the words, and create a small BART."""
        self.control = control
        vocabulary = vocabulary_of(preset, MASK)
        sizes = {**preset.sizes, "decoder_layers": preset.num_layers}
        ids = {"pad_id": 0, "begin_id": 2, "end_id": 2, "max_len": 64}
        config = bart(vocab_size=len(vocabulary), **sizes | ids)
        super().__init__(preset, config, vocabulary)

    def pair(self, noise: str, number: int, generator: torch.Generator) -> Pair:
        """Spoil a document in one way; it must be written as it was."""
        lines = [self.ids_of(line) for line in in_three_ways(number)]
        whole = permute_sentences(lines, [0, 1, 2])
        spoilt = self.spoil(noise, lines, whole, generator)
        return [*spoilt, self.end_id], [*whole, self.end_id]

    def spoil(self, noise, lines, whole, generator) -> list[int]:
        """Apply one of the five noises."""
        mask_id, length = self.ids[MASK], len(whole)
        chosen = (torch.rand(length, generator=generator) < 0.15).tolist()
        if noise == "masking":
            return mask_some(whole, chosen, mask_id)
        if noise == "deletion":
            return delete_some(whole, chosen)
        if noise == "infilling":
            return infill(whole, draw_infilling(length, 0.3, 3.0, generator), mask_id)
        if noise == "permutation":
            order = torch.randperm(len(lines), generator=generator).tolist()
            return permute_sentences(lines, order)
        if noise == "rotation":
            start = torch.randint(length, (1,), generator=generator).item()
            return rotate_document(whole, start)
        return whole

    def draw(self, number: int, generator: torch.Generator) -> Pair:
        """Draw one of the noises."""
        which = torch.randint(len(NOISES), (1,), generator=generator).item()
        return self.pair("" if self.control else NOISES[which], number, generator)

    def questions(self) -> dict[str, list[Pair]]:
        """Spoil 100 documents in each of the five ways."""
        generator, some = torch.Generator().manual_seed(0), self.held_out[:100]
        return {x: [self.pair(x, n, generator) for n in some] for x in NOISES}


# --- M2M-100 ------------------------------------------------------------------------

UNSEEN = ("ko", "fr")


class ManyToManyTask(PairTask):
    """Translate numbers among five languages, in 19 of the 20 directions.

    Korean to French is never learnt from. The control is not told which language is
    wanted.
    """

    forced = True

    def __init__(self, preset: Preset, control: bool):
        """Collect the words of five languages, and create a small M2M-100."""
        self.control = control
        self.names = {code: f"__{code}__" for code in LANGUAGES}
        names = (*self.names.values(), "__?__")
        vocabulary = vocabulary_of(preset, *names, languages=LANGUAGES)
        sizes = {**preset.sizes, "decoder_layers": preset.num_layers}
        ids = {"pad_id": 0, "begin_id": 2, "end_id": 2}
        config = m2m100(vocab_size=len(vocabulary), **sizes | ids)
        super().__init__(preset, config, vocabulary)
        self.directions = list(permutations(LANGUAGES, 2))
        self.learnt = [pair for pair in self.directions if pair != UNSEEN]

    def pair(self, source: str, target: str, number: int) -> Pair:
        """Ask for a translation."""
        sides = (self.ids_of(number_in_words(number, x)) for x in (source, target))
        wanted = "__?__" if self.control else self.names[target]
        names = self.ids[self.names[source]], self.ids[wanted]
        return with_languages(*sides, *names, self.end_id)

    def draw(self, number: int, generator: torch.Generator) -> Pair:
        """Draw one of the directions that are learnt from."""
        which = torch.randint(len(self.learnt), (1,), generator=generator).item()
        return self.pair(*self.learnt[which], number)

    def questions(self) -> dict[str, list[Pair]]:
        """Ask each direction about 50 numbers, the one that was not learnt from too."""
        some = self.held_out[:50]
        asked = {}
        for direction in self.directions:
            name = "→".join(direction) + " (not learnt)" * (direction == UNSEEN)
            asked[name] = [self.pair(*direction, number) for number in some]
        return asked


# --- BigBird ------------------------------------------------------------------------

ANSWERS = tuple(f"answer-{i}" for i in range(10))
LENGTHS = (256, 1024, 4096)
LONG = LENGTHS[-1]


class RandomBlocks(Stack):
    """A stack that draws its random blocks anew for each batch that it learns from."""

    def sparse_blocks(self, seq: int):
        """Draw blocks in training; otherwise do as the published models do."""
        if not self.training:
            return super().sparse_blocks(seq)
        generator = torch.default_generator
        sizes = seq // self.config.block, self.config.random_blocks
        return bigbird_blocks(*sizes, generator)


class LongTask:
    """Find what is said somewhere in a long text; the control reads its beginning only.

    A document is 4,096 words of Python's help; those that are learnt from may be
    shorter. One of ten answers stands at 64 places in it, all
    behind its first eighth, and must be written in the place of the first word. The
    control is a BERT: full attention, to the first eighth only.
    """

    copies = 64

    def __init__(self, preset: Preset, control: bool, full: bool = False):
        """Keep the most frequent words, and create a small BigBird."""
        self.preset, self.control = preset, control
        words = reference_text().split()
        common = [word for word, _ in Counter(words).most_common(1000)]
        symbols = (PAD, MASK, "<unknown>", *ANSWERS, *common)
        self.vocabulary = Vocabulary(symbols)
        ids = {symbol: i for i, symbol in enumerate(symbols)}
        text = torch.tensor([ids.get(word, 2) for word in words])
        self.known, self.held_out = text.tensor_split([len(text) * 4 // 5])
        full = full or control
        sparse = {"block": 0 if full else 16, "random_blocks": 3, "num_types": 0}
        config = bigbird(vocab_size=len(symbols), max_len=LONG, **preset.sizes | sparse)
        self.model = Model(config)
        if not full:
            sizes = config, self.model.tokens, config.num_layers
            self.model.stack = RandomBlocks(*sizes, causal=False, cross=False)
        even_start(self.model)

    def documents(self, text: Tensor, length: int, count: int, generator) -> Batch:
        """Draw documents of a text, and hide an answer in each of them."""
        eighth = length // 8
        starts = torch.randint(len(text) - length, (count, 1), generator=generator)
        tokens = text[starts + torch.arange(length)]
        answers = torch.randint(len(ANSWERS), (count,), generator=generator) + 3
        for row, answer in zip(tokens, answers, strict=True):
            places = eighth + torch.randperm(length - eighth, generator=generator)
            row[places[: self.copies]] = answer
        tokens[:, 0] = 1
        return (tokens[:, :eighth] if self.control else tokens), answers

    def batch(self, generator: torch.Generator) -> Batch:
        """Draw documents of one of three lengths: the shorter, the more."""
        which = torch.randint(len(LENGTHS), (1,), generator=generator).item()
        count = self.preset.batch * LONG // LENGTHS[which]
        return self.documents(self.known, LENGTHS[which], count, generator)

    def logits(self, model: nn.Module, tokens: Tensor) -> Tensor:
        """Score the ten answers in the place of the mask: (batch, 10)."""
        return model.head(model.states(tokens)[-1][:, 0])[:, 3 : 3 + len(ANSWERS)]

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        """Compare with the answer."""
        tokens, answers = batch
        total = F.cross_entropy(
            self.logits(model, tokens), answers - 3, reduction="sum"
        )
        return total, torch.tensor(len(answers), device=answers.device)

    def guesses(self, model: nn.Module) -> tuple[Tensor, Tensor]:
        """Give guesses and answers for 64 documents of 4,096 words."""
        device = next(model.parameters()).device
        generator = torch.Generator().manual_seed(0)
        tokens, answers = self.documents(self.held_out, LONG, 64, generator)
        scores = [self.logits(model, rows.to(device)).cpu() for rows in tokens.split(2)]
        return torch.cat(scores).argmax(-1) + 3, answers

    def measure(self, model: nn.Module) -> float:
        """Give the share of documents of 4,096 words whose answer is found."""
        guesses, answers = self.guesses(model)
        return (guesses == answers).float().mean().item()

    def samples(self, model: nn.Module) -> list[tuple[str, str]]:
        """Give three answers beside those that were hidden."""
        guesses, answers = self.guesses(model)
        names = self.vocabulary.symbols
        pairs = zip(answers[:3].tolist(), guesses[:3].tolist(), strict=True)
        return [(f"hidden: {names[a]}", f"found: {names[g]}") for a, g in pairs]


SMALL = {"num_layers": 2, "batch": 48, "warmup": 100, "length": 4}
LARGE = {
    "d_model": 512,
    "num_layers": 4,
    "num_heads": 8,
    "batch": 256,
    "length": 4,
    "warmup": 500,
    "bfloat16": True,
    "compiled": True,
}
TINY = {"d_model": 64, "num_layers": 2, "num_heads": 2, "batch": 1, "warmup": 30}

RECIPES = {
    "t5": Recipe(
        title="T5: four tasks, told apart by their prefix",
        metric="share without a mistake, over four tasks",
        band=(0.75, 1.0),
        control="no prefix says which task it is",
        control_band=(0.3, 0.6),  # one of three tasks, and the spans
        new_task=PrefixTask,
        presets={
            "cpu": Preset(steps=500, rate=1.5e-3, **SMALL | {"length": 3}),
            "gpu": Preset(steps=6000, rate=5e-4, **LARGE),
        },
    ),
    "bart": Recipe(
        title="BART: put right what was spoilt in five ways",
        metric="share of documents without a mistake, over five noises",
        band=(0.85, 1.0),
        control="nothing was spoilt in training",
        control_band=(0.1, 0.4),
        new_task=MendingTask,
        presets={
            "cpu": Preset(steps=500, rate=1e-3, **SMALL | {"batch": 32, "length": 3}),
            "gpu": Preset(steps=6000, rate=5e-4, **LARGE),
        },
    ),
    "m2m100": Recipe(
        title="M2M-100: numbers among five languages, in every direction",
        metric="share without a mistake, over 19 directions",
        band=(0.9, 1.0),
        control="no token says which language is wanted",
        control_band=(0.15, 0.35),  # one source, one answer: 1 direction in 4
        new_task=ManyToManyTask,
        presets={
            "cpu": Preset(steps=1000, rate=1.5e-3, **SMALL),
            "gpu": Preset(steps=6000, rate=5e-4, **LARGE),
        },
    ),
    "bigbird": Recipe(
        title="BigBird: an answer somewhere in 4,096 words",
        metric="share of documents whose answer is found",
        band=(0.85, 1.0),
        control="full attention, but to the first 512 words only",
        control_band=(0.0, 0.25),
        new_task=LongTask,
        presets={
            "cpu": Preset(steps=300, rate=1e-3, **TINY),
            "gpu": Preset(steps=3000, rate=3e-4, **LARGE | {"batch": 8}),
        },
    ),
}
