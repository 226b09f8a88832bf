"""Wrong and right answers to an exercise, read from plain Python files.

``misconceptions.py`` and ``alternatives.py`` hold answers as ordinary functions and
classes, several of the same name. They are read as text, never run from here.
"""

import ast
from dataclasses import dataclass, field
from pathlib import Path


def wrong(*, check: str, sentence: str, section: str, seen: str = "visible"):
    """Mark a wrong answer: the check that must catch it, and what to tell about it.

    ``seen="graded"`` says that only the hidden part of the check can tell it apart.
    """
    return lambda answer: answer


def right(why: str):
    """Mark a right answer that is written differently."""
    return lambda answer: answer


def wrong_choice(name: str, *, check: str, section: str, **sentences: str) -> None:
    """List the wrong letters of a concept question, each with its explanation."""


@dataclass(frozen=True)
class Answer:
    """One answer to one piece: its source, and what is known about it."""

    id: str
    piece: str
    source: str
    check: str = ""
    sentence: str = ""
    section: str = ""
    seen: str = "visible"
    why: str = field(default="")


def read_answers(path: Path) -> list[Answer]:
    """Read every answer of a file, in order.

    Raises ValueError with file and line when an entry cannot be read.
    """
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    constants = _constants(tree)
    answers: list[Answer] = []
    for node in tree.body:
        try:
            answers += _answers_of(node, text, constants, answers)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path}, line {node.lineno}: {error}") from error
    return answers


def _constants(tree: ast.Module) -> dict[str, str]:
    """Collect the module's named strings, such as section titles."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            found |= {target.id: node.value.value for target in node.targets}
    return found


def _answers_of(node, text: str, constants: dict, before: list) -> list[Answer]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        call = next((d for d in node.decorator_list if isinstance(d, ast.Call)), None)
        if call is None:
            raise ValueError(f"{node.name} has neither @wrong(...) nor @right(...)")
        lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
        facts = _arguments(call, constants)
        if call.func.id == "right":
            facts = {"why": facts[0]}
        number = 1 + sum(answer.piece == node.name for answer in before)
        identifier = f"{node.name}-{number}"
        return [Answer(identifier, node.name, "\n".join(lines), **facts)]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return _choices(_arguments(node.value, constants))
    return []


def _choices(facts: dict) -> list[Answer]:
    name, check, section = facts.pop(0), facts.pop("check"), facts.pop("section")
    return [
        Answer(f"{name}-{letter}", name, f'{name} = "{letter}"', check, text, section)
        for letter, text in facts.items()
    ]


def _arguments(call: ast.Call, constants: dict) -> dict:
    """Evaluate the arguments of a call that are literals or named strings."""
    pairs = [*enumerate(call.args), *((k.arg, k.value) for k in call.keywords)]
    return {
        key: constants[value.id]
        if isinstance(value, ast.Name)
        else ast.literal_eval(value)
        for key, value in pairs
    }
