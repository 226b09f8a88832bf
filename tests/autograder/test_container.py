"""The recipe of the image; no engine is needed to read it."""

import re
import shlex

import pytest

from autograder.project import ROOT

RECIPE = ROOT / "autograder" / "container" / "Containerfile"


@pytest.fixture(scope="module")
def steps():
    """The instructions of the recipe: name and arguments, one for each step."""
    text = re.sub(r"^\s*#.*$", "", RECIPE.read_text(encoding="utf-8"), flags=re.M)
    lines = text.replace("\\\n", " ").splitlines()
    return [tuple(line.split(None, 1)) for line in lines if line.strip()]


def test_every_file_that_is_copied_exists(steps):
    copied = [shlex.split(rest)[:-1] for name, rest in steps if name == "COPY"]
    assert copied
    assert [one for some in copied for one in some if not (ROOT / one).exists()] == []


def test_every_package_of_the_project_is_copied(steps):
    copied = " ".join(rest for name, rest in steps if name == "COPY")
    listed = re.search(r"^packages = \[(.*?)\]", project(), re.M | re.S).group(1)
    for package in re.findall(r'"(.+?)"', listed):
        folders = package.split(".")
        assert any("/".join(folders[:n]) in copied.split() for n in (1, len(folders)))


def test_python_is_the_one_that_the_project_asks_for(steps):
    name, image = steps[0]
    wanted = re.search(r'requires-python = ">=([\d.]+)"', project()).group(1)
    assert (name, image) == ("FROM", f"python:{wanted}-slim")


def test_packages_are_the_pinned_ones(steps):
    installed = " ".join(rest for name, rest in steps if name == "RUN")
    assert "-r requirements.txt" in installed
    assert "-c constraints.txt" in (ROOT / "requirements.txt").read_text()


def test_it_runs_as_an_ordinary_user(steps):
    names = [name for name, _ in steps]
    assert dict(steps)["USER"] not in ("root", "0")
    assert names.index("USER") < names.index("ENTRYPOINT")


def project():
    return (ROOT / "pyproject.toml").read_text(encoding="utf-8")
