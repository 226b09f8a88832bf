"""The few things that feedback and report pages share."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """Give the templates; every text that goes in is escaped."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["points"] = lambda number: f"{number:.4g}"
    made.filters["small"] = lambda gap: "-" if gap is None else f"{gap:.1e}"
    made.filters["capitalised"] = lambda text: text[:1].upper() + text[1:]
    return made


def render(template: str, **facts) -> str:
    """Fill in a page; its style goes into it, so that it needs nothing else."""
    css = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    return environment().get_template(template).render(css=css, **facts)
