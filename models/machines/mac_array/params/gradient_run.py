"""A pass of KU on the supply side: each region of the array processes its own input map.

source: the RTL compiler's paper, section III.F
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import ArrayDesign, over
from merp.models.machines.mac_array.params.fitting import check_fit


@dataclass(frozen=True)
class RegionSide:
    """The sizes of the regions along rows or along columns.

    Attributes:
        size: size of an input map.
        out: size of a map of deltas.
        side: number of banks that hold a map.
        taps: most taps of a kernel that one sweep sums.
        tiles: sweeps that sum all taps.
        regions: number of regions side by side.
        stride, pad: of the window.
    """

    size: int
    out: int
    side: int
    taps: int
    tiles: int
    regions: int
    stride: int
    pad: int

    @property
    def blocks(self) -> int:
        """Blocks of ``side`` elements in a map."""
        return over(self.size, self.side)

    @property
    def level(self) -> int:
        """Binary logarithm of ``side``."""
        return self.side.bit_length() - 1


@dataclass(frozen=True)
class GradientRun:
    """A pass of KU on a design.

    Raises:
        ValueError: the design cannot run the pass; the message says why.
    """

    work: ArrayPass
    design: ArrayDesign

    def __post_init__(self) -> None:
        """Check that the pass fits."""
        if self.work.phase != "ku":
            raise ValueError(f"phase must be ku, not {self.work.phase}")
        check_fit(self.work, self.design)
        words = self.work.delta_words(self.design)
        if words > self.design.delta_words:
            raise ValueError(
                f"delta words: the design has at most {self.design.delta_words}, the layer {words}"
            )

    @property
    def vertical(self) -> RegionSide:
        """The regions along rows."""
        return self._side(0)

    @property
    def horizontal(self) -> RegionSide:
        """The regions along columns."""
        return self._side(1)

    def _side(self, axis: int) -> RegionSide:
        work, design = self.work, self.design
        taps = design.region_side(work.kernel)
        return RegionSide(
            size=(work.rows, work.columns)[axis],
            out=(work.delta_rows, work.delta_columns)[axis],
            side=design.bank_side(work.kernel)[axis],
            taps=taps,
            tiles=over(work.kernel, taps),
            regions=design.region_grid(work.kernel)[axis],
            stride=work.stride,
            pad=work.pad,
        )

    @property
    def regions(self) -> int:
        """G, the number of concurrent input maps. They are a group."""
        return self.design.regions(self.work.kernel)

    @property
    def groups(self) -> int:
        """Number of groups of input maps."""
        return over(self.work.inputs, self.regions)

    @property
    def last_maps(self) -> int:
        """Maps of the last group."""
        return self.work.inputs - (self.groups - 1) * self.regions

    @property
    def lane_groups(self) -> int:
        """Tiles of lanes that cover the output maps."""
        return over(self.work.outputs, self.design.pof)

    @property
    def last_lanes(self) -> int:
        """Lanes in use in the last tile."""
        return self.work.outputs - (self.lane_groups - 1) * self.design.pof

    @property
    def row_words(self) -> int:
        """Distance of the addresses of consecutive blocks of rows in a bank, in words."""
        return self.horizontal.blocks

    @property
    def group_words(self) -> int:
        """Distance of the addresses of consecutive groups of maps in a bank, in words."""
        return self.vertical.blocks * self.row_words

    @property
    def atom_blocks(self) -> int:
        """Atoms of a row of an input map."""
        return self.design.column_blocks(self.work.columns)

    @property
    def delta_blocks(self) -> int:
        """Atoms of a row of deltas."""
        return self.design.column_blocks(self.work.delta_columns)

    @property
    def delta_window(self) -> int:
        """Consecutive rows of deltas of one lane, before the rows of the next lane."""
        return self.work.pool if self.work.expands else 1
