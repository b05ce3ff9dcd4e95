"""The cycle model of two fused layers against the hardware's counters, and shares of the CUs."""

from dataclasses import replace
from itertools import product
from math import ceil

import pytest
from fused_cases import ELABORATIONS, case, plain, play

from marks import in_full
from merp.models.base.counters import PARTS as PARTS_OF_TOTAL
from merp.models.base.errors import BadInput
from merp.models.base.fused_shape import FusedShape
from merp.models.base.shape import Pool
from merp.models.fpga.parts import PARTS
from merp.models.machines.cnn_merp.cycles import fused_cycles, layer_cycles
from merp.models.machines.cnn_merp.designs import designs_of
from merp.models.machines.cnn_merp.fpga.estimate import fused_estimate
from merp.models.machines.cnn_merp.fused_flow import fused_flow
from merp.models.machines.cnn_merp.fused_pair import fused_design, fused_shape, image_slots
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.models.network.branches import previous
from merp.models.network.network import Network
from merp.tools.common.shipped import open_network

ALEXNET = open_network("alexnet")
PART, LARGER = PARTS["xc7k325t"], PARTS["xc7z045"]
PAIR = ALEXNET.layer("conv1"), ALEXNET.layer("conv2")


@pytest.mark.sample(1)
@pytest.mark.parametrize("index", [0, 2, 6, *in_full(1, 3, 4, 5, 7)])
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
    network = replace(ALEXNET, layer_fusion=("conv1", "conv2"))
    found = layer_cycles(network, PAIR[0], "ff", images)
    assert found is not None
    assert found.total == total
    assert found.efficiency > 0.83


def bound(shape: FusedShape, units: tuple[int, int], images: int) -> float:
    """The share of all multipliers that any two engines can use. source: decision 17"""
    first, second = shape.first, shape.second
    pool = first.pool or Pool(window=1, stride=1)
    positions = [each.out_rows * each.out_columns for each in (first, second)]
    slots = [
        each.n * ceil(each.m / share) * count
        for each, share, count in zip((first, second), units, positions, strict=True)
    ]
    at = (second.k - 1 - second.pad) * pool.stride + pool.window - 1  # row and column, from 0
    ahead = (at * first.out_columns + at + 1) / positions[0]
    row, column = (size - second.k + second.pad for size in (second.rows, second.columns))
    behind = 1 - (row * second.out_columns + column) / positions[1]
    cycles = max(images * slots[1] + ahead * slots[0], images * slots[0] + behind * slots[1])
    multipliers = units[0] * first.k**2 + shape.groups * units[1] * second.k**2
    return shape.macs(images) / (multipliers * cycles)


def test_no_shares_use_95_percent_of_all_multipliers_at_batch_2() -> None:
    """An image has to be there in part before the second layer begins; from batch 3 some may."""
    shape = fused_shape(ALEXNET, *PAIR)
    shares = list(product(range(1, shape.first.m + 1), range(1, shape.second.m + 1)))
    best = {images: max(bound(shape, units, images) for units in shares) for images in (2, 3)}
    assert {images: round(each, 3) for images, each in best.items()} == {2: 0.940, 3: 0.951}
    assert bound(shape, (3, 16), 2) == best[2]
    assert round(bound(shape, (1, 4), 1 << 16), 3) == 0.916  # the paper's part, any batch


def balanced() -> FusedDesign:
    """1 unit and 5 + 5, where there are no others."""
    counts = {"k11": 1, "k5": 10}
    designs = designs_of(ALEXNET)
    few = {key: replace(designs[key], n_cu=n_cu, r=min(n_cu, 2)) for key, n_cu in counts.items()}
    network = replace(ALEXNET, designs={**ALEXNET.designs, **few})
    return fused_design(network, *PAIR, part=LARGER)


def test_a_larger_part_has_room_for_balanced_layers() -> None:
    design = balanced()
    assert (design.first.n_cu, design.second.n_cu, design.groups) == (1, 5, 2)
    assert PART.block_rams < fused_estimate(design).bram == 508.5 <= LARGER.block_rams


@pytest.mark.full
def test_balanced_layers_use_95_percent_from_batch_5_on() -> None:
    """By the cycle model, which stays below the bound."""
    shape, design = fused_shape(ALEXNET, *PAIR), balanced()
    found = {images: fused_cycles(shape, images, design).efficiency for images in (2, 4, 5)}
    assert {images: round(each, 3) for images, each in found.items()} == {
        2: 0.924, 4: 0.949, 5: 0.954,
    }  # fmt: skip
    assert all(each <= bound(shape, (1, 5), images) for images, each in found.items())


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
    assert "is also used elsewhere" in refused(residual, shortcut.name, behind.name)


def test_shares_that_fit_no_part_are_refused_in_a_line() -> None:
    tiny = replace(PART, block_rams=20)
    with pytest.raises(BadInput, match="no shares of their 3 and 16 CUs fit"):
        fused_design(ALEXNET, *PAIR, part=tiny)


def test_a_pair_takes_kernels_one_element_a_beat_on_any_design() -> None:
    narrow = open_network("alexnet-kernel1")
    pair = narrow.layer("conv1"), narrow.layer("conv2")
    assert {each.kernel_port for each in designs_of(ALEXNET).values()} == {4}
    assert fused_design(ALEXNET, *PAIR) == fused_design(narrow, *pair)
