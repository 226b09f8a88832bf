"""What all tests share: one thread for torch, and one browser."""

import shutil

import pytest
import torch

import autograder  # noqa: F401  first: it spares nbformat a slow import

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # Nothing but this machine can be reached, whatever a page asks for.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
NO_BROWSER = (
    "No Chromium on the PATH. Install one (Debian: `apt-get install chromium`) "
    "to run the browser tests."
)


# Killed graders, clusters, databases, browsers on every page: `make test-long`.
LONG = {
    "test_batch.py",
    "test_dask.py",
    "test_explorer_browser.py",
    "test_formgrader.py",
    "test_growth.py",
    "test_pages.py",
    "test_position_lab.py",
    "test_postgres.py",
    "test_workers.py",
}


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items):
    """Tell pytest-xdist what must run in one process: what shares something slow.

    All that needs the built book is one group, each exercise is one, each other file.
    """
    for item in items:
        if item.path.name in LONG:
            item.add_marker(pytest.mark.long)
        folder, group = item.path.parent.name, item.path.name
        given = item.callspec.params if hasattr(item, "callspec") else {}
        if folder in ("book", "visuals"):
            group = "book"
        elif folder == "exercises" and ("name" in given or "exercise" in given):
            group = given.get("name") or given["exercise"].name
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(autouse=True)
def the_same_numbers():
    """Begin every test with the same random numbers, whatever ran before it."""
    torch.manual_seed(0)


def pytest_collection_finish(session):
    """Refuse to go on when pytest-xdist has not seen the groups, and so splits them."""
    grouped = session.config.getoption("loadgroup", False)
    if grouped and any("@" not in item.nodeid for item in session.items):
        raise pytest.UsageError("The groups do not reach this pytest-xdist.")


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Keep tests from crowding each other out."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def browser():
    """Start Debian's Chromium, or skip with a sentence that says how to get one."""
    playwright_api = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(NO_BROWSER)
    with playwright_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=SWITCHES)
        yield chromium
        chromium.close()
