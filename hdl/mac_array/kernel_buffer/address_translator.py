"""Where a buffer of the circulant kernel memory reads: the same for a row, its own for a column.

The RTL compiler's paper, section III.D.
"""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, intbv

from merp.hdl.conversion.entity import Word, entity


@entity
def address_translator(
    base: Word, turn: Word, rows: Word, taps: Word, address: Word, buffer: int, lanes: int
) -> Any:
    """Give the address of one of the buffers.

    Element (input map i, output map f) stands in buffer (i + f) mod lanes, so the column of an
    output map has row r of its tile in buffer (r + turn) mod lanes, with turn = f mod lanes.

    base     in   address of a row; of a column's first row
    turn     in   f mod lanes, of a column
    rows     in   how many rows the column has; 0: a row is read, all buffers at base
    taps     in   addresses from a row to the next
    address  out  base + r * taps with r = (buffer - turn) mod lanes if r < rows, else base

    A lane behind the column's last row reads its first one: no address is past the layer's end.
    Combinational.
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
        # Shifts and sums, as a product would take a DSP block: two bits at once, and whether there
        # is such a row is judged meanwhile, as there is a memory's address to be in time for.
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
