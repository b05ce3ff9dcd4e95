"""Values of the hardware, testbench and script templates: ports and interfaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from merp.cosim.engines.job import STUCK_CYCLES
from merp.hdl.conversion.convert import Export, Port
from merp.models.base.register_map import ADDRESS_WIDTH, CONTROL, STATUS, RegisterMap
from merp.testbenches.top.run import TAIL_CYCLES
from merp.testbenches.top.top import TopPorts
from merp.tools.fpga.export.languages import Dialect

CLOCK, RESET, INTERRUPT, REGISTERS = "aclk", "aresetn", "interrupt", "s_axi"

_SIGNALS = {
    CLOCK: "signal:clock:1.0 aclk CLK",
    RESET: "signal:reset:1.0 aresetn RST",
    INTERRUPT: "signal:interrupt:1.0 interrupt INTERRUPT",
}
"""Vivado's attributes of the ports that are not part of a bus."""


def _vhdl_type(width: int | None) -> str:
    return "std_logic" if width is None else f"std_logic_vector({width - 1} downto 0)"


def _verilog_type(width: int | None) -> str:
    return "wire" if width is None else f"wire [{width - 1}:0]"


_TYPES = {"vhdl": _vhdl_type, "verilog": _verilog_type}


def port_values(
    export: Export, streams: TopPorts, registers: RegisterMap, clock_mhz: float, dialect: Dialect
) -> dict[str, Any]:
    """Return values for the wrapper, the testbench, the scripts and the constraint.

    Args:
        export: export of the AXI shell.
        streams: ports of the engine in it.
        registers: registers of the shell.
        clock_mhz: clock of the constraint.
        dialect: the language.
    """
    ports = [
        {
            "name": port.name,
            "direction": "out" if port.is_output else "in",
            "type": _TYPES[dialect.name](port.width),
            "zero": "'0'" if port.width is None else "(others => '0')",
        }
        for port in export.ports
    ]
    period_ns = 1e3 / clock_mhz
    return {
        "inner": export.top,
        "sources": [f"hdl/{file.name}" for file in export.files],
        "ports": ports,
        "axi_lite": [port for port in ports if str(port["name"]).startswith(f"{REGISTERS}_")],
        "inputs": streams.inputs,
        "outputs": streams.outputs,
        "streams": streams.streams,
        "wide": [f"`{pin.name}`" for pin in streams.streams if pin.keep],
        "lanes": max(pin.lanes for pin in streams.streams),
        "control": _control(registers),
        "address_range": 1 << ADDRESS_WIDTH,
        "watchdog": STUCK_CYCLES,
        "tail": TAIL_CYCLES,
        "clock": CLOCK,
        "period_ns": f"{period_ns:.3f}",
        "period_ps": 2 * round(500 * period_ns),
        **_interfaces(export.ports),
    }


def _control(registers: RegisterMap) -> dict[str, int]:
    """Return the register addresses and bits that the testbench uses."""
    names = ("status", "control", "interrupt_enable")
    return {
        **{name: registers[name].offset for name in names},
        "pending": registers["interrupt"].offset,
        **{f"control_{name}": 1 << place for place, name in enumerate(CONTROL)},
        "status_aborting": 1 << STATUS.index("aborting"),
    }


def _interfaces(ports: Sequence[Port]) -> dict[str, Any]:
    """Return Vivado's attributes of the ports, and the buses that Vivado must find."""
    roles: dict[str, str] = {}
    first: dict[str, str] = {}  # first port of each bus
    for port in ports:
        if port.name in _SIGNALS:
            roles[port.name] = _SIGNALS[port.name]
            continue
        bus, _, role = port.name.rpartition("_")
        kind = "aximm" if bus == REGISTERS else "axis"
        roles[port.name] = f"interface:{kind}:1.0 {bus} {role.upper()}"
        first.setdefault(bus, port.name)
    parameters = {
        CLOCK: (CLOCK, [f"ASSOCIATED_BUSIF {':'.join(first)}", f"ASSOCIATED_RESET {RESET}"]),
        RESET: (RESET, ["POLARITY ACTIVE_LOW"]),
        INTERRUPT: (INTERRUPT, ["SENSITIVITY LEVEL_HIGH"]),
        first[REGISTERS]: (REGISTERS, ["PROTOCOL AXI4LITE"]),
    }
    return {
        "roles": {name: f"xilinx.com:{role}" for name, role in roles.items()},
        "parameters": {
            port: [f"XIL_INTERFACENAME {bus}", *values]
            for port, (bus, values) in parameters.items()
        },
        "buses": list(first),
    }
