# ruff: noqa: E501
"""Careless and hostile answers, each with the marks that honest tests would give.

An assignment of a teacher's own, with plain asserts, so that nothing here hangs on
the course's exercises. All are graded in one batch, two honest ones among them.
`course cases` prints the table.
"""

import json
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.boundary.execute import SplitExecute
from autograder.classroom import Classroom
from autograder.feedback import write_feedback
from autograder.grade import grade, grade_rows
from autograder.release import KERNEL, _nbgrader
from autograder.results import ResultStore

NAME = "ps1"
CANARY = "CANARY-WORD"
POINTS = {"test-square": 3, "test-double": 2, "test-partial": 4, "test-tensor": 3}
FULL = dict(POINTS)
SQUARE = "def square(x):\n    {}\n    return x * x"
RIGHT = {
    "square": "def square(x):\n    return x * x",
    "double": "def double(x):\n    return 2 * x",
    "triple": "import torch\ndef triple(t):\n    return 3 * t",
}


def lost(*names):
    """The marks of an answer that loses these tests, and no others."""
    return {name: 0 if name in names else most for name, most in POINTS.items()}


ALL_LOST = lost(*POINTS)
AFTER = lost("test-double", "test-partial", "test-tensor")

#: Each of these must be refused; libc falls back to what is left.
ESCAPES = """
import ctypes, os, platform, socket, threading
libc, there = ctypes.CDLL(None, use_errno=True), platform.machine() == "x86_64"
def gives(*numbers):
    result = libc.syscall(*map(ctypes.c_long, numbers))
    if result == 0 and numbers[0] in (56, 220): os._exit(0)  # the child of a clone
    return ctypes.get_errno() if result < 0 else 0
for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
    assert gives(56 if there else 220, flag | 17, 0, 0, 0, 0) == 1
    assert gives(272 if there else 97, flag) == 1
assert gives(435, 0, 0) == 38  # clone3
assert not there or gives(272 | 0x40000000, 0x10000000) == 1  # its second number
for family in (17, 38, 40):  # packets, the kernel's ciphers, the host of a machine
    try: socket.socket(family, socket.SOCK_STREAM)
    except PermissionError: continue
    raise RuntimeError(family)
thread = threading.Thread(target=int); thread.start(); thread.join()
assert os.system("true") == 0
"""

