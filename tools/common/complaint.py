"""Everything that is said to people on standard error, and how: one line each."""

from __future__ import annotations

import sys

from merp.models.errors import one_line
from merp.tools.common.streams import drop


def complain(message: str, program: str = "merp") -> None:
    """Print ``message`` as one line; a standard error that takes nothing is no second error."""
    try:
        print(f"{program}: {one_line(message)}", file=sys.stderr, flush=True)
    except OSError:
        drop(sys.stderr)  # else what it still holds would be an error at the exit
