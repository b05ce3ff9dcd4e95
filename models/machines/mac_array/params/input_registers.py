"""Run-time registers of the supply side: one table of ranges, meanings and values per bundle."""

from __future__ import annotations

from collections.abc import Callable

from merp.models.base.register_table import RegisterTable, RunRegister, switch
from merp.models.machines.mac_array.params.design import ArrayDesign, over
from merp.models.machines.mac_array.params.pass_run import PassRun, PassSide

PassRegister = RunRegister[ArrayDesign, PassRun]
PassTable = RegisterTable[ArrayDesign, PassRun]

STRIDE = PassRegister(
    "stride", 1, lambda design: design.max_stride, "elements from a window to the next",
    lambda run: run.vertical.stride,
)  # fmt: skip
MAPS = PassRegister(
    "maps", 1, lambda design: design.max_maps, "incoming maps", lambda run: run.maps
)
GROUPS = PassRegister(
    "groups", 1, lambda design: design.max_tiles, "tiles of lanes that cover the outgoing maps",
    lambda run: run.groups,
)  # fmt: skip


def _axis(
    bundle: str,
    tile: Callable[[ArrayDesign], int],
    side: Callable[[PassRun], PassSide],
    blocks: Callable[[PassRun], int],
    step: Callable[[PassRun], int],
    phase_step: Callable[[PassRun], int],
) -> PassTable:
    """Return the registers of the window's movement along rows or columns.

    Addresses are words of a bank.
    """

    def words(name: str, meaning: str, value: Callable[[PassRun], int]) -> PassRegister:
        return PassRegister(
            name, 0, lambda design: design.map_words, meaning, value,
            holds=lambda design: 2 * design.map_words,
        )  # fmt: skip

    return PassTable(bundle, (
        STRIDE,
        PassRegister(
            "level", 0, lambda design: tile(design).bit_length() - 1,
            "binary logarithm of the number of banks that hold a map",
            lambda run: side(run).tile.bit_length() - 1,
        ),
        PassRegister(
            "split", 0, lambda design: tile(design) - 1, "bank of the first window's first element",
            lambda run: side(run).split,
        ),
        PassRegister(
            "phase", 0, lambda design: design.max_stride - 1,
            "position of that element modulo the stride", lambda run: side(run).phase,
        ),
        switch("before", "that element is before the map", lambda run: side(run).pad > 0),
        words("step", "words from a block to the next", step),
        words(
            "last", "words from the first to the last block in the memory",
            lambda run: (blocks(run) - 1) * step(run),
        ),
        words("phase_step", "words from a phase to the next", phase_step),
        words(
            "phase_base", "words of the phases before that of the first element",
            lambda run: side(run).phase * phase_step(run),
        ),
        PassRegister(
            "whole", 0, lambda design: design.max_size, "size of a map divided by the stride",
            lambda run: side(run).size // side(run).stride,
        ),
        PassRegister(
            "part", 0, lambda design: design.max_stride - 1, "size of a map modulo the stride",
            lambda run: side(run).size % side(run).stride,
        ),
    ))  # fmt: skip


ROWS = _axis(
    "supply_config_rows", lambda design: design.poy, lambda run: run.vertical, lambda run: run.ring,
    lambda run: run.row_words, lambda run: run.vertical.stride * run.phase_words,
)  # fmt: skip
"""Registers of windows along rows. The memory of blocks of rows is a ring."""

COLUMNS = _axis(
    "supply_config_columns", lambda design: design.pox, lambda run: run.horizontal,
    lambda run: run.horizontal.blocks, lambda run: run.block_words, lambda run: run.phase_words,
)  # fmt: skip
"""Registers of windows along columns. The memory holds all blocks of a row."""

LOAD = PassTable("supply_config_load", (
    MAPS,
    PassRegister(
        "atoms", 1, lambda design: over(design.max_size, design.pox), "atoms of a row",
        lambda run: run.atom_blocks,
    ),
    PassRegister(
        "bands", 1, lambda design: over(design.max_size, design.poy), "bands of rows",
        lambda run: len(run.load_rows),
    ),
    PassRegister(
        "first_rows", 1, lambda design: design.max_size, "rows of the first band",
        lambda run: run.load_rows[0],
    ),
    PassRegister(
        "further_rows", 1, lambda design: design.poy * design.max_stride,
        "rows of each band between the first and the last",
        lambda run: run.vertical.stride * run.vertical.tile,
    ),
    PassRegister(
        "last_rows", 1, lambda design: design.max_size, "rows of the last band",
        lambda run: run.load_rows[-1],
    ),
))  # fmt: skip
"""Registers that define the order of incoming atoms."""


