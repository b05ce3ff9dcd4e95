"""Write the ports of a top as a value change dump (IEEE 1364-2001 clause 18)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

from merp.testbenches.top.top import Pin

PERIOD = 10  # ns; the clock rises in the middle


class PortDump:
    """A VCD file of the clock and some pins, one sample per clock cycle."""

    def __init__(self, path: Path, scope: str, pins: Sequence[tuple[Pin, Callable[[], int]]]):
        self._file = path.open("w", encoding="ascii")
        self._cycle = 0
        self._reads = [read for _, read in pins]
        self._formats = [
            ("{:b}" if pin.width == 1 else "b{:b} ") + _code(index)
            for index, (pin, _) in enumerate(pins, start=1)
        ]
        self._values: list[int | None] = [None] * len(pins)
        lines = ["$timescale 1ns $end", f"$scope module {scope} $end"]
        lines.append(f"$var wire 1 {_code(0)} clk $end")
        for index, (pin, _) in enumerate(pins, start=1):
            size = f" [{pin.width - 1}:0]" if pin.width > 1 else ""
            lines.append(f"$var wire {pin.width} {_code(index)} {pin.name}{size} $end")
        lines += ["$upscope $end", "$enddefinitions $end", ""]
        self._file.write("\n".join(lines))

    def __enter__(self) -> PortDump:
        """The dump, to be closed at the end of the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._file.close()

    def cycle(self) -> None:
        """Write the settled values of a clock cycle, and its edges."""
        start = self._cycle * PERIOD
        lines = [f"#{start}", f"0{_code(0)}"]
        for index, read in enumerate(self._reads):
            value = int(read())
            if value != self._values[index]:
                self._values[index] = value
                lines.append(self._formats[index].format(value))
        lines += [f"#{start + PERIOD // 2}", f"1{_code(0)}", ""]
        self._file.write("\n".join(lines))
        self._cycle += 1


def _code(index: int) -> str:
    """Identifier of a variable: letters only, so that it needs no escaping in a format."""
    code = ""
    while True:
        index, digit = divmod(index, 26)
        code += chr(ord("a") + digit)
        if not index:
            return code