#: name: (cells that differ from the right ones, marks, what the reasons must say)
CASES = {
    "honest": ({}, FULL, ""),
    "untouched": (None, ALL_LOST, ""),
    "fails a hidden test": (
        {"square": "def square(x):\n    return x * abs(x)"}, lost("test-square"), "AssertionError"),
    "prints to stderr": (
        {"square": SQUARE.format("import sys; print('w', file=sys.stderr)")}, FULL, ""),
    "warns": ({"square": SQUARE.format("import warnings; warnings.warn('w')")}, FULL, ""),
    "default dtype": (
        {"square": RIGHT["square"] + "\nimport torch\ntorch.set_default_dtype(torch.float64)"},
        FULL, ""),
    "default device": (
        {"square": RIGHT["square"] + "\nimport torch\ntorch.set_default_device('meta')"},
        FULL, ""),
    "changes folder": ({"square": "import os\nos.chdir('/tmp')\n" + RIGHT["square"]}, FULL, ""),
    "seeds": ({"square": "import random\nrandom.seed(1)\n" + RIGHT["square"]}, FULL, ""),
    "plots": (
        {"square": "import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()\n" + RIGHT["square"]},
        FULL, ""),
    "pip": ({"square": "!pip install --retries 1 nothing-at-all\n" + RIGHT["square"]}, FULL, ""),
    "deletes a name": ({"double": RIGHT["double"] + "\ndel square"},
        lost("test-partial"), ""),
    "syntax error": ({"double": "def double(x)\n  return"}, lost("test-double"), ""),
    "exits": ({"double": "exit()"}, lost("test-double"), ""),
    "system exit": ({"double": "raise SystemExit"}, lost("test-double"), ""),
    "dies": ({"double": "import os\nos._exit(0)"}, AFTER, "process ended"),
    "kills itself": ({"double": "import os\nos.kill(os.getpid(), 9)"}, AFTER, "process ended"),
    "crashes": ({"double": "import ctypes\nctypes.string_at(0)"}, AFTER, "process ended"),
    "shares memory with its children": (
        {"double": "import os, time, torch\ndata = torch.ones(75_000_000)\nchildren = []\n"
         "for _ in range(20):\n    if (child := os.fork()) == 0:\n"
         "        time.sleep(1)\n        os._exit(0)\n    children.append(child)\n"
         "for child in children: os.waitpid(child, 0)\n" + RIGHT["double"]}, FULL, ""),
    "hides memory": (
        {"double": "import ctypes, errno\nlibc = ctypes.CDLL(None, use_errno=True)\n"
         "def refused(got): assert got < 0 and ctypes.get_errno() in (errno.EPERM, errno.EACCES)\n"
         "refused(libc.memfd_create(b'x', 0))\nrefused(libc.shmget(0, 1000, 0o1600))\n"
         + RIGHT["double"]}, FULL, ""),
    "answers with half a character": (
        {"double": "def double(x):\n    return '\\ud800'"}, lost("test-double"), ""),
    "counts its cells in words": (
        {"double": "k = get_ipython().kernel\n"
         "k.session.send(k.iopub_socket, 'execute_result', {'data': {'text/plain': 'a'}, 'metadata': {},"
         " 'execution_count': 'x'}, parent=k.get_parent())\n"
         "k.session.send(k.iopub_socket, 'execute_input', {'code': 1, 'execution_count': {'a': 1}},"
         " parent=k.get_parent())\n" + RIGHT["double"]}, FULL, ""),
    "sends in a test": (
        {"double": "import time\nk = get_ipython().kernel\ndef double(x):\n"
         "    for _ in range(8): k.iopub_socket.send_multipart([b't', b'x' * 50_000_000]); time.sleep(0.3)\n"
         "    return 2 * x"}, AFTER, ""),
    "answers with NumPy's numbers": (
        {"double": "import numpy\ndef double(x): return numpy.int64(2 * x)",
         "square": "from fractions import Fraction\ndef square(x): return Fraction(x) ** 2"}, FULL, ""),
    "keys of one hash": (
        {"double": "def double(x): return {i * (2**61 - 1) for i in range(3000)}"},
        lost("test-double"), ""),
    "dies in a call": (
        {"double": "import os\ndef double(x):\n    os._exit(1)"}, AFTER, "process ended"),
    "loops": ({"double": "while True: pass"}, AFTER, "CPU time"),
    "loops, deaf": (
        {"double": "while True:\n    try:\n        while True: pass\n    except BaseException: pass"},
        AFTER, "CPU time"),
    "loops in a call": ({"double": "def double(x):\n    while True: pass"}, AFTER, "CPU time"),
    "sleeps": ({"double": "import time\ntime.sleep(10_000)"}, AFTER, "longer than"),
    "fork bomb": (
        {"double": "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError: pass"},
        AFTER, ""),
    "eats memory": ({"double": "hog = []\nwhile True: hog.append(bytearray(50_000_000))"},
        AFTER, ""),
    "huge tensor": ({"double": "import torch\ntorch.ones(10**11)"}, lost("test-double"), ""),
    "fills the disk": (
        {"double": "f = open('x', 'wb')\nwhile True: f.write(b'x' * 10_000_000)"},
        lost("test-double"), ""),
    "fills the shared folder": (
        {"double": "import glob\nplace = glob.glob('/tmp/course-*/k-*')[0]\n"
         "f = open(place + '/x', 'wb')\nwhile True: f.write(b'x' * 1_000_000); f.flush()"},
        lost("test-double"), "Read-only"),
    "a file without a name": (
        {"double": "import glob, os\nplace = glob.glob('/tmp/course-*/k-*')[0]\n"
         "os.posix_fallocate(os.open(place, os.O_TMPFILE | os.O_RDWR), 0, 200_000_000)"},
        lost("test-double"), "Read-only"),
    "many sockets": (
        {"double": "import socket, time\nkept = [socket.socketpair() for _ in range(300)]\n"
         "time.sleep(5)"}, AFTER, "too many sockets"),
    "a message of many parts": (
        {"double": "part, iopub = b'x' * 50_000_000, get_ipython().kernel.iopub_thread.socket\n"
         "iopub.send_multipart([b't', *[part] * 30], copy=False)\nimport time; time.sleep(8)"},
        AFTER, ""),
    "shows much, each for a moment": (
        {"double": "from IPython.display import clear_output\nfor i in range(40):\n"
         "    clear_output(wait=True)\n    print('x' * 300_000)\nprint('the end')\n" + RIGHT["double"]},
        FULL, ""),
    "keys of many megabytes": (
        {"double": "for i in range(9):\n"
         "    display({'application/json': {'x' * 12_000_000 + str(i): 0}}, raw=True)"},
        AFTER, "printed more"),
    "one long line": ({"double": "print('x' * 20_000_000)\n" + RIGHT["double"]}, FULL, ""),
    "prints for ever": ({"double": "while True: print('x' * 100_000)"}, AFTER, ""),
    "equal to everything": (
        {"square": "class All:\n    def __eq__(self, o): return True\ndef square(x): return All()"},
        lost("test-square", "test-partial"), ""),
    "a tensor that says yes": (
        {"triple": "import torch\nclass Yes(torch.Tensor):\n"
         "    @classmethod\n    def __torch_function__(c, f, t, a=(), k=None):\n        return True\n"
         "def triple(t): return torch.zeros(2).as_subclass(Yes)"},
        lost("test-tensor"), ""),
    "patches torch": (
        {"triple": "import torch\ntorch.equal = torch.allclose = lambda *a, **k: True\n"
         "def triple(t): return torch.zeros(2)"}, lost("test-tensor"), ""),
    "patches builtins": (
        {"square": "import builtins\nbuiltins.sum = lambda *a: 4\nbuiltins.abs = lambda x: 0\n"
         "def square(x): return 0"}, lost("test-square", "test-partial"), ""),
    "patches the agent": (
        {"square": "import sys\nfor m in list(sys.modules):\n"
         "    if m.startswith('autograder'): sys.modules[m] = None\n"
         "def square(x): return 0"}, lost("test-square", "test-partial"), ""),
    "forges outputs": (
        {"square": "from IPython.display import display\n"
         "display({'application/vnd.transformer-course.check+json': {'check': 'x', 'passed': True,"
         " 'properties': [], 'mistake': None}}, raw=True)\ndef square(x): return 0"},
        lost("test-square", "test-partial"), ""),
    "forges a report": (
        {"square": "from IPython.display import display\n"
         "display({'application/vnd.transformer-course.check+json': 'abc'}, raw=True)\n"
         + RIGHT["square"]}, FULL, ""),
    "rewrites a verdict": (
        {"square": "from IPython.display import display\nhits = []\ndef square(x):\n"
         "    if len(hits) == 2: display(1, display_id='k')\n"
         "    hits.append(x)\n    return x * x if len(hits) < 3 else -1",
         "triple": "from IPython.display import update_display\n"
         "update_display({'text/plain': '4.0'}, display_id='k', raw=True)\n" + RIGHT["triple"]},
        lost("test-partial"), ""),
    "speaks nonsense": (
        {"double": "k = get_ipython().kernel\n"
         "k.session.send(k.iopub_socket, 'status', {}, parent=k.get_parent())\n" + RIGHT["double"]},
        None, ""),
    "odd display": (
        {"square": "from IPython.display import display\n"
         "display({'text/html': 5, 'text/plain': {'a': 1}}, raw=True)\n" + RIGHT["square"]}, FULL, ""),
    "unprintable error": (
        {"double": "def double(x): raise ValueError('\\ud800')"}, lost("test-double"), ""),
    "its own BaseException": (
        {"double": "class Odd(BaseException): pass\ndef double(x): raise Odd"},
        lost("test-double"), ""),
    "folders among the sockets": (
        {"double": "import glob, os, time\n"
         "os.makedirs(glob.glob('/tmp/course-*/k-*')[0] + '/a/b')\ntime.sleep(5)"},
        lost("test-double"), "Read-only"),
    "shared memory": (
        {"double": "import mmap, time\nm = mmap.mmap(-1, 2_500_000_000)\n"
         "for i in range(0, len(m), 4096): m[i] = 1\ntime.sleep(5)"}, AFTER, ""),
    "forges the wire": (
        {"square": "from autograder.boundary import agent\n"
         "agent.CHANNEL.sock.send(b'\\0' * 4000)\ndef square(x): return 0"},
        ALL_LOST, ""),
    "answers too much": (
        {"square": "def square(x): return 'x' * 50_000_000"},
        lost("test-square", "test-partial"), ""),
    "deep answer": (
        {"square": "def square(x):\n    v = []\n    for _ in range(500): v = [v]\n    return v"},
        lost("test-square", "test-partial"), ""),
    "reads the source": (
        {"square": "import os\nfound = [f for top in (ROOT, '/tmp', '/home', '/work', '/root', '/etc')"
         " for _, _, names in os.walk(top) for f in names if f in ('hw1.ipynb', 'shadow')]\n"
         "found += [n for n in ('/gradebook.db', '/source') if os.path.exists(ROOT + n)]\n"
         "def square(x): return x * x if found else 0"}, lost("test-square", "test-partial"), ""),
    "writes the gradebook": (
        {"square": "import sqlite3\nsqlite3.connect(ROOT + '/gradebook.db').execute("
         "'update grade set auto_score=99')\n" + RIGHT["square"]}, lost("test-square", "test-partial"), ""),
    "new namespaces": ({"square": ESCAPES + RIGHT["square"]}, FULL, ""),
    "odd tracebacks": (
        {"double": "class Odd(Exception):\n    def _render_traceback_(self): return 5\nraise Odd"},
        lost("test-double"), ""),
    "exits after each cell": (
        {"double": "def leave(): raise SystemExit\n"
         "get_ipython().events.register('post_execute', leave)\n" + RIGHT["double"]}, FULL, ""),
    "closes the wire": (
        {"double": "from autograder.boundary import agent\nimport os\n"
         "kept = os.dup(agent.CHANNEL.sock.fileno())\nagent.CHANNEL.sock.close()\n" + RIGHT["double"]},
        AFTER, ""),
    "calls home": (
        {"square": "import socket\nsocket.create_connection(('127.0.0.1', 22), 2)\n" + RIGHT["square"]},
        lost("test-square", "test-partial"), ""),
    "looks for hidden tests": (
        {"square": "import gc, linecache\n"
         "seen = [o for o in gc.get_objects() if isinstance(o, str) and 'CANARY' in o and 'seen' not in o]\n"
         "seen += [l for c in linecache.cache.values() for l in c[2] if 'CANARY' in str(l) and 'seen' not in l]\n"
         "def square(x): return x * x if seen else 0"}, lost("test-square", "test-partial"), ""),
    "kills others": ({"square": "import os, signal\ntry: os.kill(-1, 9)\nexcept OSError: pass\n" + RIGHT["square"]},
        None, ""),
    "leaves a process": (
        {"square": "import subprocess\nsubprocess.Popen('sleep 4321', shell=True, start_new_session=True)\n"
         + RIGHT["square"]}, FULL, ""),
    "pickle bomb": (
        {"square": "import os\nclass Bomb:\n    def __reduce__(self): return (os.system, ('touch /tmp/bomb',))\n"
         "def square(x): return Bomb()"}, lost("test-square", "test-partial"), ""),
    "honest, last": ({}, FULL, ""),
}  # fmt: skip


