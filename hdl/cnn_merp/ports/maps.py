"""Write ports of the banks for map words, and reads of windows."""

from __future__ import annotations

from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import bits, count, flag
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import (
    FOLD_ROWS,
    GRADIENT_MAP,
    ROW_MAP,
    UPDATE_PORT,
)
from merp.models.machines.cnn_merp.params.registers import FOLD, MAP, PORT, LayerTable, with_sides


class MapConfig(RegisterBundle):
    """Run-time registers of the input side, from the table ``MAP``."""

    def __init__(self, design: EngineDesign, table: LayerTable = MAP) -> None:
        super().__init__(with_sides(table, design), design)


class FoldConfig(RegisterBundle):
    """Run-time registers of a design for fully connected layers, from the table ``FOLD``."""

    def __init__(self, design: EngineDesign, table: LayerTable = FOLD) -> None:
        super().__init__(table, design)


class FoldRowConfig(FoldConfig):
    """The same if images are the columns of a row, from the table ``FOLD_ROWS``."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(design, FOLD_ROWS)


class PortConfig(RegisterBundle):
    """Run-time registers of maps with several elements per beat, from ``PORT``."""

    def __init__(self, design: EngineDesign, table: LayerTable = PORT) -> None:
        super().__init__(table, design)


class UpdatePortConfig(PortConfig):
    """The same if deltas have several elements per beat, too, from the table ``UPDATE_PORT``."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(design, UPDATE_PORT)


class Floor:
    """The kept rows that the oldest open position still uses; rows are counted over all images.

    ``position_layout`` defines the fields and their widths.
    """

    def __init__(self, row_width: int, column_width: int) -> None:
        self.valid = flag()  # an open position exists
        self.row_limit = bits(row_width)  # its first row plus the d*k rows kept
        self.next_row_limit = bits(row_width)  # the same for the next row of positions
        self.column = bits(column_width)  # its first column
        self.open = flag()  # no position is left: no row is used any more


class BankWrite:
    """A map word to be written into the banks: row and column enables select one bank."""

    def __init__(self, design: EngineDesign) -> None:
        self.rows = bits(design.k)  # enable of each row of banks
        self.columns = bits(design.k)  # enable of each column of banks
        self.addr = count(design.d * design.row_words - 1)  # address in this bank
        self.data = bits(design.map_port * design.fmt.width)  # an element, or map_port of them


class WideBankWrite:
    """Elements to be written into the banks, one for each of the map_port memories of a bank.

    ``places`` and ``data`` have map_port parts; the part of the first memory is lowest.
    """

    def __init__(self, design: EngineDesign) -> None:
        self.places = bits(design.map_port * design.taps)  # enables: row of banks by row of banks
        self.addr = count(design.d * design.row_words - 1)  # address in all of them
        self.data = bits(design.map_port * design.fmt.width)  # an element for each


class BankRead:
    """Read of a window from all banks.

    Banks left of the rotation point hold the next block of columns (``columns_next``), banks above
    it the next block of rows (``rows_next``). Hence there are four addresses; the first digit
    stands for rows. A bank whose tap lies in the padding (``rows_on`` or ``columns_on`` low) gives
    +0.
    """

    def __init__(self, design: EngineDesign) -> None:
        reach = bank_reach(design)
        self.enable = flag()  # a window is read
        self.rows_on = bits(design.k)  # rows of banks whose taps lie inside the map
        self.columns_on = bits(design.k)  # columns of banks whose taps lie inside the map
        self.rows_next = bits(design.k)  # rows of banks above the rotation point
        self.columns_next = bits(design.k)  # columns of banks left of the rotation point
        self.addr_00 = count(reach)  # block of rows, block of columns
        self.addr_01 = count(reach)  # block of rows, next block of columns
        self.addr_10 = count(reach)  # next block of rows, block of columns
        self.addr_11 = count(reach)  # next block of both
        if design.map_port > 1:
            self.lane = count(design.map_port - 1)  # the input map, modulo map_port


def bank_reach(design: EngineDesign) -> int:
    """Return the largest read address: a bank in the padding exceeds the memory, unread."""
    return (design.d + 1) * design.row_words + 2 * design.max_maps


class GradientMapConfig(MapConfig):
    """Run-time registers of an input side whose slots accumulate over positions.

    Other slots accumulate over input maps. The input side selects its order and rule by this type.
    """

    def __init__(self, design: EngineDesign, table: LayerTable = GRADIENT_MAP) -> None:
        super().__init__(design, table)


class RowMapConfig(GradientMapConfig):
    """The same if a row of positions is swept for each kernel; rest follows each sweep."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(design, ROW_MAP)


def map_config(design: EngineDesign) -> GradientMapConfig:
    """Return the registers of the input side of a kernel update on ``design``."""
    return (RowMapConfig if design.ku_kind == "row" else GradientMapConfig)(design)


def fold_config(design: EngineDesign) -> FoldConfig:
    """Return the registers for folding of a kernel update on ``design``."""
    return (FoldRowConfig if design.ku_kind == "row" else FoldConfig)(design)
