"""Everything that is said to people on standard error, and how: one line each."""

from __future__ import annotations

import sys
from contextlib import suppress

from merp.models.errors import one_line


def complain(message: str, program: str = "merp") -> None:
    """Print ``message`` as one line; a standard error that takes nothing is no second error."""
    with suppress(OSError):
        print(f"{program}: {one_line(message)}", file=sys.stderr, flush=True)
