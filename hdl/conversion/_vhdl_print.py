"""Print the VHDL text of an entity's parts. Private to ``merp.hdl.conversion``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from merp.hdl.conversion._vhdl_package import USE
from merp.hdl.conversion._vhdl_text import (
    Item,
    Leaf,
    Module,
    Quoted,
    Ref,
    Token,
    Tokens,
    Type,
    VhdlPort,
    Word,
    sum_of,
)
from merp.hdl.conversion._written import Style, written

_LINE = 90
_RELATIONS = {
    sign + relation for relation in ("=", "/=", "<", "<=", ">", ">=") for sign in ("", "?")
}
_OPENING = {"(", ",", "downto", "to", "=>", ":=", "in", *_RELATIONS}
_CLOSING = {")", ",", "downto", "to", "loop", "generate", "then", "else", "and", "or", ";"}


@dataclass(frozen=True)
class Generic:
    """A generic: its name and its type."""

    name: str
    type: str


@dataclass(frozen=True)
class Derived:
    """A constant that follows from generics: its text, and its values in each configuration."""

    name: str
    type: str
    value: str
    row: tuple[int, ...]


@dataclass(frozen=True)
class Folded:
    """One entity for several configurations.

    Attributes:
        label: label of the alternatives.
        common: the common part of all configurations; with only one form, the whole entity.
        generics: the differences of the configurations.
        forms: the remaining part of each of several forms, with the condition on the generics that
            selects it. The condition of the last one is empty.
        derived: constants that follow from the generics.
        check: name of the constant that only admits the configurations.
        rows: the distinct values of the generics in the configurations.
    """

    label: str
    common: Module
    generics: tuple[Generic, ...]
    forms: tuple[tuple[str, Module], ...]
    derived: tuple[Derived, ...] = ()
    check: str = ""
    rows: tuple[tuple[int, ...], ...] = ()


def word(literal: Word) -> str:
    """Write the literal of an unsigned vector."""
    value, width = literal.value, literal.width
    if isinstance(literal, Quoted) and value.is_constant and width.is_constant:
        return f'"{value.constant:0{width.constant}b}"'
    return f"to_unsigned({value}, {width})"


def _other(token: Token) -> str:
    if isinstance(token, Ref):
        return f"{token.family}({token.place})"
    assert isinstance(token, Word)
    return word(token)


_STYLE = Style(_other, str, _OPENING, _CLOSING)


def _type(kind: Type) -> str:
    if kind.width is None:
        return kind.name
    return f"{kind.name}({sum_of(kind.width, -1)} downto 0)"


def _initial(tokens: Tokens) -> str:
    """Write an initial value, for a vector in the shortest way."""
    first = tokens[0]
    if len(tokens) != 1 or not isinstance(first, Word):
        return written(tokens, _STYLE)
    if not first.value.terms:
        return "(others => '0')"
    if not first.value.is_constant or not first.width.is_constant:
        return word(first)
    value, width = first.value.constant, first.width.constant
    return f'"{value:0{width}b}"' if width % 4 else f'x"{value:0{width // 4}x}"'


def header(module: Module, generics: Sequence[Generic]) -> str:
    """Write the entity's declaration."""
    out = f"entity {module.name} is\n"
    if generics:
        width = max(len(each.name) for each in generics)
        rows = [f"        {each.name:{width}} : {each.type}" for each in generics]
        out += "    generic (\n" + ";\n".join(rows) + "\n    );\n"
    if module.ports:
        width = max(len(port.name) for port in module.ports)
        rows = [f"        {_port(port, width)}" for port in module.ports]
        out += "    port (\n" + ";\n".join(rows) + "\n    );\n"
    return out + f"end entity {module.name};\n"


def _port(port: VhdlPort, width: int) -> str:
    line = f"{port.name:{width}} : {port.direction:3} {_type(port.type)}"
    return f"{line} := {_initial(port.initial)}" if port.initial else line


def _constants(folded: Folded) -> str:
    """Write the check of the generics before all uses of them, and the derived constants."""
    if not folded.generics:
        return ""
    width = max((len(each.name) for each in folded.derived), default=0)
    rows = [
        f"constant {each.name:{width}} : {each.type} := {each.value};" for each in folded.derived
    ]
    return "\n".join([_check(folded), *rows])


