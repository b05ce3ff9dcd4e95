"""A simulation or conversion that knows its own signals only, and is forgotten behind itself.

MyHDL keeps every signal, list of signals and block that a process has ever made. It resets each
signal when a simulation ends, and simulates the concatenations of every design that was elaborated
before: each run would be slower, and the process larger, than with the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from merp.hdl.conversion.base.internals import ALL_BLOCKS, ALL_MEMORIES, ALL_SIGNALS, AnySignal


@contextmanager
def own_signals(ports: Iterable[AnySignal]) -> Iterator[None]:
    """Forget, behind this block, the signals, lists of them and blocks that are made in it.

    Before it MyHDL has ``ports`` only, which are reset behind a simulation as all signals are.
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
