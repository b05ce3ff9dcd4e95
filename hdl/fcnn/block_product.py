"""Matrix product of a fully connected layer by outer products of blocks.

Source: F-CNN section IV, equations 15 and 16, and Algorithm 1. C = start + A B. The order of
additions is that of the golden models: ascending along the inner dimension.
"""

from __future__ import annotations

from typing import Any, ClassVar

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.delay import delay
from merp.hdl.base.interface import DesignPorts, Member
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fcnn.choose_part import choose_part
from merp.hdl.fcnn.gated_words import GatedWords
from merp.hdl.fcnn.outer_product import outer_product
from merp.hdl.fcnn.piece_banks import piece_banks
from merp.hdl.fcnn.tile_loops import ProductConfig, TilePlace, tile_loops
from merp.hdl.fcnn.turn_sum import SumStore
from merp.hdl.streams.credit_source import credit_source
from merp.hdl.streams.stream_gate import stream_gate
from merp.models.machines.fcnn.params.product_design import READ, ProductDesign


def _pieces(design: ProductDesign) -> Stream:
    return Stream(design.piece_width)


class ProductStreams(DesignPorts[ProductDesign]):
    """Streams of a matrix product."""

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = (
        Member("sink_map", _pieces, kind=Stream),
        Member("sink_kernel", _pieces, kind=Stream),
        Member("sink_bias", lambda design: Stream(design.fmt.width), kind=Stream),
        Member("source", _pieces, kind=Stream),
    )


class ProductActivity:
    """The work of a cycle: in each cycle of a run, one flag is high, and ``useful`` beside issue.

    issue         a turn of a block is taken, with or without rows
    useful        the turn has a column piece
    drain         sums of a tile are stored or read, or the last ones leave
    stall_output  sums wait for places of the output
    stall_bias    biases of a tile load
    stall_kernel  a step waits for row pieces
    stall_map     a turn waits for its column piece
    """

    def __init__(self) -> None:
        self.issue, self.useful, self.drain, self.stall_output = (flag() for _ in range(4))
        self.stall_bias, self.stall_kernel, self.stall_map = (flag() for _ in range(3))


@block
def _bias(
    clk: Bit, start: Bit, taken: Bit, index: Word, data: Word, kept: Word, column: int
) -> Any:
    """Keep the bias of a column of the tile; it is +0 in a run without biases."""

    @always(clk.posedge)
    def keep() -> None:
        if taken and index == column:
            kept.next = data
        if start:
            kept.next = 0

    return keep


@block
def _biases(
    clk: Bit,
    rst: Bit,
    start: Bit,
    used: Bit,
    config: ProductConfig,
    last_column: Bit,
    biases: GatedWords,
    loaded: Bit,
    starts: Word,
    design: ProductDesign,
) -> Any:
    """Load the biases of a column of tiles; ``used`` begins the next column of tiles."""
    data, valid, ready = biases.data, biases.valid, biases.ready
    columns, width = design.tile_columns, design.fmt.width
    index = count(max(1, columns - 1))
    taken, final, complete = flag(), flag(), flag()
    kept = [bits(width) for _ in range(columns)]
    joined = ConcatSignal(*reversed(kept)) if columns > 1 else kept[0]

    @always_comb
    def look() -> None:
        ready.next = config.biased and not complete
        loaded.next = complete or not config.biased

    @always_comb
    def tell() -> None:
        taken.next = valid and ready
        final.next = index == columns - 1 or (last_column and index + 1 == config.last_columns)

    @always_comb
    def give() -> None:
        starts.next = joined

    @always(clk.posedge)
    def follow() -> None:
        if taken:
            if final:
                index.next = 0
                complete.next = True
            else:
                index.next = index + 1
        if used or start or rst:
            index.next = 0
            complete.next = False

    each = [
        _bias(clk, start, taken=taken, index=index, data=data, kept=kept[column], column=column)
        for column in range(columns)
    ]
    return look, tell, give, follow, each


class TileRead:
    """The read of the sums of a tile: columns, and in a column its blocks, one per cycle.

    reading       sums of the tile are left
    room          the output has a place
    gives         a beat of sums is read: of block ``turn`` and ``column``
    ends          it is the last one of the tile
    """

    def __init__(self, design: ProductDesign) -> None:
        self.reading, self.room, self.gives, self.ends = (flag() for _ in range(4))
        self.turn = count(design.turns - 1)
        self.column = count(max(1, design.tile_columns - 1))


