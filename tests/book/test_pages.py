"""The built pages in a real browser: self-contained, accessible, sound on a phone."""

import gzip
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

BOOK = Path(__file__).resolve().parents[2] / "book"
FIRST_LOAD_LIMIT = 460_000
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
MODES = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True},
}
TYPESET = "() => window.MathJax?.startup?.promise?.then(() => true) ?? true"
SIDEWAYS = """() => {
  const root = document.documentElement;
  return root.scrollWidth - root.clientWidth;
}"""
RAW_TEX = r"""() => {
  const text = document.querySelector('main').cloneNode(true);
  text.querySelectorAll('pre, code, mjx-container, script').forEach((e) => e.remove());
  return text.textContent.match(/\\[a-zA-Z]+|\\\(|\\\[|\$\$/g) ?? [];
}"""
RUN_AXE = """async (tags) => {
  const found = await axe.run({ runOnly: { type: 'tag', values: tags } });
  return found.violations.map((v) =>
    `${v.id}: ${v.help}: ` + v.nodes.slice(0, 3).map((n) => n.html).join(' | '));
}"""
IN_SIGHT = "() => document.activeElement.getBoundingClientRect().bottom > 0"
FOCUS = """() => {
  const element = document.activeElement;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
  return {
    name: (element.textContent || element.title || element.tagName).trim(),
    inContent: document.querySelector('main .bd-article').contains(element),
    onScreen: box.right > 0 && box.bottom > 0 && box.top < innerHeight,
    ring: ring || style.boxShadow !== 'none',
  };
}"""


def page_names():
    """List the pages of the table of contents and those that Sphinx adds."""
    toc = yaml.safe_load((BOOK / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [page["file"] for part in toc["parts"] for page in part["chapters"]]
    return [toc["root"], *chapters, "genindex", "search"]


@dataclass
class Visit:
    """What one load of one page did."""

    outside: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    responses: list = field(default_factory=list)
    sizes: dict = field(default_factory=dict)
    sideways: int = 0
    raw_tex: list = field(default_factory=list)
    axe: list = field(default_factory=list)


def is_local(url):
    """Say whether a request stays on this machine."""
    return url.startswith(("file:", "data:", "blob:", "about:", "http://127.0.0.1:"))


def watch(page, visit):
    """Note outside requests, script errors and the size of each file of a page."""

    def asked(request):
        if not is_local(request.url):
            visit.outside.append(request.url)

    def answered(response):
        if response.status >= 400:
            visit.errors.append(f"{response.status} {response.url}")
        visit.responses.append(response)

    def said(message):
        if message.type == "error":
            visit.errors.append(message.text)

    page.on("request", asked)
    page.on("response", answered)
    page.on("console", said)
    page.on("pageerror", lambda error: visit.errors.append(str(error)))


def gzipped_sizes(responses):
    """Return the gzipped size of each file a page loaded, icon fonts left out."""
    return {
        response.url: len(gzip.compress(response.body(), 6))
        for response in responses
        if ".woff2" not in response.url
    }


def open_page(browser, url, mode):
    """Open an address afresh; return the context, the page and its visit."""
    visit = Visit()
    context = browser.new_context(**MODES[mode])
    page = context.new_page()
    watch(page, visit)
    page.goto(url, wait_until="load")
    page.evaluate(TYPESET)
    return context, page, visit


@pytest.fixture(scope="session")
def visits(browser, server, axe_source):
    """Return a function that visits a page once and remembers what it saw."""
    seen = {}

    def look(name, mode):
        if (name, mode) not in seen:
            context, page, visit = open_page(browser, f"{server}/{name}.html", mode)
            if mode == "light":
                page.wait_for_load_state("networkidle")
                visit.sizes = gzipped_sizes(visit.responses)
            visit.sideways = page.evaluate(SIDEWAYS)
            visit.raw_tex = page.evaluate(RAW_TEX)
            page.evaluate(axe_source)
            visit.axe = page.evaluate(RUN_AXE, AXE_TAGS)
            context.close()
            seen[name, mode] = visit
        return seen[name, mode]

    return look


@pytest.fixture(params=MODES)
def mode(request):
    """Go through the three ways of looking at a page."""
    return request.param


@pytest.fixture(params=page_names())
def name(request):
    """Go through the pages."""
    return request.param


@pytest.fixture
def visit(visits, name, mode):
    """Return what a visit of this page in this mode saw."""
    return visits(name, mode)


def test_no_request_leaves_the_machine(visit):
    assert visit.outside == []


def test_no_script_error(visit):
    assert visit.errors == []


def test_no_accessibility_violation(visit):
    assert visit.axe == []


def test_no_sideways_scroll(visit):
    assert visit.sideways <= 0


def test_all_maths_is_typeset(visit):
    assert visit.raw_tex == []


def test_first_load_is_light(visits, name):
    sizes = visits(name, "light").sizes
    heaviest = sorted(sizes.items(), key=lambda item: -item[1])[:5]
    assert 0 < sum(sizes.values()) <= FIRST_LOAD_LIMIT, heaviest


def test_pages_work_from_a_folder(browser, built_book):
    address = (built_book / "01-self-attention.html").as_uri()
    context, page, visit = open_page(browser, address, "light")
    formulas = page.locator("article mjx-container").count()
    raw_tex = page.evaluate(RAW_TEX)
    context.close()
    assert formulas > 0
    assert (raw_tex, visit.errors, visit.outside) == ([], [], [])


def test_search_finds_softmax_from_a_folder(browser, built_book):
    address = (built_book / "search.html").as_uri() + "?q=softmax"
    context, page, visit = open_page(browser, address, "light")
    page.wait_for_selector("#search-results .search li", timeout=10_000)
    found = page.locator("#search-results .search li a").all_inner_texts()
    context.close()
    assert any("attention" in text.lower() for text in found), found
    assert (visit.errors, visit.outside) == ([], [])


def press_tab(page):
    """Move the keyboard's focus on, wait until it is in sight, and describe it."""
    page.keyboard.press("Tab")
    page.wait_for_function(IN_SIGHT, timeout=5_000)
    return page.evaluate(FOCUS)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_keyboard_reaches_the_content_with_visible_focus(browser, server, mode):
    context, page, _ = open_page(browser, f"{server}/01-self-attention.html", mode)
    stops = [press_tab(page)]
    page.keyboard.press("Enter")
    while len(stops) < 20 and not stops[-1]["inContent"]:
        stops.append(press_tab(page))
    context.close()
    assert "Skip to main content" in stops[0]["name"]
    assert stops[-1]["inContent"], [stop["name"] for stop in stops]
    assert all(stop["ring"] and stop["onScreen"] for stop in stops), stops
