"""The arrays of a training step in memory as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import fspath
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.models.memory.layout import ALIGN, FIRST_ADDRESS, Array, Layout
from merp.models.memory.step_arrays import StepArrays, StepPass
from merp.models.memory.walk import Walk
from merp.models.network.network import Network
from merp.models.network.registry import machine_that_runs
from merp.tools.common.boards import sized_board
from merp.tools.common.machine_parts import machine_part
from merp.tools.common.rows import Row, Rows
from merp.tools.fpga.layout.machine_layout import MachineLayout
from merp.tools.fpga.layout.request import ADDRESS_BITS, LayoutFields

PART = "layout"
"""Name of the part of a machine."""


class MemoryLayout(Rows):
    """One row for each array of a training step, in the order of their addresses.

    The keys of a row are ``name``, ``shape``, ``element_bits``, ``element_bytes``, ``address``,
    ``bytes`` and ``padding``. Padding is unused bits of elements, and the bytes up to the next
    multiple of 64. Only the former are in ``bytes``.

    Attributes:
        layout: the arrays with their addresses.
        passes: the passes of a step, with the part of an array that each port reads or writes.
        bytes: bytes from the first array to the end of the last one, with all padding.
        padding: how many of them are padding.
    """

    def __init__(
        self,
        network: Network,
        asked: LayoutFields,
        board: str | None,
        layout: Layout,
        passes: Sequence[StepPass],
    ) -> None:
        self._about = {
            "network": network.name,
            "machine": machine_that_runs(network).name,
            "images": asked.images,
            "momentum": asked.momentum,
            "board": board,
        }
        self.layout, self.passes = layout, tuple(passes)
        self.bytes = sum(each.size + _gap(each) for each in layout.arrays.values())
        super().__init__(
            f"Memory of {network.name}, {asked.images:,} image{'s' if asked.images > 1 else ''}",
            self._made(),
        )
        self.padding = sum(row["padding"] for row in self)

    def _made(self) -> Iterator[Row]:
        for name, each in self.layout.arrays.items():
            yield {
                "name": name,
                "shape": list(each.shape),
                "element_bits": each.element_bits,
                "element_bytes": each.element_bytes,
                "address": self.layout.addresses[name],
                "bytes": each.size,
                "padding": each.padding + _gap(each),
            }

    def json(self) -> dict[str, Any]:
        """Return the answer of ``merp layout --json``."""
        return {
            **self._about,
            "first": self.layout.first,
            "end": self.layout.end,
            "arrays": [dict(row) for row in self],
            "total": {"arrays": len(self), "bytes": self.bytes, "padding": self.padding},
            "passes": [
                {
                    "layer": layer,
                    "phase": phase,
                    "group": number,
                    "ports": {port: _part(*part) for port, part in parts.items()},
                }
                for layer, phase, number, parts in self.passes
            ],
        }


def _gap(array: Array) -> int:
    """Return the bytes from the end of an array to the next one."""
    return -array.size % ALIGN


def _part(array: str, walk: Walk) -> dict[str, Any]:
    return {
        "array": array,
        "base": walk.base,
        "words": walk.words,
        "dimensions": [[each.count, each.stride] for each in walk.dimensions],
    }


def layout_of(network: Network, asked: LayoutFields) -> MemoryLayout:
    """Return the requested layout.

    Raises:
        BadInput: the machine cannot run a step from arrays in memory. Or the size of the board's
            memory is unknown, or the arrays do not fit it.
    """
    board, end = None, 1 << ADDRESS_BITS
    if asked.board is not None:
        board, end = sized_board(fspath(asked.board))
    step = _arrays_of(network, asked)
    try:
        layout = Layout.of(step.arrays.values(), FIRST_ADDRESS, end)
    except ValueError as error:
        where = given("images", asked.images)
        if asked.board is not None:
            where += f", {given('board', asked.board)}"
        raise BadInput(f"{network.name}: {where}: {error}") from error
    return MemoryLayout(network, asked, board, layout, step.passes)


def _arrays_of(network: Network, asked: LayoutFields) -> StepArrays:
    arrays: MachineLayout = machine_part(network, PART)
    return arrays(network, asked.images, momentum=asked.momentum)
