"""The update unit: gradients, old kernels and biases in, new kernels and biases out.

Stochastic gradient descent, v = RN(RN(mu*v) + g) and w' = RN(w - RN(lr*v)), with momentum or
without (CNN-MERP section III.B). With weight decay d = RN(g + RN(wd*w)) is in the place of g.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.arithmetic.scaled_sum import scaled_sum
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.ports.gradients import GradientRead, UpdateConfig
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig
from merp.hdl.cnn_merp.update_unit.either_end import either_end, without_biases
from merp.hdl.cnn_merp.update_unit.parameter_reader import parameter_reader
from merp.hdl.cnn_merp.update_unit.parameter_writer import parameter_writer
from merp.hdl.cnn_merp.update_unit.update_walk import update_walk
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.machines.cnn_merp.params.design import Design
from merp.models.machines.cnn_merp.params.kernel_update_registers import gradient_latency
from merp.models.machines.cnn_merp.params.latencies import GRADIENT_CHOICE, GRADIENT_READ, SLOT


@block
def _from_rest(gradient: Word, is_zero: Bit, velocity: Word) -> Any:
    """Velocity without momentum: RN(+0 + g), which is g but for the sign of zero.

    Weight decay may be added to that in the place of g: where its product is not a zero, neither is
    w, and a step of either zero leaves w as it is.
    """

    @always_comb
    def add_zero() -> None:
        if is_zero:
            velocity.next = 0
        else:
            velocity.next = gradient

    return add_zero


@entity
def update_unit(
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
    """Read the gradients out and update kernels and biases with them.

    final_issue    in   the run's last slot is issued; the update follows
    read, kernel_gradient  out, in  an element of the kernel gradients, GRADIENT_READ cycles later
    bias_read, bias_index, bias_gradient  out, out, in  the same of the bias gradients
    sink_*         in   kernels in the order m, n, row, column, then biases in the order m
    source_*       out  the same, updated; without config.update the gradients, and no sink is read
    *_velocity          velocities in the same order, if momentum is built
    config              weight decay is built if its register is there
    ends           out  the run's last word is transferred in this cycle
    done           out  it has been; until the next start
    framing_error  out  a last came with another word than its stream's last; until start
    with_biases    in   (where a pass can do without) biases follow the kernels
    filling        in   (of a design for fully connected layers) see update_walk
    size           in   (of a design for smaller kernels) see update_walk

    A pipeline that never stalls: an element enters when its words are there and so are places for
    what will come out. Throughput: an element per cycle. Reset: the update is abandoned.
    """
    fmt, width = design.fmt, design.fmt.width
    sign_at = width - 1
    step = design.mul_latency + design.add_latency
    with_momentum = sink_kernel_velocity is not None
    gradient_at = GRADIENT_READ + GRADIENT_CHOICE  # cycles after the entrance
    with_decay = config.has("weight_decay")
    decayed_at = gradient_at + (step if with_decay else 0)
    velocity_at = decayed_at + (step if with_momentum else 0)
    parameter_at = velocity_at + step
    places = parameter_at + CREDIT_RETURN + 1  # the decision

    walking, biases, last = flag(), flag(), flag()
    advance, take = flag(), flag()
    old, old_valid, old_error = bits(width), flag(), flag()
    room, credit = flag(), flag()
    # Gradients that are not to be used must not be seen behind their exit: the next run could be
    # there before they are.
    gradient_valid, velocity_valid, parameter_valid = flag(), flag(), flag()
    tag, tag_read, tag_chosen, tag_velocity, tag_new = (bits(2) for _ in range(5))
    gradient, is_zero = bits(width), flag()
    velocity, late_old, renewed = bits(width), bits(width), bits(width)
    push, pushed, pushed_last, pushed_biases = flag(), bits(width), flag(), flag()
    parameter_ends, parameter_sent = flag(), flag()
    listed = None if with_biases is None else flag()
    written_ends = None if with_biases is None else flag()
    written_sent = None if with_biases is None else flag()

    walk = update_walk(
        clk,
        rst,
        start,
        final_issue=final_issue,
        config=map_config,
        advance=advance,
        walking=walking if listed is None else listed,
        biases=biases,
        last=last,
        read=read,
        bias_read=bias_read,
        bias_index=bias_index,
        design=design,
        settle=SLOT + gradient_latency(design),
        filling=filling,
        size=size,
    )
    reader = parameter_reader(
        clk,
        rst,
        start,
        biases=biases,
        last=last,
        take=take,
        sink_kernel=sink_kernel,
        sink_bias=sink_bias,
        data=old,
        valid=old_valid,
        framing_error=old_error,
    )
    track = [
        valid_delay(clk, rst, d=advance, q=gradient_valid, cycles=gradient_at),
        valid_delay(clk, rst, d=take, q=velocity_valid, cycles=velocity_at),
        valid_delay(clk, rst, d=velocity_valid, q=parameter_valid, cycles=step),
    ]
    space = credit_gate(clk, rst, taken=advance, freed=credit, some=room, places=places)
    joined = ConcatSignal(last, biases)

    @always_comb
    def join() -> None:
        tag.next = joined

    @always(clk.posedge)
    def choose() -> None:
        if tag_read[0]:
            gradient.next = bias_gradient
            is_zero.next = bias_gradient[sign_at:] == 0
        else:
            gradient.next = kernel_gradient
            is_zero.next = kernel_gradient[sign_at:] == 0

    aligned = [
        delay(clk, d=tag, q=tag_read, cycles=GRADIENT_READ),
        delay(clk, d=tag_read, q=tag_chosen, cycles=1),
        delay(clk, d=tag_chosen, q=tag_new, cycles=parameter_at - gradient_at),
    ]
    near_old = bits(width) if with_decay else None
    rested = bits(width) if with_decay and not with_momentum else None
    decayed = bits(width) if with_decay and with_momentum else None
    if with_decay:
        aligned += [
            delay(clk, d=old, q=near_old, cycles=gradient_at),
            delay(clk, d=near_old, q=late_old, cycles=velocity_at - gradient_at),
            scaled_sum(
                clk,
                factor=config.weight_decay,
                x=near_old,
                addend=gradient if with_momentum else rested,
                y=decayed if with_momentum else velocity,
                subtract=False,
                fmt=fmt,
                mul_latency=design.mul_latency,
                add_latency=design.add_latency,
            ),
        ]
    else:
        aligned.append(delay(clk, d=old, q=late_old, cycles=velocity_at))
    descent = scaled_sum(
        clk,
        factor=config.rate,
        x=velocity,
        addend=late_old,
        y=renewed,
        subtract=True,
        fmt=fmt,
        mul_latency=design.mul_latency,
        add_latency=design.add_latency,
    )

    @always_comb
    def leave() -> None:
        if config.update:
            push.next = parameter_valid
            pushed.next = renewed
            pushed_biases.next = tag_new[0]
            pushed_last.next = tag_new[1]
        else:
            push.next = gradient_valid
            pushed.next = gradient
            pushed_biases.next = tag_chosen[0]
            pushed_last.next = tag_chosen[1]

    writer = parameter_writer(
        clk,
        rst,
        start,
        push=push,
        biases=pushed_biases,
        last=pushed_last,
        data=pushed,
        credit=credit,
        source_kernel=source_kernel,
        source_bias=source_bias,
        ends=parameter_ends if written_ends is None else written_ends,
        sent=parameter_sent if written_sent is None else written_sent,
        words=places,
    )
    parts = [walk, reader, track, space, join, choose, aligned, descent, leave, writer]
    if with_biases is not None:
        parts += [
            without_biases(
                clk,
                start,
                listed=listed,
                biases=biases,
                with_biases=with_biases,
                walking=walking,
            ),
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
            ),
        ]

    if not with_momentum:

        @always_comb
        def enter() -> None:
            advance.next = walking and room and (old_valid or not config.update)
            take.next = walking and room and old_valid and config.update

        @always_comb
        def finish() -> None:
            ends.next = parameter_ends
            done.next = parameter_sent
            framing_error.next = old_error

        return (
            *parts,
            enter,
            finish,
            _from_rest(
                gradient=gradient, is_zero=is_zero, velocity=rested if with_decay else velocity
            ),
        )

    past, past_valid, past_error = bits(width), flag(), flag()
    late_past = bits(width)
    velocity_last, velocity_biases = flag(), flag()
    velocity_room, velocity_credit = flag(), flag()
    velocity_ends, velocity_sent = flag(), flag()
    past_ends = None if with_biases is None else flag()
    past_sent = None if with_biases is None else flag()
    past_reader = parameter_reader(
        clk,
        rst,
        start,
        biases=biases,
        last=last,
        take=take,
        sink_kernel=sink_kernel_velocity,
        sink_bias=sink_bias_velocity,
        data=past,
        valid=past_valid,
        framing_error=past_error,
    )
    past_aligned = [
        delay(clk, d=past, q=late_past, cycles=decayed_at),
        delay(clk, d=tag_chosen, q=tag_velocity, cycles=velocity_at - gradient_at),
    ]
    momentum = scaled_sum(
        clk,
        factor=config.momentum,
        x=late_past,
        addend=decayed if with_decay else gradient,
        y=velocity,
        subtract=False,
        fmt=fmt,
        mul_latency=design.mul_latency,
        add_latency=design.add_latency,
    )
    velocity_space = credit_gate(
        clk, rst, taken=take, freed=velocity_credit, some=velocity_room, places=places
    )

    @always_comb
    def enter_both() -> None:
        advance.next = (
            walking and room and ((old_valid and past_valid and velocity_room) or not config.update)
        )
        take.next = (
            walking and room and old_valid and past_valid and velocity_room and config.update
        )

    @always_comb
    def leave_velocity() -> None:
        velocity_biases.next = tag_velocity[0]
        velocity_last.next = tag_velocity[1]

    velocity_writer = parameter_writer(
        clk,
        rst,
        start,
        push=velocity_valid,
        biases=velocity_biases,
        last=velocity_last,
        data=velocity,
        credit=velocity_credit,
        source_kernel=source_kernel_velocity,
        source_bias=source_bias_velocity,
        ends=velocity_ends if past_ends is None else past_ends,
        sent=velocity_sent if past_sent is None else past_sent,
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
