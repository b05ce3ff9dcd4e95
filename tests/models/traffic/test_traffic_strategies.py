from dataclasses import replace

import pytest

from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32
from merp.models.base.storage import Storage
from merp.models.traffic import published
from merp.models.traffic.count import XC7K325T_BYTES
from merp.models.traffic.strategies import LEVELS, round_trips, staircase
from merp.tools.common.shipped import open_network

ALEXNET = open_network("alexnet")
CONV2 = ALEXNET.layer("conv2")
GROUP = {step.level: step for step in staircase(CONV2, published.BATCH)}
OPERATIONS = CONV2.operations(published.BATCH)


def ratio(level: str) -> float:
    return GROUP[level].bytes(ALEXNET) / OPERATIONS * 1e3


def megabytes(moved: float) -> float:
    """Megabytes of one group of the two."""
    return moved / 1e6 / 2


def test_table_1_of_the_paper() -> None:
    trips = round_trips(ALEXNET, CONV2, published.BATCH)
    assert megabytes(GROUP["none"].input_bytes(ALEXNET)) == pytest.approx(114.7e3, abs=50)
    assert megabytes(GROUP["none"].sum_bytes(ALEXNET)) == pytest.approx(2.3e3, abs=50)
    assert megabytes(GROUP["none"].bytes(ALEXNET)) == pytest.approx(117.0e3, abs=50)
    assert megabytes(GROUP["1-4"].input_bytes(ALEXNET)) == pytest.approx(17.9, abs=0.05)
    assert megabytes(GROUP["1-4"].sum_bytes(ALEXNET)) == pytest.approx(47.8, abs=0.05)
    assert megabytes(GROUP["1-4"].bytes(ALEXNET)) == pytest.approx(65.7, abs=0.05)
    pooled = megabytes(GROUP["1-5"].sum_bytes(ALEXNET))
    assert pooled == pytest.approx(11.0, abs=0.1)
    assert megabytes(trips.activation) == pytest.approx(95.6, abs=0.1)
    assert megabytes(trips.pooling) - pooled == pytest.approx(99.7, abs=0.05)
    assert megabytes(trips.pooling) == pytest.approx(110.7, abs=0.1)
    assert GROUP["1"].on_chip_words * 4 == 614_400
    maps = megabytes(4 * 128 * (CONV2.inputs + 4 * CONV2.sums + CONV2.outputs))
    assert maps == pytest.approx(220.1, abs=0.2)
    assert OPERATIONS / 2e9 == pytest.approx(28.67, abs=0.005)
    relu, pool = CONV2.sums * 64 / 1e9, 9 * CONV2.outputs * 64 / 1e9
    assert relu + pool + OPERATIONS / 2e9 == pytest.approx(28.70, abs=0.005)


def test_the_chain_of_section_4() -> None:
    chain = [ratio(level) for level in LEVELS[1:]]
    assert chain == pytest.approx([2080.0, 95.625, 17.292, 2.2917, 1.0114], abs=0.0005)
    # the paper's own arithmetic on rounded operands
    by_paper = [
        (114.7e3 / 2 + 2.3e3) / 28.6,
        (114.7e3 / 2 / 128 + 2.3e3) / 28.6,
        (114.7e3 / 2 / 128 + 2.3e3 / 48) / 28.6,
        (17.9 + 11.0) / 28.6,
    ]
    assert by_paper == pytest.approx(list(published.STAIRCASE.values()), abs=0.75)
    for level, printed in published.STAIRCASE.items():
        assert ratio(level) == pytest.approx(printed, rel=0.006)


def test_memory_that_each_strategy_costs() -> None:
    costs = [GROUP[level].on_chip_words * 4 for level in LEVELS]
    # none; kernels; a window; m accumulators; n*k*Cin; two open rows of pooled results
    assert costs == [0, 614_400, 100, 512, 25_920, 2 * 13 * 128 * 4]


def test_errata_of_section_4_are_as_stated() -> None:
    assert 55 * 55 * 128 * 128 * 4 / 1e6 == pytest.approx(198.2, abs=0.05)
    assert 48 * 5 * 59 == 14_160
    kernels = 614_400 / 1e6
    fused = megabytes(GROUP["1-5"].bytes(ALEXNET))
    assert fused + kernels == pytest.approx(29.6, abs=0.05)
    assert (fused + kernels) / 28.6 == pytest.approx(1.035, abs=0.0005)
    trips = round_trips(ALEXNET, CONV2, published.BATCH)
    everything = megabytes(GROUP["none"].bytes(ALEXNET) + trips.activation + trips.pooling)
    assert everything / fused == pytest.approx(4041, abs=0.5)
    assert everything / (fused + kernels) == pytest.approx(3957, abs=0.6)
    without = megabytes(GROUP["none"].input_bytes(ALEXNET) + trips.activation + trips.pooling)
    assert without / (17.9 + 11.0) == pytest.approx(3976, abs=3)
    conv3 = ALEXNET.layer("conv3")
    assert conv3.kernels * 4 / 1e6 == pytest.approx(3.54, abs=0.005)
    assert XC7K325T_BYTES / 1e6 == pytest.approx(1.82, abs=0.005)
    peak = 16 * 2 * 25  # operations per cycle
    assert OPERATIONS / peak / 137e6 == pytest.approx(0.523, abs=0.0005)
    assert OPERATIONS / peak / 100e6 == pytest.approx(0.7, abs=0.02)


def test_a_layer_without_pooling_ends_at_strategy_4() -> None:
    conv3 = ALEXNET.layer("conv3")
    steps = {step.level: step for step in staircase(conv3, 1)}
    assert steps["1-5"].bytes(ALEXNET) == steps["1-4"].bytes(ALEXNET)
    assert steps["1-5"].on_chip_words == 0
    assert round_trips(ALEXNET, conv3, 1).pooling == 0


def test_strategies_take_each_word_as_it_is_stored() -> None:
    """Partial sums are numbers of the arithmetic; ReLU and pooling apart move maps."""
    storage = Storage(maps=BFLOAT16, deltas=BINARY32, kernels=BINARY16, gradients=BINARY32)
    network = replace(ALEXNET, storage=storage)
    macs, sums = 2 * CONV2.shape.macs(1), CONV2.sums
    steps = {step.level: step for step in staircase(CONV2, 1)}
    assert steps["none"].bytes(network) == 2 * macs + 2 * macs + 4 * 47 * sums + 2 * sums
    assert steps["1-3"].sum_bytes(network) == 2 * sums
    assert steps["1-5"].bytes(network) == 2 * (CONV2.inputs + CONV2.outputs)
    trips = round_trips(network, CONV2, 1)
    assert (trips.activation, trips.pooling) == (2 * 2 * sums, 2 * 10 * CONV2.outputs)
