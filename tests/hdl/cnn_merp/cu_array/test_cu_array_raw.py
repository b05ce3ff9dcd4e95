"""Sums that start at wide partial sums and leave raw, or rounded: both arrays, to the cycle."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from block_bench import BlockBench
from cpp_twins import either
from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.cu_array.cu_array import cu_array
from merp.hdl.cnn_merp.ports.kernels import KernelWrite, OriginWrite
from merp.hdl.cnn_merp.ports.outputs import Sums
from merp.hdl.cnn_merp.ports.slots import OriginSlot
from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.arithmetic.fused import fused_sum
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.cnn_merp.cu_bench import elements, finished_sums, joined

DESIGN = EngineDesign(
    k=1, n_cu=3, r=1, p=1, kernel_words=2, groups=2, row_words=4, max_size=8, max_maps=8,
    fifo_words=4, add_latency=2, cu_kind="fused", accumulator_precision=28, partial=True,
)  # fmt: skip
WIDE = DESIGN.accumulator_format
SLOTS = 12


@pytest.mark.parametrize("raw", [0, 1])
@pytest.mark.parametrize("array", either(cu_array))
def test_sums_leave_as_they_are_or_rounded(array: Callable[..., Any], raw: int) -> None:
    rng = Random(raw)
    kernels = [elements(DESIGN.n_cu, DESIGN.fmt, rng) for _ in range(DESIGN.kernel_words)]
    starts = [elements(DESIGN.n_cu, WIDE, rng) for _ in range(DESIGN.origins)]
    cycles: list[dict[str, int]] = [{"rst": 1, "raw": raw}]
    still = {"rst": 0, "kernel_enable": 0, "bias_enable": 0, "slot_valid": 0}
    for addr, words in enumerate(kernels):
        for cu, word in enumerate(words):
            write = {"kernel_enable": 1 << cu, "kernel_addr": addr, "kernel_data": word}
            cycles.append(still | write)
    for addr, words in enumerate(starts):
        for cu, word in enumerate(words):
            cycles.append(still | {"bias_enable": 1 << cu, "bias_addr": addr, "bias_data": word})
    cycles += [still] * 2
    expected = []
    for index in range(SLOTS):
        group, origin = index % 2, rng.randrange(DESIGN.origins)
        # Kernel word and accumulator of the group; the start's place is the slot's own.
        expected.append((len(cycles) + DESIGN.array_latency, group, origin))
        slot = {
            "slot_valid": 1, "slot_kernel_addr": group, "slot_acc_addr": group,
            "slot_group": group, "slot_origin": origin, "slot_first": 1, "slot_last": 1,
        }  # fmt: skip
        cycles += [still | slot, still | {"window": elements(1, DESIGN.fmt, rng)[0]}]
    windows = [now["window"] for now in cycles if "window" in now]
    cycles += [still] * (DESIGN.array_latency + 2)
    bench = BlockBench(
        array, "clk rst raw", kernel=KernelWrite(DESIGN), bias=OriginWrite(DESIGN),
        slot=OriginSlot(DESIGN), window=bits(DESIGN.window_width), sums=Sums(DESIGN), design=DESIGN,
    )  # fmt: skip
    trace = bench.run(cycles)
    wanted = []
    for (due, group, origin), window in zip(expected, windows, strict=True):
        products = fused_sum([window], [[word] for word in kernels[group]], DESIGN.summation)
        total = fp_add(starts[origin], products, WIDE)
        words = total if raw else fp_convert(total, WIDE, DESIGN.fmt)
        wanted.append((due, joined(words.tolist(), WIDE.width)))
    assert finished_sums(trace) == wanted
