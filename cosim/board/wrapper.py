"""Verilog and C++ that connect an accelerator to a memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from merp.cosim.board.dram import (
    ADDRESS_BITS,
    BANK_BITS,
    COMMAND_BITS,
    COMMANDS,
    ID_BITS,
    KINDS,
    MODULE,
    PHASES,
    PREFIX,
    GeneratedDram,
)
from merp.hdl.axi.axi_lite import AxiLite
from merp.hdl.conversion.exports import Export, Port
from merp.hdl.memory.axi4 import Axi4
from merp.models.base.errors import BadInput
from merp.models.memory.params.memory_port import BYTE, MemoryPort

TOP = "merp_board"
CLOCKS = ("clk", "aclk")
RESETS = {"rst": "rst", "aresetn": "~rst"}
"""Names of the reset of an accelerator, and its value."""

INTERRUPT, IRQ = "interrupt", "irq"
"""Names of the interrupt: of an accelerator, and of a board, since Verilator reserves the first."""

REGISTERS, MEMORY = "s_axi_", "m_axi_"
PINS = MOVES, BEGINS, ENDS = "moves", "begins", "ends"
"""Optional outputs of an accelerator: of each stream a byte, the number of elements that move; of
each engine a bit, that it begins, and that it has ended.
"""

WIDEST_NUMBER = 64
"""Bits of the widest port that Verilator has as a number; wider ones are arrays of 32 bits."""

_DATA = ("wdata", "rdata")
"""Wires that nobody counts."""


@dataclass(frozen=True)
class Wiring:
    """The text of a board.

    Attributes:
        verilog: a module of the board; inside it are accelerator and memory.
        tables: the C++ that ``board.cpp`` includes.
    """

    verilog: str
    tables: str


def wired(export: Export, memory: GeneratedDram) -> Wiring:
    """Connect an exported accelerator to a memory.

    Raises:
        BadInput: a port of the accelerator is missing, or a board has no place for it. Or the beats
            of the accelerator are not as wide as those of the memory.
    """
    ports = {port.name: port for port in export.ports}
    _check(export.top, ports, memory)
    return Wiring(_verilog(export.top, ports), _tables(memory) + _pins(ports))


def _names(prefix: str, bundle: object) -> list[str]:
    return [f"{prefix}{name}" for name in vars(bundle)]


def _memory_names() -> list[str]:
    return _names(MEMORY, Axi4(MemoryPort(data_bits=64)))


def _check(top: str, ports: Mapping[str, Port], memory: GeneratedDram) -> None:
    wanted = {*_names(REGISTERS, AxiLite()), *_memory_names(), INTERRUPT}
    if missing := sorted(wanted - ports.keys()):
        raise BadInput(f"{top}: ports missing for a board: {', '.join(missing)}")
    for kind in (CLOCKS, tuple(RESETS)):
        if len(ports.keys() & set(kind)) != 1:
            raise BadInput(f"{top}: a board needs exactly one port of {', '.join(kind)}")
    if strange := sorted(ports.keys() - wanted - {*PINS, *CLOCKS, *RESETS}):
        raise BadInput(f"{top}: a board has no place for these ports: {', '.join(strange)}")
    bits, there = ports[f"{MEMORY}wdata"].width, memory.beat_bytes * BYTE
    if bits != there:
        raise BadInput(f"{top}: m_axi has beats of {bits} bits: allowed are the memory's {there}")


def _range(width: int | None) -> str:
    return "" if width is None else f"[{width - 1}:0] "


def _verilog(top: str, ports: Mapping[str, Port]) -> str:
    lines = [f"module {TOP} (", ",\n".join(_declared(ports)), ");"]
    for name in _DATA:
        lines.append(f"    wire {_range(ports[MEMORY + name].width)}{MEMORY}{name};")
    own = ports[f"{MEMORY}awid"].width or 1
    for channel in ("b", "r"):
        lines.append(f"    wire {_range(ID_BITS)}{channel}id;")
        lines.append(f"    assign {MEMORY}{channel}id = {channel}id[{own - 1}:0];")
    clock = next(name for name in CLOCKS if name in ports)
    reset = next(name for name in RESETS if name in ports)
    plain = {name: name for name in ports if name not in (clock, reset)}
    own_pins = {clock: "clk", reset: RESETS[reset], INTERRUPT: IRQ}
    lines += _instance(top, "accelerator", plain | own_pins)
    lines += _instance(
        MODULE, "memory",
        {"sys_clk": "clk", "sys_rst": "rst", COMMANDS: COMMANDS}
        | {name.replace(MEMORY, PREFIX): _actual(name, own) for name in _memory_names()},
    )  # fmt: skip
    return "\n".join((*lines, "endmodule", ""))


def _declared(ports: Mapping[str, Port]) -> Iterator[str]:
    """Yield the ports of the board: registers as they are; of the memory's wires, a view."""
    yield from ("    input wire clk", "    input wire rst")
    yield f"    output wire {_range(PHASES * COMMAND_BITS)}{COMMANDS}"
    hidden = {MEMORY + name for name in _DATA}
    for port in ports.values():
        if port.name in CLOCKS or port.name in RESETS or port.name in hidden:
            continue
        seen = port.is_output or port.name.startswith(MEMORY)
        name = IRQ if port.name == INTERRUPT else port.name
        yield f"    {'output' if seen else 'input'} wire {_range(port.width)}{name}"


