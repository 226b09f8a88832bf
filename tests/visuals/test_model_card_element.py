"""The model card: the browser counts as the course does, and a reader types a card."""

import json
import re
import shutil
import subprocess

import pytest

from book.visuals import STATIC
from book.visuals.card import FIELDS, model_card
from solutions.families import NAMED
from solutions.model_card import (
    cache_bytes,
    flops_per_token,
    multiplied_weights,
    parameters,
)
from solutions.models import ModelConfig

ARITHMETIC = STATIC.parent / "visuals" / "card-arithmetic.js"
SIZES = {"vocab_size": 50, "d_model": 12, "num_layers": 3, "num_heads": 4, "d_ff": 30}
ODD = {
    "wide heads": ModelConfig(**SIZES, d_head=5, num_kv_heads=2),
    "languages": ModelConfig(**SIZES, num_languages=7, num_types=3, qkv_bias=False),
    "two stacks": ModelConfig(
        **SIZES, decoder_layers=2, norm_first=True, head="untied"
    ),
    "gated": ModelConfig(**SIZES, gated=True, norm="rms", positions="relative"),
}
PROGRAM = f"""
import {{ readFileSync }} from "node:fs";
import {{ cacheBytes, fault, flopsPerToken, multipliedWeights, parameters }}
  from {json.dumps(ARITHMETIC.as_uri())};
const cards = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(cards.map((card) => ({{
  parts: parameters(card), multiplied: multipliedWeights(card),
  flops: [0, 1000].map((context) => flopsPerToken(card, context)),
  cache: cacheBytes(card, 7, 4), fault: fault(card, 5),
}}))));
"""


def run_in_node(cards):
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed, so the arithmetic cannot be run.")
    answer = subprocess.run(
        [node, "--input-type=module", "--eval", PROGRAM],
        input=json.dumps(cards),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(answer.stdout)


def test_the_browser_counts_as_the_course_does():
    cards = NAMED | ODD
    told = [{f: getattr(card, f) for f in FIELDS} for card in cards.values()]
    for card, found in zip(cards.values(), run_in_node(told), strict=True):
        assert found["parts"] == parameters(card)
        assert found["multiplied"] == multiplied_weights(card)
        assert found["flops"] == [flops_per_token(card, n) for n in (0, 1000)]
        assert found["cache"] == cache_bytes(card, 7, bytes_each=4)
        assert found["fault"] == ""


def test_a_card_that_does_not_fit_is_named():
    good = {field: getattr(NAMED["gpt2"], field) for field in FIELDS}
    changes = [{"num_kv_heads": 5}, {"d_model": 0}, {"d_ff": None}, {"num_layers": 1.5}]
    changes += [{"decoder_layers": -1}, {"vocab_size": 10**7}]
    found = [one["fault"] for one in run_in_node([good | change for change in changes])]
    assert found == ["share", *["number"] * 5]


def test_nothing_to_choose_from_is_refused():
    with pytest.raises(ValueError, match="cards is empty"):
        model_card({}, "A caption.")


def test_korean_words_and_a_plain_table(monkeypatch):
    monkeypatch.setenv("COURSE_BOOK_BUILD", "1")
    html = model_card(NAMED, "All cards.")._repr_html_()
    assert html.startswith("<model-card ") and "<script" not in html
    assert html.count('<th scope="row">') == len(NAMED)
    assert "8,030,261,248" in html
    words = (STATIC.parent / "visuals" / "card-words.js").read_text("utf-8")
    english, korean = words.split("ko: {")
    names = re.compile(r'^ +"?([\w-]+)"?: ', re.M)
    assert names.findall(english.split("en: {")[1]) == names.findall(korean)


@pytest.mark.browser
def test_a_reader_picks_a_model_and_types_another(open_element):
    cards = {name: NAMED[name] for name in ("llama3-8b", "gpt2", "t5-base")}
    page = open_element(model_card(cards, "A card."), theme="dark", width=390)
    card = page.locator("model-card")

    def said():
        return card.locator(".reading").inner_text()

    def counts():
        cells = card.locator("figure td:nth-child(2)").all_inner_texts()
        return [int(text.replace(",", "")) for text in cells]

    assert counts() == list(parameters(NAMED["llama3-8b"]).values())
    for text in ("8.03 billion parameters", "16.1 GB", "131 kB", "268 MB", "2,048"):
        assert text in said()
    card.get_by_label("Model").select_option("t5-base")
    assert counts() == list(parameters(NAMED["t5-base"]).values())
    card.get_by_role("button", name="Reset").click()
    shared = card.get_by_label("key/value heads")
    shared.fill("32")
    typed = {f: getattr(NAMED["llama3-8b"], f) for f in FIELDS} | {"num_kv_heads": 32}
    assert counts() == list(parameters(ModelConfig(**typed)).values())
    assert "524 kB" in said()
    shared.fill("5")
    assert "multiple of the key/value heads" in said() and counts() == []
    assert shared.get_attribute("aria-invalid") == "true"
    shared.fill("")
    assert "whole number" in said()
    shared.fill("8")
    card.get_by_label("width", exact=True).fill("2048")
    assert card.get_by_label("width of a head").input_value() == "64"
    card.get_by_label("matrix of its own").uncheck()
    assert counts()[-2] == 0
    card.get_by_label("Model").press("ArrowDown")
    assert counts() == list(parameters(NAMED["gpt2"]).values())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
def test_in_korean_large_numbers_are_said_in_korean(open_element):
    element = model_card({"llama3-8b": NAMED["llama3-8b"]}, "카드.")
    page = open_element(element, lang="ko")
    said = page.locator("model-card .reading").inner_text()
    assert "80.3억" in said and "16.1 GB" in said
