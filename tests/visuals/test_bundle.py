"""The committed bundle is what its sources make, and small."""

import gzip
import hashlib
import shutil
import subprocess

import pytest

from book._ext.course_book.finish import repair
from book.visuals import STATIC

SOURCES = STATIC.parent / "visuals"
SUMS = SOURCES / "SHA256SUMS"
ELEMENTS = [
    "attention-explorer",
    "position-lab",
    "shape-tracer",
    "residual-stream",
    "token-sampler",
    "model-card",
    "training-film",
]
FILES = [f"{kind}/{name}.{kind}" for name in ELEMENTS for kind in ("css", "js")]


def recorded():
    lines = (line.split("  ") for line in SUMS.read_text("utf-8").splitlines())
    return {name: checksum for checksum, name in lines}


def test_committed_files_have_the_recorded_checksums():
    found = {
        name: hashlib.sha256((SOURCES / name).read_bytes()).hexdigest()
        for name in recorded()
    }
    assert found == recorded()
    assert set(found) == {f"../_static/{name}" for name in FILES}


@pytest.mark.parametrize("name", ELEMENTS)
def test_script_stays_below_15_kilobytes(name):
    script = STATIC / "js" / f"{name}.js"
    assert len(gzip.compress(script.read_bytes(), mtime=0)) < 15_000


@pytest.mark.parametrize("name", FILES)
def test_bundle_names_no_other_place(name):
    text = (STATIC / name).read_text("utf-8")
    # the name of the drawing language looks like an address; nothing is fetched
    assert "://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "url(" not in text


def test_sources_build_the_committed_files_byte_for_byte(tmp_path):
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("Node and npm are not installed, so nothing can be rebuilt.")
    sources = tmp_path / "visuals"
    ignored = shutil.ignore_patterns("node_modules", "__pycache__")
    shutil.copytree(SOURCES, sources, ignore=ignored)
    install = subprocess.run(
        [npm, "install", "--no-package-lock", "--no-audit", "--no-fund"],
        cwd=sources,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if install.returncode:
        pytest.skip("esbuild could not be installed by npm, so nothing can be rebuilt.")
    built, sums = tmp_path / "static", tmp_path / "SHA256SUMS"
    command = [node, "build.mjs", str(built), str(sums)]
    subprocess.run(command, cwd=sources, check=True, timeout=120)
    assert sums.read_bytes() == SUMS.read_bytes()
    for name in FILES:
        assert (built / name).read_bytes() == (STATIC / name).read_bytes()


def test_a_page_loads_only_the_elements_that_it_shows():
    tags = "".join(
        f'<link rel="stylesheet" href="_static/css/{name}.css?v=1" />\n'
        f'<script src="_static/js/{name}.js?v=2"></script>\n'
        for name in ["book", *ELEMENTS]
    )
    html = repair(tags + '<position-lab data="{}"></position-lab>')
    for name in ELEMENTS:
        assert html.count(f"/{name}.") == (2 if name == "position-lab" else 0)
    assert html.count("/book.") == 2
