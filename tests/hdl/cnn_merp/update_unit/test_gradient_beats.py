"""Gradients read ahead of their use: nothing of a run that a reset broke off is left."""

from __future__ import annotations

from typing import Any

import pytest
from myhdl import always_comb, block

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.gradients import GradientBeat, GradientRead
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig, map_config
from merp.hdl.cnn_merp.update_unit.gradient_beats import gradient_beats
from merp.hdl.conversion.entity import Bit, Word
from merp.models.base.formats import BFLOAT16
from merp.models.machines.cnn_merp.params.design import Design
from merp.testbenches.block.reset import as_new_after_reset, at_random
from merp.testbenches.block.trace import Drive

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
    args: dict[str, Any] = {
        "clk": flag(), **{name: flag() for name in FLAGS}, "map_config": map_config(design),
        "read": GradientRead(design), "kernel_gradient": bits(design.gradient_read * word),
        "bias_index": count(design.groups * design.n_cu - 1), "bias_gradient": bits(word),
        "beat": GradientBeat(design), "design": design,
        "filling": count(design.taps - 1) if folded else None,
    }  # fmt: skip
    config = {f"map_config_{name}": 2 for name in ("inputs", "groups", "last_cus")}
    config |= {"filling": 1} if folded else {}
    words = {"kernel_gradient": design.gradient_read * word, "bias_gradient": word}

    def session(number: int) -> Drive:
        drive = at_random(number, config, {"wanted": 0.7}, words)
        return lambda cycle, seen: {**drive(cycle, seen), "final_issue": int(cycle == 3)}

    payload = {f"read_{name}": "read_enable" for name in ("addr", "tap_shift", "cu_shift")}
    payload |= {f"beat_{name}": "beat_valid" for name in ("data", "keep", "biases", "last")}
    as_new_after_reset(
        used_beats, args, ("rst", "start", "final_issue", "wanted", *config, *words), session,
        range(25, 60, 2), 60, payload=payload | {"bias_index": "bias_read"},
    )  # fmt: skip
