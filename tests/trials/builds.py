"""Try real builds: two command lines need one executable of Verilator, and one build is killed."""

import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

from child import complaints_of
from counts import Counts
from merp.cosim.engines.programs.build_cache import Entry
from place import compiled
from verbs import write_inputs

WORDS = "simulate ../in/tiny.toml --layer conv1 --engine verilator --json".split()


def try_builds(folder: Path, number: int, seed: int) -> Counts:
    """Try pairs on an empty cache, and kill a build and build again, each ``number`` times."""
    counts = Counts()
    write_inputs(folder / "in")
    (folder / "box").mkdir()
    seconds = 0.0
    for trial in range(number):
        cache = folder / f"cache-{trial}"
        began = time.monotonic()
        both = [_started(folder, cache) for _ in range(2)]
        faults = [fault for each in both for fault in _complaints(each)]
        seconds = time.monotonic() - began
        counts.add(trial, "both", faults + _wrong(cache))
    for trial in range(number):
        draw = Random(f"{seed} builds {trial}")
        cache = folder / f"killed-{trial}"
        process = _started(folder, cache)
        try:
            process.wait(seconds * draw.random() / 2)  # two builds took as long
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
        # The compilers that it has started may still run for a moment, and write.
        again = _started(folder, cache)
        faults = _complaints(again)
        counts.add(trial, "killed", faults + _wrong(cache))
    return counts


def _started(folder: Path, cache: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "merp.tools.cli", *WORDS], cwd=folder / "box", text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=compiled(os.environ) | {"MERP_CACHE": str(cache)},
    )  # fmt: skip


def _complaints(process: subprocess.Popen[str]) -> list[str]:
    out, said = process.communicate()
    said = complaints_of(said)
    exact = '"bit_exact": true' in out
    if (process.returncode, said, exact) == (0, "", True):
        return []
    return [f"status {process.returncode}: {said.strip()[:600]}"]


def _wrong(cache: Path) -> list[str]:
    """Return the faults of a cache: an entry that is not intact, or any other remaining file."""
    os.environ["MERP_CACHE"] = str(cache)
    kept = cache / "verilator"
    names = sorted(path.name for path in kept.iterdir() if path.suffix != ".lock")
    left = [name for name in names if name.startswith(".")]
    damaged = [name for name in names if name not in left and not Entry("verilator", name).intact()]
    faults = [f"left over: {name}" for name in left] + [f"damaged: {name}" for name in damaged]
    return faults if len(names) == 2 else [*faults, f"entries: {names}"]
