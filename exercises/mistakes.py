"""Recognising a known mistake by how an answer fails. Needs nothing but Python."""

import math

#: Under this name a notebook keeps the result of a check beside its text.
MIME = "application/vnd.transformer-course.check+json"


#: Outcomes that say little by themselves: many mistakes share them.
VAGUE = {"error", "no gradient", "no raise", "unlearned", "changed", "type", "nan"}


def find_mistake(properties: list[dict], known: list[dict]) -> dict | None:
    """Find the known mistake that fails the same properties with the same outcomes.

    A mistake that explains every failing property wins. Else one may be told that is
    seen whole among other failures, or in most of its own outcomes with equal numbers
    that tell something; a wrong name is worse than none. Where a mistake's outcomes
    depend on chance, they count for less than equal numbers. Returns id, sentence,
    chapter, section, or None.
    """
    failed = {p["label"]: p["outcome"] for p in properties if not p["passed"]}
    best, most = None, (False, 0.0)
    for mistake in known:
        score = _likeness(failed, mistake["fails"])
        if score > most:
            best, most = mistake, score
    keys = ("id", "sentence", "chapter", "section")
    return {key: best[key] for key in keys} if best else None


def _likeness(failed: dict[str, dict], fails: dict[str, dict]) -> tuple[bool, float]:
    """Score how well a mistake explains the failures: entirely or not, and how much."""
    agree = [label for label in failed if _alike(failed[label], fails.get(label))]
    equal = [label for label in agree if not fails[label].get("random")]
    sure = [label for label, outcome in fails.items() if outcome != {"random": True}]
    if any(label not in failed for label in sure):
        return False, 0.0
    telling = [label for label in equal if _tells(failed[label])]
    if equal and len(agree) == len(failed):
        return True, len(equal)
    if failed.keys() == fails.keys() and _by_chance(failed, fails):
        return False, 0.5
    whole = len(agree) == len(fails)
    most = 2 * len(agree) > max(len(failed), len(fails))
    return False, len(telling) if telling and (whole or most) else 0.0


def _by_chance(failed: dict[str, dict], fails: dict[str, dict]) -> bool:
    """Tell whether chance plays a part, and all else but the numbers is the same."""
    pairs = [(failed[label], fails[label]) for label in failed]
    same_kinds = all(
        one["kind"] == other.get("kind", one["kind"])
        and one.get("shape") == other.get("shape", one.get("shape"))
        for one, other in pairs
    )
    return same_kinds and any(outcome.get("random") for outcome in fails.values())


def _tells(outcome: dict) -> bool:
    """Tell whether two answers with this outcome are likely to share a mistake."""
    if outcome["kind"] == "number":
        return outcome["got"] not in ("True", "False", "0", "1", "0.0", "1.0")
    return outcome["kind"] not in VAGUE


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
