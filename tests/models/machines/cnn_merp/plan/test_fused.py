"""Two layers that a plan fuses in forward propagation, and pairs that it could."""

from dataclasses import replace
from functools import cache

import pytest

from merp.models.base.errors import BadInput
from merp.models.base.storage import element_bytes
from merp.models.machines.cnn_merp.cycles import fused_cycles
from merp.models.machines.cnn_merp.fused_pair import fused_layers, fused_shape
from merp.models.machines.cnn_merp.plan.fusable import fusable, saves_most
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan
from merp.models.machines.cnn_merp.plan.traffic import board_traffic
from merp.models.machines.cnn_merp.plan.words import whole_bytes
from merp.models.network.network import Network
from merp.models.traffic.closed_form import network_traffic
from merp.models.traffic.count import Count
from merp.models.traffic.pass_words import fused_port_words
from merp.tools.common.boards import open_board
from merp.tools.common.shipped import open_network

ALEXNET = open_network("alexnet")
KC705 = open_board("kc705")
PAIR = ("conv1", "conv2")


def convolutions(network: Network) -> Network:
    return replace(network, layers=tuple(x for x in network.layers if x.kind == "conv"))


@cache
def planned(fuse: tuple[str, ...] = PAIR, block_rams: int = 445, batch: int = 128) -> NetworkPlan:
    """AlexNet's convolutions on a part with so much block RAM."""
    board = replace(KC705, part=replace(KC705.part, block_rams=block_rams))
    return plan(replace(convolutions(ALEXNET), layer_fusion=fuse), board, batch)


def phases(found: NetworkPlan) -> list[tuple[str, str]]:
    return [(each.work.name, each.work.phase) for each in found.layers]


def test_the_pair_has_one_row_and_a_bitstream_of_its_own() -> None:
    found = planned()
    assert phases(found)[:4] == [
        ("conv1+conv2", "ff"), ("conv1", "ku"), ("conv2", "dp"), ("conv2", "ku"),
    ]  # fmt: skip
    engine = found.of("conv1", "ff").engine
    assert (engine.name, engine.phase, engine.cus) == ("k11+k5", "ff", (1, 8))
    assert (engine.resources.bram, engine.resources.dsp) == (431.5, 321)
    assert sum(memory.halves for memory in engine.memories) == 2 * 431.5
    # k11 and k5 forward in one; k3 forward and back, k5 back; KU of each.
    assert (found.loads, planned(()).loads) == (7, 8)
    assert found.unfused == ""


def test_bytes_are_those_of_the_formula_of_the_pass() -> None:
    found = planned()
    pair = found.of("conv1", "ff")
    shape = fused_shape(found.network, *fused_layers(found.network))
    words = fused_port_words(shape, 128, state=True)
    states = {"between_state_out", "state_out"}
    assert pair.ports == {
        port: count * (1 if port in states else element_bytes("ff", port, ALEXNET))
        for port, count in words.items()
    }
    assert pair.ports == whole_bytes(pair.work)
    traffic = network_traffic(found.network, 128, Count(name="all", state="pooled"))
    assert pair.bytes == sum(each.fp.bytes for each in traffic[:2])
    assert pair.operations == sum(each.fp.operations for each in traffic[:2])
    on_board = board_traffic(found.network, found)
    assert [each.fp for each in on_board[:2]] == [each.fp for each in traffic[:2]]


@pytest.mark.full
def test_cycles_are_those_of_the_model_that_walks_every_slot() -> None:
    pair = planned().of("conv1", "ff")
    assert pair.engine.pair is not None
    shape = fused_shape(ALEXNET, *(ALEXNET.layer(name) for name in PAIR))
    walked = fused_cycles(shape, 128, pair.engine.pair).phase
    assert pair.cycles == pytest.approx(walked, rel=1e-3)
    assert pair.cycles <= walked
    assert pair.binds == "units"


def test_what_does_not_fit_runs_one_by_one() -> None:
    found = planned(block_rams=365)
    assert phases(found) == phases(planned((), 365))
    assert found.network.layer_fusion == ()
    assert "conv1 and conv2 cannot be fused: no shares of their 3 and 16 CUs" in found.unfused
    assert list(found.apart(())) == [found.unfused]


def test_a_pair_is_proposed_with_what_it_saves() -> None:
    """What both plans move, map by map; and what of it is best."""
    apart = planned(())
    (found,) = fusable(apart)
    assert found.names == PAIR
    both = (sum(each.bytes for each in p.layers) for p in (apart, planned()))
    assert found.saved == next(both) - next(both) > 0
    assert saves_most([replace(found, saved=1), found, replace(found, saved=2)]) is found
    assert saves_most([]) is None
    assert not list(fusable(planned()))
    assert not list(fusable(planned((), 365)))


def test_a_run_for_each_group_of_the_first_layer() -> None:
    """Groups of both layers: two passes, each with a group of either."""
    network = convolutions(ALEXNET)
    first, *others = network.layers
    halved = replace(first, groups=2, shape=replace(first.shape, n=3, m=48))
    found = plan(replace(network, input=(*network.input[:2], 6), layers=(halved, *others),
                         layer_fusion=PAIR), KC705, 2)  # fmt: skip
    pair = found.of("conv1", "ff")
    assert (pair.passes, pair.work.outputs, pair.work.side_by_side) == (2, 128, 1)
    once = whole_bytes(pair.work)
    assert pair.ports == {port: 2 * count for port, count in once.items()}


@pytest.mark.parametrize("fuse", [("conv1", "conv3"), ("conv2", "conv1")])
def test_what_no_hardware_fuses_is_refused(fuse: tuple[str, ...]) -> None:
    with pytest.raises(BadInput, match=r"^alexnet: layers .* cannot be fused: .* does not take"):
        plan(replace(ALEXNET, layer_fusion=fuse), KC705, 1)


def test_state_that_no_hardware_keeps_is_refused() -> None:
    network = replace(ALEXNET, layer_fusion=PAIR)
    with pytest.raises(BadInput, match=r"^alexnet: layer_fusion: .* state 32: allowed is pooled"):
        plan(network, KC705, 1, state="32")
    assert not list(fusable(plan(convolutions(ALEXNET), KC705, 1, state="1")))


def test_designs_of_several_elements_a_beat_run_one_by_one_and_are_not_chosen() -> None:
    network = replace(open_network("digits"), layer_fusion=PAIR)
    wide = {name: replace(design, map_port=2) for name, design in network.designs.items()}
    found = plan(replace(network, designs=wide), KC705, 4)
    assert "several elements a beat" in found.unfused
    bare = replace(network, layers=tuple(replace(x, design=None) for x in network.layers))
    chosen = plan(replace(bare, designs={}), KC705, 4)
    assert ("conv1+conv2", "ff") in phases(chosen)
