"""Engines and the memory subsystem as one top: registers of the host, and one port to memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from myhdl import ConcatSignal, always_comb, block, intbv

from merp.hdl.axi.axi_lite import AxiLite
from merp.hdl.base.signals import BYTE, AxiStream, Bundles, Stream, bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.memory.axi4 import Axi4
from merp.hdl.memory.command_processor import CONTROL_INDEX
from merp.hdl.memory.memory_subsystem import memory_subsystem
from merp.models.base.register_map import WORD_BYTES, RegisterMap
from merp.models.memory.params.subsystem import SubsystemDesign

CONTROL_OFFSET = WORD_BYTES * CONTROL_INDEX
"""Offset of the register ``control`` of every engine; its bit 0 starts a run."""

IN, OUT = "in", "out"
"""Ends of the names of streams, which an engine reads and writes."""


@dataclass(frozen=True)
class SystemEngine:
    """An engine in its AXI shell.

    Attributes:
        name: its name in the system.
        shell: the shell, an entity.
        args: the arguments of the shell by name, with signals of their own.
    """

    name: str
    shell: Callable[..., Any]
    args: Mapping[str, Any]

    def streams(self, side: str) -> dict[str, AxiStream]:
        """Return the streams of a side (``s_axis`` or ``m_axis``), by their name in the system."""
        end = IN if side == "s_axis" else OUT
        return {f"{self.name}_{name}_{end}": each for name, each in vars(self.args[side]).items()}


@block
def _received(stream: Stream, axis: AxiStream) -> Any:
    """Hand on the words of memory, without their padding, to an engine."""
    width = len(axis.tdata)

    @always_comb
    def hand_on() -> None:
        axis.tdata.next = stream.data[width:]
        axis.tvalid.next = stream.valid
        axis.tlast.next = stream.last
        stream.ready.next = axis.tready

    return hand_on


@block
def _kept(keep: Word, tkeep: Word) -> Any:
    """Hand on the marks of bytes to an engine."""
    size = len(tkeep)

    @always_comb
    def hand_on() -> None:
        tkeep.next = keep[size:]

    return hand_on


@block
def _sent(stream: Stream, axis: AxiStream) -> Any:
    """Hand on the words of an engine, with zeros as their padding, to memory."""

    @always_comb
    def hand_on() -> None:
        stream.data.next = axis.tdata
        stream.valid.next = axis.tvalid
        stream.last.next = axis.tlast
        axis.tready.next = stream.ready

    return hand_on


@block
def _moving(axis: AxiStream, moves: Word) -> Any:
    """Tell how many elements move in this cycle."""
    lanes = axis.lanes

    if axis.tkeep is None:

        @always_comb
        def watch() -> None:
            moves.next = axis.tvalid and axis.tready

    else:
        step = len(axis.tkeep) // lanes
        keep = axis.tkeep

        @always_comb
        def watch() -> None:
            elements = intbv(0, min=0, max=lanes + 1)
            elements[:] = 0
            for i in range(lanes):
                if keep[i * step]:
                    elements[:] = elements + 1
            moves.next = 0
            if axis.tvalid and axis.tready:
                moves.next = elements

    return watch


@block
def _beginning(s_axi: AxiLite, begins: Bit) -> Any:
    """Tell that an engine begins: its answer to the write of its start is then on the bus."""

    @always_comb
    def watch() -> None:
        begins.next = s_axi.bvalid and s_axi.awaddr == CONTROL_OFFSET and s_axi.wdata[0]

    return watch


@block
def _not(value: Bit, inverse: Bit) -> Any:
    """Invert a reset."""

    @always_comb
    def invert() -> None:
        inverse.next = not value

    return invert


@block
def _copied(line: Bit, copy: Bit) -> Any:
    """Copy an interrupt."""

    @always_comb
    def hand_on() -> None:
        copy.next = line

    return hand_on


@block
def _joined(signals: Sequence[Any], word: Word) -> Any:
    """Join signals into a word, the first one lowest."""
    joined = ConcatSignal(*reversed(signals)) if len(signals) > 1 else signals[0]

    @always_comb
    def join() -> None:
        word.next = joined

    return join


def memory_system(engines: Sequence[SystemEngine]) -> Any:
    """Generate the entity ``memory_system`` with these engines.

    Their numbers in commands are their places in the sequence.
    """

    def system(
        clk: Bit,
        rst: Bit,
        s_axi: AxiLite,
        m_axi: Axi4,
        interrupt: Bit,
        moves: Word,
        begins: Word,
        ends: Word,
        registers: RegisterMap,
        design: SubsystemDesign,
    ) -> Any:
        """Run the engines by lists of commands in memory.

        s_axi      in   AXI4-Lite access of the host to the registers
        m_axi      out  memory
        interrupt  out  high while the interrupt is enabled and pending
        moves      out  number of elements that move; byte i is of stream i. For a monitor
        begins     out  a start is written to an engine; bit i is engine i. For a monitor
        ends       out  the interrupt of each engine, which follows its end by a cycle

        Reset: nothing moves; reset memory as well.
        """
        aresetn = flag()
        parts: list[Any] = [_not(rst, aresetn)]
        streams: dict[str, Stream] = {}
        axes: dict[str, AxiStream] = {}
        widths = {name: each.word_bits for name, each in (*design.readers, *design.writers)}
        for engine in engines:
            axes |= engine.streams("s_axis") | engine.streams("m_axis")
            for name, axis in engine.streams("s_axis").items():
                streams[name] = Stream(widths[name])
                parts.append(_received(streams[name], axis))
                if axis.tkeep is not None:
                    streams[name].keep = bits(widths[name] // BYTE)
                    parts.append(_kept(streams[name].keep, axis.tkeep))
            for name, axis in engine.streams("m_axis").items():
                streams[name] = Stream(widths[name])
                parts.append(_sent(streams[name], axis))
            parts.append(engine.shell(**{**engine.args, "aclk": clk, "aresetn": aresetn}))
        interrupts, lines = bits(len(engines)), [flag() for _ in engines]
        parts.append(_joined(lines, interrupts))
        parts += [
            _copied(each.args["interrupt"], line) for each, line in zip(engines, lines, strict=True)
        ]
        subsystem = memory_subsystem(
            clk, rst, s_axi=s_axi, streams=Bundles(streams),
            engines=Bundles({engine.name: engine.args["s_axi"] for engine in engines}),
            interrupts=interrupts, m_axi=m_axi, interrupt=interrupt, registers=registers,
            design=design,
        )  # fmt: skip
        movers = [bits(BYTE) for _ in streams]
        starters = [flag() for _ in engines]
        parts += [
            _moving(axes[name], move)
            for name, move in zip((n for n in design.numbers if n in axes), movers, strict=True)
        ]
        parts += [
            _beginning(each.args["s_axi"], line)
            for each, line in zip(engines, starters, strict=True)
        ]
        parts += [_joined(movers, moves), _joined(starters, begins), _joined(lines, ends)]
        return parts, subsystem

    system.__name__ = "memory_system"
    return entity(system)
