"""Run-time registers of the walk: sizes, padding and dilation in derived values.

Software computes these values. Therefore the hardware needs no multiplication or comparison with k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from merp.models.base.register_table import COUNT_MAX, RegisterTable, RunRegister
from merp.models.machines.fcnn.params.grid import Grid
from merp.models.machines.fcnn.params.stream_design import StreamDesign


class OnGrid(Protocol):
    """A run of a module over a grid."""

    @property
    def grid(self) -> Grid:
        """The walk of the run."""


RunT = TypeVar("RunT", bound=OnGrid)


def _all_taps(design: StreamDesign) -> int:
    return (1 << design.k) - 1


def _most_lead(design: StreamDesign) -> int:
    return min(COUNT_MAX, (design.k - 1) * (design.max_columns + 1) * design.max_step)


def _inside(before: int, size: int, k: int) -> int:
    """Return one bit for each tap of the first window along an axis: it is 1 inside the map."""
    return sum(1 << tap for tap in range(k) if before <= tap < before + size)


def _beyond(before: int, size: int, k: int) -> int:
    """Return the elements of the map beyond the first window, along an axis."""
    return max(0, before + size - k)


def grid_registers(kind: type[RunT]) -> tuple[RunRegister[StreamDesign, RunT], ...]:
    """Return the registers of the walk, for the table of a module whose runs are ``kind``."""

    def register(
        name: str,
        least: int,
        most: Callable[[StreamDesign], int],
        meaning: str,
        value: Callable[[RunT], int],
    ) -> RunRegister[StreamDesign, RunT]:
        return RunRegister(name, least, most, meaning, value)

    return (
        register(
            "inputs", 1, lambda design: design.max_maps, "input maps", lambda run: run.grid.shape.n
        ),
        register(
            "blocks", 1, lambda design: design.max_maps, "blocks of output maps",
            lambda run: run.grid.blocks,
        ),
        register(
            "step", 1, lambda design: design.max_step, "beats of a column",
            lambda run: run.grid.step,
        ),
        register(
            "grid_rows", 1, lambda design: design.max_rows,
            "rows of a map or of its output, whichever has more", lambda run: run.grid.rows,
        ),
        register(
            "grid_columns", 1, lambda design: design.max_columns, "the same of columns",
            lambda run: run.grid.columns,
        ),
        register(
            "rows", 1, lambda design: design.max_rows, "rows of a map on its port",
            lambda run: run.grid.sent_rows,
        ),
        register(
            "columns", 1, lambda design: design.max_columns, "columns of a map on its port",
            lambda run: run.grid.sent_columns,
        ),
        register(
            "dilation", 1, lambda design: design.max_stride,
            "rows and columns from an element of a map to the next one",
            lambda run: run.grid.dilation,
        ),
        register(
            "out_rows", 1, lambda design: design.max_rows, "rows of an output map",
            lambda run: run.grid.shape.out_rows,
        ),
        register(
            "out_columns", 1, lambda design: design.max_columns, "columns of an output map",
            lambda run: run.grid.shape.out_columns,
        ),
        register(
            "stride", 1, lambda design: design.max_stride,
            "rows and columns from a window to the next one", lambda run: run.grid.shape.stride,
        ),
        register(
            "lead", 0, _most_lead, "beats before the one that completes the first window",
            lambda run: run.grid.lead,
        ),
        register(
            "first_rows", 0, _all_taps,
            "a bit for each row of the first window: it is inside the map",
            lambda run: _inside(run.grid.shape.top, run.grid.shape.rows, run.grid.design.k),
        ),
        register(
            "rows_beyond", 0, lambda design: design.max_rows,
            "rows of the map below the first window",
            lambda run: _beyond(run.grid.shape.top, run.grid.shape.rows, run.grid.design.k),
        ),
        register(
            "first_columns", 0, _all_taps,
            "a bit per column of a row's first window, as for rows",
            lambda run: _inside(run.grid.shape.left, run.grid.shape.columns, run.grid.design.k),
        ),
        register(
            "columns_beyond", 0, lambda design: design.max_columns,
            "columns of the map beyond the first window",
            lambda run: _beyond(run.grid.shape.left, run.grid.shape.columns, run.grid.design.k),
        ),
    )  # fmt: skip


class _Walk:
    """A run of the walk alone."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid


GRID: RegisterTable[StreamDesign, _Walk] = RegisterTable("config", grid_registers(_Walk))
"""Registers of the walk; the table of a module contains them."""


def walk_values(grid: Grid) -> dict[str, int]:
    """Return the value of every register of the walk, by flattened name."""
    return GRID.values(_Walk(grid))