def source():
    """The instructor's notebook."""
    hidden = f"### BEGIN HIDDEN TESTS\nassert square(-4) == 16, '{CANARY}'\n### END HIDDEN TESTS"

    def solved(name):
        head, body = RIGHT[name].rsplit("\n", 1)
        text = f"{head}\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"
        return _nbgrader(new_code_cell(text), name, solution=True)

    def test(name, text):
        return _nbgrader(new_code_cell(text), name, points=POINTS[name])

    cells = [
        _nbgrader(new_markdown_cell("Solve these."), "intro", locked=True),
        solved("square"),
        test("test-square", f"assert square(3) == 9\n{hidden}"),
        solved("double"),
        test("test-double", "assert double(4) == 8"),
        _nbgrader(new_markdown_cell("Half way."), "note", locked=True),
        test("test-partial", "sum(square(i) == i * i for i in range(1, 5))"),
        solved("triple"),
        test(
            "test-tensor",
            "import torch\nassert torch.equal(triple(torch.ones(2)), 3 * torch.ones(2))",
        ),
        _nbgrader(new_markdown_cell("Because."), "why", solution=True, points=1),
    ]
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL})


def case(name):
    """Make a row of the table that `course cases` prints."""
    _, marks, reason = CASES[name]
    right = "graded"
    if marks is not None:
        right = f"{sum(marks.values())} of {sum(POINTS.values())} points"
    right += f", told “{reason}”" if reason else ""
    slug = name.replace(",", "").replace(" ", "-")
    return pytest.param(name, id=slug, marks=pytest.mark.case(slug, name, right))


