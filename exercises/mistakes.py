"""Recognising a known mistake by how an answer fails. Needs nothing but Python."""

import math

#: Under this name a notebook keeps the result of a check beside its text.
MIME = "application/vnd.transformer-course.check+json"


def find_mistake(properties: list[dict], known: list[dict]) -> dict | None:
    """Find the known mistake that fails the same properties with the same outcomes.

    A mistake that explains every failing property wins; else the one that shares
    most of them with equal numbers. Where a mistake's outcomes depend on chance, they
    count for less than equal numbers. Returns id, sentence, chapter, section, or None.
    """
    failed = {p["label"]: p["outcome"] for p in properties if not p["passed"]}
    best, most = None, (False, 0.0)
    for mistake in known:
        fails = mistake["fails"]
        chance = any(outcome.get("random") for outcome in fails.values())
        near = _alike_in_kind if chance else _alike
        agree = [label for label in failed if near(failed[label], fails.get(label))]
        sure = [label for label, out in fails.items() if out != {"random": True}]
        exact = len(agree) == len(failed) and all(label in failed for label in sure)
        equal = [
            label
            for label in agree
            if not fails[label].get("random") and _alike(failed[label], fails[label])
        ]
        telling = [label for label in equal if failed[label]["kind"] != "error"]
        if exact and equal:
            score = (True, len(equal))
        else:
            score = (False, max(len(telling), exact * len(agree) / 2))
        if score > most:
            best, most = mistake, score
    keys = ("id", "sentence", "chapter", "section")
    return {key: best[key] for key in keys} if best else None


def _alike_in_kind(one: dict, other: dict | None) -> bool:
    """Compare outcomes of an answer that depends on chance: all but the numbers."""
    if other is None or one["kind"] == "error":
        return _alike(one, other)
    return all(one.get(k) == other[k] for k in ("kind", "shape") if k in other)


def _alike(one, other) -> bool:
    """Compare two outcomes; numbers within one part in a thousand."""
    if isinstance(one, dict) and isinstance(other, dict):
        if other.get("random"):
            return all(one.get(k) == v for k, v in other.items() if k != "random")
        return one.keys() == other.keys() and all(_alike(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-4)
    return one == other
