"""Engines and the memory subsystem as one top: registers of the host, and one port to memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from myhdl import ConcatSignal, always_comb, block, intbv

from merp.hdl.axi.axi_lite import AxiLite
from merp.hdl.base.interface import GivenPorts, given_all
from merp.hdl.base.signals import BYTE, AxiStream, Bundles, Stream, bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.memory.axi4 import Axi4
from merp.hdl.memory.bitstream_loader import LoaderPorts
from merp.hdl.memory.last_started import last_started
from merp.hdl.memory.memory_subsystem import EnginePorts, memory_subsystem
from merp.hdl.memory.read_switch import read_switch
from merp.hdl.memory.register_commands import CONTROL_INDEX
from merp.hdl.memory.write_switch import write_switch
from merp.models.base.register_map import WORD_BYTES, RegisterMap
from merp.models.memory.params.subsystem import SubsystemDesign

CONTROL_OFFSET = WORD_BYTES * CONTROL_INDEX
"""Offset of the register ``control`` of every engine; its bit 0 starts a run."""

SIDES = ("s_axis", "m_axis")
"""Sides of an engine: streams that it reads, and streams that it writes."""


@dataclass(frozen=True)
class SystemEngine:
    """An engine in its AXI shell.

    Attributes:
        name: its name in the system.
        shell: the shell, an entity.
        args: the arguments of the shell by name, with signals of their own.
        movers: the name of the subsystem's stream that serves each stream, by its name with its
            side, such as ``s_axis_map``.
    """

    name: str
    shell: Callable[..., Any]
    args: Mapping[str, Any]
    movers: Mapping[str, str]

    def axis(self, stream: str) -> AxiStream:
        """Return a stream by its name with its side."""
        side = next(each for each in SIDES if stream.startswith(each))
        found: AxiStream = getattr(self.args[side], stream.removeprefix(f"{side}_"))
        return found


class MonitorPorts(GivenPorts):
    """Moved elements, starts and ends of all engines, for a monitor."""

    MEMBERS = given_all(moves=Word, begins=Word, ends=Word)


class _Use(NamedTuple):
    """The use of a stream of the subsystem by an engine, which has a number."""

    number: int
    axis: AxiStream


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
def _shown(word: Word, shown: Word) -> Any:
    """Show a word to a monitor."""

    @always_comb
    def show() -> None:
        shown.next = word

    return show


@block
def _joined(signals: Sequence[Any], word: Word) -> Any:
    """Join signals into a word, the first one lowest."""
    joined = ConcatSignal(*reversed(signals)) if len(signals) > 1 else signals[0]

    @always_comb
    def join() -> None:
        word.next = joined

    return join


def _uses(engines: Sequence[SystemEngine]) -> dict[str, list[_Use]]:
    """Return the uses of each stream of the subsystem, by its name."""
    uses: dict[str, list[_Use]] = {}
    for number, engine in enumerate(engines):
        for stream, mover in engine.movers.items():
            uses.setdefault(mover, []).append(_Use(number, engine.axis(stream)))
    return uses


def _source(width: int, uses: Sequence[_Use]) -> Stream:
    """Return a stream from memory, with marks of bytes if an engine needs them."""
    stream = Stream(width)
    if any(use.axis.tkeep is not None for use in uses):
        stream.keep = bits(width // BYTE)
    return stream


@block
def _reading(stream: Stream, uses: Sequence[_Use], selected: Word) -> Any:
    """Connect a stream from memory to the engines that use it."""
    keeps = [use.axis.tkeep for use in uses if use.axis.tkeep is not None]
    kept = [_kept(stream.keep, keep) for keep in keeps]
    if len(uses) == 1:
        return kept, _received(stream, uses[0].axis)
    own = [Stream(len(stream.data)) for _ in uses]
    received = [_received(each, use.axis) for each, use in zip(own, uses, strict=True)]
    numbers = tuple(use.number for use in uses)
    return kept, received, read_switch(selected, stream, _numbered(own, uses), numbers=numbers)


@block
def _writing(stream: Stream, uses: Sequence[_Use], selected: Word) -> Any:
    """Connect the engines that use a stream to memory with it."""
    if len(uses) == 1:
        return _sent(stream, uses[0].axis)
    own = [Stream(len(stream.data)) for _ in uses]
    sent = [_sent(each, use.axis) for each, use in zip(own, uses, strict=True)]
    numbers = tuple(use.number for use in uses)
    return sent, write_switch(selected, _numbered(own, uses), stream, numbers=numbers)


def _numbered(streams: Sequence[Stream], uses: Sequence[_Use]) -> Bundles:
    return Bundles({f"e{use.number}": each for each, use in zip(streams, uses, strict=True)})


def memory_system(engines: Sequence[SystemEngine]) -> Any:
    """Generate the entity ``memory_system`` with these engines.

    Their numbers in commands are their places in the sequence. Engines may share a stream of the
    subsystem. Then the engine that was started last has it.
    """

    def system(
        clk: Bit,
        rst: Bit,
        s_axi: AxiLite,
        m_axi: Axi4,
        loader: LoaderPorts,
        interrupt: Bit,
        monitor: MonitorPorts,
        registers: RegisterMap,
        design: SubsystemDesign,
    ) -> Any:
        """Run the engines by lists of commands in memory.

        s_axi      in   AXI4-Lite access of the host to the registers
        m_axi      out  memory
        icap       out  the ports of ICAPE2
        interrupt  out  high while the interrupt is enabled and pending
        moves      out  number of elements that move on each stream of the engines, a byte each:
                        engine by engine, inputs before outputs. For a monitor
        begins     out  a start is written to an engine; bit i is engine i. For a monitor
        ends       out  the interrupt of each engine, which follows its end by a cycle

        Reset: nothing moves; reset memory as well.
        """
        aresetn = flag()
        parts: list[Any] = [_not(rst, aresetn)]
        starters = [flag() for _ in engines]
        started = bits(len(engines))
        selected = bits(max(1, (len(engines) - 1).bit_length()))
        if len(engines) > 1:
            parts.append(last_started(clk, rst, begins=started, selected=selected))
        streams: dict[str, Stream] = {}
        uses = _uses(engines)
        for name, mover in design.readers:
            streams[name] = _source(mover.word_bits, uses[name])
            parts.append(_reading(streams[name], uses[name], selected))
        for name, mover in design.writers:
            streams[name] = Stream(mover.word_bits)
            parts.append(_writing(streams[name], uses[name], selected))
        interrupts, lines = bits(len(engines)), [flag() for _ in engines]
        parts.append(_joined(lines, interrupts))
        for engine, line, starter in zip(engines, lines, starters, strict=True):
            parts += [
                engine.shell(**{**engine.args, "aclk": clk, "aresetn": aresetn}),
                _copied(engine.args["interrupt"], line),
                _beginning(engine.args["s_axi"], starter),
            ]
        subsystem = memory_subsystem(
            clk, rst, s_axi=s_axi, streams=Bundles(streams),
            engines=EnginePorts(
                engines=Bundles({engine.name: engine.args["s_axi"] for engine in engines}),
                interrupts=interrupts,
            ),
            m_axi=m_axi, loader=loader, interrupt=interrupt, registers=registers, design=design,
        )  # fmt: skip
        axes = [engine.axis(stream) for engine in engines for stream in engine.movers]
        counts = [bits(BYTE) for _ in axes]
        parts += [_moving(axis, count) for axis, count in zip(axes, counts, strict=True)]
        parts += [_joined(counts, monitor.moves), _joined(starters, started)]
        parts += [_joined(lines, monitor.ends), _shown(started, monitor.begins)]
        return parts, subsystem

    system.__name__ = "memory_system"
    return entity(system)
