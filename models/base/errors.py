"""The two exceptions that reach a user, each said in one line: bad input, a check that failed."""

from __future__ import annotations

LINE = 2000
"""Characters of the longest complaint."""

VALUE = 80
"""Characters of the longest value that a complaint repeats."""


class BadInput(Exception):
    """Input that cannot be used: which file, key and value, and what is allowed.

    The command line prints the message as one line and exits with status 2.
    """


class NoSuchKey(BadInput, KeyError):
    """A name that a mapping does not have; its message lists the names that it has.

    As a ``KeyError`` it is what ``get`` and ``in`` of a mapping expect.
    """

    def __str__(self) -> str:
        """The message as it is; a ``KeyError`` would quote it."""
        return Exception.__str__(self)


class CheckFailed(Exception):
    """A check of the hardware or of a result did not hold: which, where, and what was found.

    The command line prints the message as one line and exits with status 1.
    """


def one_line(text: str, most: int = LINE) -> str:
    """``text`` on one line: what does not print is escaped, the middle of a long text left out.

    The middle, because a complaint begins with its place and ends with what is allowed.
    """
    escaped = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )
    if len(escaped) <= most:
        return escaped
    kept = (most - 5) // 2
    return f"{escaped[:kept]} ... {escaped[-kept:]}"


def shown(value: object) -> str:
    """``value`` as a complaint repeats it: as Python writes it, cut to ``VALUE`` characters."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # too many digits, too deep
        text = f"({type(value).__name__} that is too long to show)"
    return one_line(text, VALUE)
