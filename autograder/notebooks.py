"""Notebooks written quickly: without line breaks, which Python encodes in C."""

import json

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.v4.nbjson import BytesEncoder
from nbformat.v4.rwbase import split_lines, strip_transient


def as_json(notebook: NotebookNode) -> str:
    """Give a notebook as the text of its file; the notebook is used up by this."""
    parts = strip_transient(split_lines(notebook))
    return json.dumps(
        parts,
        cls=BytesEncoder,
        ensure_ascii=False,
        sort_keys=True,
        separators=(",", ":"),
    )


class QuickExporter(NotebookExporter):
    """nbgrader's exporter in ``Autograde``: its two passes write the same notebook."""

    def from_notebook_node(self, nb, resources=None, **kw):
        """Apply the preprocessors, and give the text of the file."""
        done, resources = super(NotebookExporter, self).from_notebook_node(
            nb, resources, **kw
        )
        resources["output_suffix"] = ".nbconvert"
        return as_json(done) + "\n", resources
