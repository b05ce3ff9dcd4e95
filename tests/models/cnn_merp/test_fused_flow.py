"""The cycle model of two fused layers against the hardware's counters, and shares of the CUs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fused_cases import ELABORATIONS, case, plain, play

from marks import in_full
from merp.models.cnn_merp.cycles import fused_cycles, layer_cycles
from merp.models.cnn_merp.fused_flow import fused_flow
from merp.models.cnn_merp.fused_pair import fused_design, fused_shape, image_slots
from merp.models.errors import BadInput
from merp.models.fpga.estimate import fused_estimate
from merp.models.fpga.parts import PARTS
from merp.models.network.branches import previous
from merp.models.network.network import Network
from merp.models.params.counters import PARTS as PARTS_OF_TOTAL
from merp.tools.common.shipped import open_network

ALEXNET = open_network("alexnet")
PART = PARTS["xc7k325t"]
PAIR = ALEXNET.layer("conv1"), ALEXNET.layer("conv2")


@pytest.mark.parametrize("index", [0, 2, *in_full(1, 3, 4, 5)])
def test_cycles_are_the_hardwares(index: int) -> None:
    cases = [*(case(seed, index, pressure=False) for seed in (40, 41)), plain(index, 12)]
    for each, record in zip(cases, play(cases), strict=True):
        counted = record.outcome.status
        flow = fused_flow(each.shape, len(each.x), each.design)
        for name in ("fill", "issue", "stall_input", "stall_output", "stall_hazard"):
            assert getattr(flow, name) == counted[f"status_{name}"]
            assert getattr(flow, f"first_{name}") == counted[f"status_first_{name}"]
        found = fused_cycles(each.shape, len(each.x), each.design)
        assert found.total == counted["status_total"]
        assert found.kernel_load == counted["status_kernel_load"]
        assert found.total == sum(counted[f"status_{name}"] for name in PARTS_OF_TOTAL)


def test_the_walk_of_many_images_follows_from_a_few() -> None:
    """Each further pair of images takes as long as the last one."""
    shape, design = plain(0, 13).shape, ELABORATIONS[0]
    design = design._replace(
        first=replace(design.first, max_images=16), second=replace(design.second, max_images=16)
    )
    far, walked = fused_cycles(shape, 9, design), fused_flow(shape, 9, design)
    assert far.issue == walked.issue
    assert far.total == max(walked.last, walked.last_word) + 1


def test_alexnets_shares_fit_the_papers_part() -> None:
    """Block RAM binds: a unit more for each group of conv2, and the layers would be balanced."""
    shape, design = fused_shape(ALEXNET, *PAIR), fused_design(ALEXNET, *PAIR)
    assert (design.first.n_cu, design.second.n_cu, design.groups) == (1, 4, 2)
    taken = fused_estimate(design)
    assert taken.bram == 431.5
    assert taken.bram <= PART.block_rams
    assert taken.lut <= PART.luts
    roomier = fused_design(ALEXNET, *PAIR, part=replace(PART, block_rams=2 * PART.block_rams))
    assert image_slots(shape.second, design.second.n_cu) == 1_119_744
    assert fused_estimate(roomier).bram > PART.block_rams
    slower = max(
        image_slots(shape.first, roomier.first.n_cu), image_slots(shape.second, roomier.second.n_cu)
    )
    assert slower < 1_119_744


@pytest.mark.full
@pytest.mark.parametrize(("images", "total"), [(1, 1_222_401), (2, 2_342_145)])
def test_alexnets_cycles_as_they_were_measured(images: int, total: int) -> None:
    network = replace(ALEXNET, fuse=("conv1", "conv2"))
    found = layer_cycles(network, PAIR[0], "ff", images)
    assert found is not None
    assert found.total == total
    assert found.efficiency > 0.83


def refused(network: Network, first: str, second: str) -> str:
    with pytest.raises(BadInput) as error:
        fused_design(network, network.layer(first), network.layer(second))
    assert "\n" not in str(error.value)
    return str(error.value)


def test_layers_that_cannot_be_fused_are_refused_in_a_line() -> None:
    assert "does not take the output of conv2" in refused(ALEXNET, "conv2", "conv1")
    assert "conv3 has 1 groups and conv2 2" in refused(ALEXNET, "conv2", "conv3")
    residual = open_network("resnet-digits")
    adds = next(layer for layer in residual.layers if layer.add is not None)
    front, shortcut = previous(residual, adds), residual.layer(str(adds.add))
    assert front is not None
    assert f"{adds.name} adds maps" in refused(residual, front.name, adds.name)
    behind = next(layer for layer in residual.layers if previous(residual, layer) is shortcut)
    assert "goes elsewhere, too" in refused(residual, shortcut.name, behind.name)


def test_shares_that_fit_no_part_are_refused_in_a_line() -> None:
    tiny = replace(PART, block_rams=20)
    with pytest.raises(BadInput, match="no shares of their 3 and 16 CUs fit"):
        fused_design(ALEXNET, *PAIR, part=tiny)
