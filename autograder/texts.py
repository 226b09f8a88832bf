"""Texts that came from elsewhere, made safe to write and to show."""


def writable(text) -> str:
    """Give a text that can be written to a file: half characters become ``?``."""
    return str(text).encode("utf-8", "replace").decode()


def writable_in(value):
    """Make every text in a JSON value writable."""
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, list):
        return [writable_in(item) for item in value]
    if isinstance(value, dict):
        return {writable(key): writable_in(item) for key, item in value.items()}
    return value


def printable(text: str) -> str:
    """Leave out what a terminal would obey."""
    return "".join(character for character in text if character.isprintable())


def first_line(error: BaseException) -> str:
    """Give the first line of what an exception says, or the name of its kind."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
