"""Isolate the signals of a simulation or conversion, and forget them afterwards.

MyHDL keeps every signal, list of signals and block that a process has ever made. It resets each
signal when a simulation ends, and simulates the concatenations of every design that was elaborated
before. Without this module, each run would be slower than the previous one, and the process larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from merp.hdl.conversion.base.internals import ALL_BLOCKS, ALL_MEMORIES, ALL_SIGNALS, AnySignal


@contextmanager
def own_signals(ports: Iterable[AnySignal]) -> Iterator[None]:
    """Forget, at the end of this context, the signals, lists of signals and blocks made in it.

    At its beginning MyHDL only has ``ports``, which are reset after a simulation like all signals.
    """
    others, blocks, memories = ALL_SIGNALS[:], len(ALL_BLOCKS), dict(ALL_MEMORIES)
    ALL_SIGNALS[:] = ports
    try:
        yield
    finally:
        ALL_SIGNALS[:] = others
        del ALL_BLOCKS[blocks:]
        ALL_MEMORIES.clear()
        ALL_MEMORIES.update(memories)
