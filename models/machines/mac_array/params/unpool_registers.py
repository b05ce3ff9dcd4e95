"""Run-time registers of a pass whose deltas come pooled, and are expanded."""

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
    switch("on_entry", "DP or KU takes pooled deltas, expanded", lambda run: run.on_entry),
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
        "rows", 1, lambda design: design.pool_window,
        "rows of sums for which they are read anew, one behind the other", lambda run: run.rows,
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
    _times("outer", "bands of rows in DP, tiles of lanes in KU, else 1", lambda walk: walk.outer),
    _times("middle", "maps of each, pooled rows in KU", lambda walk: walk.middle),
    _times("first", "of the first outer one: pooled rows, lanes in KU", lambda walk: walk.first),
    _times("further", "of those between", lambda walk: walk.further),
    _times("last", "of the last one", lambda walk: walk.last),
    _step("outer_first", "pooled atoms from the first outer one to the next",
          lambda walk: walk.outer_first),
    _step("outer_step", "from each further one to the next", lambda walk: walk.outer_step),
    _step("middle_step", "from a map to the next, a row in KU", lambda walk: walk.middle_step),
    _step("inner_step", "from a pooled row to the next, a lane in KU",
          lambda walk: walk.inner_step),
))  # fmt: skip
