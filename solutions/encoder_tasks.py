"""What the encoder models of chapter 11 are trained for, small enough for two cores.

All of them read numbers in words. A hidden word can be guessed from what stands around
it, and every guess can be checked.
"""

import random
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from solutions.data import Vocabulary, filled, number_in_words, numbers_apart
from solutions.decoders import calm_start
from solutions.encoders import (
    choose_tokens,
    direction_loss,
    every_second_layer,
    imitation_loss,
    mask_tokens,
    pack_pair,
    sentence_pairs,
    translation_pair,
)
from solutions.families import bert, distilbert, roberta, xlm
from solutions.models import Model, ModelConfig, SentenceHead
from solutions.runs import Batch, Preset, Recipe, mean_loss
from solutions.training import Training

MASK = "<mask>"
LANGUAGES = ("digits", "en", "ko")
SPOKEN = LANGUAGES[1:]
#: The numbers below are what is read.
HUNDREDS, PAIRS, THOUSANDS = 1000, 3000, 10_000
Rows = dict[str, Tensor]


def said(number: int, language: str) -> tuple[str, ...]:
    """Say a number in a language, or in digits."""
    if language == "digits":
        return tuple(str(number))
    return number_in_words(number, language)


def spelled(number: int, language: str) -> tuple[str, ...]:
    """Say the four digits of a number one by one."""
    return tuple(s for digit in f"{number:04d}" for s in said(int(digit), language))


def vocabulary_of(largest: int, languages: tuple[str, ...]) -> Vocabulary:
    """Collect the symbols of the numbers below ``largest``, and the mask."""
    sentences = [said(n, language) for language in languages for n in range(largest)]
    return Vocabulary.of([(MASK,), *sentences])


