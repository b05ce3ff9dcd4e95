"""Un-pooling and ReLU' of deltas from a port with several deltas per beat."""

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

    ``wide_unpool`` accepts beats before it uses them, and relies on their last. This block gives it
    no beat of another run, and the correct last. The reader of source must count its elements,
    because source has no keep.

    start          in   pulse; config is stable from here to done
    sink           in   pooled deltas in the order image, row, column, map
    sink_state     in   bytes of the ReLU/pooling masks (state kind pooled)
    source         out  deltas in the same order; last is set with the final beat of the run
    done           out  the final beat was transferred; until the next start
    framing_error  out  last arrived with a word other than the last of its stream; until start

    Latency: a cycle more than wide_unpool. Throughput: as in wide_unpool. Reset: the run is
    abandoned.
    """
    size = len(source.data)
    admitted, expanded = beats(sink), beats(sink)
    passed = flag()  # the last beat has passed into the slice
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
    # Behind this point, beats are rotated and routed in the same cycle; the slice keeps this path
    # short.
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
