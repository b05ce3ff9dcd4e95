"""Kernels, cycles and words of convolution modules; what they take of the part."""

import pytest

from merp.models.comparison.fcnn_paper import ALEXNET, WORDS_PER_CYCLE, milliseconds, optimum
from merp.models.papers.fcnn.convolution import (
    ConvolutionTask,
    Kernels,
    bounds,
    resources,
    steps,
    words,
    words_per_step,
)
from merp.models.papers.fcnn.resources import STRATIX_V, TABLE_III, BlockResources, full_module

TASK = ConvolutionTask(n=3, m=5, k=3, rows=10, columns=8, out_rows=8, out_columns=6, images=4)


@pytest.mark.parametrize(
    ("name", "kernels", "bound", "buffer"),
    [
        ("L1", 2.386, "BRAM", 375), ("L2", 13.89, "BRAM", 24), ("L3", 21.33, "DRAM", 7),
        ("L4", 21.33, "DRAM", 7), ("L5", 21.33, "DRAM", 7),
    ],
)  # fmt: skip
def test_optima_of_table_2(name: str, kernels: float, bound: str, buffer: int) -> None:
    found, by = optimum(ALEXNET[name])
    assert found == pytest.approx(kernels, abs=0.005)
    assert by == bound
    assert STRATIX_V.buffer(ALEXNET[name].task.buffer_words, 32).bram == buffer


@pytest.mark.parametrize(
    ("name", "ms"),
    [("L1", 101.3), ("L2", 322.3), ("L3", 264.1), ("L4", 198.1), ("L5", 133.1)],
)
def test_times_of_table_2(name: str, ms: float) -> None:
    assert milliseconds(ALEXNET[name]) == pytest.approx(ms, abs=0.05)


@pytest.mark.parametrize(
    ("name", "mb_per_gflop"), [("L1", 106), ("L2", 316), ("L3", 690), ("L4", 690), ("L5", 696)]
)
def test_what_crosses_to_dram_at_the_streams_rate(name: str, mb_per_gflop: float) -> None:
    row = ALEXNET[name]
    kernels = Kernels.of(row.kernels)
    crossing = 4 * steps(row.task, kernels) * words_per_step(row.task, kernels)
    assert crossing / row.task.operations * 1e3 == pytest.approx(mb_per_gflop, abs=0.5)


def test_a_layer_that_reuses_words_has_a_buffer_twice_as_large() -> None:
    found = bounds(ALEXNET["L3"].task, STRATIX_V, TABLE_III, WORDS_PER_CYCLE, 32, buffers=2)
    assert found["BRAM"] == pytest.approx(38.76, abs=0.005)


def test_words_are_conserved() -> None:
    found = words(TASK, Kernels(4, 2), input_words=3 * 6 * 4)
    assert found.inputs == 4 * 72
    assert found.again == 2 * 4 * 72  # three turns of two maps
    assert found.sums == 5 * 8 * 6 * 4
    assert found.partial_in == found.partial_out == 2 * found.sums
    assert found.total == 3 * 4 * 72 + 5 * found.sums


def test_one_input_map_has_no_partial_sums() -> None:
    one = ConvolutionTask(n=1, m=5, k=3, rows=10, columns=8, out_rows=8, out_columns=6, images=4)
    assert words(one, Kernels(4, 5), 24).partial_in == 0


def test_steps_stream_the_border() -> None:
    assert steps(TASK, Kernels(4, 2)) == 3 * 3 * 80 * 4 / 4
    assert words_per_step(TASK, Kernels(4, 2)) == 4 + 2 * 8


def test_kernels_are_split() -> None:
    assert [Kernels.of(count) for count in (3, 12, 36)] == [
        Kernels(3, 1), Kernels(12, 1), Kernels(12, 3)
    ]  # fmt: skip


def test_what_modules_take() -> None:
    found = resources(TASK, 2, STRATIX_V, 2, 32)
    assert found == BlockResources(57_700 + 18 * 750, 77_600 + 18 * 1050, 18, 460 + 18 * 6 + 2)
    assert found.exceeded(TABLE_III) == ""
    assert resources(TASK, 40, STRATIX_V, 1, 32).exceeded(TABLE_III) == "bram"


def test_tanh_in_every_block_does_not_fit() -> None:
    everywhere = full_module(STRATIX_V, 24, 4, 800, 32, activations=24)
    once = full_module(STRATIX_V, 24, 4, 800, 32, activations=1)
    assert (everywhere.bram, once.bram) == (2942, 2436)
    assert everywhere.exceeded(TABLE_III) == "bram"
    assert once.exceeded(TABLE_III) == ""
