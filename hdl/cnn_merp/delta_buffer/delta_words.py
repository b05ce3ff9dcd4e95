"""Collect deltas into words with one element per CU."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.raster import raster
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.delta_buffer.delta_ports import Collected
from merp.hdl.cnn_merp.ports.gradients import DeltaElement
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import revisit_cycles


@block
def _lane(clk: Bit, mine: Bit, data: Word, held: Word) -> Any:
    """Register the element of one CU."""

    @always(clk.posedge)
    def load() -> None:
        if mine:
            held.next = data

    return load


@entity
def delta_words(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: GradientMapConfig,
    sink: Stream,
    room: Bit,
    collected: Collected,
    element: DeltaElement,
    framing_error: Bit,
    design: EngineDesign,
) -> Any:
    """Take the delta words of a run, in the order image, row, column, map.

    The delta of map g*n_cu + j is element j of word g of its position.

    sink           in   the delta words
    room           in   a place is free for the word that is being collected
    collected      out  number of this word, whether it is taken, and the word, CU 0 in the lowest
                        bits
    element        out  each delta word, one cycle after its transfer
    framing_error  out  last arrived with a word other than the last of the run; sticky until start
    config         in   with first_images, images are the columns of a row, and the first row may be
                        shorter

    The last element of a word waits for room. Each position is followed by config.delta_rest idle
    cycles, so that the delta of a map returns after revisit_cycles at the earliest. Throughput: a
    word per cycle. Reset: nothing is taken.
    """
    cu_group, word, word_taken = collected.cu_group, collected.word, collected.word_taken
    position_taken, row_taken = collected.position_taken, collected.row_taken
    n_cu = design.n_cu // design.delta_beat
    width, groups_max = design.delta_beat * design.fmt.width, design.groups

    active = flag()  # words of the run are left
    cu = count(n_cu)
    index = count(groups_max * n_cu)
    first = flag()  # the first position of the run
    last_column, last_row, last_image = flag(), flag(), flag()
    rest = count(revisit_cycles(design))
    word_end, position_end = flag(), flag()
    accept = flag()
    last_word = flag()

    enable = bits(n_cu)
    lanes = [bits(width) for _ in range(n_cu)]
    joined = ConcatSignal(*reversed(lanes)) if n_cu > 1 else lanes[0]

    @always_comb
    def place() -> None:
        position_end.next = cu_group + 1 == config.groups and cu + 1 == config.last_cus
        word_end.next = cu + 1 == n_cu or (
            cu_group + 1 == config.groups and cu + 1 == config.last_cus
        )

    @always_comb
    def permit() -> None:
        sink.ready.next = active and rest == 0 and (room or not word_end)
        accept.next = sink.valid and active and rest == 0 and (room or not word_end)

    @always_comb
    def recognise() -> None:
        word_taken.next = accept and word_end
        position_taken.next = accept and position_end
        row_taken.next = accept and position_end and last_column
        last_word.next = position_end and last_column and last_row and last_image

    @always(clk.posedge)
    def collect() -> None:
        enable.next = 0
        element.valid.next = False
        if rest != 0:
            rest.next = rest - 1
        if accept:
            element.valid.next = True
            element.data.next = sink.data
            element.index.next = index
            element.opening.next = first
            for j in range(n_cu):
                if cu == j:
                    enable.next[j] = True
            if sink.last != last_word:
                framing_error.next = True
            if not word_end:
                cu.next = cu + 1
                index.next = index + 1
            elif not position_end:
                cu.next = 0
                index.next = index + 1
                cu_group.next = cu_group + 1
            else:
                cu.next = 0
                index.next = 0
                cu_group.next = 0
                first.next = False
                rest.next = config.delta_rest
                if last_word:
                    active.next = False
        if start:
            active.next = True
            cu.next = 0
            cu_group.next = 0
            index.next = 0
            first.next = True
            rest.next = 0
            framing_error.next = False
        if rst:
            active.next = False
            element.valid.next = False
            framing_error.next = False

    lane_registers = [
        _lane(clk, mine=enable(j), data=element.data, held=lanes[j]) for j in range(n_cu)
    ]

    @always_comb
    def join() -> None:
        word.next = joined

    columns = config.out_columns
    uneven: Any = ()
    if config.has("first_images"):
        columns = count(design.max_size)  # columns of the row that begins

        @always_comb
        def of_row() -> None:
            columns.next = config.out_columns
            if start:
                columns.next = config.first_images

        uneven = of_row
    positions = raster(
        clk,
        start,
        advance=position_taken,
        columns=columns,
        rows=config.out_rows,
        images=config.images,
        last_column=last_column,
        last_row=last_row,
        last_image=last_image,
    )
    return place, permit, recognise, collect, lane_registers, join, positions, uneven
