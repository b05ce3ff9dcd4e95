"""Words of the streams of a gradient module, from the arrays of a layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from merp.hdl.base.signals import Stream, flag
from merp.hdl.fcnn.fcnn_gradient import GradientPorts, fcnn_gradient
from merp.hdl.fcnn.stream_gradient import GradientActivity, GradientConfig
from merp.models.base.bits import Bits
from merp.models.machines.fcnn.params.gradient_registers import (
    GRADIENT,
    GradientRun,
    gradient_description,
)
from merp.models.machines.fcnn.params.stream_design import StreamDesign
from merp.models.machines.fcnn.stream_update import StreamOrder, stream_gradients
from merp.testbenches.fcnn.stream_player import StreamJob
from merp.testbenches.top.described import Description
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top


def joined(elements: Bits, width: int) -> list[int]:
    """Join the last axis into beats, the first element lowest; the other axes are in order."""
    rows = elements.reshape(-1, elements.shape[-1]).tolist()
    return [sum(word << (i * width) for i, word in enumerate(row)) for row in rows]


def map_elements(x: Bits, design: StreamDesign) -> Bits:
    """Arrange maps (images, rows, columns, n) as (map, row, column, beat of the column, lane)."""
    in_order = x.transpose(3, 1, 2, 0)
    return in_order.reshape(*in_order.shape[:3], -1, design.lanes)


def block_elements(maps: Bits, design: StreamDesign, filler: int = 0) -> Bits:
    """Arrange maps in blocks: (block, row, column, beat of the column, elements of a beat).

    ``filler`` is the element of missing maps.
    """
    _, rows, columns, m = maps.shape
    at_once = design.maps_at_once
    wide = np.pad(maps, ((0, 0), (0, 0), (0, 0), (0, -m % at_once)), constant_values=filler)
    blocks = wide.shape[-1] // at_once
    in_order = wide.reshape(-1, design.lanes, rows, columns, blocks, at_once)
    beats = in_order.transpose(4, 2, 3, 0, 5, 1)
    return beats.reshape(blocks, rows, columns, -1, at_once * design.lanes)


def gradient_order(kernels: Bits, biases: Bits, design: StreamDesign) -> list[int]:
    """Return gradients (m, n, k, k) and (m,) in the order of the port."""
    m, n = kernels.shape[:2]
    found: list[int] = []
    for first in range(0, m, design.maps_at_once):
        for i in range(n):
            for j in range(first, min(m, first + design.maps_at_once)):
                if i == 0:
                    found.append(int(biases[j]))
                found += kernels[j, i].reshape(-1).tolist()
    return found


def gradient_streams(run: GradientRun, x: Bits, delta: Bits, filler: int = 0) -> tuple[Bits, Bits]:
    """Return the beats of maps and deltas: (beats, elements of a beat) words."""
    grid = run.grid
    maps = np.stack([map_elements(x, grid.design)] * grid.blocks)
    deltas = np.stack([block_elements(delta, grid.design, filler)] * grid.shape.n, axis=1)
    return maps.reshape(-1, maps.shape[-1]), deltas.reshape(-1, deltas.shape[-1])


def gradient_job(
    run: GradientRun, x: Bits, delta: Bits, sinks: tuple[str, str], filler: int = 0
) -> StreamJob:
    """Return a run of ``stream_gradient``.

    Args:
        run: the run.
        x: (images, rows, columns, n) words.
        delta: (images, out_rows, out_columns, m) words.
        sinks: prefixes of the streams of maps and deltas.
        filler: deltas of missing maps.
    """
    design = run.grid.design
    streams = gradient_streams(run, x, delta, filler)
    return StreamJob(
        GRADIENT.values(run),
        {name: joined(each, design.fmt.width) for name, each in zip(sinks, streams, strict=True)},
        dict(zip(sinks, (design.map_width, design.sum_width), strict=True)),
    )


def gradient_run(run: GradientRun, x: Bits, delta: Bits, filler: int = 0) -> Run:
    """Return a run of ``fcnn_gradient``; arguments as in ``gradient_job``."""
    maps, deltas = gradient_streams(run, x, delta, filler)
    words = {"s_axis_map": maps.reshape(-1), "s_axis_delta": deltas.reshape(-1)}
    return Run(config=GRADIENT.values(run), words=words)


def golden_words(run: GradientRun, x: Bits, delta: Bits) -> list[int]:
    """Return the words that the module must give."""
    grid, design = run.grid, run.grid.design
    order = StreamOrder(design.lanes, design.accumulators)
    gradients = stream_gradients(x, delta, grid.shape, design.fmt, order)
    return gradient_order(*gradients, design)


def top(design: StreamDesign) -> Top:
    """Create ``fcnn_gradient`` with signals of its own."""
    return Top.of(
        fcnn_gradient, GradientPorts(design), {"design": design},
        describe=lambda parameters: Description(*gradient_description(parameters["design"])),
    )  # fmt: skip


def arguments(design: StreamDesign) -> dict[str, Any]:
    """Create the ports of ``stream_gradient``."""
    flags = {name: flag() for name in ("clk", "rst", "start", "done", "framing_error")}
    return {
        **flags,
        "config": GradientConfig(design),
        "sink_map": Stream(design.map_width),
        "sink_delta": Stream(design.sum_width),
        "source": Stream(design.fmt.width),
        "activity": GradientActivity(),
        "design": design,
    }
