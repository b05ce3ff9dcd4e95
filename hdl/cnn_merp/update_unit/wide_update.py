"""The update unit of several elements per cycle.

As ``update_unit``, but gradients are read ahead: where a beat begins in a kernel changes from beat
to beat, and a memory gives parts of one kernel at a time.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.arithmetic.scaled_sum import scaled_sum
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.ports.gradients import GradientBeat, GradientRead, UpdateConfig
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig
from merp.hdl.cnn_merp.update_unit.beat_writer import beat_writer
from merp.hdl.cnn_merp.update_unit.either_end import either_end
from merp.hdl.cnn_merp.update_unit.gradient_beats import gradient_beats
from merp.hdl.cnn_merp.update_unit.parameter_reader import parameter_reader
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.machines.cnn_merp.params.design import Design
from merp.models.machines.cnn_merp.params.latencies import UPDATE_ENTRY


@block
def _from_rest(clk: Bit, gradient: Word, velocity: Word) -> Any:
    """Velocity without momentum, a cycle later: RN(+0 + g), which is g but for zero's sign.

    As in ``update_unit``, weight decay may be added to that.
    """
    sign_at = len(gradient) - 1

    @always(clk.posedge)
    def add_zero() -> None:
        if gradient[sign_at:] == 0:
            velocity.next = 0
        else:
            velocity.next = gradient

    return add_zero


@block
def _scaled_sums(
    clk: Bit, factor: Word, x: Word, addend: Word, y: Word, subtract: bool, design: Design
) -> Any:
    """``scaled_sum`` of every element of a beat."""
    width = design.fmt.width
    found = [bits(width) for _ in range(design.kernel_port)]
    joined = ConcatSignal(*reversed(found))

    @always_comb
    def join() -> None:
        y.next = joined

    return join, [
        scaled_sum(
            clk,
            factor=factor,
            x=x((i + 1) * width, i * width),
            addend=addend((i + 1) * width, i * width),
            y=found[i],
            subtract=subtract,
            fmt=design.fmt,
            mul_latency=design.mul_latency,
            add_latency=design.add_latency,
            beside=design.beside,
        )
        for i in range(design.kernel_port)
    ]


@block
def _velocities_from_rest(clk: Bit, gradients: Word, velocities: Word, design: Design) -> Any:
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


@entity
def wide_update(
    clk: Bit,
    rst: Bit,
    start: Bit,
    final_issue: Bit,
    map_config: GradientMapConfig,
    config: UpdateConfig,
    read: GradientRead,
    kernel_gradient: Word,
    bias_read: Bit,
    bias_index: Word,
    bias_gradient: Word,
    sink_kernel: Stream,
    sink_bias: Stream,
    source_kernel: Stream,
    source_bias: Stream,
    ends: Bit,
    done: Bit,
    framing_error: Bit,
    design: Design,
    sink_kernel_velocity: Stream | None = None,
    sink_bias_velocity: Stream | None = None,
    source_kernel_velocity: Stream | None = None,
    source_bias_velocity: Stream | None = None,
    with_biases: Bit = None,
    filling: Word = None,
    size: Word = None,
) -> Any:
    """Read the gradients out and update kernels and biases with them, kernel_port per cycle.

    final_issue    in   the run's last slot is issued; the update follows
    read, kernel_gradient  out, in  as in ``gradient_beats``
    bias_read, bias_index, bias_gradient  out, out, in  as in ``gradient_beats``
    sink_*         in   kernels in the order m, n, row, column, then biases in the order m
    source_*       out  the same, updated; without config.update the gradients, and no sink is read
    *_velocity          velocities in the same order, if momentum is built
    config              weight decay is built if its register is there
    ends           out  the run's last beat is transferred in this cycle
    done           out  it has been; until the next start
    framing_error  out  a last came with another beat than its stream's last; until start
    with_biases    in   (where a pass can do without) biases follow the kernels
    filling        in   (of a design for fully connected layers) see kernel_reads
    size           in   (of a design for smaller kernels) see kernel_reads

    A pipeline that never stalls: a beat enters when its words are there and so are places for what
    will come out. Throughput: a beat per cycle of kernels, an element of biases. Reset: the update
    is abandoned.
    """
    lanes, width = design.kernel_port, design.fmt.width
    beat_bits = lanes * width
    step = design.mul_latency + design.add_latency
    with_momentum = sink_kernel_velocity is not None
    with_decay = config.has("weight_decay")
    decayed_at = UPDATE_ENTRY + (step if with_decay else 0)
    velocity_at = decayed_at + (step if with_momentum else 0)
    parameter_at = velocity_at + step
    places = parameter_at + CREDIT_RETURN + 1  # the decision

    beat = GradientBeat(design)
    advance, take = flag(), flag()
    old, old_valid, old_error = bits(beat_bits), flag(), flag()
    room, credit = flag(), flag()
    # Gradients that are not to be used must not be seen behind their exit: the next run could be
    # there before they are.
    gradient_valid, velocity_valid, parameter_valid = flag(), flag(), flag()
    tag, tag_chosen, tag_new = (bits(2 + lanes) for _ in range(3))
    gradients, velocities, late_old, renewed = (bits(beat_bits) for _ in range(4))
    push, pushed, pushed_tag = flag(), bits(beat_bits), bits(2 + lanes)
    pushed_last, pushed_biases, pushed_keep = flag(), flag(), bits(lanes)
    parameter_ends, parameter_sent = flag(), flag()
    written_ends = parameter_ends if with_biases is None else flag()
    written_sent = parameter_sent if with_biases is None else flag()

    beats = gradient_beats(
        clk,
        rst,
        start,
        final_issue=final_issue,
        map_config=map_config,
        read=read,
        kernel_gradient=kernel_gradient,
        bias_read=bias_read,
        bias_index=bias_index,
        bias_gradient=bias_gradient,
        beat=beat,
        take=advance,
        design=design,
        with_biases=with_biases,
        filling=filling,
        size=size,
    )
    reader = parameter_reader(
        clk,
        rst,
        start,
        biases=beat.biases,
        last=beat.last,
        take=take,
        sink_kernel=sink_kernel,
        sink_bias=sink_bias,
        data=old,
        valid=old_valid,
        framing_error=old_error,
    )
    track = [
        valid_delay(clk, rst, d=advance, q=gradient_valid, cycles=UPDATE_ENTRY),
        valid_delay(clk, rst, d=take, q=velocity_valid, cycles=velocity_at),
        valid_delay(clk, rst, d=velocity_valid, q=parameter_valid, cycles=step),
    ]
    space = credit_gate(clk, rst, taken=advance, freed=credit, some=room, places=places)
    joined = ConcatSignal(beat.keep, beat.last, beat.biases)

    @always_comb
    def join() -> None:
        tag.next = joined

    aligned = [
        delay(clk, d=beat.data, q=gradients, cycles=UPDATE_ENTRY),
        delay(clk, d=tag, q=tag_chosen, cycles=UPDATE_ENTRY),
        delay(clk, d=tag_chosen, q=tag_new, cycles=parameter_at - UPDATE_ENTRY),
    ]
    near_old = bits(beat_bits) if with_decay else None
    rested = bits(beat_bits) if with_decay and not with_momentum else None
    decayed = bits(beat_bits) if with_decay and with_momentum else None
    if with_decay:
        aligned += [
            delay(clk, d=old, q=near_old, cycles=UPDATE_ENTRY),
            delay(clk, d=near_old, q=late_old, cycles=velocity_at - UPDATE_ENTRY),
            _scaled_sums(
                clk, factor=config.weight_decay, x=near_old,
                addend=gradients if with_momentum else rested,
                y=decayed if with_momentum else velocities, subtract=False, design=design,
            ),
        ]  # fmt: skip
    else:
        aligned.append(delay(clk, d=old, q=late_old, cycles=velocity_at))
    descent = _scaled_sums(
        clk, factor=config.rate, x=velocities, addend=late_old, y=renewed, subtract=True,
        design=design,
    )  # fmt: skip

    @always_comb
    def leave() -> None:
        if config.update:
            push.next = parameter_valid
            pushed.next = renewed
            pushed_tag.next = tag_new
        else:
            push.next = gradient_valid
            pushed.next = gradients
            pushed_tag.next = tag_chosen

    @always_comb
    def untie() -> None:
        pushed_biases.next = pushed_tag[0]
        pushed_last.next = pushed_tag[1]
        pushed_keep.next = pushed_tag[:2]

    writer = beat_writer(
        clk,
        rst,
        start,
        push=push,
        biases=pushed_biases,
        last=pushed_last,
        keep=pushed_keep,
        data=pushed,
        credit=credit,
        source_kernel=source_kernel,
        source_bias=source_bias,
        ends=written_ends,
        sent=written_sent,
        words=places,
    )
    parts = [beats, reader, track, space, join, aligned, descent, leave, untie, writer]
    if with_biases is not None:
        parts.append(
            either_end(
                clk,
                rst,
                start,
                with_biases=with_biases,
                kernels=source_kernel,
                biases_end=written_ends,
                biases_sent=written_sent,
                ends=parameter_ends,
                sent=parameter_sent,
            )
        )

    if not with_momentum:

        @always_comb
        def enter() -> None:
            advance.next = beat.valid and room and (old_valid or not config.update)
            take.next = beat.valid and room and old_valid and config.update

        @always_comb
        def finish() -> None:
            ends.next = parameter_ends
            done.next = parameter_sent
            framing_error.next = old_error

        rest = _velocities_from_rest(
            clk,
            gradients=beat.data,
            velocities=rested if with_decay else velocities,
            design=design,
        )
        return *parts, enter, finish, rest

    past, past_valid, past_error = bits(beat_bits), flag(), flag()
    late_past = bits(beat_bits)
    tag_velocity = bits(2 + lanes)
    velocity_last, velocity_biases, velocity_keep = flag(), flag(), bits(lanes)
    velocity_room, velocity_credit = flag(), flag()
    velocity_ends, velocity_sent = flag(), flag()
    past_ends = velocity_ends if with_biases is None else flag()
    past_sent = velocity_sent if with_biases is None else flag()
    past_reader = parameter_reader(
        clk,
        rst,
        start,
        biases=beat.biases,
        last=beat.last,
        take=take,
        sink_kernel=sink_kernel_velocity,
        sink_bias=sink_bias_velocity,
        data=past,
        valid=past_valid,
        framing_error=past_error,
    )
    past_aligned = [
        delay(clk, d=past, q=late_past, cycles=decayed_at),
        delay(clk, d=tag_chosen, q=tag_velocity, cycles=velocity_at - UPDATE_ENTRY),
    ]
    momentum = _scaled_sums(
        clk, factor=config.momentum, x=late_past, addend=decayed if with_decay else gradients,
        y=velocities, subtract=False, design=design,
    )  # fmt: skip
    velocity_space = credit_gate(
        clk, rst, taken=take, freed=velocity_credit, some=velocity_room, places=places
    )

    @always_comb
    def enter_both() -> None:
        advance.next = (
            beat.valid
            and room
            and ((old_valid and past_valid and velocity_room) or not config.update)
        )
        take.next = (
            beat.valid and room and old_valid and past_valid and velocity_room and config.update
        )

    @always_comb
    def leave_velocity() -> None:
        velocity_biases.next = tag_velocity[0]
        velocity_last.next = tag_velocity[1]
        velocity_keep.next = tag_velocity[:2]

    velocity_writer = beat_writer(
        clk,
        rst,
        start,
        push=velocity_valid,
        biases=velocity_biases,
        last=velocity_last,
        keep=velocity_keep,
        data=velocities,
        credit=velocity_credit,
        source_kernel=source_kernel_velocity,
        source_bias=source_bias_velocity,
        ends=past_ends,
        sent=past_sent,
        words=places,
    )
    if with_biases is not None:
        parts.append(
            either_end(
                clk,
                rst,
                start,
                with_biases=with_biases,
                kernels=source_kernel_velocity,
                biases_end=past_ends,
                biases_sent=past_sent,
                ends=velocity_ends,
                sent=velocity_sent,
            )
        )

    @always_comb
    def finish_both() -> None:
        ends.next = (
            (parameter_ends or parameter_sent)
            and (velocity_ends or velocity_sent or not config.update)
            and not (parameter_sent and (velocity_sent or not config.update))
        )
        done.next = parameter_sent and (velocity_sent or not config.update)
        framing_error.next = old_error or past_error

    return (
        *parts, past_reader, past_aligned, momentum, velocity_space, enter_both, leave_velocity,
        velocity_writer, finish_both,
    )  # fmt: skip
