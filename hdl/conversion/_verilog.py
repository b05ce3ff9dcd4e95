"""Verilog-2001 text of one analysed entity. Private to ``merp.hdl.conversion.convert``."""

from __future__ import annotations

from io import StringIO
from textwrap import indent
from typing import Any

from myhdl import EnumItemType

from merp.hdl.conversion import internals
from merp.hdl.conversion._analyse import Body, EntityPort, Instance
from merp.hdl.conversion._signals import Syntax, fold_constants, readable_labels, span, text
from merp.hdl.conversion.internals import (
    AnySignal,
    ConcatSignal,
    Kind,
    initial,
    memory_driver,
    name_of,
    operands_of,
)

COMMENT = "//"
SUFFIX = ".v"
SYNTAX = TOP_SYNTAX = Syntax("%s[%s]", "%s[%s:%s]", ports_converted=False)


def support() -> tuple[str, str] | None:
    """Verilog needs no support file."""
    return None


def _type(signal: Any) -> str:
    sign = "signed " if signal.min is not None and signal.min < 0 else ""
    if isinstance(signal.val, bool):
        return ""
    return f"{sign}[{len(signal) - 1}:0] "


def _literal(signal: Any) -> str:
    value = initial(signal)
    if isinstance(value, EnumItemType):
        return internals.verilog_literal(value)
    width = len(signal)
    return f"{width}'h{int(value) & ((1 << width) - 1):x}"


def _header(name: str, ports: list[EntityPort], initialised: set[int]) -> str:
    rows = []
    for port in ports:
        kind = "input  wire" if not port.is_output else f"output {port.signal.driven:4}"
        initial = f" = {_literal(port.signal)}" if id(port.signal) in initialised else ""
        rows.append((f"{kind} {_type(port.signal)}".rstrip(), f"{port.name}{initial}"))
    width = max((len(kind) for kind, _ in rows), default=0)
    lines = [f"    {kind:{width}} {name}" for kind, name in rows]
    return f"module {name} (\n" + ",\n".join(lines) + "\n);\n"


def _declarations(body: Body, initialised: set[int]) -> str:
    out = []
    for signal in body.signals:
        kind = "reg " if signal.driven == "reg" else "wire"
        initial = f" = {_literal(signal)}" if id(signal) in initialised else ""
        out.append(f"{kind} {_type(signal)}{name_of(signal)}{initial};")
    for memory in body.memories:
        kind = "reg " if memory_driver(memory) == "reg" else "wire"
        out.append(f"{kind} {_type(memory.elObj)}{memory.name} [0:{memory.depth - 1}];")
        if not all(id(signal) in initialised for signal in memory.mem):
            continue
        literals = [_literal(signal) for signal in memory.mem]
        out.append(f"initial begin : {memory.name}_init")
        if len(set(literals)) == 1:
            out.append("    integer i;")
            out.append(f"    for (i = 0; i < {memory.depth}; i = i + 1)")
            out.append(f"        {memory.name}[i] = {literals[0]};")
        else:
            out += [f"    {memory.name}[{i}] = {value};" for i, value in enumerate(literals)]
        out.append("end")
    return "".join(f"{line}\n" for line in out)


def _operand(part: Any) -> str:
    """An operand of a concatenation."""
    if isinstance(part, AnySignal):
        return text(part, SYNTAX)
    if isinstance(part, bool):
        return f"1'b{int(part)}"
    if isinstance(part, str):
        return f"{len(part)}'b{part}"
    return f"{len(part)}'h{int(part) & ((1 << len(part)) - 1):x}"


def _shadow(signal: Any) -> str:
    if isinstance(signal, ConcatSignal):
        value = "{" + ", ".join(_operand(part) for part in operands_of(signal)) + "}"
    else:
        base, high, low = span(signal)
        if low is None:
            value = SYNTAX.index % (name_of(base), high)
        else:
            value = SYNTAX.part % (name_of(base), high, low)
    return f"assign {name_of(signal)} = {value};\n"


def _assignments(body: Body) -> str:
    shadows = {id(shadow) for shadow in body.shadows}
    undriven = [s for s in body.signals if not s.driven and id(s) not in shadows]
    undriven += [
        s
        for m in body.memories
        if not memory_driver(m) and id(m.mem[0]) not in shadows
        for s in m.mem
    ]
    out = [f"assign {name_of(signal)} = {_literal(signal)};\n" for signal in undriven]
    return "".join(out + [_shadow(shadow) for shadow in body.shadows])


def _instance(item: Instance) -> str:
    ports = item.entity.body.ports
    width = max(len(port.name) for port in ports)
    lines = [f"    .{p.name:{width}} ({text(item.actuals[p.name], SYNTAX)})" for p in ports]
    return f"{item.entity.token} {item.label} (\n" + ",\n".join(lines) + "\n);\n"


def _registers(body: Body) -> set[int]:
    """Signals that keep a value: those that get an initial one.

    What a combinational process drives gets none: synthesis tools would look for its register.
    """
    combinational: set[int] = set()
    for item in body.items:
        if not isinstance(item, Instance) and item.kind == Kind.ALWAYS_COMB:
            for name in item.outputs | item.outmems:
                value = item.symdict[name]
                combinational |= {id(s) for s in (value if isinstance(value, list) else [value])}
    signals = [*body.signals, *(port.signal for port in body.ports)]
    driven = {id(signal) for signal in signals if signal.driven == "reg"}
    for memory in body.memories:
        if memory_driver(memory) == "reg":
            driven |= {id(signal) for signal in memory.mem}
    return driven - combinational


def write(body: Body, name: str, is_top: bool) -> str:
    """The file of one module; the top is like any other."""
    del is_top
    functions, contents = StringIO(), StringIO()
    processes = [item for item in body.items if not isinstance(item, Instance)]
    internals.annotate_verilog(processes)
    for item in body.items:
        if isinstance(item, Instance):
            contents.write(_instance(item) + "\n")
        else:
            block = StringIO()
            internals.VERILOG_VISITORS[item.kind](item, block, functions).visit(item)
            contents.write(block.getvalue().strip() + "\n\n")
    initialised = _registers(body)
    sections = [
        _declarations(body, initialised),
        functions.getvalue(),
        _assignments(body),
        contents.getvalue(),
    ]
    inner = "\n".join(section.strip() + "\n" for section in sections if section.strip())
    written = (
        f"`timescale 1ns/10ps\n\n{_header(name, body.ports, initialised)}\n"
        f"{indent(inner, '    ')}\nendmodule\n"
    )
    lines = fold_constants(readable_labels(written, body.names)).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"