def _actual(name: str, own: int) -> str:
    """Return the wire of a port of the memory; ``own`` is the width of the accelerator's IDs."""
    field = name.removeprefix(MEMORY)
    if field in ("bid", "rid"):
        return field
    if field in ("awid", "arid"):
        return f"{{{{{ID_BITS - own}{{1'b0}}}}, {name}}}" if own < ID_BITS else name
    return f"{name}[{ADDRESS_BITS - 1}:0]" if field.endswith("addr") else name


def _instance(module: str, name: str, wires: Mapping[str, str]) -> Sequence[str]:
    connected = ",\n".join(f"        .{port}({wire})" for port, wire in wires.items())
    return f"    {module} {name} (", connected, "    );"


def public(memory: GeneratedDram) -> str:
    """Return Verilator's configuration, which makes the memory's arrays visible in C++."""
    lines = [f'public_flat_rw -module "{MODULE}" -var "{name}"' for name in memory.arrays]
    return "\n".join(("`verilator_config", *lines, ""))


def _pins(ports: Mapping[str, Port]) -> str:
    """Return the C++ that reads the streams of engines; without their pins nothing moves."""
    streams = (ports[MOVES].width or 0) // BYTE if MOVES in ports else 0
    byte = "(model.moves >> 8 * stream) & 0xff"
    if streams * BYTE > WIDEST_NUMBER:
        byte = "(model.moves[stream / 4] >> 8 * (stream % 4)) & 0xff"
    values = {
        "moves": byte if streams else "0",
        **{name: f"model.{name}" if name in ports else "0" for name in (BEGINS, ENDS)},
    }
    return "".join(
        [f"constexpr int STREAMS = {streams};\n"]
        + [
            f"template <typename Model> uint64_t {name}"
            f"(const Model& model, int stream = 0) {{ return {value}; }}\n"
            for name, value in values.items()
        ]
    )


def _tables(memory: GeneratedDram) -> str:
    arrays = [
        f"    reinterpret_cast<uint8_t*>(&root->{TOP}__DOT__memory__DOT__{name}[0]),"
        for name in memory.arrays
    ]
    return "\n".join(
        (
            f"using Banks = std::array<uint8_t*, {memory.banks}>;",
            f"constexpr uint64_t BEAT_BYTES = {memory.beat_bytes}, "
            f"ROW_BYTES = {memory.row_bytes}, SIZE = {memory.size};",
            f"constexpr int PHASES = {PHASES}, COMMAND_BITS = {COMMAND_BITS}, "
            f"BANK_BITS = {BANK_BITS};",
            f"enum Command {{ {', '.join(kind.upper() for kind in KINDS)} }};",
            f"inline Banks banks(V{TOP}___024root* root) {{",
            "    return {",
            *arrays,
            "    };",
            "}",
            "",
        )
    )
