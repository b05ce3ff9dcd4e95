"""Run all processes of a design from one process, and skip those that would change nothing.

A design of merp has about sixty processes that wait only for the clock. Most of them are idle at
any time. It has as many combinational processes. MyHDL resumes each process through a waiter and a
generator of its own. The classes of this module replace these waiters. The result is the same, for
two reasons:

- A process changes signals only by assigning ``next``. Therefore one process can call all
  functions in turn: it is the same work in the same delta cycle.
- The assigned values depend only on the signals that the process can reach, without those that it
  only assigns. If none of these signals has changed since the last run, the process would assign
  the present values again.

After ``PATIENCE`` edges the processes are replaced by faster ones. A short simulation ends before
that and saves the time of the replacement.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from types import CodeType
from typing import Any

from myhdl import block, instance

from merp.hdl.conversion.base.internals import (
    ALL_SIGNALS,
    Always,
    AlwaysComb,
    AnySignal,
    Block,
    only_driven,
)
from merp.hdl.fast_simulation.quick_processes import quick_process
from merp.hdl.fast_simulation.quick_shadows import Follower, followers
from merp.hdl.fast_simulation.quick_signals import Watch

Process = Callable[[], None]

PATIENCE = 500
"""Edges of the clock before the processes are rewritten."""

_CONSTANTS = (bool, int, str, type)


@dataclass
class Taken:
    """Processes that were removed from an elaborated block.

    Attributes:
        clocked: every ``@always(clk.posedge)``.
        combinational: every ``@always_comb``.
    """

    clocked: list[Any] = field(default_factory=list)
    combinational: list[Any] = field(default_factory=list)


def take_processes(elaborated: Any, clk: Any) -> Taken:
    """Remove the processes that ``Processes`` can run from a block, and return them.

    Processes that wait for anything but ``clk`` or their inputs stay in the block.
    """
    taken = Taken()
    _take(elaborated, clk, taken)
    return taken


def _take(elaborated: Any, clk: Any, taken: Taken) -> None:
    kept: list[Any] = []
    for part in elaborated.subs:
        if isinstance(part, Block):
            _take(part, clk, taken)
        elif type(part) is AlwaysComb:
            taken.combinational.append(part)
            continue
        elif type(part) is Always and len(part.senslist) == 1 and part.senslist[0] is clk.posedge:
            taken.clocked.append(part)
            continue
        kept.append(part)
    elaborated.subs = kept


class Processes:
    """The processes of a design with one clock.

    Attributes:
        waiting: functions of the clocked processes that must run at the next edge.
    """

    hasRun = 0  # MyHDL removes waiters that have run from its lists

    def __init__(
        self, taken: Taken, followers: Iterable[Follower] = (), patience: int = PATIENCE
    ) -> None:
        """``patience``: the clock edge at which faster processes replace these; at least 1."""
        self._always: list[Process] = []
        self.waiting: set[Process] = set()
        self._combinational: list[Process] = []
        self._due: set[Process] = set()
        self._plain: list[Any] = []
        self._left = patience
        watches: dict[int, Watch] = {}

        def watch(signal: AnySignal) -> Watch:
            fresh = Watch(signal, self.waiting, self._due, self)
            return watches.setdefault(id(signal), fresh)

        for part in taken.clocked:
            self._plain.append(part.func)
            reach = signals_in_reach(part.func)
            if reach is None:
                self._always.append(part.func)
                continue
            self.waiting.add(part.func)
            unread = {id(signal) for signal in only_driven(part)}
            for signal in reach:
                if id(signal) not in unread:
                    watch(signal).clocked.add(part.func)
        combinational = [Follower(part.senslist, part.func) for part in taken.combinational]
        self._plain += [each.process for each in combinational]
        for parts, process in (*combinational, *followers):
            self._combinational.append(process)
            for signal in parts:
                watch(signal).following.add(process)
        self._watches = tuple(watches.values())
        for each in self._watches:
            each.arm()

    def begin(self) -> None:
        """Run all combinational processes once, as MyHDL does at time 0."""
        for process in self._combinational:
            process()

    def edge(self) -> None:
        """Run the waiting clocked processes, and all processes with a state outside signals."""
        self._left -= 1
        if not self._left:
            self._quicken()
        due = list(self.waiting)
        self.waiting.clear()
        for process in due:
            process()
        for process in self._always:
            process()

    def _quicken(self) -> None:
        """Replace each process by a faster one."""
        quick = {process: quick_process(process) for process in self._plain}
        self._always = [quick[process] for process in self._always]
        noted = [self.waiting, self._due]
        for watch in self._watches:
            noted += [watch.clocked, watch.following]
        for processes in noted:
            put = [quick.get(process, process) for process in processes]
            processes.clear()
            processes.update(put)

    def next(self, waiters: Any, actives: Any, exc: Any) -> None:
        """Run the due combinational processes; MyHDL calls this as the method of a waiter."""
        due = list(self._due)
        self._due.clear()
        for process in due:
            process()


@block
def in_one_process(clk: Any, processes: Processes) -> Any:
    """Run the processes of a design with the clock ``clk``."""

    @instance
    def design() -> Any:
        processes.begin()
        edge = clk.posedge
        while True:
            yield edge
            processes.edge()

    return design


def taken_over(dut: Any, clk: Any, stack: ExitStack) -> Processes:
    """Return the processes of an elaborated block ``dut``, which MyHDL no longer runs.

    Slices and concatenations of signals belong to them, too, as long as ``stack`` is open.
    """
    shadows = stack.enter_context(followers(ALL_SIGNALS))
    return Processes(take_processes(dut, clk), shadows)


def signals_in_reach(process: Process) -> list[AnySignal] | None:
    """Return every signal that a process can read or assign; None if it reaches anything else.

    A process with a state outside signals does not depend on signals only. Only behavioural
    processes have such a state.
    """
    names = inspect.getclosurevars(process)
    if _assigns_around_it(process.__code__):
        return None
    reach: list[AnySignal] = []
    # A function of a module keeps no state that belongs to one block instance; a function inside
    # the block may.
    named = (value for value in names.globals.values() if not inspect.isroutine(value))
    for value in (*names.nonlocals.values(), *named):
        if not _collect(value, reach):
            return None
    return reach


@cache
def _assigns_around_it(code: CodeType) -> bool:
    """Whether a function assigns variables of an enclosing function or of its module."""
    return any(
        step.opname in ("STORE_DEREF", "STORE_GLOBAL") and step.argval not in code.co_cellvars
        for step in dis.get_instructions(code)
    )


def _collect(value: Any, reach: list[AnySignal]) -> bool:
    """Add the signals in ``value``; False if it holds anything but signals and constants."""
    if isinstance(value, AnySignal):
        reach.append(value)
        return True
    if value is None or isinstance(value, _CONSTANTS):
        return True
    if isinstance(value, tuple):
        return all(_collect(part, reach) for part in value)
    if isinstance(value, list):  # a list that holds anything but signals may be a state
        held = not value or any(part is None or isinstance(part, _CONSTANTS) for part in value)
        return not held and all(_collect(part, reach) for part in value)
    if inspect.isroutine(value) or not hasattr(value, "__dict__"):
        return False
    return all(_collect(part, reach) for part in vars(value).values())
