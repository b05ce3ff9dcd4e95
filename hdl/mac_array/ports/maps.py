"""Write ports of the banks, and the reads of the pixels of a slot."""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag
from merp.models.machines.mac_array.params.design import ArrayDesign


class MapWrite:
    """Elements for the banks of one row of banks, all to the same address."""

    def __init__(self, design: ArrayDesign) -> None:
        self.rows = bits(design.poy)  # enable of each row of banks
        self.columns = bits(design.pox)  # enable of each column of banks
        self.addr = count(design.map_words - 1)  # address in these banks
        self.data = bits(design.atom_bits)  # an element per column, column 0 lowest


class MapRead:
    """The read of a slot: an element of every bank, and their rotation to the MACs.

    A window may begin anywhere: banks before the rotation point hold elements of the next block.
    Four addresses therefore serve all banks; the first digit stands for rows. A bank that is not
    enabled gives 0, and its address is arbitrary.
    """

    def __init__(self, design: ArrayDesign) -> None:
        self.enable = flag()  # a slot reads
        self.rows_on = bits(design.poy)  # rows of banks whose elements lie inside the map
        self.columns_on = bits(design.pox)  # columns of banks whose elements lie inside the map
        self.rows_next = bits(design.poy)  # rows of banks that hold the next block of rows
        self.columns_next = bits(design.pox)  # columns of banks that hold the next block of columns
        self.addr_00 = count(2 * design.map_words)  # block of rows, block of columns
        self.addr_01 = count(2 * design.map_words)  # block of rows, next block of columns
        self.addr_10 = count(2 * design.map_words)  # next block of rows
        self.addr_11 = count(2 * design.map_words)  # next block of both
        self.row_shift = count(design.poy - 1)  # row of banks for the first row of MACs
        self.column_shift = count(design.pox - 1)  # column of banks for the first column of MACs


class AxisRead:
    """The read of a slot along one axis, rows or columns."""

    def __init__(self, design: ArrayDesign, tile: int) -> None:
        self.here = count(2 * design.map_words)  # first word of the block, in its phase
        self.beyond = count(2 * design.map_words)  # first word of the next block
        self.on = bits(tile)  # banks whose elements lie inside the map
        self.following = bits(tile)  # banks that hold the next block
        self.shift = count(tile - 1)  # bank for the first MACs


class DeltaWrite:
    """Write of an atom of deltas into the memory of a lane."""

    def __init__(self, design: ArrayDesign) -> None:
        self.lanes = bits(design.pof)  # enable of each lane
        self.addr = count(2 * design.delta_words - 1)  # address in this lane
        self.data = bits(design.atom_bits)  # the atom
