"""Write the VHDL-2008 of one analysed entity. Private to ``merp.hdl.conversion.convert``."""

from __future__ import annotations

import re
from io import StringIO
from textwrap import indent
from typing import Any

from myhdl import EnumItemType, intbv

from merp.hdl.conversion._analyse import Body, EntityPort, Instance
from merp.hdl.conversion._comments import comments
from merp.hdl.conversion._signals import (
    Syntax,
    assign_chosen_elements,
    elements_by_number,
    index_only_elements,
    natural,
    span,
    text,
)
from merp.hdl.conversion._vhdl_package import PACKAGE, PACKAGE_TEXT, USE
from merp.hdl.conversion.base.internals import (
    AnySignal,
    ConcatSignal,
    code,
    enum_members,
    enum_of,
    initial,
    literal_width,
    memory_driver,
    name_of,
    operands_of,
)
from merp.hdl.conversion.process.meaning import Table, Variable
from merp.hdl.conversion.process.naming import LocalNames, TableText, local_names, tables_of
from merp.hdl.conversion.process.printer import indented
from merp.hdl.conversion.process.process import Kind, Process, asynchronous_reset
from merp.hdl.conversion.process.vhdl import Vhdl

_NEEDS_PACKAGE = re.compile(r"\b(choose|to_std_logic|to_unsigned)\(")
COMMENT = "--"
SUFFIX = ".vhd"
SYNTAX = Syntax("%s(%s)", "%s(%s downto %s)", ports_converted=False, holds=False)
TOP_SYNTAX = Syntax("%s(%s)", "%s(%s downto %s)", ports_converted=True, holds=False)


def support() -> tuple[str, str] | None:
    """Return file name and text of the package that every entity uses."""
    return f"{PACKAGE}.vhd", PACKAGE_TEXT


def _is_signed(signal: Any) -> bool:
    return signal.min is not None and signal.min < 0


def _numeric(signal: Any) -> str:
    return "signed" if _is_signed(signal) else "unsigned"


def _type(signal: Any, body: Body | None = None, vector: str | None = None) -> str:
    value = signal.val
    if isinstance(value, EnumItemType):
        return _enum_type(enum_of(value), body, vector or "unsigned")
    if not isinstance(value, intbv):
        return "std_logic"
    return f"{vector or _numeric(signal)}({len(signal) - 1} downto 0)"


def _enum_type(enum: Any, body: Body | None, vector: str = "unsigned") -> str:
    """Write the type of an enumeration; if ports have it, as vectors with its bits."""
    if body is not None and id(enum) not in body.coded:
        return body.types[id(enum)]
    return f"{vector}({literal_width(enum_members(enum)[0]) - 1} downto 0)"


def _literal(signal: Any, body: Body | None = None) -> str:
    value = initial(signal)
    if isinstance(value, EnumItemType):
        return f'"{code(value)}"' if body is None else body.member(value)
    if not isinstance(value, intbv):
        return f"'{int(value)}'"
    width = len(signal)
    bits = int(value) & ((1 << width) - 1)
    if bits == 0:
        return "(others => '0')"
    if width % 4:
        return f'"{bits:0{width}b}"'
    return f'x"{bits:0{width // 4}x}"'


def _first(signal: Any, body: Body) -> str:
    """Return the initial value of a signal; for a vector, its bits."""
    value = initial(signal)
    is_coded = isinstance(value, EnumItemType) and id(enum_of(value)) in body.coded
    return _literal(signal, None if is_coded else body)


def _header(name: str, ports: list[EntityPort], converted: bool) -> str:
    lines = []
    width = max((len(port.name) for port in ports), default=0)
    for port in ports:
        direction = "out" if port.is_output else "in "
        line = f"{port.name:{width}} : {direction} "
        line += _type(port.signal, vector="std_logic_vector" if converted else None)
        if port.is_output:
            line += f" := {_literal(port.signal)}"
        lines.append(f"        {line}")
    ports_text = "    port (\n" + ";\n".join(lines) + "\n    );\n" if lines else ""
    return f"entity {name} is\n{ports_text}end entity {name};\n"


def _declarations(body: Body) -> str:
    out = []
    for enum in body.enums:
        literals = [body.member(each) for each in enum_members(enum)]
        if id(enum) in body.coded:
            kind = _enum_type(enum, body)
            for each, literal in zip(enum_members(enum), literals, strict=True):
                out.append(f'constant {literal} : {kind} := "{code(each)}";')
            continue
        out.append(f"type {body.types[id(enum)]} is ({', '.join(literals)});")
    rows = [
        (str(name_of(port.signal)), _type(port.signal), _literal(port.signal))
        for port in body.ports
        if name_of(port.signal) != port.name
    ]
    rows += [
        (str(name_of(signal)), _type(signal, body), _first(signal, body)) for signal in body.signals
    ]
    for memory in body.memories:
        kind = body.names.unique(f"{memory.name}_t")
        literals = [_first(signal, body) for signal in memory.mem]
        if len(set(literals)) == 1:
            initial = f"(others => {literals[0]})"
        else:
            initial = "(\n    " + ",\n    ".join(literals) + "\n)"
        out.append(
            f"type {kind} is array (0 to {memory.depth - 1}) of {_type(memory.elObj, body)};"
        )
        rows.append((memory.name, kind, initial))
    width = max((len(name) for name, _, _ in rows), default=0)
    out += [f"signal {name:{width}} : {kind} := {initial};" for name, kind, initial in rows]
    return "".join(f"{line}\n" for line in out)


