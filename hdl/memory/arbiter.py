"""All streams of an engine on one AXI4 port to memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.signals import Bundles, bits, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.address_channel import address_channel
from merp.hdl.memory.axi4 import AddressChannel, Axi4
from merp.hdl.memory.beat_choice import beat_choice
from merp.hdl.memory.bundle_slice import bundle_slice
from merp.hdl.memory.direction_turns import direction_turns
from merp.hdl.memory.request_merge import request_merge
from merp.hdl.memory.requests import (
    NumberedRequests,
    ReadBeats,
    Requests,
    WriteBeats,
    WriteResponses,
    numbered,
)
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.memory.params.memory_port import MemoryPort

ORDERED = 8
"""Bursts whose beats wait to be written in the order of their requests."""


@block
def _beats_of(m_axi: Axi4, beats: ReadBeats, stream: int) -> Any:
    """Hand on the beats of R that carry the number of a stream."""

    @always_comb
    def route() -> None:
        beats.data.next = m_axi.rdata
        beats.resp.next = m_axi.rresp
        beats.last.next = m_axi.rlast
        beats.valid.next = m_axi.rvalid and m_axi.rid == stream

    return route


@block
def _responses_of(m_axi: Axi4, responses: WriteResponses, stream: int) -> Any:
    """Hand on the responses of B that carry the number of a stream."""

    @always_comb
    def route() -> None:
        responses.resp.next = m_axi.bresp
        responses.valid.next = m_axi.bvalid and m_axi.bid == stream

    return route


def _merged(
    clk: Bit, rst: Bit, requests: Sequence[NumberedRequests], port: MemoryPort
) -> tuple[NumberedRequests, list[Any]]:
    """Merge requests in a tree of as few levels as possible."""
    if len(requests) == 1:
        return requests[0], []
    half = (len(requests) + 1) // 2
    one, ones = _merged(clk, rst, requests[:half], port)
    other, others = _merged(clk, rst, requests[half:], port)
    merged = NumberedRequests(port)
    return merged, [*ones, *others, request_merge(clk, rst, one=one, other=other, merged=merged)]


def _chosen(
    stream: Any, beats: Sequence[WriteBeats], begin: int, port: MemoryPort
) -> tuple[WriteBeats, list[Any]]:
    """Choose the beats of a stream in the same tree; ``beats`` are of the streams from begin on."""
    if len(beats) == 1:
        return beats[0], []
    half = (len(beats) + 1) // 2
    low, lows = _chosen(stream, beats[:half], begin, port)
    high, highs = _chosen(stream, beats[half:], begin + half, port)
    chosen = WriteBeats(port)
    node = beat_choice(stream=stream, low=low, high=high, chosen=chosen, border=begin + half)
    return chosen, [*lows, *highs, node]


@entity
def arbiter(
    clk: Bit,
    rst: Bit,
    read_requests: Bundles,
    read_beats: Bundles,
    write_requests: Bundles,
    write_beats: Bundles,
    write_responses: Bundles,
    m_axi: Axi4,
    port: MemoryPort,
) -> Any:
    """Issue the requests of readers and writers on one port, and route the answers.

    read_requests    in   of each reader; the first one has number 0 on ARID
    read_beats       out  for each reader
    write_requests   in   of each writer, of bursts whose beats are all there
    write_beats      in   of each writer
    write_responses  out  for each writer
    m_axi            out  the port

    RREADY and BREADY are always high. The beats of W follow their AW, in the same order. Memory may
    answer different numbers in any order, and mix the beats of their bursts. Latency: a request is
    on its channel three cycles later. Throughput: a beat of R and one of W per cycle. Reset: no
    request; allowed only while all readers and writers are idle.
    """
    readers, writers = vars(read_requests), vars(write_requests)
    held_reads, held_writes = [Requests(port) for _ in readers], [Requests(port) for _ in writers]
    any_read, read_tree = _merged(
        clk, rst, [numbered(each, at, port) for at, each in enumerate(held_reads)], port
    )
    any_write, write_tree = _merged(
        clk, rst, [numbered(each, at, port) for at, each in enumerate(held_writes)], port
    )
    reads, writes = NumberedRequests(port), NumberedRequests(port)
    read_room, read_granted, write_room, write_granted = flag(), flag(), flag(), flag()
    aw_room, order_room, order_freed, order_valid, next_burst = (flag() for _ in range(5))
    order, announced = bits(port.id_bits), flag()
    beats, beat_tree = _chosen(order, list(vars(write_beats).values()), 0, port)

    @always_comb
    def join() -> None:
        write_room.next = aw_room and order_room
        m_axi.rready.next = True
        m_axi.bready.next = True

    @always_comb
    def announce() -> None:
        announced.next = m_axi.awvalid and m_axi.awready

    @always_comb
    def write() -> None:
        m_axi.wdata.next = beats.data
        m_axi.wstrb.next = beats.strobe
        m_axi.wlast.next = beats.last
        m_axi.wvalid.next = beats.valid and order_valid
        beats.ready.next = m_axi.wready and order_valid
        next_burst.next = beats.valid and order_valid and m_axi.wready and beats.last

    return (
        read_tree, write_tree, beat_tree, join, announce, write,
        [
            bundle_slice(clk, rst, sink=sink, source=held)
            for sink, held in zip(readers.values(), held_reads, strict=True)
        ],
        [
            bundle_slice(clk, rst, sink=sink, source=held)
            for sink, held in zip(writers.values(), held_writes, strict=True)
        ],
        bundle_slice(clk, rst, sink=any_read, source=reads),
        bundle_slice(clk, rst, sink=any_write, source=writes),
        direction_turns(
            clk, rst, reads=reads, writes=writes, read_room=read_room, write_room=write_room,
            read_granted=read_granted, write_granted=write_granted, port=port,
        ),
        address_channel(
            clk, rst, request=reads, granted=read_granted, room=read_room,
            channel=AddressChannel(m_axi, "ar"), port=port,
        ),
        address_channel(
            clk, rst, request=writes, granted=write_granted, room=aw_room,
            channel=AddressChannel(m_axi, "aw"), port=port,
        ),
        credit_gate(
            clk, rst, taken=write_granted, freed=order_freed, some=order_room, places=ORDERED
        ),
        credit_fifo(
            clk, rst, push=announced, data=m_axi.awid, head=order, head_valid=order_valid,
            take=next_burst, credit=order_freed, words=ORDERED,
        ),
        [
            _beats_of(m_axi, each, at) for at, each in enumerate(vars(read_beats).values())
        ],
        [
            _responses_of(m_axi, each, at)
            for at, each in enumerate(vars(write_responses).values())
        ],
    )  # fmt: skip
