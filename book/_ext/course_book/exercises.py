"""The `{exercise-links}` directive: how a reader gets and opens a student notebook."""

import shutil
import zipfile
from pathlib import Path

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)

PUBLISHED = "_static/exercises"
TITLE = "Exercise: {topic}"
NOTEBOOK = "Download the notebook"
FOLDER = "Download the whole folder"
WAYS = (
    ("JupyterLab", ": run ", "jupyter lab {file}", " in the folder that holds it."),
    ("VS Code", ": open ", "{file}", " and pick the course’s Python as its kernel."),
    ("Colab", ": choose File, Upload notebook, and pick ", "{file}", ".{others}"),
)
OTHERS = " Then upload the folder’s other files in the Files pane."
MISSING = (
    "The student notebook of exercise '{name}' is missing: {path} does not exist. "
    "Run `course book`, which releases the exercises before it builds the book."
)


def released_notebook(root, name):
    """Return the path at which the release of an exercise lies."""
    topic = name.partition("-")[2] if name[:1].isdigit() else name
    return Path(root, "_build", "exercises", name, f"{topic}.ipynb")


def is_shown(path, folder):
    """Say whether a file belongs to what a learner gets."""
    names = path.relative_to(folder).parts
    return path.is_file() and not any(n.startswith((".", "__py")) for n in names)


def folder_files(notebook):
    """Return the files of a release in a fixed order, hidden ones left out."""
    folder = notebook.parent
    return sorted(path for path in folder.rglob("*") if is_shown(path, folder))


def readable_size(path):
    """Return a file's size in the unit a reader expects."""
    return f"{max(1, round(path.stat().st_size / 1000))} kB"


class ExerciseLinks(SphinxDirective):
    """Offer the notebook of an exercise, or fail the build when it is missing."""

    required_arguments = 1
    final_argument_whitespace = False

    def run(self):
        """Return the box, or nothing but a warning when there is no notebook."""
        name = self.arguments[0]
        notebook = released_notebook(Path(self.env.srcdir).parent, name)
        if not notebook.is_file():
            message = MISSING.format(name=name, path=notebook)
            logger.warning(message, location=self.get_location(), type="course")
            return []
        self.env.note_dependency(str(notebook))
        wanted = getattr(self.env, "course_exercises", {})
        self.env.course_exercises = {**wanted, self.env.docname: name}
        return [self.box(name, notebook)]

    def box(self, name, notebook):
        """Build the admonition with its links and the ways to open the notebook."""
        topic = notebook.stem
        box = nodes.admonition(classes=["exercise-links"])
        box += nodes.title("", TITLE.format(topic=topic))
        links = nodes.paragraph(classes=["exercise-downloads"])
        links += self.link(name, notebook.name, NOTEBOOK, readable_size(notebook))
        others = len(folder_files(notebook)) > 1
        if others:
            links += nodes.Text(" ")
            links += self.link(name, f"{name}.zip", FOLDER, "zip")
        box += links
        ways = nodes.bullet_list(classes=["exercise-ways"])
        words = {"file": notebook.name, "others": OTHERS if others else ""}
        ways += [self.way(way, words) for way in WAYS]
        box += ways
        return box

    def link(self, name, file, words, detail):
        """Build one download link."""
        to_root = "../" * self.env.docname.count("/")
        target = f"{to_root}{PUBLISHED}/{name}/{file}"
        return nodes.reference("", f"{words} ({detail})", refuri=target, internal=True)

    @staticmethod
    def way(parts, words):
        """Build one line on how to open the notebook."""
        tool, before, code, after = (part.format(**words) for part in parts)
        line = nodes.paragraph()
        line += [nodes.strong("", tool), nodes.Text(before)]
        line += [nodes.literal("", code), nodes.Text(after)]
        return nodes.list_item("", line)


def pack(notebook, target):
    """Write the folder of a release as a zip whose bytes depend on its files only."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in folder_files(notebook):
            inside = path.relative_to(notebook.parent.parent).as_posix()
            archive.writestr(zipfile.ZipInfo(inside), path.read_bytes())


def publish(app):
    """Copy every linked notebook, and its folder as a zip, into the built book."""
    for name in sorted(set(getattr(app.env, "course_exercises", {}).values())):
        notebook = released_notebook(Path(app.srcdir).parent, name)
        target = Path(app.outdir, PUBLISHED, name)
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(notebook, target / notebook.name)
        pack(notebook, target / f"{name}.zip")


def forget(app, env, docname):
    """Drop what a page asked for before the page is read again."""
    getattr(env, "course_exercises", {}).pop(docname, None)


def setup(app):
    """Register the directive."""
    app.add_directive("exercise-links", ExerciseLinks)
    app.connect("env-purge-doc", forget)
