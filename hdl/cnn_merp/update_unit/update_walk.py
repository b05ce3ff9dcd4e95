"""All elements of the kernels and biases of a layer, in the order of their streams.

If beats have several elements, ``gradient_read`` elements of a kernel are listed together.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import count, flag
from merp.hdl.cnn_merp.update_unit.update_ports import (
    Extent,
    GradientPlace,
    KernelEnd,
    ListedElement,
)
from merp.hdl.conversion.entity import Bit, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import gradient_latency
from merp.models.machines.cnn_merp.params.latencies import SLOT


@entity
def update_walk(
    clk: Bit,
    rst: Bit,
    start: Bit,
    final_issue: Bit,
    extent: Extent,
    advance: Bit,
    element: ListedElement,
    place: GradientPlace,
    design: EngineDesign,
    reads: KernelEnd | None = None,
) -> Any:
    """List kernel elements in the order m, n, row, column, then biases in the order m.

    final_issue  in       the last slot of the run is issued; its gradients are readable SLOT +
                          gradient_latency cycles later
    extent       in       with filling or size, taps without elements are skipped
    advance      in       the current element is used in this cycle
    element      out      the current element
    place        out      address of its gradient
    reads        in, out  (if a read of several elements can lack some, in place of filling and
                          size) ends of the kernels

    Tap t is element t mod lanes of the word t div lanes; such words of a kernel are kernel_words
    apart.

    Throughput: an element per cycle; each tap without an element in front of the last element of a
    kernel takes a cycle. Reset: no element.
    """
    config, read, bias = extent.map, place.kernel, place.bias
    walking, biases, last = element.valid, element.biases, element.last
    filling, size = (None, None) if reads is not None else (extent.filling, extent.size)
    settle = SLOT + gradient_latency(design)
    n_cu, k, width = design.n_cu, design.k, design.fmt.width
    lanes, kernel_words = design.gradient_lanes, design.kernel_words
    last_lane = (lanes - 1) * width
    last_step, end_lane = (design.taps - 1) // lanes, (design.taps - 1) % lanes * width
    if design.kernel_port > 1:
        # A read has several elements: all elements of the words at an address, or a part of a wide
        # word.
        width, last_read = 1, design.gradient_reads - 1
        last_step, last_lane = (last_read, 0) if design.ku_kind == "row" else (0, last_read)
        end_lane = last_lane
    waiting = count(settle)
    channel = count(design.max_maps)
    cu = count(n_cu)
    group = count(design.groups)
    base = count(design.kernel_words + design.groups)  # of the kernel's first word
    addr = count(design.gradient_words + design.groups)
    step = count(last_step)  # word of the kernel
    last_tap = flag() if reads is None else reads.ends
    in_kernels = flag()
    last_map = flag()

    whole_kernel = last_tap if filling is None and size is None else flag()
    shown, used = walking, advance
    passes_over: Any = ()
    if size is not None:
        walking, advance = flag(), flag()
        row, column = count(k), count(k)
        beside, corner = flag(), flag()  # a tap without an element; the last tap with one

        @always_comb
        def recognise() -> None:
            beside.next = walking and not biases and column >= size
            corner.next = row + 1 == size and column + 1 == size

        @always_comb
        def pass_over() -> None:
            shown.next = walking and not beside
            advance.next = used or beside

        @always(clk.posedge)
        def go_through() -> None:
            if advance and in_kernels:
                if last_tap:
                    row.next = 0
                    column.next = 0
                elif column + 1 == k:
                    row.next = row + 1
                    column.next = 0
                else:
                    column.next = column + 1
            if start or rst:
                row.next = 0
                column.next = 0

        passes_over = recognise, pass_over, go_through

    if reads is None:

        @always_comb
        def place() -> None:
            last_map.next = group + 1 == config.groups and cu + 1 == config.last_cus
            whole_kernel.next = step == last_step and read.tap_shift == end_lane

        placed = place
    else:

        @always_comb
        def place_map() -> None:
            last_map.next = group + 1 == config.groups and cu + 1 == config.last_cus
            reads.final_input.next = channel + 1 == config.inputs

        placed = place_map

    @always_comb
    def tell() -> None:
        in_kernels.next = walking and not biases
        read.enable.next = walking and not biases
        bias.enable.next = walking and biases
        read.addr.next = addr
        last.next = last_map and (biases or (channel + 1 == config.inputs and last_tap))

    @always(clk.posedge)
    def walk() -> None:
        if waiting != 0:
            waiting.next = waiting - 1
            walking.next = waiting == 1
        if final_issue:
            waiting.next = settle
        if advance and in_kernels:
            if not last_tap:
                if read.tap_shift != last_lane:
                    read.tap_shift.next = read.tap_shift + width
                else:
                    read.tap_shift.next = 0
                    step.next = step + 1
                    addr.next = addr + kernel_words
            else:
                read.tap_shift.next = 0
                step.next = 0
                if channel + 1 != config.inputs:
                    channel.next = channel + 1
                    base.next = base + config.groups
                    addr.next = base + config.groups
                else:
                    channel.next = 0
                    if last_map:
                        biases.next = True
                        cu.next = 0
                        group.next = 0
                        base.next = 0
                        addr.next = 0
                    elif cu + 1 != n_cu:
                        cu.next = cu + 1
                        read.cu_shift.next = read.cu_shift + width
                        base.next = group
                        addr.next = group
                    else:
                        cu.next = 0
                        read.cu_shift.next = 0
                        group.next = group + 1
                        base.next = group + 1
                        addr.next = group + 1
        elif advance:
            if last_map:
                walking.next = False
            else:
                bias.index.next = bias.index + 1
                if cu + 1 != n_cu:
                    cu.next = cu + 1
                else:
                    cu.next = 0
                    group.next = group + 1
        if start or rst:
            waiting.next = 0
            walking.next = False
            biases.next = False
            channel.next = 0
            cu.next = 0
            group.next = 0
            base.next = 0
            addr.next = 0
            step.next = 0
            read.tap_shift.next = 0
            read.cu_shift.next = 0
            bias.index.next = 0

    instances: Any = (placed, tell, walk)
    kernel_over = whole_kernel
    if size is not None:
        kernel_over = last_tap if filling is None else flag()

        @always_comb
        def end_early() -> None:
            kernel_over.next = whole_kernel or corner

        instances = placed, tell, walk, passes_over, end_early
    if filling is None:
        return instances

    taps = design.taps
    tap = count(taps)

    @always_comb
    def end() -> None:
        last_tap.next = kernel_over or (channel + 1 == config.inputs and tap + filling + 1 == taps)

    @always(clk.posedge)
    def tally() -> None:
        if advance and in_kernels:
            if last_tap:
                tap.next = 0
            else:
                tap.next = tap + 1
        if start or rst:
            tap.next = 0

    return instances, end, tally
