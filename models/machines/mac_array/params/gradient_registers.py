"""Run-time registers of KU's supply side: one table of ranges, meanings and values per bundle."""

from __future__ import annotations

from collections.abc import Callable

from merp.models.base.register_table import RegisterTable, RunRegister, switch
from merp.models.machines.mac_array.params.design import ArrayDesign, over
from merp.models.machines.mac_array.params.gradient_run import GradientRun, RegionSide

GradientRegister = RunRegister[ArrayDesign, GradientRun]
GradientTable = RegisterTable[ArrayDesign, GradientRun]


def _axis(
    bundle: str,
    tile: Callable[[ArrayDesign], int],
    side: Callable[[GradientRun], RegionSide],
    block_words: Callable[[GradientRun], int],
) -> GradientTable:
    """Return the registers of the windows' movement over regions, along rows or columns."""

    def size(name: str, meaning: str, value: Callable[[GradientRun], int]) -> GradientRegister:
        return GradientRegister(
            name, 0, lambda design: max(design.max_size, 2 * tile(design)), meaning, value
        )

    def words(name: str, meaning: str, value: Callable[[GradientRun], int]) -> GradientRegister:
        return GradientRegister(
            name, 0, lambda design: design.map_words, meaning, value,
            holds=lambda design: 2 * design.map_words,
        )  # fmt: skip

    def step_blocks(run: GradientRun) -> int:
        return side(run).stride // side(run).side

    def tile_blocks(run: GradientRun) -> int:
        return side(run).taps // side(run).side

    return GradientTable(bundle, (
        GradientRegister(
            "mask", 0, lambda design: tile(design) - 1, "banks of a region, minus one",
            lambda run: side(run).side - 1,
        ),
        GradientRegister(
            "split", 0, lambda design: tile(design) - 1, "bank of the first window's first element",
            lambda run: -side(run).pad % side(run).side,
        ),
        switch("before", "that element is before the map", lambda run: side(run).pad > 0),
        size("size", "elements of a map", lambda run: side(run).size),
        words("block_words", "words from a block to the next", block_words),
        GradientRegister(
            "step_split", 0, lambda design: tile(design) - 1,
            "banks from a window to the next, without whole blocks",
            lambda run: side(run).stride % side(run).side,
        ),
        words(
            "step_words", "words of these whole blocks",
            lambda run: step_blocks(run) * block_words(run),
        ),
        size(
            "step_size", "elements of these whole blocks",
            lambda run: step_blocks(run) * side(run).side,
        ),
        GradientRegister(
            "tile_split", 0, lambda design: tile(design) - 1,
            "banks from a tile of taps to the next, without whole blocks",
            lambda run: side(run).taps % side(run).side,
        ),
        words(
            "tile_words", "words of those whole blocks",
            lambda run: tile_blocks(run) * block_words(run),
        ),
        size(
            "tile_size", "elements of those whole blocks",
            lambda run: tile_blocks(run) * side(run).side,
        ),
    ))  # fmt: skip


REGION_ROWS = _axis(
    "supply_config_region_rows", lambda design: design.poy, lambda run: run.vertical,
    lambda run: run.row_words,
)  # fmt: skip
REGION_COLUMNS = _axis(
    "supply_config_region_columns",
    lambda design: design.pox,
    lambda run: run.horizontal,
    lambda run: 1,
)


def _groups(design: ArrayDesign) -> int:
    return design.max_maps


REGION_LOAD = GradientTable("supply_config_region_load", (
    GradientRegister(
        "level", 0, lambda design: design.pox.bit_length() - 1,
        "binary logarithm of the columns of a region", lambda run: run.horizontal.level,
    ),
    GradientRegister(
        "parts", 1, lambda design: design.pox, "parts of an atom, each as wide as a region",
        lambda run: run.design.pox // run.horizontal.side,
    ),
    GradientRegister(
        "atoms", 1, lambda design: over(design.max_size, design.pox), "atoms of a row",
        lambda run: run.atom_blocks,
    ),
    GradientRegister(
        "across", 1, lambda design: design.pox, "regions side by side",
        lambda run: run.horizontal.regions,
    ),
    GradientRegister(
        "side", 1, lambda design: design.poy, "rows of a region", lambda run: run.vertical.side
    ),
    GradientRegister(
        "maps", 1, lambda design: design.pixels, "maps of a group",
        lambda run: run.regions if run.groups > 1 else run.last_maps,
    ),
    GradientRegister(
        "last_maps", 1, lambda design: design.pixels, "maps of the last group",
        lambda run: run.last_maps,
    ),
    GradientRegister(
        "rows", 1, lambda design: design.max_size, "rows of a map", lambda run: run.vertical.size
    ),
    GradientRegister("groups", 1, _groups, "groups of maps", lambda run: run.groups),
    GradientRegister(
        "row_words", 1, lambda design: design.map_words, "words from a block of rows to the next",
        lambda run: run.row_words, holds=lambda design: 2 * design.map_words,
    ),
))  # fmt: skip
"""Registers that define the order of incoming atoms of maps."""

