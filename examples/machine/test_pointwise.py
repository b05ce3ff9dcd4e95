"""The machine: bits by the specification, words, cycles, stalled streams, and its refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pointwise.counts import cycles, port_words, walked_words
from pointwise.phases import PHASES

from merp.cosim.phases.audit.run_and_audit import run_and_audit
from merp.cosim.phases.expectation import GroupPass
from merp.models.base.errors import BadInput
from merp.models.base.toml_section import read_toml
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import parameters
from merp.models.network.network import Network
from merp.models.network.network_file import network_of, read_network
from merp.tools.common.input_maps import random_maps

HERE = Path(__file__).parent
NETWORK = read_network(HERE / "points.toml")
(LAYER,) = NETWORK.layers


def step(network: Network = NETWORK, images: int = 2) -> GoldenStep:
    return GoldenStep(network, network.layers, random_maps(network, images), parameters(network, 1))


def sized(side: int, channels: int, maps: int) -> Network:
    tables = read_toml(HERE / "points.toml")
    tables["network"]["input"] = {"rows": side, "columns": side, "channels": channels}
    tables["layer"][0]["maps"] = maps
    return network_of("points.toml", tables)


@pytest.mark.parametrize("name", list(PHASES))
@pytest.mark.parametrize("size", [(1, 1, 1), (1, 8, 3), (2, 1, 16), (4, 3, 2)])
def test_bits_words_and_cycles(name: str, size: tuple[int, int, int]) -> None:
    network = sized(*size)
    (layer,) = network.layers
    phase = PHASES[name](network, layer)
    for images in (1, 2):
        given = phase.golden_pass(layer, 0, step(network, images))
        (found,) = run_and_audit(phase.top(), iter([given]), "myhdl")
        assert found.audit.failures == ()
        assert found.audit.cycles["total"] == cycles(name, layer.shape, images)
        assert port_words(name, layer.shape, images) == walked_words(name, layer.shape, images)


def test_the_golden_of_merp_has_the_same_bits() -> None:
    golden = step()
    forward = PHASES["fp"](NETWORK, LAYER).golden_pass(LAYER, 0, golden)
    update = PHASES["ku"](NETWORK, LAYER).golden_pass(LAYER, 0, golden)
    y = forward.expected.ports["map_out"].golden
    assert np.array_equal(y.reshape(-1), golden.y(LAYER).reshape(-1))
    rows = update.expected.ports["kernel_out"].golden
    kernels, biases = golden.updated(LAYER).parameters
    assert np.array_equal(rows[:, 1:].reshape(-1), kernels.reshape(-1))
    assert np.array_equal(rows[:, 0], biases)


@pytest.mark.parametrize("name", list(PHASES))
def test_streams_that_stall_change_no_bit(name: str) -> None:
    phase = PHASES[name](NETWORK, LAYER)
    run, expected = phase.golden_pass(LAYER, 0, step())
    stalls = {pin.name: (0, 1, 0, 0, 1) for pin in phase.top().ports.streams}
    given = GroupPass(run.under(stalls, reset_at=50), expected)
    (found,) = run_and_audit(phase.top(), iter([given]), "myhdl")
    assert found.audit.failures == ()
    assert found.record.outcome.resets == 1


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("kernel", 3, "allowed are 1 x 1 kernels"),
        ("maps", 9, "3 input maps, 36 elements: allowed are 8 and 32"),
        ("stride", 2, "allowed are 1 x 1 kernels, stride 1"),
    ],
)
def test_a_layer_that_does_not_fit_is_refused(key: str, value: int, said: str) -> None:
    tables = read_toml(HERE / "points.toml")
    tables["layer"][0][key] = value
    with pytest.raises(BadInput, match=said):
        network_of("points.toml", tables)
