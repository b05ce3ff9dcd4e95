"""Represent a process of MyHDL with its meaning, and the events that run it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from myhdl import delay

from merp.hdl.conversion.base.errors import ExportError
from merp.hdl.conversion.base.internals import (
    ALL_MEMORIES,
    Always,
    AlwaysComb,
    AlwaysSeq,
    AnySignal,
    OpenPort,
    edge_of,
    enum_members,
    enum_of,
    memory_is_used,
)
from merp.hdl.conversion.process import bits, build
from merp.hdl.conversion.process.check import check
from merp.hdl.conversion.process.frame import Frame, Known, State, frame_of, joined, outer_names
from merp.hdl.conversion.process.meaning import (
    Assign,
    Const,
    Element,
    EnumConst,
    Local,
    Meaning,
    Read,
    Statement,
)
from merp.hdl.conversion.process.ranges import Range
from merp.hdl.conversion.process.read import Reader
from merp.hdl.conversion.process.sizing import Sized, sized
from merp.hdl.conversion.process.values import is_hardware

_RUNS = 64
"""Largest number of iterations to find the ranges of kept values."""


class Kind(Enum):
    """The events that run a process."""

    ASSIGN = "the signals that it reads; each statement assigns a signal"
    COMBINATIONAL = "the signals that it reads"
    CONSTANT = "nothing: it gives the same values for ever"
    LISTED = "the signals of a list"
    CLOCKED = "an edge"
    RESET = "an edge, with a reset"


@dataclass
class Process:
    """A process.

    Attributes:
        name: its name.
        place: file and line of its source.
        kind: the events that run it.
        meaning: its statements and signals.
        edges: signals with ``posedge`` or ``negedge``, of a clocked one; the clock is the first.
        listed: signals that run it at any change.
        reset: of a process with a reset: signal, and the signals that it sets to their initial
            values.
        sized: its statements with bits.
    """

    name: str
    place: tuple[str, int]
    kind: Kind
    meaning: Meaning
    edges: tuple[tuple[Any, str], ...] = ()
    listed: tuple[Any, ...] = ()
    reset: tuple[Any, tuple[Any, ...]] | None = None
    sized: Sized = field(default_factory=lambda: Sized([], []))

    @property
    def origin(self) -> str:
        """File and line, for refusals."""
        return f"{Path(self.place[0]).name} line {self.place[1]}"

    @property
    def memories(self) -> list[Any]:
        """The lists of signals that it uses."""
        meaning = self.meaning
        return list((meaning.memories_read | meaning.memories_driven).values())

    @property
    def awaited(self) -> list[Any]:
        """The signals that it reads or waits for, elements of lists not included."""
        found = [*self.meaning.reads.values(), *self.listed, *(signal for signal, _ in self.edges)]
        return [*found, self.reset[0]] if self.reset else found

    @property
    def signals(self) -> list[Any]:
        """Every signal that it reads, drives or waits for, elements of lists included."""
        elements = [signal for memory in self.memories for signal in memory.mem]
        found = [*self.awaited, *self.meaning.drives.values(), *elements]
        return [*found, *self.reset[1]] if self.reset else found


def understood(
    block: str, instantiator: Any, name: str, holds: bool, apart: Collection[int] = ()
) -> Process:
    """Return the process that MyHDL runs, with its meaning.

    Args:
        block: name of the block, for refusals.
        instantiator: MyHDL's object for the process.
        name: of the process.
        holds: as for ``sizing.sized``.
        apart: lists of signals, by ``id``, that other processes drive too. Their elements are then
            assigned one by one, because in VHDL a variable index makes a driver of each element.

    Raises:
        ExportError: it has a part without a hardware equivalent.
    """
    if isinstance(instantiator, Always | AlwaysComb | AlwaysSeq):
        function = instantiator.func
        frame = frame_of(block, function.__code__, outer_names(function))
        found = _always(frame, instantiator, name, apart)
    else:
        function = instantiator.genfunc
        frame = frame_of(block, function.__code__, outer_names(function))
        found = _generator(frame, name, function.__code__.co_filename, apart)
    found.sized = sized(found.meaning, holds)
    check(name, found.sized.statements)
    if found.kind is Kind.COMBINATIONAL and not bits.reads_signals(found.sized.statements):
        found.kind = Kind.CONSTANT
    plain = all(isinstance(each, bits.Assignment) for each in found.sized.statements)
    if found.kind is Kind.ASSIGN and (found.sized.variables or not plain):
        found.kind = Kind.COMBINATIONAL
    return found


def asynchronous_reset(
    process: Process,
) -> tuple[tuple[bits.Flag, Sequence[bits.Statement]], Sequence[bits.Statement], tuple[Any, str]]:
    """Return the reset of a process with two edges: test and statements, the rest, the clock.

    Raises:
        ExportError: it is not an ``if`` that tests the level after one of the edges.
    """
    found = process.sized.statements
    if len(found) == 1 and isinstance(found[0], bits.Branches) and len(process.edges) == 2:
        (test, reset), *others = found[0].branches
        low = isinstance(test, bits.Inverted)
        wire = test.flag if isinstance(test, bits.Inverted) else test
        for each, clock in (process.edges, process.edges[::-1]):
            level = "negedge" if low else "posedge"
            if isinstance(wire, bits.Wire) and wire.place.what is each[0] and each[1] == level:
                rest: Sequence[bits.Statement] = found[0].otherwise
                if others:
                    rest = [bits.Branches(tuple(others), found[0].otherwise)]
                return (test, reset), rest, clock
    raise ExportError(
        f"{process.origin}: process {process.name} waits for several edges; "
        "begin it with the test of an asynchronous reset, and put the rest under else"
    )


def _place(frame: Frame, code_file: str) -> tuple[str, int]:
    first = min([frame.tree.lineno, *(each.lineno for each in frame.tree.decorator_list)])
    return code_file, frame.before + first


def _always(frame: Frame, instantiator: Any, name: str, apart: Collection[int]) -> Process:
    reader = Reader(frame, apart)
    reader.meaning.statements, _ = reader.block(frame.tree.body)
    place = _place(frame, instantiator.func.__code__.co_filename)
    if isinstance(instantiator, AlwaysComb):
        kind = Kind.ASSIGN if _only_assigns(reader.meaning) else Kind.COMBINATIONAL
        return Process(name, place, kind, reader.meaning)
    if isinstance(instantiator, AlwaysSeq):
        reset = None
        if instantiator.reset is not None:
            registers = [each for each in instantiator.sigregs if not isinstance(each, OpenPort)]
            reset = (instantiator.reset, tuple(registers))
            _note_resets(reader.meaning, reset[1])
        edges = tuple(edge_of(each) for each in instantiator.senslist[:1])
        kind = Kind.CLOCKED if reset is None else Kind.RESET
        return Process(name, place, kind, reader.meaning, edges, reset=reset)
    return _waiting(frame, name, place, reader.meaning, instantiator.senslist, frame.tree)


def _waiting(
    frame: Frame,
    name: str,
    place: tuple[str, int],
    meaning: Meaning,
    awaited: Sequence[Any],
    node: ast.AST,
) -> Process:
    """Return a process that waits for edges, or for changes of signals."""
    if any(isinstance(each, delay) for each in awaited):
        frame.refuse(node, "a delay has no hardware", "wait for the edge of a clock")
    edges = [edge_of(each) for each in awaited if not isinstance(each, AnySignal)]
    listed = [each for each in awaited if isinstance(each, AnySignal)]
    if edges and listed:
        frame.refuse(node, "a process waits for edges and for changes", "wait for one of them")
    if listed:
        return Process(name, place, Kind.LISTED, meaning, listed=tuple(listed))
    return Process(name, place, Kind.CLOCKED, meaning, edges=tuple(edges))


def _note_resets(meaning: Meaning, registers: Sequence[Any]) -> None:
    """Note that a reset drives signals, including those that no other statement assigns."""
    memories = meaning.memories_driven.values()
    elements = {id(signal) for memory in memories for signal in memory.mem}
    for signal in registers:
        if id(signal) in elements:
            continue
        memory = next((each for each in ALL_MEMORIES.values() if _holds(each, signal)), None)
        if memory is None:
            meaning.drives.setdefault(id(signal), signal)
        else:
            meaning.memories_driven.setdefault(id(memory), memory)
            elements |= {id(each) for each in memory.mem}


def _holds(memory: Any, signal: Any) -> bool:
    """Return whether a list that processes use has a signal."""
    return memory_is_used(memory) and any(each is signal for each in memory.mem)


def _only_assigns(meaning: Meaning) -> bool:
    """Return whether each statement assigns a whole signal, and each signal is assigned once."""
    driven: set[object] = set()
    for each in meaning.statements:
        if not isinstance(each, Assign) or each.target.high is not None:
            return False
        key: object = None
        if each.target.index is None and isinstance(each.target.base, Read):
            key = id(each.target.base.signal)
        elif each.target.index is None and isinstance(each.target.base, Element):
            index = each.target.base.index
            if isinstance(index, Const):
                key = id(each.target.base.memory), index.value
        if key is None or key in driven:
            return False
        driven.add(key)
    return bool(driven) and not driven & set(meaning.reads)


def _generator(frame: Frame, name: str, file: str, apart: Collection[int]) -> Process:
    """Read ``while True: yield clk.posedge; ...``, with variables that keep their values."""
    reader = Reader(frame, apart)
    *firsts, last = [
        each
        for each in frame.tree.body
        if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
    ]
    way_out = "write while True: with yield clk.posedge as its first statement"
    if not isinstance(last, ast.While) or not last.body:
        frame.refuse(last, "a process that ends has no hardware", way_out)
    test, first = reader.values.condition(last.test), last.body[0]
    body, runs_first = last.body[1:], not firsts and not _yields(first) and _yields(last.body[-1])
    if runs_first:
        first, body = last.body[-1], last.body[:-1]
    if not _yields(first):
        frame.refuse(first, "a process waits for nothing when it begins", way_out)
    if is_hardware(test) and not getattr(test, "value", False):
        frame.refuse(last, "a process that ends has no hardware", way_out)
    for each in firsts:
        statements, _ = reader.block([each])
        _keep(frame, each, reader, statements)
    reader.lasting = set(frame.variables)
    assert isinstance(first, ast.Expr)
    assert isinstance(first.value, ast.Yield)
    assert first.value.value is not None
    awaited = reader.values.value(first.value.value)
    awaited = list(awaited) if type(awaited) in (list, tuple) else [awaited]
    head = before = dict(reader.state)
    for _ in range(_RUNS):  # values that it keeps from run to run
        statements, wider = _run(reader, body, head)
        if wider == head:
            break
        before, head = head, wider
    else:  # the statement that makes it grow is refused
        endless = Range(-(1 << build.MOST), 1 << build.MOST)
        grown = [each for each, known in wider.items() if known != before[each]]
        head |= {each: replace(head[each], range=endless) for each in grown}
        _run(reader, body, head)
        frame.refuse(last, "a variable grows from run to run", "keep it in an intbv with bounds")
    reader.meaning.statements = statements
    place = _place(frame, file)
    found = _waiting(frame, name, place, reader.meaning, awaited, first)
    if runs_first and not _is_combinational(found):
        frame.refuse(last.body[0], "a process waits for nothing when it begins", way_out)
    if runs_first:
        found.kind = Kind.ASSIGN if _only_assigns(reader.meaning) else Kind.COMBINATIONAL
    return found


def _yields(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield)


def _is_combinational(process: Process) -> bool:
    """Return whether a process that runs before it waits only depends on its signals."""
    meaning = process.meaning
    elements = [signal for memory in meaning.memories_read.values() for signal in memory.mem]
    read = {*meaning.reads, *map(id, elements)}
    keeps = any(each.initial is not None for each in meaning.variables)
    return process.kind is Kind.LISTED and not keeps and read <= set(map(id, process.listed))


def _run(reader: Reader, nodes: Sequence[ast.stmt], head: State) -> tuple[list[Statement], State]:
    """Return the statements of one run, and the known variables before and after it."""
    reader.state = dict(head)
    reader.returned = []
    statements, goes_on = reader.block(nodes)
    wider = joined([head, *reader.returned, *([reader.state] if goes_on else [])])
    assert wider is not None
    return statements, wider


def _keep(frame: Frame, node: ast.stmt, reader: Reader, statements: list[Statement]) -> None:
    """Note the initial values of variables that keep their values."""
    for each in statements:
        value = getattr(each, "value", None)
        number = getattr(value, "value", None)
        if isinstance(value, EnumConst):
            number = enum_members(enum_of(value.item)).index(value.item)
        if (
            not isinstance(each, Assign)
            or not isinstance(each.target.base, Local)
            or number is None
        ):
            frame.refuse(node, "something is done before the first edge", "assign constants there")
        variable = each.target.base.variable
        variable.initial = int(number)
        known = reader.state[variable]
        if known.is_vector and known.bounds is not None:
            reader.state[variable] = Known(
                known.bounds, known.length, False, True, known.bounds, known.wraps
            )
