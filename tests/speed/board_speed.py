"""Measure how fast a simulated board runs, against its engine and its memory alone.

An accelerator of one engine runs a layer of ``digits`` from memory. Let E be the cycles a second of
the engine alone in Verilator, L those of a board with movers only, S those of the whole board. If
the board did the work of both and nothing else, S would be 1/(1/E + 1/L). Speeds are cycles per
second of processor time, the best of three runs. Builds are not counted.
"""

import argparse
import resource
from collections.abc import Callable
from time import process_time
from typing import Any

from board_conv2 import fill

from copier import COPY, DESTINATION, LENGTH, SOURCE, START, arguments, copier, design_of
from measured import machine
from merp.cosim.board.accelerator import Accelerator
from merp.cosim.board.bitstreams import undivided
from merp.cosim.board.build import built
from merp.cosim.board.dram import Dram
from merp.cosim.board.simulated import SimulatedBoard
from merp.cosim.board.step_plan import StepPlan
from merp.cosim.machines.cnn_merp.training.step_plan import step_plan
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.cosim.machines.loader import phase_of
from merp.cosim.phases.audit.run_and_audit import run_and_audit
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import parameters
from merp.models.golden.training import RATE, rates_of
from merp.models.memory.params.memory_port import MemoryPort
from merp.tools.common.input_maps import random_maps
from merp.tools.common.shipped import open_network

LAYER, IMAGES = "conv2", 64
BEATS = 1 << 16


def fastest(task: Callable[[], int], seconds: Callable[[], float]) -> float:
    """Return the cycles a second of the fastest of three runs of ``task``, which returns cycles."""
    speeds = []
    for _ in range(3):
        began = seconds()
        cycles = task()
        speeds.append(cycles / (seconds() - began))
    return max(speeds)


def of_children() -> float:
    """Return the processor time of all ended child processes, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def memory_alone(dram: Dram) -> float:
    """Return the cycles a second of a board that only copies."""
    port = MemoryPort(data_bits=dram.port_bits, burst_beats=64)
    design = design_of(port, port.data_bits, places=128)
    board = SimulatedBoard(built(copier, arguments(design), dram))
    source, target = (board.alloc(BEATS * port.beat_bytes, 4096) for _ in range(2))
    for register, value in (
        (SOURCE, source.address), (DESTINATION, target.address), (LENGTH, BEATS - 1),
    ):  # fmt: skip
        board.write32(register, value)

    def copy() -> int:
        before = board.cycles
        board.write32(START, COPY)
        board.wait(100 * BEATS)
        return board.cycles - before

    return fastest(copy, process_time)


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__, allow_abbrev=False).parse_args()
    print(", ".join(f"{key}: {value}" for key, value in machine().items()), flush=True)
    network = open_network("digits")
    layer = network.layer(LAYER)
    plan = step_plan(WholeLayers(network, IMAGES), IMAGES, rates_of(RATE, IMAGES, network.fmt))
    passes = [
        each for some in plan.lists.values() for each in some
        if (each.layer, each.phase) == (LAYER, "fp")
    ]  # fmt: skip
    (engine,) = {each.engine for each in passes}
    step = GoldenStep(network, network.layers, random_maps(network, IMAGES), parameters(network, 0))
    hardware = phase_of(network, layer, "fp", state=True)
    golden = [hardware.golden_pass(layer, group, step) for group in range(layer.groups)]

    def alone() -> int:
        audits: Any = run_and_audit(hardware.top(), golden, "verilator")
        return sum(each.audit.whole for each in audits)

    alone()  # it builds
    e = fastest(alone, of_children)
    one = undivided(StepPlan({engine: plan.tops[engine]}, plan.arrays, {"fp": passes}))
    accelerator = Accelerator(one)
    for each, wanted in zip(passes, golden, strict=True):
        fill(accelerator, each, wanted)
    s = fastest(lambda: accelerator.play(one, "fp").cycles, process_time)
    dram = Dram()
    found = memory_alone(dram)
    bound = 1 / (1 / e + 1 / found)
    print(
        f"digits {LAYER} FP, {IMAGES} images: E {e / 1e6:.3f}, L {found / 1e6:.3f}, "
        f"S {s / 1e6:.3f} M cycles per second; S (1/E + 1/L) = {s / bound:.2f}"
    )


if __name__ == "__main__":
    main()
