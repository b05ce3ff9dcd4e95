"""Output buffer of a lane, with pooling in front of it."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.output.atom_memory import atom_memory
from merp.hdl.mac_array.output.max_pool import max_pool
from merp.hdl.mac_array.ports.pooling import Pooling
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign


@entity
def lane_buffer(
    clk: Bit,
    pooling: Pooling,
    word: Word,
    write: Bit,
    write_row: Word,
    column: Word,
    read_row: Word,
    atom: Word,
    indices: Word,
    design: ArrayDesign,
) -> Any:
    """Pool the words of a lane and keep the atoms of two groups of tiles.

    pooling   in   pooling control of a pixel
    word      in   the word of the pixel
    write, write_row, column  in   a cycle later: its window is complete and is written to this row
                                   and column
    read_row  in   the atom to read
    atom      out  a cycle later, column 0 lowest
    indices   out  with the atom: places of the maxima in their windows

    Throughput: a pixel in and an atom out per cycle. Reset: none.
    """
    words = 2 * design.poy * design.max_stride
    largest, index = bits(WORD_BITS), bits(design.index_bits)
    pool = max_pool(
        clk,
        valid=pooling.valid,
        opens=pooling.opens,
        beside=pooling.beside,
        code=pooling.code,
        word=word,
        largest=largest,
        index=index,
        windows=design.pox,
    )
    kept = {
        "write": write, "write_addr": write_row, "column": column, "read_addr": read_row,
        "words": words,
    }  # fmt: skip
    return (
        pool,
        atom_memory(clk, word=largest, atom=atom, **kept),
        atom_memory(clk, word=index, atom=indices, **kept),
    )
