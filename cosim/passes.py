"""Passes of the phases: what one group of a layer is given, and what must come back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from merp.cosim.phases.expectation import Expectation, expect_delta, expect_forward, expect_update
from merp.models.arithmetic.compiled import Bits
from merp.models.cnn_merp.phases import DeltaDesign, maps_behind
from merp.models.golden.inference import group_maps, group_parameters
from merp.models.golden.state import State, of_maps, packed
from merp.models.golden.training import Rates
from merp.models.network.network import Layer
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.unpool_design import UnpoolDesign
from merp.testbenches.cnn_merp.delta_top import delta_run
from merp.testbenches.cnn_merp.forward_top import forward_run
from merp.testbenches.cnn_merp.kernel_update_top import kernel_update_run
from merp.testbenches.top.run import Run

Pair = tuple[Bits, Bits]  # of a layer: of its kernels, of its biases


class Pass(NamedTuple):
    """One group of one layer in one phase."""

    run: Run
    expected: Expectation


class Updated(NamedTuple):
    """What a kernel update changes, of a whole layer: parameters and their velocities."""

    parameters: Pair
    velocities: Pair


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


def update_pass(
    layer: Layer,
    group: int,
    design: Design,
    x: Bits,
    deltas: Bits,
    old: Updated,
    rates: Rates,
    wanted: Updated,
    undone: UnpoolDesign | None = None,
    state: State | None = None,
) -> Pass:
    """Kernel update of one group; with momentum if the rates have any.

    Args:
        layer: the layer. design: what it runs on.
        x: (images, rows, columns, groups*n) words. deltas: of its sums (images, out_rows,
            out_columns, groups*m), or with ``undone`` of its output.
        old: before the step. rates: words of learning rate and momentum.
        wanted: what must come out.
        undone, state: un-pooling in front of the update, and what it needs.
    """
    shape = layer.shape
    maps = group * shape.m, (group + 1) * shape.m
    momentum = rates.momentum or None

    def own(pair: Pair) -> Pair:
        return group_parameters(layer, group, *pair)

    run = kernel_update_run(
        shape,
        design,
        group_maps(x, layer, group),
        np.ascontiguousarray(deltas[..., slice(*maps)]),
        *own(old.parameters),
        rates.rate,
        own(old.velocities) if momentum else None,
        momentum,
        undone=undone,
        state=packed(of_maps(state, *maps), shape, design.fmt) if state is not None else b"",
    )
    expected = expect_update(
        shape,
        len(x),
        design,
        *own(wanted.parameters),
        velocities=own(wanted.velocities) if momentum else None,
        before=undone is not None,
    )
    return Pass(run, expected)
