"""Verilog-2001 text of one analysed entity. Private to ``merp.hdl.conversion.convert``."""

from __future__ import annotations

from io import StringIO
from textwrap import indent
from typing import Any

from myhdl import EnumItemType
from myhdl._ShadowSignal import ConcatSignal
from myhdl._Signal import _Signal
from myhdl.conversion import _toVerilog
from myhdl.conversion._misc import _kind

from merp.hdl.conversion._analyse import Body, Instance, Port
from merp.hdl.conversion._signals import Syntax, fold_constants, readable_labels, span, text

COMMENT = "//"
SUFFIX = ".v"
SYNTAX = TOP_SYNTAX = Syntax("%s[%s]", "%s[%s:%s]", ports_converted=False)

_VISITORS = {
    _kind.ALWAYS: _toVerilog._ConvertAlwaysVisitor,
    _kind.INITIAL: _toVerilog._ConvertInitialVisitor,
    _kind.ALWAYS_DECO: _toVerilog._ConvertAlwaysDecoVisitor,
    _kind.ALWAYS_SEQ: _toVerilog._ConvertAlwaysSeqVisitor,
    _kind.ALWAYS_COMB: _toVerilog._ConvertAlwaysCombVisitor,
    _kind.SIMPLE_ALWAYS_COMB: _toVerilog._ConvertSimpleAlwaysCombVisitor,
}


def support() -> tuple[str, str] | None:
    """Verilog needs no support file."""
    return None


def _type(signal: Any) -> str:
    sign = "signed " if signal._min is not None and signal._min < 0 else ""
    if signal._type is bool:
        return ""
    return f"{sign}[{signal._nrbits - 1}:0] "


def _literal(signal: Any) -> str:
    value = signal._init
    if isinstance(value, EnumItemType):
        return str(value._toVerilog())
    width = signal._nrbits
    return f"{width}'h{int(value) & ((1 << width) - 1):x}"


def _header(name: str, ports: list[Port], initialised: set[int]) -> str:
    rows = []
    for port in ports:
        kind = "input  wire" if not port.is_output else f"output {port.signal._driven:4}"
        initial = f" = {_literal(port.signal)}" if id(port.signal) in initialised else ""
        rows.append((f"{kind} {_type(port.signal)}".rstrip(), f"{port.name}{initial}"))
    width = max((len(kind) for kind, _ in rows), default=0)
    lines = [f"    {kind:{width}} {name}" for kind, name in rows]
    return f"module {name} (\n" + ",\n".join(lines) + "\n);\n"


def _declarations(body: Body, initialised: set[int]) -> str:
    out = []
    for signal in body.signals:
        kind = "reg " if signal._driven == "reg" else "wire"
        initial = f" = {_literal(signal)}" if id(signal) in initialised else ""
        out.append(f"{kind} {_type(signal)}{signal._name}{initial};")
    for memory in body.memories:
        kind = "reg " if memory._driven == "reg" else "wire"
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
    if isinstance(part, _Signal):
        return text(part, SYNTAX)
    if isinstance(part, bool):
        return f"1'b{int(part)}"
    if isinstance(part, str):
        return f"{len(part)}'b{part}"
    return f"{len(part)}'h{int(part) & ((1 << len(part)) - 1):x}"


def _shadow(signal: Any) -> str:
    if isinstance(signal, ConcatSignal):
        value = "{" + ", ".join(_operand(part) for part in signal._args) + "}"
    else:
        base, high, low = span(signal)
        if low is None:
            value = SYNTAX.index % (base._name, high)
        else:
            value = SYNTAX.part % (base._name, high, low)
    return f"assign {signal._name} = {value};\n"


def _assignments(body: Body) -> str:
    shadows = {id(shadow) for shadow in body.shadows}
    undriven = [s for s in body.signals if not s._driven and id(s) not in shadows]
    undriven += [
        s for m in body.memories if not m._driven and id(m.mem[0]) not in shadows for s in m.mem
    ]
    out = [f"assign {signal._name} = {_literal(signal)};\n" for signal in undriven]
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
        if not isinstance(item, Instance) and item.kind == _kind.ALWAYS_COMB:
            for name in item.outputs | item.outmems:
                value = item.symdict[name]
                combinational |= {id(s) for s in (value if isinstance(value, list) else [value])}
    signals = [*body.signals, *(port.signal for port in body.ports)]
    driven = {id(signal) for signal in signals if signal._driven == "reg"}
    for memory in body.memories:
        if memory._driven == "reg":
            driven |= {id(signal) for signal in memory.mem}
    return driven - combinational


def write(body: Body, name: str, comment: str, is_top: bool) -> str:
    """The file of one module; the top is like any other."""
    del is_top
    functions, contents = StringIO(), StringIO()
    processes = [item for item in body.items if not isinstance(item, Instance)]
    _toVerilog._annotateTypes(processes)
    for item in body.items:
        if isinstance(item, Instance):
            contents.write(_instance(item) + "\n")
        else:
            block = StringIO()
            _VISITORS[item.kind](item, block, functions).visit(item)
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
        f"{comment}\n`timescale 1ns/10ps\n\n{_header(name, body.ports, initialised)}\n"
        f"{indent(inner, '    ')}\nendmodule\n"
    )
    lines = fold_constants(readable_labels(written, body.names)).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"
