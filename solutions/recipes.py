"""Every training of the course, by name: what ``course train`` can be asked for."""

from solutions import decoder_tasks, encoder_tasks, seq2seq_tasks
from solutions.runs import Recipe

RECIPES: dict[str, Recipe] = {
    **encoder_tasks.RECIPES,
    **decoder_tasks.RECIPES,
    **seq2seq_tasks.RECIPES,
}
