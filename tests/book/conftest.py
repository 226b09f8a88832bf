"""What the book's tests share: the built book, a browser and a local server."""

import functools
import http.server
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NO_NPM = "npm is not on the PATH: without it axe-core cannot be fetched for this test."


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serve files without a line of log for each."""

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture(scope="session")
def root():
    """Return the folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def built_book():
    """Return the folder of the built book, building it when it is missing."""
    html = ROOT / "_build" / "html"
    if not (html / "index.html").is_file():
        subprocess.run(
            [sys.executable, "-m", "autograder.cli", "book"], cwd=ROOT, check=True
        )
    return html


@pytest.fixture(scope="session")
def server(built_book):
    """Serve the built book on this machine and return its address."""
    handler = functools.partial(QuietHandler, directory=str(built_book))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()


@pytest.fixture(scope="session")
def axe_source():
    """Return the text of axe-core, fetched by npm once."""
    folder = ROOT / "_build" / "node"
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        if shutil.which("npm") is None:
            pytest.skip(NO_NPM)
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["npm", "install", "--silent", "--prefix", str(folder), "axe-core@4"],
            check=True,
        )
    return script.read_text(encoding="utf-8")