@cache
def template():
    """Make a class with the assignment, once; it is kept while tests run."""
    kept = tempfile.TemporaryDirectory()
    room = Classroom.create(kept.name)
    config = room.root / "nbgrader_config.py"
    limits = "c.SplitExecute.cell_cpu_seconds = 2.0\nc.SplitExecute.cell_wall_seconds = 12.0\n"
    limits += "c.SplitExecute.memory_bytes = 1_500_000_000\n"
    config.write_text(config.read_text() + limits)
    folder = room.root / "source" / NAME
    folder.mkdir()
    nbformat.write(source(), folder / "hw1.ipynb")
    told = room.api().generate_assignment(NAME, force=True, create=True)
    assert told["success"], told["log"]
    return kept, room.root


def new_class(folder):
    """Copy the class with the assignment; give it and the released notebook."""
    _, root = template()
    shutil.copytree(root, folder, dirs_exist_ok=True)
    released = nbformat.read(folder / "release" / NAME / "hw1.ipynb", 4)
    return Classroom.open(folder), released


def answered(released, answers):
    """Give a copy of the released notebook with some of its cells filled in."""
    notebook = nbformat.from_dict(json.loads(json.dumps(released)))
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = answers.get(name, cell.source)
    return notebook


def hand_in(room, student, notebook):
    """Write a notebook into ``submitted``; give its folder."""
    folder = room.root / "submitted" / student / NAME
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / "hw1.ipynb")
    return folder


