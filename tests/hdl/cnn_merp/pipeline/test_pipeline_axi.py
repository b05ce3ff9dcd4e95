"""A pipeline behind AXI4-Lite registers: one shell for all layers, reached through AXI alone."""

from pathlib import Path

import numpy as np
import pytest
from pipelines import small

from merp.cosim.engines.axi_engine import run_axi
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.at_once.batch import ConcurrentBatch
from merp.cosim.machines.cnn_merp.pipeline.batch import batch
from merp.cosim.machines.cnn_merp.pipeline.pipeline import HardwarePipeline
from merp.models.arithmetic.words import to_bits
from merp.models.golden.training import initial_model, rates_of, train_step
from merp.models.machines.cnn_merp.pipeline.slices import pipeline_design
from merp.testbenches.axi.axi_top import axi_registers_of


def batch_of(folder: Path) -> ConcurrentBatch:
    network, images = small(folder), 2
    rng, rates = np.random.default_rng(1), rates_of(0.1, images, network.fmt)
    model = initial_model(network, 3)
    x = to_bits(rng.uniform(0, 1, (images, *network.input)), network.fmt)
    step = train_step(network, model, x, rng.integers(0, 2, images), rates, state="pooled")
    return batch(
        HardwarePipeline(network, pipeline_design(network, 2), rates.rule), model, step, rates, 2
    )


def test_every_register_has_a_range_and_a_meaning(tmp_path: Path) -> None:
    made = batch_of(tmp_path)
    top = made.hardware.top()
    registers = {each.name: each for each in axi_registers_of(top).registers}
    for pin in top.ports.config:
        register = registers[pin.name]
        assert register.least <= made.run.config[pin.name] <= register.most
        assert register.meaning
    assert registers["config_admission_depth"].most == 2
    said = registers["status_layer2_dp_delta_in"].meaning
    assert said.startswith("layer 2, dp: words that passed the port delta_in")


@pytest.mark.full
@pytest.mark.ghdl
def test_a_step_through_axi_has_the_goldens_bits(tmp_path: Path) -> None:
    made = batch_of(tmp_path)
    (record,) = run_axi(Job(made.hardware.top(), [made.run], limit=3000))
    assert made.failures(record) == []
    for name, audited in made.audited(record).items():
        assert audited.audit.failures == (), name
        assert audited.audit.words_compared == sum(
            port.golden.size
            for each, port in made.passes[name].expected.ports.items()
            if port.golden is not None
            and made.hardware.pin(next(e for e in made.hardware.engines if e.name == name), each)
        )
