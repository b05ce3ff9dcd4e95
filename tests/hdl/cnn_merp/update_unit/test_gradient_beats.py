"""Gradients read ahead of their use: nothing of a run that a reset broke off is left."""

from typing import Any

import pytest
from myhdl import always_comb, block

from block_bench import BlockBench, at_random
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.gradients import GradientBeat, GradientRead
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig, map_config
from merp.hdl.cnn_merp.update_unit.gradient_beats import gradient_beats
from merp.hdl.conversion.entity import Bit, Word
from merp.models.base.formats import BFLOAT16
from merp.models.machines.cnn_merp.params.design import Design

FLAGS = ("rst", "start", "final_issue", "wanted", "bias_read")


@block
def used_beats(
    clk: Bit,
    rst: Bit,
    start: Bit,
    final_issue: Bit,
    map_config: GradientMapConfig,
    read: GradientRead,
    kernel_gradient: Word,
    bias_read: Bit,
    bias_index: Word,
    bias_gradient: Word,
    beat: GradientBeat,
    wanted: Bit,
    design: Design,
    filling: Word | None,
) -> Any:
    """The beats, one used in the very cycle in which it is there and wanted."""
    take = flag()

    @always_comb
    def use() -> None:
        take.next = beat.valid and wanted

    return use, gradient_beats(
        clk, rst, start, final_issue=final_issue, map_config=map_config, read=read,
        kernel_gradient=kernel_gradient, bias_read=bias_read, bias_index=bias_index,
        bias_gradient=bias_gradient, beat=beat, take=take, design=design, filling=filling,
    )  # fmt: skip


@pytest.mark.parametrize("folded", [False, True])
def test_after_a_reset_it_is_as_new(folded: bool) -> None:
    """In the middle of a kernel, between two reads of it, and while beats wait."""
    design = Design(
        fmt=BFLOAT16, k=3, n_cu=2, r=1, groups=2, kernel_words=4, row_words=4, max_size=4,
        max_maps=2, fifo_words=2, mul_latency=1, add_latency=2, kernel_port=4, folded=folded,
    )  # fmt: skip
    assert design.gradient_reads > 1
    word = design.fmt.width
    bench = BlockBench(
        used_beats, "clk", map_config=map_config(design), read=GradientRead(design),
        kernel_gradient=bits(design.gradient_read * word),
        bias_index=count(design.groups * design.n_cu - 1), bias_gradient=bits(word),
        beat=GradientBeat(design), design=design,
        filling=count(design.taps - 1) if folded else None, **{name: flag() for name in FLAGS},
    )  # fmt: skip
    config = {f"map_config_{name}": 2 for name in ("inputs", "groups", "last_cus")}
    config |= {"filling": 1} if folded else {}
    words = {"kernel_gradient": design.gradient_read * word, "bias_gradient": word}
    pulses = {"rst": 0, "start": 1, "final_issue": 3}
    session = at_random({"wanted": 0.7}, words, config, pulses=pulses)
    payload = {
        "read_enable": "read_addr read_tap_shift read_cu_shift",
        "beat_valid": "beat_data beat_keep beat_biases beat_last",
        "bias_read": "bias_index",
    }
    bench.as_new_after_reset(session, range(25, 60, 2), 60, payload=payload)
