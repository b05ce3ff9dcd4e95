"""Expansion of pooled deltas on a design: in a separate pass, or on entry to DP and KU."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import ArrayDesign, over
from merp.models.machines.mac_array.params.pass_run import PassRun


@dataclass(frozen=True)
class Walk:
    """Three nested loops over the rows of pooled maps, in the order of the port.

    Attributes:
        outer, middle: iterations of the outer and the middle loop.
        first, further, last: iterations of the inner loop in the first outer iteration, in the
            iterations between, and in the last one.
        outer_first: pooled atoms from the first outer iteration to the second.
        outer_step: pooled atoms from each further outer iteration to the next.
        middle_step, inner_step: pooled atoms from an iteration of the loop to the next.
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
            raise ValueError(f"phase must be upsample, or have pooled deltas, not {work.phase}")
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
        """Whether DP or KU processes the expanded deltas."""
        return self.work.phase != "upsample"

    @property
    def blocks(self) -> int:
        """Atoms of a pooled row."""
        return self.design.column_blocks(self.work.pooled_columns)

    @property
    def atoms(self) -> int:
        """Number of pooled atoms."""
        return self.work.output_atoms(self.design)

    @property
    def rows(self) -> int:
        """Reads of each pooled atom: one per row of its sums on entry, otherwise 1."""
        return self.work.pool if self.on_entry else 1

    @property
    def last_columns(self) -> int:
        """Columns of a row's last pooled atom."""
        return self.work.pooled_columns - (self.blocks - 1) * self.design.pox

    @property
    def last_parts(self) -> int:
        """Atoms of a row of sums that a row's last pooled atom expands to."""
        columns = self.work.delta_columns if self.on_entry else self.work.out_columns
        whole = self.design.column_blocks(columns)
        return min(self.work.pool, whole - (self.blocks - 1) * self.work.pool)

    @property
    def walk(self) -> Walk:
        """The loops over pooled rows."""
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
