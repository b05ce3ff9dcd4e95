"""Print the Verilog text of a module's parts. Private to ``merp.hdl.conversion``.

Verilog has no literal whose width is a parameter. A zero is repeated. Any other number is a bit
range of a constant, because an expression of parameters has 32 bits, and tools report it as too
wide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from merp.hdl.conversion._numbers import Num
from merp.hdl.conversion._rollup import identifiers
from merp.hdl.conversion._verilog_text import ABSENT, Based
from merp.hdl.conversion._vhdl_print import Folded
from merp.hdl.conversion._vhdl_text import Declared, Item, Leaf, Module, Token, Type, sum_of
from merp.hdl.conversion._written import Style, written

_OPENING = {"(", "[", "{", ",", ":", "="}
_CLOSING = {")", "]", ",", ":", ";"}
_INTEGER = 32  # bits
_BASES = {"b": "b", "d": "d", "h": "x"}
_MAXIMUM = re.compile(r"maximum\((ceil_log2\([^()]*\)), (\d+)\)")
_ROOM = 96


def translated(text: str) -> str:
    """Translate a condition of VHDL into Verilog."""
    parts = []
    for test in text.split(" and "):
        words = test.split()
        if re.fullmatch(r"[a-zA-Z]\w*", test):
            test = f"{test} != 0"
        elif words[0] == "not":
            test = f"{words[1]} == 0"
        parts.append(re.sub(r" = ", " == ", test))
    return " && ".join(parts)


def expression(value: Num | str) -> str:
    """Write a number, or a constant of VHDL, in Verilog."""
    text = str(value)
    if isinstance(value, Num) and text[0] == "-" and value.constant > 0:  # the positive part first
        text = f"{value.constant} {str(sum_of(value, -value.constant)).replace('-', '- ', 1)}"
    text = _MAXIMUM.sub(r"(\1 > \2 ? \1 : \2)", text)
    return text.replace("ceil_log2(", "$clog2(")


@dataclass
class _Printer:
    """A module being printed, and the constants that its literals need."""

    taken: set[str]
    values: Sequence[Mapping[str, int]]
    constants: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def word(self, literal: Based) -> str:
        """Write a literal."""
        value, width = literal.value, literal.width
        if value.is_constant and width.is_constant:
            digits = f"{value.constant:{_BASES[literal.base]}}"
            if literal.base == "b":
                digits = digits.zfill(width.constant)
            return f"{width.constant}'{literal.sign}{literal.base}{digits}"
        if not value.terms:
            size = expression(width)
            text = f"{{{size if ' ' not in size else f'({size})'}{{1'b0}}}}"
        else:
            name = self.constant(expression(value))
            bits = max(width.of(names).constant for names in self.values)
            self.sizes[name] = max(bits, self.sizes.get(name, _INTEGER))
            text = f"{name}[{expression(sum_of(width, -1))}:0]"
        return f"$signed({text})" if literal.sign else text

    def constant(self, value: str) -> str:
        """Return the name of a constant."""
        if value not in self.constants:
            base = re.sub(r"\W+", "_", value.replace("-", "minus").replace("+", "plus")).strip("_")
            name = wanted = f"number_{base}"
            count = 1
            while name.lower() in self.taken:
                count += 1
                name = f"{wanted}_{count}"
            self.taken.add(name.lower())
            self.constants[value] = name
        return self.constants[value]

    def numbers(self) -> list[str]:
        """Write the declarations of the constants; an expression is first as wide as an integer."""
        found = []
        for value, name in list(self.constants.items()):
            size = self.sizes[name]
            if value.isdigit():
                value = f"{size}'d{value}"
            elif size > _INTEGER:
                narrow = self.constant(f"{value} narrow")
                found.append(f"localparam [{_INTEGER - 1}:0] {narrow} = {value};")
                value = f"{{{size - _INTEGER}'d0, {narrow}}}"
            found.append(f"localparam [{size - 1}:0] {name} = {value};")
        return found

    def written(self, tokens: Sequence[Token], label: str = "") -> str:
        """Write tokens as text."""
        return written(tokens, Style(self._other, expression, _OPENING, _CLOSING), label)

    def _other(self, token: Token) -> str:
        assert isinstance(token, Based)
        return self.word(token)

    def declarations(self, module: Module) -> list[str]:
        """Write signals, constants and functions, functions last."""
        own = [each for each in module.declared if each.type is not None]
        rest = [self.written(each.tokens) for each in module.declared if each.type is None]
        functions = [text for text in rest if text.startswith("function")]
        return [
            *(text for text in rest if not text.startswith("function")),
            *(self._signal(each) for each in own),
            *functions,
        ]

    def _signal(self, each: Declared) -> str:
        assert each.type is not None
        return f"{_kind(each.type)} {each.name}{self.written(each.tokens)};"

    def statements(self, items: Iterable[Item]) -> list[str]:
        """Write statements, those of one line without an empty line between them."""
        found: list[str] = []
        before = ""
        for item in items:
            assert isinstance(item, Leaf)
            text = "\n".join([*item.comment, self.written(item.tokens, item.label or "")])
            kind = item.kind if "\n" not in text else ""
            if found and kind and kind == before:
                found[-1] += f"\n{text}"
            else:
                found.append(text)
            before = kind
        return found


def _kind(kind: Type) -> str:
    if kind.width is None:
        return kind.name
    base, _, sign = kind.name.partition(" ")
    return f"{f'{base:4} {sign}'.rstrip()} [{expression(sum_of(kind.width, -1))}:0]"


def _header(folded: Folded) -> str:
    module = folded.common
    out = f"module {module.name} "
    if folded.generics:
        rows = [
            f"    parameter integer {each.name} = {value}"
            for each, value in zip(folded.generics, folded.rows[0], strict=True)
        ]
        out += "#(\n" + ",\n".join(rows) + "\n) "
    kinds = []
    for port in module.ports:
        base, _, sign = port.type.name.partition(" ")
        words = [f"{'input' if port.direction == 'in' else 'output':6} {base:4}", sign]
        if port.type.width is not None:
            words.append(f"[{expression(sum_of(port.type.width, -1))}:0]")
        kinds.append(" ".join(word for word in words if word).rstrip())
    width = max((len(kind) for kind in kinds), default=0)
    rows = [f"    {kind:{width}} {p.name}" for kind, p in zip(kinds, module.ports, strict=True)]
    return f"{out}(\n" + ",\n".join(rows) + "\n);\n"


def _check(folded: Folded) -> str:
    """Write the statement that ends the elaboration of values that were not converted.

    An instance of a module that does not exist is an error in every tool if it is elaborated, and
    only then. ``$error`` is unsuitable: Verilog-2001 has it only inside of processes, and Verilator
    continues after it.
    """
    names = [each.name for each in folded.generics]
    tests = [
        "(" + " && ".join(f"{n} == {value}" for n, value in zip(names, row, strict=True)) + ")"
        for row in dict.fromkeys(folded.rows)
    ]
    lines = ["    if (!("]
    for k, test in enumerate(tests):
        piece = test if k == len(tests) - 1 else f"{test} || "
        if len(lines[-1]) + len(piece) > _ROOM:
            lines[-1] = lines[-1].rstrip()
            lines.append("        ")
        lines[-1] += piece
    lines[-1] += f")) begin : {folded.check}"
    absent = f"{folded.common.name}{ABSENT}"
    return "\n".join(
        ["generate", *lines, f"        {absent} convert_it_again ();", "    end", "endgenerate"]
    )


def printed(folded: Folded) -> str:
    """Return the file of a module, without its header."""
    modules = (folded.common, *(module for _, module in folded.forms))
    taken = {name for module in modules for name in identifiers(module)}
    taken |= {each.name.lower() for each in folded.generics}
    taken |= {each.name.lower() for each in folded.derived}
    names = [each.name for each in folded.generics]
    values = [dict(zip(names, row, strict=True)) for row in folded.rows] or [{}]
    for k, row in enumerate(values):
        row |= {each.name: each.row[k] for each in folded.derived}
    printer = _Printer(taken, values)
    declared = printer.declarations(folded.common)
    inner = printer.statements(folded.common.items)
    if folded.forms:
        inner.append(_forms(folded, printer))
    constants = [
        f"localparam integer {each.name} = {expression(each.value)};" for each in folded.derived
    ]
    constants += printer.numbers()
    sections = [_check(folded)] if folded.generics else []
    plain = [text for text in declared if "\n" not in text]
    sections += ["\n".join([*constants, *plain])] if constants or plain else []
    sections += [text for text in declared if "\n" in text]
    body = _indented("\n\n".join([*sections, *inner]))
    text = f"`timescale 1ns/10ps\n\n{_header(folded)}\n{body}\n\nendmodule\n"
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _forms(folded: Folded, printer: _Printer) -> str:
    """Write the differences of the forms, as alternatives."""
    out = "generate\n"
    opened = False
    for k, (condition, module) in enumerate(folded.forms):
        inner = [*printer.declarations(module), *printer.statements(module.items)]
        if not condition and not inner:
            continue
        test = f"if ({translated(condition)}) " if condition else ""
        out += f"    {'end else ' if opened else ''}{test}begin : {folded.label}_{k}\n"
        out += f"{_indented(_indented(_spaced(inner)))}\n" if inner else ""
        opened = True
    return f"{out}    end\nendgenerate"


def _spaced(texts: Sequence[str]) -> str:
    """Join lines directly, and longer texts with empty lines between them."""
    out = ""
    for before, text in zip(("", *texts), texts, strict=False):
        if out:
            out += "\n\n" if "\n" in before or "\n" in text else "\n"
        out += text
    return out


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else line for line in text.split("\n"))
