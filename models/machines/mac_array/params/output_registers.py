"""Run-time registers of the output side in FP and DP: sizes, and steps between atoms.

Atoms are numbered by map, row and column block, in the order of the outgoing maps in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from merp.models.base.register_table import RegisterTable, RunRegister, switch
from merp.models.machines.mac_array.params.array_pass import NO_LIMIT, SHIFTS
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.pass_run import PassRun

ATOM_NUMBER_BITS: Final = 20
_MOST_ATOMS: Final = (1 << ATOM_NUMBER_BITS) - 1


def _row_atoms(run: PassRun) -> int:
    """Return the atoms of an outgoing row."""
    return run.design.column_blocks(run.horizontal.out // run.out_pool)


def _map_atoms(run: PassRun) -> int:
    """Return the atoms of an outgoing map."""
    return run.vertical.out // run.out_pool * _row_atoms(run)


def _band_atoms(run: PassRun) -> int:
    """Return the atoms from the last phase of a band of rows to the next band."""
    rows = run.phases * run.design.poy // run.out_pool
    return (rows - run.phases + 1) * _row_atoms(run)


def _step(
    name: str, meaning: str, value: Callable[[PassRun], int]
) -> RunRegister[ArrayDesign, PassRun]:
    return RunRegister(name, 0, lambda design: _MOST_ATOMS, meaning, value)


LOSS: Final[tuple[RunRegister[ArrayDesign, PassRun], ...]] = (
    switch("loss", "deltas of the loss follow the outputs", lambda run: run.work.loss is not None),
    switch("hinge", "the loss is squared hinge, otherwise half the squared distance",
           lambda run: run.work.loss == "hinge"),
    RunRegister(
        "one_shift", 0, lambda design: SHIFTS["one_shift"][1], "an output of 1 is 2^one_shift",
        lambda run: run.work.one_shift,
    ),
    RunRegister(
        "loss_shift", 0, lambda design: SHIFTS["loss_shift"][1] - SHIFTS["loss_shift"][0],
        "n + 15; deltas of the loss are rounded to multiples of 2^n",
        lambda run: run.work.loss_shift - SHIFTS["loss_shift"][0],
    ),
)  # fmt: skip
"""Additional registers of a design that calculates the deltas of a loss."""

RELU6: Final[RunRegister[ArrayDesign, PassRun]] = RunRegister(
    "limit", 1, lambda design: NO_LIMIT, f"word at which ReLU stops; {NO_LIMIT}: nowhere",
    lambda run: run.work.limit,
)  # fmt: skip
"""Additional register of a design for ReLU6."""


@cache
def output_table(design: ArrayDesign) -> RegisterTable[ArrayDesign, PassRun]:
    """Return the registers of ``design``, in the order of their signals."""
    return RegisterTable(
        "output_config",
        (
            RunRegister(
                "rows", 0, lambda design: design.max_size, "rows of sums of each phase",
                lambda run: run.vertical.whole,
            ),
            RunRegister(
                "more_rows", 0, lambda design: design.max_stride - 1, "phases with one more row",
                lambda run: run.vertical.more,
            ),
            RunRegister(
                "columns", 0, lambda design: design.max_size, "columns of sums of each phase",
                lambda run: run.horizontal.whole,
            ),
            RunRegister(
                "more_columns", 0, lambda design: design.max_stride - 1,
                "phases with one more column", lambda run: run.horizontal.more,
            ),
            RunRegister(
                "phase_shift", 0, lambda design: design.max_stride.bit_length() - 1,
                "binary logarithm of the number of phases: of the stride in DP",
                lambda run: run.phases.bit_length() - 1,
            ),
            RunRegister(
                "last_phase", 0, lambda design: design.max_stride - 1, "number of phases, minus 1",
                lambda run: run.phases - 1,
            ),
            RunRegister(
                "last_atoms", 1, lambda design: design.max_stride,
                "atoms of a row in the last group of tiles",
                lambda run: _row_atoms(run) - (run.horizontal.tiles - 1) * run.phases
                if run.transposed else 1,
            ),
            RunRegister(
                "maps", 1, lambda design: design.max_maps, "outgoing maps",
                lambda run: run.out_maps,
            ),
            RunRegister(
                "pool", 0, lambda design: design.pool_window.bit_length() - 1,
                "binary logarithm of the pooling window at the output",
                lambda run: run.out_pool.bit_length() - 1,
            ),
            RunRegister(
                "inside", 0, lambda design: design.pool_window - 1,
                "pooling window at the output, minus 1", lambda run: run.out_pool - 1,
            ),
            RunRegister(
                "shift", 0, lambda design: SHIFTS["shift"][1] - SHIFTS["shift"][0],
                "n + 15; sums are rounded to multiples of 2^n",
                lambda run: run.work.shift - SHIFTS["shift"][0],
            ),
            RunRegister(
                "bias_shift", 0, lambda design: SHIFTS["bias_shift"][1],
                "bits by which biases are shifted left", lambda run: max(0, run.work.bias_shift),
            ),
            switch("biased", "biases are added", lambda run: run.work.phase == "fp"),
            switch(
                "relu", "negative words become zero",
                lambda run: run.work.phase == "fp" and run.work.relu,
            ),
            switch(
                "kept", "masks of the outputs are written",
                lambda run: run.work.phase == "fp" and run.work.relu,
            ),
            switch("indexed", "positions of maxima are written", lambda run: run.out_pool > 1),
            switch(
                "masked", "masks are applied to the outputs",
                lambda run: run.work.phase == "dp" and run.work.relu,
            ),
            _step("map_step", "atoms from a map to the next", _map_atoms),
            _step(
                "tile_step", "atoms from a tile of maps to the next",
                lambda run: run.design.pof * _map_atoms(run),
            ),
            _step(
                "band_step", "atoms from the last phase of a band of rows to the next band",
                _band_atoms,
            ),
            _step("row_step", "atoms from a row to the next of its phase",
                  lambda run: run.phases * _row_atoms(run)),
            _step("phase_step", "atoms from a phase of rows to the next", _row_atoms),
            RunRegister(
                "mask_base", 0, lambda design: design.mask_words - 1,
                "address of the first atom in the mask memory",
                lambda run: run.work.mask_base if run.mask_atoms else 0,
            ),
            RunRegister(
                "index_base", 0, lambda design: design.index_words - 1,
                "address of the first atom in the index memory",
                lambda run: run.work.index_base if run.index_atoms else 0,
            ),
            RunRegister(
                "atoms", 1, lambda design: _MOST_ATOMS, "outgoing atoms",
                lambda run: run.out_atoms,
            ),
            *(LOSS if design.loss else ()),
            *((RELU6,) if design.relu6 else ()),
        ),
    )  # fmt: skip
