"""The shape tracer: it tells what a module did, and marks what stands wrongly."""

import json
import re

import pytest
import torch
from torch import nn

from book.visuals import STATIC
from book.visuals.shapes import shape_tracer
from solutions import multi_head
from solutions.multi_head import MultiHeadAttention, head_width


def split_heads(x, num_heads):
    batch, seq, d_model = x.shape
    return x.reshape(batch, num_heads, seq, head_width(d_model, num_heads))


def merge_heads(x):
    return x.permute(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


class ShortCut(MultiHeadAttention):
    """Splits by a reshape alone, as the functions above do it."""

    def forward(self, x):
        three = (W(x) for W in (self.W_q, self.W_k, self.W_v))
        heads = [split_heads(t, self.num_heads) for t in three]
        return self.W_o(merge_heads(self.attend(*heads)))


class NeverMerges(nn.Linear):
    def forward(self, x):
        split_heads(x, 2)
        return x if x is not None else merge_heads(x)


def steps_of(tracer):
    return json.loads(tracer.json)["steps"]


def test_the_reference_is_told_step_by_step():
    layer = MultiHeadAttention(6, 3)
    before = multi_head.split_heads, layer.attend, len(layer.W_q._forward_hooks)
    steps = steps_of(shape_tracer(layer, torch.randn(5, 4, 6)))
    after = multi_head.split_heads, layer.attend, len(layer.W_q._forward_hooks)
    assert before == after
    assert [(step["name"], step["shape"]) for step in steps] == [
        ("x", [5, 4, 6]),
        ("W_q(x)", [5, 4, 6]),
        ("reshape", [5, 4, 3, 2]),
        ("transpose", [5, 3, 4, 2]),
        ("scores", [5, 3, 4, 4]),
        ("attend", [5, 3, 4, 2]),
        ("transpose", [5, 4, 3, 2]),
        ("flatten", [5, 4, 6]),
        ("W_o", [5, 4, 6]),
    ]
    counted = torch.arange(1, 25).view(1, 4, 6)
    assert steps[3]["cells"] == multi_head.split_heads(counted, 3)[0].tolist()
    assert steps[7]["cells"] == counted[0].tolist()


def test_shared_keys_and_given_sizes_can_be_followed():
    shared = steps_of(shape_tracer(MultiHeadAttention(8, 4, 2), torch.randn(1, 3, 8)))
    assert [s["shape"] for s in shared if s["what"] == "scores"] == [[1, 4, 3, 3]]
    given = steps_of(shape_tracer(batch=2, seq=5, d_model=8, num_heads=2))
    assert given[0]["shape"] == [2, 5, 8]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((nn.Linear(6, 6), torch.zeros(1, 2, 6)), "Linear.forward knows no function"),
        ((NeverMerges(6, 6), torch.zeros(1, 2, 6)), "NeverMerges never called merge"),
        ((None, torch.zeros(2, 6)), r"x has shape \(2, 6\); expected \(batch"),
        ((None, torch.zeros(1, 17, 6)), "a sentence has 102 numbers"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        shape_tracer(*arguments)


@pytest.mark.browser
def test_a_reader_steps_forward_and_back(open_element):
    page = open_element(shape_tracer(), theme="dark", width=390)
    reading = page.locator("shape-tracer .reading")
    path = page.locator("shape-tracer .path")
    on = page.get_by_role("button", name="on ▸")
    assert "Step 1 of 9: x, shape (1, 4, 6)" in reading.inner_text()
    for _ in range(3):
        on.press("Enter")
    assert "transpose, shape (1, 3, 4, 2)" in reading.inner_text()
    assert path.inner_text().startswith("Number 9: head 1, token 1, place 0.")
    assert page.locator("shape-tracer .picked").inner_text() == "9"
    page.get_by_role("slider", name="Number").press("ArrowRight")
    assert "Number 10: head 1, token 1, place 1" in path.inner_text()

    step = page.locator("shape-tracer .ribbon [aria-current=step]")
    step.press("End")
    assert "W_o" in reading.inner_text()
    on.press("Enter")  # nothing comes after the end
    step.press("ArrowLeft")
    assert "flatten, shape (1, 4, 6)" in reading.inner_text()
    page.locator("shape-tracer .blocks td").first.click()
    assert "Number 1: token 0, place 0. Every number stands" in path.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

    wrong = shape_tracer(ShortCut(6, 3), torch.randn(2, 4, 6))
    page = open_element(wrong)
    page.get_by_role("button", name="reshape").first.click()
    told = page.locator("shape-tracer .path").inner_text()
    assert "16 of 24 numbers stand in the row of another" in told
    assert page.locator("shape-tracer .misplaced").count() == 16


def test_korean_words_and_a_plain_table(monkeypatch):
    monkeypatch.setenv("COURSE_BOOK_BUILD", "1")
    html = shape_tracer()._repr_html_()
    assert html.startswith("<shape-tracer ") and "<script" not in html
    assert html.count('<th scope="row">') == 9 and "<td>(1, 3, 4, 2)</td>" in html
    words = (STATIC.parent / "visuals" / "shape-words.js").read_text("utf-8")
    english, korean = words.split("ko: {")
    names = re.compile(r"^ +(\w+): \"", re.M)
    assert names.findall(english) == names.findall(korean)
