from nbgrader.preprocessors import ClearHiddenTests
class HideHiddenTests(ClearHiddenTests):
    """x"""
