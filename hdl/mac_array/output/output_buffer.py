"""Buffer that takes pixels of all lanes, pooled or not, and sends atoms of one lane at a time."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb

from merp.hdl.base.delay import delay
from merp.hdl.base.select_part import select_part
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.output.lane_buffer import lane_buffer
from merp.hdl.mac_array.ports.pooling import Pooling
from merp.hdl.mac_array.ports.sending import Sending
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign


@entity
def output_buffer(
    clk: Bit,
    pooling: Pooling,
    words: Word,
    sending: Sending,
    atom: Word,
    indices: Word,
    design: ArrayDesign,
) -> Any:
    """Keep two groups of tiles of every lane.

    pooling  in   pooling control of a pixel
    words    in   words of the pixel, lane 0 lowest
    sending  in   row and lane of the atom to read
    atom     out  two cycles later, column 0 lowest
    indices  out  with the atom: places of the maxima in their windows, column 0 lowest

    A window can be read from two cycles after its last pixel on. Columns outside the map hold old
    content of the buffer. Throughput: a pixel of all lanes in and an atom of one lane out per
    cycle. Reset: none.
    """
    lanes, index_width = design.pof, design.pox * design.index_bits
    write, completes = flag(), flag()
    write_row, column = count(pooling.row.max - 1), count(design.pox - 1)
    lane = count(design.pof - 1)
    atoms = [bits(design.atom_bits) for _ in range(lanes)]
    places = [bits(index_width) for _ in range(lanes)]
    buffers = [
        lane_buffer(
            clk,
            pooling=pooling,
            word=words((c + 1) * WORD_BITS, c * WORD_BITS),
            write=write,
            write_row=write_row,
            column=column,
            read_row=sending.row,
            atom=atoms[c],
            indices=places[c],
            design=design,
        )
        for c in range(lanes)
    ]
    all_atoms, all_places = bits(lanes * design.atom_bits), bits(lanes * index_width)
    joined_atoms = ConcatSignal(*reversed(atoms))
    joined_places = ConcatSignal(*reversed(places))

    @always_comb
    def complete() -> None:
        completes.next = pooling.valid and pooling.closes

    @always_comb
    def collect() -> None:
        all_atoms.next = joined_atoms
        all_places.next = joined_places

    return (
        buffers,
        complete,
        collect,
        delay(clk, d=completes, q=write, cycles=1),
        delay(clk, d=pooling.row, q=write_row, cycles=1),
        delay(clk, d=pooling.column, q=column, cycles=1),
        delay(clk, d=sending.lane, q=lane, cycles=1),
        select_part(
            clk, words=all_atoms, index=lane, word=atom, size=design.atom_bits, parts=lanes
        ),
        select_part(clk, words=all_places, index=lane, word=indices, size=index_width, parts=lanes),
    )
