"""An exercise as it is written: one MyST notebook and its wrong and right answers."""

import ast
import hashlib
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import jupytext
from nbformat import NotebookNode

import exercises
import solutions
from autograder.errors import CourseError
from exercises.answers import Answer, read_answers

MAKERS = ("exercise", "leaks", "release", "trial")  # what a release depends on
EXERCISES = Path(exercises.__file__).parent
SOLUTIONS = Path(solutions.__file__).parent

BEGIN_SOLUTION, END_SOLUTION = "### BEGIN SOLUTION", "### END SOLUTION"
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"

#: What a cell of ``exercise.md`` may be; each names its grade id.
ROLES = ("setup", "given", "asks", "check", "answer", "written")


@dataclass(frozen=True)
class Exercise:
    """One exercise, read from its folder."""

    folder: Path

    @property
    def name(self) -> str:
        """The name of the assignment, such as ``01-self-attention``."""
        return self.folder.name

    @cached_property
    def written(self) -> NotebookNode:
        """The notebook as the author wrote it."""
        return jupytext.read(self.folder / "exercise.md")

    @cached_property
    def facts(self) -> dict:
        """The ``course`` block of the front matter: notebook, title, minutes ..."""
        return dict(self.written.metadata["course"])

    @property
    def notebook(self) -> str:
        """The name of the learner's notebook, without its ending."""
        return self.facts["notebook"]

    @cached_property
    def pieces(self) -> dict[str, str]:
        """The source of each piece that is asked for, with its docstring, by name."""
        return self._of_reference("asks")

    @cached_property
    def given(self) -> dict[str, str]:
        """The source of each part of the reference that the notebook hands over."""
        return self._of_reference("given")

    def _of_reference(self, role: str) -> dict[str, str]:
        """Read what the cells of one role name, from the reference."""
        found = {}
        for path in self.references:
            found |= _definitions(path)
        names = [c.metadata[role] for c in self.written.cells if role in c.metadata]
        for name in names:
            if name not in found:
                files = ", ".join(path.name for path in self.references)
                raise CourseError(
                    f"{self.name}: exercise.md asks for {name}, and "
                    f"{files} does not define it. "
                    f"Expected one of: {', '.join(found)}."
                )
        return {name: found[name] for name in names}

    @cached_property
    def references(self) -> list[Path]:
        """The modules of ``solutions`` that this exercise asks for again.

        Most have one; ``reference`` in the front matter may name several, with spaces.
        """
        return [SOLUTIONS / f"{name}.py" for name in self.facts["reference"].split()]

    def module_of(self, piece: str) -> str:
        """Name the module of ``solutions`` that defines a piece."""
        return next(p.stem for p in self.references if piece in _definitions(p))

    @cached_property
    def imports(self) -> list[str]:
        """The import statements of the reference, which its pieces need."""
        nodes = [node for path in self.references for node in _imports(path)]
        return list(dict.fromkeys(map(ast.unparse, nodes)))

    @cached_property
    def earlier(self) -> list[Path]:
        """The modules that the reference builds on, each after those it needs."""
        needed = [path for own in self.references for path in _needed_by(own)]
        return [p for p in dict.fromkeys(needed) if p not in self.references]

    @cached_property
    def packages(self) -> list[str]:
        """The packages beyond PyTorch that the reference and what it needs import."""
        modules = [*self.earlier, *self.references]
        names = {_package(node) for path in modules for node in _imports(path)}
        return sorted(names - {"torch", "solutions"} - sys.stdlib_module_names)

    @cached_property
    def points(self) -> dict[str, float]:
        """The points of each graded cell, by grade id, in order."""
        return {
            grade_id(cell): float(cell.metadata["points"])
            for cell in self.written.cells
            if "points" in cell.metadata
        }

    @cached_property
    def titles(self) -> dict[str, str]:
        """The heading under which each graded cell stands, by grade id."""
        titles, heading = {}, self.facts["title"]
        for cell in self.written.cells:
            if cell.cell_type == "markdown":
                headings = re.findall(r"^## (?:\d+ · )?(.+)$", cell.source, re.M)
                heading = headings[-1] if headings else heading
            if "points" in cell.metadata:
                titles[grade_id(cell)] = heading
        return titles

    @cached_property
    def digest(self) -> str:
        """The sum of all that a release of this exercise depends on."""
        total = hashlib.sha256()
        sources = [*self.folder.iterdir(), *EXERCISES.glob("*.py")]
        sources += [*self.earlier, *self.references]
        sources += [Path(__file__).with_name(f"{name}.py") for name in MAKERS]
        for path in sorted(path for path in sources if path.is_file()):
            total.update(path.read_bytes())
        return total.hexdigest()

    @cached_property
    def misconceptions(self) -> list[Answer]:
        """The wrong answers that learners give."""
        return read_answers(self.folder / "misconceptions.py")

    @cached_property
    def alternatives(self) -> list[Answer]:
        """Right answers that are written differently."""
        return read_answers(self.folder / "alternatives.py")


