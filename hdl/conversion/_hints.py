"""Name numbers after adjacent words. Private to ``merp.hdl.conversion``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from merp.hdl.conversion._numbers import Num
from merp.hdl.conversion._vhdl_text import Item, Leaf, Module, Ref, Token, Type, Word
from merp.hdl.conversion.base.names import VHDL_KEYWORDS

_NAME = re.compile(r"[A-Za-z]\w*")
_PLAIN = {"unsigned", "signed", "resize", "bool", "stdl", "to_integer", "to_unsigned"}


def hints(module: Module) -> list[str]:
    """Return a name for each number of an entity, in the order of ``body_numbers``."""
    found: list[str] = []
    for port in module.ports:
        found += _width(port.name, port.type)
        found += _tokens(port.initial, port.name)
    for each in module.declared:
        found += _width(each.name, each.type)
        found += _tokens(each.tokens, each.name)
    for item in module.items:
        found += _item(item)
    for array in module.arrays:
        found.append(f"{array.name}_size")
        found += _width(array.name, array.type)
        found += _tokens(array.tokens, array.name)
    return [re.sub("_+", "_", name).strip("_") for name in found]


def _width(name: str, kind: Type | None) -> list[str]:
    return [] if kind is None or kind.width is None else [f"{name}_width"]


def _item(item: Item) -> Iterator[str]:
    if isinstance(item, Leaf):
        yield from _tokens(item.tokens, item.label or "")
        return
    yield f"{item.label}_count"
    for each in item.body:
        yield from _item(each)


def _tokens(tokens: Iterable[Token], around: str) -> Iterator[str]:
    near = ""
    for token in tokens:
        if isinstance(token, str) and _NAME.match(token):
            if token not in VHDL_KEYWORDS and token not in _PLAIN:
                near = token
        elif isinstance(token, Num):
            yield f"{around}_{near}"
        elif isinstance(token, Word):
            yield f"{near}_value"
            yield f"{near}_width"
        elif isinstance(token, Ref):
            yield f"{token.family}_place"
            near = token.family
