"""One small head of attention, and a page that shows it."""

import shutil

import pytest
import torch

from book.visuals import STATIC, Sentence, attention_explorer

PAGE = """<!doctype html>
<html lang="{lang}" data-theme="{theme}">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>Attention explorer</title>
  <style>
    body {{
      margin: 1rem; font-family: var(--pst-font-family-base);
      background: var(--pst-color-background); color: var(--pst-color-text-base);
    }}
  </style>
  {assets}
</head>
<body><main><h1>Attention explorer</h1>{element}</main></body>
</html>"""


@pytest.fixture(scope="session")
def sentence():
    """Makes a sentence of a text, with random queries, keys and values."""

    def make(text, d_k=4, d_v=3, seed=0, **options):
        tokens = text.split()
        generator = torch.Generator().manual_seed(seed)
        queries, keys = torch.randn(2, len(tokens), d_k, generator=generator) * 1.5
        values = torch.randn(len(tokens), d_v, generator=generator)
        return Sentence(tokens, queries, keys, values, **options)

    return make


@pytest.fixture(scope="session")
def river(sentence):
    return sentence("the bank of the river", focus=1)


@pytest.fixture(scope="session")
def money(sentence):
    return sentence("my money in the bank", seed=1)


@pytest.fixture
def page_file(tmp_path, river, money, monkeypatch):
    """Writes a page that loads the element as the book does, or as a notebook does."""

    def write(sentences=(river, money), *, lang="en", theme="light", inline=False):
        monkeypatch.setenv("COURSE_BOOK_BUILD", "0" if inline else "1")
        element = attention_explorer(sentences, "Two banks.")._repr_html_()
        shutil.copytree(STATIC / "css", tmp_path / "css", dirs_exist_ok=True)
        shutil.copytree(STATIC / "js", tmp_path / "js", dirs_exist_ok=True)
        assets = (
            '<link rel="stylesheet" href="css/tokens.css">'
            '<link rel="stylesheet" href="css/attention-explorer.css">'
            '<script src="js/attention-explorer.js"></script>'
        )
        path = tmp_path / "page.html"
        path.write_text(
            PAGE.format(
                lang=lang,
                theme=theme,
                assets="" if inline else assets,
                element=element * (2 if inline else 1),
            ),
            encoding="utf-8",
        )
        return path.as_uri()

    return write


@pytest.fixture
def open_element(open_address, tmp_path, monkeypatch):
    """Opens a page that loads one element as the book does."""
    monkeypatch.setenv("COURSE_BOOK_BUILD", "1")

    def open_(element, *, lang="en", theme="light", **options):
        for kind in ("css", "js"):
            shutil.copytree(STATIC / kind, tmp_path / kind, dirs_exist_ok=True)
        assets = (
            '<link rel="stylesheet" href="css/tokens.css">'
            f'<link rel="stylesheet" href="css/{element.name}.css">'
            f'<script src="js/{element.name}.js"></script>'
        )
        html = PAGE.format(
            lang=lang, theme=theme, assets=assets, element=element._repr_html_()
        )
        path = tmp_path / f"{element.name}-{lang}-{theme}.html"
        path.write_text(html, encoding="utf-8")
        return open_address(path.as_uri(), **options)

    return open_


@pytest.fixture
def open_page(open_address, page_file):
    """Opens the explorer's page."""

    def open_(*args, width=1000, javascript=True, **options):
        address = page_file(*args, **options)
        return open_address(address, width=width, javascript=javascript)

    return open_


@pytest.fixture
def open_address(browser):
    """Opens a page; it must ask for nothing from outside and complain of nothing."""
    contexts, complaints, requests = [], [], []

    def open_(address, *, width=1000, javascript=True):
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            java_script_enabled=javascript,
            reduced_motion="reduce",
        )
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith("file:")] == []
