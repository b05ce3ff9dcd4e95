"""Atoms on their way into the banks, and the pixels of a slot out of them."""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag
from merp.models.machines.mac_array.params.design import ArrayDesign


class MapWrite:
    """Elements on their way into the banks of a row of them, all to the same address."""

    def __init__(self, design: ArrayDesign) -> None:
        self.rows = bits(design.poy)  # enable of each row of banks
        self.columns = bits(design.pox)  # enable of each column of banks
        self.addr = count(design.map_words - 1)  # in those banks
        self.data = bits(design.atom_bits)  # the element of each column, column 0 lowest


class MapRead:
    """The read of a slot: an element of every bank, and how they are turned to the MACs.

    A window begins anywhere: banks before the rotation point hold elements of the next block, so
    four addresses serve all banks, the first digit for rows. A bank that is not on gives 0, and
    its address may lie anywhere.
    """

    def __init__(self, design: ArrayDesign) -> None:
        self.enable = flag()  # a slot reads
        self.rows_on = bits(design.poy)  # rows of banks whose elements lie inside the map
        self.columns_on = bits(design.pox)  # columns of them
        self.rows_next = bits(design.poy)  # rows of banks that hold the next block of rows
        self.columns_next = bits(design.pox)  # columns of them
        self.addr_00 = count(2 * design.map_words)  # block of rows, block of columns
        self.addr_01 = count(2 * design.map_words)  # block of rows, next block of columns
        self.addr_10 = count(2 * design.map_words)  # next block of rows
        self.addr_11 = count(2 * design.map_words)  # next block of both
        self.row_shift = count(design.poy - 1)  # row of banks that the first row of MACs takes
        self.column_shift = count(design.pox - 1)  # column of banks of the first column


class AxisRead:
    """The share of rows or of columns in the read of a slot."""

    def __init__(self, design: ArrayDesign, tile: int) -> None:
        self.here = count(2 * design.map_words)  # first word of the block, of its phase
        self.beyond = count(2 * design.map_words)  # of the next block
        self.on = bits(tile)  # banks whose elements lie inside the map
        self.following = bits(tile)  # banks that hold the next block
        self.shift = count(tile - 1)  # bank that the first MACs take


class DeltaWrite:
    """An atom of deltas on its way into the memory of a lane."""

    def __init__(self, design: ArrayDesign) -> None:
        self.lanes = bits(design.pof)  # enable of each lane
        self.addr = count(2 * design.delta_words - 1)  # in that lane
        self.data = bits(design.atom_bits)  # the atom
