"""Words of the streams of a matrix product, from its matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from merp.hdl.base.signals import Stream, flag
from merp.hdl.fcnn.block_product import ProductActivity
from merp.hdl.fcnn.fcnn_mlp import ProductPorts, fcnn_mlp
from merp.hdl.fcnn.tile_loops import ProductConfig
from merp.models.base.bits import Bits
from merp.models.machines.fcnn.params.product_design import ProductDesign
from merp.models.machines.fcnn.params.product_registers import (
    PRODUCT,
    ProductRun,
    product_description,
)
from merp.testbenches.fcnn.gradient_bench import joined
from merp.testbenches.fcnn.stream_player import StreamJob
from merp.testbenches.top.described import Description
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

SINKS = ("sink_map", "sink_kernel", "sink_bias")
PINS = ("s_axis_map", "s_axis_kernel", "s_axis_bias")


def _tiles(run: ProductRun) -> Iterator[tuple[slice, slice]]:
    """Yield rows and columns of each tile of C, with the elements beyond the edge."""
    design = run.design
    high, wide = (pieces * design.size for pieces in (run.row_pieces, run.column_pieces))
    for left in range(0, wide, design.tile_columns):
        for top in range(0, high, design.tile_rows):
            yield (
                slice(top, min(high, top + design.tile_rows)),
                slice(left, min(wide, left + design.tile_columns)),
            )


def product_streams(run: ProductRun, a: Bits, b: Bits, bias: Bits, filler: int = 0) -> list[Bits]:
    """Return the beats of the three inputs, (beats, elements) words.

    Args:
        run: the run.
        a: (rows, inner) words.
        b: (inner, columns) words.
        bias: (columns,) words; not used without biases.
        filler: the element beyond an edge.
    """
    size = run.design.size
    a = np.pad(a, ((0, -run.rows % size), (0, 0)), constant_values=filler)
    b = np.pad(b, ((0, 0), (0, -run.columns % size)), constant_values=filler)
    maps = [a[rows].T.reshape(-1, size) for rows, _ in _tiles(run)]
    kernels = [b[:, columns].reshape(-1, size) for _, columns in _tiles(run)]
    return [np.concatenate(maps), np.concatenate(kernels), bias[: run.bias_words].reshape(-1, 1)]


def product_of(run: ProductRun, elements: Bits) -> Bits:
    """Return C (rows, columns) from the elements of the output, in the order of the port."""
    size = run.design.size
    found = np.zeros((run.row_pieces * size, run.columns), np.uint32)
    at = 0
    for rows, columns in _tiles(run):
        part = found[rows, columns]
        part[:] = elements.reshape(-1)[at : at + part.size].reshape(part.shape[::-1]).T
        at += part.size
    return found[: run.rows]


def product_job(run: ProductRun, a: Bits, b: Bits, bias: Bits, filler: int = 0) -> StreamJob:
    """Return a run of ``block_product``; arguments as in ``product_streams``."""
    design = run.design
    streams = product_streams(run, a, b, bias, filler)
    widths = (design.piece_width, design.piece_width, design.fmt.width)
    return StreamJob(
        PRODUCT.values(run),
        {name: joined(each, design.fmt.width) for name, each in zip(SINKS, streams, strict=True)},
        dict(zip(SINKS, widths, strict=True)),
    )


def product_run(run: ProductRun, a: Bits, b: Bits, bias: Bits, filler: int = 0) -> Run:
    """Return a run of ``fcnn_mlp``; arguments as in ``product_streams``."""
    streams = product_streams(run, a, b, bias, filler)
    words = {name: each.reshape(-1) for name, each in zip(PINS, streams, strict=True)}
    return Run(config=PRODUCT.values(run), words=words)


def top(design: ProductDesign) -> Top:
    """Create ``fcnn_mlp`` with signals of its own."""
    return Top.of(
        fcnn_mlp, ProductPorts(design), {"design": design},
        describe=lambda parameters: Description(*product_description(parameters["design"])),
    )  # fmt: skip


def arguments(design: ProductDesign) -> dict[str, Any]:
    """Create the ports of ``block_product``."""
    flags = {name: flag() for name in ("clk", "rst", "start", "done", "framing_error")}
    return {
        **flags,
        "config": ProductConfig(design),
        "sink_map": Stream(design.piece_width),
        "sink_kernel": Stream(design.piece_width),
        "sink_bias": Stream(design.fmt.width),
        "source": Stream(design.piece_width),
        "activity": ProductActivity(),
        "design": design,
    }
