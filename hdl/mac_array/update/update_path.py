"""From the sums of a sweep to gradients, and in the last image to new kernels and velocities."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.delay import delay
from merp.hdl.base.flag_counter import flag_counter
from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.ports.rounding import Readout, RoundedSums
from merp.hdl.mac_array.ports.updates import (
    ArrayUpdateConfig,
    ClippedFlags,
    Saturated,
    StepStreams,
    StepWords,
    SumBeat,
    step_words,
)
from merp.hdl.mac_array.update.circulant_order import circulant_order
from merp.hdl.mac_array.update.random_bits import random_bits
from merp.hdl.mac_array.update.sweep_drain import sweep_drain
from merp.hdl.mac_array.update.weight_update import TO_GRADIENT, TO_KERNEL, TO_VELOCITY
from merp.hdl.mac_array.update.weight_updates import weight_updates
from merp.hdl.streams.credit_source import credit_source
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.words import RANDOM_BITS, ROUNDED_BITS

TO_SHIFT = 2
"""Cycles from a place to the rounding shift of its sums."""

TO_ROUNDED = 5
"""Cycles from a place to its rounded sums."""

TO_INCREMENT = TO_ROUNDED + 1
"""Cycles from a place to the increments in circulant order."""

VELOCITY_AFTER, RANDOM_AFTER, KERNEL_AFTER = 1, 9, 10
"""Cycles from an increment to the other operands of its step."""

GRADIENT_WORDS, KERNEL_WORDS = 16, 32
"""Beats between a place and the port: those in the pipeline until a credit returns."""


@block
def _increments(
    clk: Bit,
    config: ArrayUpdateConfig,
    beat: SumBeat,
    sums: RoundedSums,
    increments: Word,
    belongs: Word,
) -> Any:
    """Round the sums of a beat, and put them into the order of parameters.

    increments, belongs  out  TO_INCREMENT cycles after beat
    """
    lanes = len(belongs)
    turn, lanes_late = bits(len(beat.turn)), bits(len(beat.lanes))
    due_bias = flag()
    within = bits(lanes)

    @always_comb
    def choose_shift() -> None:
        if due_bias:
            sums.shift.next = config.bias_shift
        else:
            sums.shift.next = config.shift

    @always_comb
    def include() -> None:
        for c in range(lanes):
            within.next[c] = lanes_late > c

    return (
        delay(clk, d=beat.bias, q=due_bias, cycles=TO_SHIFT),
        choose_shift,
        delay(clk, d=beat.turn, q=turn, cycles=TO_ROUNDED - 1),
        delay(clk, d=beat.lanes, q=lanes_late, cycles=TO_ROUNDED),
        include,
        circulant_order(
            clk,
            rounded=sums.rounded,
            valid=within,
            turn=turn,
            increments=increments,
            belongs=belongs,
        ),
    )


@block
def _old_words(clk: Bit, config: ArrayUpdateConfig, sinks: StepStreams, old: StepWords) -> Any:
    """Pass old words on when the step takes them; gradients begin at zero in the first image."""
    offered = bits(len(old.gradient))

    @always_comb
    def begin_at_zero() -> None:
        offered.next = 0
        if not config.first:
            offered.next = sinks.gradient.data

    delays = [
        delay(clk, d=offered, q=old.gradient, cycles=TO_INCREMENT),
        delay(clk, d=sinks.kernel.data, q=old.kernel, cycles=TO_INCREMENT + KERNEL_AFTER),
    ]
    if old.velocity is not None:
        velocity = sinks.velocity.data
        delays.append(delay(clk, d=velocity, q=old.velocity, cycles=TO_INCREMENT + VELOCITY_AFTER))
    return begin_at_zero, delays


@block
def _counted(
    clk: Bit, clear: Bit, taken: Bit, belongs: Word, clipped: Word, total: Word, later: int
) -> Any:
    """Count the clipped words that have an output map.

    ``taken``: a beat that gives such words is read, ``later`` cycles after its increments.
    """
    there = flag()
    due, counted = bits(len(belongs)), bits(len(belongs))

    @always_comb
    def choose() -> None:
        counted.next = 0
        if there:
            counted.next = due & clipped

    return (
        valid_delay(clk, clear, d=taken, q=there, cycles=TO_INCREMENT + later),
        delay(clk, d=belongs, q=due, cycles=later),
        choose,
        flag_counter(clk, clear=clear, flags=counted, total=total),
    )


@block
def _leaving(
    clk: Bit,
    clear: Bit,
    config: ArrayUpdateConfig,
    taken: Bit,
    room: Bit,
    new: Word,
    source: Stream,
    later: int,
    words: int,
) -> Any:
    """Send the new words of one kind.

    taken  in   a beat that gives such words is read, ``later`` cycles after its increments
    room   out  there is room for the words of a beat
    new    in   the new words
    """
    push = flag()
    return (
        valid_delay(clk, clear, d=taken, q=push, cycles=TO_INCREMENT + later),
        credit_source(
            clk,
            clear,
            total=config.beats,
            taken=taken,
            room=room,
            push=push,
            data=new,
            source=source,
            words=words,
        ),
    )


@block
def _velocities(
    clk: Bit,
    clear: Bit,
    config: ArrayUpdateConfig,
    valid: Bit,
    ready: Bit,
    permit: Bit,
    sink: Stream,
    source: Stream,
    new: Word,
) -> Any:
    """Read and write velocities; a beat that is ``ready`` also waits for its velocities.

    valid  in  a beat is read. permit: it may be read
    new    in  new velocities
    """
    velocity_room, velocity_taken = flag(), flag()

    @always_comb
    def agree_both() -> None:
        permit.next = ready and (
            (sink.valid and velocity_room) or not config.last or not config.has_momentum
        )

    @always_comb
    def take_velocity() -> None:
        sink.ready.next = valid and config.last and config.has_momentum
        velocity_taken.next = valid and config.last and config.has_momentum

    return (
        agree_both,
        take_velocity,
        _leaving(
            clk, clear, config=config, taken=velocity_taken, room=velocity_room, new=new,
            source=source, later=TO_VELOCITY, words=KERNEL_WORDS,
        ),
    )  # fmt: skip


@entity
def update_path(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: ArrayUpdateConfig,
    readout: Readout,
    sums: RoundedSums,
    sinks: StepStreams,
    sources: StepStreams,
    saturated: Saturated,
    design: ArrayDesign,
) -> Any:
    """Read sweep after sweep, and add it to the gradients; in the last image, take the update step.

    config     in       registers, stable from start on
    readout    in, out  reads the sums of a sweep from the second rank
    sums       in, out  rounding shift of the sums of a beat, and the rounded sums
    sinks      in       gradients of the previous images; in the last image also old kernels, biases
                        and velocities
    sources    out      new gradients; in the last image new kernels, biases and velocities instead
    saturated  out      number of clipped words of output maps, since start

    A beat is read once all inputs of its step are offered and there is room for all its outputs;
    the inputs are taken in the same cycle. Beats have KU order: tile of output maps, group of input
    maps, tile of taps, map, tap; biases follow each tile of output maps. Latency from place: 9
    cycles to new gradients, 13 to velocities, 19 to kernels. Throughput: a beat per cycle. Reset:
    as start, the pass is at its beginning and no beat is offered.
    """
    lanes = design.pof
    clear, permit, ready = flag(), flag(), flag()
    gradient_sink, kernel_sink = sinks.gradient, sinks.kernel
    gradient_room, gradient_taken, kernel_room, kernel_taken = (flag() for _ in range(4))
    beat = SumBeat(design)
    belongs, increments = bits(lanes), bits(lanes * ROUNDED_BITS)
    with_velocities = sinks.velocity is not None
    old = step_words(design.parameter_bits, velocity=with_velocities)
    new = step_words(design.parameter_bits)

    @always_comb
    def begin() -> None:
        clear.next = rst or start

    @always_comb
    def ask() -> None:
        if config.last:
            ready.next = kernel_sink.valid and kernel_room and (config.first or gradient_sink.valid)
        else:
            ready.next = gradient_room and (config.first or gradient_sink.valid)

    @always_comb
    def take() -> None:
        gradient_sink.ready.next = beat.valid and not config.first
        gradient_taken.next = beat.valid and not config.last
        kernel_sink.ready.next = beat.valid and config.last
        kernel_taken.next = beat.valid and config.last

    reading = [
        begin,
        ask,
        take,
        sweep_drain(
            clk,
            rst,
            start,
            config=config,
            readout=readout,
            permit=permit,
            beat=beat,
            design=design,
        ),
    ]

    beside = [
        _increments(
            clk, config=config, beat=beat, sums=sums, increments=increments, belongs=belongs
        ),
        _old_words(clk, config=config, sinks=sinks, old=old),
    ]
    clipped = ClippedFlags(design)
    drawing: Any = ()
    random: Any = None
    if design.stochastic:
        random, used = bits(lanes * RANDOM_BITS), flag()
        drawing = (
            valid_delay(clk, clear, d=kernel_taken, q=used, cycles=TO_INCREMENT + RANDOM_AFTER),
            random_bits(clk, start, advance=used, seed=config.seed, drawn=random),
        )
    stepping = weight_updates(
        clk,
        config=config,
        increments=increments,
        old=old,
        new=new,
        clipped=clipped,
        design=design,
        random=random,
    )

    counting = [
        _counted(
            clk,
            clear,
            taken=taken,
            belongs=belongs,
            clipped=getattr(clipped, name),
            total=getattr(saturated, name),
            later=later,
        )
        for name, taken, later in (
            ("gradient", beat.valid, TO_GRADIENT),
            ("velocity", kernel_taken, TO_VELOCITY),
            ("kernel", kernel_taken, TO_KERNEL),
        )
    ]

    leaving = [
        _leaving(
            clk, clear, config=config, taken=gradient_taken, room=gradient_room, new=new.gradient,
            source=sources.gradient, later=TO_GRADIENT, words=GRADIENT_WORDS,
        ),
        _leaving(
            clk, clear, config=config, taken=kernel_taken, room=kernel_room, new=new.kernel,
            source=sources.kernel, later=TO_KERNEL, words=KERNEL_WORDS,
        ),
    ]  # fmt: skip
    parts = reading, beside, drawing, stepping, counting, leaving
    if not with_velocities:

        @always_comb
        def agree() -> None:
            permit.next = ready

        return *parts, agree

    return *parts, _velocities(
        clk,
        clear,
        config=config,
        valid=beat.valid,
        ready=ready,
        permit=permit,
        sink=sinks.velocity,
        source=sources.velocity,
        new=new.velocity,
    )
