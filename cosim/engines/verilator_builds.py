"""The executables of tops: from this process, from the cache, or built on all cores."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

from merp.cosim.engines.job import Wanted
from merp.cosim.engines.known_builds import KnownBuild
from merp.cosim.engines.myhdl_engine import elaboration_sha
from merp.cosim.engines.programs.beside import beside
from merp.cosim.engines.programs.build_cache import Entry, cache_directory
from merp.cosim.engines.programs.scratch import scratch
from merp.cosim.engines.simulators import find_verilator
from merp.cosim.engines.verilator_build import Recipe, trace_flags
from merp.cosim.engines.verilator_runtime import level
from merp.cosim.engines.verilator_twins import plain, twinned
from merp.hdl.conversion.convert import convert
from merp.hdl.conversion.scope import Scope
from merp.testbenches.top.wave import Wave


@dataclass(frozen=True)
class Built:
    """An executable in the cache.

    Attributes:
        scope: the simulated instances of the design; None unless a waveform is requested.
    """

    entry: Entry
    scope: Scope | None

    @property
    def sha(self) -> str:
        """The ``elaboration_sha``."""
        return self.entry.key.partition("-")[0]


_CONVERTING = Lock()  # MyHDL converts one design at a time

_built: dict[tuple[Any, ...], Built] = {}
"""Executables that this process has found or built.

Training runs many short jobs on few tops. Without this table most of their time would be spent on
finding the same executable again.
"""


def executables(wanted: Sequence[Wanted], wave: Wave | None) -> Generator[Built, None, None]:
    """Yield the executable of each top, in order. It can record the waveform ``wave``.

    Missing executables are built concurrently on all cores. Closing the iterator ends the builds
    that still run.

    Raises:
        BadInput: there is no simulator or no cache, or the instance of the waveform does not exist.
        RuntimeError: Verilator or the C++ compiler rejects a top.
        ValueError: a port, or an element of a stream, is wider than 64 bits.
    """
    keys = [_key(each, wave) for each in wanted]
    missing = {
        key: partial(_made, each, wave)
        for key, each in zip(keys, wanted, strict=True)
        if key not in _built or not _built[key].entry.intact()
    }
    if len(missing) == 1:  # needs no threads
        [(key, make)] = missing.items()
        _built[key] = make()
        missing = {}
    with closing(beside(list(missing.values()))) as made:
        for key in keys:
            if missing.pop(key, None):
                _built[key] = next(made)
            yield _built[key]


def _key(wanted: Wanted, wave: Wave | None) -> tuple[Any, ...]:
    return (
        cache_directory(), elaboration_sha(wanted.top), trace_flags(wave), level(wanted.cycles),
    )  # fmt: skip


def _made(wanted: Wanted, wave: Wave | None) -> Built:
    top = wanted.top
    recipe = Recipe(find_verilator(), trace_flags(wave), level(wanted.cycles))
    known = KnownBuild(top, (recipe.sha, recipe.level))
    entry = known.recall() if wave is None else None
    if entry is not None:
        return Built(entry, None)
    with scratch() as folder:
        with _CONVERTING:
            export = convert(top.function, top.args, "verilog", folder, fold=False)
        design = twinned(export) if top.array == "behavioural" else plain(export)
        if wave is not None:
            wave.scope(design.scope)  # before the build
        entry = recipe.build(export.top, design.files, top.ports, design.units)
    if wave is None:
        known.remember(entry, design.sources)
    return Built(entry, design.scope)