def _kernel_words(name: str, meaning: str, value: Callable[[PassRun], int]) -> PassRegister:
    return PassRegister(
        name, 0, lambda design: design.kernel_words, meaning, value,
        holds=lambda design: 2 * design.kernel_words,
    )  # fmt: skip


def _tile_words(run: PassRun) -> int:
    """Return the beats of a tile of output maps."""
    return run.work.inputs * run.work.taps


def _group_words(run: PassRun) -> int:
    """Return the beats of a tile of lanes: of input maps in DP, of output maps in FP."""
    if not run.transposed:
        return _tile_words(run)
    return min(run.design.pof, run.work.inputs) * run.work.taps


GROUP_STEP = _kernel_words(
    "group_step", "words of a kernel buffer from a tile of lanes to the next", _group_words
)

KERNELS = PassTable("supply_config_kernels", (
    GROUPS,
    GROUP_STEP,
    switch("transposed", "kernels are read by columns, without biases", lambda run: run.transposed),
    PassRegister(
        "parts", 1, lambda design: design.max_tiles, "runs of beats of a tile of lanes",
        lambda run: over(run.work.outputs, run.design.pof) if run.transposed else 1,
    ),
    _kernel_words("part_step", "words from a run to the next", _tile_words),
    _kernel_words("run", "beats of a run", _group_words),
    _kernel_words(
        "last_run", "beats of a run of the last tile of lanes",
        lambda run: _tile_words(run) - (run.groups - 1) * _group_words(run)
        if run.transposed
        else _tile_words(run),
    ),
))  # fmt: skip
"""Registers that define the order of incoming kernels."""

WALK = PassTable("supply_config_walk", (
    switch("update", "the pass is a kernel update; it ignores the other registers of this bundle",
           lambda _: False),
    MAPS,
    GROUPS,
    GROUP_STEP,
    switch("transposed", "kernels are read by columns", lambda run: run.transposed),
    switch(
        "kernel_first", "no slot is issued before all kernels are loaded",
        lambda run: run.design.kernel_first,
    ),
    PassRegister(
        "bands", 1, lambda design: over(design.max_size, design.poy), "bands of outgoing rows",
        lambda run: run.vertical.tiles,
    ),
    PassRegister(
        "tiles", 1, lambda design: over(design.max_size, design.pox),
        "tiles of outgoing columns", lambda run: run.horizontal.tiles,
    ),
    PassRegister(
        "kernel", 1, lambda design: design.max_kernel, "K, rows and columns of a kernel",
        lambda run: run.work.kernel,
    ),
    PassRegister(
        "taps", 1, lambda design: design.max_kernel**2, "K * K", lambda run: run.work.taps
    ),
    PassRegister(
        "phases", 1, lambda design: design.max_stride,
        "phases of outgoing rows, and of columns: the stride in DP", lambda run: run.phases,
    ),
    PassRegister(
        "first", 0, lambda design: design.max_kernel - 1,
        "row and column of the first tap of the first phase", lambda run: run.first_tap,
    ),
    PassRegister(
        "first_line", 0, lambda design: (design.max_kernel - 1) * design.max_kernel,
        "number of the first kernel element in that row",
        lambda run: run.first_tap * run.work.kernel,
    ),
    PassRegister(
        "line_step", 1, lambda design: design.max_stride * design.max_kernel,
        "kernel elements from a row of taps to the next row of its phase",
        lambda run: run.phases * run.work.kernel,
    ),
    _kernel_words(
        "map_step", "words to the next input map in FP, to the next tile of output maps in DP",
        lambda run: _tile_words(run) if run.transposed else run.work.taps,
    ),
    PassRegister(
        "last_rows", 0, lambda design: design.poy, "rows of each phase in the last band",
        lambda run: run.vertical.last,
    ),
    PassRegister(
        "more_rows", 0, lambda design: design.max_stride - 1, "phases with one more row",
        lambda run: run.vertical.more,
    ),
    PassRegister(
        "last_columns", 0, lambda design: design.pox,
        "columns of each phase in the last tile", lambda run: run.horizontal.last,
    ),
    PassRegister(
        "more_columns", 0, lambda design: design.max_stride - 1, "phases with one more column",
        lambda run: run.horizontal.more,
    ),
    PassRegister(
        "last_lanes", 1, lambda design: design.pof, "lanes in use in the last tile",
        lambda run: run.last_lanes,
    ),
))  # fmt: skip
"""Registers of the sequencer."""

TABLES = (ROWS, COLUMNS, LOAD, KERNELS, WALK)


def input_registers(run: PassRun) -> dict[str, int]:
    """Return the value of every register of the supply side, by the flattened name of its port."""
    return {name: value for table in TABLES for name, value in table.values(run).items()}
