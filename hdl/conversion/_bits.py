"""Make a port a vector if it is a bit in some configurations and a vector in others.

Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from merp.hdl.conversion._numbers import Num, number
from merp.hdl.conversion._rollup import leaves
from merp.hdl.conversion._shapes import body_shape
from merp.hdl.conversion._vhdl_text import (
    Declared,
    Item,
    Leaf,
    Loop,
    Module,
    Token,
    Tokens,
    Type,
    VhdlPort,
    Word,
)

_BIT, _VECTOR = "std_logic", Type("unsigned", number(1))


def as_vectors(modules: Sequence[Module]) -> tuple[list[Module], list[frozenset[str]]]:
    """Return the modules with equal kinds of ports, and the changed ports of each module."""
    wide = {port.name for module in modules for port in module.ports if port.type.width is not None}
    done, changes = [], []
    vectors = {
        body_shape(module)
        for module in modules
        if all(port.type.width is not None for port in module.ports if port.name in wide)
    }
    for module in modules:
        bits = frozenset(p.name for p in module.ports if p.name in wide and p.type.width is None)
        done.append(_widened(module, bits, vectors) if bits else module)
        changes.append(bits)
    return done, changes


def _widened(module: Module, bits: frozenset[str], vectors: set[Hashable]) -> Module:
    """Return a module in which the ports ``bits`` are vectors of one bit.

    If the module only moves these bits, all signals between them become vectors too, provided that
    another configuration, one of ``vectors``, has the same text. Otherwise a bit becomes element 0.
    """
    ports = [_port(port) if port.name in bits else port for port in module.ports]
    names = bits | {
        each.name for each in module.declared if each.type is not None and _holds_bits(each, module)
    }
    declared = [_declared(each, names) for each in module.declared]
    moved = replace(module, ports=ports, declared=declared)
    if body_shape(moved) in vectors and _only_moved(module, names):
        return moved
    return replace(module, ports=ports, items=[_indexed(each, bits) for each in module.items])


def _port(port: VhdlPort) -> VhdlPort:
    return replace(port, type=_VECTOR, initial=_initial(port.initial))


def _initial(tokens: Tokens) -> Tokens:
    if tokens in (("'0'",), ("'1'",)):
        return (Word(number(int(str(tokens[0])[1])), number(1)),)
    return tokens


def _holds_bits(each: Declared, module: Module) -> bool:
    """Return whether a signal is a bit, or a memory of bits."""
    assert each.type is not None
    if each.type.name == _BIT:
        return True
    for kind in module.declared:
        if kind.type is None and kind.name == each.type.name:
            return kind.tokens[-2:] == (_BIT, ";")
    return False


def _declared(each: Declared, names: frozenset[str]) -> Declared:
    if each.type is None and each.tokens[-2:] == (_BIT, ";"):
        vector: tuple[Token, ...] = (
            "unsigned",
            "(",
            number(0),
            " ",
            "downto",
            " ",
            number(0),
            ")",
            ";",
        )
        return replace(each, tokens=(*each.tokens[:-2], *vector))
    if each.name not in names:
        return each
    if each.type is not None and each.type.name == _BIT:
        return Declared(each.name, _VECTOR, _initial(each.tokens))
    inner: list[Token] = []
    for token in each.tokens:  # (others => '0') of a memory
        inner += ["(", "others", " ", "=>", " ", "'0'", ")"] if token == "'0'" else [token]
    return replace(each, tokens=tuple(inner))


def _only_moved(module: Module, names: frozenset[str]) -> bool:
    """Return whether every statement uses the named signals only as whole operands, unchanged."""
    for leaf in leaves(module.items):
        tokens = [t for t in leaf.tokens if not (isinstance(t, str) and t[0] == " ")]
        for at, token in enumerate(tokens):
            if token in names and leaf.kind != "instance":
                before = tokens[at - 1] if at else ";"
                after = tokens[_behind(tokens, at + 1)]
                ends = isinstance(before, str) and (before[0] in "\n;" or before in ("<=", "\x01"))
                if not ends or after not in ("<=", ";"):
                    return False
    return True


def _behind(tokens: Sequence[Token], at: int) -> int:
    """Return the place after an index in brackets, or ``at`` if there is none."""
    if tokens[at] != "(":
        return at
    depth = 0
    while True:
        depth += (tokens[at] == "(") - (tokens[at] == ")")
        at += 1
        if depth == 0:
            return at


def _indexed(item: Item, bits: frozenset[str]) -> Item:
    """Return a statement that uses element 0 in place of each bit."""
    if isinstance(item, Loop):
        return replace(item, body=[_indexed(each, bits) for each in item.body])
    found: list[Token] = []
    zero: Num = number(0)
    for at, token in enumerate(item.tokens):
        found.append(token)
        if token in bits and not (item.kind == "instance" and _is_formal(item, at)):
            found += ["(", zero, ")"]
    return replace(item, tokens=tuple(found))


def _is_formal(leaf: Leaf, at: int) -> bool:
    rest = (
        token for token in leaf.tokens[at + 1 :] if not (isinstance(token, str) and token == " ")
    )
    return any(token == "=>" for token in [next(rest, None)])
