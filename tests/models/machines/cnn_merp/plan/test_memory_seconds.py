"""The memory limits the slots of a pass, and the load or update of its kernels."""

from dataclasses import replace

import numpy as np
import pytest

from checkout import ROOT
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.plan.cost import Cost, cost_of
from merp.models.machines.cnn_merp.plan.plan import works_of
from merp.models.machines.cnn_merp.plan.work import PhaseWork
from merp.tools.common.boards import open_board
from merp.tools.common.shipped import open_network

CYCLE = 1e-8
"""Seconds at 100 MHz."""


def board_of(bytes_per_cycle: float) -> Board:
    """Return a board of 100 MHz whose memory moves so many bytes in a cycle."""
    gbytes = bytes_per_cycle * 0.1
    return replace(open_board("kc705"), clock_mhz=100.0, gbytes_s=gbytes, efficiency=1.0)


def conv2(phase: str, board: Board) -> tuple[PhaseWork, Cost]:
    """Return a phase of AlexNet's conv2 for one image, and the cost of a group in one piece."""
    whole = open_network("alexnet")
    network = replace(whole, layers=whole.layers[:2])
    works = works_of(network, "k5", phase, 1, "pooled")
    (work,) = (each for each in works if each.layer.name == "conv2")
    one = np.array([True])
    return work, cost_of(work, board, np.array([work.inputs]), np.array([work.outputs]), one, one)


@pytest.mark.parametrize("phase", ["fp", "dp", "ku"])
def test_a_fast_memory_costs_no_cycle(phase: str) -> None:
    _, cost = conv2(phase, board_of(64))
    assert cost.seconds == pytest.approx(cost.total * CYCLE)


def test_kernels_may_wait_for_memory_even_if_the_slots_do_not() -> None:
    """KU reads and writes 128 kernels of 48 x 25 elements, four elements each way in a cycle."""
    kernels, biases = 128 * 48 * 25, 128
    for rate in (16.0, 8.0):
        work, cost = conv2("ku", board_of(rate))
        stored = 2 * 4 * (kernels + biases)
        assert work.engine.kernel_port == 4
        assert cost.parameters == kernels / 4 + biases
        slots = float(cost.total[0]) - kernels / 4 - biases
        assert (float(cost.bytes[0]) - stored) / rate < slots
        assert cost.seconds == pytest.approx((slots + stored / rate) * CYCLE)
        assert float(cost.bytes[0]) / rate < float(cost.total[0]), "the whole pass keeps up"


def test_a_slow_memory_takes_the_time_of_all_bytes() -> None:
    _, cost = conv2("ku", board_of(0.01))
    assert cost.seconds == pytest.approx(cost.bytes * CYCLE / 0.01)


@pytest.mark.parametrize(("phase", "measured"), [("fp", 652_306), ("dp", 672_726), ("ku", 755_804)])
def test_the_plan_is_near_a_board_with_beats_of_128_bits(phase: str, measured: int) -> None:
    """Cycles of both groups in docs/board.md. LiteDRAM copies at 76.4 % of its peak there."""
    work, cost = conv2(phase, board_of(16 * 0.764))
    bound = work.layer.groups * float(cost.seconds[0]) / CYCLE
    assert measured == pytest.approx(bound, rel=0.02)
    page = (ROOT / "docs" / "board.md").read_text()
    assert f"| {phase.upper()} | {measured:,} |" in page
    assert f"| {round(bound):,} |" in page
