"""All elements of the kernels and biases of a layer, in the order of their streams.

If beats have several elements, ``gradient_read`` elements of a kernel are listed together.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import count, flag
from merp.hdl.cnn_merp.update_unit.gradient_address import gradient_address
from merp.hdl.cnn_merp.update_unit.missing_taps import filled_map, smaller_kernel
from merp.hdl.cnn_merp.update_unit.update_ports import (
    Extent,
    GradientPlace,
    KernelEnd,
    ListedElement,
    WalkPlace,
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

    Throughput: an element per cycle; each tap without an element in front of the last element of a
    kernel takes a cycle. Reset: no element.
    """
    config, read, bias = extent.map, place.kernel, place.bias
    biases, last = element.biases, element.last
    filling, size = (None, None) if reads is not None else (extent.filling, extent.size)
    settle, n_cu = SLOT + gradient_latency(design), design.n_cu
    waiting = count(settle)
    last_tap = flag() if reads is None else reads.ends
    kernel_over = last_tap if filling is None else flag()
    whole_kernel = kernel_over if size is None else flag()
    at = WalkPlace(design, element.valid, advance, last_tap)
    if size is not None:
        at.walking, at.advance = flag(), flag()

    @always_comb
    def locate() -> None:
        at.last_map.next = at.group + 1 == config.groups and at.cu + 1 == config.last_cus

    @always_comb
    def tell() -> None:
        at.in_kernels.next = at.walking and not biases
        read.enable.next = at.walking and not biases
        bias.enable.next = at.walking and biases
        last.next = at.last_map and (biases or (at.channel + 1 == config.inputs and at.last_tap))

    @always(clk.posedge)
    def walk() -> None:
        if waiting != 0:
            waiting.next = waiting - 1
            at.walking.next = waiting == 1
        if final_issue:
            waiting.next = settle
        if at.advance and at.in_kernels:
            if at.last_tap:
                if at.channel + 1 != config.inputs:
                    at.channel.next = at.channel + 1
                else:
                    at.channel.next = 0
                    if at.last_map:
                        biases.next = True
                        at.cu.next = 0
                        at.group.next = 0
                    elif at.cu + 1 != n_cu:
                        at.cu.next = at.cu + 1
                    else:
                        at.cu.next = 0
                        at.group.next = at.group + 1
        elif at.advance:
            if at.last_map:
                at.walking.next = False
            else:
                bias.index.next = bias.index + 1
                if at.cu + 1 != n_cu:
                    at.cu.next = at.cu + 1
                else:
                    at.cu.next = 0
                    at.group.next = at.group + 1
        if start or rst:
            waiting.next = 0
            at.walking.next = False
            biases.next = False
            at.channel.next = 0
            at.cu.next = 0
            at.group.next = 0
            bias.index.next = 0

    address = gradient_address(
        clk,
        rst,
        start,
        config=config,
        at=at,
        read=read,
        whole_kernel=whole_kernel if reads is None else None,
        design=design,
    )
    smaller: Any = ()
    if size is not None:
        smaller = smaller_kernel(
            clk,
            rst,
            start,
            size=size,
            at=at,
            element=element,
            used=advance,
            whole_kernel=whole_kernel,
            kernel_over=kernel_over,
            k=design.k,
        )
    filled: Any = ()
    if filling is not None:
        filled = filled_map(
            clk,
            rst,
            start,
            config=config,
            filling=filling,
            at=at,
            kernel_over=kernel_over,
            taps=design.taps,
        )
    if reads is None:
        return locate, tell, walk, address, smaller, filled

    @always_comb
    def tell_input() -> None:
        reads.final_input.next = at.channel + 1 == config.inputs

    return locate, tell, tell_input, walk, address
