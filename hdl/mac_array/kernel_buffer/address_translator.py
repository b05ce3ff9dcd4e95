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

    @always_comb
    def translate() -> None:
        row = intbv(0)[lane_bits + 1 :]
        place = intbv(0)[width + lane_bits :]
        row[:] = turn
        row[:] = buffer + lanes - row
        step = intbv(0)[len(taps) + lane_bits :]
        place[:] = base
        step[:] = taps
        if row[lane_bits:] < rows:
            for i in range(lane_bits):  # shifts and sums: a product would take a DSP block
                if row[i]:
                    place[:] = place + step
                step[:] = step << 1
        address.next = place[width:]

    return translate
