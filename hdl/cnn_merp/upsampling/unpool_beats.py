"""Un-pooling and ReLU' of deltas that come in by a port, several to a beat."""

from __future__ import annotations

from copy import copy
from typing import Any

from myhdl import always_comb

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.cnn_merp.upsampling.unpool_ports import UnpoolConfig
from merp.hdl.cnn_merp.upsampling.wide_unpool import beats, wide_unpool
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.beat_gate import beat_gate
from merp.models.params.cnn_merp.unpool_design import UnpoolDesign


@entity
def unpool_beats(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: UnpoolConfig,
    sink: Stream,
    sink_state: Stream,
    source: Stream,
    done: Bit,
    framing_error: Bit,
    design: UnpoolDesign,
) -> Any:
    """Behave as ``unpool``, on beats of several deltas without gaps; sink has keep.

    ``wide_unpool`` holds beats before it needs them, and relies on their last: here it gets none of
    another run's, and the right one. Ports, latency, throughput and reset are its, but for the keep
    of source: who takes its beats counts.
    """
    admitted, expanded = beats(sink), copy(source)  # the same transfers
    expanded.keep = bits(len(sink.keep))
    misplaced, wrong = flag(), flag()

    @always_comb
    def tell() -> None:
        framing_error.next = misplaced or wrong

    gate = beat_gate(
        clk,
        rst,
        start,
        words=config.delta_words,
        sink=sink,
        source=admitted,
        framing_error=misplaced,
        width=design.fmt.width,
    )
    expand = wide_unpool(
        clk,
        rst,
        start,
        config=config,
        sink=admitted,
        sink_state=sink_state,
        source=expanded,
        done=done,
        framing_error=wrong,
        design=design,
    )
    return tell, gate, expand
