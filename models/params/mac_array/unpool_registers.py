"""Run-time registers of a pass that expands pooled deltas."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.params.mac_array.array_pass import SHIFTS, ArrayPass
from merp.models.params.mac_array.design import Design, over
from merp.models.params.mac_array.output_registers import ATOM_NUMBER_BITS
from merp.models.params.register_table import RegisterTable, RunRegister, switch


@dataclass(frozen=True)
class UnpoolRun:
    """A pass of un-pooling on a design.

    Raises:
        ValueError: the design cannot run the pass; the message says why.
    """

    work: ArrayPass
    design: Design

    def __post_init__(self) -> None:
        """Check that the pass fits."""
        work, design = self.work, self.design
        if work.phase != "upsample":
            raise ValueError(f"phase must be upsample, not {work.phase}")
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
    def blocks(self) -> int:
        """Atoms of a pooled row."""
        return self.design.column_blocks(self.work.pooled_columns)

    @property
    def atoms(self) -> int:
        """Pooled atoms."""
        return self.work.output_atoms(self.design)

    @property
    def last_columns(self) -> int:
        """Columns of a row's last pooled atom."""
        return self.work.pooled_columns - (self.blocks - 1) * self.design.pox

    @property
    def last_parts(self) -> int:
        """Atoms of a row of sums that it becomes."""
        whole = self.design.column_blocks(self.work.out_columns)
        return min(self.work.pool, whole - (self.blocks - 1) * self.work.pool)


UnpoolRegister = RunRegister[Design, UnpoolRun]

UNPOOL: RegisterTable[Design, UnpoolRun] = RegisterTable("unpool_config", (
    switch("active", "the pass expands pooled deltas, and nothing else", lambda run: True),
    UnpoolRegister(
        "pool", 0, lambda design: design.pool_window.bit_length() - 1,
        "logarithm of the pooling window", lambda run: run.work.pool.bit_length() - 1,
    ),
    UnpoolRegister(
        "most", 0, lambda design: design.pool_window - 1, "pooling window less one",
        lambda run: run.work.pool - 1,
    ),
    UnpoolRegister(
        "blocks", 1, lambda design: over(design.max_size, design.pox), "atoms of a pooled row",
        lambda run: run.blocks,
    ),
    UnpoolRegister(
        "last_columns", 1, lambda design: design.pox, "columns of its last one",
        lambda run: run.last_columns,
    ),
    UnpoolRegister(
        "last_parts", 1, lambda design: design.pool_window,
        "atoms of a row of sums that its last one becomes", lambda run: run.last_parts,
    ),
    UnpoolRegister(
        "index_base", 0, lambda design: min(design.index_words - 1, SHIFTS["index_base"][1]),
        "word of the index memory of the first atom", lambda run: run.work.index_base,
    ),
    UnpoolRegister(
        "atoms", 1, lambda design: (1 << ATOM_NUMBER_BITS) - 1, "pooled atoms",
        lambda run: run.atoms,
    ),
))  # fmt: skip
