"""Traffic of two fused layers: the walked schedules against the formula, and AlexNet's figures."""

from dataclasses import replace

import pytest
from fused_cases import ELABORATIONS, case

from merp.models.base.byte_image import ByteImage
from merp.models.base.errors import BadInput
from merp.models.base.formats import BINARY32
from merp.models.base.storage import Storage
from merp.models.machines.cnn_merp.fused_pair import fused_design, fused_shape
from merp.models.machines.cnn_merp.traffic.fused_counter import fused_words
from merp.models.traffic.closed_form import inference_traffic, network_traffic
from merp.models.traffic.count import Count
from merp.models.traffic.pass_words import fused_port_words
from merp.tools.common.shipped import open_network

ALEXNET = open_network("alexnet")
FUSED = replace(ALEXNET, layer_fusion=("conv1", "conv2"))
BYTES = Storage(
    maps=BINARY32, deltas=BINARY32, kernels=BINARY32, gradients=BINARY32, image=ByteImage()
)


@pytest.mark.parametrize("index", range(len(ELABORATIONS)))
def test_formula_and_walk_agree(index: int) -> None:
    for seed in range(12):
        each = case(seed, index)
        images, design = len(each.x), each.design
        formula = fused_port_words(each.shape, images, design.second.state)
        assert formula == fused_words(each.shape, images, design)


def test_a_walk_whose_layers_do_not_meet_is_an_error() -> None:
    each = case(0, 0)
    longer = replace(each.shape.first, m=each.shape.first.m + 1)
    with pytest.raises(ValueError, match="words pass between the layers"):
        fused_words(each.shape._replace(first=longer), 1, each.design)


@pytest.mark.parametrize(
    ("network", "mb_per_gflop"),
    [(ALEXNET, 1.995), (FUSED, 1.574), (replace(FUSED, storage=BYTES), 1.235)],
)
def test_alexnets_inference(network: object, mb_per_gflop: float) -> None:
    found = [phase for layer, phase in inference_traffic(network, 128) if layer.kind == "conv"]
    moved, operations = sum(each.bytes for each in found), sum(each.operations for each in found)
    assert moved / operations * 1e3 == pytest.approx(mb_per_gflop, abs=5e-4)


def test_the_pairs_ports_are_the_layers_shares() -> None:
    """In inference, and in a step, where the map between leaves and is not read again."""
    first, second = (FUSED.layer(name) for name in FUSED.layer_fusion)
    shape = fused_shape(FUSED, first, second)
    assert fused_design(FUSED, first, second, state=True).second.state
    inference = fused_port_words(shape, 128, False)
    shares = [
        phase for layer, phase in inference_traffic(FUSED, 128) if layer.name in FUSED.layer_fusion
    ]
    assert sum(each.bytes for each in shares) == 4 * sum(inference.values())
    step = fused_port_words(shape, 128, True)
    states = sum(words for port, words in step.items() if "state" in port)
    both = network_traffic(FUSED, 128, Count(name="all", state="pooled"))[:2]
    assert sum(each.fp.bytes for each in both) == 4 * (sum(step.values()) - states) + states


def test_tiles_are_refused_in_a_line() -> None:
    with pytest.raises(BadInput, match="count board without a board cuts"):
        network_traffic(FUSED, 128, Count(name="board", memory_bytes=1 << 20))
