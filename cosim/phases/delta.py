"""Delta propagation of one group: what goes in, what must come out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from merp.cosim.phases.expectation import Expectation, Pass, Words, Work, expected_ports
from merp.models.arithmetic.compiled import Bits
from merp.models.cnn_merp.phases import DeltaDesign, maps_behind
from merp.models.golden.state import State, of_maps, packed
from merp.models.network.network import Layer
from merp.models.params.delta_shape import delta_shape
from merp.models.params.shape import Shape
from merp.models.traffic import backward_counter, closed_form
from merp.testbenches.cnn_merp import delta_top
from merp.testbenches.cnn_merp.delta_top import delta_run


def expect_delta(
    shape: Shape, undone: Shape, images: int, design: DeltaDesign, golden: Words
) -> Expectation:
    """Delta propagation of one group; ``golden`` is the delta that leaves, images first.

    ``shape`` and ``undone`` are those of ``delta_run``.
    """
    engine, before = design.engine, design.before
    maps = shape.m if before else maps_behind(shape, undone)
    formula = closed_form.delta_port_words(shape, undone, maps, images, before)
    walked = backward_counter.delta_words(shape, undone, maps, images, engine, before)
    ports = expected_ports(
        delta_top.PORTS, formula, walked, {"delta_out": golden}, ("delta_in", "delta_out"),
        engine.fmt,
    )  # fmt: skip
    # Products with the zeros of a dilation are no work of the layer.
    work = Work.of(delta_shape(shape), images, engine)
    macs = shape.macs(images)
    return Expectation(
        ports=ports,
        first="delta_in",
        last=("delta_out",),
        loads=("kernel",),
        work=replace(work, operations=2 * macs, ideal=macs / (shape.k**2 * engine.n_cu)),
    )


def delta_pass(
    layer: Layer,
    earlier: Layer,
    group: int,
    design: DeltaDesign,
    deltas: Bits,
    state: State,
    kernels: Bits,
    wanted: Bits,
) -> Pass:
    """Delta propagation of one group.

    Args:
        layer: the layer. earlier: the one in front of it. design: what it runs on.
        deltas: (images, rows, columns, groups*m) words that come in: of the layer's output
            (un-pooling before the engine) or of its sums.
        state: of the layer whose pooling is undone: this one, or the one in front.
        kernels: (groups*m, n, k, k) words.
        wanted: what must come out, of all maps in front.
    """
    shape, images = layer.shape, len(deltas)
    own = group * shape.m, (group + 1) * shape.m
    maps = maps_behind(shape, earlier.shape)
    front = group * maps, (group + 1) * maps
    undone, undone_maps = (shape, own) if design.before else (earlier.shape, front)
    run = delta_run(
        shape,
        undone,
        design,
        np.ascontiguousarray(deltas[..., slice(*own)]),
        kernels[slice(*own)],
        packed(of_maps(state, *undone_maps), undone, design.engine.fmt),
    )
    golden = np.ascontiguousarray(wanted[..., slice(*front)])
    return Pass(run, expect_delta(shape, undone, images, design, golden))
