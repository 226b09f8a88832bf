"""The element in a browser: what a reader does, and what is then on the page."""

import re
from pathlib import Path

import pytest
import torch

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "_build" / "node" / "node_modules" / "axe-core" / "axe.min.js"

CELL = "attention-explorer .grid tbody td"
SELECTED = CELL + "[aria-selected=true]"
READING = "attention-explorer .reading"


def numbers(texts):
    return [float(text.replace("−", "-").replace("∞", "inf")) for text in texts]


def grid(page):
    cells = numbers(page.locator(CELL).all_inner_texts())
    return torch.tensor(cells).view(5, 5)


def output(page):
    text = page.locator("attention-explorer .sum tfoot .vector").inner_text()
    return torch.tensor(numbers(re.findall(r"[−\d.]+", text)))


def scores(sentence, scaled=True, causal=False, temperature=1.0):
    raw = sentence.queries @ sentence.keys.T / (2.0 if scaled else 1.0) / temperature
    later = torch.ones(5, 5).triu(diagonal=1).bool()
    return raw.masked_fill(later, -torch.inf) if causal else raw


def assert_shown(got, expected):
    torch.testing.assert_close(got, expected, atol=0.0051, rtol=0)


def test_it_opens_on_the_weights_of_torch(open_page, river):
    page = open_page()
    weights = scores(river).softmax(-1)
    assert_shown(grid(page), weights)
    assert_shown(output(page), weights[1] @ river.values)
    assert page.locator(SELECTED).get_attribute("tabindex") == "0"
    assert page.locator(CELL + "[tabindex='0']").count() == 1


def test_switches_give_the_numbers_of_torch(open_page, river):
    page = open_page()
    page.get_by_label("divide by").uncheck()
    assert_shown(grid(page), scores(river, scaled=False).softmax(-1))
    page.get_by_label("causal mask").check()
    weights = scores(river, scaled=False, causal=True).softmax(-1)
    assert_shown(grid(page), weights)
    page.get_by_label("Temperature").fill("-1")
    weights = scores(river, scaled=False, causal=True, temperature=0.5).softmax(-1)
    assert_shown(grid(page), weights)
    assert_shown(output(page), weights[1] @ river.values)
    page.get_by_label("scores").check()
    assert_shown(grid(page), scores(river, scaled=False, causal=True, temperature=0.5))
    page.get_by_role("button", name="Reset").click()
    assert_shown(grid(page), scores(river).softmax(-1))


def test_another_sentence_can_be_opened(open_page, money):
    page = open_page()
    page.get_by_label("my money in the bank").check()
    weights = scores(money).softmax(-1)
    assert_shown(grid(page), weights)
    assert_shown(output(page), weights[4] @ money.values)


def test_arrow_keys_move_the_selection(open_page, river):
    page = open_page()
    page.locator(CELL).first.click()
    before = page.locator(READING).inner_text()
    moves = {
        "ArrowRight": (0, 1),
        "ArrowDown": (1, 1),
        "ArrowLeft": (1, 0),
        "ArrowUp": (0, 0),
        "End": (0, 4),
        "Control+End": (4, 4),
        "Home": (4, 0),
        "Control+Home": (0, 0),
    }
    for key, (row, column) in moves.items():
        page.keyboard.press(key)
        cell = page.locator(CELL).nth(5 * row + column)
        assert cell.get_attribute("aria-selected") == "true", key
        assert cell.evaluate("cell => cell.matches(':focus-visible')"), key
        assert page.locator(SELECTED).count() == 1
        if key == "Control+End":
            assert_shown(output(page), scores(river).softmax(-1)[4] @ river.values)
            assert page.locator(READING).inner_text() != before
    page.keyboard.press("ArrowUp")
    assert page.locator(READING).inner_text() == before


def test_reading_follows_one_number_to_its_weight(open_page, river):
    page = open_page()
    page.locator(CELL).nth(5 * 1 + 4).click()
    reading = page.locator(READING)
    assert reading.get_attribute("aria-live") == "polite"
    product = (river.queries @ river.keys.T)[1, 4].item()
    weight = scores(river).softmax(-1)[1, 4].item()
    shown = numbers(re.findall(r"= ([−\d.]+)", reading.inner_text()))
    assert shown == pytest.approx([product, product / 2, weight], abs=0.0051)
    assert "query bank, key river" in reading.inner_text()
    page.locator(CELL).nth(4).click()
    assert "query the₁" in reading.inner_text()
    page.get_by_label("causal mask").check()
    assert "masked: −∞ → softmax = 0.00" in reading.inner_text()


