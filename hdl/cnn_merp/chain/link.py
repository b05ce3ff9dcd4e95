"""A link between two boards: it multiplexes the words of several streams, with credits per stream.

Source: FPDeep, section III.C: features, partial sums and errors share the transceivers between two
boards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, concat, intbv

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import AxiStream, Bundles, bits, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.base.word_counter import word_counter
from merp.hdl.cnn_merp.chain.ports import Lanes, payload_bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate


@block
def _offer(
    sink: AxiStream, room: Bit, claimed: Bit, flit: Word, taken: Bit, claims: Bit, passed: Word,
    number: int, payload: int,
) -> Any:  # fmt: skip
    """Offer a stream at the near end; a word is sent if no earlier stream has one.

    claimed, flit   in   an earlier stream has a word, or no word may be sent now; its word.
    claims, passed  out  the same including this stream
    taken           out  the word of this stream is sent
    """
    width = len(sink.tdata)
    size = len(passed)

    @always_comb
    def offer() -> None:
        word = intbv(0)[size:]
        sink.tready.next = room and not claimed
        taken.next = sink.tvalid and room and not claimed
        claims.next = claimed or (sink.tvalid and room)
        passed.next = flit
        if not claimed:
            word[width:] = sink.tdata
            word[payload] = sink.tlast
            word[size : payload + 1] = number
            passed.next = word

    return offer


@block
def _arrive(
    clk: Bit, rst: Bit, there: Bit, flit: Word, source: AxiStream, credit: Bit, number: int,
    payload: int, places: int,
) -> Any:  # fmt: skip
    """Receive a stream at the far end: its words, in a FIFO with a place for each."""
    width, size = len(source.tdata), len(flit)
    push = flag()
    entry, head = bits(width + 1), bits(width + 1)

    @always_comb
    def choose() -> None:
        push.next = there and flit[size : payload + 1] == number
        entry.next = concat(flit[payload], flit[width:])

    @always_comb
    def hand_on() -> None:
        source.tdata.next = head[width:]
        source.tlast.next = head[width]

    fifo = credit_fifo(
        clk,
        rst,
        push=push,
        data=entry,
        head=head,
        head_valid=source.tvalid,
        take=source.tready,
        credit=credit,
        words=places,
    )
    return choose, hand_on, fifo


@block
def _paced(clk: Bit, rst: Bit, pace: Word, sent: Bit, waits: Bit) -> Any:
    """Compute whether the last word still occupies the lanes."""
    left = bits(len(pace))

    @always(clk.posedge)
    def count_down() -> None:
        if sent:
            left.next = pace - 1
        elif left != 0:
            left.next = left - 1
        if rst:
            left.next = 0

    @always_comb
    def tell() -> None:
        waits.next = left != 0

    return count_down, tell


@block
def _any(some: Sequence[Bit], found: Bit) -> Any:
    """Compute whether any of the flags is high."""
    joined = some[0] if len(some) == 1 else ConcatSignal(*some)

    @always_comb
    def tell() -> None:
        found.next = joined != 0

    return tell


@block
def link_near(
    clk: Bit,
    rst: Bit,
    start: Bit,
    pace: Word,
    s_axis: Bundles,
    lanes: Lanes,
    freed: Bundles,
    sent: Bundles,
    places: int,
) -> Any:
    """The sending end of a link: one word at a time, preceded by the number of its stream.

    lanes  out  the words on the lanes
    freed  in   one bit per stream, pulse: a place in its FIFO at the far end is free again
    """
    names = list(vars(s_axis))
    claims = [flag() for _ in range(len(names) + 1)]
    flits = [*(bits(len(lanes.flit)) for _ in names), lanes.flit]
    goes = [flag() for _ in names]
    parts: list[Any] = []
    for number, name in enumerate(names):
        sink, room = getattr(s_axis, name), flag()
        parts += [
            credit_gate(
                clk, rst, taken=goes[number], freed=getattr(freed, name), some=room, places=places
            ),
            _offer(
                sink=sink,
                room=room,
                claimed=claims[number],
                flit=flits[number],
                taken=goes[number],
                claims=claims[number + 1],
                passed=flits[number + 1],
                number=number,
                payload=payload_bits(s_axis),
            ),
            word_counter(clk, rst, start, stream=sink, words=getattr(sent, name)),
        ]
    return (
        parts,
        _paced(clk, rst, pace=pace, sent=lanes.there, waits=claims[0]),
        _any(some=goes, found=lanes.there),
    )


@block
def link_far(
    clk: Bit,
    rst: Bit,
    start: Bit,
    lanes: Lanes,
    m_axis: Bundles,
    credits: Bundles,
    arrived: Bundles,
    places: int,
) -> Any:
    """The receiving end of a link, which puts each word into the FIFO of its stream.

    lanes    in   the words on the lanes
    credits  out  one bit per stream, pulse: a place in its FIFO is free again
    """
    parts: list[Any] = []
    for number, name in enumerate(vars(m_axis)):
        source = getattr(m_axis, name)
        parts += [
            _arrive(
                clk,
                rst,
                there=lanes.there,
                flit=lanes.flit,
                source=source,
                credit=getattr(credits, name),
                number=number,
                payload=payload_bits(m_axis),
                places=places,
            ),
            word_counter(clk, rst, start, stream=source, words=getattr(arrived, name)),
        ]
    return parts


@entity
def link(
    clk: Bit,
    rst: Bit,
    start: Bit,
    pace: Word,
    s_axis: Bundles,
    m_axis: Bundles,
    sent: Bundles,
    arrived: Bundles,
    latency: int,
    places: int,
) -> Any:
    """Carry the words of several streams to the next board, each with the number of its stream.

    pace     in   cycles per word on the lanes, 1 or more; stable during the run
    s_axis   in   streams at this board; if several streams have a word, the first stream has
                  priority
    m_axis   out  the same streams at the next board
    sent     out  words of each stream that were sent, since start
    arrived  out  words of each stream that the next board took, since start

    A word is sent if the FIFO of its stream at the far end has a place. Free places return as
    credits, after latency cycles. A blocked stream therefore does not block the other streams.
    Latency: latency + 2 cycles. Throughput: a word in pace cycles; a single stream carries at most
    places words in 2 latency + CREDIT_RETURN cycles. Reset: no word in the link.
    """
    near, far = Lanes(s_axis), Lanes(s_axis)
    credits, freed = (Bundles({name: flag() for name in vars(s_axis)}) for _ in range(2))
    return (
        link_near(
            clk,
            rst,
            start,
            pace=pace,
            s_axis=s_axis,
            lanes=near,
            freed=freed,
            sent=sent,
            places=places,
        ),
        delay(clk, d=near.flit, q=far.flit, cycles=latency),
        valid_delay(clk, rst, d=near.there, q=far.there, cycles=latency),
        link_far(
            clk,
            rst,
            start,
            lanes=far,
            m_axis=m_axis,
            credits=credits,
            arrived=arrived,
            places=places,
        ),
        [
            valid_delay(clk, rst, d=getattr(credits, name), q=getattr(freed, name), cycles=latency)
            for name in vars(s_axis)
        ],
    )
