"""A class of ten thousand is graded in the memory that a class of fifty takes."""

import json
import subprocess
import sys
from pathlib import Path

from autograder.demo import enrolled, invent
from autograder.exercise import find_exercise

WARM_UP, FEW, MANY = 10, 50, 150
BYTES = 12_000  # for each more student: of a result, 16 kB on disk and 29 when held


def test_memory_grows_by_little_for_each_student(copy_class):
    script = Path(__file__).with_name("growth.py")
    counts = map(str, (WARM_UP, FEW, MANY))
    command = [sys.executable, script, copy_class().root, *counts]
    run = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert run.returncode == 0, run.stderr
    _, few, many = map(json.loads, run.stdout.splitlines())
    grown = {name: many[name]["held"] - few[name]["held"] for name in few}
    each = {name: bytes / (MANY - FEW) for name, bytes in grown.items()}
    print(f"peaks: {few}, {many}; bytes for each more student: {each}")
    assert max(each.values()) < BYTES


def test_a_class_of_any_size_has_every_kind_and_names_of_its_own():
    learners = invent(find_exercise("01-self-attention"))
    assert enrolled(learners, None) == learners
    assert enrolled(learners, 3) == learners[:3]
    large = enrolled(learners, 10_000)
    assert len({learner.id for learner in large}) == 10_000
    assert [learner.kind for learner in large[37:74]] == [x.kind for x in learners]
    assert large[37].answers is large[0].answers  # held once, however many there are
