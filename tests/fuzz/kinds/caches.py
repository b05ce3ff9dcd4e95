"""Damage the cache of builds: executables of Verilator and netlists of Yosys.

Each entry is built once, and a case damages a copy. If an entry is then built again, a replacement
of the tool copies that first build into place.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from damage import befall, laid, taken
from harness import expect_good, faults
from kinds.networks import NET, NETWORK
from merp.cosim.engines import verilator_build, verilator_builds
from merp.cosim.engines.simulators import find_verilator
from merp.cosim.synthesis import resources as synthesis_resources
from merp.cosim.synthesis import synthesis
from merp.hdl.conversion.convert import Export, convert
from merp.models.base.errors import BadInput

SIMULATION = ["simulate", str(NET), "--engine", "verilator", "--json"]
RESOURCES = ["resources", str(NET), "--layer", "conv1", "--json"]
CACHE = Path("out/cache")

_kept = tempfile.TemporaryDirectory(prefix="merp-fuzz-")
_exports: dict[str, Export] = {}


def _convert(function: Any, args: Any, language: str, folder: Path, **_: object) -> Export:
    """Call ``convert`` once for each top: the network is always the same."""
    name = function.__name__
    if name not in _exports:
        place = Path(_kept.name) / name
        place.mkdir()
        _exports[name] = convert(function, args, language, place)
    return _exports[name]


@contextmanager
def _quick(executable: bytes | None) -> Iterator[None]:
    """Convert once; build by copying ``executable`` into place, or really if it is None."""

    def compiled(verilator: Any, work: Path, makefile: str, target: str, optimise: Any) -> None:
        assert executable is not None
        if target == "runtime":
            (work / "obj" / "verilated.o").write_bytes(b"object")
            return
        (work / "obj" / target).write_bytes(executable)
        (work / "obj" / target).chmod(0o700)

    def mapped(script: str, work: Path) -> None:
        top = script.partition("-top ")[2].partition(";")[0]
        module = {"ports": {}, "cells": {}}
        (work / "mapped.json").write_text(json.dumps({"modules": {top: module}}))

    verilator_builds._built.clear()
    with ExitStack() as held:
        held.enter_context(patch.object(verilator_builds, "convert", _convert))
        held.enter_context(patch.object(synthesis_resources, "convert", _convert))
        held.enter_context(patch.object(synthesis, "_run", mapped))
        verb = "merp.tools.fpga.bitstream.resources.resources_verb"
        for place in ("merp.cosim.synthesis.synthesis", verb):
            held.enter_context(patch(f"{place}.yosys_version", lambda: "0", create=True))
        if executable is not None:
            held.enter_context(patch.object(verilator_build, "_verilate", lambda *_: None))
            held.enter_context(patch.object(verilator_build, "_compile", compiled))
        yield


@cache
def _executable() -> bytes | None:
    """Return the executable of the network's design from the user's cache, if there is one.

    It is None without Verilator.
    """
    try:
        find_verilator()
    except BadInput:
        return None
    with _quick(None):
        expect_good(SIMULATION)
    (built,) = verilator_builds._built.values()
    return (built.entry.place / verilator_build.EXECUTABLE).read_bytes()


@cache
def _entries(verb: str) -> dict[str, bytes]:
    """Return the cache after a run of the verb."""
    shutil.rmtree(CACHE, ignore_errors=True)
    expect_good(SIMULATION if verb == "simulate" else RESOURCES)
    found = taken(CACHE)
    shutil.rmtree(CACHE)
    return found


def caches(random: Random) -> list[str]:
    """Try a cache that is damaged, or in which other files have the names."""
    NET.write_text(NETWORK)
    executable = _executable()
    verb = random.choice(("simulate", "resources")) if executable else "resources"
    with patch.dict(os.environ, MERP_CACHE=str(CACHE.absolute())):
        with _quick(executable or b""):
            laid(CACHE, _entries(verb))
            _as_kept()
            laid(Path("in/elsewhere"), {"file": b"another's"})
            if random.randrange(4):
                befall(random, CACHE, Path("in/elsewhere"))
            else:
                os.environ["MERP_CACHE"] = random.choice(
                    ("/dev/null", "/dev/null/x", "/proc/x", str(NET), "out/no/such", "")
                    if random.randrange(2)
                    else ("out/other", "out/a b", "out/a\nb", "out/\udcff")
                )
            found = faults(SIMULATION if verb == "simulate" else RESOURCES)
    if taken(Path("in/elsewhere")) != {"file": b"another's"}:
        found.append("changed what a link leads to")
    return found


def _as_kept() -> None:
    """Set the modes of a cache, which a copy by content does not have."""
    for where, folders, files in os.walk(CACHE):
        for name in folders:
            Path(where, name).chmod(0o700)
        for name in files:
            Path(where, name).chmod(0o700 if name == verilator_build.EXECUTABLE else 0o600)
