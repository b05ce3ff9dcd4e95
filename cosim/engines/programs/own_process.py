"""Whether this process is the program ``merp`` and nothing else, and its start time.

In another program a block may differ from its file. For example, a test plants a fault in a module,
or a notebook changes one. A cache that is keyed by file contents is not usable there.
"""

from __future__ import annotations

from time import time_ns

_LOADED = 1_000_000_000  # nanoseconds; the first modules were loaded in this time before the call

_began: int | None = None


def begin() -> None:
    """Record the start of the program. Call it first in the program, and nowhere else."""
    global _began
    _began = time_ns() - _LOADED


def began() -> int | None:
    """Return the start time of the program in nanoseconds of the epoch; None in another program."""
    return _began
