"""Input of a stream of kernels: handshake, end, and the write of each kernel to a CU."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import Stream, count
from merp.hdl.cnn_merp.kernel_loader.beat_intake import beat_intake
from merp.hdl.cnn_merp.kernel_loader.intake_ports import (
    IntakeState,
    KernelPlace,
    SmallerKernels,
)
from merp.hdl.cnn_merp.kernel_loader.piece_intake import piece_intake
from merp.hdl.cnn_merp.kernel_loader.widened_intake import widened_intake
from merp.hdl.cnn_merp.ports.kernels import KernelWrite
from merp.hdl.conversion.entity import Bit
from merp.hdl.streams.beat_splitter import beat_splitter
from merp.hdl.streams.collect_taps import collect_taps
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def kernel_intake(
    clk: Bit,
    rst: Bit,
    start: Bit,
    sink: Stream,
    kernel: KernelWrite,
    place: KernelPlace,
    state: IntakeState,
    design: EngineDesign,
    rotated: bool,
    smaller: SmallerKernels | None = None,
) -> Any:
    """Take kernels from start to the final one, and write each to the place from the loader.

    place    in   destination of the current kernel
    state    out  the kernel is taken; all were taken; framing errors
    smaller  in   size of the kernels

    rotated: the first element is highest. Reset: the load is abandoned.

    A beat has design.kernel_port elements, without gaps over the whole stream. A memory takes a
    kernel per cycle, so a beat of several kernels takes as many cycles.
    """
    common: dict[str, Any] = dict(
        kernel=kernel, place=place, state=state, design=design, rotated=rotated
    )
    if smaller is not None:
        intake: Any = piece_intake if design.kernel_port > 1 else widened_intake
        return intake(clk, rst, start, smaller=smaller, sink=sink, **common)
    if design.kernel_port > 1:
        whole = len(sink.data) == design.kernel_beat * design.fmt.width
        part = sink if whole else Stream(design.kernel_beat * design.fmt.width)
        beats = beat_intake(clk, rst, start, sink=part, **common)
        if whole:
            return beats
        return beats, beat_splitter(clk, rst, start, sink=sink, source=part, closing=place.final)
    cu, addr, final = place.cu, place.addr, place.final
    taken, loaded, framing_error = state.taken, state.loaded, state.framing_error
    taps, n_cu = design.taps, design.n_cu
    # can also hold its limit, so that tap + 1 can be compared without losing a carry
    tap = count(taps)
    collect = collect_taps(
        clk, sink=sink, collected=kernel.data, width=design.fmt.width, rotated=rotated
    )

    @always_comb
    def complete() -> None:
        taken.next = sink.valid and sink.ready and tap + 1 == taps

    @always(clk.posedge)
    def load() -> None:
        kernel.enable.next = 0
        if rst or start:
            sink.ready.next = start and not rst
            loaded.next = False
            framing_error.next = False
            tap.next = 0
        elif sink.valid and sink.ready:
            if sink.last:
                framing_error.next = True
            if not taken:
                tap.next = tap + 1
            else:
                tap.next = 0
                kernel.addr.next = addr
                for j in range(n_cu):
                    if cu == j:
                        kernel.enable.next[j] = True
                if final:
                    sink.ready.next = False
                    loaded.next = True
                    framing_error.next = framing_error or not sink.last

    return collect, complete, load
