"""A top with its memory subsystem, as one accelerator of a board."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from merp.hdl.axi.axi_lite import AxiLite
from merp.hdl.base.signals import bits, flag
from merp.hdl.memory.axi4 import Axi4
from merp.hdl.memory.memory_system import IN, OUT, SystemEngine, memory_system
from merp.models.base.register_map import RegisterMap
from merp.models.memory.params.memory_port import BYTE, MemoryPort
from merp.models.memory.params.mover import Mover
from merp.models.memory.params.subsystem import SubsystemDesign
from merp.testbenches.axi.axi_top import axi_top
from merp.testbenches.top.top import Pin, Top

SINK, SOURCE = "s_axis_", "m_axis_"


@dataclass(frozen=True)
class System:
    """An accelerator with one engine.

    Attributes:
        function: the top of the accelerator, an entity.
        args: its arguments by name.
        design: its memory subsystem.
        host: the registers of the host.
        engine: the registers of the engine.
        inputs: the pins of the engine's input streams, by the name of the stream in ``design``.
        outputs: the same of its output streams.
    """

    function: Callable[..., Any]
    args: Mapping[str, Any]
    design: SubsystemDesign
    host: RegisterMap
    engine: RegisterMap
    inputs: Mapping[str, Pin]
    outputs: Mapping[str, Pin]


def system_of(top: Top, port: MemoryPort) -> System:
    """Return the accelerator that runs ``top`` from memory.

    Raises:
        ValueError: a stream of the top is wider than ``port``.
    """
    shell = axi_top(top)
    name = top.name
    pins = top.ports
    inputs = {f"{name}_{pin.name.removeprefix(SINK)}_{IN}": pin for pin in pins.inputs}
    outputs = {f"{name}_{pin.name.removeprefix(SOURCE)}_{OUT}": pin for pin in pins.outputs}

    def movers(streams: Mapping[str, Pin]) -> tuple[tuple[str, Mover], ...]:
        return tuple((key, _mover(pin, port)) for key, pin in streams.items())

    design = SubsystemDesign(port=port, readers=movers(inputs), writers=movers(outputs))
    host = design.registers(version("merp"))
    args = {
        **{key: flag() for key in ("clk", "rst", "interrupt")},
        "s_axi": AxiLite(), "m_axi": Axi4(port), "registers": host, "design": design,
        "moves": bits(BYTE * (len(design.numbers) - 1)), "begins": bits(1), "ends": bits(1),
    }  # fmt: skip
    function = memory_system([SystemEngine(name, shell.function, shell.args)])
    return System(function, args, design, host, shell.args["registers"], inputs, outputs)


def _mover(pin: Pin, port: MemoryPort) -> Mover:
    """Return the mover of a stream: a word of memory is the next power of two in bits."""
    wide = max(BYTE, 1 << (pin.width - 1).bit_length())
    if wide > port.data_bits:
        raise ValueError(
            f"{pin.name}: a beat of {wide} bits does not fit a port of {port.data_bits} bits"
        )
    return Mover(port=port, word_bits=wide, places=2 * port.burst_beats)