@block
def _tile_reads(
    clk: Bit,
    rst: Bit,
    settled: Bit,
    tile: TilePlace,
    config: ProductConfig,
    read: TileRead,
    design: ProductDesign,
) -> Any:
    """Read the sums of a tile while the output has room.

    settled  in   pulse: the sums of the tile are stored in the next cycle
    """
    turns, columns = design.turns, design.tile_columns
    last_turn, last_column = flag(), flag()

    @always_comb
    def look() -> None:
        read.gives.next = read.reading and read.room
        last_turn.next = read.turn == turns - 1 or (
            tile.last_row and read.turn + 1 == config.last_pieces
        )
        last_column.next = read.column == columns - 1 or (
            tile.last_column and read.column + 1 == config.last_columns
        )

    @always_comb
    def tell() -> None:
        read.ends.next = read.gives and last_turn and last_column

    @always(clk.posedge)
    def follow() -> None:
        if settled:
            read.reading.next = True
        if read.gives:
            if last_turn:
                read.turn.next = 0
                if last_column:
                    read.column.next = 0
                    read.reading.next = False
                else:
                    read.column.next = read.column + 1
            else:
                read.turn.next = read.turn + 1
        if rst:
            read.reading.next = False
            read.turn.next = 0
            read.column.next = 0

    return look, tell, follow


@block
def _send_sums(
    clk: Bit,
    rst: Bit,
    start: Bit,
    ended: Bit,
    tile: TilePlace,
    config: ProductConfig,
    read: TileRead,
    sums: list[Any],
    source: Stream,
    design: ProductDesign,
) -> Any:
    """Read the sums of each tile, once they are stored, and send their columns.

    ended  in   pulse: the last turn of a tile is taken
    read   out  what is read in this cycle
    sums   in   the sums of each block that were read in the cycle before
    """
    settled, push, clear = flag(), flag(), flag()
    chosen_column = bits(len(read.column))
    all_sums, result = bits(len(sums) * len(sums[0])), bits(design.piece_width)
    joined = ConcatSignal(*reversed(sums)) if len(sums) > 1 else sums[0]

    @always_comb
    def join() -> None:
        all_sums.next = joined
        clear.next = rst or start

    @always(clk.posedge)
    def keep() -> None:
        chosen_column.next = read.column

    return (
        join, keep,
        valid_delay(clk, rst, d=ended, q=settled, cycles=design.settle - 1),
        _tile_reads(
            clk, rst, settled=settled, tile=tile, config=config, read=read, design=design
        ),
        choose_part(
            clk, words=all_sums, index=chosen_column, word=result, parts=design.tile_columns
        ),
        valid_delay(clk, rst, d=read.gives, q=push, cycles=READ),
        credit_source(
            clk, clear, total=config.sum_words, taken=read.gives, room=read.room, push=push,
            data=result, source=source, words=design.fifo_words,
        ),
    )  # fmt: skip


