"""Verilator's run-time library and the harness, compiled once: no design changes them."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import time

from merp.cosim.engines.programs.build_cache import Entry
from merp.cosim.engines.simulators import Verilator

Flags = tuple[str, ...]

LEVELS = {"O0": 30_000, "Og": 2_000_000}
"""How far a model is optimised that simulates fewer cycles; ``O1`` if it simulates more.

Of LeNet-5's 5 x 5 units, ``-Og`` takes 0.9 s longer to compile than ``-O0``, and saves 19 us in
each cycle; ``-O1`` takes another 1.3 s, and saves 0.4 us.
"""

RUNTIME_FLAGS: Flags = ("OPT_FAST=-O1", "OPT_SLOW=-O1", "OPT_GLOBAL=-O0")
"""For make: of the harness, which runs in every cycle, and of the library, which does not."""


def level(cycles: int | None) -> str:
    """How far a model is optimised that simulates so many cycles; None is unknown."""
    if cycles is not None:
        for name, fewer in LEVELS.items():
            if cycles < fewer:
                return name
    return "O1"


def model_flags(level: str) -> Flags:
    """For make. Vectors are for wide words, and lanes that are alike."""
    vectors = " -ftree-vectorize" if level == "O1" else ""
    return f"OPT_FAST=-{level}{vectors}", "OPT_SLOW=-O0", "OPT_GLOBAL=-O0"


STEMS = "verilated", "harness"
"""What their objects' names begin with."""

_AHEAD = 24 * 3600  # seconds


class Runtime:
    """Their objects, kept in the cache of builds."""

    def __init__(
        self, verilator: Verilator, flags: Sequence[str], harness: Sequence[str] = ()
    ) -> None:
        """``flags``: those of Verilator's that change the library. ``harness``: its sources."""
        key = repr((verilator.version, str(verilator.root), RUNTIME_FLAGS, tuple(flags), *harness))
        name = f"runtime-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
        self._entry = Entry("verilator", name)

    def build(self, objects: Path, make: Callable[[], object]) -> None:
        """Have it in a build's folder: ``make`` makes it there, where it is not kept yet.

        Raises:
            BadInput: the cache cannot be used.
        """

        def built(kept: Path) -> None:
            make()
            self._collect(objects, kept)

        self._entry.kept(built)
        self.lend(objects)

    def lend(self, objects: Path) -> None:
        """Copy what is kept into a build's folder.

        Make would compile it again if it were older than the makefile that Verilator is yet to
        write, so it is dated ahead.
        """
        if self._entry.intact():
            later = time() + _AHEAD
            for path in _copy(self._entry.place.glob("*.o"), objects):
                os.utime(path, (later, later))

    def keep(self, objects: Path) -> None:
        """Keep what a build has made in its folder.

        Raises:
            BadInput: the cache cannot be used.
        """
        self._entry.kept(lambda kept: self._collect(objects, kept))

    def _collect(self, objects: Path, kept: Path) -> None:
        _copy((path for stem in STEMS for path in objects.glob(f"{stem}*.o")), kept)


def _copy(found: Iterable[Path], folder: Path) -> list[Path]:
    """Copy files into a folder; the copies."""
    return [Path(shutil.copy(path, folder)) for path in found]
