"""Instantiate folded Verilog modules, and check a file. Private to ``merp.hdl.conversion``.

``_fold`` does the same for VHDL, in which an open input has a default. Verilog-2001 has no
defaults: an instance connects a zero.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from merp.hdl.conversion._numbers import Num, number
from merp.hdl.conversion._source import EntitySource
from merp.hdl.conversion._unify import Unified, Value
from merp.hdl.conversion._verilog_expand import difference, taken_apart
from merp.hdl.conversion._verilog_outputs import Renamed, restored
from merp.hdl.conversion._verilog_prune import Gone, without
from merp.hdl.conversion._verilog_text import Based, actuals
from merp.hdl.conversion._vhdl_text import LABEL, Item, Leaf, Module, Token

_WIDE = 80  # longer parameters have a line each


@dataclass(frozen=True)
class VerilogPlace:
    """The result for a module: its new module, the parameters, and the inputs that it lacks.

    ``renamed``: its registers that were outputs.
    ``gone``: its parts that drive nothing.
    """

    token: str
    values: Mapping[str, Value]
    spare: Mapping[str, Num | None]
    renamed: Renamed
    gone: Gone


def place_of(token: str, made: Unified, k: int, renamed: Renamed, gone: Gone) -> VerilogPlace:
    """Return the result for a configuration."""
    widths = {port.name: port.type.width for port in made.modules[k].ports}
    spare = {each: widths[each] for each in sorted(made.lacking[k])}
    return VerilogPlace(token, made.values[k], spare, renamed, gone)


def instantiated(module: Module, places: Mapping[str, VerilogPlace]) -> Module:
    """Return the module with instances of the new modules of its children."""
    return replace(module, items=[_instance(item, places) for item in module.items])


def _instance(item: Item, places: Mapping[str, VerilogPlace]) -> Item:
    if not isinstance(item, Leaf) or item.kind != "instance":
        return item
    place = places[str(item.tokens[0])]
    tokens: list[Token] = [place.token, " "]
    if place.values:
        rows = [(name, number(int(value))) for name, value in place.values.items()]
        narrow = sum(len(name) + 10 for name, _ in rows) <= _WIDE
        tokens += ["#", "("]
        for k, (name, value) in enumerate(rows):
            tokens += [","] if k else []
            tokens += [" "] if narrow and k else [] if narrow else ["\n    "]
            tokens += [".", name, "(", value, ")"]
        tokens += [")", " "] if narrow else ["\n", ")", " "]
    tokens += [LABEL, " ", "("]
    rest = [row for row in actuals(item.tokens) if row[0] not in place.gone.inputs]
    rest += [(name, (Based(number(0), width or number(1)),)) for name, width in place.spare.items()]
    longest = max((len(name) for name, _ in rest), default=0)
    for k, (name, actual) in enumerate(rest):
        blanks = " " * (longest + 1 - len(name))
        tokens += [*([","] if k else []), "\n    ", ".", name, blanks, "(", *actual, ")"]
    return replace(item, tokens=(*tokens, "\n", ")", ";"))


def check(
    text: str, sources: Sequence[EntitySource], made: Unified, places: Mapping[str, VerilogPlace]
) -> None:
    """Expand the file again, for every configuration.

    Raises:
        RuntimeError: the file does not reproduce the text from which it was made.
    """
    known: dict[tuple[str, frozenset[tuple[str, int]]], str] = {}
    alias: dict[str, str] = {}
    for token, place in places.items():
        key = (place.token, frozenset((name, int(v)) for name, v in place.values.items()))
        alias[token] = known.setdefault(key, token)

    def child(token: str, values: Mapping[str, int]) -> tuple[str, Collection[str]]:
        own = known[token, frozenset(values.items())]
        return own, places[own].spare

    def as_it_was(token: str, values: Mapping[str, int]) -> tuple[str, Collection[str]]:
        return alias[token], places[token].gone.inputs

    for k, source in enumerate(sources):
        renamed, gone = places[source.token].renamed, places[source.token].gone
        values = {name: int(value) for name, value in made.values[k].items()}
        again = restored(taken_apart(text, values, made.lacking[k], child), renamed)
        before = without(taken_apart(source.text, {}, gone.inputs, as_it_was), gone)
        wrong = difference(again, before, alias)
        if wrong is not None:
            raise RuntimeError(
                f"{made.folded.common.name} does not give back the configuration "
                f"{dict(source.params)}: {wrong}"
            )
