"""Read address of a memory of the circulant kernel buffer.

All memories share the address of a row; each has its own address for a column. Source: the RTL
compiler's paper, section III.D.
"""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, intbv

from merp.hdl.conversion.entity import Word, entity


@entity
def address_translator(
    base: Word, turn: Word, rows: Word, taps: Word, address: Word, buffer: int, lanes: int
) -> Any:
    """Give the address of one of the memories.

    Element (input map i, output map f) is stored in memory (i + f) mod lanes. Therefore the column
    of an output map has row r of its tile in memory (r + turn) mod lanes, with turn = f mod lanes.

    base     in   address of a row, or of the first row of a column
    turn     in   f mod lanes, for a column
    rows     in   number of rows of the column; 0: a row is read, with base in all memories
    taps     in   address distance from a row to the next
    address  out  base + r * taps with r = (buffer - turn) mod lanes if r < rows, else base

    A lane behind the last row of the column reads its first row, so no address exceeds the end of
    the layer. Latency: combinational.
    """
    lane_bits, width = (lanes - 1).bit_length(), len(address)
    digits = (lane_bits + 1) // 2

    @always_comb
    def translate() -> None:
        row = intbv(0)[lane_bits + 2 :]
        place = intbv(0)[width + lane_bits + 1 :]
        single = intbv(0)[len(taps) + 2 * digits + 2 :]
        triple = intbv(0)[len(taps) + 2 * digits + 2 :]
        part = intbv(0)[len(taps) + 2 * digits + 2 :]
        row[:] = turn
        row[:] = buffer + lanes - row
        row[:] = row[lane_bits:]
        single[:] = taps
        triple[:] = single << 1
        triple[:] = triple + single
        place[:] = base
        # Shifts and sums are used, because a product would take a DSP block. Two bits are added in
        # one step. The comparison of r with rows runs in parallel, because the address of the
        # memory is critical.
        for i in range(digits):
            part[:] = 0
            if row[2 * i] and row[2 * i + 1]:
                part[:] = triple
            elif row[2 * i + 1]:
                part[:] = single << 1
            elif row[2 * i]:
                part[:] = single
            place[:] = place + part
            single[:] = single << 2
            triple[:] = triple << 2
        address.next = base
        if row < rows:
            address.next = place[width:]

    return translate
