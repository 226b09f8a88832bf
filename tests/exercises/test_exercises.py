"""The tests of the tests: every wrong answer is caught, every right one accepted."""

import re
from pathlib import Path

import pytest

from autograder.exercise import all_exercises, marked
from autograder.trial import fingerprints, try_answers
from exercises.answers import Answer, read_answers
from exercises.checks import lines_of
from exercises.mistakes import find_mistake

BOOK = Path(__file__).parents[2] / "book"
EXERCISES = {exercise.name: exercise for exercise in all_exercises()}


def cases(kind):
    """List (exercise name, answer) pairs with readable ids."""
    return [
        pytest.param(name, answer, id=f"{name}:{answer.id}")
        for name, exercise in EXERCISES.items()
        for answer in getattr(exercise, kind)
    ]


@pytest.fixture(scope="session", params=EXERCISES.values(), ids=EXERCISES)
def exercise(request):
    return request.param


class Known(dict):
    """How each known mistake of an exercise fails; found out when it is asked for."""

    def __missing__(self, key):
        name, hidden = key
        self[key] = fingerprints(EXERCISES[name], hidden)
        return self[key]


@pytest.fixture(scope="session")
def known():
    """How each known mistake fails: with hidden properties, and without."""
    return Known()


def points_of(exercise, results):
    """Add up the points of the checks that passed."""
    return sum(
        exercise.points[f"check-{name}"]
        for name, result in results.items()
        if result["passed"]
    )


def test_an_exercise_is_worth_100_points(exercise):
    assert sum(exercise.points.values()) == 100


def test_the_reference_passes_every_check(exercise):
    results = try_answers(exercise)
    written = sum(p for name, p in exercise.points.items() if "check-" not in name)
    assert points_of(exercise, results) == 100 - written


def test_the_untouched_notebook_gets_nothing(exercise):
    solution = re.compile("### BEGIN.*?### END SOLUTION", re.DOTALL)
    untouched = [
        Answer(name, name, solution.sub("raise NotImplementedError()", marked(source)))
        for name, source in exercise.pieces.items()
    ]
    answers = [
        c.metadata["answer"] for c in exercise.written.cells if "answer" in c.metadata
    ]
    untouched += [Answer(name, name, "") for name in answers]
    assert points_of(exercise, try_answers(exercise, untouched)) == 0


def test_there_are_enough_wrong_and_right_answers(exercise):
    assert len(exercise.misconceptions) >= 12
    assert len(exercise.alternatives) >= 6
    ids = [answer.id for answer in exercise.misconceptions]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(("name", "answer"), cases("misconceptions"))
def test_a_wrong_answer_is_caught_and_explained(name, answer, known):
    """And explained before handing in, but for letters and what hidden numbers tell."""
    result = try_answers(EXERCISES[name], [answer], only=answer.check)[answer.check]
    assert not result["passed"]
    mistake = find_mistake(result["properties"], known[name, True][answer.check])
    assert mistake is not None and mistake["id"] == answer.id
    visible = [p for p in result["properties"] if not p["hidden"]]
    if answer.seen == "graded" or answer.check.startswith("concept-"):
        assert all(p["passed"] for p in visible)
        return
    mistake = find_mistake(visible, known[name, False][answer.check])
    assert mistake is not None and mistake["sentence"] == answer.sentence


@pytest.mark.parametrize(("name", "answer"), cases("alternatives"))
def test_a_right_answer_written_differently_passes(name, answer):
    results = try_answers(EXERCISES[name], [answer])
    failing = {
        check: [p["label"] for p in result["properties"] if not p["passed"]]
        for check, result in results.items()
        if not result["passed"]
    }
    assert failing == {}


def test_every_explanation_names_a_section_of_the_chapter(exercise):
    page = (BOOK / f"{exercise.name}.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^#+ (.+)$", page, re.MULTILINE))
    assert {answer.section for answer in exercise.misconceptions} <= headings


def test_what_is_shipped_holds_numbers_and_sentences_only(exercise, known):
    """No source of a right or wrong answer is among the fingerprints."""
    shipped = repr(known[exercise.name, False])
    for answer in exercise.misconceptions:
        for line in answer.source.splitlines():
            if len(line.strip()) > 20:
                assert line.strip() not in shipped


def test_the_sample_in_the_book_is_what_a_check_says(known):
    exercise = EXERCISES["01-self-attention"]
    columns = exercise.misconceptions[0]
    result = try_answers(exercise, [columns], hidden=False, only="softmax")["softmax"]
    mistakes = known[exercise.name, False]["softmax"]
    result = result | {"mistake": find_mistake(result["properties"], mistakes)}
    said = "\n".join(lines_of(result))
    page = (BOOK / "how-to-work.md").read_text(encoding="utf-8")
    sample = page.split("~~~text\n")[1].split("~~~")[0].splitlines()
    assert len(sample) > 5
    for line in sample:
        assert line.rstrip(".").rstrip() in said


def test_a_broken_answers_file_is_refused_with_its_line(tmp_path):
    path = tmp_path / "misconceptions.py"
    path.write_text("x = 1\n\ndef softmax(scores):\n    return scores\n")
    with pytest.raises(ValueError, match="line 3: softmax has neither"):
        read_answers(path)
