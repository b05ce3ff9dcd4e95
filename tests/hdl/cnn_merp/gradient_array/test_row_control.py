"""What the control of the array in rows sees to, in small arrays: banks in turn, fresh sums."""

from typing import Any

import numpy as np
import pytest

from merp.hdl.cnn_merp.gradient_array.row_array import row_array
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.cnn_merp.gradient_bench import read_out
from merp.testbenches.cnn_merp.row_bench import RowScript

ONE, TWO, DOUBLE = 0x3F800000, 0x40000000, 1 << 23


def design_for(k: int, n_cu: int, **changes: Any) -> EngineDesign:
    values: dict[str, Any] = dict(
        k=k, n_cu=n_cu, r=1, kernel_words=2, groups=2, row_words=4, max_size=2, max_maps=4,
        fifo_words=2, cu_kind="fused", ku_kind="row", add_latency=1,
    )  # fmt: skip
    return EngineDesign(**(values | changes))


@pytest.mark.parametrize("k", [2, 3])
def test_steps_take_turns_among_banks(k: int) -> None:
    """Of 4 taps in two banks, and of 9 in lanes of two and three banks, in two words each.

    A row of one column and a delta of 1 has its window for a gradient; of two such, twice that.
    """
    design = design_for(k, 2, ku_lanes=k - 1, kernel_port=2 * k - 2)
    assert design.gradient_banks == k
    script = RowScript(design, k)
    kernels, taps, each = design.kernel_words, design.taps, design.gradient_read
    windows = [
        np.arange(ONE + addr * taps, ONE + (addr + 1) * taps, dtype=np.uint32).reshape(1, taps)
        for addr in range(kernels)
    ]
    deltas = np.array([[ONE, TWO]], np.uint32)
    script.reset()
    for opening in (True, False):
        for addr in range(kernels):
            script.wait(addr, 1)
            script.sweep(addr, opening, windows[addr], deltas)
    script.settle()
    wanted = []
    for addr in range(kernels):
        for cu in range(2):
            for read in range(2):
                script.cycle(read_enable=1, read_addr=addr + read * kernels, read_cu_shift=cu)
                words = windows[addr][0, read * each : (read + 1) * each] + DOUBLE * (1 + cu)
                wanted.append(words.tolist())
    for found, words in zip(read_out(script.play(row_array)), wanted, strict=True):
        assert [found >> 32 * at & 0xFFFFFFFF for at in range(len(words))] == words != []


def test_after_a_reset_sums_begin_at_zero() -> None:
    """Sums that a sweep before the reset left, and those before that one, count no more."""
    design = design_for(1, 1, kernel_words=1)
    script, ones = RowScript(design, 1), np.full((2, 1), ONE, np.uint32)
    for _ in range(3):
        script.reset()
        script.idle(2)
        script.sweep(0, True, ones, ones)
        script.settle()
        script.read_all()
    assert read_out(script.play(row_array)) == [TWO] * 3
