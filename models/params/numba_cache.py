"""Whether compiled code can be kept for the next process.

numba refuses to *define* a cached function where no folder can be written: a package that root
installed, for a user without a home. Then code is compiled anew in each process, which takes
seconds.
"""

from __future__ import annotations

from numba import njit


def _nothing() -> None:
    """Stands in the package, as all that is compiled does."""


def _kept() -> bool:
    try:
        njit(cache=True)(_nothing)
    except (RuntimeError, OSError):
        return False
    return True


KEPT = _kept()
"""The ``cache`` of every ``njit``."""
