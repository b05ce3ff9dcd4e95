"""A training step on the MAC array in Verilator, with all its checks: a part of ``make bench``."""

from collections.abc import Iterator

import numpy as np

from measured import Seconds, best
from merp.cosim.machines.mac_array.training import ArrayStepped, ArrayTraining
from merp.models.machines.mac_array.fixed_training import FixedRates, initial_model
from merp.tools.common.shipped import open_network

IMAGES, STEPS = 32, 3


def figures() -> Iterator[Seconds]:
    """Images of noise, of which a step takes as long as of any others."""
    network = open_network("digits-fixed")
    one = 1 << network.fixed.input
    rng = np.random.default_rng(0)
    images = rng.integers(0, one, (IMAGES, *network.input), np.int16, endpoint=True)
    labels = np.arange(IMAGES) % network.layers[-1].outputs
    model = initial_model(network, 0)
    rates = FixedRates(rate=0.05 / IMAGES, momentum=0.9, seed=0, step=0)
    hardware = ArrayTraining(network, "verilator", momentum=True, begin=lambda said: None)

    def step() -> ArrayStepped:
        return hardware.step(model, images, labels, rates)

    cycles = sum(audit.cycles["total"] for audit in step().audits.values())
    before = dict(hardware.seconds)
    seconds = best(step, STEPS)
    simulated = (hardware.seconds["simulating"] - before["simulating"]) / STEPS
    note = f"{cycles:,} cycles, {cycles / simulated:,.0f} a second in Verilator"
    yield Seconds("a step of 32 digits on the MAC array", seconds, note)
    yield Seconds("its build (if kept from before, the conversion)", before["building"])
