"""The exceptions that a user sees as a sentence."""


class CourseError(Exception):
    """Something a user can mend: what was wrong, what was expected, what to do."""


class MachineFault(CourseError):
    """Something the machine could not do, whatever was handed in: try it again."""
