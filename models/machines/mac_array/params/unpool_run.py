"""Pooled deltas on a design: a pass that expands them alone, or DP and KU that take them so."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import ArrayDesign, over
from merp.models.machines.mac_array.params.pass_run import PassRun


@dataclass(frozen=True)
class Walk:
    """Three loops over the rows of pooled maps, the outermost first, in the order of the port.

    Attributes:
        outer, middle: how often. first, further, last: of the innermost one, in the first of the
            outer ones, in those between, in the last.
        outer_first, outer_step: pooled atoms from the first outer one to the second; from each
            further one to the next. middle_step, inner_step: likewise.
    """

    outer: int
    middle: int
    first: int
    further: int
    last: int
    outer_first: int
    outer_step: int
    middle_step: int
    inner_step: int


@dataclass(frozen=True)
class ArrayUnpoolRun:
    """Un-pooling of the deltas of a layer on a design.

    Raises:
        ValueError: the design cannot run the pass; the message says why.
    """

    work: ArrayPass
    design: ArrayDesign

    def __post_init__(self) -> None:
        """Check that the pass fits."""
        work, design = self.work, self.design
        if not work.expands:
            raise ValueError(f"phase must be upsample, or one of pooled deltas, not {work.phase}")
        if work.pool > design.pool_window or work.pool & (work.pool - 1):
            raise ValueError(
                f"pool must be a power of two up to {design.pool_window}, not {work.pool}"
            )
        words = work.index_base + self.atoms
        if words > design.index_words:
            raise ValueError(
                f"index words: the design has at most {design.index_words}, the layers {words}"
            )

    @property
    def on_entry(self) -> bool:
        """Whether DP or KU takes what becomes of them."""
        return self.work.phase != "upsample"

    @property
    def blocks(self) -> int:
        """Atoms of a pooled row."""
        return self.design.column_blocks(self.work.pooled_columns)

    @property
    def atoms(self) -> int:
        """Pooled atoms."""
        return self.work.output_atoms(self.design)

    @property
    def rows(self) -> int:
        """Rows of sums for which each pooled atom is read anew."""
        return self.work.pool if self.on_entry else 1

    @property
    def last_columns(self) -> int:
        """Columns of a row's last pooled atom."""
        return self.work.pooled_columns - (self.blocks - 1) * self.design.pox

    @property
    def last_parts(self) -> int:
        """Atoms of a row of sums that it becomes."""
        columns = self.work.delta_columns if self.on_entry else self.work.out_columns
        whole = self.design.column_blocks(columns)
        return min(self.work.pool, whole - (self.blocks - 1) * self.work.pool)

    @property
    def walk(self) -> Walk:
        """The order of pooled rows."""
        work, blocks = self.work, self.blocks
        maps, rows = work.outputs, work.pooled_rows
        step = rows * blocks  # from a map to the next
        if work.phase == "upsample":
            return Walk(1, maps, rows, rows, rows, 0, 0, step, blocks)
        if work.phase == "dp":
            bands = [each // work.pool for each in PassRun(work, self.design).load_rows]
            further = self.design.poy // work.pool
            steps = bands[0] * blocks, further * blocks, step, blocks
            return Walk(len(bands), maps, bands[0], further, bands[-1], *steps)
        pof = self.design.pof
        tiles = over(maps, pof)
        lanes = min(pof, maps), pof, maps - (tiles - 1) * pof
        return Walk(tiles, rows, *lanes, pof * step, pof * step, blocks, step)
