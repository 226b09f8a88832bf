"""The residual stream: it is measured as torch says, and a reader goes through it."""

import re

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from book.visuals import STATIC
from book.visuals.stream import residual_stream
from solutions.residual_norm import Residual

X = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(3))


def make_stream():
    torch.manual_seed(1)
    layers = [nn.Sequential(nn.Linear(16, 16), nn.Tanh()) for _ in range(6)]
    stacks = {
        "post-norm": [Residual(16, layer) for layer in layers],
        "pre-norm": [Residual(16, layer, norm_first=True) for layer in layers[:4]],
    }
    return residual_stream(stacks, X, "Two stacks."), stacks


def test_sizes_additions_and_cosines_are_those_of_torch():
    stream, stacks = make_stream()
    for told, layers in zip(stream.data["stacks"], stacks.values(), strict=True):
        streams, added = [X], []
        with torch.no_grad():
            for layer in layers:
                read = layer.norm(streams[-1]) if layer.norm_first else streams[-1]
                added.append(layer.sublayer(read).norm(dim=-1).mean())
                streams.append(layer(streams[-1]))
        sizes = torch.stack([one.norm(dim=-1).mean() for one in streams])
        close = {"rtol": 1e-4, "atol": 0}
        torch.testing.assert_close(torch.tensor(told["sizes"]), sizes, **close)
        got = torch.tensor(told["added"])
        torch.testing.assert_close(got, torch.stack(added), **close)
        for depth, row in enumerate(told["cosines"]):
            ends = [F.cosine_similarity(s, streams[depth], dim=-1) for s in streams]
            expected = [end.mean().item() for end in ends[: depth + 1]]
            assert row == pytest.approx(expected, abs=0.0006)
    plain = residual_stream({"halves": [lambda x: x / 2]}, X, "No sub-layer.")
    (told,) = plain.data["stacks"]
    assert told["added"][0] == pytest.approx(told["sizes"][1], rel=1e-4)


@pytest.mark.parametrize(
    ("stacks", "message"),
    [
        ({}, "0 stacks; expected from 1 to 4"),
        ({"none": []}, "none has 0 layers; expected from 1 to 48"),
        ({"narrow": [nn.Linear(16, 4)]}, r"layer 1 of narrow gave \(2, 5, 4\)"),
        ({"nan": [lambda x: x / 0 * 0]}, "layer 1 of nan gave holds NaN"),
    ],
)
def test_what_does_not_fit_is_refused(stacks, message):
    with pytest.raises(ValueError, match=message):
        residual_stream(stacks, X, "A caption.")


@pytest.mark.browser
def test_a_reader_goes_through_layers_and_depths(open_element):
    stream, _ = make_stream()
    post, pre = stream.data["stacks"]
    page = open_element(stream, theme="dark", width=390)
    readings = page.locator("residual-stream .reading")

    def said(i):
        texts = readings.nth(i).locator("b").all_inner_texts()
        return [float(text.replace("−", "-")) for text in texts]

    def facts(stack, layer, depth):
        size, added = stack["sizes"][layer], stack["added"][layer - 1]
        share = round(100 * added / size)
        return [layer, depth, size, added, share, stack["cosines"][depth][layer]]

    assert said(0) == pytest.approx(facts(post, 2, 6), abs=0.0056)
    assert said(1) == pytest.approx(facts(pre, 2, 4), abs=0.0056)
    page.get_by_role("slider", name="Layer").press("ArrowRight")
    page.get_by_role("slider", name="Depth").press("ArrowLeft")
    assert said(0) == pytest.approx(facts(post, 3, 5), abs=0.0056)
    assert page.locator("residual-stream svg").first.locator(".piece").count() == 5
    page.get_by_role("slider", name="Layer").press("End")
    assert said(0) == pytest.approx(facts(post, 5, 5), abs=0.0056)
    assert said(1) == pytest.approx(facts(pre, 4, 4), abs=0.0056)
    page.get_by_role("slider", name="Layer").press("Home")
    assert "Before the first layer" in readings.first.inner_text()
    page.locator("residual-stream svg").first.hover()
    assert said(0)[0] in (2, 3)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Reset").click()
    assert said(0) == pytest.approx(facts(post, 2, 6), abs=0.0056)


def test_korean_words_and_a_plain_table(monkeypatch):
    monkeypatch.setenv("COURSE_BOOK_BUILD", "1")
    stream, _ = make_stream()
    html = stream._repr_html_()
    assert html.startswith("<residual-stream ") and "<script" not in html
    assert html.count('<th scope="row">') == 7
    words = (STATIC.parent / "visuals" / "stream-words.js").read_text("utf-8")
    english, korean = words.split("ko: {")
    names = re.compile(r"^ +(\w+): ", re.M)
    assert names.findall(english.split("en: {")[1]) == names.findall(korean)
