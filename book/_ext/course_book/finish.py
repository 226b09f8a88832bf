"""What happens to the pages after Sphinx has written them."""

import re
import shutil
from pathlib import Path

from . import exercises

DROPPED_FILES = ("_static/scripts/fontawesome.js", "_static/scripts/fontawesome.js.map")

THEME_STYLE = "_static/styles/pydata-sphinx-theme.css"
ICON = re.compile(r"fa-[a-z0-9-]+")
ICON_RULE = re.compile(r"(?:\.fa-[a-z0-9-]+:?:before,?)+\{content:[^}]*\}")

REPAIRS = (
    # The icons come from the style sheet: the script is 1.5 MB for nothing.
    (r"<(script|link)\b[^>]*fontawesome\.js[^>]*>(</script>)?\s*", ""),
    # WCAG 2.5.3: a name that hides the words one sees.
    (
        r'(<button\b[^>]*class="[^"]*(?:search-button|theme-switch)[^>]*?)'
        r'\s+aria-label="[^"]*"',
        r"\1",
    ),
    (r'(<summary\b[^>]*?)\s+aria-label="[^"]*"', r"\1"),
    # ARIA: a list without items, and a role that is no longer allowed.
    (r'<div role="list"(?= class="citation-list")', "<div"),
    (r'\s+role="doc-biblioentry"', ""),
    # The site's title stands outside every landmark.
    (
        r'(?<!aria-label="Home">)(<a class="navbar-brand logo"[^>]*>.*?</a>)',
        r'<nav class="site-title" aria-label="Home">\1</nav>',
    ),
)
# The interactive elements: a page loads the script and the style of those it shows.
ELEMENT = re.compile(
    r"<(script|link)\b[^>]*_static/(?:js|css)/"
    r"(attention-explorer|position-lab|shape-tracer|residual-stream|token-sampler|"
    r"model-card|training-film)\.(?:js|css)"
    r"[^>]*>(?:</script>)?\s*"
)
# The theme loads the index of all words everywhere; the page of the search needs it.
SEARCH = re.compile(
    r"<script\b[^>]*(?:searchtools|language_data|searchindex)\.js[^>]*></script>\s*"
)
REPAIRS = tuple((re.compile(old, re.S), new) for old, new in REPAIRS)


def repair(html):
    """Return a page without the theme's known faults."""
    for pattern, replacement in REPAIRS:
        html = pattern.sub(replacement, html)
    if 'id="search-results"' not in html:
        html = SEARCH.sub("", html)
    return ELEMENT.sub(lambda tag: tag[0] if f"<{tag[2]} " in html else "", html)


def drop_unused_icons(outdir):
    """Drop the rules of the icons that no page and no script names: 20 kB of 65."""
    style = Path(outdir, THEME_STYLE)
    sources = [*Path(outdir).rglob("*.html"), *Path(outdir, "_static").glob("*.js")]
    sources += Path(outdir, "_static/scripts").glob("*.js")
    texts = (path.read_text(encoding="utf-8") for path in sources)
    used = {name for text in texts for name in ICON.findall(text)}
    css = style.read_text(encoding="utf-8")
    css = ICON_RULE.sub(
        lambda rule: rule[0] if used & set(ICON.findall(rule[0])) else "", css
    )
    style.write_text(css, encoding="utf-8")


def repair_pages(outdir):
    """Repair every page of the built book in place."""
    for page in Path(outdir).rglob("*.html"):
        before = page.read_text(encoding="utf-8")
        after = repair(before)
        if after != before:
            page.write_text(after, encoding="utf-8")


def finish(app, exception):
    """Copy what Sphinx must not load itself, drop what is not needed, repair."""
    if exception or app.builder.format != "html":
        return
    vendored = Path(app.srcdir, "_vendor")
    shutil.copytree(vendored, Path(app.outdir, "_static/vendor"), dirs_exist_ok=True)
    exercises.publish(app)
    for name in DROPPED_FILES:
        Path(app.outdir, name).unlink(missing_ok=True)
    repair_pages(app.outdir)
    drop_unused_icons(app.outdir)


def setup(app):
    """Run after the build."""
    app.connect("build-finished", finish)
