"""What packages of engines that run at once have in common: their step, and how it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from merp.cosim.machines.cnn_merp.at_once.batch import ConcurrentBatch
from merp.cosim.machines.cnn_merp.at_once.engines import ConcurrentEngines
from merp.cosim.phases.audit.vectors import status_words, write_run
from merp.hdl.conversion.convert import convert
from merp.models.base.counters import COUNTERS
from merp.models.base.rates import Rates
from merp.models.base.register_map import RegisterMap
from merp.models.golden.training import (
    RATE,
    Model,
    Step,
    initial_model,
    rates_of,
    train_step,
)
from merp.models.network.network import Network
from merp.testbenches.axi.axi_top import axi_top
from merp.tools.common.input_maps import random_maps
from merp.tools.common.time_spent import TimeSpent
from merp.tools.export.package import Frame, write_header

PARAMETERS = {
    "kernel": "kernels in the order m, n, row, column",
    "bias": "biases in the order m",
}
"""What streams of parameters carry, by the end of their names."""


def random_step(
    network: Network, images: int, *, pooled: bool = False
) -> tuple[Model, Step, Rates]:
    """A golden step on random images, image i of class i, and the model that it began with.

    Args:
        pooled: as of ``train_step``.
    """
    model, maps = initial_model(network, 0), random_maps(network, images)
    rates = rates_of(RATE, images, network.fmt)
    labels = np.arange(images, dtype=np.int64) % network.layers[-1].biases
    step = train_step(network, model, maps, labels, rates, state="pooled", pooled=pooled)
    return model, step, rates


def write_step(
    frame: Frame,
    made: ConcurrentBatch,
    facts: Mapping[str, Any],
    said: Mapping[str, Any],
    spent: TimeSpent,
    directory: Path,
) -> dict[str, Any]:
    """Write engines that run at once behind one AXI shell, and a step of theirs; as ``write``.

    Args:
        made: the step, with the engines.
        facts, said: of this package alone, for programs and for its page.

    Raises:
        RuntimeError: GHDL or Verilator, where it is installed, refuses what was exported.
    """
    engine = made.hardware.top()
    shell = axi_top(engine)
    registers: RegisterMap = shell.args["registers"]
    hdl, prefix = directory / "hdl", f"{frame.entity}_"
    export = convert(shell.function, shell.args, frame.dialect.name, hdl, prefix=prefix)
    counters = _counter(made.hardware)
    total = next(each.name for each in COUNTERS)
    compared = write_run(
        directory / "vectors" / "small",
        made.run,
        made.goldens,
        status_words(made.counts),
        [f"{each.name}_{total}" for each in made.hardware.engines],
        engine.ports,
        registers,
    )
    header = f"the network, {facts['images']} image(s)"
    write_header(directory / "software", frame.entity, registers, made.run.config, header)
    found = frame.facts(engine, export, registers) | {
        "phase": "all",
        "format": asdict(made.hardware.network.fmt),
        **facts,
        "streams": {
            pin.name: {"port": counters.get(pin.name, pin.name), "width": pin.element}
            for pin in engine.ports.streams
        },
        "vectors": {"small": {"words_compared": compared}},
    }
    values = found | {"command": None, "stored": {}, **said}
    frame.write(engine, export, registers, values, spent, directory)
    return found


def _counter(of: ConcurrentEngines) -> Mapping[str, str]:
    """The counter of each stream that is an engine's, without ``status_``."""
    return {
        pin: f"{engine.name}_{port}"
        for engine in of.engines
        for port in engine.streams
        if (pin := of.pin(engine, port)) is not None
    }


def when(stream: str) -> str:
    """When the kernels and biases of a stream are used or made."""
    if stream.startswith("m_axis"):
        return "updated"
    return "for forward and delta propagation" if "_fp_" in stream else "for its update"
