"""Tops of one design in simulations of their own: what crosses between them, and when all are done.

A wire from one top to another has a latency of some cycles, the *window*. So what a top drives in a
window is seen elsewhere in the next one at the earliest, and exchanging it once a window changes no
cycle: every simulation runs a window ahead of what it knows of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from merp.testbenches.top.streams import Changes, Read
from merp.testbenches.top.top import TopPorts

Row = tuple[int, ...]
"""Wires of one cycle, in the order of the top's ports."""


class Left(NamedTuple):
    """What a top tells the others at the end of a window.

    Attributes:
        rows: what left it, by cycle. moved: the last cycle in which a word passed a stream's pins.
        done: the first cycle of its ``status_done``; None before.
    """

    rows: Sequence[Row]
    moved: int
    done: int | None


class Come(NamedTuple):
    """What a top is told then.

    Attributes:
        rows: what comes to it in the window that begins, by cycle. moved, done: of all tops, the
            latest; done is None until all are.
    """

    rows: Sequence[Row]
    moved: int
    done: int | None


class Border(NamedTuple):
    """The others, as a top sees them.

    Attributes:
        window: cycles from one end of a wire to the other, 1 or more.
        exchange: called at the end of each window, until all are done.
    """

    window: int
    exchange: Callable[[Left], Come]


class RunCourse(Protocol):
    """How far a run is, whoever takes part in it.

    Attributes:
        moved: the last cycle in which a word is known to have passed.
    """

    moved: int

    def begin(self, t: int, changes: Changes) -> None:
        """Cycle ``t`` begins; put what comes over wires into ``changes``."""

    def end(self, t: int, moved: bool) -> int | None:
        """Cycle ``t`` ends, just before its edge; the run's last cycle, once that is known."""


class Alone:
    """A run of one top."""

    def __init__(self, done: Read) -> None:
        self.moved = 0
        self._done = done

    def begin(self, t: int, changes: Changes) -> None:
        """Nothing comes."""

    def end(self, t: int, moved: bool) -> int | None:
        """Done is what the pin says; in cycle 0 it still belongs to the run before."""
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
        """Exchange at the end of each window; when all are done nothing is on its way."""
        at = t % self._border.window
        if self._come.done is not None:
            self._come = self._come._replace(rows=self._quiet)
        elif t and not at:
            self._come = self._border.exchange(Left(self._rows, self._moved, self._own_end))
            self._rows = []
        self.moved = self._come.moved
        changes.update(zip(self._arriving, self._come.rows[at], strict=True))

    def end(self, t: int, moved: bool) -> int | None:
        """All are done when the last one is; that is known a window later."""
        self._rows.append(tuple(int(each()) for each in self._leaving))
        if moved:
            self._moved = t
        if self._own_end is None and t and self._done():
            self._own_end = t
        return self._come.done
