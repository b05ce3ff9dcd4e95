"""Whether this process is the program ``merp`` and nothing else, and since when.

In another program a block need not be what its file says: a test plants a fault in a module, and a
notebook changes one. What is kept by the contents of files is of no use there.
"""

from __future__ import annotations

from time import time_ns

_LOADED = 1_000_000_000  # nanoseconds, in which the first modules were loaded before the call

_began: int | None = None


def begin() -> None:
    """Call this first in the program, and nowhere else."""
    global _began
    _began = time_ns() - _LOADED


def began() -> int | None:
    """Nanoseconds of the epoch at which the program began; None in another program."""
    return _began
