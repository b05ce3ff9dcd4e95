"""VHDL-2008 text of one analysed entity. Private to ``merp.hdl.conversion.convert``."""

from __future__ import annotations

from io import StringIO
from textwrap import indent
from typing import Any

from myhdl import EnumItemType, intbv

from merp.hdl.conversion import internals
from merp.hdl.conversion._analyse import Body, EntityPort, Instance
from merp.hdl.conversion._comments import comments
from merp.hdl.conversion._signals import (
    Syntax,
    assign_chosen_elements,
    elements_by_number,
    fold_constants,
    index_only_elements,
    readable_labels,
    span,
    text,
)
from merp.hdl.conversion.internals import (
    AnySignal,
    ConcatSignal,
    enum_name,
    enum_of,
    initial,
    memory_driver,
    name_of,
    operands_of,
)

COMMENT = "--"
SUFFIX = ".vhd"
SYNTAX = Syntax("%s(%s)", "%s(%s downto %s)", ports_converted=False)
TOP_SYNTAX = Syntax("%s(%s)", "%s(%s downto %s)", ports_converted=True)


def support() -> tuple[str, str] | None:
    """File name and text of the package that every entity uses."""
    intro = (
        f"-- Support package of MyHDL {internals.VHDL_PACKAGE_VERSION}, LGPL-2.1-or-later:\n"
        "-- Copyright (C) 2003-2008 Jan Decaluwe\n\n"
    )
    return f"{internals.VHDL_PACKAGE}.vhd", intro + internals.VHDL_PACKAGE_TEXT.strip() + "\n"


def _is_signed(signal: Any) -> bool:
    return signal.min is not None and signal.min < 0


def _numeric(signal: Any) -> str:
    return "signed" if _is_signed(signal) else "unsigned"


def _type(signal: Any, vector: str | None = None) -> str:
    value = signal.val
    if isinstance(value, EnumItemType):
        return enum_name(enum_of(value))
    if not isinstance(value, intbv):
        return "std_logic"
    return f"{vector or _numeric(signal)}({len(signal) - 1} downto 0)"


def _literal(signal: Any) -> str:
    value = initial(signal)
    if isinstance(value, EnumItemType):
        return internals.vhdl_literal(value)
    if not isinstance(value, intbv):
        return f"'{int(value)}'"
    width = len(signal)
    bits = int(value) & ((1 << width) - 1)
    if bits == 0:
        return "(others => '0')"
    if width % 4:
        return f'"{bits:0{width}b}"'
    return f'x"{bits:0{width // 4}x}"'


def _header(name: str, ports: list[EntityPort], converted: bool) -> str:
    lines = []
    width = max((len(port.name) for port in ports), default=0)
    for port in ports:
        direction = "out" if port.is_output else "in "
        line = f"{port.name:{width}} : {direction} "
        line += _type(port.signal, "std_logic_vector" if converted else None)
        if port.is_output:
            line += f" := {_literal(port.signal)}"
        lines.append(f"        {line}")
    ports_text = "    port (\n" + ";\n".join(lines) + "\n    );\n" if lines else ""
    return f"entity {name} is\n{ports_text}end entity {name};\n"


def _declarations(body: Body) -> str:
    out = []
    for enum in body.enums:
        out.append(f"type {enum_name(enum)} is ({', '.join(internals.enum_literals(enum))});")
    rows = [
        (str(name_of(port.signal)), _type(port.signal), _literal(port.signal))
        for port in body.ports
        if name_of(port.signal) != port.name
    ]
    rows += [(str(name_of(signal)), _type(signal), _literal(signal)) for signal in body.signals]
    for memory in body.memories:
        kind = f"{memory.name}_t"
        literals = [_literal(signal) for signal in memory.mem]
        if len(set(literals)) == 1:
            initial = f"(others => {literals[0]})"
        else:
            initial = "(\n    " + ",\n    ".join(literals) + "\n)"
        out.append(f"type {kind} is array (0 to {memory.depth - 1}) of {_type(memory.elObj)};")
        rows.append((memory.name, kind, initial))
    width = max((len(name) for name, _, _ in rows), default=0)
    out += [f"signal {name:{width}} : {kind} := {initial};" for name, kind, initial in rows]
    return "".join(f"{line}\n" for line in out)


def _converted(signal: Any) -> str:
    """A signal or slice as what MyHDL takes it for: a slice of a signed signal is unsigned."""
    base, _, low = span(signal)
    is_slice = signal is not base and name_of(signal) is None and low is not None
    written = text(signal, SYNTAX)
    return f"unsigned({written})" if is_slice and _is_signed(base) else written


def _operand(part: Any) -> str:
    """An operand of a concatenation."""
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
        out.append(f"{name_of(signal)} <= {_literal(signal)};\n")
    out += [_shadow(shadow) for shadow in body.shadows]
    return "".join(out)


def _port_map(item: Instance, in_map: set[int]) -> str:
    """An instance; ``in_map``: ports of this entity that are ``std_logic_vector`` outside."""
    rows = []
    for port in item.entity.body.ports:
        actual = item.actuals[port.name]
        formal, written = port.name, _converted(actual)
        if id(actual) in in_map and port.is_output:
            formal = f"std_logic_vector({formal})"
        elif id(actual) in in_map:
            written = f"{_numeric(actual)}({written})"
        rows.append((formal, written))
    width = max(len(formal) for formal, _ in rows)
    mapped = ",\n".join(f"        {formal:{width}} => {written}" for formal, written in rows)
    return f"{item.label} : entity work.{item.entity.token}\n    port map (\n{mapped}\n    );\n"


def _comment(file: str, line: int) -> str:
    return "".join(f"{COMMENT} {each}".rstrip() + "\n" for each in comments(file, line))


def write(body: Body, name: str, is_top: bool) -> str:
    """The file of one entity, without its head."""
    functions, contents = StringIO(), StringIO()
    processes = [item for item in body.items if not isinstance(item, Instance)]
    internals.annotate_vhdl(processes)
    in_map = {id(port.signal) for port in body.ports if port.in_map}
    single = [memory.name for memory in body.memories if memory.depth == 1]
    for item in body.items:
        if isinstance(item, Instance):
            contents.write(_comment(*item.place) + _port_map(item, in_map) + "\n")
        else:
            contents.write(_comment(*internals.place_of(item)))
            block = StringIO()
            internals.VHDL_VISITORS[item.kind](item, block, functions).visit(item)
            contents.write(index_only_elements(block.getvalue().strip(), single) + "\n\n")
    library = f"use work.{internals.VHDL_PACKAGE}.all;\n" if processes else ""
    declared = [_declarations(body), functions.getvalue().strip("\n")]
    declarations = indent("\n".join(part.rstrip() + "\n" for part in declared if part), "    ")
    concurrent, chosen = _assignments(body), contents.getvalue().rstrip() + "\n"
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
    written = "\n".join(part for part in parts if part)
    lines = fold_constants(readable_labels(written, body.names)).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"
