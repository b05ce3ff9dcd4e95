"""Write the Verilog-2001 of one analysed entity. Private to ``merp.hdl.conversion.convert``."""

from __future__ import annotations

from io import StringIO
from textwrap import indent
from typing import Any

from myhdl import EnumItemType

from merp.hdl.conversion._analyse import Body, EntityPort, Instance
from merp.hdl.conversion._signals import Syntax, natural, span, text
from merp.hdl.conversion._spare import note_spare
from merp.hdl.conversion.base.internals import (
    AnySignal,
    ConcatSignal,
    encoding,
    enum_members,
    initial,
    literal_width,
    memory_driver,
    name_of,
    operands_of,
)
from merp.hdl.conversion.process.meaning import Table, Variable
from merp.hdl.conversion.process.naming import LocalNames, TableText, local_names, tables_of
from merp.hdl.conversion.process.order import reads_ahead
from merp.hdl.conversion.process.printer import indented
from merp.hdl.conversion.process.process import Kind, Process, asynchronous_reset
from merp.hdl.conversion.process.verilog import Verilog

COMMENT = "//"
SUFFIX = ".v"
SYNTAX = TOP_SYNTAX = Syntax("%s[%s]", "%s[%s:%s]", ports_converted=False, holds=True)


def support() -> tuple[str, str] | None:
    """Return None, because Verilog needs no support file."""
    return None


def _type(signal: Any) -> str:
    sign = "signed " if signal.min is not None and signal.min < 0 else ""
    if isinstance(signal.val, bool):
        return ""
    if isinstance(signal.val, EnumItemType):
        width = literal_width(signal.val)
        return f"[{width - 1}:0] " if width > 1 else ""
    return f"{sign}[{len(signal) - 1}:0] "


def _literal(signal: Any, body: Body | None = None) -> str:
    value = initial(signal)
    if isinstance(value, EnumItemType):
        assert body is not None
        return body.member(value)
    width = len(signal)
    return f"{width}'h{int(value) & ((1 << width) - 1):x}"


def _header(name: str, ports: list[EntityPort]) -> str:
    rows = []
    for port in ports:
        kind = "input  wire" if not port.is_output else f"output {port.signal.driven:4}"
        rows.append((f"{kind} {_type(port.signal)}".rstrip(), port.name))
    width = max((len(kind) for kind, _ in rows), default=0)
    lines = [f"    {kind:{width}} {name}" for kind, name in rows]
    return f"module {name} (\n" + ",\n".join(lines) + "\n);\n"


def _declarations(body: Body) -> str:
    out = []
    for enum in body.enums:
        for item in enum_members(enum):
            bits = f"[{literal_width(item) - 1}:0] " if literal_width(item) > 1 else ""
            out.append(f"localparam {bits}{body.member(item)} = {encoding(item)};")
    for signal in body.signals:
        kind = "reg " if signal.driven == "reg" else "wire"
        out.append(f"{kind} {_type(signal)}{name_of(signal)};")
    for memory in body.memories:
        kind = "reg " if memory_driver(memory) == "reg" else "wire"
        out.append(f"{kind} {_type(memory.elObj)}{memory.name} [0:{memory.depth - 1}];")
    return "".join(f"{line}\n" for line in out)


def _power_up(body: Body, kept: dict[str, str]) -> str:
    """Write the initial values of registers, memories and variables that keep their values.

    They are not part of the declarations, because a linter warns about that. Each register has its
    own statement, which synthesis treats as an initial value of the declaration.
    """
    registers = _registers(body)
    signals = [*(port.signal for port in body.ports if port.is_output), *body.signals]
    values = {str(name_of(s)): _literal(s, body) for s in signals if id(s) in registers} | kept
    memories: list[str] = []
    for memory in body.memories:
        literals = [_literal(signal, body) for signal in memory.mem if id(signal) in registers]
        if len(literals) < memory.depth:
            continue
        if len(set(literals)) > 1:
            values |= {f"{memory.name}[{i}]": value for i, value in enumerate(literals)}
            continue
        index = body.names.inside().unique("index")
        memories += [
            f"initial begin : {body.names.unique(f'{memory.name}_init')}",
            f"    integer {index};",
            f"    for ({index} = 0; {index} < {memory.depth}; {index} = {index} + 1) begin",
            f"        {memory.name}[{index}] = {literals[0]};",
            "    end",
            "end",
        ]
    lines = [f"initial {name} = {value};" for name, value in values.items()]
    return "".join(f"{line}\n" for line in [*lines, *memories])


def _operand(part: Any) -> str:
    """Write an operand of a concatenation."""
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
    out = [f"assign {name_of(signal)} = {_literal(signal, body)};\n" for signal in undriven]
    return "".join(out + [_shadow(shadow) for shadow in body.shadows])


def _instance(item: Instance) -> str:
    ports = item.entity.body.ports
    width = max(len(port.name) for port in ports)
    lines = [f"    .{p.name:{width}} ({text(item.actuals[p.argument], SYNTAX)})" for p in ports]
    return f"{item.entity.token} {item.label} (\n" + ",\n".join(lines) + "\n);\n"


def _registers(body: Body) -> set[int]:
    """Return the signals that keep a value and therefore get an initial one.

    A signal that a combinational process drives gets none, because synthesis tools would look for
    its register.
    """
    combinational: set[int] = set()
    for item in body.processes:
        if item.kind in (Kind.COMBINATIONAL, Kind.CONSTANT, Kind.LISTED):
            combinational |= set(item.meaning.drives)
            for memory in item.meaning.memories_driven.values():
                combinational |= {id(signal) for signal in memory.mem}
    signals = [*body.signals, *(port.signal for port in body.ports)]
    driven = {id(signal) for signal in signals if signal.driven == "reg"}
    for memory in body.memories:
        if memory_driver(memory) == "reg":
            driven |= {id(signal) for signal in memory.mem}
    return driven - combinational


