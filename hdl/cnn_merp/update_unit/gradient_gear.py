"""Convert gradients from the width of the reads to the width of the output beats."""

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
    """Put reads end to end, separately for kernels and biases.

    read, read_valid  in       head of the FIFO of reads: gradient_read elements, zero behind those
                               that count. Above them: three flags: the last read of a kernel, a
                               bias, the last of its kind.
    load              out      the read is taken.
    beat, take        out, in  a beat, and that it is used; take only while it is valid

    Latency: a beat is valid a cycle after its last read was taken. Throughput: a read and a beat
    per cycle, without a bubble. The last read of a kernel may have too few elements for a beat; the
    reads before it have as many more. Reset, and start: empty.
    """
    lanes, width = design.kernel_port, design.fmt.width
    each, last_each = design.gradient_read, _last_read(design)
    size = each * width
    short_at, bias_at, last_at = size, size + 1, size + 2
    # This number of elements waits before a read that lacks some, and fills a beat with it.
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
        # A read is appended behind all waiting elements, and used elements are removed from both.
        # This order is used because the use is known late in a cycle.
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
            # A table is faster than a second sum behind the first one.
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
    """Return the number of elements of the last read of a kernel."""
    return design.taps - (design.gradient_reads - 1) * design.gradient_read
