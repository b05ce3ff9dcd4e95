"""Partial sums from their stream to where the accumulators find what sums start at."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, intbv

from merp.hdl.base.raster import raster
from merp.hdl.base.signals import Stream, count, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, OriginWrite
from merp.hdl.cnn_merp.ports.maps import MapConfig
from merp.hdl.cnn_merp.ports.slots import OriginSlot
from merp.hdl.conversion.entity import Bit, entity
from merp.models.params.cnn_merp.design import Design


@entity
def partial_loader(
    clk: Bit,
    rst: Bit,
    start: Bit,
    enable: Bit,
    wanted: Bit,
    config: MapConfig,
    sink: Stream,
    bias: BiasWrite,
    slot: OriginSlot,
    origin: OriginWrite,
    filled: Bit,
    framing_error: Bit,
    design: Design,
) -> Any:
    """Take the partial sums of a run, in the order image, row, column, map.

    That of map g*n_cu + j goes to CU j, to word g of its position; 2p positions have places, the
    next takes those of the first again. In a run without partial sums the biases go there.

    enable         in   words may be taken (the biases of the run before are no longer needed)
    wanted         in   sums start at partial sums, not at biases
    sink           in   partial sums in the accumulator's format, zeros above
    bias           in   biases, at the places of the first position
    slot           in   at the CU array; with first it reads its word, cu_latency cycles later
    origin         out  both, as writes into the memories of the CUs, a cycle later
    filled         out  pulse: one more word of n_cu partial sums is there, with that write
    framing_error  out  last came with another word than the run's last; sticky until start

    A word waits until its place has been read. Throughput: a word of the stream per cycle. Reset:
    nothing is taken.
    """
    n_cu, groups_max = design.n_cu, design.groups
    width = design.origin_format.width
    more = width - design.fmt.width  # fraction bits that a bias has not
    highest = design.origins - groups_max
    positions = 2 * design.p

    active = flag()  # words of the run are still to come
    cu = count(n_cu)
    group = count(groups_max)
    base = count(design.origins - 1)  # place of the position's first word
    places = count(design.origins)  # free ones
    accept, word_end, position_end, last_word = flag(), flag(), flag(), flag()
    word_taken, position_taken = flag(), flag()
    starts, word_read = flag(), flag()
    last_column, last_row, last_image = flag(), flag(), flag()

    @always_comb
    def place() -> None:
        position_end.next = group + 1 == config.groups and cu + 1 == config.last_cus
        word_end.next = cu + 1 == n_cu or (group + 1 == config.groups and cu + 1 == config.last_cus)

    @always_comb
    def permit() -> None:
        sink.ready.next = active and enable and places != 0
        accept.next = sink.valid and active and enable and places != 0

    @always_comb
    def recognise() -> None:
        word_taken.next = accept and word_end
        position_taken.next = accept and position_end
        last_word.next = position_end and last_column and last_row and last_image
        starts.next = slot.valid and slot.first and wanted

    @always(clk.posedge)
    def take() -> None:
        if accept:
            if sink.last != last_word:
                framing_error.next = True
            if not word_end:
                cu.next = cu + 1
            else:
                cu.next = 0
                if not position_end:
                    group.next = group + 1
                else:
                    group.next = 0
                    if base == highest:
                        base.next = 0
                    else:
                        base.next = base + groups_max
                    if last_word:
                        active.next = False
        if start:
            active.next = wanted
            cu.next = 0
            group.next = 0
            base.next = 0
            framing_error.next = False
        if rst:
            active.next = False
            framing_error.next = False

    @always(clk.posedge)
    def write() -> None:
        word = intbv(0)[width + 1 :]  # and a bit below, as there may be no zeros
        word[:] = concat(bias.data, intbv(0)[more + 1 :])
        origin.enable.next = bias.enable
        origin.addr.next = bias.addr
        origin.data.next = word[width + 1 : 1]
        if accept:
            for j in range(n_cu):
                if cu == j:
                    origin.enable.next[j] = True
            origin.addr.next = base + group
            origin.data.next = sink.data[width:]

    @always(clk.posedge)
    def keep_count() -> None:
        filled.next = word_taken
        if word_taken and not word_read:
            places.next = places - 1
        elif word_read and not word_taken:
            places.next = places + 1
        if start:
            places.next = config.groups * positions
        if rst:
            filled.next = False

    reading = valid_delay(clk, rst, d=starts, q=word_read, cycles=design.cu_latency)
    walk = raster(
        clk,
        start,
        advance=position_taken,
        columns=config.out_columns,
        rows=config.out_rows,
        images=config.images,
        last_column=last_column,
        last_row=last_row,
        last_image=last_image,
    )
    return place, permit, recognise, take, write, keep_count, reading, walk