def graded_class(room):
    """Grade a class and write its feedback; give it, the rows and the results."""
    grade(room, NAME, workers=2)
    rows = {row["student"]: row for row in grade_rows(room, NAME)}
    results = {r.student: r for r in ResultStore(room.root, NAME).all()}
    write_feedback(room, NAME)
    return room, rows, results


def asked_for(request, table):
    """Name the cases that are run now, and the two honest ones around them."""
    params = [getattr(i, "callspec", None) for i in request.session.items]
    named = [p.params.get("name") for p in params if p]
    chosen = {name for name in named if isinstance(name, str)}
    edges = (next(iter(table)), next(reversed(table)))
    return [name for name in table if name in {*chosen, *edges}]


@pytest.fixture(scope="module")
def graded(tmp_path_factory, request):
    """Grade all cases in one batch; give the class, the rows and the results."""
    room, released = new_class(tmp_path_factory.mktemp("attacks"))
    for name in asked_for(request, CASES):
        changed = CASES[name][0]
        answers = {} if changed is None else RIGHT | changed
        for cell, text in answers.items():
            if "ROOT" in text:
                answers[cell] = f"ROOT = {str(room.root)!r}\n{text}"
        hand_in(room, student_of(name), answered(released, answers))
    return graded_class(room)


def student_of(name):
    return f"s{list(CASES).index(name):02d}"


@pytest.mark.parametrize("name", map(case, CASES))
def test_marks(graded, name):
    _, rows, results = graded
    _, marks, reason = CASES[name]
    student = student_of(name)
    assert results[student].status != "failed", results[student].why
    if marks is not None:
        assert {test: rows[student][test] for test in POINTS} == marks
    told = json.dumps([c.get("error", "") for c in results[student].cells.values()])
    assert reason in told
    honest = {student_of(name) for name in ("honest", "honest, last")}
    assert {float(rows[student]["score"]) for student in honest} == {12}


@pytest.mark.case("S9", "an answer that fails a hidden test", "no page quotes the test")
@pytest.mark.parametrize("name", ["fails a hidden test"])
def test_nobody_is_told_a_hidden_test(graded, name):
    room, rows, _ = graded
    pages = list((room.root / "feedback").rglob("*.html"))
    assert len(pages) == len(rows) > 1
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "square(-4)" not in text
        student = page.parts[-3]
        own = (room.root / "submitted" / student / NAME / "hw1.ipynb").read_text()
        assert CANARY not in text or CANARY in own


@pytest.mark.parametrize("name", ["loops, deaf"])
def test_a_stopped_answer_costs_about_one_limit(graded, name):
    _, _, results = graded
    assert results[student_of(name)].seconds < 40


@pytest.mark.parametrize("name", ["shows much, each for a moment"])
def test_what_is_shown_at_last_is_kept(graded, name):
    room, _, _ = graded
    path = room.root / "autograded" / student_of(name) / NAME / "hw1.ipynb"
    cells = nbformat.read(path, 4).cells
    assert "the end" in json.dumps([cell.get("outputs") for cell in cells])


def test_output_has_room_in_a_cell_and_in_a_notebook():
    execute = SplitExecute(output_bytes=10, notebook_output_bytes=15)
    execute.kept = execute.kept_in_all = 0
    assert [execute._has_room(size) for size in (8, 4, 2)] == [True, False, True]
    execute.kept = 0  # the next cell
    assert [execute._has_room(size) for size in (6, 5)] == [False, True]


def command_lines():
    """Give the arguments of every process that runs now."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it ended meanwhile
            yield path.read_bytes().decode(errors="replace").split("\0")


def test_nothing_is_left_behind(graded):
    assert not Path("/tmp/bomb").exists()
    # A whole argument: a browser's command line is full of long random numbers.
    assert [line for line in command_lines() if "4321" in line] == []


def test_the_grade_files_are_whole(graded):
    room, rows, _ = graded
    handed_in = list((room.root / "submitted").iterdir())
    lines = (room.root / f"status-{NAME}.jsonl").read_text().splitlines()
    assert len(rows) == len(lines) == len(handed_in)
    assert all(float(row["score"]) <= 12 for row in rows.values())
