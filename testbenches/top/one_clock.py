"""Run a design's clocked processes from one process, and only those that could do something.

A design here has some sixty processes that wait for nothing but the clock, most of them idle at any
time. MyHDL resumes each through a waiter and a generator of its own, and updates every signal that
is assigned, seven times in ten to the value that it has. Two things save that, and change nothing:

- All that a process does to signals is to assign ``next``; so calling the functions one after the
  other from a single process is the same work in the same delta cycle.
- What a process assigns depends on the signals within its reach alone. If none of them has changed
  since it last ran, it would assign what it did then, and that is already their value.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from merp.hdl.conversion.internals import Always, AnySignal, Block, event_waiters

Process = Callable[[], None]


def take_clocked(elaborated: Any, clk: Any) -> list[Process]:
    """Take every ``@always(clk.posedge)`` out of an elaborated block and return their functions.

    Processes that wait for anything else stay where they are.
    """
    functions: list[Process] = []
    kept: list[Any] = []
    for part in elaborated.subs:
        if isinstance(part, Block):
            functions += take_clocked(part, clk)
        elif type(part) is Always and len(part.senslist) == 1 and part.senslist[0] is clk.posedge:
            functions.append(part.func)
            continue
        kept.append(part)
    elaborated.subs = kept
    return functions


class ClockedProcesses:
    """The processes of one clock edge.

    Attributes:
        waiting: processes that the coming edge may concern.
    """

    def __init__(self, processes: Iterable[Process]) -> None:
        self._always: list[Process] = []
        self.waiting: set[Process] = set()
        watchers: dict[int, tuple[AnySignal, set[Process]]] = {}
        for process in processes:
            reach = signals_in_reach(process)
            if reach is None:
                self._always.append(process)
                continue
            self.waiting.add(process)
            for signal in reach:
                watchers.setdefault(id(signal), (signal, set()))[1].add(process)
        for signal, concerned in watchers.values():
            _Mark(signal, concerned, self)

    def mark(self, processes: set[Process]) -> None:
        """A signal within reach of ``processes`` has changed."""
        self.waiting |= processes

    def edge(self) -> None:
        """Run the waiting processes, and those that keep a state of their own."""
        due, self.waiting = self.waiting, set()
        for process in due:
            process()
        for process in self._always:
            process()


class _Mark:
    """Takes the place of a waiter in a signal's list; MyHDL calls ``next`` on every change."""

    hasRun = 0  # MyHDL throws waiters out of the list that have run

    def __init__(self, signal: AnySignal, concerned: set[Process], processes: ClockedProcesses):
        self._concerned = concerned
        self._processes = processes
        self._rearm = event_waiters(signal).append
        self._rearm(self)

    def next(self, waiters: Any, actives: Any, exc: Any) -> None:
        """The signal has changed."""
        self._rearm(self)
        self._processes.mark(self._concerned)


def signals_in_reach(process: Process) -> list[AnySignal] | None:
    """Every signal that a process can read or assign; None if it can reach anything else.

    A process that keeps a state outside signals (only behavioural ones do) depends on more.
    """
    names = inspect.getclosurevars(process)
    if any(
        step.opname in ("STORE_DEREF", "STORE_GLOBAL")
        and step.argval not in process.__code__.co_cellvars
        for step in dis.get_instructions(process)
    ):
        return None
    reach: list[AnySignal] = []
    # A function of a module can keep no state that a block instance could tell apart; one within
    # the block can.
    named = (value for value in names.globals.values() if not inspect.isroutine(value))
    for value in (*names.nonlocals.values(), *named):
        if not _collect(value, reach):
            return None
    return reach


def _collect(value: Any, reach: list[AnySignal]) -> bool:
    """Add the signals in ``value``; False if it holds what is neither signal nor constant."""
    if isinstance(value, AnySignal):
        reach.append(value)
        return True
    if value is None or isinstance(value, bool | int | str | type):
        return True
    if isinstance(value, list | tuple):
        return all(_collect(part, reach) for part in value)
    if inspect.isroutine(value) or not hasattr(value, "__dict__"):
        return False
    return all(_collect(part, reach) for part in vars(value).values())
