"""Try networks of any size on a machine with little memory: they must be refused in advance."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from random import Random
from unittest.mock import patch

import numpy as np

from harness import faults, nothing_simulated
from kinds.arrays import compiled
from kinds.networks import NET
from merp.models.base.errors import BadInput
from merp.models.golden.memory import training_bytes
from merp.tools.common.shipped import open_network

THERE = 64 << 20  # bytes of the simulated machine
ROOM = 1 << 30  # and bytes in addition to those of this process
LONG = 1 << 22  # operations that a case may compute


def _size(random: Random, most: int) -> int:
    """Return a number with a uniformly distributed logarithm."""
    return max(1, int(most ** random.random()))


def sizes(random: Random) -> list[str]:
    """Try layers of any size, with a design or without, in the verbs that compute."""
    compiled()
    rows, columns = (_size(random, 4096) for _ in range(2))
    channels = _size(random, random.choice((4, 65536)))
    lines = ['[network]\nname = "any"', f"input = {{ rows = {rows}, columns = {columns},"
             f" channels = {channels} }}"]  # fmt: skip
    kernel = _size(random, random.choice((3, 11, 40)))
    for index in range(random.randrange(1, 4)):
        maps = _size(random, random.choice((8, 65536)))
        kind = random.choice(("conv", "fc"))
        lines += ["[[layer]]", f'name = "{kind}{index}"', f"maps = {maps}"]
        if kind == "conv":
            lines += [f"kernel = {kernel}", f"pad = {random.choice((0, kernel - 1))}"]
            lines += ['design = "k"'] if kernel <= 11 and random.randrange(3) else []
    if any("design" in line for line in lines):
        lines += ["[design.k]", f"k = {kernel}", f"n_cu = {_size(random, 512)}", "r = 1"]
    NET.write_text("\n".join(lines) + "\n")
    size = rows, columns, channels
    with patch("merp.models.base.memory.machine_memory", lambda: THERE), _little_memory():
        with nothing_simulated():
            return faults(_words(random, size), never="merp: not enough memory")


def _words(random: Random, size: tuple[int, int, int]) -> list[str]:
    """Return a verb; training only if it is refused or short."""
    kind = random.randrange(3)
    images, phase = str(_size(random, 256)), random.choice(("fp", "dp", "ku", "all"))
    if kind == 0 and prod(size) < 1 << 16 and not _is_long():
        with Path("in/data.npz").open("wb") as file:
            np.savez(file, images=np.zeros((5, *size)), labels=np.zeros(5, int))
        return ["train", str(NET), "--data", "in/data.npz", "--batch", "1", "--steps", "1"]
    if kind == 1:
        return ["registers", str(NET), "--layer", "conv0"]
    layer = random.choice((["--layer", "all"], []))
    return ["simulate", str(NET), "--phase", phase, "--images", images, *layer]


def _is_long() -> bool:
    try:
        network = open_network(str(NET))
    except BadInput:
        return False
    operations = sum(layer.operations() for layer in network.layers)
    return operations > LONG and training_bytes(network, 1, 1) <= THERE


@contextmanager
def _little_memory() -> Iterator[None]:
    """Limit the memory of this process to ``ROOM`` more than it has."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ROOM, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