def _check(folded: Folded) -> str:
    """Write the constant that ends the elaboration of values that were not converted."""
    names = ", ".join(each.name for each in folded.generics)
    given = [
        f"boolean'pos({each.name})" if each.type == "boolean" else each.name
        for each in folded.generics
    ]
    known = [", ".join(map(str, row)) for row in dict.fromkeys(folded.rows)]
    if len(given) > 1:
        known = [f"({row})" for row in known]
    lines = [
        f'"{folded.common.name}: {names}",',
        f"({', '.join(given)})," if len(given) > 1 else f"{given[0]},",
        *_filled(known),
    ]
    inner = "\n".join(f"    {line}" for line in lines)
    return f"constant {folded.check} : boolean := are_converted(\n{inner}\n);"


def _filled(parts: Sequence[str]) -> list[str]:
    """Write parts in brackets, and fill each line."""
    lines = ["("]
    for part in parts:
        if len(lines[-1]) + len(part) > _LINE:
            lines.append("")
        lines[-1] += f"{part}, "
    return [*(line.rstrip() for line in lines[:-1]), f"{lines[-1][:-2]})"]


def declarations(module: Module) -> str:
    """Write types, signals and functions."""
    out = [written(each.tokens, _STYLE) for each in module.declared if each.type is None]
    functions = [text for text in out if text.startswith("function")]
    out = [text for text in out if not text.startswith("function")]
    rows = []
    for array in module.arrays:
        kind = f"{array.name}_t"
        bounds = f"(0 to {sum_of(array.size, -1)})"
        out.append(f"type {kind} is array {bounds} of {_type(array.type)};")
        rows.append((array.name, kind, f"(others => {_initial(array.tokens)})"))
    for each in module.declared:
        if each.type is not None:
            rows.append((each.name, _type(each.type), _initial(each.tokens)))
    width = max((len(name) for name, _, _ in rows), default=0)
    out += [f"signal {name:{width}} : {kind} := {value};" for name, kind, value in rows]
    return "\n".join([*out, *functions])


def statements(items: Iterable[Item]) -> str:
    """Write statements; consecutive assignments stay together.

    Consecutive statements with the same comment share it.
    """
    out = ""
    before = ""
    said: tuple[str, ...] = ()
    for item in items:
        comment = () if item.comment == said else item.comment
        kind = item.kind if isinstance(item, Leaf) and not comment else "other"
        if out:
            out += "\n" if kind == before == "assign" else "\n\n"
        out += "\n".join([*comment, _statement(item)])
        before = item.kind if isinstance(item, Leaf) else "other"
        said = item.comment
    return out


def _statement(item: Item) -> str:
    if isinstance(item, Leaf):
        return written(item.tokens, _STYLE, item.label or "")
    inner = _indented(statements(item.body))
    head = f"{item.label} : for {item.index} in 0 to {sum_of(item.count, -1)} generate\n"
    return f"{head}{inner}\nend generate {item.label};"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else line for line in text.split("\n"))


def printed(folded: Folded) -> str:
    """Return the file of an entity, without its header."""
    common = folded.common
    out = "library ieee;\nuse ieee.std_logic_1164.all;\nuse ieee.numeric_std.all;\n"
    modules = (common, *(module for _, module in folded.forms))
    out += USE if folded.generics else max(module.library for module in modules)
    out += f"\n{header(common, folded.generics)}\narchitecture rtl of {common.name} is\n"
    for declared in (_constants(folded), declarations(common)):
        out += f"\n{_indented(declared)}\n" if declared else ""
    inner = [statements(common.items), _forms(folded) if folded.forms else ""]
    out += "\nbegin\n\n" + _indented("\n\n".join(each for each in inner if each))
    out += "\n\nend architecture rtl;\n"
    return "".join(f"{line.rstrip()}\n" for line in out.splitlines())


def _forms(folded: Folded) -> str:
    """Write the differences of the forms, as alternatives."""
    out = ""
    for condition, module in folded.forms:
        declared = declarations(module)
        if not condition and not declared and not module.items:
            continue
        if not out:
            out = f"{folded.label} : if {condition} generate\n"
        else:
            out += f"elsif {condition} generate\n" if condition else "else generate\n"
        out += f"{_indented(declared)}\nbegin\n" if declared else ""
        out += f"{_indented(statements(module.items))}\n" if module.items else ""
    return f"{out}end generate {folded.label};"
