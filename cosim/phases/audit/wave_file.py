"""Read waveform files: VCD with vcdvcd, FST with pywellen. The suffix selects the format."""

from __future__ import annotations

import re
import signal
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

Name = tuple[str, ...]
"""A signal: the instances on the path to it, and its own name."""

Changes = list[tuple[int, str]]
"""Times, in the file's unit, at which a signal changes, and its new values: bits from the left."""


def signals(path: Path) -> dict[Name, str]:
    """Return the signals of a file by path, with the suffix that the file writes after the name.

    The suffix is the range of a vector, such as ``[7:0]``, or empty.
    """
    if path.suffix == ".fst":
        from pywellen import Waveform

        return {
            _parts(each.full_name): f"[{each.bitwidth - 1}:0]" if each.bitwidth > 1 else ""
            for each in Waveform(str(path)).all_vars()
        }
    names = _vcd(path, only_sigs=True).signals
    return {_parts(_bare(name)): name[len(_bare(name)) :] for name in names}


def changes(path: Path, wanted: Collection[Name]) -> Mapping[Name, Changes]:
    """Return the changes of the ``wanted`` signals, by path."""
    if path.suffix == ".fst":
        from pywellen import Waveform

        return {
            _parts(each.full_name): [(time, str(value)) for time, value in each.signal]
            for each in Waveform(str(path)).all_vars()
            if _parts(each.full_name) in wanted
        }
    written = [".".join(each) + range_ for each, range_ in signals(path).items() if each in wanted]
    vcd = _vcd(path, signals=written)
    return {_parts(_bare(name)): vcd[name].tv for name in written}


def _vcd(path: Path, **choice: Any) -> Any:
    """Read a VCD with vcdvcd.

    When vcdvcd is imported, it changes the signal handler so that a write to a closed pipe ends the
    process. This function restores the exception that is usual in Python. Then a pool can replace a
    dead worker, and a shell's ``head`` causes no crash.
    """
    before = signal.getsignal(signal.SIGPIPE)
    from vcdvcd import VCDVCD

    with suppress(ValueError, TypeError):  # in another thread; or Python did not set the handler
        signal.signal(signal.SIGPIPE, before)
    return VCDVCD(str(path), **choice)


def last_time(path: Path) -> int:
    """Return the last time in a file, in its unit; 0 if there is none."""
    if path.suffix == ".fst":
        from pywellen import Waveform

        # Only the clock's changes are read, because nothing changes after its last edge.
        clocks = [each for each in Waveform(str(path)).all_vars() if each.name == "clk"]
        return max((time for each in clocks[:1] for time, _ in each.signal), default=0)
    return _last_stamp(path)


def _last_stamp(path: Path) -> int:
    """Return the number of the last line ``#TIME``.

    Search from the end, because a file may be huge.
    """
    size, block = path.stat().st_size, 1 << 16
    with path.open("rb") as file:
        while True:
            file.seek(max(0, size - block))
            # The first line may be incomplete, and names of signals may contain the mark.
            lines = file.read() if block >= size else file.read().partition(b"\n")[2]
            stamps = re.findall(rb"^#(\d+)\s*$", lines, re.MULTILINE)
            if stamps or block >= size:
                return int(stamps[-1]) if stamps else 0
            block *= 4


def _bare(name: str) -> str:
    """Return a name without its range."""
    return re.sub(r"\[\d+:\d+\]$", "", name)


def _parts(name: str) -> Name:
    return tuple(name.split("."))
