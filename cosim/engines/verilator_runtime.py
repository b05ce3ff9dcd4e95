"""Verilator's run-time library and the harness, compiled once: no design changes them."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import time

from merp.cosim.engines.programs.build_cache import Entry
from merp.cosim.engines.simulators import Verilator

OPTIMISE = ("OPT_FAST=-O1 -ftree-vectorize", "OPT_SLOW=-O0", "OPT_GLOBAL=-O1")
"""Of every build by Verilator, for make. Vectors are for wide words, and lanes that are alike."""

STEMS = "verilated", "harness"
"""What their objects' names begin with."""

_AHEAD = 24 * 3600  # seconds


class Runtime:
    """Their objects, kept in the cache of builds."""

    def __init__(
        self, verilator: Verilator, flags: Sequence[str], harness: Sequence[str] = ()
    ) -> None:
        """``flags``: those of Verilator's that change the library. ``harness``: its sources."""
        key = repr((verilator.version, str(verilator.root), OPTIMISE, tuple(flags), *harness))
        name = f"runtime-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
        self._entry = Entry("verilator", name)

    def lend(self, objects: Path) -> None:
        """Copy what is kept into a build's folder, before Verilator runs there.

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

        def make(kept: Path) -> None:
            _copy((path for stem in STEMS for path in objects.glob(f"{stem}*.o")), kept)

        self._entry.kept(make)


def _copy(found: Iterable[Path], folder: Path) -> list[Path]:
    """Copy files into a folder; the copies."""
    return [Path(shutil.copy(path, folder)) for path in found]
