"""Try answers against the checks of an exercise, in this process.

Used for answers that the course itself holds: the reference, the misconceptions and
the alternatives. What a student hands in never runs here.
"""

import contextlib
import functools
import io
import json
import sys
import warnings
from pathlib import Path

import torch

from autograder.exercise import BEGIN_HIDDEN, END_HIDDEN, Exercise, without_region
from autograder.results import write_whole
from exercises import checks
from exercises.answers import Answer

KEPT = Path(__file__).parent.parent / "_build" / "fingerprints"
TRIES = 7  # of an answer in which chance plays a part
sys.modules.setdefault("checks", checks)  # the name it has beside a notebook
torch.set_num_threads(1)  # tensors are tiny here: a second thread would only wait


def try_answers(
    exercise: Exercise, answers: list[Answer] = (), hidden=True, only: str = ""
) -> dict:
    """Run the checks on the reference, with some pieces replaced by given answers.

    ``hidden=False`` leaves out the hidden tests, as in the learner's notebook;
    ``only`` runs a single check. Returns the result of each check by name: whether
    it passed, and every property.
    """
    replaced = {answer.piece: answer.source for answer in answers}
    namespace = {"__name__": "answer"}
    exec(imports(exercise), namespace)
    checks.REPORTED.clear()
    torch.set_grad_enabled(True)  # an answer before may have left it off
    for cell in exercise.written.cells:
        if only and cell.metadata.get("check", only) != only:
            continue
        text = _code(cell, exercise, replaced, hidden)
        quiet = contextlib.redirect_stdout(io.StringIO())
        with quiet, warnings.catch_warnings(), contextlib.suppress(checks.CheckFailed):
            warnings.simplefilter("ignore")  # wrong answers give many
            exec(text, namespace)
    return dict(checks.REPORTED)


def _code(cell, exercise: Exercise, replaced: dict[str, str], hidden: bool) -> str:
    """Give the code of one cell of ``exercise.md`` as its role asks."""
    meta = cell.metadata
    if "given" in meta:
        return exercise.given[meta["given"]]
    if "asks" in meta:
        return replaced.get(meta["asks"], exercise.pieces[meta["asks"]])
    if "answer" in meta:
        return replaced.get(meta["answer"], cell.source)
    if "check" in meta and not hidden:
        return without_region(cell.source, BEGIN_HIDDEN, END_HIDDEN)
    return cell.source if "check" in meta else ""


COMMON = """\
import math
import torch
import torch.nn.functional as F
from torch import Tensor, nn, tensor
""".splitlines()

CHECKS = """
from checks import Check, chosen, devices, filled, finite, gradient, learns, numbers
from checks import one_of, raises, same, set_weights, unchanged, with_embedding
from checks import with_fields, with_sublayer

LN2 = math.log(2)"""


def imports(exercise: Exercise) -> str:
    """Give the imports that an exercise starts with: common ones, its reference's."""
    own = [
        line
        for line in exercise.imports
        if line not in COMMON and not line.startswith("from torch import")
    ]
    return "\n".join([*COMMON, *own, CHECKS])


def fingerprints(exercise: Exercise, hidden: bool) -> dict[str, list[dict]]:
    """Say how each known mistake fails its check: numbers, and a sentence.

    ``hidden=False`` gives what is shipped with the release: only mistakes that the
    visible properties can tell.
    """
    known: dict[str, list[dict]] = {}
    failures = all_failures(exercise)
    for answer in exercise.misconceptions:
        failed = failures[answer.id]
        fails = {name: out for name, (out, hides) in failed.items() if hidden >= hides}
        if fails:
            facts = {
                "id": answer.id,
                "sentence": answer.sentence,
                "chapter": exercise.facts["chapter"],
                "section": answer.section,
            }
            known.setdefault(answer.check, []).append(facts | {"fails": fails})
    return known


@functools.cache
def all_failures(exercise: Exercise) -> dict[str, dict[str, tuple[dict, bool]]]:
    """Give how each wrong answer of an exercise fails, by its id.

    In a checkout that is kept in ``_build``, under the sum of all it depends on.
    """
    kept = (
        KEPT / f"{exercise.name}-{exercise.digest[:20]}-torch{torch.__version__}.json"
    )
    if kept.exists():
        return json.loads(kept.read_text(encoding="utf-8"))
    found = {a.id: _failures(exercise, a) for a in exercise.misconceptions}
    if KEPT.parent.parent.joinpath("_config.yml").exists():
        write_whole(kept, json.dumps(found))
    return found


def _failures(exercise: Exercise, answer: Answer) -> dict[str, tuple[dict, bool]]:
    """Give the outcome of every failing property of an answer's check, by label.

    With each stands whether it is hidden. The answer is tried twice, and more often if
    that shows that chance plays a part: of such an outcome only what stays is kept.
    """
    kept = _outcomes(exercise, answer, 1)
    for seed in range(2, TRIES + 1):
        now = _outcomes(exercise, answer, seed)
        kept = {
            label: (_stable(out, now.get(label, ({}, hides))[0]), hides)
            for label, (out, hides) in kept.items()
        }
        if not any(out.get("random") for out, _ in kept.values()):
            break
    return kept


def _outcomes(exercise: Exercise, answer: Answer, seed: int) -> dict:
    """Try an answer with a seed; give its failing properties as above."""
    torch.manual_seed(seed)
    result = try_answers(exercise, [answer], only=answer.check)[answer.check]
    failed = [p for p in result["properties"] if not p["passed"]]
    return {p["label"]: (p["outcome"], p["hidden"]) for p in failed}


def _stable(first: dict, second: dict) -> dict:
    if first == second:
        return first
    return {k: v for k, v in first.items() if second.get(k) == v} | {"random": True}
