"""Run-time registers of a convolution element: the map's size and padding in derived values.

Software computes these values. Therefore the hardware needs no multiplication or comparison with k.
"""

from __future__ import annotations

from collections.abc import Sequence

from merp.models.base.register_table import RegisterTable, RunRegister
from merp.models.papers.mazouz.params.element import ElementDesign, ElementRun

ElementRegister = RunRegister[ElementDesign, ElementRun]
ElementTable = RegisterTable[ElementDesign, ElementRun]


def _most_beats(design: ElementDesign) -> int:
    return design.max_rows * design.max_columns


def _most_lead(design: ElementDesign) -> int:
    return (design.k - 1) * (design.max_columns + 1)


def _all_taps(design: ElementDesign) -> int:
    return (1 << design.k) - 1


def _inside(before: int, size: int, k: int) -> int:
    """Return one bit for each tap of the first window along an axis: it is 1 inside the map."""
    return sum(1 << tap for tap in range(k) if before <= tap < before + size)


def _beyond(before: int, size: int, k: int) -> int:
    """Return the elements of the map beyond the first window, along an axis."""
    return max(0, before + size - k)


_ALONG: Sequence[ElementRegister] = (
    ElementRegister(
        "first_rows", 0, _all_taps, "a bit for each row of the first window: it is inside the map",
        lambda run: _inside(run.shape.top, run.shape.rows, run.design.k),
    ),
    ElementRegister(
        "rows_beyond", 0, lambda design: design.max_rows, "rows of the map below the first window",
        lambda run: _beyond(run.shape.top, run.shape.rows, run.design.k),
    ),
    ElementRegister(
        "first_columns", 0, _all_taps, "a bit per column of a line's first window, as for rows",
        lambda run: _inside(run.shape.left, run.shape.columns, run.design.k),
    ),
    ElementRegister(
        "columns_beyond", 0, lambda design: design.max_columns,
        "columns of the map beyond the first window",
        lambda run: _beyond(run.shape.left, run.shape.columns, run.design.k),
    ),
)  # fmt: skip

ELEMENT = ElementTable("config", (
    ElementRegister(
        "columns", 1, lambda design: design.max_columns, "columns of the map",
        lambda run: run.shape.columns,
    ),
    ElementRegister(
        "filling", 0, lambda design: design.k - 1,
        "blanks after each line of the map, if the output is wider",
        lambda run: run.grid_columns - run.shape.columns,
    ),
    ElementRegister(
        "grid_columns", 1, lambda design: design.max_columns, "columns of the map and its blanks",
        lambda run: run.grid_columns,
    ),
    ElementRegister(
        "beats", 1, _most_beats, "rows of the map times grid_columns",
        lambda run: run.grid_beats,
    ),
    ElementRegister(
        "lead", 0, _most_lead, "beats before the one that completes the first window",
        lambda run: run.lead,
    ),
    ElementRegister(
        "out_rows", 1, lambda design: design.max_rows, "rows of the output",
        lambda run: run.shape.out_rows,
    ),
    ElementRegister(
        "idle", 0, lambda design: design.k - 1,
        "windows at the end of each line without an output",
        lambda run: run.grid_columns - run.shape.out_columns,
    ),
    *_ALONG,
))  # fmt: skip
"""Registers of the element."""


def registers(run: ElementRun) -> dict[str, int]:
    """Return the value of every configuration port, by flattened name, for one run."""
    return ELEMENT.values(run)
