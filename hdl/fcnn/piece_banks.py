"""Row pieces of B: the pieces of a step are in use while those of the next step load."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.either import either
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fcnn.gated_words import GatedWords
from merp.hdl.fcnn.tile_loops import ProductConfig, TilePlace, tile_loops
from merp.models.machines.fcnn.params.product_design import ProductDesign


@block
def _piece(
    clk: Bit, taken: Bit, into: Bit, index: Word, data: Word, kept: Word, bank: int, number: int
) -> Any:
    """Keep piece ``number`` of a bank."""
    upper = bool(bank)

    @always(clk.posedge)
    def keep() -> None:
        if taken and into == upper and index == number:
            kept.next = data

    return keep


@entity
def piece_banks(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: ProductConfig,
    pieces: GatedWords,
    used: Bit,
    loaded: Bit,
    rows: Word,
    design: ProductDesign,
) -> Any:
    """Keep the row pieces of two steps.

    start         in       the next piece is the first of a run; registers are stable from here on
    data          in       R elements of a row of B
    valid, ready  in, out  handshake of the pieces
    used          in       pulse: the step ends
    loaded        out      the pieces of the step are complete
    rows          out      Nk pieces of the step, the first one lowest

    A step has a piece for each block beside each other; the last column of tiles may have fewer
    blocks. Latency: a cycle from the last piece of a step to loaded. Throughput: a piece per cycle.
    Reset: empty.
    """
    data, valid, ready = pieces.data, pieces.valid, pieces.ready
    blocks, width = design.blocks, design.piece_width
    index = count(max(1, blocks - 1))
    into, out_of, taken, step, next_tile = (flag() for _ in range(5))
    full, below = flag(), flag()  # the upper bank is complete, and the lower one
    place = TilePlace()
    banks = [[bits(width) for _ in range(blocks)] for _ in range(2)]
    chosen = [bits(width) for _ in range(blocks)]
    joined = ConcatSignal(*reversed(chosen)) if blocks > 1 else chosen[0]

    @always_comb
    def look() -> None:
        ready.next = not below
        if into:
            ready.next = not full
        loaded.next = below
        if out_of:
            loaded.next = full

    @always_comb
    def count_pieces() -> None:
        taken.next = valid and ready

    @always_comb
    def end() -> None:
        step.next = taken and (
            index == blocks - 1 or (place.last_column and index + 1 == config.last_blocks)
        )

    @always_comb
    def end_tile() -> None:
        next_tile.next = step and place.closes

    @always_comb
    def give() -> None:
        rows.next = joined

    @always(clk.posedge)
    def follow() -> None:
        if used:
            out_of.next = not out_of
            if out_of:
                full.next = False
            else:
                below.next = False
        if step:
            into.next = not into
            if into:
                full.next = True
            else:
                below.next = True
        if taken and not step:
            index.next = index + 1
        if step or rst:
            index.next = 0
        if rst:
            into.next = False
            out_of.next = False
            full.next = False
            below.next = False

    return (
        look, count_pieces, end, end_tile, give, follow,
        tile_loops(clk, start, step=step, next_tile=next_tile, config=config, place=place),
        [
            _piece(
                clk, taken=taken, into=into, index=index, data=data, kept=banks[bank][number],
                bank=bank, number=number,
            )
            for bank in range(2)
            for number in range(blocks)
        ],
        [
            either(choice=out_of, one=banks[1][number], other=banks[0][number], y=chosen[number])
            for number in range(blocks)
        ],
    )  # fmt: skip
