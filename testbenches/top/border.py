"""Exchange of wires between tops of one design that run in separate simulations.

A wire from one top to another has a latency of some cycles, the *window*. A value that a top drives
in a window therefore reaches the others in the next window at the earliest. Thus the simulations
exchange their wires once per window, and the cycles stay exact. Each simulation runs up to one
window ahead of its knowledge of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from merp.testbenches.top.streams import Changes, Read
from merp.testbenches.top.top import TopPorts

Row = tuple[int, ...]
"""Wires of one cycle, in the order of the top's ports."""


class Left(NamedTuple):
    """The message of a top to the others at the end of a window.

    Attributes:
        rows: values of its outgoing wires, by cycle.
        moved: the last cycle in which a word passed a stream's pins.
        done: the first cycle of its ``status_done``; None before.
    """

    rows: Sequence[Row]
    moved: int
    done: int | None


class Come(NamedTuple):
    """The answer to a top at the end of a window.

    Attributes:
        rows: values of its incoming wires in the next window, by cycle.
        moved: the latest ``moved`` of all tops.
        done: the latest ``done`` of all tops; None until all are done.
    """

    rows: Sequence[Row]
    moved: int
    done: int | None


class Border(NamedTuple):
    """The interface of a top to the others.

    Attributes:
        window: latency of a wire in cycles, 1 or more.
        exchange: function that is called at the end of each window, until all tops are done.
    """

    window: int
    exchange: Callable[[Left], Come]


class RunCourse(Protocol):
    """The progress of a run of one top or of several.

    Attributes:
        moved: the last known cycle in which a word was transferred.
    """

    moved: int

    def begin(self, t: int, changes: Changes) -> None:
        """Begin cycle ``t``: write the values of incoming wires into ``changes``."""

    def end(self, t: int, moved: bool) -> int | None:
        """End cycle ``t``, just before its edge; return the run's last cycle once it is known."""


class Alone:
    """A run of one top."""

    def __init__(self, done: Read) -> None:
        self.moved = 0
        self._done = done

    def begin(self, t: int, changes: Changes) -> None:
        """Change nothing: there are no incoming wires."""

    def end(self, t: int, moved: bool) -> int | None:
        """Read the done pin; in cycle 0 it still belongs to the previous run."""
        if t and self._done():
            return t
        if moved:
            self.moved = t
        return None


class Together:
    """A run of one top among others."""

    def __init__(
        self, ports: TopPorts, read: Callable[[str], Read], done: Read, border: Border
    ) -> None:
        self.moved = 0
        self._border = border
        self._done = done
        self._arriving = [pin.name for pin in ports.arriving]
        self._leaving = [read(pin.name) for pin in ports.leaving]
        self._quiet = [(0,) * len(ports.arriving)] * border.window
        self._come = Come(self._quiet, 0, None)
        self._rows: list[Row] = []
        self._moved = 0
        self._own_end: int | None = None

    def begin(self, t: int, changes: Changes) -> None:
        """Exchange wires at the end of each window; once all tops are done, wires are zero."""
        at = t % self._border.window
        if self._come.done is not None:
            self._come = self._come._replace(rows=self._quiet)
        elif t and not at:
            self._come = self._border.exchange(Left(self._rows, self._moved, self._own_end))
            self._rows = []
        self.moved = self._come.moved
        changes.update(zip(self._arriving, self._come.rows[at], strict=True))

    def end(self, t: int, moved: bool) -> int | None:
        """Record the outgoing wires; return the cycle in which the last top was done.

        This cycle is known one window later.
        """
        self._rows.append(tuple(int(each()) for each in self._leaving))
        if moved:
            self._moved = t
        if self._own_end is None and t and self._done():
            self._own_end = t
        return self._come.done
