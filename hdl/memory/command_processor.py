"""Play lists of commands from memory: set registers and walks, start them, wait, record."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, intbv

from merp.hdl.axi.lite_manager import INDEX_BITS, RegisterAccess
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.processor_ports import (
    ListControl,
    ListFetch,
    ProcessorStatus,
    StreamControl,
    WalkWrite,
)
from merp.models.base.register_map import ABORT_CYCLES, CONTROL, WORD_MAX
from merp.models.memory.params.commands import (
    ENGINE,
    WALK_WORDS,
    WORD,
    Failure,
    Operation,
    ProcessorDesign,
)

(IDLE, COMMAND, WORDS, ACCESS, SEND, WAITING) = range(6)
(STOP, ABORT, SETTLE, CLEAR, REFETCH) = range(8, 13)
"""States. The reader of the list is stopped in those from 8 on, which bit ``STOPPED`` tells."""

STOPPED = 3

(END, WRITE, WALK, START, WAIT, RECORD, EXPECT, JUMP, INTERRUPT, LOAD) = (
    int(each) for each in Operation
)
(NONE, ILLEGAL, REFUSED, UNEXPECTED, MEMORY, TIME, ABORTED, SHORT) = (int(each) for each in Failure)

CONTROL_INDEX = 4
"""Index of the register ``control`` of every engine."""

ABORT_BIT = 1 << CONTROL.index("abort")
SETTLE_CYCLES = ABORT_CYCLES + 8
"""Cycles after the abort of the last engine, until no engine moves a word."""


@entity
def command_processor(
    clk: Bit,
    rst: Bit,
    host: ListControl,
    fetch: ListFetch,
    commands: Stream,
    access: RegisterAccess,
    interrupts: Any,
    streams: StreamControl,
    walk: WalkWrite,
    records: Stream,
    status: ProcessorStatus,
    design: ProcessorDesign,
) -> Any:
    """Play a list of commands, one after the other, to its end or to a failure.

    host       in   start and place of a list; end of a list by the host
    fetch       out  the reader of the list
    commands    in   the words of the list
    access      out  accesses of registers of engines
    interrupts  in   of each engine; bit i is engine i
    streams     out  the walks of all streams
    walk        out  writes of walks
    records     out  the words of recorded registers
    status      out  state of the processor

    After a failure, and after the end of a list, memory owes nothing to any stream and no walk goes
    on. After a failure every engine is aborted as well. Then the next list can start. Latency: a
    command takes one cycle for each of its words, and an access of a register some more.
    Reset: no list; allowed only while memory owes nothing.
    """
    n_streams, n_engines = design.streams, design.engines
    engine_masks = 1 << n_engines
    base_bits, last_engine = design.address_bits - 2, design.engines - 1
    record_cycles, of_records = design.record_cycles, 1 << design.streams - 1
    length_bits, high_bits = min(base_bits, WORD), design.address_bits - WORD
    target = bits(base_bits)  # of a jump, in words
    state, op = bits(4), bits(8)
    left = bits(WORD)  # words of the list
    more = bits(8)  # words, or registers, of the command
    place, number = bits(INDEX_BITS), bits(8)
    mask, limit, low, high = (bits(WORD) for _ in range(4))
    engine, settled = count(last_engine), count(SETTLE_CYCLES)
    failed, aborted = bits(len(status.failure)), flag()
    reason, failing = bits(len(status.failure)), flag()
    takes, legal, beyond, over, ending = (flag() for _ in range(5))
    quiet = flag()  # memory owes nothing, and nothing more was requested since
    operation, words, first = bits(8), bits(8), bits(INDEX_BITS)
    fixed, fails = legal, failing
    loads: tuple[Any, ...] = ()
    if status.loads:
        fixed, fails = flag(), flag()  # legal and failing, without loads
        loading, spoilt, pending = flag(), flag(), flag()

        @always_comb
        def allow() -> None:
            legal.next = fixed or (operation == LOAD and words == 1)
            loading.next = takes and commands.valid and state == WORDS and op == LOAD

        @always_comb
        def disturb() -> None:
            """Stop after the word of a load; until it begins, failures and aborts prevent it."""
            spoilt.next = pending and state == STOP and reason != NONE
            failing.next = fails or loading or spoilt

        @always_comb
        def begin() -> None:
            status.load_begins.next = pending and state == CLEAR

        @always(clk.posedge)
        def load() -> None:
            if loading:
                pending.next = True
                status.bitstream.next = commands.data
            elif spoilt:
                pending.next = False
            elif state == CLEAR:
                pending.next = False
                status.load.next = pending
            if rst:
                pending.next = False
                status.load.next = False

        loads = (allow, disturb, begin, load)

    @always_comb
    def decode() -> None:
        operation.next = commands.data[32:24]
        words.next = commands.data[24:16]
        first.next = commands.data[16:]
        takes.next = (state == COMMAND or state == WORDS) and left != 0 and not aborted
        commands.ready.next = (state == COMMAND or state == WORDS) and left != 0 and not aborted

    if n_streams < WORD:

        @always_comb
        def look() -> None:
            beyond.next = commands.data[:n_streams] != 0

    else:
        look = ()

    if base_bits < WORD:

        @always_comb
        def join() -> None:
            target.next = low[:2]

    else:

        @always_comb
        def join() -> None:
            target.next = concat(high[high_bits:], low[WORD:2])

    @always_comb
    def judge() -> None:
        fixed.next = False
        if operation in (END, INTERRUPT):
            fixed.next = words == 0
        elif operation in (WRITE, RECORD):
            fixed.next = words != 0
        elif operation == WALK:
            fixed.next = words == WALK_WORDS and first < n_streams
        elif operation in (START, EXPECT):
            fixed.next = words == 1
        elif operation == WAIT:
            fixed.next = words == 2 and first < engine_masks
        elif operation == JUMP:
            fixed.next = words == 3

    @always_comb
    def compare() -> None:
        over.next = (mask[n_streams:] & ~streams.done) == 0 and (
            place[n_engines:] & ~interrupts
        ) == 0
        ending.next = more == 1

    @always_comb
    def watch() -> None:
        """Reasons to end the list that may come at any time."""
        reason.next = NONE
        if aborted:
            reason.next = ABORTED
        elif fetch.failed or streams.failed:
            reason.next = MEMORY
        elif (state == COMMAND or state == WORDS) and left == 0:
            reason.next = SHORT
        elif limit == 0 and state == WAITING and not over:
            reason.next = TIME
        elif limit == 0 and state == SEND and not records.ready:
            reason.next = TIME
        fails.next = reason != NONE and state in (COMMAND, WORDS, SEND, WAITING, REFETCH)

    @always_comb
    def tell() -> None:
        status.busy.next = state != IDLE
        streams.stop.next = state[STOPPED] and state != REFETCH
        streams.clear.next = state == CLEAR
        fetch.stop.next = state[STOPPED]
        fetch.clear.next = state == CLEAR or (state == REFETCH and fetch.idle)
        records.data.next = access.word
        records.valid.next = state == SEND
        records.last.next = False
        walk.stream.next = place[len(walk.stream) :]
        walk.index.next = number[len(walk.index) :]
        walk.data.next = commands.data
        walk.enable.next = takes and commands.valid and state == WORDS and op == WALK

    @always(clk.posedge)
    def play() -> None:
        behind = intbv(0)[WORD + 1 :]
        access.begin.next = False
        fetch.start.next = False
        streams.start.next = 0
        status.interrupt.next = False
        quiet.next = state == STOP and streams.idle and fetch.idle
        if state == IDLE:
            aborted.next = False
            if host.start:
                fetch.base.next = host.base
                behind[:] = host.words + WORD_MAX
                fetch.length.next = behind[length_bits:]
                fetch.start.next = host.words != 0
                left.next = host.words
                status.commands.next = 0
                status.waiting.next = 0
                status.failure.next = NONE
                status.done.next = False
                state.next = COMMAND
        elif failing:
            failed.next = reason
            state.next = STOP
            if state == WAITING:
                status.waiting.next = mask[n_streams:] & ~streams.done
            elif state == SEND:
                status.waiting.next = of_records
        elif state == COMMAND:
            if commands.valid:
                left.next = left - 1
                status.commands.next = status.commands + 1
                op.next = operation
                more.next = words
                place.next = first
                number.next = 0
                if not legal:
                    failed.next = ILLEGAL
                    state.next = STOP
                elif operation == END:
                    failed.next = NONE
                    state.next = STOP
                elif operation == INTERRUPT:
                    status.interrupt.next = True
                elif operation == RECORD:
                    access.begin.next = True
                    access.writes.next = False
                    access.index.next = first
                    state.next = ACCESS
                else:
                    state.next = WORDS
        elif state == WORDS:
            if commands.valid:
                left.next = left - 1
                more.next = more - 1
                number.next = number + 1
                if op == WRITE:
                    access.begin.next = True
                    access.writes.next = True
                    access.index.next = place
                    access.data.next = commands.data
                    place.next = place + 1
                    state.next = ACCESS
                elif op == WALK:
                    if ending:
                        state.next = COMMAND
                elif op == START:
                    streams.start.next = commands.data[n_streams:]
                    state.next = COMMAND
                elif op == WAIT:
                    mask.next = commands.data
                    if ending:
                        mask.next = mask
                        limit.next = commands.data
                        state.next = WAITING
                elif op == EXPECT:
                    low.next = commands.data
                    access.begin.next = True
                    access.writes.next = False
                    access.index.next = place
                    state.next = ACCESS
                elif number == 0:
                    low.next = commands.data
                elif number == 1:
                    high.next = commands.data
                else:
                    left.next = commands.data
                    state.next = REFETCH
                if beyond and (op == START or (op == WAIT and number == 0)):
                    streams.start.next = 0
                    failed.next = ILLEGAL
                    state.next = STOP
        elif state == ACCESS:
            if access.done:
                if access.refused:
                    failed.next = REFUSED
                    state.next = STOP
                elif op == RECORD:
                    limit.next = record_cycles
                    state.next = SEND
                elif op == WRITE and more != 0:
                    state.next = WORDS
                elif op == EXPECT and access.word != low:
                    failed.next = UNEXPECTED
                    state.next = STOP
                else:
                    state.next = COMMAND
        elif state == SEND:
            if records.ready:
                more.next = more - 1
                if ending:
                    state.next = COMMAND
                else:
                    access.begin.next = True
                    access.index.next = place + 1
                    place.next = place + 1
                    state.next = ACCESS
            else:
                limit.next = limit - 1
        elif state == WAITING:
            status.waiting.next = mask[n_streams:] & ~streams.done
            if over:
                state.next = COMMAND
            else:
                limit.next = limit - 1
        elif state == REFETCH:
            if fetch.idle:
                fetch.base.next = target
                behind[:] = left + WORD_MAX
                fetch.length.next = behind[length_bits:]
                fetch.start.next = left != 0
                state.next = COMMAND
        elif state == STOP:
            if quiet:
                state.next = CLEAR
                if failed != NONE:
                    engine.next = 0
                    access.begin.next = True
                    access.writes.next = True
                    access.index.next = CONTROL_INDEX
                    access.data.next = ABORT_BIT
                    state.next = ABORT
        elif state == ABORT:
            if access.done:
                settled.next = SETTLE_CYCLES
                if engine == last_engine:
                    state.next = SETTLE
                else:
                    access.begin.next = True
                    access.index.next = access.index + ENGINE
                    engine.next = engine + 1
        elif state == SETTLE:
            if settled == 0:
                state.next = CLEAR
            else:
                settled.next = settled - 1
        else:
            status.done.next = True
            status.failure.next = failed
            status.interrupt.next = True
            state.next = IDLE
        if host.abort and state != IDLE:
            aborted.next = True
        if rst:
            access.begin.next = False
            fetch.start.next = False
            streams.start.next = 0
            status.interrupt.next = False
            status.done.next = False
            status.failure.next = NONE
            status.waiting.next = 0
            aborted.next = False
            state.next = IDLE

    return decode, look, join, judge, compare, watch, tell, play, loads
