"""Everything that is said to people on standard error, and how: one line each."""

from __future__ import annotations

import sys

from merp.models.base.errors import LINE, one_line
from merp.tools.common.streams import drop

ANY_LENGTH = sys.maxsize
"""Of a line that holds a command, which is worth nothing if it is cut."""


def complain(message: str, program: str = "merp", most: int = LINE) -> None:
    """Print ``message`` as one line of so many characters at most.

    A standard error that takes nothing is no second error.
    """
    try:
        print(f"{program}: {one_line(message, most)}", file=sys.stderr, flush=True)
    except OSError:
        drop(sys.stderr)  # else what it still holds would be an error at the exit