def test_table_has_headers_and_a_caption(open_page):
    page = open_page()
    rows = page.locator(
        "attention-explorer .grid tbody th[scope=row]"
    ).all_inner_texts()
    assert rows == ["the₁", "bank", "of", "the₄", "river"]
    columns = page.locator("attention-explorer .grid thead tr:last-child th[scope=col]")
    assert columns.all_inner_texts() == rows
    caption = page.locator("attention-explorer .grid caption")
    assert caption.inner_text() == "Attention weights: softmax(q·k / √4)"
    page.get_by_label("Temperature").fill("1")
    assert caption.inner_text() == "Attention weights: softmax(q·k / (√4 · 2.00))"


def test_korean_page_speaks_korean(open_page):
    page = open_page(lang="ko")
    assert page.get_by_label("인과 마스크").is_visible()
    assert "쿼리 bank" in page.locator(READING).inner_text()


def test_inlined_twice_both_work(open_page):
    page = open_page(inline=True)
    assert page.locator("attention-explorer").count() == 2
    second = page.locator("attention-explorer").nth(1)
    second.get_by_label("scores").check()
    captions = page.locator("attention-explorer .grid caption").all_inner_texts()
    assert captions[0].startswith("Attention weights")
    assert captions[1].startswith("Scores")


def test_inserted_later_it_works(open_page):
    page = open_page()
    page.evaluate(
        """() => {
          const first = document.querySelector("attention-explorer");
          const later = document.createElement("attention-explorer");
          later.setAttribute("data", first.getAttribute("data"));
          document.querySelector("main").append(later);
          document.querySelector("main").append(first);
        }"""
    )
    assert page.locator("attention-explorer .grid").count() == 2
    assert page.locator(SELECTED).count() == 2


def test_without_javascript_a_plain_table_is_shown(open_page):
    page = open_page(javascript=False)
    tables = page.locator("attention-explorer > table")
    assert tables.count() == 2
    assert tables.first.is_visible()
    assert tables.first.locator("tbody td").count() == 25


@pytest.mark.parametrize("words", [5, 16])
def test_a_phone_does_not_scroll_sideways(open_page, sentence, words):
    long = sentence(" ".join(f"word{i}" for i in range(words)), d_v=4)
    page = open_page([long], width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    scrollers = page.locator("attention-explorer .scroller").evaluate_all(
        "all => all.map(one => [one.scrollWidth > one.clientWidth, one.tabIndex])"
    )
    assert all(tab_index == (0 if scrolls else -1) for scrolls, tab_index in scrollers)
    assert scrollers[0][0] == (words == 16)


def test_print_keeps_the_tables_and_leaves_the_controls(open_page):
    page = open_page(theme="dark")
    page.emulate_media(media="print")
    assert page.locator("attention-explorer .controls").is_hidden()
    assert page.locator("attention-explorer .hint").is_hidden()
    for part in (".grid", ".reading", ".sum", "figcaption"):
        assert page.locator(f"attention-explorer {part}").is_visible()
    ground = "element => getComputedStyle(element).backgroundColor"
    assert page.locator("attention-explorer").evaluate(ground) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("width", [1000, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(open_page, theme, width):
    if not AXE.is_file():
        pytest.skip(f"axe-core is not installed in {AXE.parent}.")
    page = open_page(theme=theme, width=width)
    page.get_by_label("causal mask").check()
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate(
        "axe.run({ preload: false }).then(result => result.violations)"
    )
    assert [
        (rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found
    ] == []


CONTRASTS = """
cells => {
  const often = { willReadFrequently: true };
  const canvas = document.createElement("canvas").getContext("2d", often);
  const luminance = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((byte) => {
      const share = byte / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const shades = Array.from({length: 21}, (_, i) => i / 20);
  return shades.map((shade) => {
    cells[0].style.setProperty("--shade", shade);
    const style = getComputedStyle(cells[0]);
    const [ink, ground] = [style.color, style.backgroundColor].map(luminance);
    return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
  });
}
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_numbers_can_be_read_on_every_shade(open_page, theme):
    page = open_page(theme=theme)
    contrasts = page.locator(CELL).evaluate_all(CONTRASTS)
    assert min(contrasts) >= 4.5
    assert max(contrasts) / min(contrasts) > 2  # the shade does change
