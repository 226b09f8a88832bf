"""Set the house's docstrings well: `Shapes:`, `Raises:` and `Source:` become fields."""

import re

FIELD = re.compile(r"(Shapes|Raises|Source): +(.*)")
SHAPE = re.compile(r"\([\w.]+(?:, [\w.]+)+\)|\(\w+,\)")


def with_shapes(line):
    """Set shapes as code and arrows as arrows."""
    return SHAPE.sub(r"``\g<0>``", line).replace("->", "→")


def as_fields(lines):
    """Return docstring lines in which each marked part is a reStructuredText field."""
    result, field = [], None
    for line in lines:
        start = FIELD.match(line)
        if start:
            if field is None and result and result[-1]:
                result.append("")
            field, line = start[1], f":{start[1]}: {start[2]}"
        elif not line.strip():
            field = None
        elif field:
            line = f"  {line}"
        result.append(with_shapes(line) if field == "Shapes" else line)
    return result


def process(app, what, name, obj, options, lines):
    """Rewrite the lines of one docstring in place, as autodoc asks."""
    lines[:] = as_fields(lines)


def setup(app):
    """Listen to autodoc."""
    app.connect("autodoc-process-docstring", process)
