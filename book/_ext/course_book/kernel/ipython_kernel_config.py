"""IPython settings of the kernels that execute the book."""

c = get_config()  # noqa: F821
c.InlineBackend.figure_formats = {"svg"}
c.HistoryManager.enabled = False