def _converted(signal: Any) -> str:
    """Write a signal or slice with MyHDL's type: a slice of a signed signal is unsigned."""
    base, _, low = span(signal)
    is_slice = signal is not base and name_of(signal) is None and low is not None
    written = text(signal, SYNTAX)
    return f"unsigned({written})" if is_slice and _is_signed(base) else written


def _operand(part: Any) -> str:
    """Write an operand of a concatenation."""
    if isinstance(part, AnySignal):
        written = text(part, SYNTAX)
        return f"unsigned({written})" if _is_signed(span(part)[0]) else written
    if isinstance(part, bool):
        return f"'{int(part)}'"
    if isinstance(part, str):
        return f'"{part}"'
    width = len(part)
    return f'"{int(part) & ((1 << width) - 1):0{width}b}"'


def _shadow(signal: Any) -> str:
    if isinstance(signal, ConcatSignal):
        value = " & ".join(_operand(part) for part in operands_of(signal))
    else:
        base, high, low = span(signal)
        if low is None:
            value = SYNTAX.index % (name_of(base), high)
        else:
            value = SYNTAX.part % (name_of(base), high, low)
            value = f"unsigned({value})" if _is_signed(base) else value
    return f"{name_of(signal)} <= {value};\n"


def _assignments(body: Body) -> str:
    out = []
    for port in body.ports:
        if name_of(port.signal) != port.name:
            if port.is_output:
                out.append(f"{port.name} <= std_logic_vector({name_of(port.signal)});\n")
            else:
                out.append(f"{name_of(port.signal)} <= {_numeric(port.signal)}({port.name});\n")
    shadows = {id(shadow) for shadow in body.shadows}
    undriven = [s for s in body.signals if not s.driven and id(s) not in shadows]
    undriven += [
        s
        for m in body.memories
        if not memory_driver(m) and id(m.mem[0]) not in shadows
        for s in m.mem
    ]
    for signal in undriven:
        out.append(f"{name_of(signal)} <= {_literal(signal, body)};\n")
    out += [_shadow(shadow) for shadow in body.shadows]
    return "".join(out)


def _port_map(item: Instance, in_map: set[int]) -> str:
    """Write an instance; ``in_map``: this entity's inputs that are ``std_logic_vector`` outside."""
    rows = []
    for port in item.entity.body.ports:
        actual = item.actuals[port.argument]
        written = _converted(actual)
        if id(actual) in in_map:
            written = f"{_numeric(actual)}({written})"
        rows.append((port.name, written))
    width = max(len(formal) for formal, _ in rows)
    mapped = ",\n".join(f"        {formal:{width}} => {written}" for formal, written in rows)
    return f"{item.label} : entity work.{item.entity.token}\n    port map (\n{mapped}\n    );\n"


def _comment(file: str, line: int) -> str:
    return "".join(f"{COMMENT} {each}".rstrip() + "\n" for each in comments(file, line))


def _table(table: TableText, type_name: str) -> str:
    """Write the declaration of a table."""
    kind = "signed" if table.range.is_signed else "unsigned"
    width = table.range.width
    values = [f'"{value & (1 << width) - 1:0{width}b}"' for value in table.values]
    rows = [", ".join(values[at : at + 8]) for at in range(0, len(values), 8)]
    entries = (",\n    ").join(rows)
    return (
        f"type {type_name} is array (0 to {len(values) - 1}) of {kind}({width - 1} downto 0);\n"
        f"constant {table.name} : {type_name} := (\n    {entries}\n);\n"
    )


def _variable(variable: Variable, name: str, body: Body) -> str:
    """Write the declaration of a variable."""
    if variable.enum is not None:
        kind = _enum_type(variable.enum, body)
    elif variable.is_bool:
        kind = "std_logic"
    else:
        assert variable.range is not None
        sign = "signed" if variable.range.is_signed else "unsigned"
        kind = f"{sign}({variable.range.width - 1} downto 0)"
    if variable.initial is None:
        return f"variable {name} : {kind};"
    if variable.enum is not None:
        first = enum_members(variable.enum)[variable.initial]
        return f"variable {name} : {kind} := {body.member(first)};"
    assert variable.range is not None
    width = variable.range.width
    first = (
        f"'{variable.initial}'"
        if variable.is_bool
        else f'"{variable.initial & (1 << width) - 1:0{width}b}"'
    )
    return f"variable {name} : {kind} := {first};"


