"""Input of kernels: writes each beat of a pass to its address, and reports the progress.

Source: the RTL compiler's paper, section III.D: memory holds kernels in the order of the buffer.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.ports.arrivals import KernelArrivals
from merp.hdl.mac_array.ports.kernels import BiasTileWrite, KernelBeatWrite
from merp.hdl.mac_array.ports.registers import KernelsConfig
from merp.hdl.streams.run_span import run_span
from merp.models.machines.mac_array.params.design import ArrayDesign


@entity
def parameter_intake(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: KernelsConfig,
    sink: Stream,
    write: KernelBeatWrite,
    bias: BiasTileWrite,
    kernels: KernelArrivals,
    framing_error: Bit,
    design: ArrayDesign,
) -> Any:
    """Take the kernel beats of a pass, and in FP the biases behind each tile.

    config         in   registers, stable from start to loaded
    sink           in   beats with ascending addresses within a run. FP: one run for each tile of
                        lanes. DP: one run for each tile of output maps in each tile of lanes
    write, bias    out  a cycle after the transfer
    kernels        out  FP: addresses that have arrived; the last address of a tile counts once its
                        biases have arrived. DP: runs that have arrived
    framing_error  out  last arrived with a beat other than the last of the pass; until start

    Latency: a slot can read counted addresses two cycles later. Throughput: a beat per cycle.
    Reset: no beat is taken.
    """
    progress, loaded = kernels.progress, kernels.loaded
    top = 2 * design.kernel_words
    taking = flag()
    address, run_base, group_base = count(top), count(top), count(top)
    left = count(top)  # beats left in this run, this beat included
    part, group = count(design.max_tiles), count(design.max_tiles)
    biases_next = flag()
    take, ends_run, last_part, last_group, final = (flag() for _ in range(5))

    @always_comb
    def accept() -> None:
        sink.ready.next = taking
        take.next = sink.valid and taking

    @always_comb
    def tell() -> None:
        ends_run.next = biases_next or (config.transposed and left == 1)
        last_part.next = part + 1 == config.parts
        last_group.next = group + 1 == config.groups

    @always_comb
    def end() -> None:
        final.next = ends_run and last_part and last_group

    @always(clk.posedge)
    def walk() -> None:
        if take:
            if ends_run or (left != 1 and not config.transposed):
                progress.next = progress + 1
            if not ends_run:
                address.next = address + 1
                left.next = left - 1
                biases_next.next = left == 1
            else:
                biases_next.next = False
                left.next = config.run
                if not last_part:
                    part.next = part + 1
                    address.next = run_base + config.part_step
                    run_base.next = run_base + config.part_step
                    if last_group:
                        left.next = config.last_run
                elif not last_group:
                    part.next = 0
                    group.next = group + 1
                    address.next = group_base + config.group_step
                    run_base.next = group_base + config.group_step
                    group_base.next = group_base + config.group_step
                    if group + 2 == config.groups:
                        left.next = config.last_run
        if start:
            biases_next.next = False
            progress.next = 0
            address.next = 0
            run_base.next = 0
            group_base.next = 0
            part.next = 0
            group.next = 0
            left.next = config.run
            if config.groups == 1:
                left.next = config.last_run

    @always(clk.posedge)
    def put() -> None:
        write.enable.next = take and not biases_next
        bias.enable.next = take and biases_next
        write.data.next = sink.data
        bias.data.next = sink.data
        if take and not biases_next:
            write.addr.next = address
        if take:
            bias.addr.next = group
        if rst:
            write.enable.next = False
            bias.enable.next = False

    span = run_span(
        clk, rst, start, taken=take, last=sink.last, final=final, taking=taking, complete=loaded,
        framing_error=framing_error,
    )  # fmt: skip
    return accept, tell, end, walk, put, span
