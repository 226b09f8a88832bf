"""What the decoder models of chapter 12 are trained for, small enough for two cores."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from solutions.data import Vocabulary, reference_text
from solutions.decoders import calm_start
from solutions.families import gpt, gpt2
from solutions.generation import generate, sample, with_temperature
from solutions.models import Model, ModelConfig
from solutions.runs import Batch, Preset, Recipe


class TextTask:
    """Predict the next character of Python's own help; the last tenth is held out."""

    def __init__(self, preset: Preset, config: ModelConfig, vocabulary: Vocabulary):
        """Cut the text in two, and create the model."""
        self.vocabulary, self.preset = vocabulary, preset
        ids = vocabulary.batch([reference_text()])[0]
        self.known, self.held_out = ids.tensor_split([len(ids) * 9 // 10])
        self.model = Model(config)
        calm_start(self.model, torch.Generator().manual_seed(torch.initial_seed()))

    def batch(self, generator: torch.Generator) -> Batch:
        """Draw windows of the text: one tensor (batch, length + 1)."""
        length, count = self.preset.length, self.preset.batch
        starts = torch.randint(
            len(self.known) - length, (count, 1), generator=generator
        )
        return (self.known[starts + torch.arange(length + 1)],)

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        """Compare each prediction with the character that comes next."""
        (ids,) = batch
        logits = model(ids[:, :-1])
        total = F.cross_entropy(
            logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="sum"
        )
        return total, torch.tensor(ids[:, 1:].numel(), device=ids.device)

    def measure(self, model: nn.Module) -> float:
        """Give the bits per character on 128 windows of the held-out text."""
        length = self.preset.length
        rows = self.held_out.unfold(0, length + 1, length)[:128]
        device = next(model.parameters()).device
        total, count = self.loss(model, (rows.to(device),))
        return (total / count / torch.log(torch.tensor(2.0))).item()

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


SMALL = Preset(steps=700, batch=16, rate=2e-3, length=64)
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
        band=(2.0, 2.7),
        control="every layer sees one character only",
        control_band=(3.0, 4.0),
        new_task=lambda preset, control: text_task(gpt, preset, control),
        presets={"cpu": SMALL, "gpu": LARGE},
    ),
    "gpt2": Recipe(
        title="GPT-2: the same, with the norm first",
        metric="bits per character",
        band=(2.0, 2.7),
        control="every layer sees one character only",
        control_band=(3.0, 4.0),
        new_task=lambda preset, control: text_task(gpt2, preset, control),
        presets={"cpu": SMALL, "gpu": LARGE},
    ),
}