def all_exercises() -> list[Exercise]:
    """List every exercise of the course, in the order of the chapters."""
    return [Exercise(path.parent) for path in sorted(EXERCISES.glob("*/exercise.md"))]


def find_exercise(name: str) -> Exercise:
    """Find an exercise by its name, or raise CourseError listing what there is."""
    for exercise in all_exercises():
        if exercise.name == name:
            return exercise
    known = ", ".join(exercise.name for exercise in all_exercises())
    raise CourseError(
        f"There is no exercise called {name!r}. Expected one of: {known}."
    )


def grade_id(cell: NotebookNode) -> str:
    """Give the grade id of a cell of ``exercise.md``, or an empty string."""
    for role in ROLES:
        if role in cell.metadata and role != "setup":
            prefix = "check-" if role == "check" else ""
            return prefix + str(cell.metadata[role])
    return ""


def without_region(text: str, begin: str, end: str) -> str:
    """Cut every region between two marker lines out of a text, markers included."""
    kept, inside = [], False
    for line in text.split("\n"):
        inside = inside or line.strip() == begin
        if not inside:
            kept.append(line)
        inside = inside and line.strip() != end
    return "\n".join(kept)


def _definitions(module: Path) -> dict[str, str]:
    """Read the source of every top-level function, class and constant of a module."""
    text = module.read_text(encoding="utf-8")
    lines = text.splitlines()
    found = {}
    for node in ast.parse(text).body:
        source = "\n".join(lines[first_line(node) - 1 : node.end_lineno])
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = source
        elif isinstance(node, ast.Assign):
            found |= {t.id: source for t in node.targets if isinstance(t, ast.Name)}
    return found


def first_line(node: ast.stmt) -> int:
    """Give the number of a statement's first line, its decorators included."""
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _imports(module: Path) -> list[ast.Import | ast.ImportFrom]:
    """List the top-level import statements of a module."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    return [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]


def _package(node: ast.Import | ast.ImportFrom) -> str:
    """Name the package that a statement imports from."""
    name = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
    return name.split(".")[0]


def _needed_by(module: Path) -> list[Path]:
    """List the modules of ``solutions`` that a module needs, itself as the last."""
    found = []
    for node in _imports(module):
        if isinstance(node, ast.ImportFrom) and _package(node) == "solutions":
            for path in _needed_by(SOLUTIONS / f"{node.module.split('.')[1]}.py"):
                found += [path] if path not in found else []
    return [*found, module]


def marked(source: str) -> str:
    """Wrap the bodies of a piece in solution markers; keep signatures and docstrings.

    In a class, every method's body is wrapped.
    """
    lines = source.splitlines()
    for body in reversed(_bodies(ast.parse(source).body[0])):
        first, last = body[0].lineno, body[-1].end_lineno
        indent = " " * body[0].col_offset
        inner = lines[first - 1 : last]
        lines[first - 1 : last] = [
            indent + BEGIN_SOLUTION,
            *inner,
            indent + END_SOLUTION,
        ]
    return "\n".join(lines)


def _bodies(node: ast.FunctionDef | ast.ClassDef) -> list[list[ast.stmt]]:
    """List the statements to hide: a function's body after its docstring."""
    if isinstance(node, ast.ClassDef):
        methods = [n for n in node.body if isinstance(n, ast.FunctionDef)]
        return [body for method in methods for body in _bodies(method)]
    has_docstring = ast.get_docstring(node) is not None
    return [node.body[1:] if has_docstring else node.body]
