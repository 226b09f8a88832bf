"""The book's configuration and extension, tested without a browser."""

import hashlib
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
VENDORED = BOOK / "_vendor" / "mathjax"
sys.path.insert(0, str(BOOK / "_ext"))

from course_book import cache, docstrings, exercises, finish  # noqa: E402

PAGE = """
# A page

```{code-cell} ipython3
---
tags: [hide-input]
---
%matplotlib inline
from solutions import heads
heads.split()
```
"""


@pytest.fixture
def project(tmp_path):
    """Make a small project: three solution modules, one importing another."""
    files = {
        "solutions/__init__.py": "",
        "solutions/heads.py": "from .scores import score\n",
        "solutions/scores.py": "def score():\n    return 1\n",
        "solutions/unused.py": "x = 1\n",
        "book/visuals/__init__.py": "",
        "book/visuals/film.js": "let x = 1;\n",
        "requirements.txt": "torch==2.13.0\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def folder(project, page=PAGE):
    """Return the name of the page's cache folder."""
    return cache.cache_folder(project, "page", page).name


def test_vendored_files_are_the_listed_ones():
    lines = (VENDORED / "SHA256SUMS").read_text().splitlines()
    listed = {name: digest for digest, name in map(str.split, lines)}
    present = {
        path.relative_to(VENDORED).as_posix(): hashlib.sha256(
            path.read_bytes()
        ).hexdigest()
        for path in VENDORED.rglob("*")
        if path.is_file() and path.name != "SHA256SUMS"
    }
    assert present == listed


@pytest.mark.parametrize(
    "name", ["solutions/heads.py", "solutions/scores.py", "requirements.txt"]
)
def test_a_changed_dependency_changes_the_cache_folder(project, name):
    before = folder(project)
    (project / name).write_text("# changed\n")
    assert folder(project) != before


def test_a_module_the_page_does_not_import_keeps_the_cache_folder(project):
    before = folder(project)
    (project / "solutions/unused.py").write_text("x = 2\n")
    assert folder(project) == before


def test_visuals_count_only_for_pages_that_import_them(project):
    with_visuals = PAGE.replace("heads.split()", "from book.visuals import film")
    before = folder(project), folder(project, with_visuals)
    (project / "book/visuals/film.js").write_text("let x = 2;\n")
    after = folder(project), folder(project, with_visuals)
    assert (after[0] == before[0], after[1] == before[1]) == (True, False)


def test_a_page_that_does_not_parse_depends_on_every_module(project):
    strange = PAGE.replace("heads.split()", "x = !ls")
    before = folder(project, strange)
    (project / "solutions/unused.py").write_text("x = 2\n")
    assert folder(project, strange) != before


def test_the_cache_does_not_depend_on_the_working_folder(project, monkeypatch):
    before = cache.cache_folder(project, "page", PAGE)
    monkeypatch.chdir(project)
    assert cache.cache_folder(Path(), "page", PAGE) == before
    assert before.is_absolute()


def build_small_book(folder, page):
    """Build a book of one page with the course's extension; return the process."""
    book = folder / "book"
    book.mkdir()
    (book / "index.md").write_text(page)
    (book / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(BOOK / '_ext')!r})\n"
        "extensions = ['myst_parser', 'course_book.exercises']\n"
    )
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", "."]
    return subprocess.run(
        [*command, str(folder / "out")], cwd=book, capture_output=True, text=True
    )


def test_a_page_naming_a_missing_exercise_fails_the_build(tmp_path):
    page = "# Page\n\n```{exercise-links} 99-nothing\n```\n"
    result = build_small_book(tmp_path, page)
    assert result.returncode != 0
    assert "exercise '99-nothing' is missing" in result.stderr
    assert "course book" in result.stderr


def test_a_released_exercise_is_linked(tmp_path):
    release = tmp_path / "_build" / "exercises" / "01-heads"
    release.mkdir(parents=True)
    (release / "heads.ipynb").write_text("{}")
    page = "# Page\n\n```{exercise-links} 01-heads\n```\n"
    result = build_small_book(tmp_path, page)
    assert result.returncode == 0, result.stderr
    html = (tmp_path / "out" / "index.html").read_text()
    assert 'href="_static/exercises/01-heads/heads.ipynb"' in html


def test_the_packed_folder_leaves_hidden_files_out(tmp_path):
    notebook = tmp_path / "01-heads" / "heads.ipynb"
    (notebook.parent / ".ipynb_checkpoints").mkdir(parents=True)
    for name in ("heads.ipynb", "checks.py", ".ipynb_checkpoints/heads.ipynb"):
        (notebook.parent / name).write_text("x")
    target = tmp_path / "heads.zip"
    exercises.pack(notebook, target)
    shutil.unpack_archive(target, tmp_path / "unpacked")
    unpacked = (tmp_path / "unpacked").rglob("*")
    assert sorted(p.name for p in unpacked if p.is_file()) == [
        "checks.py",
        "heads.ipynb",
    ]


def load_conf():
    """Import `book/conf.py` as Sphinx would."""
    spec = importlib.util.spec_from_file_location("book_conf", BOOK / "conf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_plain_sphinx_refuses_a_key_it_does_not_know():
    conf = load_conf()
    with pytest.raises(ValueError, match="logo"):
        conf.sphinx_settings({**conf.CONFIG, "logo": "x.svg"})


def test_docstring_marks_become_fields():
    lines = ["Do it.", "", "Shapes: x (seq, d_k)", "-> y (seq,).", "Source: A (2017)."]
    assert docstrings.as_fields(lines) == [
        "Do it.",
        "",
        ":Shapes: x ``(seq, d_k)``",
        "  → y ``(seq,)``.",
        ":Source: A (2017).",
    ]


def test_repairs_can_run_twice():
    html = (
        '<a class="navbar-brand logo" href="x">T</a>'
        '<script src="_static/scripts/fontawesome.js?digest=1"></script>'
        '<button class="btn search-button" aria-label="Search">Search Ctrl K</button>'
    )
    once = finish.repair(html)
    assert once.count("<nav") == 1
    assert "fontawesome" not in once
    assert "aria-label" not in once.split("</nav>")[1]
    assert finish.repair(once) == once


def test_the_index_of_all_words_is_loaded_by_the_search_only():
    scripts = '<script src="searchindex.js"></script><p>'
    assert finish.repair(scripts) == "<p>"
    search = scripts + '<div id="search-results"></div>'
    assert finish.repair(search) == search
