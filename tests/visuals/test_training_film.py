"""The training film: it shows what was measured, and a reader goes through it."""

import json
import re
import shutil
import subprocess
from dataclasses import replace

import pytest
import torch

from book.visuals import STATIC
from book.visuals.film import Frame, training_film

TOKENS = list("ABCABC")
STEPS = (0, 10, 40)


def make_frames():
    generator = torch.Generator().manual_seed(5)
    frames = []
    for i, step in enumerate(STEPS):
        scores = torch.randn(2, 3, 6, 6, generator=generator) * 2
        later = torch.ones(6, 6).triu(1).bool()
        maps = scores.masked_fill(later, -torch.inf).softmax(dim=-1)
        measured = {
            "loss": {"repeated": 3.0 - i, "first time": 3.0},
            "size of the gradient": {"of all weights": 0.5 + i},
        }
        frames.append(Frame(step, maps, measured))
    return frames


def make_film():
    return training_film(TOKENS, make_frames(), "A small film.")


def test_the_page_reads_the_weights_that_torch_gave():
    film, frames = make_film(), make_frames()
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed, so the script cannot be run outside.")
    source = STATIC.parent / "visuals" / "film-arithmetic.js"
    script = (
        f"import {{unfold}} from {json.dumps(source.as_uri())};"
        f"const frames = {json.dumps(film.data['maps'])};"
        "console.log(JSON.stringify(frames.map((maps) => unfold(maps, 6))));"
    )
    told = subprocess.run(
        [node, "--input-type=module", "-e", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    for maps, frame in zip(json.loads(told.stdout), frames, strict=True):
        assert len(maps) == 6
        for rows, expected in zip(maps, frame.maps.flatten(0, 1), strict=True):
            for i, row in enumerate(rows):
                assert row == pytest.approx(expected[i, : i + 1].tolist(), abs=0.008)


def test_what_does_not_fit_is_refused():
    one, two, _ = make_frames()
    ahead = two.maps.clone()
    ahead[0, 0, 0, 5] = 0.1
    wrong = {
        "1 frames; expected at least two": [one],
        r"steps are \[10, 0\]": [two, one],
        r"step 10 has maps \(1, 3, 6, 6\)": [one, replace(two, maps=two.maps[:1])],
        "step 10 measured": [one, replace(two, measured={"loss": {}})],
        "step 10 holds NaN": [one, replace(two, maps=two.maps * torch.nan)],
        "step 10 looks ahead": [one, replace(two, maps=ahead)],
    }
    for message, frames in wrong.items():
        with pytest.raises(ValueError, match=message):
            training_film(TOKENS, frames, "A caption.")


@pytest.mark.browser
def test_a_reader_goes_through_the_steps_and_asks_for_a_token(open_element):
    frames = make_frames()
    page = open_element(make_film(), theme="dark", width=390)
    film = page.locator("training-film")
    reading, looks = film.locator(".reading").all()
    step = page.get_by_role("slider", name="Step")
    who = page.get_by_role("slider", name="Who asks")
    assert reading.inner_text() == (
        "Step 40: repeated 1.00, first time 3.00, of all weights 2.50."
    )

    def expected(frame, query):
        weights = frame.maps.flatten(0, 1)[:, query]
        head = weights.max(dim=-1).values.argmax().item()
        key = weights[head].argmax().item()
        names = ["A₁", "B₂", "C₃", "A₄", "B₅", "C₆"]
        said = re.findall(r"\S+", looks.inner_text())
        assert (said[0], said[-4].rstrip(",")) == (names[query], names[key])
        assert f"layer {head // 3 + 1}, head {head % 3 + 1}:" in looks.inner_text()
        weight = float(said[-1].rstrip("."))
        assert weight == pytest.approx(weights[head, key].item(), abs=0.06)

    expected(frames[2], 4)
    step.press("Home")
    who.press("ArrowLeft")
    assert reading.inner_text().startswith("Step 0: repeated 3.00")
    expected(frames[0], 3)
    assert film.locator(".map").count() == 6
    assert film.locator(".map").first.locator("rect:not(.row)").count() == 21
    film.locator(".map svg").nth(4).click(position={"x": 10, "y": 8})
    assert "A₁" in looks.inner_text() and looks.inner_text().startswith("A₁")
    film.locator(".chart svg").first.click(position={"x": 80, "y": 40})
    assert reading.inner_text().startswith("Step 10:")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Reset").click()
    expected(frames[2], 4)


@pytest.mark.browser
def test_the_film_runs_to_its_end_and_can_be_stopped(open_element):
    first, *_ = make_frames()
    frames = [replace(first, step=step) for step in range(40)]
    page = open_element(training_film(TOKENS, frames, "A longer film."))
    reading = page.locator("training-film .reading").first
    page.get_by_role("button", name="Play").click()
    assert reading.get_attribute("aria-live") == "off"
    page.get_by_role("button", name="Pause").click()
    stopped = reading.inner_text()
    page.wait_for_timeout(600)
    assert reading.inner_text() == stopped and not stopped.startswith("Step 39:")
    page.get_by_role("slider", name="Step").press("End")
    page.get_by_role("slider", name="Step").press("PageDown")
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Play").wait_for(timeout=20_000)
    assert reading.inner_text().startswith("Step 39:")
    assert reading.get_attribute("aria-live") == "polite"


def test_korean_words_and_a_plain_table(monkeypatch):
    monkeypatch.setenv("COURSE_BOOK_BUILD", "1")
    html = make_film()._repr_html_()
    assert html.startswith("<training-film ") and "<script" not in html
    assert html.count('<th scope="row">') == 3
    words = (STATIC.parent / "visuals" / "film-words.js").read_text("utf-8")
    english, korean = words.split("ko: {")
    names = re.compile(r"^    (\w+): ", re.M)
    assert names.findall(english.split("en: {")[1]) == names.findall(korean)