@entity
def block_product(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: ProductConfig,
    streams: ProductStreams,
    activity: ProductActivity,
    done: Bit,
    framing_error: Bit,
    design: ProductDesign,
) -> Any:
    """Compute C = start + A B, a tile of turns x Nk blocks of R x R at a time.

    start          in   pulse: a run begins; registers are stable from here to done
    sink_map       in   column pieces of A, R rows each: for each tile, column by column, the pieces
                        of the rows of the tile
    sink_kernel    in   row pieces of B, R columns each: for each tile, row by row, the pieces of
                        the columns of the tile
    sink_bias      in   starts of the columns of C, if biased; otherwise they are +0
    source         out  column pieces of C: for each tile, column by column, the pieces of the rows
    activity       out  the work of this cycle
    done           out  the last piece was transferred; high until the next start
    framing_error  out  last arrived with a wrong word of an input; high until the next start

    Tiles follow column of tiles by column of tiles. In a step, a column of A meets a row of B. It
    takes a cycle for each turn of the design. Pieces beyond an edge are not sent. Elements beyond
    the edge in a piece are ignored, and their sums have no meaning. The walk pauses after a tile
    until its sums are read. Throughput: a column piece per cycle. Reset: no run.
    """
    turns, blocks, size = design.turns, design.blocks, design.size
    piece, width, add = design.piece_width, design.fmt.width, design.add_latency
    sink_map, sink_kernel, sink_bias = streams.sink_map, streams.sink_kernel, streams.sink_bias
    source, tile, read = streams.source, TilePlace(), TileRead(design)
    map_valid, map_ready, kernel_valid, kernel_ready = (flag() for _ in range(4))
    bias_valid, bias_ready, map_error, kernel_error, bias_error = (flag() for _ in range(5))
    walking, sending, finished, held, loaded, starts_loaded = (flag() for _ in range(6))
    advance, issue, there, used, ended, next_column = (flag() for _ in range(6))
    opens, begin, write = (flag() for _ in range(3))
    turn, place, now, written = (count(turns - 1) for _ in range(4))
    column, rows = bits(piece), bits(blocks * piece)
    held_rows, starts = bits(blocks * piece), bits(design.tile_columns * width)
    sums = [bits(size * piece) for _ in range(blocks)]

    @always_comb
    def look() -> None:
        there.next = turn < config.last_pieces or not tile.last_row

    @always_comb
    def move() -> None:
        free = walking and not held and loaded and starts_loaded
        advance.next = free and (map_valid or not there)
        map_ready.next = free and there
        issue.next = free and there and map_valid

    @always_comb
    def judge() -> None:
        opens.next = issue and tile.opens
        used.next = advance and turn == turns - 1
        ended.next = advance and turn == turns - 1 and tile.closes

    @always_comb
    def show() -> None:
        free = walking and not held
        activity.issue.next = advance
        activity.useful.next = issue
        activity.stall_bias.next = free and not starts_loaded
        activity.stall_kernel.next = free and starts_loaded and not loaded
        activity.stall_map.next = free and starts_loaded and loaded and not advance
        activity.stall_output.next = read.reading and not read.room
        activity.drain.next = (held or (sending and not walking)) and (
            read.room or not read.reading
        )

    @always_comb
    def tell() -> None:
        next_column.next = read.ends and tile.last_row
        done.next = finished
        framing_error.next = map_error or kernel_error or bias_error

    @always_comb
    def choose() -> None:
        now.next = place
        if read.reading:
            now.next = read.turn

    @always(clk.posedge)
    def keep() -> None:
        column.next = sink_map.data
        held_rows.next = rows

    @always(clk.posedge)
    def follow() -> None:
        if used:
            turn.next = 0
        elif advance:
            turn.next = turn + 1
        if ended:
            held.next = True
        if read.ends:
            held.next = False
            if tile.last_row and tile.last_column:
                walking.next = False
        if source.valid and source.ready and source.last:
            sending.next = False
            finished.next = True
        if start:
            walking.next = True
            sending.next = True
            finished.next = False
        if rst:
            walking.next = False
            sending.next = False
            finished.next = False
        if rst or start:
            turn.next = 0
            held.next = False

    intake = (
        stream_gate(
            clk, rst, start, words=config.map_words, sink=sink_map, valid=map_valid,
            ready=map_ready, framing_error=map_error,
        ),
        stream_gate(
            clk, rst, start, words=config.kernel_words, sink=sink_kernel, valid=kernel_valid,
            ready=kernel_ready, framing_error=kernel_error,
        ),
        stream_gate(
            clk, rst, start, words=config.bias_words, sink=sink_bias, valid=bias_valid,
            ready=bias_ready, framing_error=bias_error,
        ),
        tile_loops(clk, start, step=used, next_tile=read.ends, config=config, place=tile),
        piece_banks(
            clk, rst, start, config=config,
            pieces=GatedWords(data=sink_kernel.data, valid=kernel_valid, ready=kernel_ready),
            used=used, loaded=loaded, rows=rows, design=design,
        ),
        _biases(
            clk, rst, start, used=next_column, config=config, last_column=tile.last_column,
            biases=GatedWords(data=sink_bias.data, valid=bias_valid, ready=bias_ready),
            loaded=starts_loaded, starts=starts, design=design,
        ),
    )  # fmt: skip
    pipe = (
        delay(clk, d=turn, q=place, cycles=design.mul_latency),
        valid_delay(clk, rst, d=opens, q=begin, cycles=design.mul_latency),
        valid_delay(clk, rst, d=issue, q=write, cycles=design.mul_latency + 1 + add),
        delay(clk, d=place, q=written, cycles=1 + add),
    )
    compute = [
        outer_product(
            clk, column=column, row=held_rows((b + 1) * piece, b * piece), place=now, begin=begin,
            starts=starts((b + 1) * piece, b * piece),
            store=SumStore(write=write, written=written), sums=sums[b], design=design,
        )
        for b in range(blocks)
    ]  # fmt: skip
    leave = _send_sums(
        clk, rst, start, ended=ended, tile=tile, config=config, read=read, sums=sums,
        source=source, design=design,
    )  # fmt: skip
    return look, move, judge, show, tell, choose, keep, follow, intake, pipe, compute, leave
