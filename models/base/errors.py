"""The two exceptions that reach a user, each with a one-line message: bad input, failed check."""

from __future__ import annotations

LINE = 2000
"""Characters of the longest message."""

VALUE = 80
"""Characters of the longest value that a message repeats."""


class BadInput(Exception):
    """Input that cannot be used; the message gives file, key, value and the allowed values."""


class NoSuchKey(BadInput, KeyError):
    """A name that a mapping does not have; the message lists the names that it has.

    It is also a ``KeyError``, because ``get`` and ``in`` of a mapping expect one.
    """

    def __str__(self) -> str:
        """Return the message unchanged; a ``KeyError`` would quote it."""
        return Exception.__str__(self)


class CheckFailed(Exception):
    """A failed check of the hardware or of a result; the message gives check, place and finding.

    The command line prints the message as one line and exits with status 1.
    """


def one_line(text: str, most: int = LINE) -> str:
    """Return ``text`` on one line: unprintable characters escaped, a long text cut in the middle.

    The middle is cut because a message begins with its place and ends with the allowed values.
    """
    escaped = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )
    if len(escaped) <= most:
        return escaped
    kept = (most - 5) // 2
    return f"{escaped[:kept]} ... {escaped[-kept:]}"


def shown(value: object) -> str:
    """Return ``value`` as a message repeats it: in Python's notation, cut to ``VALUE``
    characters.
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # too many digits, or nested too deep
        text = f"({type(value).__name__} that is too long to show)"
    return one_line(text, VALUE)
