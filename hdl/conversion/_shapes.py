"""Separate the numbers of a text from its shape, which is the text without numbers.

Two pieces of text with the same shape only differ in numbers. Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

from merp.hdl.conversion._numbers import Num
from merp.hdl.conversion._vhdl_text import (
    Declared,
    Item,
    Leaf,
    Loop,
    Module,
    Ref,
    SignalArray,
    Token,
    Tokens,
    Type,
    VhdlPort,
    Word,
)

Change = Callable[[Num], Num]


def shape(tokens: Iterable[Token]) -> tuple[Hashable, ...]:
    """Return tokens without their numbers, and without white space except for new lines."""
    found: list[Hashable] = []
    for token in tokens:
        if isinstance(token, str):
            if token[0] != " ":
                found.append(token)
        elif isinstance(token, Ref):
            found.append((Ref, token.family))
        else:
            found.append(type(token).__name__)
    return tuple(found)


def numbers(tokens: Iterable[Token]) -> Iterator[Num]:
    """Yield the numbers of tokens, in order."""
    for token in tokens:
        if isinstance(token, Num):
            yield token
        elif isinstance(token, Word):
            yield token.value
            yield token.width
        elif isinstance(token, Ref):
            yield token.place


def changed(tokens: Iterable[Token], change: Change) -> Tokens:
    """Return the tokens with every number replaced; ``change`` is called in order."""
    found: list[Token] = []
    for token in tokens:
        if isinstance(token, Num):
            found.append(change(token))
        elif isinstance(token, Word):
            value = change(token.value)
            found.append(type(token)(value, change(token.width)))
        elif isinstance(token, Ref):
            found.append(Ref(token.family, change(token.place)))
        else:
            found.append(token)
    return tuple(found)


def item_shape(item: Item) -> Hashable:
    """Return the shape of a statement."""
    if isinstance(item, Leaf):
        return (item.kind, shape(item.tokens))
    return (Loop, item.index, tuple(item_shape(each) for each in item.body))


def item_numbers(item: Item) -> Iterator[Num]:
    """Yield the numbers of a statement."""
    if isinstance(item, Leaf):
        yield from numbers(item.tokens)
    else:
        yield item.count
        for each in item.body:
            yield from item_numbers(each)


def item_changed(item: Item, change: Change) -> Item:
    """Return a statement with every number replaced; ``change`` is called in order."""
    if isinstance(item, Leaf):
        return replace(item, tokens=changed(item.tokens, change))
    count = change(item.count)
    return replace(item, count=count, body=[item_changed(each, change) for each in item.body])


def _type_shape(kind: Type | None) -> Hashable:
    return None if kind is None else (kind.name, kind.width is None)


def _type_numbers(kind: Type | None) -> list[Num]:
    return [] if kind is None or kind.width is None else [kind.width]


def _type_changed(kind: Type, change: Change) -> Type:
    return kind if kind.width is None else Type(kind.name, change(kind.width))


def declared_shape(each: Declared) -> Hashable:
    """Return the shape of a declaration, including its name."""
    return (each.name, _type_shape(each.type), shape(each.tokens))


def array_shape(each: SignalArray) -> Hashable:
    """Return the shape of an array, including its name."""
    return (each.name, _type_shape(each.type), shape(each.tokens))


def body_shape(module: Module) -> Hashable:
    """Return the shape of an entity, without its name and its header."""
    return (
        module.library,
        tuple((p.name, p.direction, _type_shape(p.type), shape(p.initial)) for p in module.ports),
        tuple(declared_shape(each) for each in module.declared),
        tuple(item_shape(item) for item in module.items),
        tuple(array_shape(each) for each in module.arrays),
    )


def port_numbers(module: Module) -> list[Num]:
    """Return the numbers of an entity's ports, in order."""
    found: list[Num] = []
    for port in module.ports:
        found += _type_numbers(port.type)
        found += numbers(port.initial)
    return found


def body_numbers(module: Module) -> list[Num]:
    """Return the numbers of an entity, in order; those of its ports come first."""
    found = port_numbers(module)
    for each in module.declared:
        found += _type_numbers(each.type)
        found += numbers(each.tokens)
    for item in module.items:
        found += item_numbers(item)
    for array in module.arrays:
        found.append(array.size)
        found += _type_numbers(array.type)
        found += numbers(array.tokens)
    return found


def body_changed(module: Module, values: Sequence[Num]) -> Module:
    """Return an entity with other numbers, in the order of ``body_numbers``."""
    rest = iter(values)

    def change(_: Num) -> Num:
        return next(rest)

    ports = []
    for port in module.ports:
        kind = _type_changed(port.type, change)
        ports.append(VhdlPort(port.name, port.direction, kind, changed(port.initial, change)))
    declared = []
    for each in module.declared:
        named = each.type and _type_changed(each.type, change)
        declared.append(Declared(each.name, named, changed(each.tokens, change)))
    items = [item_changed(item, change) for item in module.items]
    arrays = []
    for array in module.arrays:
        size = change(array.size)
        kind = _type_changed(array.type, change)
        arrays.append(SignalArray(array.name, size, kind, changed(array.tokens, change)))
    return replace(module, ports=ports, declared=declared, items=items, arrays=arrays)
