"""Long turns of reads and of writes on a port to memory."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.requests import NumberedRequests
from merp.models.memory.params.memory_port import MemoryPort


@entity
def direction_turns(
    clk: Bit,
    rst: Bit,
    reads: NumberedRequests,
    writes: NumberedRequests,
    read_room: Bit,
    write_room: Bit,
    read_granted: Bit,
    write_granted: Bit,
    port: MemoryPort,
) -> Any:
    """Grant requests of one direction until it has turn_beats beats, or none; then of the other.

    reads, writes                in   requests; ready is high as one is granted.
    read_room, write_room        in   the channel takes a request.
    read_granted, write_granted  out  a request is granted.

    A DDR memory loses cycles at each change of direction, hence long turns. A turn goes on beyond
    its beats while the other direction has no request. Latency: combinational; a change of
    direction takes a cycle. Throughput: a request per cycle. Reset: a new turn of reads.
    """
    most = port.turn_beats
    writing, over = flag(), flag()
    beats = count(most)  # beats left of this turn

    @always_comb
    def judge() -> None:
        if writing:
            over.next = reads.valid and (beats == 0 or not writes.valid)
        else:
            over.next = writes.valid and (beats == 0 or not reads.valid)

    @always_comb
    def grant() -> None:
        reads.ready.next = not writing and read_room and not over
        writes.ready.next = writing and write_room and not over
        read_granted.next = reads.valid and not writing and read_room and not over
        write_granted.next = writes.valid and writing and write_room and not over

    @always(clk.posedge)
    def keep_turn() -> None:
        if read_granted:
            if beats > reads.length:
                beats.next = beats - reads.length - 1
            else:
                beats.next = 0
        elif write_granted:
            if beats > writes.length:
                beats.next = beats - writes.length - 1
            else:
                beats.next = 0
        elif over:
            writing.next = not writing
            beats.next = most
        if rst:
            writing.next = False
            beats.next = most

    return judge, grant, keep_turn
