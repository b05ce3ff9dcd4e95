"""The runs whose vectors a package brings."""

from dataclasses import replace
from pathlib import Path

import pytest
from float_networks import FLOAT_NETWORKS

from merp.models.golden.initial import parameters
from merp.models.network.network import Network
from merp.testbenches.axi.axi_top import axi_registers_of
from merp.tools.common.shipped import open_network
from merp.tools.fpga.bitstream.bitstream import schedule
from merp.tools.fpga.export.vectors import small_pass

HANGING = """
base = "digits"
[layer.conv1]
pool = { window = 3, pad = 1 }
[layer.conv2]
pool = { window = 3, ceil = true }
"""
FAR = """
base = "digits"
[layer.conv1]
pool = { window = 3, stride = 1, pad = 2 }
[layer.conv2]
pool = { kind = "average", window = 3, stride = 2, pad = 2 }
"""


@pytest.mark.sample(12)
@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("name", FLOAT_NETWORKS)
def test_runs_are_legal_on_every_shipped_design(name: str, before: bool) -> None:
    check_runs(open_network(name), before)


@pytest.mark.parametrize("text", [HANGING, FAR], ids=["near", "far"])
@pytest.mark.parametrize("before", [False, True])
def test_runs_are_legal_where_pooling_windows_hang_over(
    text: str, before: bool, tmp_path: Path
) -> None:
    path = tmp_path / "hanging.toml"
    path.write_text(text)
    network = open_network(str(path))
    assert all(layer.shape.hanging for layer in network.layers if layer.kind == "conv")
    check_runs(network, before)


def check_runs(network: Network, before: bool) -> None:
    for bitstream, layer in schedule(network, state=True, before=before):
        top = bitstream.phase.top()
        legal = axi_registers_of(top)
        small = small_pass(bitstream).run
        small.check(top.ports)
        of = bitstream.phase.registers
        for values in (small.config, of(layer, 1), of(layer, 64)):
            assert values.keys() == {pin.name for pin in top.ports.config}
            for key, value in values.items():
                assert legal[key].least <= value <= legal[key].most, key


def test_the_small_layer_has_random_weights_whatever_the_network_came_with() -> None:
    """They are of another size than those of the layer whose name it has."""
    network = open_network("digits")
    given = replace(network, weights=dict(parameters(network, 3)))
    for (plain, _), (other, _) in zip(schedule(network), schedule(given), strict=True):
        runs = small_pass(plain).run, small_pass(other).run
        kernels = [run.words["s_axis_kernel"].tolist() for run in runs]
        assert kernels[0] == kernels[1]