DELTA_LOAD = GradientTable("supply_config_delta_load", (
    GradientRegister(
        "atoms", 1, lambda design: over(design.max_size, design.pox), "atoms of a row",
        lambda run: run.delta_blocks,
    ),
    GradientRegister(
        "window", 1, lambda design: design.pool_window, "consecutive rows of a lane",
        lambda run: run.delta_window,
    ),
    GradientRegister(
        "rows", 1, lambda design: design.max_size, "such groups of rows in a map",
        lambda run: run.vertical.out // run.delta_window,
    ),
    GradientRegister(
        "lanes", 1, lambda design: design.pof, "maps of a tile",
        lambda run: run.design.pof if run.lane_groups > 1 else run.last_lanes,
    ),
    GradientRegister(
        "last_lanes", 1, lambda design: design.pof, "maps of the last tile",
        lambda run: run.last_lanes,
    ),
    GradientRegister(
        "tiles", 1, lambda design: design.max_tiles, "tiles of lanes", lambda run: run.lane_groups
    ),
))  # fmt: skip
"""Registers that define the order of incoming atoms of deltas."""

SWEEP = GradientTable("supply_config_sweep", (
    GradientRegister(
        "columns", 1, lambda design: design.max_size, "columns of deltas",
        lambda run: run.horizontal.out,
    ),
    GradientRegister(
        "rows", 1, lambda design: design.max_size, "rows of deltas", lambda run: run.vertical.out
    ),
    GradientRegister(
        "atoms", 1, lambda design: over(design.max_size, design.pox), "atoms of a row of deltas",
        lambda run: run.delta_blocks,
    ),
    GradientRegister(
        "tap_tiles", 1, lambda design: design.max_kernel,
        "sweeps along a kernel's rows, and along its columns", lambda run: run.vertical.tiles,
    ),
    GradientRegister(
        "taps", 1, lambda design: max(design.pox, design.poy), "taps of a sweep along a row",
        lambda run: min(run.work.kernel, run.vertical.taps),
    ),
    GradientRegister(
        "last_taps", 1, lambda design: max(design.pox, design.poy), "taps of the last sweep",
        lambda run: run.work.kernel - (run.vertical.tiles - 1) * run.vertical.taps,
    ),
    GradientRegister("groups", 1, _groups, "groups of maps", lambda run: run.groups),
    GradientRegister(
        "group_words", 1, lambda design: design.map_words, "words from a group to the next",
        lambda run: run.group_words, holds=lambda design: 2 * design.map_words,
    ),
    GradientRegister(
        "maps", 1, lambda design: design.pixels, "maps of a group", lambda run: run.regions
    ),
    GradientRegister(
        "last_maps", 1, lambda design: design.pixels, "maps of the last group",
        lambda run: run.last_maps,
    ),
    GradientRegister(
        "lane_groups", 1, lambda design: design.max_tiles, "tiles of lanes",
        lambda run: run.lane_groups,
    ),
    GradientRegister(
        "last_lanes", 1, lambda design: design.pof, "lanes in use in the last tile",
        lambda run: run.last_lanes,
    ),
    GradientRegister(
        "map_rows", 1, lambda design: design.max_size, "rows of a map",
        lambda run: run.vertical.size,
    ),
    GradientRegister(
        "reach", 1, lambda design: design.max_size, "rows of a map that the first windows need",
        lambda run: min(run.work.rows, run.work.kernel - run.work.pad),
    ),
    GradientRegister(
        "stride", 1, lambda design: design.max_stride, "rows from a window to the next",
        lambda run: run.work.stride,
    ),
))  # fmt: skip
"""Registers of the sequencer of sweeps."""

GRADIENT_TABLES = (REGION_ROWS, REGION_COLUMNS, REGION_LOAD, DELTA_LOAD, SWEEP)


def gradient_registers(run: GradientRun) -> dict[str, int]:
    """Return the value of every register of KU's supply side, by the flattened name of its port."""
    return {name: value for table in GRADIENT_TABLES for name, value in table.values(run).items()}
