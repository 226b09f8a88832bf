"""A page to show: models assembled from a learner's own pieces, checked and trained."""

from collections.abc import Callable
from pathlib import Path

from autograder.mine import load, own_and_borrowed, require_mine
from autograder.pages import render
from autograder.results import write_whole
from autograder.train import train_model

#: One of each kind, as trained, and the families that the parity table names.
MODELS = ("bert", "gpt2", "t5")


def write_showcase(
    mine: Path,
    models: tuple[str, ...],
    folder: Path,
    say: Callable[[str], None] = print,
) -> Path:
    """Train models from one's own pieces, and write a page about them.

    ``folder`` keeps the trainings, so that a stopped run goes on; the page is
    ``my-models.html`` in it, and needs nothing else. Raises CourseError when the
    package is none, or a model is not known.
    """
    require_mine(mine)
    own, borrowed = own_and_borrowed(load(mine, ""))
    recipes = load(mine, "recipes").RECIPES
    shown = []
    for name in models:
        place = folder / name
        result = train_model(
            name,
            "cpu",
            place,
            on_step=lambda step, loss, name=name: say(f"{name}, step {step}"),
            mine=mine,
        )
        low, high = recipes[name].band
        curve = (place / "curve.svg").read_text(encoding="utf-8")
        shown.append(
            {
                "title": recipes[name].title,
                "metric": recipes[name].metric,
                "value": result.value,
                "low": f"{low:g}",
                "high": f"{high:g}",
                "steps": len(result.losses),
                "seconds": round(result.seconds),
                "curve": curve[curve.index("<svg") :],
                "samples": result.samples,
            }
        )
    say("parity")
    parity = load(mine, "parity")
    page = render(
        "showcase.html",
        own=own,
        borrowed=borrowed,
        parity=list(parity.parity_rows()),
        limit=f"{parity.LIMIT:.0e}",
        models=shown,
    )
    path = folder / "my-models.html"
    write_whole(path, page)
    return path
