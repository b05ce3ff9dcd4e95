"""Read bursts from memory, and send their words as a stream."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, intbv

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.lane_unpacker import lane_unpacker
from merp.hdl.memory.mover_ports import MoverCommands, MoverState, ReadChannels
from merp.hdl.memory.requests import Bursts, ReadBeats
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.memory.params.mover import Mover


@entity
def reader(
    clk: Bit,
    rst: Bit,
    commands: MoverCommands,
    bursts: Bursts,
    channels: ReadChannels,
    source: Stream,
    state: MoverState,
    mover: Mover,
) -> Any:
    """Request bursts as soon as the FIFO has a place for each of their beats.

    start     in   a walk begins; the bursts follow
    stop      in   request nothing more
    bursts    in   bursts to read
    requests  out  the same bursts, for the port; valid falls with stop
    beats     in   beats of memory, in the order of the requests
    source    out  words; last is set with the last word of the walk
    finished  out  the last word of the walk was sent
    idle      out  every beat that was requested has arrived
    error     out  the first error response; no word behind it is sent

    So memory never waits for the stream, and a stopped reader becomes idle even if its stream is
    blocked. Latency: a request in the cycle of its burst; a word three cycles after
    its beat. Throughput: a beat in and a word out per cycle. Reset: empty; allowed only while
    idle.
    """
    start, stop = commands.start, commands.stop
    requests, beats = channels.requests, channels.beats
    finished, idle, error = state.finished, state.idle, state.error
    port, places = mover.port, mover.places
    lane_bits, data_bits = (mover.lanes - 1).bit_length() or 1, port.data_bits
    free, outstanding = count(places), count(mover.bursts + 1)  # one leaves the queue early
    free_bits, most = len(free), (1 << len(free)) - 1
    rest = bits(free_bits)  # places that are free behind the burst
    room, asks, freed, queue_room, dequeued = flag(), flag(), flag(), flag(), flag()
    beat_in, beat_out, beat_held = (bits(data_bits + 3) for _ in range(3))
    queued, moves = flag(), flag()
    info_bits = port.beat_address_bits + 2 * lane_bits + 1
    info_in, info_out = bits(info_bits), bits(info_bits)
    head, burst, take = ReadBeats(port), Bursts(mover), flag()
    final_low, address_low, resp_low = 1 + lane_bits, 1 + 2 * lane_bits, data_bits + 1

    @always_comb
    def reserve() -> None:
        behind = intbv(0)[free_bits + 1 :]
        # The sum is free - length - 1, and 1 in its highest bit if this is not negative.
        behind[:] = free + (bursts.length ^ most)
        rest.next = behind[free_bits:]
        room.next = behind[free_bits] and queue_room and not stop

    @always_comb
    def ask() -> None:
        requests.address.next = bursts.address
        requests.length.next = bursts.length
        requests.valid.next = bursts.valid and room
        bursts.ready.next = requests.ready and room
        asks.next = bursts.valid and requests.ready and room

    @always(clk.posedge)
    def keep_places() -> None:
        left = intbv(0)[free_bits + 1 :]
        left[:] = free
        if asks:
            left[:] = rest
        free.next = left + freed
        if rst:
            free.next = places

    @always(clk.posedge)
    def keep_requests() -> None:
        if asks and not (beats.valid and beats.last):
            outstanding.next = outstanding + 1
        elif beats.valid and beats.last and not asks:
            outstanding.next = outstanding - 1
        if rst:
            outstanding.next = 0

    @always(clk.posedge)
    def end() -> None:
        if source.valid and source.ready and source.last:
            finished.next = True
        if start or rst:
            finished.next = False

    @always_comb
    def enter() -> None:
        beat_in.next = concat(beats.resp, beats.last, beats.data)
        info_in.next = concat(bursts.address, bursts.final, bursts.first, bursts.last)
        idle.next = outstanding == 0
        moves.next = take or not head.valid

    @always(clk.posedge)
    def hold() -> None:
        """Hold the next beat in registers, which are faster than the output of block RAM."""
        if moves:
            beat_held.next = beat_out
            head.valid.next = queued
        if rst:
            head.valid.next = False

    @always_comb
    def leave() -> None:
        head.data.next = beat_held[data_bits:]
        head.last.next = beat_held[data_bits]
        head.resp.next = beat_held[:resp_low]
        burst.last.next = info_out[0]
        burst.first.next = info_out[final_low:1]
        burst.final.next = info_out[address_low:final_low]
        burst.address.next = info_out[:address_low]

    return (
        reserve, ask, keep_places, keep_requests, end, enter, hold, leave,
        credit_gate(
            clk, rst, taken=asks, freed=dequeued, some=queue_room, places=mover.bursts
        ),
        credit_fifo(
            clk, rst, push=asks, data=info_in, head=info_out, head_valid=burst.valid,
            take=burst.ready, credit=dequeued, words=mover.bursts,
        ),
        credit_fifo(
            clk, rst, push=beats.valid, data=beat_in, head=beat_out, head_valid=queued,
            take=moves, credit=freed, words=places,
        ),
        lane_unpacker(
            clk, rst, beats=head, take=take, burst=burst, source=source, error=error, mover=mover
        ),
    )  # fmt: skip
