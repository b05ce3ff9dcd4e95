"""Report the state of a list to the host, and load the bitstream at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit
from merp.hdl.memory.bitstream_loader import BitstreamLoad, LoaderPorts, bitstream_loader
from merp.hdl.memory.processor_ports import ProcessorStatus
from merp.models.base.register_map import FLAGS
from merp.models.memory.params.subsystem import STATUS_BITS, SubsystemDesign


class SubsystemStatus:
    """Status that the host reads: the flags of every top, and the counters of a design."""

    def __init__(self, design: SubsystemDesign) -> None:
        vars(self).update({name: flag() for name in FLAGS})
        vars(self).update({name: bits(STATUS_BITS) for name in design.status})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return the signal of a flag or a counter."""


@block
def subsystem_status(
    clk: Bit,
    rst: Bit,
    start: Bit,
    idle: Bit,
    status: ProcessorStatus,
    shown: SubsystemStatus,
    loader: LoaderPorts,
) -> Any:
    """Show the state of a command processor in the registers of the host, and load a bitstream.

    start   in   pulse: a list begins
    idle    in   memory owes nothing to any stream
    status  in   state of the processor
    shown   out  flags and counters, without the first error
    icap    out  the ports of ICAPE2

    Latency: combinational, and cycles one cycle later. Reset: as that of the loader.
    """
    parts: list[Any] = []
    busy, ended, interrupting = status.busy, status.done, status.interrupt
    if status.loads:

        @always_comb
        def tell_load() -> None:
            shown.load.next = status.load
            shown.bitstream.next = status.bitstream

        parts.append(tell_load)
    if loader.has("icap"):
        busy, ended, interrupting, sending = (flag() for _ in range(4))

        @always_comb
        def hold() -> None:
            """End the list, for the host, after its load has been sent."""
            busy.next = status.busy or sending
            ended.next = status.done and not sending
            interrupting.next = status.interrupt and not sending

        parts += [
            hold,
            bitstream_loader(
                clk, rst, load=BitstreamLoad(status.load_begins, status.bitstream), idle=idle,
                busy=sending, icap=loader.icap,
            ),
        ]  # fmt: skip

    @always_comb
    def tell() -> None:
        shown.busy.next = busy
        shown.done.next = ended or interrupting
        shown.commands.next = status.commands
        shown.failure.next = status.failure
        shown.waiting.next = status.waiting

    @always(clk.posedge)
    def tally() -> None:
        if start:
            shown.cycles.next = 0
        elif status.busy:
            shown.cycles.next = shown.cycles + 1

    return tell, tally, parts
