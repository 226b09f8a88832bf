"""The sampler: its arithmetic is that of the course, and a reader cuts and draws."""

import json
import re
import shutil
import subprocess

import pytest
import torch

from book.visuals import STATIC
from book.visuals.sampler import sampler
from solutions.generation import top_k, top_p, with_temperature

ARITHMETIC = STATIC.parent / "visuals" / "sampler-arithmetic.js"
PROGRAM = f"""
import {{ readFileSync }} from "node:fs";
import {{ chances, drawn }} from {json.dumps(ARITHMETIC.as_uri())};
const {{ rows, settings, numbers }} = JSON.parse(readFileSync(0, "utf8"));
const found = settings.map((one) => rows.map((row) => chances(row, one)));
const tokens = numbers.map((number) => drawn([0, 0.25, 0, 0.5, 0.25, 0], number));
console.log(JSON.stringify({{ found, tokens }}));
"""
SETTINGS = [
    {"temperature": temperature, "k": k, "p": p}
    for temperature in (0, 0.3, 1.0, 2.0)
    for k in (1, 4, 12)
    for p in (0.05, 0.5, 0.9, 1.0)
]
WORDS = ["be", "not", "have", "also", "begin", "return"]
LOGITS = torch.tensor(
    [[0.4, 0.3, 0.12, 0.1, 0.05, 0.03], [0.05, 0.05, 0.6, 0.1, 0.1, 0.1]]
).log()


@pytest.fixture(scope="module")
def computed():
    """What the browser's arithmetic gives, and the logits that it was asked about."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed, so the arithmetic cannot be run.")
    logits = 2 * torch.randn(3, 12, generator=torch.Generator().manual_seed(0)).double()
    logits = torch.cat([logits, torch.zeros(1, 12).double()])  # and equal ones
    numbers = [0.0, 0.2499, 0.25, 0.7499, 0.75, 0.9999]
    question = {"rows": logits.tolist(), "settings": SETTINGS, "numbers": numbers}
    answer = subprocess.run(
        [node, "--input-type=module", "--eval", PROGRAM],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(answer.stdout), logits


def test_chances_are_those_of_the_course(computed):
    answer, logits = computed
    for settings, rows in zip(SETTINGS, answer["found"], strict=True):
        warm = with_temperature(logits, settings["temperature"])
        before = torch.softmax(warm, dim=-1)
        cut = top_p(top_k(warm, settings["k"]), settings["p"])
        after = torch.softmax(cut, dim=-1)
        for i, row in enumerate(rows):
            got = torch.tensor(row["before"]).double()
            torch.testing.assert_close(got, before[i], atol=1e-5, rtol=0)
            if i < 3:  # among equals, which ones stay is open
                got = torch.tensor(row["after"]).double()
                torch.testing.assert_close(got, after[i], atol=1e-5, rtol=0)
            assert sum(x > 0 for x in row["after"]) == (after[i] > 0).sum()


def test_a_number_falls_on_a_token_as_often_as_its_share_says(computed):
    assert computed[0]["tokens"] == [1, 1, 3, 3, 4, 4]


def test_the_likeliest_tokens_are_shown_in_order():
    made = sampler(LOGITS, WORDS, ["must", "will"], "Two.", most=3)
    must, will = made.data["beginnings"]
    assert (must["tokens"], will["tokens"][0]) == (["be", "not", "have"], "have")
    assert len(will["logits"]) == 3
    forbidden = LOGITS.index_fill(1, torch.tensor([0]), -torch.inf)
    made = sampler(forbidden, WORDS, ["must", "will"], "Two.")
    assert "be" not in made.data["beginnings"][0]["tokens"]


@pytest.mark.parametrize(
    ("logits", "most", "message"),
    [
        (LOGITS[:1], 3, r"shape \(1, 6\); expected \(2, 6\)"),
        (LOGITS, 1, "most is 1; expected from 2 to 100"),
        (LOGITS * torch.nan, 3, "NaN"),
        (torch.full((2, 6), -torch.inf), 3, "0 tokens after 'must'"),
    ],
)
def test_what_does_not_fit_is_refused(logits, most, message):
    with pytest.raises(ValueError, match=message):
        sampler(logits, WORDS, ["must", "will"], "A caption.", most=most)


@pytest.mark.browser
def test_a_reader_cuts_and_draws_with_the_keyboard(open_element):
    element = sampler(LOGITS, WORDS, ["must", "will"], "Two.")
    page = open_element(element, theme="dark", width=390)
    items = page.locator("token-sampler li")
    kept = page.locator("token-sampler li:not(.dropped)")
    reading = page.locator("token-sampler .reading")
    assert items.count() == 6 and kept.count() == 4  # 0.82 is not enough
    assert "4 of 6" in reading.first.inner_text()
    assert items.first.inner_text().split() == ["be", "0.43"]
    p = page.get_by_role("slider", name="Top-p")
    p.press("Home")
    assert kept.all_inner_texts()[0].split() == ["be", "1.00"] and kept.count() == 1
    p.press("End")
    assert kept.count() == 6
    page.get_by_role("slider", name="Top-k").press("ArrowLeft")
    assert kept.count() == 5
    page.get_by_role("slider", name="Temperature").press("Home")
    assert kept.count() == 1
    page.get_by_role("button", name="Draw one").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    assert "Draws so far: 2" in reading.last.inner_text()
    assert kept.first.inner_text().split() == ["be", "1.00", "×2"]
    page.get_by_role("button", name="Reset").click()
    assert "Nothing drawn" in reading.last.inner_text()
    page.get_by_role("button", name="Draw 100").click()
    counts = page.locator("token-sampler .times").all_inner_texts()
    assert sum(int(text[1:]) for text in counts) == 100
    page.get_by_role("radio", name="will").check()
    assert items.first.inner_text().split()[0] == "have"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
def test_a_korean_page_speaks_korean(open_element):
    page = open_element(sampler(LOGITS, WORDS, ["must", "will"], "둘."), lang="ko")
    page.get_by_role("button", name="하나 뽑기").click()
    assert "뽑은 횟수: 1" in page.locator("token-sampler .reading").last.inner_text()


def test_korean_words_and_a_plain_table(monkeypatch):
    monkeypatch.setenv("COURSE_BOOK_BUILD", "1")
    html = sampler(LOGITS, WORDS, ["must", "will"], "Two.")._repr_html_()
    assert html.startswith("<token-sampler ") and "<script" not in html
    assert html.count('<th scope="row">') == 2 and "be 0.40" in html
    words = (STATIC.parent / "visuals" / "sampler-words.js").read_text("utf-8")
    english, korean = words.split("ko: {")
    names = re.compile(r"^ +(\w+): ", re.M)
    assert names.findall(english.split("en: {")[1]) == names.findall(korean)
