"""Notebooks written quickly: without line breaks, which Python encodes in C."""

import json
from pathlib import Path

import nbformat
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
    """nbgrader's exporter in ``Autograde``: its two passes write the same notebook.

    The notebook was read for this alone, so that it need not be copied.
    """

    def from_file(self, file_stream, resources=None, **kw):
        """Read a notebook as `course grade` does, in any usual encoding."""
        from autograder.mend import read  # which writes notebooks with this module

        return self.from_notebook_node(read(Path(file_stream.name)), resources)

    def from_notebook_node(self, nb, resources=None, **kw):
        """Apply the preprocessors, and give the text of the file.

        Raises nbformat's ValidationError when what comes out is no notebook.
        """
        resources = self._init_resources(resources)
        for preprocessor in self._preprocessors:
            nb, resources = preprocessor(nb, resources)
        nbformat.validate(nb, relax_add_props=True)
        resources["output_suffix"] = ".nbconvert"
        return as_json(nb) + "\n", resources
