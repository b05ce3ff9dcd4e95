"""A stream of kernels: its handshake, its end, and each kernel as a write to the memory of a CU."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import Stream, count
from merp.hdl.cnn_merp.kernel_loader.beat_intake import beat_intake
from merp.hdl.cnn_merp.kernel_loader.collect_taps import collect_taps
from merp.hdl.cnn_merp.kernel_loader.piece_intake import piece_intake
from merp.hdl.cnn_merp.kernel_loader.widened_intake import widened_intake
from merp.hdl.cnn_merp.ports.kernels import KernelWrite
from merp.hdl.conversion.entity import Bit, Word
from merp.hdl.streams.beat_splitter import beat_splitter
from merp.models.machines.cnn_merp.params.design import Design


@block
def kernel_intake(
    clk: Bit,
    rst: Bit,
    start: Bit,
    sink: Stream,
    kernel: KernelWrite,
    cu: Word,
    addr: Word,
    final: Bit,
    taken: Bit,
    loaded: Bit,
    framing_error: Bit,
    design: Design,
    rotated: bool,
    size: Word = None,
    filling: Word = None,
    final_input: Bit = None,
) -> Any:
    """Take kernels from start to the final one, and write each to where the loader says.

    cu, addr       in   where the kernel at hand belongs
    final          in   it is the last one
    taken          out  its last element is transferred in this cycle; the write follows
    loaded         out  all were taken; until the next start
    framing_error  out  last came with another word than the stream's last; until start
    size           in   (of a design for smaller kernels) rows and columns of each
    filling, final_input  in  as in ``piece_intake``

    rotated: the first element lies highest. Reset: the load is abandoned.

    A beat has design.kernel_port elements, one behind the other over the whole stream. A memory
    takes a kernel in a cycle, so a beat of several kernels takes as many cycles.
    """
    if design.kernel_port > 1 and size is not None:
        return piece_intake(
            clk, rst, start, size=size, sink=sink, kernel=kernel, cu=cu, addr=addr, final=final,
            taken=taken, loaded=loaded, framing_error=framing_error, design=design, rotated=rotated,
            filling=filling, final_input=final_input,
        )  # fmt: skip
    if design.kernel_port > 1:
        whole = len(sink.data) == design.kernel_beat * design.fmt.width
        part = sink if whole else Stream(design.kernel_beat * design.fmt.width)
        intake = beat_intake(
            clk, rst, start, sink=part, kernel=kernel, cu=cu, addr=addr, final=final, taken=taken,
            loaded=loaded, framing_error=framing_error, design=design, rotated=rotated,
        )  # fmt: skip
        if whole:
            return intake
        return intake, beat_splitter(clk, rst, start, sink=sink, source=part, closing=final)
    if size is not None:
        return widened_intake(
            clk, rst, start, size=size, sink=sink, kernel=kernel, cu=cu, addr=addr, final=final,
            taken=taken, loaded=loaded, framing_error=framing_error, design=design, rotated=rotated,
        )  # fmt: skip
    taps, n_cu = design.taps, design.n_cu
    tap = count(taps)  # can also hold its limit, so that tap + 1 compares without a carry lost
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
