"""Clean what students write before it is shown in a browser.

nbgrader's formgrader and its feedback are nbconvert's ``HTMLExporter``; both go in
there, as a filter for Markdown and as a preprocessor for outputs. nh3 does the work.
"""

import html
import re

import nh3
from jinja2 import pass_context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbgrader.preprocessors import NbGraderPreprocessor
from pygments.token import STANDARD_TYPES

from exercises.mistakes import MIME

#: Outputs that cannot run and ask for nothing; a picture in SVG is shown as a picture.
HARMLESS = {
    "text/plain", "text/markdown", "text/latex", "image/png", "image/jpeg",
    "image/gif", "image/svg+xml", "application/json", MIME,
}  # fmt: skip
PICTURE = re.compile(
    r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*"
    r"|(\w(\w|[.-]|%20)*/)*\w(\w|[.-]|%20)*\.(png|jpe?g|gif|webp)",
    re.IGNORECASE,
)
BOXES = {"alert", "alert-info", "alert-success", "alert-warning", "alert-danger"}
CLASSES = {"div": {"highlight", *BOXES}, "span": set(STANDARD_TYPES.values()) - {""}}


def clean(markup: str) -> str:
    """Give markup without anything that runs, calls out or covers the page.

    No script, style or form, and no name that the page itself uses. Pictures come
    from the text or from the submission. There are no links: some addresses of the
    formgrader do something as soon as they are opened, and a learner can guess them.
    """
    return nh3.clean(
        markup,
        url_schemes={"data"},
        attribute_filter=_attribute,
        allowed_classes=CLASSES,
    )


def _attribute(tag: str, name: str, value: str) -> str | None:
    """Keep an attribute, unless it is an address; those of pictures may stay."""
    if name == "src" and PICTURE.fullmatch(value):
        return value
    return None if name in ("href", "src", "cite") else value


class Unlinked(IPythonRenderer):
    """Shows the address of a link beside its text."""

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """Give the text of a link and its address, not the link."""
        address = html.escape(url)
        return text if text == address else f"{text} ({address})"


@pass_context
def markdown2html(context, source: str) -> str:
    """Turn Markdown into clean HTML; what cannot be read is shown as it is written."""
    attachments = context.get("cell", {}).get("attachments", {})
    renderer = Unlinked(
        escape=False, attachments=attachments, exclude_anchor_links=True
    )
    try:
        return clean(MarkdownWithMath(renderer=renderer).render(source))
    except Exception:  # whatever the reader of Markdown stumbles over
        return f"<pre>{html.escape(source)}</pre>"


class CleanOutputs(NbGraderPreprocessor):
    """Leave nothing in outputs that could run, call out or cover the page."""

    def preprocess_cell(self, cell, resources, cell_index):
        """Clean what one cell displays; printed texts and errors are shown as text."""
        for output in cell.get("outputs", []):
            if "data" in output:
                markup = output.data.get("text/html")
                kept = {k: v for k, v in output.data.items() if k in HARMLESS}
                if isinstance(markup, str):
                    kept["text/html"] = clean(markup)
                output.data = kept
                output.metadata = {k: _size(v) for k, v in output.metadata.items()}
        return cell, resources


def _size(about) -> dict:
    """Keep only how large a picture is shown."""
    about = about if isinstance(about, dict) else {}
    sizes = {name: about.get(name) for name in ("width", "height")}
    return {name: size for name, size in sizes.items() if type(size) in (int, float)}
