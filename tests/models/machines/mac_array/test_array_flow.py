"""Cycles by cause: as the hardware counted them, and as the slots' formula says."""

from dataclasses import astuple, replace
from typing import Any

import numpy as np
import pytest
from array_layers import random_pass, seen

from merp.models.machines.mac_array.array_cycles import delta_slots, forward_slots, update_slots
from merp.models.machines.mac_array.array_flow import array_cycles
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import Array
from merp.models.machines.mac_array.passes import design_of, sized
from merp.tools.common.shipped import open_network

FOUR = Array(pox=4, poy=4, pof=4)


def layer(phase: str, inputs: int, outputs: int, rows: int, columns: int, kernel: int,
          stride: int = 1, pad: int = 0, pool: int = 1) -> ArrayPass:  # fmt: skip
    return ArrayPass(
        phase=phase, inputs=inputs, outputs=outputs, rows=rows, columns=columns, kernel=kernel,
        stride=stride, pad=pad, pool=pool,
    )  # fmt: skip


def entering(*sizes: Any, **more: int) -> ArrayPass:
    """Deltas that come pooled."""
    return replace(layer(*sizes, **more), last=False)


def classes(inputs: int, outputs: int, kernel: int) -> ArrayPass:
    return replace(layer("fp", inputs, outputs, kernel, kernel, kernel), loss="hinge")


def gradients(inputs: int, outputs: int, rows: int, columns: int, kernel: int,
              last: bool = False, **sizes: int) -> ArrayPass:  # fmt: skip
    return replace(layer("ku", inputs, outputs, rows, columns, kernel, **sizes), last=last)


@pytest.mark.parametrize(
    ("work", "counted"),
    [
        (layer("fp", 3, 6, 9, 10, 3, pad=1), (486, 0, 12, 0, 16, 21)),
        (layer("fp", 2, 5, 9, 11, 3, pad=1, pool=2), (324, 0, 6, 44, 16, 9)),
        (layer("fp", 5, 10, 4, 4, 4), (240, 0, 0, 0, 5, 20)),
        (classes(5, 10, 4), (240, 0, 0, 0, 5, 30)),
        (classes(5, 3, 4), (80, 0, 0, 0, 5, 28)),
        (classes(1, 1, 1), (1, 0, 0, 0, 2, 26)),
        (classes(1, 32, 1), (8, 1, 0, 48, 2, 54)),
        (layer("fp", 2, 4, 11, 9, 3, stride=2, pad=1), (72, 0, 39, 5, 49, 27)),
        (layer("fp", 1, 1, 1, 1, 1), (1, 0, 0, 0, 2, 19)),
        (layer("fp", 1, 4, 4, 4, 1), (1, 0, 0, 0, 4, 49)),
        (layer("fp", 4, 1, 3, 3, 3, pad=1), (36, 0, 0, 0, 4, 29)),
        (layer("fp", 1, 7, 15, 19, 1), (40, 0, 0, 795, 21, 35)),
        (layer("fp", 5, 4, 16, 9, 3, pad=1, pool=2), (540, 0, 24, 0, 16, 10)),
        (layer("fp", 2, 6, 6, 9, 4, stride=2, pad=3), (256, 0, 19, 0, 37, 21)),
        (layer("fp", 7, 6, 3, 5, 3, stride=2, pad=1, pool=2), (126, 0, 17, 0, 13, 25)),
        (layer("fp", 1, 32, 64, 8, 4, stride=4), (512, 0, 2, 0, 129, 41)),
        (layer("fp", 1, 4, 40, 1, 1), (10, 0, 3, 122, 5, 47)),
        (layer("fp", 1, 8, 16, 1, 1), (8, 0, 0, 95, 5, 47)),
        (layer("fp", 1, 16, 8, 2, 1, pool=2), (8, 0, 0, 98, 5, 33)),
        (layer("dp", 8, 1, 15, 1, 1), (8, 2, 0, 92, 5, 40)),
        (layer("dp", 3, 4, 5, 5, 3, pad=1), (144, 0, 0, 0, 27, 21)),
        (layer("dp", 4, 7, 6, 10, 3, pad=1), (378, 0, 16, 0, 36, 29)),
        (layer("dp", 5, 3, 9, 11, 3, stride=2, pad=1), (216, 0, 0, 237, 36, 7)),
        (layer("dp", 3, 2, 9, 17, 3, stride=2, pad=0), (108, 0, 0, 232, 27, 7)),
        (layer("dp", 2, 3, 19, 18, 5, stride=4, pad=2), (300, 0, 0, 513, 50, 7)),
        (layer("dp", 5, 3, 10, 7, 4, stride=4, pad=3), (96, 0, 0, 262, 64, 23)),
        (layer("dp", 2, 2, 2, 3, 4, stride=4, pad=1), (32, 0, 0, 90, 32, 7)),
        (entering("dp", 2, 5, 9, 11, 3, pad=1, pool=2), (405, 0, 36, 0, 21, 22)),
        (entering("ku", 2, 5, 9, 11, 3, pad=1, pool=2), (320, 0, 12, 0, 24, 25)),
        (entering("dp", 2, 5, 13, 14, 3, pad=1, pool=4), (720, 0, 60, 0, 27, 21)),
        (entering("ku", 2, 5, 13, 14, 3, pad=1, pool=4), (576, 0, 0, 0, 42, 25)),
        (entering("dp", 1, 5, 18, 5, 4, pad=2, pool=2), (800, 0, 0, 0, 16, 21)),
        (entering("ku", 1, 5, 18, 5, 4, pad=2, pool=2), (216, 0, 32, 0, 17, 32)),
        (entering("dp", 1, 3, 14, 21, 3, stride=2, pad=1, pool=2), (162, 0, 33, 290, 21, 29)),
        (entering("ku", 1, 3, 14, 21, 3, stride=2, pad=1, pool=2), (60, 0, 5, 0, 18, 25)),
        (entering("dp", 5, 9, 3, 3, 1, pad=0, pool=2), (18, 0, 7, 7, 5, 29)),
        (entering("ku", 5, 9, 3, 3, 1, pad=0, pool=2), (12, 0, 18, 18, 21, 21)),
        (gradients(3, 6, 6, 7, 3, pad=1), (252, 0, 5, 0, 9, 25)),
        (gradients(3, 6, 6, 7, 3, pad=1, last=True), (252, 0, 5, 0, 9, 35)),
        (gradients(6, 3, 5, 6, 2, pad=1), (84, 0, 36, 0, 17, 24)),
        (gradients(18, 3, 4, 3, 1), (24, 0, 202, 0, 65, 18)),
        (gradients(2, 5, 6, 5, 5, pad=2), (480, 0, 15, 0, 9, 17)),
        (gradients(3, 5, 9, 8, 3, stride=2), (72, 0, 14, 13, 7, 25)),
        (gradients(3, 20, 8, 2, 1), (80, 0, 104, 0, 13, 19)),
        (gradients(4, 20, 6, 2, 1, last=True), (60, 0, 96, 0, 17, 30)),
        (gradients(1, 4, 2, 9, 1, last=True), (18, 0, 2, 0, 13, 27)),
    ],
)
def test_cycles_are_those_that_the_counters_of_the_hardware_had(
    work: ArrayPass, counted: tuple[int, ...]
) -> None:
    """Issue, stalls of kernels, inputs and outputs, fill, drain, of a 4 x 4 x 4 array."""
    found = array_cycles(work, FOUR)
    assert astuple(found) == counted
    assert found.total == sum(counted)


