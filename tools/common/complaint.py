"""Messages to people on standard error, one line each."""

from __future__ import annotations

import sys

from merp.models.base.errors import LINE, one_line
from merp.tools.common.streams import drop

ANY_LENGTH = sys.maxsize
"""Limit for a line that contains a command, because a cut command is useless."""


def complain(message: str, program: str = "merp", most: int = LINE) -> None:
    """Print ``message`` as one line of ``most`` characters at most.

    If standard error cannot be written, the message is dropped.
    """
    try:
        print(f"{program}: {one_line(message, most)}", file=sys.stderr, flush=True)
    except OSError:
        drop(sys.stderr)  # the rest of its buffer would raise an error at the exit
