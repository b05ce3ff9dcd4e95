"""Gradients read ahead of their use: nothing of a run that a reset broke off is left."""

from typing import Any

import pytest
from myhdl import always_comb, block
from update_pins import BIAS_READ, READ

from block_bench import BlockBench, at_random
from merp.hdl.base.signals import count, flag
from merp.hdl.cnn_merp.ports.gradients import GradientBeat
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig, map_config
from merp.hdl.cnn_merp.update_unit.gradient_beats import gradient_beats
from merp.hdl.cnn_merp.update_unit.update_ports import Extent, GradientAccess
from merp.hdl.conversion.entity import Bit, Word
from merp.models.base.formats import BFLOAT16
from merp.models.machines.cnn_merp.params.design import EngineDesign

FLAGS = ("rst", "start", "final_issue", "wanted")


@block
def used_beats(
    clk: Bit,
    rst: Bit,
    start: Bit,
    final_issue: Bit,
    map_config: GradientMapConfig,
    gradients: GradientAccess,
    beat: GradientBeat,
    wanted: Bit,
    design: EngineDesign,
    filling: Word | None,
) -> Any:
    """The beats, one used in the very cycle in which it is there and wanted."""
    take = flag()

    @always_comb
    def use() -> None:
        take.next = beat.valid and wanted

    return use, gradient_beats(
        clk, rst, start, final_issue=final_issue, extent=Extent(map_config, filling=filling),
        gradients=gradients, beat=beat, take=take, design=design,
    )  # fmt: skip


@pytest.mark.parametrize("folded", [False, True])
def test_after_a_reset_it_is_as_new(folded: bool) -> None:
    """In the middle of a kernel, between two reads of it, and while beats wait."""
    design = EngineDesign(
        fmt=BFLOAT16, k=3, n_cu=2, r=1, groups=2, kernel_words=4, row_words=4, max_size=4,
        max_maps=2, fifo_words=2, mul_latency=1, add_latency=2, kernel_port=4, folded=folded,
    )  # fmt: skip
    assert design.gradient_reads > 1
    word = design.fmt.width
    bench = BlockBench(
        used_beats, "clk", map_config=map_config(design), gradients=GradientAccess(design),
        beat=GradientBeat(design), design=design,
        filling=count(design.taps - 1) if folded else None, **{name: flag() for name in FLAGS},
    )  # fmt: skip
    config = {f"map_config_{name}": 2 for name in ("inputs", "groups", "last_cus")}
    config |= {"filling": 1} if folded else {}
    words = {"gradients_kernel": design.gradient_read * word, "gradients_bias": word}
    pulses = {"rst": 0, "start": 1, "final_issue": 3}
    session = at_random({"wanted": 0.7}, words, config, pulses=pulses)
    payload = {
        f"{READ}_enable": f"{READ}_addr {READ}_tap_shift {READ}_cu_shift",
        "beat_valid": "beat_data beat_keep beat_biases beat_last",
        f"{BIAS_READ}_enable": f"{BIAS_READ}_index",
    }
    bench.as_new_after_reset(session, range(25, 60, 2), 60, payload=payload)
