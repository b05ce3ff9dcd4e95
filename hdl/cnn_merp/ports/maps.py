"""Map words on their way into the banks, and windows out of them."""

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
    """Run-time registers of the input side, those of the table ``MAP``."""

    def __init__(self, design: EngineDesign, table: LayerTable = MAP) -> None:
        super().__init__(with_sides(table, design), design)


class FoldConfig(RegisterBundle):
    """Run-time registers of a design for fully connected layers, those of the table ``FOLD``."""

    def __init__(self, design: EngineDesign, table: LayerTable = FOLD) -> None:
        super().__init__(table, design)


class FoldRowConfig(FoldConfig):
    """The same where images stand for the columns of a row, those of the table ``FOLD_ROWS``."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(design, FOLD_ROWS)


class PortConfig(RegisterBundle):
    """Run-time registers of maps that come several elements to a beat, those of ``PORT``."""

    def __init__(self, design: EngineDesign, table: LayerTable = PORT) -> None:
        super().__init__(table, design)


class UpdatePortConfig(PortConfig):
    """The same where deltas do, too, those of the table ``UPDATE_PORT``."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(design, UPDATE_PORT)


class Floor:
    """What the oldest open position still needs of the kept rows; rows count over all images.

    Widths come from ``position_layout``, whose fields these are.
    """

    def __init__(self, row_width: int, column_width: int) -> None:
        self.valid = flag()  # there is such a position
        self.row_limit = bits(row_width)  # its first row and the d*k rows kept
        self.next_row_limit = bits(row_width)  # the same of the next row of positions
        self.column = bits(column_width)  # its first column
        self.open = flag()  # no position is left: nothing is needed any more


class BankWrite:
    """A map word on its way into the banks: row and column enables select one of them."""

    def __init__(self, design: EngineDesign) -> None:
        self.rows = bits(design.k)  # enable of each row of banks
        self.columns = bits(design.k)  # enable of each column of banks
        self.addr = count(design.d * design.row_words - 1)  # in that bank
        self.data = bits(design.map_port * design.fmt.width)  # an element, or map_port of them


class WideBankWrite:
    """Elements on their way into the banks, one for each of the map_port memories of a bank.

    ``places`` and ``data`` have map_port parts, the first memories' lowest.
    """

    def __init__(self, design: EngineDesign) -> None:
        self.places = bits(design.map_port * design.taps)  # enables: row of banks by row of banks
        self.addr = count(design.d * design.row_words - 1)  # in all of them
        self.data = bits(design.map_port * design.fmt.width)  # an element for each


class BankRead:
    """One window's read of all banks.

    Banks left of the rotation point hold the next block of columns (``columns_next``), banks above
    it the next block of rows (``rows_next``), hence four addresses, the first digit for rows. A
    bank whose tap lies in the padding (``rows_on`` or ``columns_on`` low) gives +0.
    """

    def __init__(self, design: EngineDesign) -> None:
        reach = bank_reach(design)
        self.enable = flag()  # a window is read
        self.rows_on = bits(design.k)  # rows of banks whose taps lie inside the map
        self.columns_on = bits(design.k)  # columns of them
        self.rows_next = bits(design.k)  # rows of banks above the rotation point
        self.columns_next = bits(design.k)  # columns of banks left of it
        self.addr_00 = count(reach)  # block of rows, block of columns
        self.addr_01 = count(reach)  # block of rows, next block of columns
        self.addr_10 = count(reach)  # next block of rows, block of columns
        self.addr_11 = count(reach)  # next block of both
        if design.map_port > 1:
            self.lane = count(design.map_port - 1)  # the input map, modulo map_port


def bank_reach(design: EngineDesign) -> int:
    """Largest read address: that of a bank in the padding runs past the memory, unread."""
    return (design.d + 1) * design.row_words + 2 * design.max_maps


class GradientMapConfig(MapConfig):
    """Registers of an input side whose slots accumulate over positions and not over input maps.

    The input side tells by this type which order and rule it follows.
    """

    def __init__(self, design: EngineDesign, table: LayerTable = GRADIENT_MAP) -> None:
        super().__init__(design, table)


class RowMapConfig(GradientMapConfig):
    """The same where a row of positions is swept for each kernel; rest comes after each sweep."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(design, ROW_MAP)


def map_config(design: EngineDesign) -> GradientMapConfig:
    """Registers of the input side of a kernel update on ``design``."""
    return (RowMapConfig if design.ku_kind == "row" else GradientMapConfig)(design)


def fold_config(design: EngineDesign) -> FoldConfig:
    """Registers of a kernel update on ``design`` that say how fully connected layers are folded."""
    return (FoldRowConfig if design.ku_kind == "row" else FoldConfig)(design)
