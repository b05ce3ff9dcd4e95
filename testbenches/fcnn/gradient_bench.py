"""Words of the streams of a gradient module, from the arrays of a layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from merp.hdl.base.signals import flag
from merp.hdl.fcnn.fcnn_gradient import GradientPorts, fcnn_gradient
from merp.hdl.fcnn.stream_gradient import GradientActivity, GradientConfig, GradientStreams
from merp.models.base.bits import Bits
from merp.models.golden.stream_update import stream_gradients
from merp.models.machines.fcnn.params.gradient_registers import (
    COUNTERS,
    GRADIENT,
    WORDS,
    GradientRun,
)
from merp.models.machines.fcnn.params.stream_design import StreamDesign
from merp.models.machines.fcnn.stream_order import gradient_streams, gradient_words
from merp.testbenches.fcnn.described import described
from merp.testbenches.fcnn.stream_player import StreamJob, joined
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top


def gradient_job(
    run: GradientRun, x: Bits, delta: Bits, sinks: Sequence[str], filler: int = 0
) -> StreamJob:
    """Return a run of ``stream_gradient``, or of the top.

    Args:
        run: the run.
        x: (images, rows, columns, n) words.
        delta: (images, out_rows, out_columns, m) words.
        sinks: prefixes of the streams of maps and deltas.
        filler: deltas of missing maps.
    """
    design = run.grid.design
    streams = gradient_streams(run.grid, x, delta, filler)
    return StreamJob(
        GRADIENT.values(run),
        {name: joined(each, design.fmt.width) for name, each in zip(sinks, streams, strict=True)},
        dict(zip(sinks, (design.map_width, design.sum_width), strict=True)),
    )


def gradient_run(run: GradientRun, x: Bits, delta: Bits, filler: int = 0) -> Run:
    """Return a run of ``fcnn_gradient``; arguments as in ``gradient_job``."""
    maps, deltas = gradient_streams(run.grid, x, delta, filler)
    words = {"s_axis_map": maps.reshape(-1), "s_axis_delta": deltas.reshape(-1)}
    return Run(config=GRADIENT.values(run), words=words)


def golden_words(run: GradientRun, x: Bits, delta: Bits) -> list[int]:
    """Return the words that the module must give."""
    grid, design = run.grid, run.grid.design
    gradients = stream_gradients(x, delta, grid.shape, design.fmt, design.summation)
    return gradient_words(*gradients, design).tolist()


def top(design: StreamDesign) -> Top:
    """Create ``fcnn_gradient`` with signals of its own."""
    describe = described(GRADIENT, COUNTERS, WORDS)
    return Top.of(fcnn_gradient, GradientPorts(design), {"design": design}, describe=describe)


def arguments(design: StreamDesign) -> dict[str, Any]:
    """Create the ports of ``stream_gradient``."""
    flags = {name: flag() for name in ("clk", "rst", "start", "done", "framing_error")}
    return {
        **flags,
        "config": GradientConfig(design),
        "streams": GradientStreams(design),
        "activity": GradientActivity(),
        "design": design,
    }
