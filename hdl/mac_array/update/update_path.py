"""From the sums of a sweep to gradients, and in the last image to new kernels and velocities."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.delay import delay
from merp.hdl.base.flag_counter import flag_counter
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.ports.updates import Beat, Clipped, Saturated, UpdateConfig
from merp.hdl.mac_array.update.circulant_order import circulant_order
from merp.hdl.mac_array.update.random_bits import random_bits
from merp.hdl.mac_array.update.sweep_drain import sweep_drain
from merp.hdl.mac_array.update.weight_update import TO_GRADIENT, TO_KERNEL, TO_VELOCITY
from merp.hdl.mac_array.update.weight_updates import weight_updates
from merp.hdl.streams.credit_source import credit_source
from merp.models.machines.mac_array.params.design import Design
from merp.models.machines.mac_array.params.words import RANDOM_BITS, ROUNDED_BITS

TO_SHIFT = 2
"""Cycles from a place to the shift that its sums are rounded by."""

TO_ROUNDED = 5
"""Cycles from a place to its rounded sums."""

TO_INCREMENT = TO_ROUNDED + 1
"""Cycles from a place to the increments in circulant order."""

VELOCITY_AFTER, RANDOM_AFTER, KERNEL_AFTER = 1, 9, 10
"""Cycles from an increment to what else its step needs."""

GRADIENT_WORDS, KERNEL_WORDS = 16, 32
"""Beats between a place and the port: what is on its way until a credit comes back."""


@block
def _counted(
    clk: Bit, clear: Bit, taken: Bit, belongs: Word, clipped: Word, total: Word, later: int
) -> Any:
    """Count what was clipped of the words that have an output map.

    ``taken``: a beat is read that gives such words, ``later`` cycles after its increments.
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
def _velocities(
    clk: Bit,
    clear: Bit,
    config: UpdateConfig,
    valid: Bit,
    ready: Bit,
    permit: Bit,
    sink: Stream,
    source: Stream,
    new: Word,
) -> Any:
    """Velocities in and out; a beat that is ``ready`` needs theirs, too.

    valid  in   a beat is read. permit: it may be
    new    in   new velocities
    """
    velocity_room, velocity_taken, velocity_push = flag(), flag(), flag()

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
        valid_delay(
            clk, clear, d=velocity_taken, q=velocity_push, cycles=TO_INCREMENT + TO_VELOCITY
        ),
        credit_source(
            clk,
            clear,
            total=config.beats,
            taken=velocity_taken,
            room=velocity_room,
            push=velocity_push,
            data=new,
            source=source,
            words=KERNEL_WORDS,
        ),
    )


