"""Run-time registers of the operand supply, bundle by bundle."""

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
    """Registers for windows along rows, from the table ``ROWS``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(ROWS, design)


class ColumnsConfig(RegisterBundle):
    """Registers for windows along columns, from the table ``COLUMNS``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(COLUMNS, design)


class ArrayLoadConfig(RegisterBundle):
    """Registers for the order of the input atoms, from the table ``LOAD``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(LOAD, design)


class KernelsConfig(RegisterBundle):
    """Registers for the order of the input kernels, from the table ``KERNELS``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(KERNELS, design)


class WalkConfig(RegisterBundle):
    """Registers of the sequencer, from the table ``WALK``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(WALK, design)


class RegionRowsConfig(RegisterBundle):
    """Registers for windows in regions along rows, from the table ``REGION_ROWS``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(REGION_ROWS, design)


class RegionColumnsConfig(RegisterBundle):
    """Registers for windows in regions along columns, from the table ``REGION_COLUMNS``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(REGION_COLUMNS, design)


class RegionLoadConfig(RegisterBundle):
    """Registers for the order of the input atoms in KU, from the table ``REGION_LOAD``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(REGION_LOAD, design)


class DeltaLoadConfig(RegisterBundle):
    """Registers for the order of the input deltas in KU, from the table ``DELTA_LOAD``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(DELTA_LOAD, design)


class SweepConfig(RegisterBundle):
    """Registers of the sequencer of sweeps, from the table ``SWEEP``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(SWEEP, design)


class SupplyConfig:
    """Run-time registers of the operand supply; each pass uses the registers of its phase."""

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
    """Registers of the map input in FP and DP."""

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
