"""Write the waveform of a MyHDL simulation: one sample of every signal per clock cycle, as VCD."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from vcd import VCDWriter
from vcd.writer import Variable

from merp.hdl.conversion.base.internals import event_waiters

PERIOD = 10  # ns; the clock rises in the middle

Named = tuple[tuple[str, ...], Any]
"""A signal with its path: the instances that lead to it, the top first, and its name."""


class WaveDump:
    """A VCD file of a clock and some signals.

    A signal may have several names: the names of all ports that it is connected to. Its value is
    the settled value of each cycle.
    """

    def __init__(self, path: Path, clk: Any, signals: Iterable[Named]) -> None:
        """Open the file before the simulation runs. ``clk`` has a name among ``signals``."""
        self._file = path.open("w", encoding="ascii")
        self._writer = VCDWriter(self._file, timescale="1 ns", date="")
        self._cycle = 0
        self._changed: dict[int, tuple[Any, Variable[Any]]] = {}  # by order in the file
        variables: dict[int, Variable[Any]] = {}
        for (*scope, name), signal in signals:
            width = len(signal) or 1
            if id(signal) in variables:
                alias = f"{name}[{width - 1}:0]" if width > 1 else name
                self._writer.register_alias(scope, alias, variables[id(signal)])
                continue
            bits = (width - 1, 0) if width > 1 else None
            variable = self._writer.register_var(scope, name, "wire", width, 0, bits)
            variables[id(signal)] = variable
            if signal is not clk:
                _OnChange(signal, (len(variables), variable), self._changed)
        self._clk = variables[id(clk)]

    def __enter__(self) -> WaveDump:
        """Return the dump; its file is closed at the end of the ``with`` block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._writer.close()
        self._file.close()

    def cycle(self) -> None:
        """Write the settled values of a clock cycle, and the edges of the clock.

        The order in which signals change differs between processes of Python. The order in the
        file is fixed.
        """
        start = self._cycle * PERIOD
        change = self._writer.change
        change(self._clk, start, 0)
        for _, (signal, variable) in sorted(self._changed.items()):
            change(variable, start, _bits(signal))
        self._changed.clear()
        change(self._clk, start + PERIOD // 2, 1)
        self._cycle += 1


class _OnChange:
    """A waiter in the list of a signal. It records the signal at each change.

    MyHDL calls ``next``, and removes waiters that have run from the list.
    """

    hasRun = 0

    def __init__(
        self,
        signal: Any,
        numbered: tuple[int, Variable[Any]],
        changed: dict[int, tuple[Any, Variable[Any]]],
    ) -> None:
        self._number, variable = numbered
        self._noted = signal, variable
        self._changed = changed
        self._rearm = event_waiters(signal).append
        self.next(None, None, None)

    def next(self, waiters: Any, actives: Any, exc: Any) -> None:
        """Record that the signal has changed."""
        self._rearm(self)
        self._changed[self._number] = self._noted


def _bits(signal: Any) -> int:
    return int(signal.val) & ((1 << (len(signal) or 1)) - 1)
