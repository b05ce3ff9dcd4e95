"""Signals of the output path: the current tile, its pixels, and the stored places of maxima."""

from __future__ import annotations

from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.output_registers import ATOM_NUMBER_BITS, output_table


class ArrayOutputConfig(RegisterBundle):
    """Run-time registers of the output path, from ``output_table``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(output_table(design), design)


class IndexWrite:
    """Write port of the index memory."""

    def __init__(self, design: ArrayDesign) -> None:
        self.enable = flag()  # an atom of pooled outputs is sent
        self.addr = count(design.index_words - 1)  # its number behind the layer's first atom
        self.data = bits(design.pox * design.index_bits)  # places of its maxima, column 0 lowest


class Tile:
    """A tile of sums, and the group of tiles whose outputs form one column of atoms."""

    def __init__(self, design: ArrayDesign) -> None:
        self.rows = count(design.poy)  # rows of the tile inside the map
        self.columns = count(design.pox)  # columns of the tile inside the map
        self.lanes = count(design.pof)  # lanes with an output map
        self.maps = count(design.max_tiles - 1)  # number of the tile of output maps
        self.part = count(design.parts - 1)  # number of the tile in its group, which shares atoms
        self.empty = flag()  # no pixel of the tile lies inside the map
        self.begins = flag()  # the first tile of its group
        self.ends = flag()  # the last tile of its group
        self.leaves = flag()  # the group has outputs
        self.out_rows = count(design.poy)  # rows of atoms that are sent
        self.atoms = count(design.max_stride)  # atoms of a row that are sent
        self.number = bits(ATOM_NUMBER_BITS)  # number of the first atom of the group in the layer


class Pixel:
    """A pixel of all lanes that is read from the second rank."""

    def __init__(self, design: ArrayDesign) -> None:
        self.valid = flag()  # a pixel is read
        self.row = count(design.poy - 1)  # row in its tile
        self.column = count(design.pox - 1)  # column in its tile
        self.part = count(design.parts - 1)  # number of the tile in its group
        self.half = flag()  # half of the output buffer, for the group
        self.lanes = count(design.pof)  # lanes with an output map


class AtomGroup:
    """Atoms of all lanes that are ready to be sent."""

    def __init__(self, design: ArrayDesign) -> None:
        self.valid = flag()  # pulse: a half of the output buffer is filled
        self.rows = count(design.poy)  # rows of each lane
        self.atoms = count(design.max_stride)  # atoms of a row
        self.lanes = count(design.pof)  # lanes with an output map
        self.number = bits(ATOM_NUMBER_BITS)  # number of the first atom in the layer


class Outputs:
    """Destinations of the outputs: their atoms, and the places of the maxima in their windows."""

    def __init__(self, design: ArrayDesign) -> None:
        self.atoms = Stream(design.atom_bits)
        self.index = IndexWrite(design)
