"""Gradients for the update unit: one per cycle, or a beat of several."""

from __future__ import annotations

from copy import copy
from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, flag
from merp.hdl.cnn_merp.ports.gradients import GradientBeat
from merp.hdl.cnn_merp.update_unit.either_end import without_biases
from merp.hdl.cnn_merp.update_unit.gradient_beats import gradient_beats
from merp.hdl.cnn_merp.update_unit.update_ports import (
    Arrived,
    Extent,
    GradientAccess,
    ListedElement,
)
from merp.hdl.cnn_merp.update_unit.update_walk import update_walk
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.latencies import GRADIENT_READ, UPDATE_ENTRY


@block
def single_gradients(
    clk: Bit,
    rst: Bit,
    start: Bit,
    final_issue: Bit,
    extent: Extent,
    gradients: GradientAccess,
    entry: ListedElement,
    advance: Bit,
    arrived: Arrived,
    design: EngineDesign,
) -> Any:
    """List elements one by one; the gradient of an element is read when the element enters.

    final_issue  in       the last slot of the run is issued; the gradients follow
    gradients    out, in  address of a gradient, and the gradient
    entry        out      the element that may enter
    advance      in       the element enters
    arrived      out      GRADIENT_READ + GRADIENT_CHOICE cycles later: its gradient
    """
    sign_at = design.fmt.width - 1
    of_bias, is_zero = flag(), flag()
    gradient = arrived.gradient
    listed, parts = entry, []
    if extent.with_biases is not None:
        listed = copy(entry)
        listed.valid = flag()
        parts.append(
            without_biases(
                clk,
                start,
                listed=listed.valid,
                biases=entry.biases,
                with_biases=extent.with_biases,
                walking=entry.valid,
            )
        )
    walk = update_walk(
        clk,
        rst,
        start,
        final_issue=final_issue,
        extent=extent,
        advance=advance,
        element=listed,
        place=gradients.place,
        design=design,
    )
    chosen = delay(clk, d=entry.biases, q=of_bias, cycles=GRADIENT_READ)

    @always(clk.posedge)
    def choose() -> None:
        if of_bias:
            gradient.next = gradients.bias
            is_zero.next = gradients.bias[sign_at:] == 0
        else:
            gradient.next = gradients.kernel
            is_zero.next = gradients.kernel[sign_at:] == 0

    if arrived.from_rest is not None:

        @always_comb
        def add_zero() -> None:
            if is_zero:
                arrived.from_rest.next = 0
            else:
                arrived.from_rest.next = gradient

        parts.append(add_zero)
    return walk, chosen, choose, parts


@block
def _from_rest(clk: Bit, gradient: Word, velocity: Word) -> Any:
    """Compute RN(+0 + g), a cycle later."""
    sign_at = len(gradient) - 1

    @always(clk.posedge)
    def add_zero() -> None:
        if gradient[sign_at:] == 0:
            velocity.next = 0
        else:
            velocity.next = gradient

    return add_zero


@block
def _velocities_from_rest(clk: Bit, gradients: Word, velocities: Word, design: EngineDesign) -> Any:
    width = design.fmt.width
    found = [bits(width) for _ in range(design.kernel_port)]
    joined = ConcatSignal(*reversed(found))

    @always_comb
    def join() -> None:
        velocities.next = joined

    return join, [
        _from_rest(clk, gradient=gradients((i + 1) * width, i * width), velocity=found[i])
        for i in range(design.kernel_port)
    ]


@block
def several_gradients(
    clk: Bit,
    rst: Bit,
    start: Bit,
    final_issue: Bit,
    extent: Extent,
    gradients: GradientAccess,
    entry: GradientBeat,
    advance: Bit,
    arrived: Arrived,
    design: EngineDesign,
) -> Any:
    """Offer beats of gradients that were read ahead; the ports are as in ``single_gradients``.

    The place in a kernel at which a beat begins changes from beat to beat. A memory gives parts of
    one kernel at a time. The gradients of a beat arrive UPDATE_ENTRY cycles after it enters.
    """
    beats = gradient_beats(
        clk,
        rst,
        start,
        final_issue=final_issue,
        extent=extent,
        gradients=gradients,
        beat=entry,
        take=advance,
        design=design,
    )
    aligned = delay(clk, d=entry.data, q=arrived.gradient, cycles=UPDATE_ENTRY)
    if arrived.from_rest is None:
        return beats, aligned
    rest = _velocities_from_rest(
        clk, gradients=entry.data, velocities=arrived.from_rest, design=design
    )
    return beats, aligned, rest
