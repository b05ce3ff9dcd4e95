"""Common parts of packages of concurrent engines: their step, and its files."""

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
from merp.tools.fpga.export.package import Frame, write_header

PARAMETERS = {
    "kernel": "kernels in the order m, n, row, column",
    "bias": "biases in the order m",
}
"""Contents of streams of parameters, by the end of their names."""


def random_step(
    network: Network, images: int, *, pooled: bool = False
) -> tuple[Model, Step, Rates]:
    """Return a golden step on random images, image i of class i, and the model before the step.

    Args:
        pooled: as in ``train_step``.
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
    """Write a package of concurrent engines behind one AXI shell, with the vectors of a step.

    Return the contents of the manifest except the hashes.

    Args:
        frame: the common values of packages.
        made: the step, with the engines.
        facts: facts of this package alone, for programs.
        said: texts of this package alone, for its page.
        spent: where to report the times.
        directory: the folder of the package.

    Raises:
        RuntimeError: GHDL or Verilator is installed and rejects the exported files.
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
    """Return the counter of each engine stream, without ``status_``."""
    return {
        pin: f"{engine.name}_{port}"
        for engine in of.engines
        for port in engine.streams
        if (pin := of.pin(engine, port)) is not None
    }


def when(stream: str) -> str:
    """Return when the kernels and biases of a stream are used or computed."""
    if stream.startswith("m_axis"):
        return "updated"
    return "for forward and delta propagation" if "_fp_" in stream else "for its update"
