"""How fast MyHDL simulates, old and new side by side: a part of ``make bench``.

Old is the commit ``BASE``, checked out for the length of the measurement. Both play the same run in
processes of their own, one after the other in turn, so that a machine that is busy for a while is
so for both; of each the fastest turn counts. Seconds are the processor's, which a shared machine
lengthens less than those of the clock on the wall: both work on one thread and wait for nothing.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from measured import Ratio, Seconds

ROOT = Path(__file__).resolve().parents[2]
BASE = "f60db51"
"""The last commit before signals and processes were made quicker."""

TURNS = 3
TREES = ("hdl", "models", "cosim", "testbenches", "tools")

_PLAYER = """
import json, sys
from dataclasses import replace
from time import process_time
import numpy as np
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.phases.forward import forward_run, forward_top
from merp.models.golden.inference import group_parameters
from merp.models.golden.initial import parameters
from merp.tools.common.shipped import open_network

network = open_network(sys.argv[1])
layer = network.layer("conv2")
design, maps = design_of(network, layer), int(sys.argv[2])
shape = replace(layer.shape, n=maps)
kernels, bias = group_parameters(layer, 0, *parameters(network, 0)[layer.name])
size = 1, shape.rows, shape.columns, maps
x = np.abs(np.random.default_rng(0).standard_normal(size)).astype(np.float32).view(np.uint32)
run = forward_run(shape, design, x, np.ascontiguousarray(kernels[:, :maps]), bias)

def runs():
    record = yield run  # compiles
    while sys.stdin.readline():
        began = process_time()
        record = yield run
        seconds = process_time() - began
        outcome = record.outcome
        transfers = dict(outcome.transfers)
        words = record.words("m_axis_map").tolist()
        print(json.dumps([outcome.cycles, seconds, transfers, words]), flush=True)

run_job(Job(forward_top(design, "behavioural"), runs()), "myhdl")
"""


@contextmanager
def _package(checkout: Path) -> Iterator[Path]:
    """A folder from which ``import merp`` gives what stands in ``checkout``."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "merp"
        package.mkdir()
        for tree in TREES:
            (package / tree).symlink_to(checkout / tree)
        (package / "__init__.py").symlink_to(checkout / "tools" / "front" / "__init__.py")
        yield Path(folder)


@contextmanager
def _base() -> Iterator[Path | None]:
    """The commit ``BASE`` in a folder of its own; None where there is no git that has it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "base"
        git = ["git", "-C", str(ROOT), "worktree"]
        try:
            made = subprocess.run([*git, "add", "--detach", place, BASE], capture_output=True)
        except OSError:
            yield None
            return
        if made.returncode:
            yield None
            return
        try:
            yield place
        finally:
            subprocess.run([*git, "remove", "--force", place], capture_output=True, check=True)


class _Player:
    """A process that plays the run once for every line that it is sent."""

    def __init__(self, package: Path, network: str, maps: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PLAYER, network, str(maps)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=package,
            env={**os.environ, "PYTHONPATH": str(package)},
        )

    def turn(self) -> tuple[int, float, list[Any]]:
        """Cycles, seconds, and what came out."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        cycles, seconds, *found = json.loads(self._process.stdout.readline())
        return cycles, seconds, found

    def close(self) -> None:
        """Let the process end."""
        self._process.communicate()


def figures(network: str = "alexnet", maps: int = 4) -> Iterator[Seconds | Ratio]:
    """A network's conv2 on ``maps`` of its input maps, new and, where git has it, old.

    Raises:
        RuntimeError: they differ in a word or in a cycle.
    """
    with ExitStack() as stack:
        checkouts = {"new": ROOT, "old": stack.enter_context(_base())}
        players = {
            name: _Player(stack.enter_context(_package(checkout)), network, maps)
            for name, checkout in checkouts.items()
            if checkout is not None
        }
        for player in players.values():
            stack.callback(player.close)
        best: dict[str, float] = {}
        seen = []
        for turn in range(TURNS):
            for name, player in players.items():
                cycles, seconds, found = player.turn()
                best[name] = max(best.get(name, 0.0), cycles / seconds)
                seen.append([cycles, found])
                note = f"{cycles / seconds:,.0f} cycles/s"
                yield Seconds(f"conv2 on myhdl, {name}, turn {turn + 1}", seconds, note)
        if any(each != seen[0] for each in seen):
            raise RuntimeError("old and new differ in a word or in a cycle")
        if "old" in best:
            yield Ratio("myhdl, per cycle, over the old one", best["new"] / best["old"])
        else:
            print(f"myhdl: no git with commit {BASE} here to compare with", flush=True)
