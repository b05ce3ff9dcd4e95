"""Convert a design hierarchically to VHDL and Verilog: one file per distinct entity configuration.

MyHDL flattens a design into one entity. This converter makes a separate entity of every block
marked ``@entity``. Each configuration is elaborated and converted once, independent of its number
of instances, and the blocks above instantiate it by name. See
``docs/adr/0001-hierarchical-export.md``.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import myhdl

from merp.hdl.conversion import _verilog, _vhdl
from merp.hdl.conversion._analyse import Analysis, Body, Instance
from merp.hdl.conversion._blocks import name_blocks, stub_blocks
from merp.hdl.conversion._compiler import compiled
from merp.hdl.conversion._declared import check_names
from merp.hdl.conversion._elaborate import (
    ElaboratedUnit,
    arguments,
    configuration,
    elaborate,
    is_block,
    port_type,
    split,
)
from merp.hdl.conversion._files import write_files
from merp.hdl.conversion._fold import FoldedFile, folded, folded_verilog, plainly
from merp.hdl.conversion._head import head
from merp.hdl.conversion._labels import suffixes, values
from merp.hdl.conversion._refusals import ANALYSIS, ELABORATION, refusals
from merp.hdl.conversion._source import EntitySource
from merp.hdl.conversion.base import internals
from merp.hdl.conversion.base.errors import ExportError
from merp.hdl.conversion.base.internals import initial, name_of
from merp.hdl.conversion.base.names import flaw
from merp.hdl.conversion.exports import Configuration, Export, Port
from merp.hdl.conversion.own_signals import own_signals
from merp.hdl.conversion.scope import Scope

__all__ = ["Export", "ExportError", "Port", "convert"]

Language = Literal["vhdl", "verilog"]
_WRITERS: dict[str, ModuleType] = {"vhdl": _vhdl, "verilog": _verilog}
_RUNNING = threading.Lock()  # MyHDL analyses one design at a time, because it uses global variables
_LICENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .:+()-]*")  # characters of an SPDX expression


@dataclass
class _Entity:
    """One configuration; ``token`` is a placeholder for its name until all names are known."""

    unit: ElaboratedUnit
    body: Body
    token: str
    children: Counter[str]
    text: str = ""
    name: str = ""

    def actuals_of(self, stub: Any) -> dict[str, Any]:
        """Return the signals that are connected to an instance of this entity, by formal."""
        ports, _ = split(stub.entity, arguments(stub.entity, stub.args, stub.kwargs))
        return ports


@dataclass
class _File:
    """A file, and the entities in it; it has the name of the first of them."""

    entities: list[_Entity]
    text: str


class _Converter:
    """All entities of one design in one language, leaves first."""

    def __init__(self, writer: ModuleType, licence: str | None) -> None:
        self.writer = writer
        self.licence = licence
        self.entities: list[_Entity] = []
        self.variants: dict[tuple[Any, ...], list[_Entity]] = {}

    def entity(self, deco: Any, bound: dict[str, Any], is_top: bool = False) -> _Entity:
        """Return the entity of a call; convert it unless an equal call was converted before."""
        ports, params = split(deco, bound)
        variants = self.variants.setdefault(configuration(deco, ports, params), [])
        for known in variants:
            if all(
                initial(ports[port.argument]) == initial(port.signal)
                for port in known.body.ports
                if port.is_output
            ):
                return known
        where = deco.func.__name__
        with refusals(where, ELABORATION):
            unit = elaborate(deco, bound)
        stubs = list(stub_blocks(unit))
        if not unit.block.subs:
            raise ExportError(f"{where}: no instances; are they returned?")
        subs = {
            id(stub): self.entity(stub.entity, arguments(stub.entity, stub.args, stub.kwargs))
            for stub in stubs
        }
        name_blocks(unit)
        syntax = self.writer.TOP_SYNTAX if is_top else self.writer.SYNTAX
        with refusals(where, ANALYSIS):
            body = Analysis(unit, subs, syntax).body
        token = f"\x00{len(self.entities)}\x00"
        children = Counter(sub.token for sub in subs.values())
        entity = _Entity(unit, body, token, children)
        with refusals(where, ANALYSIS):
            entity.text = self.writer.write(body, token, is_top)
        self.entities.append(entity)
        variants.append(entity)
        return entity

    def files(self, fold: bool) -> list[_File]:
        """Return the files to write: one for each entity, or fewer with the same meaning."""
        known = {each.token: each for each in self.entities}
        found = []
        for entity in self._folded() if fold else plainly(self._sources()):
            own = [known[token] for token in entity.tokens]
            found.append(_File(own, f"{self._head(own)}\n{entity.text}"))
        return found

    def _folded(self) -> list[FoldedFile]:
        """Fold the entities; return plain ones, with a warning, if the result would differ."""
        try:
            chosen = folded if self.writer is _vhdl else folded_verilog
            return chosen(self._sources())
        except Exception as error:  # of unforeseen text; the plain files are right
            what = f"{self.entities[-1].unit.deco.func.__name__} is written without generics"
            warnings.warn(f"{what}: {error}", RuntimeWarning, stacklevel=4)
            return plainly(self._sources())

    def _sources(self) -> list[EntitySource]:
        top = self.entities[-1]
        return [
            EntitySource(
                each.token,
                None if each is top else each.unit.deco.func,
                dict(values(each.unit.params)),
                each.text,
                frozenset(each.children),
            )
            for each in self.entities
        ]

    def _head(self, entities: Sequence[_Entity]) -> str:
        units = [entity.unit for entity in entities]
        return head(units, entities[0].token, self.writer.COMMENT, self.licence)

    def name_entities(self, files: Sequence[_File], top_name: str | None, prefix: str) -> None:
        """Name each file after its function and its differences from the function's other files."""
        top = self.entities[-1]
        if top_name is not None:
            top.name = top_name
        families: dict[str, list[_Entity]] = {}
        for file in files:
            entity = file.entities[0]
            families.setdefault(entity.unit.deco.func.__name__.strip("_"), []).append(entity)
        taken = {top.name.lower()} if top.name else set()
        support = self.writer.support()
        if support is not None:
            taken.add(support[0].partition(".")[0])  # its package
        for base, family in families.items():
            for entity, suffix in zip(family, suffixes(list(map(_features, family))), strict=True):
                if entity.name:
                    continue
                entity.name = name = f"{prefix}{base}{suffix}"
                number = 1
                while entity.name.lower() in taken or flaw(entity.name):
                    number += 1
                    entity.name = f"{name}_{number}"
                taken.add(entity.name.lower())
        for file in files:
            for entity in file.entities:
                entity.name = file.entities[0].name

    def spare(self, texts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """Return names with bits that nothing reads, by module; ``texts`` are the files.

        A port that only some configurations have is spare in the others.
        """
        found: dict[str, dict[str, None]] = {}
        ports: dict[str, list[list[str]]] = {}
        for each in self.entities:
            ports.setdefault(each.name, []).append([port.name for port in each.body.ports])
        for each in self.entities:
            words = set(re.findall(r"\w+", texts[f"{each.name}{self.writer.SUFFIX}"]))
            had = [name for names in ports[each.name] for name in names]
            lacking = [
                name for name in dict.fromkeys(had) if had.count(name) < len(ports[each.name])
            ]
            kept = [name for name in (*each.body.spare, *lacking) if name in words]
            found.setdefault(each.name, {}).update(dict.fromkeys(kept))
        return {name: tuple(names) for name, names in sorted(found.items()) if names}

    def totals(self) -> dict[str, int]:
        """Count the instances of each entity in the whole design."""
        counts: Counter[str] = Counter({self.entities[-1].token: 1})
        for entity in reversed(self.entities):  # parents come after their children
            for token, number in entity.children.items():
                counts[token] += counts[entity.token] * number
        named: Counter[str] = Counter()
        for entity in self.entities:
            named[entity.name] += counts[entity.token]
        return dict(named)

    def children(self) -> dict[str, dict[str, int]]:
        """Count the instances directly inside each entity; the most of several configurations."""
        names = {entity.token: entity.name for entity in self.entities}
        found: dict[str, dict[str, int]] = {}
        for entity in self.entities:
            own: Counter[str] = Counter()
            for token, number in entity.children.items():
                own[names[token]] += number
            known = found.setdefault(entity.name, {})
            known |= {name: max(number, known.get(name, 0)) for name, number in own.items()}
        return found

    def configurations(self) -> dict[str, tuple[Configuration, ...]]:
        """Return the configurations from which each entity was converted."""
        found: dict[str, tuple[Configuration, ...]] = {}
        for entity in self.entities:
            unit = entity.unit
            one = Configuration(unit.deco, unit.params, _exported(entity))
            found[entity.name] = (*found.get(entity.name, ()), one)
        return found


def _features(entity: _Entity) -> Iterator[tuple[str, str]]:
    """Yield possible differences of an entity from others: module, parameters, port widths."""
    yield "", entity.unit.deco.func.__module__.rpartition(".")[2]
    for name, value in values(entity.unit.params):
        yield name, str(value)
    for port in entity.body.ports:
        vector = port_type(port.name, port.signal).is_vector
        yield port.name, str(len(port.signal)) if vector else "bit"


def convert(
    function: Callable[..., Any],
    args: Mapping[str, object],
    hdl: Language,
    directory: Path,
    name: str | None = None,
    prefix: str = "",
    licence: str | None = "Apache-2.0",
    fold: bool = True,
    check: bool = False,
) -> Export:
    """Convert ``function(**args)`` and the entities inside it to one file each.

    The same call writes the same bytes in every run. Signals in ``args`` are not changed. Vector
    ports of the top are ``std_logic_vector`` in VHDL. Vector ports of the entities inside are
    unsigned or signed. Therefore no border between entities needs a conversion.

    Args:
        function: a block decorated with ``@entity`` (or ``@block``), or such a method of an object.
        args: its arguments by name: signals, bundles, parameters.
        hdl: the language.
        directory: folder for the files; created if missing. Other files in it are unchanged.
        name: of the top entity, instead of the function's.
        prefix: of the names of all other entities, which separates designs in one library.
        licence: of the design, an SPDX expression at the top of every file; None omits it.
        fold: write one entity with generics for all configurations of a block, without inputs
            that drive nothing. In VHDL, write loops for repeated statements. If false, write one
            plain entity for each configuration.
        check: read the VHDL with GHDL, or the Verilog with Verilator, before it is moved into
            place. Without it, or if the program is not installed, the converter only checks that
            every name is declared.

    Raises:
        ExportError: the design cannot be exported, the version of MyHDL is not supported, another
            conversion is running, or a check fails; nothing is written.
    """
    internals.check_version()
    function, owner = internals.unbound(function)
    if not is_block(function):
        raise ExportError(f"{function!r} is not a block: decorate it with @entity")
    for given in (name, prefix and f"{prefix}x"):
        if given and flaw(given):
            raise ExportError(f"entity name {given} {flaw(given)}")
    support = _WRITERS[hdl].support()
    if name and support is not None and f"{name.lower()}." in support[0]:
        raise ExportError(f"entity name {name} is the name of the support package")
    if licence is not None and not _LICENCE.fullmatch(licence):
        raise ExportError(f"licence {licence!r}: allowed is an SPDX expression or None")
    converter = _Converter(_WRITERS[hdl], licence)
    if not _RUNNING.acquire(blocking=False):
        raise ExportError(
            f"{function.__name__}: another conversion is running in this process; convert one "
            "design after the other, or in processes of their own"
        )
    try:
        with own_signals(()), warnings.catch_warnings():
            warnings.simplefilter("ignore", myhdl.ToVHDLWarning)
            warnings.simplefilter("ignore", myhdl.ToVerilogWarning)
            top = converter.entity(
                function, arguments(function, (), owner | dict(args)), is_top=True
            )
    finally:
        _RUNNING.release()
    files = converter.files(fold)
    converter.name_entities(files, name, prefix)
    names = {entity.token: entity.name for entity in converter.entities}
    texts: dict[str, str] = {}
    if support is not None:
        texts[support[0]] = support[1]
    for file in files:
        text = re.sub("\x00\\d+\x00", lambda match: names[match.group()], file.text)
        texts[f"{file.entities[0].name}{converter.writer.SUFFIX}"] = text
    check_names(texts)
    approve = partial(compiled, function.__name__, hdl, top.name, list(texts)) if check else None
    return Export(
        files=write_files(directory, texts, approve),
        top=top.name,
        instances=converter.totals(),
        ports=_exported(top),
        blocks={each.name: each.unit.deco.func.__name__ for each in converter.entities},
        children=converter.children(),
        scope=_scope(top),
        configurations=converter.configurations(),
        spare=converter.spare(texts) if hdl == "verilog" else {},
    )


def _scope(entity: _Entity) -> Scope:
    """Return the tree of an entity; instances of the same entity share their trees."""
    known: dict[str, Scope] = {}

    def scope(each: _Entity) -> Scope:
        if each.token not in known:
            inside = [item for item in each.body.items if isinstance(item, Instance)]
            known[each.token] = Scope(
                {item.label: scope(item.entity) for item in inside},
                {port.name: port.signal for port in each.body.ports}
                | {str(name_of(signal)): signal for signal in each.body.signals},
                each.name,
            )
        return known[each.token]

    return scope(entity)


def _exported(entity: _Entity) -> tuple[Port, ...]:
    found = []
    for port in entity.body.ports:
        is_vector = port_type(port.name, port.signal).is_vector
        width = len(port.signal) if is_vector else None
        renamed = None if port.name == port.argument else port.argument
        found.append(Port(port.name, port.is_output, width, renamed))
    return tuple(found)
