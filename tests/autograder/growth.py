"""Grade a class that grows, with a stand-in for grading; print the peaks of memory.

``test_growth.py`` runs it in a process of its own: python growth.py CLASS FEW MANY
"""

import json
import re
import shutil
import sys
import tracemalloc
from datetime import datetime
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from uuid import uuid4

from crews import Threads
from nbgrader.api import Grade, Student, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import insert

from autograder import grade as grading
from autograder.classroom import Classroom
from autograder.feedback import write_feedback
from autograder.report import write_report
from autograder.results import Result, ResultStore

NAME = "01-self-attention"
TOLD = {"label": "holds", "hidden": False, "passed": False, "message": "no " * 300}
CELLS = {
    f"check-{n}": {
        "kind": "check",
        "points": 4,
        "passed": False,
        "properties": [TOLD, TOLD],
        "mistake": None,
    }
    for n in range(12)
}


def stand_in(root, assignment, student):
    """Keep a result as large as a real one, without grading."""
    result = Result(student, assignment, "", cells=CELLS)
    result.digest = grading.digest_of(Classroom.open(root), assignment, student)
    ResultStore(root, assignment).save(result)
    return result


def enrol(room, students):
    """Hand in something for each student, and put their grades into the gradebook."""
    for student in students:
        folder = room.root / "submitted" / student / NAME
        folder.mkdir(parents=True)
        (folder / "self-attention.ipynb").write_text("{}", encoding="utf-8")
    with room.gradebook() as gradebook:
        assignment = gradebook.find_assignment(NAME)
        (notebook,) = assignment.notebooks
        rows = {Student: [], SubmittedAssignment: [], SubmittedNotebook: [], Grade: []}
        for student in students:
            one, two = uuid4().hex, uuid4().hex
            rows[Student].append({"id": student})
            submission = {"id": one, "assignment_id": assignment.id}
            at = {"student_id": student, "timestamp": datetime(2027, 3, 1)}
            rows[SubmittedAssignment].append(submission | at)
            part = {"id": two, "notebook_id": notebook.id, "assignment_id": one}
            rows[SubmittedNotebook].append(part)
            rows[Grade] += [
                {"id": uuid4().hex, "notebook_id": two, "cell_id": c, "auto_score": 1}
                for c in [cell.id for cell in notebook.grade_cells]
            ]
        for kind, given in rows.items():
            gradebook.db.execute(insert(kind.__table__), given)
        gradebook.db.commit()


def peak() -> dict[str, int]:
    """Give the most bytes that Python held since the last call, and all so far."""
    _, held = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    status = Path("/proc/self/status").read_text(encoding="ascii")
    resident = re.search(r"VmHWM:\s*(\d+) kB", status)[1]
    return {"held": held, "resident": int(resident) * 1024}


def main(root: Path, *counts: int) -> None:
    """Let the class grow to each count; grade, report and give feedback each time."""
    tracemalloc.start()
    room = Classroom.open(root)
    shutil.rmtree(room.root / "submitted")
    grading.grade_alone = stand_in
    students = [f"student-{number:05d}" for number in range(max(counts))]
    for before, count in pairwise([0, *counts]):
        aside = get_context("fork").Process(
            target=enrol, args=(room, students[before:count])
        )
        aside.start()  # its memory is not what is measured
        aside.join()
        found = {}
        assert len(grading.grade(room, NAME, crew=Threads())) == count
        found["grade"] = peak()
        write_report(room, NAME)
        found["report"] = peak()
        assert len(write_feedback(room, NAME)) == count
        found["feedback"] = peak()
        print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
