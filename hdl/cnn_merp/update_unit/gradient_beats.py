"""All gradients of a layer, several per beat, in the order of the streams that they update."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.ports.gradients import GradientBeat
from merp.hdl.cnn_merp.update_unit.counted_gear import counted_gear
from merp.hdl.cnn_merp.update_unit.either_end import without_biases
from merp.hdl.cnn_merp.update_unit.gradient_gear import gradient_gear
from merp.hdl.cnn_merp.update_unit.kernel_reads import kernel_reads
from merp.hdl.cnn_merp.update_unit.read_elements import read_elements
from merp.hdl.cnn_merp.update_unit.update_ports import (
    Extent,
    GradientAccess,
    KernelEnd,
    ListedElement,
)
from merp.hdl.cnn_merp.update_unit.update_walk import update_walk
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.hdl.streams.stream_slice import stream_slice
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.latencies import GRADIENT_CHOICE, GRADIENT_READ


@block
def _choose(clk: Bit, tag: Word, kernel: Word, bias: Word, read: Word, design: EngineDesign) -> Any:
    """Join a read with its tag: elements that count, and zeros above them."""
    kept = (design.taps - (design.gradient_reads - 1) * design.gradient_read) * design.fmt.width
    chosen, late_tag = bits(len(kernel)), bits(len(tag))
    joined = ConcatSignal(late_tag, chosen)

    @always(clk.posedge)
    def choose() -> None:
        late_tag.next = tag
        if tag[1]:
            chosen.next = bias
        elif tag[0]:
            chosen.next = kernel[kept:]
        else:
            chosen.next = kernel

    @always_comb
    def join() -> None:
        read.next = joined

    return choose, join


@block
def _ordered(
    clk: Bit,
    rst: Bit,
    start: Bit,
    head: Word,
    head_valid: Bit,
    load: Bit,
    beat: GradientBeat,
    take: Bit,
    design: EngineDesign,
    uneven: bool,
) -> Any:
    """Make beats of reads, and hold one.

    The use of a beat is known late in a cycle, and the next read depends on it.
    """
    data_bits = len(beat.data)
    made = GradientBeat(design)
    packed = ConcatSignal(made.keep, made.last, made.biases, made.data)
    beat_bits = bits(len(packed))
    held = bits(len(packed))
    clear, free, moved = flag(), flag(), flag()
    gear = (counted_gear if uneven else gradient_gear)(
        clk,
        rst,
        start,
        read=head,
        read_valid=head_valid,
        load=load,
        beat=made,
        take=moved,
        design=design,
    )
    hold = stream_slice(
        clk,
        clear=clear,
        data=beat_bits,
        valid=made.valid,
        ready=free,
        held=held,
        held_valid=beat.valid,
        held_ready=take,
    )

    @always_comb
    def hand_on() -> None:
        clear.next = start or rst
        moved.next = made.valid and free

    @always_comb
    def pack() -> None:
        beat_bits.next = packed

    @always_comb
    def unpack() -> None:
        beat.data.next = held[data_bits:]
        beat.biases.next = held[data_bits]
        beat.last.next = held[data_bits + 1]
        beat.keep.next = held[: data_bits + 2]

    return gear, hold, hand_on, pack, unpack


@entity
def gradient_beats(
    clk: Bit,
    rst: Bit,
    start: Bit,
    final_issue: Bit,
    extent: Extent,
    gradients: GradientAccess,
    beat: GradientBeat,
    take: Bit,
    design: EngineDesign,
) -> Any:
    """Read the gradients ahead of their use.

    final_issue  in       the last slot of the run is issued; the gradients follow
    extent       in       the range of the gradients
    gradients    out, in  addresses of gradients, and the gradients; those of kernels follow
                          GRADIENT_READ and round_latency cycles later.
    beat, take   out, in  kernel_port gradients, and that they are used; take only while valid

    Throughput: a read per cycle, and a beat. Reset: nothing is read.
    """
    filling, size, uneven = extent.filling, extent.size, extent.uneven
    width = design.fmt.width
    to_tag = GRADIENT_READ + design.round_latency
    to_read = to_tag + GRADIENT_CHOICE
    places = to_read + CREDIT_RETURN + 1  # one more for the decision
    last_part = design.gradient_reads - 1
    listed, walking = ListedElement(), flag()
    biases, last = listed.biases, listed.last
    if extent.with_biases is None:
        walking = listed.valid
    advance, some, credit, push = flag(), flag(), flag(), flag()
    part = count(last_part)
    kernel = KernelEnd()
    ends_kernel = kernel.ends
    lacks = None if filling is None else flag()
    tag_bits = 2 if uneven and filling is None else 3
    tag, late_tag = bits(tag_bits), bits(tag_bits)
    if not uneven:
        joined = ConcatSignal(last, biases, ends_kernel)
    elif filling is None:
        joined = ConcatSignal(last, biases)
    else:
        joined = ConcatSignal(last, lacks, biases)
    late_bias = bits(width)
    above = 1 + len(count(design.gradient_read)) if uneven else tag_bits
    read_bits = design.gradient_read * width + above
    found, head = bits(read_bits), bits(read_bits)
    head_valid, load = flag(), flag()

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
        reads=kernel if uneven else None,
    )
    space = credit_gate(clk, rst, taken=advance, freed=credit, some=some, places=places)

    if uneven:

        @always_comb
        def step_on() -> None:
            advance.next = walking and some

        ends = kernel_reads(
            clk,
            part=part,
            final_input=kernel.final_input,
            ends=ends_kernel,
            design=design,
            lacks=lacks,
            filling=filling,
            size=size,
        )
        stepping: Any = (step_on, ends)
    else:

        @always_comb
        def step() -> None:
            advance.next = walking and some
            ends_kernel.next = part == last_part

        stepping = step

    @always_comb
    def join() -> None:
        tag.next = joined

    @always(clk.posedge)
    def parts() -> None:
        if advance and not biases:
            if ends_kernel:
                part.next = 0
            else:
                part.next = part + 1
        if start or rst:
            part.next = 0

    aligned: list[Any] = [
        valid_delay(clk, rst, d=advance, q=push, cycles=to_read),
        delay(clk, d=tag, q=late_tag, cycles=to_tag),
    ]
    if design.round_latency:
        aligned.append(delay(clk, d=gradients.bias, q=late_bias, cycles=design.round_latency))
    else:
        late_bias = gradients.bias
    if uneven:
        choose = read_elements(
            clk, part=part, tag=late_tag, kernel=gradients.kernel, bias=late_bias, read=found,
            design=design, tag_latency=to_tag, filling=filling, size=size,
        )  # fmt: skip
    else:
        choose = _choose(
            clk, tag=late_tag, kernel=gradients.kernel, bias=late_bias, read=found, design=design
        )
    waiting = credit_fifo(
        clk,
        rst,
        push=push,
        data=found,
        head=head,
        head_valid=head_valid,
        take=load,
        credit=credit,
        words=places,
    )
    ordered = _ordered(
        clk,
        rst,
        start,
        head=head,
        head_valid=head_valid,
        load=load,
        beat=beat,
        take=take,
        design=design,
        uneven=uneven,
    )
    stop: Any = ()
    if extent.with_biases is not None:
        stop = without_biases(
            clk,
            start,
            listed=listed.valid,
            biases=biases,
            with_biases=extent.with_biases,
            walking=walking,
        )
    return walk, space, stepping, join, parts, aligned, choose, waiting, ordered, stop
