"""Load partial sums from their stream into the memories of the start values of sums."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, concat, intbv

from merp.hdl.arithmetic.widen import widen
from merp.hdl.base.raster import raster
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.cu_array.partial_cutter import partial_cutter
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, OriginWrite
from merp.hdl.cnn_merp.ports.maps import MapConfig
from merp.hdl.cnn_merp.ports.passes import PartialIntake
from merp.hdl.cnn_merp.ports.slots import OriginSlot
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def _origin(clk: Bit, accept: Bit, bias: Word, partial: Word, data: Word) -> Any:
    """Select the start value for a CU: a bias, or a partial sum without the zeros above it."""
    width = len(data)

    @always(clk.posedge)
    def choose() -> None:
        if accept:
            data.next = partial[width:]
        else:
            data.next = bias

    return choose


class _Place:
    """Place of the next piece of partial sums, and flags for the ends at this place."""

    def __init__(self, design: EngineDesign, pieces: int) -> None:
        self.cu = count(pieces)  # counted in pieces
        self.group = count(design.groups)
        self.base = count(design.origins - 1)  # base of the first word of the position
        self.word_end = flag()
        self.position_end = flag()


@block
def _ends(clk: Bit, config: MapConfig, at: _Place, last_pieces: Word, pieces: int) -> Any:
    """Detect the ends of a word and of a position, for single words."""
    cu, group, word_end, position_end = at.cu, at.group, at.word_end, at.position_end

    @always_comb
    def place() -> None:
        position_end.next = group + 1 == config.groups and cu + 1 == last_pieces
        word_end.next = cu + 1 == pieces or (group + 1 == config.groups and cu + 1 == last_pieces)

    return place


@block
def _ends_of_pieces(
    clk: Bit,
    start: Bit,
    config: MapConfig,
    at: _Place,
    word_taken: Bit,
    position_taken: Bit,
    last_pieces: Word,
    pieces: int,
) -> Any:
    """Detect the ends for pieces one cycle ahead, because the length of a piece depends on them."""
    cu, group, word_end, position_end = at.cu, at.group, at.word_end, at.position_end
    in_last = flag()

    @always(clk.posedge)
    def look_ahead() -> None:
        if start:
            in_last.next = config.groups == 1
        elif word_taken:
            in_last.next = group + 2 == config.groups
            if position_taken:
                in_last.next = config.groups == 1

    @always_comb
    def place_piece() -> None:
        position_end.next = in_last and cu + 1 == last_pieces
        word_end.next = cu + 1 == pieces or (in_last and cu + 1 == last_pieces)

    return look_ahead, place_piece


@block
def _write(
    clk: Bit,
    accept: Bit,
    at: _Place,
    taken: Stream,
    bias: BiasWrite,
    origin: OriginWrite,
    design: EngineDesign,
) -> Any:
    """Write single partial sums, or biases, into the memories of the CUs."""
    n_cu, width = design.n_cu, design.origin_format.width
    more = width - design.fmt.width  # fraction bits that a bias lacks
    cu, group, base = at.cu, at.group, at.base

    @always(clk.posedge)
    def write() -> None:
        word = intbv(0)[width + 1 :]  # with an extra bit, because the number of zeros may be 0
        word[:] = concat(bias.data, intbv(0)[more + 1 :])
        origin.enable.next = bias.enable
        origin.addr.next = bias.addr
        origin.data.next = word[width + 1 : 1]
        if accept:
            for j in range(n_cu):
                if cu == j:
                    origin.enable.next[j] = True
            origin.addr.next = base + group
            origin.data.next = taken.data[width:]

    return write


@block
def _write_pieces(
    clk: Bit,
    accept: Bit,
    at: _Place,
    taken: Stream,
    bias: BiasWrite,
    origin: OriginWrite,
    design: EngineDesign,
) -> Any:
    """Write several partial sums, or biases, in parallel."""
    n_cu, lanes, width = design.n_cu, design.map_port, design.origin_format.width
    cu, group, base = at.cu, at.group, at.base
    given = len(taken.data) // lanes
    words = [bits(width) for _ in range(lanes)]
    joined = ConcatSignal(*reversed(words))
    wide_bias = bits(width)
    origins = [
        _origin(
            clk,
            accept=accept,
            bias=wide_bias,
            partial=taken.data((lane + 1) * given, lane * given),
            data=words[lane],
        )
        for lane in range(lanes)
    ]

    @always(clk.posedge)
    def locate() -> None:
        origin.enable.next = bias.enable
        origin.addr.next = bias.addr
        if accept:
            for j in range(n_cu):
                if cu == j // lanes:
                    origin.enable.next[j] = True
            origin.addr.next = base + group

    @always_comb
    def join() -> None:
        origin.data.next = joined

    return widen(x=bias.data, y=wide_bias, width=width), origins, locate, join


@entity
def partial_loader(
    clk: Bit,
    rst: Bit,
    start: Bit,
    intake: PartialIntake,
    config: MapConfig,
    sink: Stream,
    bias: BiasWrite,
    slot: OriginSlot,
    origin: OriginWrite,
    design: EngineDesign,
) -> Any:
    """Take the partial sums of a run, in the order image, row, column, map.

    The partial sum of map g*n_cu + j goes to CU j, to word g of its position. There are places for
    2p positions, which are reused cyclically. In a run without partial sums, the biases go there.
    From a beat of map_port sums, those for the same word are taken together.

    intake  in   enable, and whether partial sums are used; out: write of a word, framing errors
    sink    in   partial sums in the format of the accumulator, with zeros above
    bias    in   biases, at the places of the first position
    slot    in   slot at the CU array; with first it reads its word, cu_latency cycles later
    origin  out  both kinds, as writes into the memories of the CUs, a cycle later

    A word waits until its place has been read. Throughput: map_port words of the stream per cycle,
    but not beyond the end of a word of n_cu sums. Reset: nothing is taken.
    """
    n_cu, groups_max, lanes = design.n_cu, design.groups, design.map_port
    pieces = -(-n_cu // lanes)  # pieces of a word of n_cu partial sums
    highest = design.origins - groups_max
    doublings = design.p  # 2p positions, p being 1 or 2, are as many as 2 to its power

    active = flag()  # words of the run are left
    at = _Place(design, pieces)
    cu, group, base, word_end, position_end = (
        at.cu, at.group, at.base, at.word_end, at.position_end,
    )  # fmt: skip
    places = count(design.origins)  # free places
    accept, last_word = flag(), flag()
    word_taken, position_taken = flag(), flag()
    starts, word_read = flag(), flag()
    last_column, last_row, last_image = flag(), flag(), flag()
    taken, last_pieces = sink, config.last_cus
    cutting: Any = ()
    if lanes > 1:
        taken, last_pieces = Stream(len(sink.data)), count(pieces)
        shift = lanes.bit_length() - 1

        # VHDL would cut a constant to the width of last_cus, so the sum would be wrong
        if n_cu < lanes:

            @always(clk.posedge)
            def settle() -> None:
                last_pieces.next = 1

        else:

            @always(clk.posedge)
            def settle() -> None:  # the value is constant during a run
                last_pieces.next = (config.last_cus + lanes - 1) >> shift

        cutter = partial_cutter(
            clk,
            rst,
            start,
            last_cus=config.last_cus,
            ends_word=word_end,
            ends_position=position_end,
            ends_run=last_word,
            sink=sink,
            source=taken,
            design=design,
        )
        ends = _ends_of_pieces(
            clk,
            start,
            config=config,
            at=at,
            word_taken=word_taken,
            position_taken=position_taken,
            last_pieces=last_pieces,
            pieces=pieces,
        )
        cutting = settle, cutter
    else:
        ends = _ends(clk, config=config, at=at, last_pieces=last_pieces, pieces=pieces)
    write = (_write_pieces if lanes > 1 else _write)(
        clk, accept=accept, at=at, taken=taken, bias=bias, origin=origin, design=design
    )

    @always_comb
    def permit() -> None:
        taken.ready.next = active and intake.enable and places != 0
        accept.next = taken.valid and active and intake.enable and places != 0

    @always_comb
    def recognise() -> None:
        word_taken.next = accept and word_end
        position_taken.next = accept and position_end
        last_word.next = position_end and last_column and last_row and last_image
        starts.next = slot.valid and slot.first and intake.wanted

    @always(clk.posedge)
    def take() -> None:
        if accept:
            if taken.last != last_word:
                intake.framing_error.next = True
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
            active.next = intake.wanted
            cu.next = 0
            group.next = 0
            base.next = 0
            intake.framing_error.next = False
        if rst:
            active.next = False
            intake.framing_error.next = False

    @always(clk.posedge)
    def keep_count() -> None:
        intake.filled.next = word_taken
        if word_taken and not word_read:
            places.next = places - 1
        elif word_read and not word_taken:
            places.next = places + 1
        if start:
            # No product: in VHDL a constant is cut to the other operand's width.
            places.next = concat(config.groups, intbv(0)[doublings:])
        if rst:
            intake.filled.next = False

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
    return cutting, ends, permit, recognise, take, write, keep_count, reading, walk
