"""The book's Sphinx extension: execution cache, exercise links, last touches."""

from . import cache, docstrings, exercises, finish, kernels


def setup(app):
    """Register the parts with Sphinx."""
    for part in (kernels, cache, docstrings, exercises, finish):
        part.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
