"""Verilator's run-time library and the harness, compiled once, because no design changes them."""

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
"""Optimisation level of a model that simulates few cycles; ``O1`` applies if it simulates more.

For LeNet-5's 5 x 5 units, ``-Og`` compiles 0.9 s longer than ``-O0`` and saves 19 us per cycle.
``-O1`` compiles another 1.3 s longer and saves 0.4 us per cycle.
"""

RUNTIME_FLAGS: Flags = ("OPT_FAST=-O1", "OPT_SLOW=-O1", "OPT_GLOBAL=-O0")
"""Flags for make: for the harness, which runs in every cycle, and for the library, which does not.
"""


def level(cycles: int | None) -> str:
    """Return the optimisation level of a model for a number of simulated cycles.

    None is unknown.
    """
    if cycles is not None:
        for name, fewer in LEVELS.items():
            if cycles < fewer:
                return name
    return "O1"


def model_flags(level: str) -> Flags:
    """Return flags for make. Vector instructions help with wide words and identical lanes."""
    vectors = " -ftree-vectorize" if level == "O1" else ""
    return f"OPT_FAST=-{level}{vectors}", "OPT_SLOW=-O0", "OPT_GLOBAL=-O0"


STEMS = "verilated", "harness"
"""Prefixes of the names of the object files."""

_AHEAD = 24 * 3600  # seconds


class Runtime:
    """The object files of library and harness, stored in the cache of builds."""

    def __init__(
        self, verilator: Verilator, flags: Sequence[str], harness: Sequence[str] = ()
    ) -> None:
        """``flags``: flags of Verilator that change the library. ``harness``: its sources."""
        key = repr((verilator.version, str(verilator.root), RUNTIME_FLAGS, tuple(flags), *harness))
        name = f"runtime-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
        self._entry = Entry("verilator", name)

    def build(self, objects: Path, make: Callable[[], object]) -> None:
        """Put the objects into a build's folder.

        If they are not cached, ``make`` compiles them there.

        Raises:
            BadInput: the cache cannot be used.
        """

        def built(kept: Path) -> None:
            make()
            self._collect(objects, kept)

        self._entry.kept(built)
        self.lend(objects)

    def lend(self, objects: Path) -> None:
        """Copy the cached objects into a build's folder.

        Their dates are set ahead. Make would compile them again if they were older than the
        makefile, which Verilator writes later.
        """
        if self._entry.intact():
            later = time() + _AHEAD
            for path in _copy(self._entry.place.glob("*.o"), objects):
                os.utime(path, (later, later))

    def keep(self, objects: Path) -> None:
        """Store the objects that a build has compiled in its folder.

        Raises:
            BadInput: the cache cannot be used.
        """
        self._entry.kept(lambda kept: self._collect(objects, kept))

    def _collect(self, objects: Path, kept: Path) -> None:
        _copy((path for stem in STEMS for path in objects.glob(f"{stem}*.o")), kept)


def _copy(found: Iterable[Path], folder: Path) -> list[Path]:
    """Copy files into a folder. Return the copies."""
    return [Path(shutil.copy(path, folder)) for path in found]
