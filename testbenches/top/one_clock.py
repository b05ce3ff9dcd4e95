"""Run a design's processes from one, and only those that could do something.

A design here has some sixty processes that wait for nothing but the clock, most of them idle at any
time, and as many that follow their inputs. MyHDL resumes each through a waiter and a generator of
its own. These classes stand in the lists of those waiters instead, and change nothing:

- All that a process does to signals is to assign ``next``; so calling the functions one after the
  other from a single process is the same work in the same delta cycle.
- What a process assigns depends on the signals within its reach alone, those left out that it only
  assigns. If none of them has changed since it last ran, it would assign what it did then, and that
  is already their value.

A short simulation is over before its processes are rewritten as quicker ones, so that waits.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from types import CodeType
from typing import Any

from merp.hdl.conversion.base.internals import (
    Always,
    AlwaysComb,
    AnySignal,
    Block,
    only_driven,
)
from merp.hdl.fast_simulation.quick_processes import quick_process
from merp.hdl.fast_simulation.quick_shadows import Follower
from merp.hdl.fast_simulation.quick_signals import Watch

Process = Callable[[], None]

PATIENCE = 500
"""Edges of the clock before the processes are rewritten."""

_CONSTANTS = (bool, int, str, type)


@dataclass
class Taken:
    """Processes that were taken out of an elaborated block.

    Attributes:
        clocked: every ``@always(clk.posedge)``.
        combinational: every ``@always_comb``.
    """

    clocked: list[Any] = field(default_factory=list)
    combinational: list[Any] = field(default_factory=list)


def take_processes(elaborated: Any, clk: Any) -> Taken:
    """Take the processes out that ``Processes`` can run.

    Those that wait for anything but ``clk`` or their inputs stay where they are.
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
        waiting: functions of the clocked processes that the coming edge may concern.
    """

    hasRun = 0  # MyHDL throws waiters out of its lists that have run

    def __init__(
        self, taken: Taken, followers: Iterable[Follower] = (), patience: int = PATIENCE
    ) -> None:
        """``patience``: the edge of the clock at which quicker processes come, from 1 on."""
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
        """Run what follows its inputs for the first time, as MyHDL does when time begins."""
        for process in self._combinational:
            process()

    def edge(self) -> None:
        """Run the waiting clocked processes, and those that keep a state of their own."""
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
        """Put a quicker process in the place of each."""
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
        """MyHDL resumes this, as a waiter, when anything is due in this delta cycle."""
        due = list(self._due)
        self._due.clear()
        for process in due:
            process()


def signals_in_reach(process: Process) -> list[AnySignal] | None:
    """Every signal that a process can read or assign; None if it can reach anything else.

    A process that keeps a state outside signals (only behavioural ones do) depends on more.
    """
    names = inspect.getclosurevars(process)
    if _assigns_around_it(process.__code__):
        return None
    reach: list[AnySignal] = []
    # A function of a module can keep no state that a block instance could tell apart; one within
    # the block can.
    named = (value for value in names.globals.values() if not inspect.isroutine(value))
    for value in (*names.nonlocals.values(), *named):
        if not _collect(value, reach):
            return None
    return reach


@cache
def _assigns_around_it(code: CodeType) -> bool:
    """Whether a function assigns names of a function around it, or of its module."""
    return any(
        step.opname in ("STORE_DEREF", "STORE_GLOBAL") and step.argval not in code.co_cellvars
        for step in dis.get_instructions(code)
    )


def _collect(value: Any, reach: list[AnySignal]) -> bool:
    """Add the signals in ``value``; False if it holds what is neither signal nor constant."""
    if isinstance(value, AnySignal):
        reach.append(value)
        return True
    if value is None or isinstance(value, _CONSTANTS):
        return True
    if isinstance(value, tuple):
        return all(_collect(part, reach) for part in value)
    if isinstance(value, list):  # one that holds anything but signals may be a state
        held = not value or any(part is None or isinstance(part, _CONSTANTS) for part in value)
        return not held and all(_collect(part, reach) for part in value)
    if inspect.isroutine(value) or not hasattr(value, "__dict__"):
        return False
    return all(_collect(part, reach) for part in vars(value).values())