def _edge(signal: Any, edge: str) -> str:
    return f"{'rising' if edge == 'posedge' else 'falling'}_edge({text(signal, SYNTAX)})"


def _process(item: Process, local: LocalNames, tables: dict[Table, str], body: Body) -> str:
    """Write a process, or its concurrent assignments."""
    printer = Vhdl(local.printed, tables, body.member)
    if item.kind is Kind.ASSIGN:
        return "".join(f"{line}\n" for line in printer.statements(item.sized.statements))
    if item.kind in (Kind.COMBINATIONAL, Kind.CONSTANT):
        awaited = "all"
    elif item.kind is Kind.LISTED:
        awaited = ", ".join(sorted(text(each, SYNTAX) for each in item.listed))
    else:
        names = [text(signal, SYNTAX) for signal, _ in item.edges]
        reset = [text(item.reset[0], SYNTAX)] if item.reset and item.reset[0].isasync else []
        awaited = ", ".join([*names, *reset])
    lines = [f"{item.name} : process ({awaited}) is"]
    lines += indented([_variable(each, local.printed[each], body) for each in local.variables])
    inside = (
        _at_edges(item, printer, body) if item.edges else printer.statements(item.sized.statements)
    )
    return "\n".join([*lines, "begin", *indented(inside), f"end process {item.name};"]) + "\n"


def _at_edges(item: Process, printer: Vhdl, body: Body) -> list[str]:
    """Write the statements of a clocked process, under its edge and its reset."""
    clock, edge = item.edges[0]
    statements = printer.statements(item.sized.statements)
    if item.reset is not None:
        signal, registers = item.reset
        resets = [
            f"{name_of(each)} <= {_literal(each, body)};" for each in sorted(registers, key=natural)
        ]
        test = f"{text(signal, SYNTAX)} = '{int(signal.active)}'"
        if signal.isasync:
            return [
                f"if {test} then",
                *indented(resets or ["null;"]),
                f"elsif {_edge(clock, edge)} then",
                *indented(statements),
                "end if;",
            ]
        statements = [
            f"if {test} then",
            *indented(resets or ["null;"]),
            "else",
            *indented(statements),
            "end if;",
        ]
    elif len(item.edges) > 1:
        return _with_asynchronous_reset(item, printer)
    return [f"if {_edge(clock, edge)} then", *indented(statements), "end if;"]


def _with_asynchronous_reset(item: Process, printer: Vhdl) -> list[str]:
    """Write ``if not rst: ... else: ...`` at two edges, the reset outside of the clock edge."""
    (test, reset), clocked, clock = asynchronous_reset(item)
    return [
        f"if {printer.condition(test).text} then",
        *indented(printer.statements(reset)),
        f"elsif {_edge(*clock)} then",
        *indented(printer.statements(clocked)),
        "end if;",
    ]


def write(body: Body, name: str, is_top: bool) -> str:
    """Write the file of one entity, without its header."""
    contents = StringIO()
    tables, table_names = tables_of((each.sized for each in body.processes), body.names)
    in_map = {id(port.signal) for port in body.ports if port.in_map}
    single = [memory.name for memory in body.memories if memory.depth == 1]
    for item in body.items:
        if isinstance(item, Instance):
            contents.write(_comment(*item.place) + _port_map(item, in_map) + "\n")
        else:
            contents.write(_comment(*item.place))
            written = _process(item, local_names(item.sized, body.names), table_names, body)
            contents.write(index_only_elements(written.strip(), single) + "\n\n")
    declared = [
        _declarations(body),
        *(_table(table, body.names.unique(f"{table.name}_t")) for table in tables),
    ]
    declarations = indent("".join(declared), "    ")
    concurrent, chosen = _assignments(body), contents.getvalue().rstrip() + "\n"
    library = USE if _NEEDS_PACKAGE.search(chosen) else ""
    registers = [
        memory.name
        for memory in body.memories
        if memory.depth > 1 and elements_by_number(memory.name, concurrent + chosen)
    ]
    assignments = indent(concurrent, "    ")
    statements = indent(assign_chosen_elements(chosen, registers), "    ")
    parts = [
        f"library ieee;\nuse ieee.std_logic_1164.all;\nuse ieee.numeric_std.all;\n"
        f"{library}\n{_header(name, body.ports, is_top)}\narchitecture rtl of {name} is\n",
        f"{declarations}" if declarations.strip() else "",
        f"begin\n\n{assignments}" if assignments else "begin\n",
        f"{statements}\nend architecture rtl;\n",
    ]
    lines = "\n".join(part for part in parts if part).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"
