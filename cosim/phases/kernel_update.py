"""Kernel update of one group: what goes in, what must come out."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from merp.cosim.phases.expectation import Expectation, Pair, Pass, Words, Work, expected_ports
from merp.models.arithmetic.compiled import Bits
from merp.models.golden.inference import group_maps, group_parameters
from merp.models.golden.state import State, of_maps, packed
from merp.models.golden.training import Rates
from merp.models.network.network import Layer
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.unpool_design import UnpoolDesign
from merp.models.params.shape import Shape
from merp.models.traffic import backward_counter, closed_form
from merp.testbenches.cnn_merp import kernel_update_top
from merp.testbenches.cnn_merp.kernel_update_top import kernel_update_run


def expect_update(
    shape: Shape,
    images: int,
    design: Design,
    kernels: Words,
    biases: Words,
    velocities: tuple[Words, Words] | None = None,
    before: bool = False,
) -> Expectation:
    """Kernel update of one group; ``kernels`` (m, n, k, k) and ``biases`` (m,) are the new ones.

    With momentum, so are the ``velocities`` of both. With ``before`` deltas come at pooled
    resolution.
    """
    formula = closed_form.update_port_words(shape, images, before)
    walked = backward_counter.update_words(shape, images, design, before)
    goldens = {"kernel_out": kernels, "bias_out": biases}
    ports = expected_ports(
        kernel_update_top.PORTS | (kernel_update_top.STATE_PORTS if before else {}),
        formula, walked, goldens, ("map_in", "delta_in"), design.fmt,
    )  # fmt: skip
    if velocities is not None:
        # As many words as kernels and biases have, beside them.
        for kind, golden in zip(("kernel", "bias"), velocities, strict=True):
            for way, like in (("in", kind), ("out", f"{kind}_out")):
                name = f"{kind}_velocity_{way}"
                ports[name] = replace(
                    ports[like],
                    stream=kernel_update_top.VELOCITY_PORTS[name],
                    golden=golden if way == "out" else None,
                )
    last = ("bias_out",) if velocities is None else ("bias_out", "bias_velocity_out")
    work = Work.of(shape, images, design)
    return Expectation(ports=ports, first="map_in", last=last, loads=(), work=work)


class Updated(NamedTuple):
    """What a kernel update changes, of a whole layer: parameters and their velocities."""

    parameters: Pair
    velocities: Pair


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