def split(largest: int, seed: int = 0) -> tuple[list[int], list[int]]:
    """Shuffle the numbers below ``largest``; one of ten is held out."""
    return numbers_apart(largest, largest // 10, seed)


def packed_pairs(
    vocabulary: Vocabulary, numbers: list[int], *, strangers: bool
) -> Rows:
    """Pack pairs: a number in English and in Korean, or by even chance two numbers.

    A document is one number, spelled in both languages. Without ``strangers`` only the
    pairs that belong together are kept.
    """
    documents = [
        [vocabulary.batch([spelled(n, language)])[0].tolist() for language in SPOKEN]
        for n in numbers
    ]
    found = sentence_pairs(documents, torch.Generator().manual_seed(0))
    kept = [pair for pair in found if strangers or pair[2]]
    packed = [pack_pair(first, second, 1, 2) for first, second, _ in kept]
    tokens, types = (torch.tensor([row[i] for row in packed]) for i in range(2))
    follows = torch.tensor([int(follows) for *_, follows in kept])
    return {"tokens": tokens, "types": types, "follows": follows}


def said_twice(
    vocabulary: Vocabulary, largest: int, seed: int, *, strangers: bool = False
) -> tuple[Rows, Rows]:
    """Put numbers side by side in two of three languages, one of ten held out.

    With ``strangers`` the second is another number, and explains nothing.
    """
    chance, tables = random.Random(seed), []
    for part in split(largest, seed):
        rows = []
        for number in part:
            other = chance.choice(part) if strangers else number
            pair = chance.sample(range(len(LANGUAGES)), 2)
            sides = [
                vocabulary.batch([said(n, LANGUAGES[language])])[0].tolist()
                for n, language in zip((number, other), pair, strict=True)
            ]
            rows.append(translation_pair(*sides, tuple(pair), end_id=2))
        names = ("tokens", "places", "languages")
        tables.append(
            {name: filled([row[i] for row in rows]) for i, name in enumerate(names)}
        )
    return tables[0], tables[1]


class MaskedTask:
    """Guess hidden words; the metric is the share of right guesses in new rows.

    ``known`` and ``held_out`` hold tables (rows, seq): "tokens", and what else the
    model is told. With ``fixed`` the same words are hidden in every epoch.
    """

    def __init__(
        self,
        preset: Preset,
        model: nn.Module,
        vocabulary: Vocabulary,
        known: Rows,
        held_out: Rows,
        *,
        fixed: bool = False,
    ):
        """Hide the words of the held-out rows once for all."""
        self.preset, self.model, self.vocabulary = preset, model, vocabulary
        self.known, self.mask_id = known, vocabulary.symbols.index(MASK)
        self.names = tuple(known)
        body = model.model if isinstance(model, WithSentenceHead) else model
        calm_start(body, torch.Generator().manual_seed(torch.initial_seed()))
        self.fixed = self.hide(known, torch.Generator().manual_seed(1)) if fixed else ()
        asked = {name: table[:300] for name, table in held_out.items()}
        hidden = self.hide(asked, torch.Generator().manual_seed(2))
        self.asked = (*hidden, *asked.values())

    def hide(self, rows: Rows, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Choose words, and hide them: what is read, and where is asked."""
        tokens, size = rows["tokens"], len(self.vocabulary)
        special = torch.tensor([0, 1, 2, self.mask_id])
        chosen = choose_tokens(tokens, special, 0.15, generator)
        return mask_tokens(tokens, chosen, self.mask_id, size, generator), chosen

    def batch(self, generator: torch.Generator) -> Batch:
        """Draw rows: what is read, where is asked, and the tables as they are."""
        count = len(self.known["tokens"])
        drawn = torch.randint(count, (self.preset.batch,), generator=generator)
        rows = {name: table[drawn] for name, table in self.known.items()}
        if self.fixed:
            return (*(table[drawn] for table in self.fixed), *rows.values())
        return (*self.hide(rows, generator), *rows.values())

    def read(self, model: nn.Module, batch: Batch):
        """Give what the model says, where it was asked, and the tables by name."""
        hidden, chosen, *tables = batch
        rows = dict(zip(self.names, tables, strict=True))
        told = {k: t for k, t in rows.items() if k not in ("tokens", "follows")}
        return model(hidden, real=rows["tokens"] != 0, **told), chosen, rows

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        """Compare the guesses with what is hidden."""
        logits, chosen, rows = self.read(model, batch)
        asked = logits[chosen], rows["tokens"][chosen]
        return F.cross_entropy(*asked, reduction="sum"), chosen.sum()

    def measure(self, model: nn.Module) -> float:
        """Give the share of hidden words that are guessed."""
        device = next(model.parameters()).device
        batch = tuple(table.to(device) for table in self.asked)
        logits, chosen, rows = self.read(model, batch)
        right = self.guessed(logits) == rows["tokens"]
        return right[chosen].float().mean().item()

    def guessed(self, logits) -> Tensor:
        """Give the most likely token of every place."""
        return logits.argmax(dim=-1)

    def samples(self, model: nn.Module) -> list[tuple[str, str]]:
        """Show three rows with holes, and how the model fills them."""
        device = next(model.parameters()).device
        batch = tuple(table[:3].to(device) for table in self.asked)
        logits, chosen, _ = self.read(model, batch)
        filled_in = torch.where(chosen, self.guessed(logits), batch[0])
        return [
            tuple(" ".join(self.symbols(row)) for row in pair)
            for pair in zip(batch[0], filled_in, strict=True)
        ]

    def symbols(self, row: Tensor) -> list[str]:
        """Give the symbols of a row, without filling."""
        return [self.vocabulary.symbols[i] for i in row.tolist() if i]


class SurpriseTask(MaskedTask):
    """Guess hidden words; the metric is the loss at the hidden words of new rows."""

    def measure(self, model: nn.Module) -> float:
        """Give the loss in nats."""
        device = next(model.parameters()).device
        total, count = self.loss(model, tuple(t.to(device) for t in self.asked))
        return (total / count).item()


class WithSentenceHead(nn.Module):
    """A model that also says whether the second sentence follows the first."""

    def __init__(self, config: ModelConfig):
        """Create the model, and a head on its first token."""
        super().__init__()
        self.model, self.sentence = Model(config), SentenceHead(config.d_model, 2)

    def forward(self, tokens, **more) -> tuple[Tensor, Tensor]:
        """Give the logits of every token, and the two scores of every row."""
        x = self.model.states(tokens, **more)[-1]
        return self.model.head(x), self.sentence(x)


class BertTask(MaskedTask):
    """Guess hidden words, and whether the second sentence follows the first."""

    def read(self, model: nn.Module, batch: Batch):
        """Keep the scores of the pairs beside."""
        (logits, scores), chosen, rows = super().read(model, batch)
        self.scores = scores
        return logits, chosen, rows

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        """Add both losses, each an average, with equal weight."""
        total, count = super().loss(model, batch)
        follows = dict(zip(self.names, batch[2:], strict=True))["follows"]
        pairs = F.cross_entropy(self.scores, follows, reduction="sum")
        return torch.stack([total, pairs]), count.new_tensor([count, len(follows)])


class StudentTask(MaskedTask):
    """Learn from a teacher, trained first; ``model`` begins with its layers."""

    def __init__(self, preset: Preset, config: ModelConfig, *args, alone: bool):
        """Train the teacher, and halve it. A student that is alone has no teacher."""
        super().__init__(preset, Model(config), *args)
        self.teacher = None
        if not alone:
            deep = ModelConfig(**vars(config) | {"num_layers": 2 * config.num_layers})
            self.teacher = self.taught(Model(deep))
            self.model.load_state_dict(every_second_layer(self.teacher.state_dict()))

    def taught(self, teacher: Model) -> Model:
        """Train a teacher four times as long as its student."""
        longer = replace(self.preset, steps=4 * self.preset.steps)
        training = Training(teacher, longer.rate_at)
        generator = torch.Generator().manual_seed(torch.initial_seed())
        calm_start(teacher, generator)
        for _ in range(longer.steps):
            training.step(mean_loss(*super().loss(teacher, self.batch(generator))))
        return teacher.eval().requires_grad_(False)

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        """Add what is hidden, what the teacher thinks of it, and where it points."""
        total, count = super().loss(model, batch)
        if self.teacher is None:
            return total, count
        self.teacher.to(batch[0].device)
        hidden, chosen, tokens = batch
        real = tokens != 0
        with torch.no_grad():
            theirs = self.teacher.states(hidden, real)[-1]
        mine = model.states(hidden, real)[-1]
        soft = (model.head(mine)[chosen], self.teacher.head(theirs)[chosen])
        if count:
            total = total + count * imitation_loss(*soft, 2.0)
        ways = real.sum() * direction_loss(mine[real], theirs[real])
        return torch.stack([total, ways]), torch.stack([count, real.sum()])


def bert_task(preset: Preset, control: bool) -> BertTask:
    """Create the task; the control sees what stands to the left only."""
    vocabulary = vocabulary_of(10, SPOKEN)
    known, new = split(PAIRS)
    tables = [
        packed_pairs(vocabulary, known, strangers=True),
        packed_pairs(vocabulary, new, strangers=False),
    ]
    sizes = {"vocab_size": len(vocabulary), "max_len": preset.length}
    config = bert(**sizes, causal=control, **preset.sizes)
    return BertTask(preset, WithSentenceHead(config), vocabulary, *tables)


def roberta_task(preset: Preset, control: bool) -> SurpriseTask:
    """Create the task: few rows, read often; the control never changes its masks."""
    vocabulary = vocabulary_of(HUNDREDS, ("en",))
    known, new = split(HUNDREDS)
    tables = [
        {
            "tokens": vocabulary.batch(
                [said(number, "en") for number in part], begin=True, end=True
            )
        }
        for part in (known[:100], new)
    ]
    sizes = {"vocab_size": len(vocabulary), "max_len": preset.length + 1}
    config = roberta(**sizes, **preset.sizes, pad_id=0, begin_id=1)
    return SurpriseTask(preset, Model(config), vocabulary, *tables, fixed=control)


def distilbert_task(preset: Preset, control: bool) -> StudentTask:
    """Create the task; the control is a student without a teacher."""
    vocabulary = vocabulary_of(10, SPOKEN)
    tables = [
        {"tokens": packed_pairs(vocabulary, part, strangers=False)["tokens"]}
        for part in split(PAIRS)
    ]
    sizes = {"vocab_size": len(vocabulary), "max_len": preset.length}
    config = distilbert(**sizes, **preset.sizes)
    return StudentTask(preset, config, vocabulary, *tables, alone=control)


def xlm_task(preset: Preset, control: bool) -> MaskedTask:
    """Create the task; in the control the second number is another one."""
    vocabulary = vocabulary_of(THOUSANDS, LANGUAGES)
    known, held_out = said_twice(vocabulary, THOUSANDS, seed=0, strangers=control)
    config = xlm(
        vocab_size=len(vocabulary),
        max_len=preset.length,
        num_languages=len(LANGUAGES),
        pad_id=0,
        begin_id=2,
        end_id=2,
        **preset.sizes,
    )
    return MaskedTask(preset, Model(config), vocabulary, known, held_out)


SMALL = Preset(steps=800, batch=32, rate=1.2e-3, length=48)
PAIRED = Preset(
    steps=1200, batch=64, rate=3e-3, warmup=100, d_model=64, num_layers=2, length=16
)
LARGE = Preset(
    steps=4000,
    batch=256,
    rate=1e-3,
    d_model=256,
    num_layers=4,
    length=48,
    bfloat16=True,
    compiled=True,
)

RECIPES = {
    "bert": Recipe(
        title="BERT: hidden words of two sayings, and whether they belong together",
        metric="share of hidden words guessed",
        band=(0.8, 1.0),
        control="every token sees what stands to its left only",
        control_band=(0.35, 0.65),
        new_task=bert_task,
        presets={"cpu": PAIRED, "gpu": LARGE},
    ),
    "roberta": Recipe(
        title="RoBERTa: a hundred numbers in words, read again and again",
        metric="loss at the hidden words of new numbers",
        band=(1.25, 1.75),
        control="the same words are hidden each time",
        control_band=(3.0, 5.0),
        new_task=roberta_task,
        presets={
            "cpu": replace(SMALL, steps=300, rate=2e-3, d_model=64, num_layers=2),
            "gpu": replace(LARGE, steps=500, rate=2e-3, d_model=64, num_layers=2),
        },
    ),
    "distilbert": Recipe(
        title="DistilBERT: half of a teacher, taught by it",
        metric="share of hidden words guessed",
        band=(0.85, 1.0),
        control="a student alone, for as long",
        control_band=(0.1, 0.5),
        new_task=distilbert_task,
        presets={
            "cpu": replace(PAIRED, steps=60, rate=5e-3, warmup=10, num_layers=1),
            "gpu": replace(LARGE, steps=1000, num_layers=2),
        },
    ),
    "xlm": Recipe(
        title="XLM: hidden words of a number in two of three languages",
        metric="share of hidden words guessed",
        band=(0.7, 0.95),
        control="the second number is another one",
        control_band=(0.3, 0.6),
        new_task=xlm_task,
        presets={"cpu": SMALL, "gpu": LARGE},
    ),
}
