"""A simulation that knows its own signals only.

MyHDL keeps every signal that a process has ever made. It resets each of them when a simulation
ends, and simulates the concatenations of every design that was elaborated before: each run would
be slower than the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from merp.hdl.conversion.internals import ALL_SIGNALS, AnySignal


@contextmanager
def own_signals(ports: Iterable[AnySignal]) -> Iterator[None]:
    """Forget, behind this block, the signals that are made in it.

    Before it MyHDL has ``ports`` only, which are reset behind a simulation as all signals are.
    """
    others = ALL_SIGNALS[:]
    ALL_SIGNALS[:] = ports
    try:
        yield
    finally:
        ALL_SIGNALS[:] = others
