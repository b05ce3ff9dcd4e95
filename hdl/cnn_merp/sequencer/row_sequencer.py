"""Sequencer of the row-wise kernel update: it sweeps along a row for each kernel, without a gap.

In CNN-MERP, section IV.D, positions are the outermost loop, so every product would be a separate
sum. Here columns are the innermost loop, and the sums of a row stay in place until the row is
complete.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.lane import split_index
from merp.hdl.base.signals import count, flag
from merp.hdl.cnn_merp.ports.maps import RowMapConfig
from merp.hdl.cnn_merp.ports.slots import RowSlot
from merp.hdl.cnn_merp.ports.windows import Issued, KeptRows, PositionHead, WindowFetch
from merp.hdl.cnn_merp.sequencer.position_layout import PositionWord
from merp.hdl.cnn_merp.sequencer.window_read import window_read
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_counter import credit_counter
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import longest_rest


@block
def _rests(clk: Bit, start: Bit, given: RowMapConfig, row_end: Bit, row_rest: Word) -> Any:
    """Return the idle cycles after a sweep of the current row; the first row may differ."""
    first = flag()

    @always_comb
    def of_row() -> None:
        row_rest.next = given.rest
        if first:
            row_rest.next = given.first_rest

    @always(clk.posedge)
    def go_on() -> None:
        if row_end:
            first.next = False
        if start:
            first.next = True

    return of_row, go_on


@block
def _later(clk: Bit, rst: Bit, slot_1: RowSlot, slot: RowSlot) -> Any:
    """Delay a slot by a cycle."""

    @always(clk.posedge)
    def hand_on() -> None:
        slot.valid.next = slot_1.valid
        slot.column.next = slot_1.column
        slot.first.next = slot_1.first
        slot.last.next = slot_1.last
        slot.kernel_addr.next = slot_1.kernel_addr
        slot.delta_word.next = slot_1.delta_word
        slot.row_last.next = slot_1.row_last
        if rst:
            slot.valid.next = False

    return hand_on


@entity
def row_sequencer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: RowMapConfig,
    head: PositionHead,
    kept: KeptRows,
    filled: Bit,
    fetch: WindowFetch,
    issued: Issued,
    design: EngineDesign,
) -> Any:
    """Walk rows of positions, input maps, groups and columns; the pipeline behind never stalls.

    For each row, input map i and group g, there is a sweep with a slot for each column. The first
    sweep of a row starts once all maps and deltas of the row have arrived. The slots of a sweep
    follow without a gap; config.rest idle cycles follow each sweep.

    config  in   with first_rest, images are the columns of a row, and the first row has this rest
    head    in   the next position, each row as often as it is swept; out: it is taken
    kept    in   row of the next map word to be written; out: rows that the current row still uses
    filled  in   pulse: one more row of deltas has arrived
    fetch   out  read of the banks, one cycle after the issue; shifts, two cycles after it
    issued  out  the slot, two cycles after the issue; the verdict of this cycle. idle: no position
                 is left and every delta was taken

    Throughput: a slot per cycle. Reset: nothing to issue.
    """
    head_valid, head_take, head_word = head.valid, head.take, head.word
    written_row, floor = kept.written.row, kept.floor
    slot, verdict = issued.slot, issued.verdict
    word = PositionWord(design)
    n_cu = design.n_cu
    (need_row, need_row_top) = (word.need_row, word.need_row_top)
    (row_limit, row_limit_top) = (word.row_limit, word.row_limit_top)
    (next_row_limit, next_row_limit_top) = (word.next_row_limit, word.next_row_limit_top)
    ends_sweep = word.alone  # no position is paired with a position of another row
    final = word.final

    busy = flag()  # positions are left
    midway = flag()  # the sweep's first slot has been issued
    opens_row = flag()  # the current sweep is the first one of its row
    column = count(design.max_size)
    group = count(design.groups)
    channel = count(design.max_maps)
    last_group, last_channel = flag(), flag()
    kernel_addr = count(design.kernel_words)
    delta_word = count(design.groups * (design.max_size + 1))
    rest = count(longest_rest(design))
    resting = flag()
    rows = count(2)  # rows of deltas that no sweep has taken

    available = flag()  # maps and deltas of the row have arrived
    fire, sweep_end, row_end, spends = flag(), flag(), flag(), flag()
    slot_1 = RowSlot(design)
    uneven: Any = ()
    if config.has("first_rest"):
        row_rest = count(longest_rest(design))
        uneven = _rests(clk, start, given=config, row_end=row_end, row_rest=row_rest)
        config = config.but(rest=row_rest)

    @always_comb
    def arrive() -> None:
        available.next = head_valid and (
            not opens_row or (written_row > head_word[need_row_top:need_row] and rows != 0)
        )

    @always_comb
    def decide() -> None:
        fire.next = busy and (midway or (available and not resting))
        verdict.stall_input.next = busy and not midway and not available
        verdict.stall_hazard.next = busy and not midway and available and resting
        verdict.stall_output.next = False

    @always_comb
    def place() -> None:
        last_group.next = group + 1 == config.groups
        last_channel.next = channel + 1 == config.inputs
        sweep_end.next = fire and head_word[ends_sweep]
        spends.next = fire and opens_row and not midway

    @always_comb
    def end() -> None:
        row_end.next = sweep_end and last_group and last_channel

    @always_comb
    def tell() -> None:
        head_take.next = fire
        verdict.issue.next = fire
        verdict.final_issue.next = fire and head_word[final]
        verdict.idle.next = not busy and rows == 0
        verdict.useful.next = n_cu
        if last_group:
            verdict.useful.next = config.last_cus

    @always_comb
    def keep() -> None:
        # A row is swept again until its last sweep: none of its columns is released before.
        floor.row_limit.next = head_word[row_limit_top:row_limit]
        floor.next_row_limit.next = head_word[next_row_limit_top:next_row_limit]
        floor.column.next = 0
        floor.valid.next = head_valid
        floor.open.next = not busy

    @always(clk.posedge)
    def advance() -> None:
        if resting:
            rest.next = rest - 1
            resting.next = rest != 1
        if fire:
            if not sweep_end:
                midway.next = True
                column.next = column + 1
                delta_word.next = delta_word + config.groups
            else:
                midway.next = False
                column.next = 0
                rest.next = config.rest
                resting.next = config.rest != 0
                opens_row.next = row_end
                if not last_group:
                    group.next = group + 1
                    delta_word.next = group + 1
                    kernel_addr.next = kernel_addr + 1
                else:
                    group.next = 0
                    delta_word.next = 0
                    if not last_channel:
                        channel.next = channel + 1
                        kernel_addr.next = kernel_addr + 1
                    else:
                        channel.next = 0
                        kernel_addr.next = 0
                if head_word[final]:
                    busy.next = False
        if start:
            busy.next = True
            midway.next = False
            opens_row.next = True
            resting.next = False
            column.next = 0
            group.next = 0
            channel.next = 0
            kernel_addr.next = 0
            delta_word.next = 0
        if rst:
            busy.next = False

    @always(clk.posedge)
    def issue() -> None:
        slot_1.valid.next = fire
        slot_1.column.next = column
        slot_1.first.next = not midway
        slot_1.last.next = sweep_end
        slot_1.kernel_addr.next = kernel_addr
        slot_1.delta_word.next = delta_word
        slot_1.row_last.next = row_end
        if rst:
            slot_1.valid.next = False

    later = _later(clk, rst, slot_1=slot_1, slot=slot)
    pixel_word: Any = None
    lane: Any = ()
    if design.map_port > 1:
        pixel_word = count(design.map_words(design.max_maps) - 1)
        lane = split_index(clk, index=channel, word=pixel_word, lane=fetch.read.lane)
    reader = window_read(
        clk,
        enable=fire,
        position=head_word,
        channel=channel if design.map_port == 1 else pixel_word,
        fetch=fetch,
        design=design,
    )
    counter = credit_counter(
        clk, rst, start, given=filled, spent=spends, amount=1, credits=rows, first=0
    )
    return (
        arrive, decide, place, end, tell, keep, advance, issue, later, reader, lane, counter,
        uneven,
    )  # fmt: skip
