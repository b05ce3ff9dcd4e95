"""Tiles on their way out: which one is read, its pixels, and what is kept of them."""

from __future__ import annotations

from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.output_registers import ATOM_NUMBER_BITS, output_table


class ArrayOutputConfig(RegisterBundle):
    """Run-time registers of what lies behind the array, those of ``output_table``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(output_table(design), design)


class IndexWrite:
    """Write port of the index memory."""

    def __init__(self, design: ArrayDesign) -> None:
        self.enable = flag()  # an atom of pooled outputs leaves
        self.addr = count(design.index_words - 1)  # its number behind that of the layer's first one
        self.data = bits(design.pox * design.index_bits)  # places of its maxima, column 0 lowest


class Tile:
    """A tile of sums, and the group of tiles whose outputs leave as one column of atoms."""

    def __init__(self, design: ArrayDesign) -> None:
        self.rows = count(design.poy)  # of the tile that lie in the map
        self.columns = count(design.pox)  # of the tile that lie in the map
        self.lanes = count(design.pof)  # that have an output map
        self.maps = count(design.max_tiles - 1)  # tile of output maps
        self.part = count(design.parts - 1)  # of its group, whose tiles leave in common atoms
        self.empty = flag()  # none of its pixels lies in the map
        self.begins = flag()  # the first tile of its group
        self.ends = flag()  # the last tile of its group
        self.leaves = flag()  # there are outputs of the group
        self.out_rows = count(design.poy)  # of atoms that leave
        self.atoms = count(design.max_stride)  # of a row that leave
        self.number = bits(ATOM_NUMBER_BITS)  # of the group's first atom among the layer's outputs


class Pixel:
    """A pixel of all lanes that is read out of the second rank."""

    def __init__(self, design: ArrayDesign) -> None:
        self.valid = flag()  # there is one
        self.row = count(design.poy - 1)  # in its tile
        self.column = count(design.pox - 1)  # in its tile
        self.part = count(design.parts - 1)  # of the group, which the tile is
        self.half = flag()  # of the output buffer, for the group
        self.lanes = count(design.pof)  # that have an output map


class AtomGroup:
    """Atoms of all lanes that are ready to leave."""

    def __init__(self, design: ArrayDesign) -> None:
        self.valid = flag()  # pulse: a half of the output buffer is filled
        self.rows = count(design.poy)  # rows of each lane
        self.atoms = count(design.max_stride)  # of a row
        self.lanes = count(design.pof)  # that have an output map
        self.number = bits(ATOM_NUMBER_BITS)  # of the first atom among the layer's outputs


class Outputs:
    """Where outputs go: their atoms, and the places of the maxima in their windows."""

    def __init__(self, design: ArrayDesign) -> None:
        self.atoms = Stream(design.atom_bits)
        self.index = IndexWrite(design)
