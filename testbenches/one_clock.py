"""Run all processes of one clock edge as one: MyHDL spends more on waking a process than on it.

A design here has some sixty processes that wait for nothing but the clock, most of them idle at any
time. MyHDL resumes each through a waiter and a generator of its own; calling the same functions
from a single process does the same work in the same delta cycle, as all that they do to signals is
to assign ``next``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from myhdl._always import _Always
from myhdl._block import _Block


def take_clocked(elaborated: Any, clk: Any) -> list[Callable[[], None]]:
    """Take every ``@always(clk.posedge)`` out of an elaborated block and return their functions.

    Processes that wait for anything else stay where they are.
    """
    functions: list[Callable[[], None]] = []
    kept: list[Any] = []
    for part in elaborated.subs:
        if isinstance(part, _Block):
            functions += take_clocked(part, clk)
        elif type(part) is _Always and len(part.senslist) == 1 and part.senslist[0] is clk.posedge:
            functions.append(part.func)
            continue
        kept.append(part)
    elaborated.subs = kept
    return functions
