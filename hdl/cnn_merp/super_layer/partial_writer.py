"""Send the finished sums of a part of the input maps raw, for the pass over the next part."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.cnn_merp.super_layer.super_layer_ports import BeatStep, ResultBeat
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.hdl.streams.head import Head
from merp.hdl.streams.serializer import serializer
from merp.hdl.streams.wide_serializer import wide_serializer
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.machines.cnn_merp.params.design import EngineDesign

PLACES = CREDIT_RETURN + 1  # one more for the decision


@block
def _extend(x: Word, y: Word) -> Any:
    """Extend a word by zeros above it."""

    @always_comb
    def extend() -> None:
        y.next = x

    return extend


@entity
def partial_writer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    raw: Bit,
    step: BeatStep,
    permit: Bit,
    beat: ResultBeat,
    source: Stream,
    sent: Bit,
    design: EngineDesign,
) -> Any:
    """Send the sums of every beat of a run whose sums are sent raw.

    raw     in   the sums of the run are sent raw; stable during a run
    step    in   a beat is issued in this cycle
    permit  out  there is a place for the next beat, or it needs none
    beat    in   the beat that was issued in the previous cycle
    source  out  sums in the format of the accumulator, zeros above, in the order image, row,
                 column, map, or beats of several
    sent    out  the last sum of the run was transferred; until the next start

    Latency: four cycles from the issue of a beat to its first word. Throughput: as many words per
    cycle as the narrower of a beat and source has. Reset: the run is abandoned.
    """
    r, width, wide = design.r, design.sum_format.width, design.partial_width
    room, reserved, credit, push = flag(), flag(), flag(), flag()
    lanes = [bits(wide) for _ in range(r)]
    extended = [
        _extend(x=beat.data((lane + 1) * width, lane * width), y=lanes[lane]) for lane in range(r)
    ]
    word = bits(1 + len(beat.elements) + r * wide)
    head = Head(len(word))
    joined = ConcatSignal(beat.ends_run, beat.elements, *reversed(lanes))

    @always_comb
    def allow() -> None:
        permit.next = room or not raw
        reserved.next = step.issue and raw

    @always_comb
    def join() -> None:
        push.next = beat.elements != 0 and raw
        word.next = joined

    space = credit_gate(clk, rst, taken=reserved, freed=credit, some=room, places=PLACES)
    waiting = credit_fifo(
        clk,
        rst,
        push=push,
        data=word,
        head=head.word,
        head_valid=head.valid,
        take=head.take,
        credit=credit,
        words=PLACES,
    )
    several = len(source.data) > wide
    sender = (wide_serializer if several else serializer)(
        clk,
        rst,
        start,
        beat=head,
        source=source,
        sent=sent,
        width=wide,
        lanes=r,
    )
    return extended, allow, join, space, waiting, sender
