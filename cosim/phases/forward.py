"""Forward propagation of one group: what goes in, what must come out."""

from __future__ import annotations

import numpy as np

from merp.cosim.phases.expectation import Expectation, Pair, Pass, Words, Work, expected_ports
from merp.models.arithmetic.compiled import Bits
from merp.models.golden.inference import group_maps, group_parameters
from merp.models.golden.state import State, of_maps, packed
from merp.models.network.network import Layer
from merp.models.params.cnn_merp.design import Design
from merp.models.params.shape import Shape
from merp.models.traffic import backward_counter, closed_form, counter
from merp.testbenches.cnn_merp import forward_top
from merp.testbenches.cnn_merp.forward_top import forward_run


def expect_forward(
    shape: Shape, images: int, design: Design, golden: Words, state: bytes | None = None
) -> Expectation:
    """Forward propagation of one group.

    ``golden`` is (images, pooled rows, pooled columns, m); ``state`` what must leave for the way
    back, on a design that writes it.
    """
    formula = closed_form.port_words(shape, images)
    walked = counter.port_words(shape, images, design)
    goldens = {"map_out": golden}
    if state is not None:
        formula["state_out"] = closed_form.state_bytes(shape, shape.m, images)
        walked["state_out"] = backward_counter.state_bytes(shape, shape.m, images)
        goldens["state_out"] = np.frombuffer(state, np.uint8).astype(np.uint32)
    streams = forward_top.PORTS if state is None else forward_top.STATE_PORTS
    ports = expected_ports(streams, formula, walked, goldens, ("map_in", "map_out"), design.fmt)
    return Expectation(
        ports=ports,
        first="map_in",
        last=("map_out",),
        loads=("kernel", "bias"),
        work=Work.of(shape, images, design),
        early_end=not _every_position_counts(shape),
    )


def _every_position_counts(shape: Shape) -> bool:
    """Whether the last position lies in a pooling window, so that the last word waits for it."""
    if shape.pool is None:
        return True
    covered = [
        (pooled - 1) * shape.pool.stride + shape.pool.window
        for pooled in (shape.pooled_rows, shape.pooled_columns)
    ]
    return covered == [shape.out_rows, shape.out_columns]


def forward_pass(
    layer: Layer,
    group: int,
    design: Design,
    x: Bits,
    made: Pair,
    wanted: Bits,
    state: State | None = None,
) -> Pass:
    """Forward propagation of one group.

    Args:
        layer: the layer. design: what it runs on.
        x: (images, rows, columns, groups*n) words. made: kernels and biases.
        wanted: what must come out, of all groups.
        state: of the whole layer, where the design writes it.
    """
    shape = layer.shape
    maps = group * shape.m, (group + 1) * shape.m
    own = group_parameters(layer, group, *made)
    run = forward_run(shape, design, group_maps(x, layer, group), *own)
    golden = np.ascontiguousarray(wanted[..., slice(*maps)])
    kept = packed(of_maps(state, *maps), shape, design.fmt) if state is not None else None
    return Pass(run, expect_forward(shape, len(x), design, golden, kept))