@pytest.mark.parametrize("seed", range(24))
def test_slots_are_those_of_the_formula(seed: int) -> None:
    of, array = random_pass(seed)
    assert array_cycles(of, array).issue == forward_slots(seen(of), array)
    delta = replace(of, phase="dp", fused=False)
    found, later = (array_cycles(delta, array, kernel_first=first) for first in (False, True))
    assert found.issue == later.issue == delta_slots(seen(of), array)
    assert later.total >= found.total
    assert later.stall_kernel == 0
    entering = array_cycles(replace(delta, fused=True), array)
    assert entering.issue == found.issue
    update = replace(of, phase="ku", fused=False, last=bool(seed % 2))
    assert array_cycles(update, array).issue == update_slots(seen(of), array)


def test_what_is_not_modelled_is_refused() -> None:
    with pytest.raises(ValueError, match="no cycles of ArrayPass"):
        array_cycles(layer("pool", 1, 1, 4, 4, 1), FOUR)


@pytest.mark.parametrize(
    ("times", "guides"),
    [
        (1, (23_558, 20_732, 21_577)),
        (2, (46_422, 39_708, 44_361)),
        (4, (92_150, 77_948, 89_929)),
    ],
)
def test_the_papers_machine_is_near_a_timeline_by_tiles(
    times: int, guides: tuple[int, int, int]
) -> None:
    """With an atom a cycle through pooling and un-pooling in DRAM, within 5 % of the outline."""
    network = open_network(f"cifar10-{times}x-fixed")
    found = dict.fromkeys(("fp", "dp", "ku"), 0)
    for each in network.layers:
        array = design_of(network, each)
        for phase in found:
            work = sized(network, each, phase, fused=False)
            if phase != "dp" or each is not network.layers[0]:
                found[phase] += array_cycles(work, array, kernel_first=True).total
            if work.pool > 1 and phase != "ku":
                found[phase] += work.outputs * work.out_rows * array.column_blocks(work.out_columns)
    np.testing.assert_allclose(list(found.values()), guides, rtol=0.05)
