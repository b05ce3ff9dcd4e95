"""Common part of the kernel inputs that count elements themselves."""

from __future__ import annotations

from typing import Any

from myhdl import always, block

from merp.hdl.base.signals import Stream
from merp.hdl.cnn_merp.kernel_loader.intake_ports import IntakeState, KernelPlace
from merp.hdl.cnn_merp.ports.kernels import KernelWrite
from merp.hdl.conversion.entity import Bit


@block
def intake_end(
    clk: Bit,
    rst: Bit,
    start: Bit,
    sink: Stream,
    take: Bit,
    kernel: KernelWrite,
    place: KernelPlace,
    state: IntakeState,
    n_cu: int,
) -> Any:
    """Write each kernel that is ``taken``, and end with the final one, as ``kernel_intake`` does.

    take: a beat of sink is transferred in this cycle.
    """
    cu, addr, final = place.cu, place.addr, place.final
    taken, loaded, framing_error = state.taken, state.loaded, state.framing_error

    @always(clk.posedge)
    def write() -> None:
        kernel.enable.next = 0
        if rst or start:
            sink.ready.next = start and not rst
            loaded.next = False
            framing_error.next = False
        elif take:
            if sink.last:
                framing_error.next = True
            if taken:
                kernel.addr.next = addr
                for j in range(n_cu):
                    if cu == j:
                        kernel.enable.next[j] = True
                if final:
                    sink.ready.next = False
                    loaded.next = True
                    framing_error.next = framing_error or not sink.last

    return write
