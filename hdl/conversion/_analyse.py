"""Analyse one entity: ports, signals, processes and instances, each with its final name.

The reader of processes determines the signals that a process reads and drives. Names follow the
Python source and do not depend on the order of a set. Private to ``merp.hdl.conversion.convert``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from myhdl import EnumItemType, intbv

from merp.hdl.conversion._blocks import parts, used_signals, walk
from merp.hdl.conversion._drivers import Read, read_apart
from merp.hdl.conversion._elaborate import ElaboratedUnit
from merp.hdl.conversion._labels import instance_labels
from merp.hdl.conversion._locals import in_source_order
from merp.hdl.conversion._signals import Syntax, mark_read, sources, span
from merp.hdl.conversion.base.errors import ExportError
from merp.hdl.conversion.base.internals import (
    AnySignal,
    Block,
    ConcatSignal,
    Constant,
    OpenPort,
    ShadowSignal,
    SliceSignal,
    TristateDriver,
    assigned_to,
    enum_literals,
    enum_of,
    forget_driver,
    has_text_only,
    is_in_list,
    is_list_of_signals,
    literal_name,
    mark_in_list,
    mark_used,
    memory_driver,
    memory_is_used,
    name_of,
    process_names,
    set_memory_driver,
    set_name,
    signals_in,
)
from merp.hdl.conversion.base.names import Names, flaw
from merp.hdl.conversion.entity import Stub
from merp.hdl.conversion.process.process import Kind, Process, understood
from merp.hdl.conversion.process.wires import wired


@dataclass
class EntityPort:
    """A port.

    ``argument`` is its name in Python, which may be a keyword of a language or begin with an
    underscore. The signal has the name that is used inside the entity. This is the port's name. If
    vectors are ``std_logic_vector`` outside, it is the name of a numeric copy. An input that only
    sub-entities use needs no copy; it is converted in their port maps (``in_map``).
    """

    name: str
    argument: str
    signal: Any
    is_output: bool
    in_map: bool = False


@dataclass
class Instance:
    """A sub-entity: ``entity`` is the converter's record, ``actuals`` are signals by formal.

    ``place``: file and line of the call.
    """

    label: str
    entity: Any
    actuals: dict[str, Any]
    place: tuple[str, int]


@dataclass
class Body:
    """Contents of an entity in source order.

    Attributes:
        types: names of the enumerations, by ``id``.
        literals: names of their members, by ``id`` of the enumeration and name in Python.
        coded: enumerations whose bits are visible outside, because ports have them, by ``id``.
        spare: names with bits that nothing reads; set when a Verilog module is written.
        unread: arguments for inputs that nothing reads; set when a Verilog module is written.
    """

    unit: ElaboratedUnit
    names: Names = field(default_factory=Names)
    ports: list[EntityPort] = field(default_factory=list)
    enums: list[Any] = field(default_factory=list)
    signals: list[Any] = field(default_factory=list)
    memories: list[Any] = field(default_factory=list)
    shadows: list[Any] = field(default_factory=list)
    items: list[Any] = field(default_factory=list)  # Process, Instance
    types: dict[int, str] = field(default_factory=dict)
    literals: dict[tuple[int, str], str] = field(default_factory=dict)
    coded: set[int] = field(default_factory=set)
    spare: tuple[str, ...] = ()
    unread: frozenset[str] = frozenset()

    def member(self, item: Any) -> str:
        """Return the name of a member of an enumeration."""
        return self.literals[id(enum_of(item)), literal_name(item)]

    @property
    def processes(self) -> list[Process]:
        """The processes, in source order."""
        return [item for item in self.items if isinstance(item, Process)]


class Analysis:
    """Steps of the analysis of one unit; ``body`` is the result."""

    def __init__(self, unit: ElaboratedUnit, entities: dict[int, Any], syntax: Syntax) -> None:
        """Analyse a unit; ``entities`` has the converter's record for each stub, by its ``id``."""
        self.unit = unit
        self.syntax = syntax
        self.body = Body(unit)
        self.names = self.body.names
        self.where = unit.deco.func.__name__
        self.blocks = list(walk(unit.block))
        self.entities = entities
        self._processes()
        memories = [
            m for _, block in self.blocks for m in block.memdict.values() if memory_is_used(m)
        ]
        memories += [m for each in self.body.processes for m in each.memories]
        self.used_memories = {id(m.mem): m for m in memories}
        self._connect()
        self._note_coded()
        self._name_ports()
        for process in self.body.processes:
            for enum, wanted in process.meaning.enums.values():
                if wanted is not None:
                    self._name_enum(enum, wanted)
        self._name_signals()
        for process in self.body.processes:
            for enum, _ in process.meaning.enums.values():
                self._name_enum(enum, "states")
        self._labels()

    def _processes(self) -> None:
        """Read the processes; collect them and the instances in source order."""
        names = process_names(self.unit.block)
        reads: dict[int, Read] = {}
        found, holds = self.body.items, self.syntax.holds
        for _, block in self.blocks:
            if has_text_only(block):
                raise ExportError(
                    f"{self.where}: {block.func.__name__} has no process, only its verilog_code or "
                    "vhdl_code; write it as a process"
                )
            for signal in [*block.sigdict.values(), *self.unit.ports.values()]:
                if not isinstance(signal, ShadowSignal):
                    forget_driver(signal)

        def visit(block: Any) -> None:
            for sub in block.subs:
                if isinstance(sub, Stub):
                    made = self.entities[id(sub)]
                    found.append(Instance(sub.name, made, made.actuals_of(sub), sub.place))
                elif isinstance(sub, Block):
                    visit(sub)
                else:
                    name = str(names.get(id(sub), sub.name)).lower()
                    reads[len(found)] = partial(understood, self.where, sub, name, holds)
                    found.append(None)

        visit(self.unit.block)
        for place, process in read_apart(self.where, reads).items():
            if process.meaning.statements or process.signals:
                self._mark(process)
                found[place] = process
        self.body.items = [each for each in found if each is not None]
        code = self.unit.deco.func.__code__
        own = code.co_filename, code.co_firstlineno
        for signal in self.unit.made:
            source = assigned_to(signal)
            if source is not None:
                process = wired(self.where, own, signal, source, holds)
                self._mark(process)
                self.body.items.append(process)

    def _mark(self, process: Process) -> None:
        """Mark the signals and memories that a process drives and reads."""
        driver = "wire" if process.kind is Kind.ASSIGN else "reg"
        what = f"{self.where}: {process.origin}: process {process.name}"
        for signal in process.meaning.drives.values():
            if isinstance(signal, ShadowSignal | Constant | TristateDriver):
                raise ExportError(f"{what} drives no whole signal")
            if signal.driven:
                raise ExportError(f"{what} drives a signal that has another driver")
            signal.driven = driver
        for memory in process.meaning.memories_driven.values():
            set_memory_driver(memory, driver)
        for memory in process.memories:
            mark_used(memory)
        for signal in process.awaited:
            if isinstance(signal, ShadowSignal):
                signal.driven = "wire"
            mark_read(signal)

    def _connect(self) -> None:
        """Mark the signals that instances drive and read."""
        elements = {id(sig): memory for memory in self.used_memories.values() for sig in memory.mem}
        for item in self.body.items:
            if not isinstance(item, Instance):
                continue
            for port in item.entity.body.ports:
                actual = item.actuals[port.argument]
                if not port.is_output:
                    mark_read(actual)
                    continue
                what = f"{self.where}: output {port.name} of {item.label}"
                if isinstance(actual, ShadowSignal | Constant):
                    raise ExportError(f"{what} must go to a whole signal or a list element")
                memory = elements.get(id(actual))
                if actual.driven or (memory is not None and memory_driver(memory) == "reg"):
                    raise ExportError(f"{what} drives a signal that has another driver")
                actual.driven = "wire"
        for memory in self.used_memories.values():
            kinds = {sig.driven for sig in memory.mem} | {memory_driver(memory)}
            set_memory_driver(
                memory, "reg" if "reg" in kinds else "wire" if "wire" in kinds else None
            )
            if "reg" in kinds and "wire" in kinds:
                raise ExportError(
                    f"{self.where}: a list is driven by a process and by instances (or assigns)"
                )
        for _, block in self.blocks:
            for signal in block.sigdict.values():
                if isinstance(signal, ShadowSignal) and signal.read:
                    mark_read(signal)

    def _note_coded(self) -> None:
        """Note the enumerations of ports, here and of instances, because a port has bits."""
        border = list(self.unit.ports.values())
        for item in self.body.items:
            if isinstance(item, Instance):
                border += item.actuals.values()
        for signal in border:
            if isinstance(signal.val, EnumItemType):
                self.body.coded.add(id(enum_of(signal.val)))

    def _name_ports(self) -> None:
        for name, signal in self.unit.ports.items():
            printed = name
            if flaw(name) is not None:
                printed = self.names.unique(name, "port")
            elif not self.names.claim(name):
                raise ExportError(f"{self.where}: port name {name} differs from another by case")
            if id(signal) in {id(s) for m in self.used_memories.values() for s in m.mem}:
                raise ExportError(f"{self.where}: port {name} is in a list that a process uses")
            self.body.ports.append(EntityPort(printed, name, signal, bool(signal.driven)))
        inside = self._used_inside()
        for port in self.body.ports:
            signal = port.signal
            copied = self.syntax.ports_converted and isinstance(signal.val, intbv | EnumItemType)
            # GHDL 2.0 loses bits of an output that is converted in a port map.
            if copied and not port.is_output and id(signal) not in inside:
                port.in_map, copied = True, False
            set_name(signal, self.names.unique(f"{port.name}_num") if copied else port.name)

    def _used_inside(self) -> set[int]:
        """Return the signals that processes or shadow signals use, not only port maps."""
        found: set[int] = set()
        for item in self.body.items:
            if isinstance(item, Instance):
                for actual in item.actuals.values():
                    found |= {id(part) for part in sources(actual)}
            else:
                for signal in item.signals:
                    found |= {id(signal), *(id(part) for part in sources(signal))}
        return found

    def _name_enum(self, enum: Any, wanted: str) -> None:
        """Name an enumeration and its members, unless they have names."""
        if id(enum) in self.body.types:
            return
        self.body.enums.append(enum)
        stem = re.sub(r"^t_", "", wanted.lower())
        self.body.types[id(enum)] = self.names.unique(f"t_{stem}")
        for literal in enum_literals(enum):
            self.body.literals[id(enum), literal] = self.names.unique(literal, "state")

    def _name_signals(self) -> None:
        for prefix, block in self.blocks:
            scope = dict(self.unit.scopes.get(id(block), {}))
            memories = in_source_order(block.func.__code__, block.memdict)
            scope |= {n: m.mem for n, m in memories.items() if memory_is_used(m) and n not in scope}
            used = used_signals(block)
            for name, value in scope.items():
                if is_list_of_signals(value) and id(value) in self.used_memories:
                    self._name_memory(f"{prefix}{name}", self.used_memories[id(value)])
            # Lists and bundles name their signals; each remaining signal has its own variable.
            for name, value in scope.items():
                if not isinstance(value, AnySignal):
                    self._name_parts(f"{prefix}{name}", value, used)
            at_calls = in_source_order(block.func.__code__, block.sigdict)
            for name, value in [*scope.items(), *at_calls.items()]:
                if isinstance(value, AnySignal):
                    self._name_parts(f"{prefix}{name}", value, used)
        for item in self.body.items:
            if isinstance(item, Instance):
                for formal, actual in item.actuals.items():
                    self._name_anonymous(f"{item.label}_{formal}", actual)
        for memory in self.used_memories.values():
            self._name_memory("memory", memory)
        for shadow in self.body.shadows:  # the list grows during the loop
            for i, part in enumerate(signals_in(shadow)):
                self._name_anonymous(f"{name_of(shadow)}_{i}", part)

    def _name_memory(self, name: str, memory: Any) -> None:
        if memory.name is not None:
            return
        memory.name = self.names.unique(name)
        self.body.memories.append(memory)
        for i, signal in enumerate(memory.mem):
            if is_in_list(signal):
                raise ExportError(f"{self.where}: a signal is in two lists that processes use")
            if isinstance(signal, SliceSignal | ConcatSignal):
                self.body.shadows.append(signal)
                set_memory_driver(memory, "wire")
                mark_read(signal)
            set_name(signal, self.syntax.index % (memory.name, i))
            mark_in_list(signal)

    def _name_parts(self, name: str, value: Any, used: set[int]) -> None:
        """Name signals by the variable that leads to them; ``used``: read by a process."""
        for found, signal in parts(name, value, self.used_memories):
            if isinstance(signal, SliceSignal) and id(signal) not in used:
                continue  # written as a slice where it is used
            if isinstance(signal, ConcatSignal) and not signal.read:
                continue
            self._declare(found, signal)

    def _declare(self, name: str, signal: Any) -> None:
        if isinstance(signal, OpenPort):
            return
        if name_of(signal) is not None or not (signal.driven or signal.read):
            return
        if not len(signal):
            raise ExportError(f"{self.where}: signal {name} has no fixed number of bits")
        set_name(signal, self.names.unique(name))
        if isinstance(signal.val, EnumItemType):
            self._name_enum(enum_of(signal.val), name)
        self.body.signals.append(signal)
        if isinstance(signal, SliceSignal | ConcatSignal):
            self.body.shadows.append(signal)
            if isinstance(signal, SliceSignal):
                self._name_anonymous(f"{name}_base", signal)

    def _name_anonymous(self, name: str, signal: Any) -> None:
        """Name a signal to which no variable leads; for a slice, name its base."""
        base = span(signal)[0] if isinstance(signal, SliceSignal) else signal
        self._declare(name, base)

    def _labels(self) -> None:
        """Label processes and instances in a stable order, distinct from all signals."""
        instances = [item for item in self.body.items if isinstance(item, Instance)]
        wishes = instance_labels([self._label(each) for each in instances])
        for item in self.body.items:
            if isinstance(item, Instance):
                item.label = self.names.unique(wishes.pop(0), "inst")
                continue
            item.name = self.names.unique(item.name, "process")

    def _label(self, instance: Instance) -> tuple[str, str, str | None]:
        outputs = [port.argument for port in instance.entity.body.ports if port.is_output]
        driven = None
        if outputs:
            signal = instance.actuals[outputs[0]]
            named = (port.name for port in self.body.ports if port.signal is signal)
            driven = next(named, str(name_of(signal)))
        return instance.label, instance.entity.unit.deco.func.__name__, driven
