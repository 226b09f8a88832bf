"""The one exception that a user sees as a sentence."""


class CourseError(Exception):
    """Something a user can mend: what was wrong, what was expected, what to do."""
