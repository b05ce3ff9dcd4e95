"""End of a kernel update with or without biases: a pass over some input maps may have none."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import Stream, flag
from merp.hdl.cnn_merp.update_unit.update_ports import RunEnd
from merp.hdl.conversion.entity import Bit


@block
def without_biases(
    clk: Bit, start: Bit, listed: Bit, biases: Bit, with_biases: Bit, walking: Bit
) -> Any:
    """End a run without biases where the biases would begin."""
    both = flag()

    @always(clk.posedge)
    def decide() -> None:
        # Not before start: the walk of a run without biases stays at the first bias.
        if start:
            both.next = with_biases

    @always_comb
    def stop() -> None:
        walking.next = listed and (both or not biases)

    return decide, stop


@block
def either_end(
    clk: Bit,
    rst: Bit,
    start: Bit,
    with_biases: Bit,
    kernels: Stream,
    biases: RunEnd,
    end: RunEnd,
) -> Any:
    """Detect the end of the biases, or in a run without biases the end of the kernels."""
    kernels_sent = flag()

    @always_comb
    def choose() -> None:
        end.ends.next = biases.ends or (
            kernels.valid and kernels.ready and kernels.last and not with_biases
        )
        end.sent.next = biases.sent or (kernels_sent and not with_biases)

    @always(clk.posedge)
    def finish() -> None:
        if kernels.valid and kernels.ready and kernels.last:
            kernels_sent.next = True
        if start or rst:
            kernels_sent.next = False

    return choose, finish
