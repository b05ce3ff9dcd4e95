"""Un-pooling: a delta goes to the place of its maximum; the rest of its window is zero."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, concat, intbv

from merp.hdl.base.dual_port_ram import dual_port_ram
from merp.hdl.base.rotator import rotator
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.ports.outputs import IndexWrite
from merp.hdl.mac_array.ports.unpooling import ExpandedAtom, PooledAtom
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign


@block
def _entry(word: Word, index: Word, columns: Word, entry: Word, number: int) -> Any:
    """Put a delta above its place in the window; give zero behind the last column of the map."""

    @always_comb
    def join() -> None:
        entry.next = concat(index, intbv(0)[WORD_BITS:])
        if columns > number:
            entry.next = concat(index, word)

    return join


@block
def _column(
    options: Word, pool: Word, most: Word, row: Word, word: Word, number: int, windows: int
) -> Any:
    """Select a column of an expanded atom.

    options: the entry of its window, for each logarithm of the side of the window from 0 on.
    """
    each = len(options) // windows
    whole, size = len(options), 2 * (each - WORD_BITS) + windows + 4

    @always_comb
    def choose() -> None:
        entry = intbv(0)[whole:]
        moved = intbv(0)[whole:]
        place = intbv(0)[size:]
        column = intbv(0)[size:]
        for k in range(windows):
            moved[:] = options >> (k * each)
            if pool == k:
                entry[:] = entry | moved
        column[:] = number
        column[:] = column & most
        place[:] = row
        place[:] = place << pool
        place[:] = place + column
        word.next = 0
        if entry[each:WORD_BITS] == place:
            word.next = entry[WORD_BITS:]

    return choose


@block
def _columns(atom: Word, pool: Word, most: Word, source: ExpandedAtom, design: ArrayDesign) -> Any:
    """Select the words of an expanded atom from the entries of a pooled atom."""
    columns, each = design.pox, WORD_BITS + design.index_bits
    windows = design.pool_window.bit_length()
    column_bits, part_bits = (columns - 1).bit_length(), len(source.part)
    shift, turned = bits(column_bits), bits(columns * each)
    words = [bits(WORD_BITS) for _ in range(columns)]
    joined_words = ConcatSignal(*reversed(words))
    options = [
        ConcatSignal(
            *reversed([turned(((j >> k) + 1) * each, (j >> k) * each) for k in range(windows)])
        )
        if windows > 1
        else turned((j + 1) * each, j * each)
        for j in range(columns)
    ]

    @always_comb
    def turn() -> None:
        ahead = intbv(0)[part_bits + column_bits :]
        ahead[:] = concat(source.part, intbv(0)[column_bits:])
        ahead[:] = ahead >> pool
        shift.next = ahead[column_bits:]

    @always_comb
    def hand_out() -> None:
        source.data.next = joined_words

    return (
        turn,
        hand_out,
        rotator(x=atom, shift=shift, y=turned, places=columns, width=each),
        [
            _column(
                options=options[j],
                pool=pool,
                most=most,
                row=source.row,
                word=words[j],
                number=j,
                windows=windows,
            )
            for j in range(columns)
        ],
    )


@entity
def upsampler(
    clk: Bit,
    clear: Bit,
    pool: Word,
    most: Word,
    index: IndexWrite,
    sink: PooledAtom,
    source: ExpandedAtom,
    design: ArrayDesign,
) -> Any:
    """Expand pooled atoms to the resolution of the sums.

    pool, most  in   logarithm of the side of the window, and the side less one; stable from clear
                     on
    index       in   write port of the index memory: places of the maxima of an atom of outputs
    sink        in   pooled deltas
    source      out  for each pooled atom: the requested rows of the window, each as atoms

    Deltas behind the last pooled column of a map are zero, so that sums which pooling dropped get
    zeros. The block only selects: the ReLU mask was applied in the pass that computed the deltas.
    Latency: two cycles. Throughput: an atom out per cycle. Reset, by clear: no atom; indices stay.
    """
    columns, each = design.pox, WORD_BITS + design.index_bits
    held, taken, load, filled, last_part, last_row, done = (flag() for _ in range(7))
    waiting = bits(design.atom_bits)
    waiting_columns, waiting_parts = count(columns), count(design.pool_window)
    parts, bottom = count(design.pool_window), count(design.pool_window - 1)
    waiting_top, waiting_bottom = count(design.pool_window - 1), count(design.pool_window - 1)
    waiting_final = flag()
    addr, kept_addr = count(design.index_words - 1), count(design.index_words - 1)
    indices = bits(columns * design.index_bits)
    entries = [bits(each) for _ in range(columns)]
    atom, part_bits = bits(columns * each), len(source.part)
    joined_entries = ConcatSignal(*reversed(entries))

    @always_comb
    def finish() -> None:
        source.valid.next = filled
        source.last.next = last_part and last_row
        done.next = filled and source.ready and last_part and last_row

    @always_comb
    def admit() -> None:
        load.next = held and (done or not filled)
        sink.ready.next = not held or done or not filled
        taken.next = sink.valid and (not held or done or not filled)

    @always_comb
    def address() -> None:
        if taken:
            addr.next = sink.addr
        else:
            addr.next = kept_addr

    @always(clk.posedge)
    def wait_for_indices() -> None:
        kept_addr.next = addr
        if taken:
            waiting.next = sink.data
            waiting_columns.next = sink.columns
            waiting_parts.next = sink.parts
            waiting_top.next = sink.top
            waiting_bottom.next = sink.bottom
            waiting_final.next = sink.final
            held.next = True
        elif load:
            held.next = False
        if clear:
            held.next = False

    @always(clk.posedge)
    def walk() -> None:
        # The end of an atom is computed a cycle ahead, because ready arrives late and the ready of
        # sink depends on it.
        behind = intbv(0)[part_bits + 2 :]
        further = intbv(0)[len(source.row) + 1 :]
        behind[:] = source.part
        behind[:] = behind + 2
        further[:] = source.row
        further[:] = further + 1
        if filled and source.ready:
            if not last_part:
                source.part.next = source.part + 1
                last_part.next = behind >= parts
            else:
                source.part.next = 0
                last_part.next = parts <= 1
                if not last_row:
                    source.row.next = source.row + 1
                    last_row.next = further == bottom
        if done:
            filled.next = False
        if load:
            filled.next = True
            atom.next = joined_entries
            parts.next = waiting_parts
            bottom.next = waiting_bottom
            source.row.next = waiting_top
            last_part.next = waiting_parts <= 1
            last_row.next = waiting_top == waiting_bottom
            source.final.next = waiting_final
        if clear:
            filled.next = False
            source.part.next = 0
            source.row.next = 0

    return (
        finish,
        admit,
        address,
        wait_for_indices,
        walk,
        dual_port_ram(
            clk,
            write=index.enable,
            write_addr=index.addr,
            data=index.data,
            read_addr=addr,
            word=indices,
            words=design.index_words,
        ),
        [
            _entry(
                word=waiting((j + 1) * WORD_BITS, j * WORD_BITS),
                index=indices((j + 1) * design.index_bits, j * design.index_bits),
                columns=waiting_columns,
                entry=entries[j],
                number=j,
            )
            for j in range(columns)
        ],
        _columns(atom=atom, pool=pool, most=most, source=source, design=design),
    )
