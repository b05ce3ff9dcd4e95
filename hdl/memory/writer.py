"""Write the words of a stream to memory, in bursts."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat

from merp.hdl.axi.axi_lite import SLVERR
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.lane_packer import lane_packer
from merp.hdl.memory.mover_ports import MoverCommands, MoverState, WriteChannels
from merp.hdl.memory.requests import Bursts, WriteBeats
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.memory.params.mover import Mover


@entity
def writer(
    clk: Bit,
    rst: Bit,
    commands: MoverCommands,
    bursts: Bursts,
    sink: Stream,
    channels: WriteChannels,
    state: MoverState,
    mover: Mover,
) -> Any:
    """Request bursts as soon as the FIFO holds all their beats.

    start      in   a walk begins; the bursts follow
    stop       in   take no word
    bursts     in   bursts to write
    sink       in   words
    requests   out  the same bursts, for the port
    beats      out  their beats, in the same order
    responses  in   one for each burst, in the same order
    finished   out  the last word of the walk was taken
    idle       out  there is a response for each burst of which all words were taken
    error      out  the first error response; no further word is taken

    So a burst that was requested never waits for the stream, and a writer that is stopped becomes
    idle. It drops a burst of which it has only a part. Latency: a request two cycles after the
    last word of its burst. Throughput: a word in and a beat out per cycle. Reset: empty; allowed
    only while idle.
    """
    start, stop = commands.start, commands.stop
    requests, beats, responses = channels.requests, channels.beats, channels.responses
    finished, idle, error = state.finished, state.idle, state.error
    port, places = mover.port, mover.places
    data_bits, length_bits = port.data_bits, len(bursts.length)
    beat_bits, request_bits = data_bits + mover.lanes + 1, port.beat_address_bits + length_bits
    strobe_low = data_bits + 1
    outstanding = count(mover.bursts)
    place, freed, room, completes, announces = flag(), flag(), flag(), flag(), flag()
    packed = WriteBeats(port, mover.lanes)
    beat_in, beat_out = bits(beat_bits), bits(beat_bits)
    request_in, request_out = bits(request_bits), bits(request_bits)
    answered, answered_valid = bits(port.beat_address_bits), flag()
    request_freed, answer_freed = flag(), flag()  # not read: outstanding counts both queues
    beat_bytes, word_bytes = port.beat_bytes, mover.word_bytes
    most, address_bits = mover.bursts, port.beat_address_bits

    @always_comb
    def admit() -> None:
        room.next = place and outstanding != most and not stop and not error.found
        announces.next = bursts.valid and bursts.ready

    @always_comb
    def enter() -> None:
        beat_in.next = concat(packed.strobe, packed.last, packed.data)
        request_in.next = concat(bursts.length, bursts.address)

    @always_comb
    def leave() -> None:
        beats.data.next = beat_out[data_bits:]
        beats.last.next = beat_out[data_bits]
        requests.address.next = request_out[address_bits:]
        requests.length.next = request_out[:address_bits]
        idle.next = outstanding == 0

    @always_comb
    def mark() -> None:
        for i in range(beat_bytes):
            beats.strobe.next[i] = beat_out[strobe_low + i // word_bytes]

    @always(clk.posedge)
    def tally() -> None:
        if announces and not responses.valid:
            outstanding.next = outstanding + 1
        elif responses.valid and not announces:
            outstanding.next = outstanding - 1
        if announces and bursts.last:
            finished.next = True
        if responses.valid and responses.resp >= SLVERR and not error.found:
            error.found.next = True
            error.resp.next = responses.resp
            error.address.next = answered
        if start:
            finished.next = False
        if rst:
            outstanding.next = 0
            finished.next = False
            error.found.next = False

    return (
        admit, enter, leave, mark, tally,
        lane_packer(
            clk, rst, room=room, burst=bursts, sink=sink, completes=completes, beats=packed,
            mover=mover,
        ),
        credit_gate(clk, rst, taken=completes, freed=freed, some=place, places=places),
        credit_fifo(
            clk, rst, push=packed.valid, data=beat_in, head=beat_out, head_valid=beats.valid,
            take=beats.ready, credit=freed, words=places,
        ),
        credit_fifo(
            clk, rst, push=announces, data=request_in, head=request_out,
            head_valid=requests.valid, take=requests.ready, credit=request_freed, words=most,
        ),
        credit_fifo(
            clk, rst, push=announces, data=bursts.address, head=answered,
            head_valid=answered_valid, take=responses.valid, credit=answer_freed, words=most,
        ),
    )  # fmt: skip
