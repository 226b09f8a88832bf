"""The position lab: its arithmetic is that of solutions/positions.py, and it moves."""

import json
import re
import shutil
import subprocess

import pytest
import torch

from book.visuals import STATIC
from book.visuals.position import position_lab
from solutions.positions import rotate, sinusoidal_positions, t5_buckets

ARITHMETIC = STATIC.parent / "visuals" / "position-arithmetic.js"
PROGRAM = f"""
import {{ sinusoidal, rotate, t5Bucket }} from {json.dumps(ARITHMETIC.as_uri())};
const range = (from, to) => Array.from({{ length: to - from }}, (_, i) => from + i);
const vectors = JSON.parse(process.argv[1]);
console.log(JSON.stringify({{
  waves: range(0, 100).map((place) => sinusoidal(place, 15, 10000)),
  turned: vectors.map((vector, place) => rotate(vector, place, 500)),
  buckets: [[32, 128], [16, 12], [8, 40]].map(([number, far]) =>
    range(-300, 300).map((distance) => t5Bucket(distance, number, far))),
}}));
"""


def test_arithmetic_is_that_of_the_reference():
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed, so the arithmetic cannot be run.")
    vectors = torch.randn(60, 8, generator=torch.Generator().manual_seed(0))
    command = [node, "--input-type=module", "--eval", PROGRAM]
    answer = subprocess.run(
        [*command, json.dumps(vectors.tolist())],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    got = {name: torch.tensor(x) for name, x in json.loads(answer.stdout).items()}
    close = {"atol": 2e-5, "rtol": 0}
    torch.testing.assert_close(got["waves"], sinusoidal_positions(100, 15), **close)
    turned = rotate(vectors, torch.arange(60), base=500)
    torch.testing.assert_close(got["turned"], turned, **close)
    distances = torch.arange(-300, 300)
    pairs = zip(got["buckets"], ((32, 128), (16, 12), (8, 40)), strict=True)
    for buckets, sizes in pairs:
        assert buckets.tolist() == t5_buckets(distances, *sizes).tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 2}, "length is 2; expected a number from 4 to 128"),
        ({"width": 10}, "width is 10; expected a multiple of 4"),
        ({"base": 1.0}, "base is 1.0; expected a number above 1"),
        ({"behind": 99}, "behind is 99; expected a number below 64"),
        ({"max_distance": 8}, "max_distance is 8; expected more than 8"),
        ({"learned": torch.zeros(9, 32)}, r"expected at least \(64, 32\)"),
        ({"learned": torch.full((64, 32), torch.nan)}, "learned holds NaN"),
        ({"bias": torch.zeros(7)}, r"bias has shape \(7,\).*RelativeBias"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        position_lab("A caption.", **options)


def make_lab(**options):
    generator = torch.Generator().manual_seed(1)
    learned = torch.randn(40, 16, generator=generator)
    bias = torch.randn(16, generator=generator)
    trained = {"learned": learned, "bias": bias, "max_distance": 12}
    return position_lab("Four ways.", length=40, width=16, **trained), learned, bias


@pytest.mark.browser
def test_a_reader_moves_both_places(open_element):
    lab, learned, bias = make_lab()
    page = open_element(lab, theme="dark", width=390)
    reading = page.locator("position-lab .reading")

    def said():
        bold = reading.locator("b").all_inner_texts()
        return [float(text.replace("−", "-")) for text in bold if text[-1].isdigit()]

    table = sinusoidal_positions(40, 16)
    places = [13, 16, 3, (table[13] @ table[16]).item()]
    assert said() == pytest.approx(places, abs=0.0051)

    page.get_by_role("button", name="both on").press("Enter")
    same = places[3]
    assert said() == pytest.approx([14, 17, 3, same, same], abs=0.0051)

    page.get_by_role("slider", name="Other place").press("ArrowLeft")
    page.get_by_role("slider", name="Width").press("ArrowLeft")
    narrow = sinusoidal_positions(40, 8)
    product = (narrow[14] @ narrow[16]).item()
    assert said() == pytest.approx([14, 16, 2, product], abs=0.0051)
    assert page.locator("position-lab .bars").first.locator("rect").count() == 8

    page.get_by_label("learned").check()
    page.get_by_role("slider", name="Width").press("ArrowRight")
    product = (learned[14] @ learned[16]).item()
    assert said()[3] == pytest.approx(product, abs=0.0051)

    page.get_by_label("T5 buckets").check()
    distance = torch.tensor(2)
    number = bias[t5_buckets(distance, 16, 12)].item()
    assert said()[3] == pytest.approx(number, abs=0.0051)
    assert "bucket 10 of 16" in page.locator("position-lab .vectors").inner_text()

    page.get_by_label("rotary").check()
    page.get_by_label("over the distance").check()
    assert page.locator("position-lab .faint").count() == 5
    lines = page.locator("position-lab .chart").get_attribute("aria-label")
    heights = [float(y.replace("−", "-")) for y in re.findall(r": (−?[\d.]+)", lines)]
    assert heights.index(max(heights)) == 12  # two places behind place 14
    assert max(heights) == pytest.approx(16, abs=0.01)
    page.locator("position-lab .chart").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

    page.get_by_role("button", name="Reset").click()
    assert said() == pytest.approx(places, abs=0.0051)


def test_korean_words_and_a_plain_table(monkeypatch):
    monkeypatch.setenv("COURSE_BOOK_BUILD", "1")
    lab, _, _ = make_lab()
    html = lab._repr_html_()
    assert html.startswith("<position-lab ") and "<script" not in html
    assert html.count('<th scope="row">') == 9
    table = sinusoidal_positions(40, 16)
    assert f"<td>{table[20] @ table[24]:.2f}</td>" in html
    words = (ARITHMETIC.parent / "position-words.js").read_text("utf-8")
    english, korean = words.split("ko: {")
    names = re.compile(r"^ +(\w+): \"", re.M)
    assert names.findall(english) == names.findall(korean)
