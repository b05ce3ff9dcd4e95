"""Address of the kernel gradient at which the walk over all elements is."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import count
from merp.hdl.cnn_merp.ports.gradients import GradientRead
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig
from merp.hdl.cnn_merp.update_unit.update_ports import WalkPlace
from merp.hdl.conversion.entity import Bit
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def gradient_address(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: GradientMapConfig,
    at: WalkPlace,
    read: GradientRead,
    whole_kernel: Bit,
    design: EngineDesign,
) -> Any:
    """Follow the walk with the word of the gradient, and the place of the gradient in it.

    Tap t is element t mod lanes of the word t div lanes; such words of a kernel are kernel_words
    apart.

    whole_kernel  out  the tap is the last one of k*k; None if reads of several elements end kernels
    """
    n_cu, width = design.n_cu, design.fmt.width
    lanes, kernel_words = design.gradient_lanes, design.kernel_words
    last_lane = (lanes - 1) * width
    last_step, end_lane = (design.taps - 1) // lanes, (design.taps - 1) % lanes * width
    if design.kernel_port > 1:
        # A read has several elements: all elements of the words at an address, or a part of a wide
        # word.
        width, last_read = 1, design.gradient_reads - 1
        last_step, last_lane = (last_read, 0) if design.ku_kind == "row" else (0, last_read)
        end_lane = last_lane
    base = count(design.kernel_words + design.groups)  # of the kernel's first word
    addr = count(design.gradient_words + design.groups)
    step = count(last_step)  # word of the kernel

    @always_comb
    def present() -> None:
        read.addr.next = addr

    @always(clk.posedge)
    def follow() -> None:
        if at.advance and at.in_kernels:
            if not at.last_tap:
                if read.tap_shift != last_lane:
                    read.tap_shift.next = read.tap_shift + width
                else:
                    read.tap_shift.next = 0
                    step.next = step + 1
                    addr.next = addr + kernel_words
            else:
                read.tap_shift.next = 0
                step.next = 0
                if at.channel + 1 != config.inputs:
                    base.next = base + config.groups
                    addr.next = base + config.groups
                elif at.last_map:
                    base.next = 0
                    addr.next = 0
                elif at.cu + 1 != n_cu:
                    read.cu_shift.next = read.cu_shift + width
                    base.next = at.group
                    addr.next = at.group
                else:
                    read.cu_shift.next = 0
                    base.next = at.group + 1
                    addr.next = at.group + 1
        if start or rst:
            base.next = 0
            addr.next = 0
            step.next = 0
            read.tap_shift.next = 0
            read.cu_shift.next = 0

    if whole_kernel is None:
        return present, follow

    @always_comb
    def end() -> None:
        whole_kernel.next = step == last_step and read.tap_shift == end_lane

    return present, follow, end
