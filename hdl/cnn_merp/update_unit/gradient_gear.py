"""Gradients as they are read to beats of as many as leave together."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.gradients import GradientBeat
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def gradient_gear(
    clk: Bit,
    rst: Bit,
    start: Bit,
    read: Word,
    read_valid: Bit,
    load: Bit,
    beat: GradientBeat,
    take: Bit,
    design: EngineDesign,
) -> Any:
    """Put reads end to end, those of kernels and those of biases apart.

    read, read_valid  in   head of the FIFO of reads: gradient_read elements, zero behind those that
                           count; above them whether it is a kernel's last read, a bias, and the
                           last of its kind
    load              out  it is taken
    beat, take        out, in  a beat, and that it is used; only while it is valid

    Latency: a beat is valid a cycle after its last read was taken. Throughput: a read and a beat
    per cycle, without a bubble: a kernel's last read may have too few elements for a beat, those
    before it have so many more. Reset, and start: empty.
    """
    lanes, width = design.kernel_port, design.fmt.width
    each, last_each = design.gradient_read, _last_read(design)
    size = each * width
    short_at, bias_at, last_at = size, size + 1, size + 2
    # So many elements are there before a read that lacks some, with which it fills a beat.
    enough = lanes + (max(0, lanes - last_each) if design.taps >= lanes else 0)
    most = enough - 1 + each
    whole = (most + lanes) * width
    shift_bits = whole.bit_length()
    gathered = bits(most * width)  # zeros beyond fill
    fill = count(most + lanes)
    ending, ended = flag(), flag()

    @always_comb
    def offer() -> None:
        ended.next = take and ending and fill <= lanes
        beat.valid.next = fill >= lanes or ending
        beat.last.next = ending and fill <= lanes
        beat.data.next = gathered[lanes * width :]
        for i in range(lanes):
            beat.keep.next[i] = i < fill

    @always_comb
    def fetch() -> None:
        if take:
            load.next = read_valid and fill < enough + lanes and (ended or not ending)
        else:
            load.next = read_valid and fill < enough and not ending

    @always(clk.posedge)
    def gather() -> None:
        # A read goes behind all that is there, and what is used leaves both: whether it is used is
        # known late in a cycle.
        kept = intbv(0)[whole:]
        placed = intbv(0)[whole:]
        at = intbv(0)[len(fill) :]
        left = intbv(0)[len(fill) :]
        rest = intbv(0)[len(fill) :]
        shift = intbv(0)[shift_bits:]
        kept[:] = gathered
        at[:] = fill
        left[:] = fill
        if ending:
            at[:] = lanes
        if load:
            placed[:] = read[size:]
            for i in range(enough + lanes):
                if at == i:
                    shift[:] = i * width
            kept[:] = kept | (placed << shift)
        if take:
            kept[:] = kept >> (lanes * width)
            left[:] = 0
            for i in range(lanes + 1, most + 1):
                if fill == i:
                    left[:] = i - lanes
            if ended:
                ending.next = False
        if load:
            # A table is quicker than a second sum behind the first one.
            rest[:] = left
            for i in range(enough):
                if rest == i:
                    if read[bias_at]:
                        left[:] = i + 1
                    elif read[short_at]:
                        left[:] = i + last_each
                    else:
                        left[:] = i + each
            beat.biases.next = read[bias_at]
            ending.next = read[last_at]
        gathered.next = kept[most * width :]
        fill.next = left
        if start or rst:
            gathered.next = 0
            fill.next = 0
            ending.next = False

    return offer, fetch, gather


def _last_read(design: EngineDesign) -> int:
    """Elements of a kernel's last read."""
    return design.taps - (design.gradient_reads - 1) * design.gradient_read
