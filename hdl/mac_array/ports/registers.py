"""Run-time registers of the supply side, bundle by bundle."""

from __future__ import annotations

from merp.hdl.base.registers import RegisterBundle
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.gradient_registers import (
    DELTA_LOAD,
    REGION_COLUMNS,
    REGION_LOAD,
    REGION_ROWS,
    SWEEP,
)
from merp.models.machines.mac_array.params.input_registers import COLUMNS, KERNELS, LOAD, ROWS, WALK


class RowsConfig(RegisterBundle):
    """Of windows along rows, those of the table ``ROWS``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(ROWS, design)


class ColumnsConfig(RegisterBundle):
    """Of windows along columns, those of the table ``COLUMNS``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(COLUMNS, design)


class ArrayLoadConfig(RegisterBundle):
    """Of the order in which atoms come, those of the table ``LOAD``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(LOAD, design)


class KernelsConfig(RegisterBundle):
    """Of the order in which kernels come, those of the table ``KERNELS``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(KERNELS, design)


class WalkConfig(RegisterBundle):
    """Of the sequencer, those of the table ``WALK``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(WALK, design)


class RegionRowsConfig(RegisterBundle):
    """Of windows in regions along rows, those of the table ``REGION_ROWS``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(REGION_ROWS, design)


class RegionColumnsConfig(RegisterBundle):
    """Of windows in regions along columns, those of the table ``REGION_COLUMNS``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(REGION_COLUMNS, design)


class RegionLoadConfig(RegisterBundle):
    """Of the order in which atoms come in KU, those of the table ``REGION_LOAD``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(REGION_LOAD, design)


class DeltaLoadConfig(RegisterBundle):
    """Of the order in which deltas come in KU, those of the table ``DELTA_LOAD``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(DELTA_LOAD, design)


class SweepConfig(RegisterBundle):
    """Of the sequencer of sweeps, those of the table ``SWEEP``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(SWEEP, design)


class SupplyConfig:
    """Run-time registers of the supply side; each pass uses those of its phase."""

    def __init__(self, design: ArrayDesign) -> None:
        self.rows = RowsConfig(design)
        self.columns = ColumnsConfig(design)
        self.load = ArrayLoadConfig(design)
        self.kernels = KernelsConfig(design)
        self.walk = WalkConfig(design)
        self.region_rows = RegionRowsConfig(design)
        self.region_columns = RegionColumnsConfig(design)
        self.region_load = RegionLoadConfig(design)
        self.delta_load = DeltaLoadConfig(design)
        self.sweep = SweepConfig(design)


class LayerIntakeConfig:
    """Registers of the intake of maps in FP and DP."""

    def __init__(self, load: ArrayLoadConfig, rows: RowsConfig, columns: ColumnsConfig) -> None:
        self.load = load
        self.rows = rows
        self.columns = columns


class LayerWalkConfig:
    """Registers of the sequencer of FP and DP, and of its windows."""

    def __init__(self, walk: WalkConfig, rows: RowsConfig, columns: ColumnsConfig) -> None:
        self.walk = walk
        self.rows = rows
        self.columns = columns


class SweepWalkConfig:
    """Registers of the sequencer of KU, and of its windows."""

    def __init__(
        self, sweep: SweepConfig, rows: RegionRowsConfig, columns: RegionColumnsConfig
    ) -> None:
        self.sweep = sweep
        self.rows = rows
        self.columns = columns
