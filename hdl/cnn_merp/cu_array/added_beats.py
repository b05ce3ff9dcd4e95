"""Input of maps that are added to the sums of a layer, with several elements per beat."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb

from merp.hdl.arithmetic.widen import widen_lanes
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import Stream, beats, bits, count, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.cu_array.added_lane import added_lane
from merp.hdl.cnn_merp.ports.kernels import BiasWrite
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.beat_gate import beat_gate
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def added_beats(
    clk: Bit,
    rst: Bit,
    start: Bit,
    enable: Bit,
    words: Word,
    sink: Stream,
    bias: BiasWrite,
    source: Stream,
    design: EngineDesign,
) -> Any:
    """Behave as ``added_maps``, on gapless beats of map_port elements with keep.

    enable  in   beats may be taken: the biases of the run are written
    words   in   elements of the run; 0 is allowed
    bias    in   the biases of the run, written in the order of maps between start and enable
    sink    in   beats of elements in the order image, row, column, map
    source  out  beats of sums in the format of the accumulator, with zeros above each; last as in
                 sink

    No beat of the next run is taken, because its biases differ. Latency: added_latency cycles.
    Throughput: a beat per cycle. Reset: nothing is taken; beats in the pipeline are dropped.
    """
    fmt, lanes = design.accumulator_format, design.map_port
    width, size = design.fmt.width, design.map_port * design.accumulator_format.width
    places = design.add_latency + CREDIT_RETURN + 1
    admitted = beats(sink)
    misplaced = flag()  # the reader of the sums reports this, too, because last passes with them
    loaded = count(design.groups * design.n_cu)  # biases of the run
    step = count(lanes)
    accept, some, push, credit = flag(), flag(), flag(), flag()
    ends, ended = flag(), flag()
    totals = [bits(fmt.width) for _ in range(lanes)]
    joined, head = bits(1 + size), bits(1 + size)
    pair = ConcatSignal(ended, *reversed(totals))

    @always_comb
    def permit() -> None:
        admitted.ready.next = enable and some
        accept.next = admitted.valid and enable and some

    @always_comb
    def measure() -> None:
        step.next = lanes
        for few in range(1, lanes):
            if loaded == few:
                step.next = lanes % few

    @always(clk.posedge)
    def tally() -> None:
        if bias.enable != 0:
            loaded.next = loaded + 1
        if start:
            loaded.next = 0
        ends.next = sink.last

    @always_comb
    def join() -> None:
        joined.next = pair

    @always_comb
    def present() -> None:
        source.last.next = head[size]

    return (
        permit,
        measure,
        tally,
        join,
        present,
        [
            added_lane(
                clk,
                bias=bias,
                loaded=loaded,
                step=step,
                accept=accept,
                word=admitted.data((lane + 1) * width, lane * width),
                total=totals[lane],
                design=design,
                at=lane,
            )
            for lane in range(lanes)
        ],
        beat_gate(
            clk,
            rst,
            start,
            words=words,
            sink=sink,
            source=admitted,
            framing_error=misplaced,
            width=width,
        ),
        credit_gate(clk, rst, taken=accept, freed=credit, some=some, places=places),
        valid_delay(clk, rst, d=accept, q=push, cycles=1 + design.add_latency),
        delay(clk, d=ends, q=ended, cycles=design.add_latency),
        widen_lanes(x=head(size, 0), y=source.data, width=fmt.width, lanes=lanes),
        credit_fifo(
            clk,
            rst,
            push=push,
            data=joined,
            head=head,
            head_valid=source.valid,
            take=source.ready,
            credit=credit,
            words=places,
        ),
    )
