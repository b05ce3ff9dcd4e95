"""How long a user waits: for the first and the second run, and for LeNet-5's step in Verilator.

Each run is a process of its own. The first one finds an empty cache: of compiled code, or of
builds.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter

from measured import Seconds
from merp.cosim.engines.simulators import find_verilator
from merp.models.base.errors import BadInput

TINY = ("tiny3",)
LENET = ("lenet5", "--layer", "all", "--phase", "all", "--images", "2", "--engine", "verilator")


def figures() -> Iterator[Seconds]:
    """Seconds of the first run and of the second one; Verilator's are left out without it."""
    yield from _twice("simulate tiny3", TINY, "NUMBA_CACHE_DIR")
    try:
        find_verilator()
    except BadInput as error:
        print(f"lenet5 in Verilator: not measured: {error}", flush=True)
        return
    yield from _twice("simulate lenet5 in Verilator, a step of 2 images", LENET, "MERP_CACHE")


def _twice(name: str, words: tuple[str, ...], cache: str) -> Iterator[Seconds]:
    with TemporaryDirectory() as folder:
        for which in ("first", "second"):
            wall, spent = _run(words, {cache: folder})
            yield Seconds(f"{name}, {which}", wall, f"processor time {spent:.1f} s")


def _run(words: tuple[str, ...], cache: dict[str, str]) -> tuple[float, float]:
    """Seconds of a run: of the wall clock, and of processors."""
    environment = os.environ | cache
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began, before = perf_counter(), _spent()
    command = [sys.executable, "-m", "merp.tools.cli", "simulate", *words]
    subprocess.run(command, check=True, env=environment, capture_output=True)
    return perf_counter() - began, _spent() - before


def _spent() -> float:
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
