"""Measure the movers on simulated boards: how much of the port they use, and how fast a board runs.

The cycles of a board are the same on every machine. Its speed is the best of three runs, in cycles
per second of processor time. A build takes a quarter of a minute, and is kept in the cache.
"""

import argparse
from time import process_time

from copier import (
    COPY,
    DESTINATION,
    LENGTH,
    READ,
    SOURCE,
    START,
    WRITE,
    arguments,
    copier,
    design_of,
)
from measured import machine
from merp.cosim.board.build import built
from merp.cosim.board.dram import Dram
from merp.cosim.board.simulated import SimulatedBoard
from merp.models.memory.params.memory_port import MemoryPort

BEATS = 1 << 16
"""Beats of each direction."""

RUNS = {"read": READ, "write": WRITE, "read and write, 1:1": READ | WRITE, "copy": COPY}
LIMIT = 100 * BEATS


def measure(dram: Dram, burst_beats: int) -> None:
    """Print the figures of one board, whose movers have places for two of the longest bursts."""
    port = MemoryPort(data_bits=dram.port_bits, burst_beats=burst_beats, turn_beats=burst_beats)
    design = design_of(port, port.data_bits, places=2 * burst_beats)
    board = SimulatedBoard(built(copier, arguments(design), dram))
    source, target = (board.alloc(BEATS * port.beat_bytes, 4096) for _ in range(2))
    board.write32(SOURCE, source.address)
    board.write32(DESTINATION, target.address)
    board.write32(LENGTH, BEATS - 1)
    what = f"DDR3 x{dram.data_bits}, {port.data_bits} bits, bursts of {burst_beats}"
    for name, kind in RUNS.items():
        speeds = []
        for _ in range(3):
            board.clear_bus()
            began, cycles = process_time(), board.cycles
            board.write32(START, kind)
            board.wait(LIMIT)
            speeds.append((board.cycles - cycles) / (process_time() - began))
        bus = board.bus
        moved = 100 * (bus.read.beats + bus.write.beats) / bus.busy
        waits = ", ".join(
            f"{side} {each.latency.least} to {each.latency.most}"
            for side, each in (("read", bus.read), ("write", bus.write))
            if each.beats
        )
        print(
            f"{what}: {name:<20}{moved:5.1f} % of the peak; latency {waits} cycles; "
            f"{max(speeds) / 1e6:.2f} M cycles per second",
            flush=True,
        )


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__, allow_abbrev=False).parse_args()
    print(", ".join(f"{key}: {value}" for key, value in machine().items()), flush=True)
    measure(Dram(), 64)
    measure(Dram(), 256)
    measure(Dram(data_bits=64), 64)


if __name__ == "__main__":
    main()
