"""Run-time registers of a pass that expands pooled deltas."""

from __future__ import annotations

from collections.abc import Callable

from merp.models.base.register_table import RegisterTable, RunRegister, switch
from merp.models.machines.mac_array.params.array_pass import SHIFTS
from merp.models.machines.mac_array.params.design import ArrayDesign, over
from merp.models.machines.mac_array.params.output_registers import ATOM_NUMBER_BITS
from merp.models.machines.mac_array.params.unpool_run import ArrayUnpoolRun, Walk

UnpoolRegister = RunRegister[ArrayDesign, ArrayUnpoolRun]


def _times(name: str, meaning: str, value: Callable[[Walk], int]) -> UnpoolRegister:
    return UnpoolRegister(
        name, 1, lambda design: max(design.max_size, design.max_maps), meaning,
        lambda run: value(run.walk),
    )  # fmt: skip


def _step(name: str, meaning: str, value: Callable[[Walk], int]) -> UnpoolRegister:
    return UnpoolRegister(
        name, 0, lambda design: design.index_words, meaning, lambda run: value(run.walk),
        holds=lambda design: 2 * design.index_words,
    )  # fmt: skip


UNPOOL: RegisterTable[ArrayDesign, ArrayUnpoolRun] = RegisterTable("unpool_config", (
    switch(
        "active", "the pass expands pooled deltas, and nothing else", lambda run: not run.on_entry
    ),
    switch("on_entry", "DP or KU expands pooled deltas on entry", lambda run: run.on_entry),
    UnpoolRegister(
        "pool", 0, lambda design: design.pool_window.bit_length() - 1,
        "binary logarithm of the pooling window", lambda run: run.work.pool.bit_length() - 1,
    ),
    UnpoolRegister(
        "most", 0, lambda design: design.pool_window - 1, "pooling window, minus 1",
        lambda run: run.work.pool - 1,
    ),
    UnpoolRegister(
        "blocks", 1, lambda design: over(design.max_size, design.pox), "atoms of a pooled row",
        lambda run: run.blocks,
    ),
    UnpoolRegister(
        "rows", 1, lambda design: design.pool_window,
        "reads of a pooled row: one per row of its sums on entry, otherwise 1",
        lambda run: run.rows,
    ),
    UnpoolRegister(
        "last_columns", 1, lambda design: design.pox, "columns of a pooled row's last atom",
        lambda run: run.last_columns,
    ),
    UnpoolRegister(
        "last_parts", 1, lambda design: design.pool_window,
        "atoms of a row of sums from a pooled row's last atom", lambda run: run.last_parts,
    ),
    UnpoolRegister(
        "index_base", 0, lambda design: min(design.index_words - 1, SHIFTS["index_base"][1]),
        "address of the first atom in the index memory", lambda run: run.work.index_base,
    ),
    UnpoolRegister(
        "atoms", 1, lambda design: (1 << ATOM_NUMBER_BITS) - 1, "pooled atoms",
        lambda run: run.atoms,
    ),
    _times("outer", "outer loop: bands of rows in DP, tiles of lanes in KU, else 1",
           lambda walk: walk.outer),
    _times("middle", "middle loop: maps, or pooled rows in KU", lambda walk: walk.middle),
    _times("first", "inner loop in the first outer step: pooled rows, or lanes in KU",
           lambda walk: walk.first),
    _times("further", "inner loop in the outer steps between", lambda walk: walk.further),
    _times("last", "inner loop in the last outer step", lambda walk: walk.last),
    _step("outer_first", "pooled atoms from the first outer step to the next",
          lambda walk: walk.outer_first),
    _step("outer_step", "pooled atoms from each further outer step to the next",
          lambda walk: walk.outer_step),
    _step("middle_step", "pooled atoms from a map to the next, or from a pooled row in KU",
          lambda walk: walk.middle_step),
    _step("inner_step", "pooled atoms from a pooled row to the next, or from a lane in KU",
          lambda walk: walk.inner_step),
))  # fmt: skip
