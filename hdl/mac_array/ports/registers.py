"""Run-time registers of the supply side, bundle by bundle."""

from __future__ import annotations

from merp.hdl.base.registers import RegisterBundle
from merp.models.params.mac_array.design import Design
from merp.models.params.mac_array.input_registers import COLUMNS, KERNELS, LOAD, ROWS, WALK


class RowsConfig(RegisterBundle):
    """Of windows along rows, those of the table ``ROWS``."""

    def __init__(self, design: Design) -> None:
        super().__init__(ROWS, design)


class ColumnsConfig(RegisterBundle):
    """Of windows along columns, those of the table ``COLUMNS``."""

    def __init__(self, design: Design) -> None:
        super().__init__(COLUMNS, design)


class LoadConfig(RegisterBundle):
    """Of the order in which atoms come, those of the table ``LOAD``."""

    def __init__(self, design: Design) -> None:
        super().__init__(LOAD, design)


class KernelsConfig(RegisterBundle):
    """Of the order in which kernels come, those of the table ``KERNELS``."""

    def __init__(self, design: Design) -> None:
        super().__init__(KERNELS, design)


class WalkConfig(RegisterBundle):
    """Of the sequencer, those of the table ``WALK``."""

    def __init__(self, design: Design) -> None:
        super().__init__(WALK, design)
