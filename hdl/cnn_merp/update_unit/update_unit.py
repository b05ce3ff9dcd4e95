"""The update unit: gradients, old kernels and biases in, new kernels and biases out.

Stochastic gradient descent, v = RN(RN(mu*v) + g) and w' = RN(w - RN(lr*v)), with or without
momentum (CNN-MERP section III.B). With weight decay, d = RN(g + RN(wd*w)) replaces g.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.ports.gradients import GradientBeat
from merp.hdl.cnn_merp.update_unit.either_end import either_end
from merp.hdl.cnn_merp.update_unit.gradient_elements import several_gradients, single_gradients
from merp.hdl.cnn_merp.update_unit.parameter_reader import parameter_reader
from merp.hdl.cnn_merp.update_unit.parameter_writer import parameter_writer
from merp.hdl.cnn_merp.update_unit.update_ports import (
    Arrived,
    GradientAccess,
    Leaving,
    ListedElement,
    Passage,
    Passing,
    RunEnd,
    UpdateProgress,
    UpdateRegisters,
)
from merp.hdl.cnn_merp.update_unit.update_step import step_times, update_step
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def _passage(
    clk: Bit,
    rst: Bit,
    start: Bit,
    streams: Passage,
    entry: ListedElement | GradientBeat,
    take: Bit,
    taken: Bit,
    leaving: Leaving,
    passing: Passing,
    with_biases: Bit,
) -> Any:
    """Pass words of kernels and biases, or of their velocities, in and later out.

    streams  in, out  the words
    entry    in       the requested word
    take     in       the word enters
    taken    in       a place behind the entrance is taken
    leaving  in       a word at the end of the pipeline
    passing  out      the requested word, and the state of the streams
    """
    credit, end = flag(), passing.end
    written = end if with_biases is None else RunEnd()
    reader = parameter_reader(
        clk,
        rst,
        start,
        biases=entry.biases,
        last=entry.last,
        take=take,
        sink=streams.sink,
        data=passing.data,
        valid=passing.valid,
        framing_error=passing.framing_error,
    )
    space = credit_gate(
        clk, rst, taken=taken, freed=credit, some=passing.room, places=passing.places
    )
    writer = parameter_writer(
        clk,
        rst,
        start,
        leaving=leaving,
        credit=credit,
        source=streams.source,
        end=written,
        words=passing.places,
    )
    if with_biases is None:
        return reader, space, writer
    either = either_end(
        clk,
        rst,
        start,
        with_biases=with_biases,
        kernels=streams.source.kernel,
        biases=written,
        end=end,
    )
    return reader, space, writer, either


@entity
def update_unit(
    clk: Bit,
    rst: Bit,
    start: Bit,
    final_issue: Bit,
    config: UpdateRegisters,
    gradients: GradientAccess,
    parameters: Passage,
    velocities: Passage | None,
    progress: UpdateProgress,
    design: EngineDesign,
) -> Any:
    """Read the gradients and update kernels and biases with them, kernel_port per cycle.

    final_issue  in       the last slot of the run is issued; the update follows
    config       in       run-time registers; weight decay exists if its register does
    gradients    out, in  address of a gradient, and the gradient
    parameters   in, out  kernels and biases, old and updated; without config.rule.update the
                          gradients are sent, and no sink is read
    velocities   in, out  velocities of kernels and biases, in a design with momentum
    progress     out      progress of the run

    The pipeline never stalls: a beat enters once its words have arrived and there are places for
    its results. Throughput: a beat of kernels per cycle; for biases a beat if it is one element,
    otherwise an element. Reset: the update is abandoned.
    """
    lanes, rule, with_biases = design.kernel_port, config.rule, config.extent.with_biases
    width = lanes * design.fmt.width
    times = step_times(design, rule)
    entry: Any = GradientBeat(design) if lanes > 1 else ListedElement()
    arrived = Arrived(width, momentum=velocities is not None)
    advance, take, there = flag(), flag(), flag()
    # Unused gradients must not be visible behind their output: the next run could start before they
    # arrive.
    gradient_valid, velocity_valid, parameter_valid = flag(), flag(), flag()
    joined = ConcatSignal(*([entry.keep] if lanes > 1 else []), entry.last, entry.biases)
    tag, tag_chosen, tag_new = (bits(len(joined)) for _ in range(3))
    velocity, renewed = bits(width), bits(width)
    old, pushed = Passing(width, times.places), Leaving(width, lanes)
    past = None if velocities is None else Passing(width, times.places)

    front = (several_gradients if lanes > 1 else single_gradients)(
        clk,
        rst,
        start,
        final_issue=final_issue,
        extent=config.extent,
        gradients=gradients,
        entry=entry,
        advance=advance,
        arrived=arrived,
        design=design,
    )
    passage = _passage(
        clk,
        rst,
        start,
        streams=parameters,
        entry=entry,
        take=take,
        taken=advance,
        leaving=pushed,
        passing=old,
        with_biases=with_biases,
    )
    arithmetic = update_step(
        clk,
        rule=rule,
        old=old.data,
        past=past and past.data,
        arrived=arrived,
        velocity=velocity,
        renewed=renewed,
        design=design,
    )
    to_new = times.parameter - times.velocity
    track = [
        valid_delay(clk, rst, d=advance, q=gradient_valid, cycles=times.gradient),
        valid_delay(clk, rst, d=take, q=velocity_valid, cycles=times.velocity),
        valid_delay(clk, rst, d=velocity_valid, q=parameter_valid, cycles=to_new),
    ]

    @always_comb
    def join() -> None:
        tag.next = joined

    aligned = [
        delay(clk, d=tag, q=tag_chosen, cycles=times.gradient),
        delay(clk, d=tag_chosen, q=tag_new, cycles=times.parameter - times.gradient),
    ]

    @always_comb
    def enter() -> None:
        advance.next = entry.valid and old.room and (there or not rule.update)
        take.next = entry.valid and old.room and there and rule.update

    @always_comb
    def leave() -> None:
        if rule.update:
            pushed.push.next = parameter_valid
            pushed.data.next = renewed
            pushed.tag.next = tag_new
        else:
            pushed.push.next = gradient_valid
            pushed.data.next = arrived.gradient
            pushed.tag.next = tag_chosen

    parts = front, passage, arithmetic, track, join, aligned, enter, leave
    if velocities is None or past is None:

        @always_comb
        def finish() -> None:
            there.next = old.valid
            progress.ends.next = old.end.ends
            progress.done.next = old.end.sent
            progress.framing_error.next = old.framing_error

        return parts, finish

    moved = Leaving(width, lanes)
    velocity_passage = _passage(
        clk,
        rst,
        start,
        streams=velocities,
        entry=entry,
        take=take,
        taken=take,
        leaving=moved,
        passing=past,
        with_biases=with_biases,
    )
    to_velocity = times.velocity - times.gradient
    velocity_aligned = delay(clk, d=tag_chosen, q=moved.tag, cycles=to_velocity)

    @always_comb
    def leave_velocity() -> None:
        moved.push.next = velocity_valid
        moved.data.next = velocity

    @always_comb
    def finish_both() -> None:
        there.next = old.valid and past.valid and past.room
        progress.ends.next = (
            (old.end.ends or old.end.sent)
            and (past.end.ends or past.end.sent or not rule.update)
            and not (old.end.sent and (past.end.sent or not rule.update))
        )
        progress.done.next = old.end.sent and (past.end.sent or not rule.update)
        progress.framing_error.next = old.framing_error or past.framing_error

    return parts, velocity_passage, velocity_aligned, leave_velocity, finish_both
