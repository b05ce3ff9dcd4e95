"""The one exception that reaches a user: bad input, said in one line."""

from __future__ import annotations


class BadInput(Exception):
    """Input that cannot be used: which file, key and value, and what is allowed.

    The command line prints the message as one line and exits with status 2.
    """