def _table(table: TableText) -> str:
    """Write a table as a function, which every tool treats as logic."""
    width = table.range.width
    sign = "signed " if table.range.is_signed else ""
    index = f"[{table.index_width - 1}:0] index" if table.index_width > 1 else "index"
    rows = [
        f"        {table.index_width}'d{at}: {table.name} = {width}'h{value & (1 << width) - 1:x};"
        for at, value in enumerate(table.values[:-1])
    ]
    last = f"        default: {table.name} = {width}'h{table.values[-1] & (1 << width) - 1:x};"
    size = f"[{width - 1}:0] " if width > 1 else ""
    head = f"function {sign}{size}{table.name};\n    input {index};\n    case (index)"
    return "\n".join([head, *rows, last, "    endcase", "endfunction"]) + "\n"


def _variable(variable: Variable, name: str, body: Body) -> str:
    """Write the declaration of a variable."""
    if variable.enum is not None:
        width, sign = literal_width(enum_members(variable.enum)[0]), ""
    elif variable.is_bool:
        width, sign = 1, ""
    else:
        assert variable.range is not None
        width, sign = variable.range.width, "signed " if variable.range.is_signed else ""
    size = f"[{width - 1}:0] " if width > 1 or not (variable.is_bool or variable.enum) else ""
    return f"reg {sign}{size}{name};"


def _first(variable: Variable, body: Body) -> str:
    """Return the initial value of a variable that keeps its values."""
    assert variable.initial is not None
    if variable.enum is not None:
        return body.member(enum_members(variable.enum)[variable.initial])
    assert variable.range is not None
    width = 1 if variable.is_bool else variable.range.width
    return f"{width}'h{variable.initial & (1 << width) - 1:x}"


def _process(item: Process, local: LocalNames, tables: dict[Table, str], body: Body) -> str:
    """Write a process."""
    blocking = item.kind is Kind.ASSIGN or (not item.edges and not reads_ahead(item.meaning))
    printer = Verilog(local.printed, tables, body.member, blocking, local.names.unique)
    if item.kind is Kind.ASSIGN:
        lines = printer.statements(item.sized.statements)
        return "".join(f"assign {line}\n" for line in lines)
    if item.kind in (Kind.COMBINATIONAL, Kind.CONSTANT):
        awaited = "*"
    elif item.kind is Kind.LISTED:
        awaited = ", ".join(sorted(text(each, SYNTAX) for each in item.listed))
    else:
        edges = list(item.edges)
        if item.reset is not None and item.reset[0].isasync:
            edges.append((item.reset[0], "posedge" if item.reset[0].active else "negedge"))
        elif len(edges) > 1:
            asynchronous_reset(item)
        awaited = ", ".join(f"{edge} {text(signal, SYNTAX)}" for signal, edge in edges)
    declared: list[str] = []
    for each in local.variables:
        if each.initial is None:
            declared.append(_variable(each, local.printed[each], body))
    loops = dict.fromkeys(local.printed[each] for each in local.loops)
    declared += [f"integer {name};" for name in loops]
    statements = printer.statements(item.sized.statements)
    if item.reset is not None:
        signal, registers = item.reset
        resets = [
            f"{name_of(each)} <= {_literal(each, body)};" for each in sorted(registers, key=natural)
        ]
        test = f"{'' if signal.active else '!'}{text(signal, SYNTAX)}"
        statements = [
            f"if ({test}) begin",
            *indented(resets),
            "end else begin",
            *indented(statements),
            "end",
        ]
    head = f"always @({awaited}) begin : {item.name}"
    if item.kind is Kind.CONSTANT:  # nothing would ever trigger it
        head = f"initial begin : {item.name}"
    return "\n".join([head, *indented([*declared, *statements]), "end"]) + "\n"


def write(body: Body, name: str, is_top: bool) -> str:
    """Write the file of one module; the top is like any other."""
    del is_top
    contents = StringIO()
    tables, table_names = tables_of((each.sized for each in body.processes), body.names)
    kept: dict[str, str] = {}
    lasting: list[str] = []
    variables: dict[Variable, str] = {}
    for item in body.items:
        if isinstance(item, Instance):
            contents.write(_instance(item) + "\n")
        else:
            local = local_names(item.sized, body.names)
            for each in local.variables:
                if each.initial is not None:
                    printed = local.printed[each] = body.names.unique(local.printed[each])
                    lasting.append(_variable(each, printed, body))
                    kept[printed] = _first(each, body)
            contents.write(_process(item, local, table_names, body) + "\n")
            variables |= {each: local.printed[each] for each in local.variables}
    note_spare(body, variables)
    sections = [
        _declarations(body) + "".join(f"{line}\n" for line in lasting),
        "\n".join(_table(table) for table in tables),
        _power_up(body, kept),
        _assignments(body),
        contents.getvalue(),
    ]
    inner = "\n".join(section.strip() + "\n" for section in sections if section.strip())
    written = (
        f"`timescale 1ns/10ps\n\n{_header(name, body.ports)}\n{indent(inner, '    ')}\nendmodule\n"
    )
    return "\n".join(line.rstrip() for line in written.splitlines()) + "\n"