@entity
def update_path(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: UpdateConfig,
    copied: Bit,
    place: Word,
    drained: Bit,
    shift: Word,
    rounded: Word,
    gradient_sink: Stream,
    kernel_sink: Stream,
    gradient_source: Stream,
    kernel_source: Stream,
    saturated: Saturated,
    design: Design,
    velocity_sink: Stream | None = None,
    velocity_source: Stream | None = None,
) -> Any:
    """Read sweep after sweep, and add to gradients; in the last image, take the step.

    config          in   registers, stable from start on
    copied          in   pulse: from this cycle on the second rank has another sweep
    place           out  the MAC that is read there
    drained         out  pulse: it is the sweep's last one
    shift           out  two cycles later: n + 15, by which its sums are rounded
    rounded         in   five cycles after place: a rounded sum of each lane, lane 0 lowest
    gradient_sink   in   what the images before have left; not in the first image
    kernel_sink     in   old kernels and biases; in the last image
    velocity_sink   in   (where it is built) old velocities; in the last image, with momentum
    gradient_source  out  new gradients; not in the last image
    kernel_source    out  new kernels and biases; in the last image
    velocity_source  out  (where it is built) new velocities; in the last image, with momentum
    saturated       out  words of output maps that were clipped, since start

    A beat is read when all that its step needs is offered, which is taken in that cycle, and when
    there is room for all that it gives. Beats have KU order: tile of output maps, group of input
    maps, tile of taps, map, tap; biases behind each tile of output maps.
    Latency: place to gradient_source 9, to velocity_source 13, to kernel_source 19. Throughput: a
    beat per cycle. Reset: as start, the pass is at its beginning and no beat is offered.
    """
    lanes = design.pof
    clear, permit, ready = flag(), flag(), flag()
    gradient_room, gradient_taken, gradient_push = flag(), flag(), flag()
    kernel_room, kernel_taken, kernel_push = flag(), flag(), flag()
    beat = Beat(design)
    turn, lanes_late = count(lanes - 1), count(lanes)
    due_bias = flag()
    within, belongs = bits(lanes), bits(lanes)
    increments = bits(lanes * ROUNDED_BITS)
    offered, gradients, kernels = (bits(design.parameter_bits) for _ in range(3))

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

    @always_comb
    def begin_at_zero() -> None:
        offered.next = 0
        if not config.first:
            offered.next = gradient_sink.data

    reading = [
        begin,
        ask,
        take,
        begin_at_zero,
        sweep_drain(
            clk,
            rst,
            start,
            config=config,
            copied=copied,
            permit=permit,
            place=place,
            drained=drained,
            beat=beat,
            design=design,
        ),
    ]

    @always_comb
    def choose_shift() -> None:
        if due_bias:
            shift.next = config.bias_shift
        else:
            shift.next = config.shift

    @always_comb
    def include() -> None:
        for c in range(lanes):
            within.next[c] = lanes_late > c

    beside = [
        delay(clk, d=beat.bias, q=due_bias, cycles=TO_SHIFT),
        choose_shift,
        delay(clk, d=beat.turn, q=turn, cycles=TO_ROUNDED - 1),
        delay(clk, d=beat.lanes, q=lanes_late, cycles=TO_ROUNDED),
        include,
        circulant_order(
            clk,
            rounded=rounded,
            valid=within,
            turn=turn,
            increments=increments,
            belongs=belongs,
        ),
        delay(clk, d=offered, q=gradients, cycles=TO_INCREMENT),
        delay(clk, d=kernel_sink.data, q=kernels, cycles=TO_INCREMENT + KERNEL_AFTER),
    ]

    new_gradients, new_velocities, new_kernels = (bits(design.parameter_bits) for _ in range(3))
    clipped = Clipped(design)
    more: dict[str, Any] = {}
    drawing: Any = ()
    if velocity_sink is not None:
        velocities = bits(design.parameter_bits)
        more["velocities"] = velocities
        drawing = delay(
            clk, d=velocity_sink.data, q=velocities, cycles=TO_INCREMENT + VELOCITY_AFTER
        )
    if design.stochastic:
        drawn, used = bits(lanes * RANDOM_BITS), flag()
        more["random"] = drawn
        drawing = (
            drawing,
            valid_delay(clk, clear, d=kernel_taken, q=used, cycles=TO_INCREMENT + RANDOM_AFTER),
            random_bits(clk, start, advance=used, seed=config.seed, drawn=drawn),
        )
    stepping = weight_updates(
        clk,
        config=config,
        increments=increments,
        gradients=gradients,
        kernels=kernels,
        new_gradients=new_gradients,
        new_velocities=new_velocities,
        new_kernels=new_kernels,
        clipped=clipped,
        design=design,
        **more,
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
        valid_delay(
            clk, clear, d=gradient_taken, q=gradient_push, cycles=TO_INCREMENT + TO_GRADIENT
        ),
        credit_source(
            clk,
            clear,
            total=config.beats,
            taken=gradient_taken,
            room=gradient_room,
            push=gradient_push,
            data=new_gradients,
            source=gradient_source,
            words=GRADIENT_WORDS,
        ),
        valid_delay(clk, clear, d=kernel_taken, q=kernel_push, cycles=TO_INCREMENT + TO_KERNEL),
        credit_source(
            clk,
            clear,
            total=config.beats,
            taken=kernel_taken,
            room=kernel_room,
            push=kernel_push,
            data=new_kernels,
            source=kernel_source,
            words=KERNEL_WORDS,
        ),
    ]
    parts = reading, beside, drawing, stepping, counting, leaving
    if velocity_sink is None:

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
        sink=velocity_sink,
        source=velocity_source,
        new=new_velocities,
    )
