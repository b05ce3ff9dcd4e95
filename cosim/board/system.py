"""Tops with a memory subsystem, as one accelerator of a board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from merp.hdl.axi.axi_lite import AxiLite
from merp.hdl.base.signals import bits, flag
from merp.hdl.memory.axi4 import Axi4
from merp.hdl.memory.bitstream_loader import LoaderPorts
from merp.hdl.memory.memory_system import MonitorPorts, SystemEngine, memory_system
from merp.models.base.register_map import RegisterMap
from merp.models.memory.params.commands import ENGINE
from merp.models.memory.params.memory_port import BYTE, MemoryPort
from merp.models.memory.params.mover import Mover
from merp.models.memory.params.subsystem import Loader, SubsystemDesign
from merp.testbenches.axi.axi_top import axi_top
from merp.testbenches.top.top import Pin, Top, TopPorts

ENDS = {"s_axis_": "in", "m_axis_": "out"}
"""Ends of the names of the subsystem's streams, which an engine reads and writes."""


@dataclass(frozen=True)
class BoardEngine:
    """An engine of an accelerator.

    Attributes:
        name: its name in the accelerator.
        number: its number in commands.
        registers: its registers.
        ports: the pins of its top.
        movers: number and mover of the subsystem's stream that serves each stream, by its name.
        first_pin: place of its first stream among the streams of all engines.
    """

    name: str
    number: int
    registers: RegisterMap
    ports: TopPorts
    movers: Mapping[str, tuple[int, Mover]]
    first_pin: int

    @property
    def first_register(self) -> int:
        """The index of its first register in commands."""
        return ENGINE * self.number

    @property
    def counters(self) -> int:
        """Number of registers of its counters, two each."""
        return len(self.registers.registers) - self.registers.first_counter


@dataclass(frozen=True)
class System:
    """An accelerator.

    Attributes:
        function: the top of the accelerator, an entity.
        args: its arguments by name.
        design: its memory subsystem.
        host: the registers of the host.
        engines: its engines, in the order of their numbers.
    """

    function: Callable[..., Any]
    args: Mapping[str, Any]
    design: SubsystemDesign
    host: RegisterMap
    engines: tuple[BoardEngine, ...]


def system_of(tops: Mapping[str, Top], port: MemoryPort, loader: Loader = Loader.NONE) -> System:
    """Return the accelerator that runs ``tops``, given by their names, from memory.

    The engines share the streams of the memory subsystem. There are as many of each width as one
    engine needs. ``loader`` loads the next bitstream.

    Raises:
        ValueError: a stream of a top is wider than ``port``.
    """
    ports = {name: top.ports for name, top in tops.items()}
    names, design = _movers(ports, port), subsystem_of(ports, port, loader)
    shells = {name: axi_top(top) for name, top in tops.items()}
    engines, first = [], 0
    movers = dict((*design.readers, *design.writers))
    for number, (name, top) in enumerate(tops.items()):
        own = {stream: (design.numbers[of], movers[of]) for stream, (of, _) in names[name].items()}
        registers = shells[name].args["registers"]
        engines.append(BoardEngine(name, number, registers, top.ports, own, first))
        first += len(top.ports.streams)
    host = design.registers(version("merp"))
    args = {
        **{key: flag() for key in ("clk", "rst", "interrupt")},
        "s_axi": AxiLite(), "m_axi": Axi4(port), "loader": LoaderPorts(design), "registers": host,
        "design": design,
        "monitor": MonitorPorts(
            moves=bits(BYTE * first), begins=bits(len(tops)), ends=bits(len(tops))
        ),
    }  # fmt: skip
    function = memory_system([_engine(name, shells[name], names[name]) for name in tops])
    return System(function, args, design, host, tuple(engines))


def subsystem_of(
    tops: Mapping[str, TopPorts], port: MemoryPort, loader: Loader = Loader.NONE
) -> SubsystemDesign:
    """Return the memory subsystem that serves tops, given by their ports.

    Raises:
        ValueError: as in ``system_of``.
    """
    names = _movers(tops, port)
    return SubsystemDesign(
        port=port, readers=_those(names, "in"), writers=_those(names, "out"), engines=len(tops),
        loader=loader,
    )  # fmt: skip


def _engine(name: str, shell: Top, names: Mapping[str, tuple[str, Mover]]) -> SystemEngine:
    """Return an engine of the hardware; its streams are those of the pins, inputs first."""
    movers = {stream: of for stream, (of, _) in names.items()}
    return SystemEngine(name, shell.function, shell.args, movers)


def streams_needed(tops: Mapping[str, TopPorts]) -> tuple[int, int]:
    """Return the number of streams of the subsystem that engines read and write."""
    names = {name for own in _names(tops).values() for name in own.values()}
    reads = sum(name.endswith(f"_{ENDS['s_axis_']}") for name in names)
    return reads, len(names) - reads


def _names(tops: Mapping[str, TopPorts]) -> dict[str, dict[str, str]]:
    """Return the name of the subsystem's stream for each stream of each top.

    A single engine gives its streams their names.
    """
    found: dict[str, dict[str, str]] = {}
    for name, ports in tops.items():
        used = Counter[tuple[str, int]]()
        own = found.setdefault(name, {})
        for pin in ports.streams:
            side = next(each for each in ENDS if pin.name.startswith(each))
            end, bits_ = ENDS[side], _word_bits(pin)
            own[pin.name] = f"{name}_{pin.name.removeprefix(side)}_{end}"
            if len(tops) > 1:
                own[pin.name] = f"bits{bits_}_{used[end, bits_]}_{end}"
                used[end, bits_] += 1
    return found


def _movers(
    tops: Mapping[str, TopPorts], port: MemoryPort
) -> dict[str, dict[str, tuple[str, Mover]]]:
    """Return name and mover of the subsystem's stream for each stream of each top."""
    names = _names(tops)
    return {
        name: {pin.name: (names[name][pin.name], _mover(pin, port)) for pin in ports.streams}
        for name, ports in tops.items()
    }


def _those(
    names: Mapping[str, Mapping[str, tuple[str, Mover]]], end: str
) -> tuple[tuple[str, Mover], ...]:
    """Return the streams of a direction, each once."""
    every = (each for own in names.values() for each in own.values())
    return tuple({name: mover for name, mover in every if name.endswith(f"_{end}")}.items())


def _word_bits(pin: Pin) -> int:
    """Return the bits of a word in memory: the next power of two."""
    return max(BYTE, 1 << (pin.width - 1).bit_length())


def _mover(pin: Pin, port: MemoryPort) -> Mover:
    wide = _word_bits(pin)
    if wide > port.data_bits:
        raise ValueError(
            f"{pin.name}: a beat of {wide} bits does not fit a port of {port.data_bits} bits"
        )
    return Mover(port=port, word_bits=wide, places=2 * port.burst_beats)
