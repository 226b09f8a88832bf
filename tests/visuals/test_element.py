"""The Python side: what reaches the page, and what is refused."""

import json
import re
from html import unescape

import pytest
import torch

from book.visuals import Sentence, attention_explorer


def data_of(html):
    element = html[html.rindex("<attention-explorer ") :]
    return json.loads(unescape(re.search(r'data="([^"]*)"', element).group(1)))


def test_the_book_gets_the_element_alone(river, monkeypatch):
    monkeypatch.setenv("COURSE_BOOK_BUILD", "1")
    html = attention_explorer([river], "A caption.")._repr_html_()
    assert html.startswith("<attention-explorer ")
    assert "<script" not in html and "<style" not in html


def test_a_notebook_gets_script_and_style_too(river, monkeypatch):
    monkeypatch.delenv("COURSE_BOOK_BUILD", raising=False)
    html = attention_explorer([river], "A caption.")._repr_html_()
    assert html.count("<script>") == html.count("</script>") == 1
    assert html.count("<style>") == html.count("</style>") == 1


def test_data_is_what_the_head_computed(river):
    html = attention_explorer([river], "A caption.", scaled=False)._repr_html_()
    data = data_of(html)
    first = data["sentences"][0]
    assert (data["scaled"], data["causal"]) == (False, False)
    assert (first["tokens"], first["d_k"], first["focus"]) == (river.tokens, 4, 1)
    products = torch.tensor(first["products"])
    torch.testing.assert_close(
        products, river.queries @ river.keys.T, atol=1e-4, rtol=1e-5
    )
    torch.testing.assert_close(
        torch.tensor(first["values"]), river.values, atol=1e-4, rtol=1e-5
    )


@pytest.mark.parametrize("causal", [False, True])
def test_plain_table_holds_the_weights(river, causal):
    html = attention_explorer([river], "A caption.", causal=causal)._repr_html_()
    cells = [float(cell) for cell in re.findall(r"<td>([\d.]+)</td>", html)]
    scores = river.queries @ river.keys.T / 2.0
    if causal:
        scores = scores.masked_fill(torch.ones(5, 5).triu(1).bool(), -torch.inf)
    got = torch.tensor(cells).view(5, 5)
    torch.testing.assert_close(got, scores.softmax(-1), atol=0.0051, rtol=0)


def test_numbers_keep_six_digits():
    x = torch.tensor([[1 / 3]])
    html = attention_explorer([Sentence(["a"], x, x, x)], "A caption.")._repr_html_()
    assert data_of(html)["sentences"][0]["values"] == [[0.333333]]


def test_tokens_and_caption_cannot_become_markup(sentence, monkeypatch):
    monkeypatch.setenv("COURSE_BOOK_BUILD", "1")
    nasty = "\"'</attention-explorer><img/src=x/onerror=alert(1)>&amp;"
    html = attention_explorer([sentence(nasty)], nasty)._repr_html_()
    assert "<img" not in html
    assert html.count("</attention-explorer>") == 1
    assert data_of(html)["sentences"][0]["tokens"] == [nasty]
    assert data_of(html)["caption"] == nasty


def test_gradients_and_half_precision_are_accepted():
    x = torch.randn(2, 4, dtype=torch.bfloat16, requires_grad=True)
    explorer = attention_explorer([Sentence(["a", "b"], x, x, x)], "A caption.")
    assert "attention-explorer" in explorer._repr_html_()


TWO = ["a", "b"]
X = torch.zeros(2, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a b", X, X, X), r"tokens is 'a b'; expected a list"),
        (([], X, X, X), r"tokens is \[\]; expected a list"),
        ((TWO, torch.zeros(3, 4), X, X), r"queries has shape \(3, 4\); expected \(2, "),
        (
            (TWO, X, torch.zeros(1, 2, 4), X),
            r"keys has shape \(1, 2, 4\).*one head first",
        ),
        ((TWO, X, torch.zeros(2, 3), X), r"queries are \(2, 4\) and keys \(2, 3\)"),
        ((TWO, X, X, torch.zeros(2, 0)), r"values has shape \(2, 0\)"),
        ((TWO, X, X, X + torch.nan), r"values holds NaN or infinity"),
        ((TWO, X, X, X, 2), r"focus is 2; expected a position from 0 to 1"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Sentence(*arguments)


def test_no_sentence_is_refused():
    with pytest.raises(ValueError, match="expected at least one Sentence"):
        attention_explorer([], "A caption.")


def test_too_many_numbers_are_refused(sentence):
    with pytest.raises(ValueError, match="expected at most 100,000"):
        attention_explorer([sentence("word " * 150)], "A caption.")


def test_repr_is_short(river):
    assert (
        repr(attention_explorer([river], "Two banks."))
        == "<attention explorer: Two banks.>"
    )
