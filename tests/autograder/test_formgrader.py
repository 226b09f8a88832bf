"""A teacher reads a written answer in nbgrader's formgrader, in a real browser."""

import csv
import html
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from autograder.feedback import write_feedback
from autograder.grade import grade, write_grades
from autograder.report import write_report

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

NAME, ESSAY = "01-self-attention", "in-your-own-words"
COMMENT = "Clear; say more about the scores."
LOADS = 60_000  # milliseconds that a page may take on a busy machine


@contextmanager
def jupyter_server(root, environment, log):
    """Run a Jupyter server with the formgrader in a class folder; give its address."""
    config = Path(environment["JUPYTER_CONFIG_DIR"])
    config.mkdir(parents=True, exist_ok=True)
    extensions = {"nbgrader.server_extensions.formgrader": True}
    text = json.dumps({"ServerApp": {"jpserver_extensions": extensions}})
    (config / "jupyter_server_config.json").write_text(text, encoding="utf-8")
    port, token = free_port(), secrets.token_hex(8)
    command = [
        *(sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root"),
        *("--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
        f"--IdentityProvider.token={token}",
    ]
    with log.open("w", encoding="utf-8") as file:
        server = subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/api", server, log)
        yield f"http://127.0.0.1:{port}", token
    finally:
        stop(server)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(address, server, log, seconds=120):
    """Wait until the server answers; fail with its log when it does not."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.5)
    pytest.fail(f"The Jupyter server did not answer:\n{log.read_text()[-3000:]}")


def stop(server):
    """Stop the server, and whatever it started, by its process group."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(server.pid, sign)
            server.wait(20)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


@contextmanager
def browser_page(browser):
    """Open a page of Chromium; it can reach this machine only."""
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.set_default_timeout(LOADS)
    page.route(re.compile(r"^https?://(?!127\.0\.0\.1)"), lambda r: r.abort())
    try:
        yield page
    finally:
        page.close()


def save(page, selector, text, kind):
    """Type into a field, leave it, and wait until the formgrader has saved it."""
    with page.expect_response(
        lambda answer: f"/api/{kind}/" in answer.url and answer.request.method == "PUT"
    ) as saved:
        page.locator(selector).fill(text)
        page.locator(selector).press("Tab")
    return saved.value.status


@pytest.fixture(scope="module")
def marked(own_class, bare_environment, browser, tmp_path_factory):
    """Mark ada's written answer by hand; give what the teacher saw on the way."""
    grade(own_class, NAME, workers=1)
    log = tmp_path_factory.mktemp("formgrader") / "server.log"
    seen, errors = {}, []
    with (
        jupyter_server(own_class.root, bare_environment, log) as (url, token),
        browser_page(browser) as page,
    ):
        page.on("pageerror", lambda error: errors.append(error.message))
        page.goto(f"{url}/formgrader/?token={token}", wait_until="domcontentloaded")
        page.get_by_role("link", name=NAME).first.wait_for()
        seen["assignments"] = page.locator("table").first.inner_text()

        page.goto(
            f"{url}/formgrader/manage_students/ada/{NAME}",
            wait_until="domcontentloaded",
        )
        page.get_by_role("link", name="self-attention", exact=True).click()
        page.wait_for_function("window.formgrader && formgrader.grades?.loaded")
        page.wait_for_function("formgrader.comments?.loaded")
        seen["waiting"] = page.locator("input.needs_manual_grade").evaluate_all(
            "found => found.map(input => input.id)"
        )
        seen["hidden"] = "BEGIN HIDDEN TESTS" in page.content()
        seen["score saved"] = save(page, f"#{ESSAY}", "7", "grade")
        seen["comment saved"] = save(page, f"#{ESSAY}-comment", COMMENT, "comment")

        page.reload(wait_until="domcontentloaded")
        page.wait_for_function("window.formgrader && formgrader.grades?.loaded")
        page.wait_for_function("formgrader.comments?.loaded")
        seen["score"] = page.locator(f"#{ESSAY}").input_value()
        seen["comment"] = page.locator(f"#{ESSAY}-comment").input_value()
        seen["still waiting"] = page.locator("input.needs_manual_grade").count()
        page.locator(f"#{ESSAY}").scroll_into_view_if_needed()
        page.screenshot(path=log.with_name("formgrader.png"))
    seen["errors"] = errors
    seen["log"] = log.read_text(encoding="utf-8", errors="replace")
    return seen


@pytest.fixture(scope="module")
def written(own_class, marked):
    """Write what goes out after the marking: feedback, grades and the report."""
    write_feedback(own_class, NAME)
    write_grades(own_class, NAME)
    write_report(own_class, NAME)
    return outcome(own_class)


@pytest.fixture(scope="module")
def regraded(own_class, written):
    """Grade everything once more, and write all of it again."""
    grade(own_class, NAME, workers=1, again=True)
    write_feedback(own_class, NAME)
    write_report(own_class, NAME)
    return outcome(own_class)


def outcome(classroom):
    """Read what a learner and a teacher are given for ada."""
    page = classroom.root / "feedback" / "ada" / NAME / "self-attention.html"
    with (classroom.root / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    report = classroom.root / "report" / f"{NAME}.html"
    return {
        "page": text_of(page.read_text(encoding="utf-8")),
        "row": rows["ada"],
        "rows": rows,
        "report": text_of(report.read_text(encoding="utf-8")),
    }


def text_of(page):
    """Give the text of a page with single spaces."""
    body = page.split("<body", 1)[1].split(">", 1)[1]
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def test_formgrader_lists_the_assignment_and_its_submissions(marked):
    row = " ".join(marked["assignments"].split())
    assert NAME in row
    assert "2027-03-12 23:59" in row


def test_formgrader_asks_for_the_written_answer_only(marked):
    assert marked["waiting"] == [ESSAY]


def test_formgrader_shows_hidden_tests_to_the_teacher(marked):
    assert marked["hidden"]


def test_score_and_comment_are_saved(marked):
    assert (marked["score saved"], marked["comment saved"]) == (200, 200)
    assert (marked["score"], marked["comment"]) == ("7", COMMENT)
    assert marked["still waiting"] == 0


def test_server_complains_of_nothing(marked):
    offline = "MathJax is not defined"  # nbgrader takes it from the network
    assert [error for error in marked["errors"] if error != offline] == []
    bad = re.findall(r"^.*(?:Traceback|not a subdirectory).*$", marked["log"], re.M)
    assert bad == []


@pytest.mark.parametrize("when", ["written", "regraded"])
def test_feedback_has_the_score_and_the_comment(request, when):
    page = request.getfixturevalue(when)["page"]
    assert f"{ESSAY} 7 of 8 points" in page
    assert f"Your teacher: {COMMENT}" in page
    assert "99 of 100" in page
    assert "not read yet" not in page
    assert "has not been read yet" not in page


@pytest.mark.parametrize("when", ["written", "regraded"])
def test_grades_have_the_score_and_the_comment(request, when):
    row = request.getfixturevalue(when)["row"]
    assert float(row[ESSAY]) == 7
    assert row[f"{ESSAY} comment"] == COMMENT
    assert float(row["score"]) == 99


@pytest.mark.parametrize("when", ["written", "regraded"])
def test_nothing_of_ada_waits_for_the_teacher(request, when):
    rows = request.getfixturevalue(when)["rows"]
    waiting = {name: row["needs_manual_grade"] for name, row in rows.items()}
    assert waiting == {"ada": "False", "ben": "True", "cy": "False"}


@pytest.mark.parametrize("when", ["written", "regraded"])
def test_other_learners_keep_their_scores(request, when):
    rows = request.getfixturevalue(when)["rows"]
    scores = {name: float(row["score"]) for name, row in rows.items()}
    assert scores == {"ada": 99, "ben": 84, "cy": 0}


@pytest.mark.parametrize("when", ["written", "regraded"])
def test_report_has_the_total(request, when):
    assert re.search(r"\bada\b.*\b99\b", request.getfixturevalue(when)["report"])
