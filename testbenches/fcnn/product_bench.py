"""Words of the streams of a matrix product, from its matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from merp.hdl.base.signals import flag
from merp.hdl.fcnn.block_product import ProductActivity, ProductStreams
from merp.hdl.fcnn.fcnn_mlp import ProductPorts, fcnn_mlp
from merp.hdl.fcnn.tile_loops import ProductConfig
from merp.models.base.bits import Bits
from merp.models.machines.fcnn.params.product_design import ProductDesign
from merp.models.machines.fcnn.params.product_registers import (
    COUNTERS,
    PRODUCT,
    WORDS,
    ProductRun,
)
from merp.models.machines.fcnn.product_order import product_streams
from merp.testbenches.fcnn.described import described
from merp.testbenches.fcnn.stream_player import StreamJob, joined
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

SINKS = ("sink_map", "sink_kernel", "sink_bias")
PINS = ("s_axis_map", "s_axis_kernel", "s_axis_bias")


def product_job(
    run: ProductRun, a: Bits, b: Bits, bias: Bits, filler: int = 0, sinks: Sequence[str] = SINKS
) -> StreamJob:
    """Return a run whose streams have the prefixes ``sinks``.

    Other arguments are those of ``product_streams``.
    """
    design = run.design
    streams = product_streams(run, a, b, bias, filler)
    widths = (design.piece_width, design.piece_width, design.fmt.width)
    return StreamJob(
        PRODUCT.values(run),
        {name: joined(each, design.fmt.width) for name, each in zip(sinks, streams, strict=True)},
        dict(zip(sinks, widths, strict=True)),
    )


def product_run(run: ProductRun, a: Bits, b: Bits, bias: Bits, filler: int = 0) -> Run:
    """Return a run of ``fcnn_mlp``; arguments as in ``product_streams``."""
    streams = product_streams(run, a, b, bias, filler)
    words = {name: each.reshape(-1) for name, each in zip(PINS, streams, strict=True)}
    return Run(config=PRODUCT.values(run), words=words)


def top(design: ProductDesign) -> Top:
    """Create ``fcnn_mlp`` with signals of its own."""
    describe = described(PRODUCT, COUNTERS, WORDS)
    return Top.of(fcnn_mlp, ProductPorts(design), {"design": design}, describe=describe)


def arguments(design: ProductDesign) -> dict[str, Any]:
    """Create the ports of ``block_product``."""
    flags = {name: flag() for name in ("clk", "rst", "start", "done", "framing_error")}
    return {
        **flags,
        "config": ProductConfig(design),
        "streams": ProductStreams(design),
        "activity": ProductActivity(),
        "design": design,
    }
