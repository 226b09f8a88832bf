"""An execution cache per page whose name changes with what the page's code imports.

jupyter-cache compares code cells only: a page would keep its old outputs after a module
it imports has changed. So each page has a cache folder named after a hash of every
module of the project that the page imports, directly or through others, of all of
`book/visuals` when one of them lies there, of the figure style, `requirements.txt` and
the Python version.
"""

import ast
import hashlib
import re
import sys
from pathlib import Path

from .kernels import SETTINGS

CODE_CELL = re.compile(r"^(`{3,}|:{3,}){code-cell}.*?\n(.*?)^\1", re.M | re.S)
OPTIONS = re.compile(r"\A---\n.*?^---\n", re.M | re.S)
NOT_PYTHON = re.compile(r"^\s*[%!:].*$", re.M)


def page_code(text):
    """Return the Python code of a page's cells, magics and options left out."""
    cells = (OPTIONS.sub("", match[2]) for match in CODE_CELL.finditer(text))
    return NOT_PYTHON.sub("", "\n".join(cells))


def imported_names(code, package=""):
    """Return the dotted names that a piece of code imports."""
    names = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            above = parents[: len(parents) - node.level + 1] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            names.update({module, *(f"{module}.{alias.name}" for alias in node.names)})
    return names


def module_file(root, name):
    """Return the file of a module of the project, or None when it is not ours."""
    for folder in (Path(root), Path(root, "book")):
        path = folder.joinpath(*name.split("."))
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file
    return None


def with_parents(name):
    """Return a dotted name and the packages it lies in."""
    parts = name.split(".")
    return {".".join(parts[:count]) for count in range(1, len(parts) + 1)}


def imported_files(root, code):
    """Return the files of the project's modules that code imports, transitively."""
    found, waiting = set(), [(code, "")]
    while waiting:
        text, package = waiting.pop()
        for name in set().union(*map(with_parents, imported_names(text, package))):
            file = module_file(root, name)
            if file and file not in found:
                found.add(file)
                inside = name if file.name == "__init__.py" else name.rpartition(".")[0]
                waiting.append((file.read_text(encoding="utf-8"), inside))
    return found


def dependencies(root, text):
    """Return every file that can change the outputs of a page, in a fixed order."""
    root = Path(root).resolve()
    visuals = root / "book" / "visuals"
    try:
        files = imported_files(root, page_code(text))
    except SyntaxError:
        ours = (root / "solutions", visuals)
        files = {file for folder in ours for file in folder.rglob("*.py")}
    if any(visuals in file.parents for file in files):
        skipped = {"node_modules", "__pycache__"}
        files |= {file for file in visuals.rglob("*") if not skipped & set(file.parts)}
    files |= set(SETTINGS.iterdir()) | {root / "requirements.txt"}
    return sorted(file for file in files if file.is_file())


def cache_key(root, text):
    """Return a short hash of the dependencies of a page and of the Python version."""
    digest = hashlib.sha256(repr(sys.version_info[:3]).encode())
    for file in dependencies(root, text):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def cache_folder(root, docname, text):
    """Return the absolute folder of a page's execution cache."""
    name = f"{docname.replace('/', '-')}-{cache_key(root, text)}"
    return Path(root).resolve() / "_build" / "execution" / name


def choose_cache(app, docname, source):
    """Point MyST-NB at the cache of the page that is about to be read."""
    if not CODE_CELL.search(source[0]):
        return
    root = Path(app.srcdir).parent
    folder = cache_folder(root, docname, source[0])
    config = app.env.mystnb_config.copy(execution_cache_path=str(folder))
    app.env.mystnb_config = config
    if not hasattr(app.env, "course_cache_folders"):
        app.env.course_cache_folders = {}
    app.env.course_cache_folders[docname] = str(folder)


def outdated_pages(app, env, added, changed, removed):
    """Name the pages whose code must run again although their text is unchanged."""
    root = Path(app.srcdir).parent
    outdated = []
    for docname, folder in getattr(env, "course_cache_folders", {}).items():
        page = Path(env.doc2path(docname))
        if page.is_file() and folder != str(
            cache_folder(root, docname, page.read_text(encoding="utf-8"))
        ):
            outdated.append(docname)
    return outdated


def setup(app):
    """Choose the cache page by page."""
    app.connect("source-read", choose_cache)
    app.connect("env-get-outdated", outdated_pages)
