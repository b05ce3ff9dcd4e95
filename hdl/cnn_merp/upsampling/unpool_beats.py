"""Un-pooling and ReLU' of deltas that come in by a port, several to a beat."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb

from merp.hdl.base.signals import Stream, beats, bits, flag
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.cnn_merp.upsampling.wide_unpool import wide_unpool
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.beat_gate import beat_gate
from merp.hdl.streams.stream_slice import stream_slice
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


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
    another run's, and the right one. Who takes the beats of source counts, they have no keep.

    start       in   pulse; config is stable from here to done
    sink        in   pooled delta in the order image, row, column, map
    sink_state  in   bytes of the state of kind pooled
    source      out  delta in the same order; last with the run's final beat
    done        out  that beat was transferred; until the next start
    framing_error  out  a last came with another word than its stream's last; until start

    Latency: a cycle more than that of wide_unpool. Throughput: as there. Reset: the run is
    abandoned.
    """
    size = len(source.data)
    admitted, expanded = beats(sink), beats(sink)
    passed = flag()  # the last beat into the slice
    misplaced, wrong = flag(), flag()
    clear = flag()
    offered, held = bits(size + 1), bits(size + 1)
    joined = ConcatSignal(expanded.last, expanded.data)

    @always_comb
    def tell() -> None:
        framing_error.next = misplaced or wrong
        clear.next = start or rst
        offered.next = joined

    @always_comb
    def give() -> None:
        source.data.next = held[size:]
        source.last.next = held[size]

    @always(clk.posedge)
    def finish() -> None:
        if source.valid and source.ready and held[size]:
            done.next = True
        if start or rst:
            done.next = False

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
        done=passed,
        framing_error=wrong,
        design=design,
    )
    # From here beats are turned and routed in the same cycle: no path shall be as long as all that.
    between = stream_slice(
        clk,
        clear=clear,
        data=offered,
        valid=expanded.valid,
        ready=expanded.ready,
        held=held,
        held_valid=source.valid,
        held_ready=source.ready,
    )
    return tell, give, finish, gate, expand, between
