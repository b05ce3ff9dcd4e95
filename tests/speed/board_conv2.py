"""Measure AlexNet conv2 from a board's memory: cycles against the engine alone, and the bus.

Both groups of all phases run from dense arrays, in one list per phase. The engine alone runs the
same passes in Verilator, with a word in every cycle. Cycles are the same on every machine. The
memory has beats of 512 bits; --quarter gives it the four times narrower port of a DDR3 x16.
"""

import argparse
from dataclasses import replace

import numpy as np

from measured import machine
from merp.cosim.board.accelerator import Accelerator
from merp.cosim.board.bitstreams import undivided
from merp.cosim.board.dram import Dram
from merp.cosim.board.play import Played
from merp.cosim.board.step_plan import PlannedPass, StepPlan
from merp.cosim.machines.cnn_merp.training.step_plan import step_plan
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.cosim.machines.loader import phase_of
from merp.cosim.phases.audit.audit import Audit, audit, combine
from merp.cosim.phases.audit.run_and_audit import run_and_audit, without_cycles
from merp.cosim.phases.expectation import GroupPass
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import parameters
from merp.models.golden.training import RATE, rates_of
from merp.models.memory.nest import visited
from merp.models.network.network import Network
from merp.tools.common.input_maps import random_maps
from merp.tools.common.shipped import open_network

LAYER = "conv2"
PHASES = ("fp", "dp", "ku")


def two_layers() -> Network:
    """AlexNet up to conv2, whose delta propagation needs conv1's mask."""
    whole = open_network("alexnet")
    return replace(whole, name="alexnet-2", layers=whole.layers[:2])


def fill(accelerator: Accelerator, each: PlannedPass, golden: GroupPass) -> None:
    """Write the operands of a pass into its arrays."""
    arrays = accelerator.arrays
    for stream, part in each.parts.items():
        if stream.startswith("s_axis"):
            elements = arrays.get(part.array).reshape(-1)
            elements[visited(part.walk)] = golden.run.words[stream]
            arrays.put(part.array, elements)


def shown(phase: str, found: Audit, alone: Audit, played: Played) -> None:
    """Print a line of a phase."""
    bus, formula = played.bus, played.formula
    useful = formula.read.useful + formula.write.useful
    wasted = formula.read.wasted
    print(
        f"{phase}: {found.whole:,} cycles, engine alone {alone.whole:,} "
        f"({100 * found.whole / alone.whole - 100:+.2f} %), list {played.cycles:,}; "
        f"bus: {useful:,} useful bytes, {wasted:,} wasted ({100 * wasted / useful:.2f} %), "
        f"{(bus.read.bytes + bus.write.bytes) / played.cycles:.1f} B a cycle; "
        f"{found.words_compared:,} words compared, {found.mismatches} differ, "
        f"{len(found.failures)} failures"
    )


def main() -> None:
    """Print a line for each phase."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quarter", action="store_true", help="a quarter of the bandwidth")
    bits = 16 if parser.parse_args().quarter else 64
    network = two_layers()
    rates = rates_of(RATE, 1, network.fmt)
    plan = step_plan(WholeLayers(network, 1), 1, rates)
    passes = {
        phase: [
            each
            for some in plan.lists.values()
            for each in some
            if (each.layer, each.phase) == (LAYER, phase)
        ]
        for phase in PHASES
    }
    used = {each.engine for some in passes.values() for each in some}
    tops = {name: plan.tops[name] for name in sorted(used)}
    one = undivided(StepPlan(tops, plan.arrays, passes))
    step = GoldenStep(network, network.layers, random_maps(network, 1), parameters(network, 0))
    accelerator = Accelerator(one, dram=Dram(data_bits=bits))
    layer = network.layer(LAYER)
    print(f"{machine()}; DDR3 x{bits}, beats of {8 * bits} bits")
    for phase in PHASES:
        hardware = phase_of(network, layer, phase, state=True)
        golden = [hardware.golden_pass(layer, group, step) for group in range(layer.groups)]
        alone = run_and_audit(hardware.top(), golden, "verilator")
        for each, wanted in zip(passes[phase], golden, strict=True):
            fill(accelerator, each, wanted)
        played = accelerator.play(one, phase)
        audits = [
            audit(accelerator.record(each, done), without_cycles(wanted.expected))
            for each, done, wanted in zip(passes[phase], played.passes, golden, strict=True)
        ]
        assert not np.any([one.failures for one in audits]), audits
        shown(phase, combine(audits), combine([each.audit for each in alone]), played)


if __name__ == "__main__":
    main()
