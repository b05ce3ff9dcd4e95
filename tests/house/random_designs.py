"""Random designs as Python source, for ``side_by_side``: legal in MyHDL by construction.

``program(dice, features)`` gives a design as a tree of pieces of source. ``programs`` gives the
same as a strategy of hypothesis. A feature is a name in ``FEATURES``. Without any there are
additions, bitwise logic, comparisons, ``if`` and the two kinds of processes, on unsigned signals.

The generator knows an interval for every expression. What is assigned fits its target: its interval
is within the bounds, or it is masked, taken modulo, clamped or guarded by a condition. So nothing
raises in MyHDL, and ``side_by_side`` says ``simulation`` of none.

``judged`` imports programs and gives the verdicts. ``shrunk`` makes a failing program smaller: it
drops and replaces parts, many candidates in one simulation, as long as the symptom stays. What is
no longer legal raises in MyHDL then, and is not taken. As a program, this module prints the counts
of verdicts by feature::

    PYTHONPATH=tests/house python tests/house/random_designs.py ghdl 30 /tmp/designs [feature ...]
"""

import argparse
import itertools
import linecache
import re
import sys
import textwrap
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic
from types import ModuleType

from hypothesis import strategies as st
from myhdl import intbv
from side_by_side import Design, verdicts

FEATURES = {
    # signals
    "signed": "signals with negative values",
    "odd bounds": "bounds that are no powers of two",
    "width 1": "vectors of one bit",
    "wide": "signals of up to 40 bits",
    "modbv": "signals and variables that wrap",
    "initial values": "signals that do not begin with 0",
    "names": "constants with names",
    # numbers
    "big constants": "constants of 2**31 and more, of either sign",
    "multiply": "a * b",
    "divide": "a // 3, a % 3",
    "divide by signals": "a // (b | 1), a % (b | 1)",
    "negative divisors": "a // -3, a % -3",
    "casts": "values cut by intbv(a + b)[8:]",
    "modulo": "values cut by % 2**w, or by % n for odd bounds",
    "shift left": "a << 3",
    "shift right": "a >> 3",
    "shift by signals": "a << b, a >> b, 1 << b",
    "invert": "~a",
    "minus": "-a",
    "conditional": "a if c else b",
    "int()": "int(a)",
    "len": "len(a)",
    "abs": "abs(a)",
    "min max": "min(a, b), max(a, b)",
    "slices": "a[5:2]",
    "concat": "concat(a, b[3], True)",
    "signed()": "a.signed(), also of slices",
    "tuples": "rom[a] inside expressions",
    "truths as numbers": "a + (b > c), a + b[3]",
    # truths
    "bits": "a[3]",
    "dynamic bits": "a[b]",
    "chained": "a < b <= c",
    "in": "a in (1, 2, 3)",
    "logic": "and, or, not",
    "bitwise truths": "p & q, p ^ q, p | q",
    "bool()": "bool(a)",
    "vectors as truths": "if a:",
    # statements
    "int variables": "n = a + b",
    "intbv variables": "v = intbv(a)[8:], v[:] = b",
    "bool variables": "f = a > b",
    "in place": "v[3] = f, v[5:2] = a",
    "signals in place": "s.next[3] = f, s.next[5:2] = a",
    "augmented": "v += a, n //= 3",
    "loops": "for i in range(8)",
    "breaks": "break and continue in loops",
    "elif": "if, elif, else",
    "match": "match a",
    "saturate": "if a + b > 7: ... elif a + b < -8: ...",
    "functions": "functions that return a number or a truth",
    "procedures": "functions that assign signals",
    # structure
    "always_seq": "registers with a synchronous reset, active high or low",
    "async": "registers with an asynchronous reset",
    "explicit reset": "if rst: ... else: ...",
    "state machines": "signals of an enum",
    "memories": "lists of signals",
    "children": "entities inside, with parameters, and instantiated twice",
    "generic widths": "a parameter that is the width of ports",
    "constant actuals": "ints and bools as inputs of a child",
    "plain blocks": "@block inside, which is flattened",
    "instance lists": "[child(xs[i], ys[i]) for i in range(3)]",
}
"""What a design may have, by name."""

EVERYTHING = frozenset(FEATURES)

NEEDS = {
    "async": ("always_seq",),
    "augmented": ("int variables", "intbv variables"),
    "breaks": ("loops",),
    "constant actuals": ("children",),
    "dynamic bits": ("bits",),
    "generic widths": ("children",),
    "in place": ("intbv variables",),
    "instance lists": ("children", "memories"),
    "loops": ("bits", "int variables", "intbv variables"),
    "plain blocks": ("children",),
}
"""Features that show only with others."""

LIMIT = 1 << 100
"""Intermediate values stay below."""

CYCLES = 60
_HEAD = """from myhdl import (
    ResetSignal, Signal, always, always_comb, always_seq, block, concat, enum, intbv, modbv,
)

import merp
"""


@dataclass(frozen=True)
class Node:
    """A piece of source.

    Attributes:
        sort: what may stand in its place; a ``number`` for any other number.
        text: a template, with a pair of braces for each kid.
        kids: the pieces inside.
        name: of the instance that a process or a child is.
    """

    sort: str
    text: str = ""
    kids: tuple["Node", ...] = ()
    name: str = ""

    def __str__(self) -> str:
        """The source."""
        if self.sort == "block":
            return textwrap.indent("\n".join(map(str, self.kids)) or "pass", "    ")
        if self.sort == "items":
            return "\n".join(map(str, self.kids))
        if self.sort == "body":
            names = [kid.name for kid in self.kids if kid.name]
            lines = [*map(str, self.kids), f"return {', '.join(names)}"]
            return textwrap.indent("\n".join(lines), "    ")
        if self.sort == "chain":
            arms = [f"{'el' if i else ''}{kid}" for i, kid in enumerate(self.kids[:-1])]
            if not arms:
                return f"if True:\n{self.kids[-1]}"
            return "\n".join(arms) + (f"\nelse:\n{self.kids[-1]}" if self.kids[-1].kids else "")
        return self.text.format(*self.kids)

    def size(self) -> int:
        """How many pieces it has."""
        return 1 + sum(kid.size() for kid in self.kids)


def _number(text: str, *kids: Node) -> Node:
    return Node("number", text, kids)


def _truth(text: str, *kids: Node) -> Node:
    return Node("truth", text, kids)


def _line(text: str, *kids: Node) -> Node:
    return Node("statement", text, kids)


def _block(*kids: Node) -> Node:
    return Node("block", "", kids)


def _chain(arms: Sequence[tuple[Node, Node]], otherwise: Node) -> Node:
    kids = [Node("arm", "if {}:\n{}", arm) for arm in arms]
    return Node("chain", "", (*kids, otherwise))


def _literal(value: int) -> Node:
    return _number(str(value) if value >= 0 else f"({value})")


@dataclass(frozen=True)
class Kind:
    """What a signal or a variable holds: a truth, or a number from ``low`` to ``high``.

    Attributes:
        modular: it wraps.
        symbol: the parameter that is its width. ``low`` to ``high`` is then of the widest.
        narrow: the least width; that of the symbol may be more.
    """

    low: int
    high: int
    truth: bool = False
    modular: bool = False
    symbol: str = ""
    narrow: int = 0

    @property
    def width(self) -> int:
        """How many bits can be taken of it in any case."""
        return self.narrow or len(intbv(self.low, min=self.low, max=self.high + 1))

    @property
    def is_full(self) -> bool:
        """Whether it holds every value of its bits."""
        return self.high - self.low == (1 << self.width) - 1 or bool(self.symbol)

    def text(self, initial: int) -> str:
        """The value of a new signal of it."""
        if self.truth:
            return f"bool({initial})"
        kind = "modbv" if self.modular else "intbv"
        if self.symbol:
            return f"{kind}({initial})[{self.symbol}:]"
        if self.low == 0 and self.is_full:
            return f"{kind}({initial})[{self.width}:]"
        return f"{kind}({initial}, min={self.low}, max={self.high + 1})"


BIT = Kind(0, 1, truth=True)


@dataclass(frozen=True)
class Value:
    """An expression that is a number.

    Attributes:
        node: its source.
        low, high: it is never outside.
        width: of its bits, where it has a length and can be indexed; otherwise 0.
        unsigned: its bits are not in two's complement.
        is_plain: it has neither length nor sign bit, so that ``~`` is ``-x - 1``.
        is_object: it may be a signal, which ``intbv`` does not take.
        is_int: it is an int of Python, and no ``intbv`` without a width.
    """

    node: Node
    low: int
    high: int
    width: int = 0
    unsigned: bool = False
    is_plain: bool = False
    is_object: bool = False
    is_int: bool = False

    def within(self, low: int, high: int) -> bool:
        """Whether it is never outside of other bounds."""
        return low <= self.low and self.high <= high


def _int(node: Node, bounds: tuple[int, int]) -> Value:
    """A number of Python."""
    return Value(node, *bounds, is_plain=True, is_int=True)


def _plain(node: Node, bounds: tuple[int, int]) -> Value:
    """A number of Python, or an ``intbv`` without a width."""
    return Value(node, *bounds, is_plain=True)


def _of(name: str, kind: Kind, *, signal: bool, bare: bool = False) -> Value:
    """A signal or variable as a value; one that is ``bare`` may be an int in its place."""
    if bare:
        return Value(_number(name), kind.low, kind.high, is_object=True)
    unsigned = kind.low >= 0
    return Value(_number(name), kind.low, kind.high, kind.width, unsigned, is_object=signal)


@dataclass(frozen=True)
class Named:
    """What has a name and a kind: a target, a variable, a port, a memory.

    Attributes:
        sort: of variables ``int``, ``intbv`` or ``bool``.
        size: of a memory.
        bare: an input that may be an int.
    """

    name: str
    kind: Kind
    sort: str = ""
    size: int = 0
    bare: bool = False


@dataclass(frozen=True)
class Function:
    """A function: its parameters, and what it returns."""

    name: str
    params: tuple[Kind, ...]
    result: Kind
    is_sized: bool


@dataclass(frozen=True)
class States:
    """A state signal, its enum and the members of that."""

    name: str
    enum: str
    members: tuple[str, ...]


@dataclass
class Scope:
    """What can be read and assigned at a place."""

    numbers: list[Value] = field(default_factory=list)
    truths: list[Node] = field(default_factory=list)
    bits: list[Node] = field(default_factory=list)
    targets: list[Named] = field(default_factory=list)
    variables: list[Named] = field(default_factory=list)
    memories: list[Named] = field(default_factory=list)
    written: list[Named] = field(default_factory=list)
    tables: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    procedures: list[tuple[str, Kind]] = field(default_factory=list)  # how a call begins
    states: list[States] = field(default_factory=list)

    def copy(self) -> "Scope":
        """The same, to be added to."""
        return Scope(**{name: list(value) for name, value in vars(self).items()})

    def read(self, named: Named, *, signal: bool) -> None:
        """Add a signal or variable to what can be read."""
        if named.kind.truth:
            self.truths.append(_truth(named.name))
            if signal and not named.bare:
                self.bits.append(_truth(named.name))
        else:
            self.numbers.append(_of(named.name, named.kind, signal=signal, bare=named.bare))


@dataclass(frozen=True)
class Child:
    """An entity that can be instantiated.

    Attributes:
        values: of each parameter, one for each way to instantiate it.
        width: the parameter that is the width of ports with its symbol.
    """

    name: str
    inputs: tuple[Named, ...]
    outputs: tuple[Named, ...]
    values: dict[str, tuple[int, ...]]
    width: str
    has_clock: bool
    has_reset: bool


@dataclass(frozen=True, repr=False)
class Program:
    """A design.

    Attributes:
        above: what stands in front of the top: functions, children.
        body: of the top.
        inputs, outputs: its ports, with the initial values of these.
        reset: the constructor of its reset, if it has one.
        features: what it may have.
    """

    above: Node
    body: Node
    inputs: tuple[Named, ...]
    outputs: tuple[tuple[Named, int], ...]
    reset: str
    features: frozenset[str]

    def __str__(self) -> str:
        """The source of a module with ``top``, ``make`` and ``INPUTS``."""
        inputs = [*(["rst"] if self.reset else []), *(port.name for port in self.inputs)]
        made = {"clk": "Signal(bool(0))"} | ({"rst": self.reset} if self.reset else {})
        for port in self.inputs:
            kind = port.kind
            made[port.name] = f"Signal({kind.text(min(max(0, kind.low), kind.high))})"
        for port, initial in self.outputs:
            made[port.name] = f"Signal({port.kind.text(initial)})"
        fields = "".join(f"        {name}={value},\n" for name, value in made.items())
        above = f"\n{self.above}\n" if self.above.kids else ""
        return (
            f"{_HEAD}{above}\n@merp.entity\ndef top({', '.join(made)}):\n{self.body}\n\n"
            f"def make():\n    return dict(\n{fields}    )\n\nINPUTS = {tuple(inputs)!r}\n"
        )

    def __repr__(self) -> str:
        """The source, as hypothesis shows it."""
        return f"\n{self}"

    def size(self) -> int:
        """How large it is; ``shrunk`` makes it smaller."""
        ports = len(self.inputs) + len(self.outputs) + bool(self.reset)
        return 10 * ports + 3 * self.above.size() + 3 * self.body.size() + len(str(self)) // 40


def _bits(*values: int) -> int:
    """How many bits the largest of them has, without its sign."""
    return max((value if value >= 0 else ~value).bit_length() for value in values)


def _corners(
    operation: Callable[[int, int], int], a: tuple[int, int], b: tuple[int, int]
) -> tuple[int, int]:
    found = [operation(x, y) for x in a for y in b]
    return min(found), max(found)


def _as_int(value: Value) -> Node:
    """What makes a variable an int."""
    return value.node if value.is_int else _number("int({})", value.node)


def _as_bool(truth: Node) -> Node:
    """What makes a variable a bool: neither a signal nor one of the operands of ``and``."""
    certain = truth.text.startswith(("bool(", "(not ")) or re.search(r"[<=>]|\]$", truth.text)
    return truth if certain else _truth("bool({})", truth)


class _Expressions:
    """Random numbers and truths."""

    def __init__(self, dice: Random, features: frozenset[str]) -> None:
        self.dice = dice
        self.features = features
        self._counts: dict[str, Iterator[int]] = {}

    def has(self, *features: str) -> bool:
        """Whether a design may have all these."""
        return self.features.issuperset(features)

    def chance(self, rate: float) -> bool:
        """Whether luck decides for it."""
        return self.dice.random() < rate

    def fresh(self, stem: str) -> str:
        """A new name."""
        return f"{stem}{next(self._counts.setdefault(stem, itertools.count()))}"

    def kind(self) -> Kind:
        """What a new signal holds."""
        if self.has("width 1") and self.chance(0.08):
            return Kind(0, 1)
        if self.has("odd bounds") and self.chance(0.3):
            low = self.dice.randint(-20 if self.has("signed") else 0, 20)
            return Kind(low, low + self.dice.choice([2, 5, 9, 13, 24, 60, 100, 1000]))
        width = self.dice.choice([2, 3, 3, 4, 4, 5, 6, 7, 8, 8, 8, 9, 12, 16])
        if self.has("wide") and self.chance(0.3):
            width = self.dice.choice([17, 24, 31, 32, 32, 33, 36, 40])
        modular = self.has("modbv") and self.chance(0.2)
        if self.has("signed") and self.chance(0.4):
            return Kind(-1 << (width - 1), (1 << (width - 1)) - 1, modular=modular)
        return Kind(0, (1 << width) - 1, modular=modular)

    def initial(self, kind: Kind) -> int:
        """A value to begin with."""
        if self.has("initial values") and self.chance(0.5):
            high = 1 if kind.symbol else kind.high
            return self.dice.randint(max(kind.low, -1000), min(high, 1000))
        return min(max(0, kind.low), kind.high)

    def constant(self) -> int:
        """A number that a design has in it."""
        if self.has("big constants") and self.chance(0.15):
            value = (1 << self.dice.choice([31, 32, 33, 39])) + self.dice.choice([-1, 0, 1, 12345])
            return -value if self.has("signed") and self.chance(0.4) else value
        if self.has("signed") and self.chance(0.25):
            return -self.dice.choice([1, 2, 3, 5, 8, 20])
        return self.dice.choice([0, 1, 1, 2, 3, 4, 5, 7, 8, 10, 15, 16, 31, 100, 127, 255])

    # numbers

    def number(self, scope: Scope, depth: int) -> Value:
        """A random number."""
        if depth > 0 and not self.chance(0.15):
            makers = [make for name, make in self._NUMBERS if not name or self.has(name)]
            for _ in range(4):
                made = self.dice.choice(makers)(self, scope, depth - 1)
                if made is None or made.low < -LIMIT or made.high > LIMIT:
                    continue
                if made.low < made.high or self.chance(0.1):  # few are constants
                    return made
        return self.atom(scope)

    def proper(self, scope: Scope, depth: int) -> Value:
        """A number that is no truth."""
        for _ in range(4):
            made = self.number(scope, depth)
            if made.node.sort == "number":
                return made
        return self.dice.choice(scope.numbers)

    def subject(self, scope: Scope) -> Value:
        """What has a name and no constant value."""
        found = [each for each in scope.numbers if each.low < each.high]
        return self.dice.choice(found)

    def atom(self, scope: Scope) -> Value:
        """A signal, variable or constant, or a truth as a number."""
        luck = self.dice.random()
        if luck < 0.2:
            value = self.constant()
            return _int(_literal(value), (value, value))
        if luck < 0.35 and self.has("truths as numbers"):
            return Value(self.truth(scope, 0), 0, 1, is_object=True)
        return self.dice.choice(scope.numbers)

    def sized(self, scope: Scope, unsigned: bool = False) -> Value | None:
        """A signal or variable with a length."""
        found = [each for each in scope.numbers if each.width and each.unsigned >= unsigned]
        return self.dice.choice(found) if found else None

    def _sum(self, scope: Scope, depth: int) -> Value | None:
        a, b = self.number(scope, depth), self.number(scope, depth)
        if self.chance(0.6):
            return _int(_number("({} + {})", a.node, b.node), (a.low + b.low, a.high + b.high))
        return _int(_number("({} - {})", a.node, b.node), (a.low - b.high, a.high - b.low))

    def _bitwise(self, scope: Scope, depth: int) -> Value | None:
        a, b = self.number(scope, depth), self.number(scope, depth)
        if a.node.sort == b.node.sort == "truth":
            return None
        sign = self.dice.choice("&|^")
        wide = (1 << _bits(a.low, a.high, b.low, b.high)) - 1
        bounds = (0 if a.low >= 0 and b.low >= 0 else ~wide, wide)
        if sign == "&" and (a.low >= 0 or b.low >= 0):
            bounds = (0, min(each.high for each in (a, b) if each.low >= 0))
        return _plain(_number(f"({{}} {sign} {{}})", a.node, b.node), bounds)

    def _product(self, scope: Scope, depth: int) -> Value | None:
        a, b = self.number(scope, depth), self.number(scope, depth)
        bounds = _corners(lambda x, y: x * y, (a.low, a.high), (b.low, b.high))
        return _int(_number("({} * {})", a.node, b.node), bounds)

    def _quotient(self, scope: Scope, depth: int) -> Value | None:
        by = self.dice.choice([1, 2, 3, 4, 5, 7, 8, 10, 16, 100])
        return self._divided(self.number(scope, depth), _int(_literal(by), (by, by)))

    def _negative_quotient(self, scope: Scope, depth: int) -> Value | None:
        by = -self.dice.choice([1, 2, 3, 4, 7, 10])
        return self._divided(self.number(scope, depth), _int(_literal(by), (by, by)))

    def _quotient_by_number(self, scope: Scope, depth: int) -> Value | None:
        by = self.number(scope, 0)
        if by.node.sort == "truth":
            return None
        wide = (1 << _bits(by.low, by.high, 1)) - 1
        odd = _plain(_number("({} | 1)", by.node), (1 if by.low >= 0 else ~wide, wide))
        return self._divided(self.number(scope, depth), odd)

    def _divided(self, a: Value, b: Value) -> Value:
        divisors = {each for each in (b.low, b.high, 1, -1) if each and b.low <= each <= b.high}
        if self.chance(0.5):
            bounds = _corners(lambda x, y: x // y, (a.low, a.high), (min(divisors), max(divisors)))
            if b.low < 0 < b.high:
                most = max(abs(a.low), abs(a.high))
                bounds = -most, most
            return _int(_number("({} // {})", a.node, b.node), bounds)
        bounds = (b.low + 1 if b.low < 0 else 0, b.high - 1 if b.high > 0 else 0)
        return _int(_number("({} % {})", a.node, b.node), bounds)

    def _shift_left(self, scope: Scope, depth: int) -> Value | None:
        a, by = self.number(scope, depth), self.dice.randint(0, 9)
        bounds = (a.low << by, a.high << by)
        return _plain(_number("({} << {})", a.node, _literal(by)), bounds)

    def _shift_right(self, scope: Scope, depth: int) -> Value | None:
        a, by = self.number(scope, depth), self.dice.randint(0, 9)
        bounds = (a.low >> by, a.high >> by)
        return _plain(_number("({} >> {})", a.node, _literal(by)), bounds)

    def _shift_by_number(self, scope: Scope, depth: int) -> Value | None:
        a, by = self.number(scope, depth), self.number(scope, 0)
        most = self.dice.choice([3, 7, 15, 40])
        if not by.within(0, most):
            by = self.fit(by, 0, most)
        if self.chance(0.5):
            bounds = _corners(lambda x, y: x >> y, (a.low, a.high), (by.low, by.high))
            return _plain(_number("({} >> {})", a.node, by.node), bounds)
        bounds = _corners(lambda x, y: x << y, (a.low, a.high), (by.low, by.high))
        return _plain(_number("({} << {})", a.node, by.node), bounds)

    def _invert(self, scope: Scope, depth: int) -> Value | None:
        a = self.number(scope, depth)
        node = _number("(~{})", a.node)
        if a.is_plain or (a.width and not a.unsigned):
            return _plain(node, (~a.high, ~a.low))
        if a.width and a.node.sort == "number":
            return _plain(node, (0, (1 << max(a.width, _bits(a.high))) - 1))
        return None

    def _minus(self, scope: Scope, depth: int) -> Value | None:
        a = self.number(scope, depth)
        return _int(_number("(-{})", a.node), (-a.high, -a.low))

    def _conditional(self, scope: Scope, depth: int) -> Value | None:
        a, b = self.number(scope, depth), self.number(scope, depth)
        node = _number("({} if {} else {})", a.node, self.condition(scope, depth), b.node)
        return Value(node, min(a.low, b.low), max(a.high, b.high), is_object=True)

    def _to_int(self, scope: Scope, depth: int) -> Value | None:
        a = self.number(scope, depth)
        return _int(_number("int({})", a.node), (a.low, a.high))

    def _len(self, scope: Scope, depth: int) -> Value | None:
        a = self.sized(scope)
        if a is None:
            return None
        return _int(_number("len({})", a.node), (a.width, max(a.width, _bits(a.low, a.high) + 1)))

    def _abs(self, scope: Scope, depth: int) -> Value | None:
        a = self.number(scope, depth)
        least = 0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
        return _int(_number("abs({})", a.node), (least, max(abs(a.low), abs(a.high))))

    def _min_max(self, scope: Scope, depth: int) -> Value | None:
        these = [self.number(scope, depth) for _ in range(self.dice.choice([2, 2, 2, 3]))]
        which = self.dice.choice([min, max])
        gaps = ", ".join("{}" for _ in these)
        node = _number(f"{which.__name__}({gaps})", *(each.node for each in these))
        low, high = which(each.low for each in these), which(each.high for each in these)
        return Value(node, low, high, is_object=True)

    def _slice(self, scope: Scope, depth: int) -> Value | None:
        a = self.sized(scope)
        return self._slice_of(a) if a else None

    def _slice_of(self, a: Value) -> Value:
        low = self.dice.randrange(a.width)
        high = self.dice.randint(low + 1, a.width)
        ends = f"{high}:" if low == 0 and self.chance(0.7) else f"{high}:{low}"
        node = _number(f"{{}}[{ends}]", a.node)
        return Value(node, 0, (1 << (high - low)) - 1, high - low, unsigned=True)

    def _concat(self, scope: Scope, depth: int) -> Value | None:
        parts: list[Node] = []
        width = 0
        for _ in range(self.dice.choice([2, 2, 3, 4])):
            number = self.sized(scope, unsigned=not parts)  # the first one must not be negative
            if number is not None and number.width < _bits(number.low, number.high):
                number = None  # its width is a parameter
            bits = [*scope.bits, _truth("True"), _truth("False")]
            if number is None or self.chance(0.3):
                parts.append(self.dice.choice(bits))
                width += 1
                continue
            if self.has("slices") and self.chance(0.4):
                number = self._slice_of(number)
            parts.append(number.node)
            width += number.width
        node = _number(f"concat({', '.join('{}' for _ in parts)})", *parts)
        return Value(node, 0, (1 << width) - 1, width, unsigned=True)

    def _signed(self, scope: Scope, depth: int) -> Value | None:
        a = self.sized(scope, unsigned=True)
        if a is not None and self.has("slices") and self.chance(0.4):
            a = self._slice_of(a)
        elif a is not None and self.has("concat") and self.chance(0.2):
            a = self._concat(scope, depth)
        if a is None:
            return None
        wide = 1 << (max(a.width, _bits(a.high)) - 1)
        width = 0 if wide >> (a.width - 1) > 1 else a.width
        return Value(_number("{}.signed()", a.node), -wide, wide - 1, width)

    def _table(self, scope: Scope, depth: int) -> Value | None:
        if not scope.tables:
            return None
        name, values = self.dice.choice(scope.tables)
        index = self.fit(self.number(scope, depth), 0, len(values) - 1)
        text = f"{name}[int({{}})]" if self.has("int()") and self.chance(0.4) else f"{name}[{{}}]"
        return _int(_number(text, index.node), (min(values), max(values)))

    def _memory(self, scope: Scope, depth: int) -> Value | None:
        numbers = [each for each in scope.memories if not each.kind.truth]
        if not numbers:
            return None
        memory = self.dice.choice(numbers)
        index = self.fit(self.number(scope, depth), 0, memory.size - 1)
        value = _of("", memory.kind, signal=True)
        value = replace(value, node=_number(f"{memory.name}[{{}}]", index.node))
        return self._slice_of(value) if self.has("slices") and self.chance(0.2) else value

    def _call(self, scope: Scope, depth: int, truth: bool = False) -> Value | None:
        found = [each for each in scope.functions if each.result.truth == truth]
        if not found:
            return None
        function = self.dice.choice(found)
        actuals = [self.actual(scope, kind, function.is_sized, depth) for kind in function.params]
        node = Node(
            "truth" if truth else "number",
            f"{function.name}({', '.join('{}' for _ in actuals)})",
            tuple(actuals),
        )
        return Value(node, function.result.low, function.result.high, is_object=True)

    def actual(self, scope: Scope, kind: Kind, sized: bool, depth: int) -> Node:
        """What a function is called with."""
        if not sized:
            return self.fit(self.number(scope, depth), kind.low, kind.high).node
        fitting = [each for each in scope.numbers if each.width == kind.width and each.unsigned]
        fitting = [each for each in fitting if each.high == kind.high]
        if fitting and self.chance(0.6):
            return self.dice.choice(fitting).node
        return self._sliced(self.number(scope, depth), kind.width).node

    def _sliced(self, value: Value, width: int | str, maker: str = "intbv") -> Value:
        node = value.node
        if isinstance(width, int) and value.width >= width:
            return Value(_number(f"{{}}[{width}:]", node), 0, (1 << width) - 1, width, True)
        if value.is_object:  # intbv takes no signals
            node = _number("({} + 0)", node)
        high = (1 << width) - 1 if isinstance(width, int) else value.high
        made = _number(f"{maker}({{}})[{width}:]", node)
        return Value(made, 0, high, width if isinstance(width, int) else 0, unsigned=True)

    def fit(self, value: Value, low: int, high: int) -> Value:
        """The number, or something of it that is within bounds."""
        if value.within(low, high) and not self.chance(0.05):
            return value
        if value.node.sort == "number" and value.low == value.high and not value.node.kids:
            other = min(max(self.constant(), low), high)
            return _int(_literal(other), (other, other))
        count = high - low + 1
        full = count & (count - 1) == 0
        width = (count - 1).bit_length()
        e = value.node
        made: list[Node] = []
        ints: list[Node] = []
        if full and low == 0 and width:
            made.append(_number(f"({{}} & {high})", e))
            if self.has("casts"):
                made.append(self._sliced(value, width).node)
            if self.has("modbv", "casts"):
                made.append(self._sliced(value, width, "modbv").node)
        if full and low == -high - 1 and width and self.has("signed()", "casts"):
            made.append(_number("{}.signed()", self._sliced(value, width).node))
        if self.has("modulo"):
            by = f"2**{width}" if full and self.chance(0.5) else str(count)
            offset = f" + {low}" if low > 0 else f" - {-low}" if low < 0 else ""
            ints.append(_number(f"({{}} % {by}{offset})", e))
        if self.has("min max") and self.chance(0.5):
            made.append(_number(f"min(max({{}}, {low}), {high})", e))
        if self.has("conditional", "chained") and self.chance(0.5):
            other = self.dice.choice([low, high])
            made.append(_number(f"({{}} if {low} <= {{}} <= {high} else {other})", e, e))
        if not made and not ints:
            mask = (1 << count.bit_length() - 1) - 1
            made.append(_number(f"(({{}} & {mask}) + {low})" if low else f"({{}} & {mask})", e))
        chosen = self.dice.choice(made + ints)
        return Value(chosen, low, high, is_object=chosen not in ints, is_int=chosen in ints)

    def fit_kind(self, value: Value, kind: Kind) -> Node:
        """The number, or something of it that a signal of this kind can hold."""
        if kind.symbol:
            if value.within(0, (1 << kind.narrow) - 1):
                return value.node
            w = kind.symbol
            made = [_number(f"({{}} & (2**{w} - 1))", value.node)]
            if self.has("casts"):
                made.append(self._sliced(value, w).node)
            if self.has("modulo"):
                made.append(_number(f"({{}} % 2**{w})", value.node))
            return self.dice.choice(made)
        if kind.modular:
            return value.node
        return self.fit(value, kind.low, kind.high).node

    # truths

    def truth(self, scope: Scope, depth: int) -> Node:
        """A random truth."""
        if depth <= 0:
            simple = self.dice.choice(scope.truths) if scope.truths else None
            if simple is None and self.has("bits"):
                simple = self._bit(scope, 0)
            return simple if simple is not None and self.chance(0.7) else self._compare(scope, 0)
        makers = [make for name, make in self._TRUTHS if not name or self.has(name)]
        for _ in range(4):
            made = self.dice.choice(makers)(self, scope, depth - 1)
            if made is not None:
                return made
        return self._compare(scope, 0)

    def condition(self, scope: Scope, depth: int) -> Node:
        """A truth, or a number in the place of one."""
        if self.has("vectors as truths") and self.chance(0.15):
            number = self.subject(scope).node
            return _truth("not {}" if self.has("logic") and self.chance(0.3) else "{}", number)
        return self.truth(scope, depth)

    def _flag(self, scope: Scope, depth: int) -> Node | None:
        return self.dice.choice(scope.truths) if scope.truths else None

    def _compare(self, scope: Scope, depth: int) -> Node:
        sign = self.dice.choice(["<", "<=", ">", ">=", "==", "!="])
        a, b = self.proper(scope, depth), self.proper(scope, depth)
        if a.low == a.high:
            a = self.subject(scope)
        return _truth(f"({{}} {sign} {{}})", a.node, b.node)

    def _chained(self, scope: Scope, depth: int) -> Node:
        one, two = (self.dice.choice(["<", "<=", ">", ">=", "=="]) for _ in "12")
        kids = [self.proper(scope, depth).node for _ in "123"]
        return _truth(f"({{}} {one} {{}} {two} {{}})", *kids)

    def _in(self, scope: Scope, depth: int) -> Node:
        values = sorted({self.constant() for _ in range(self.dice.randint(2, 4))})
        word = self.dice.choice(["in", "in", "not in"])
        each = f"{', '.join(map(str, values))}{',' if len(values) == 1 else ''}"
        return _truth(f"({{}} {word} ({each}))", self.proper(scope, depth).node)

    def _logic(self, scope: Scope, depth: int) -> Node:
        a = self.truth(scope, depth)
        word = self.dice.choice(["and", "or", "not"])
        if word == "not":
            return _truth("(not {})", a)
        return _truth(f"({{}} {word} {{}})", a, self.truth(scope, depth))

    def _bitwise_truths(self, scope: Scope, depth: int) -> Node:
        sign = self.dice.choice(["&", "|", "^", "==", "!="])
        return _truth(f"({{}} {sign} {{}})", self.truth(scope, depth), self.truth(scope, depth))

    def _as_number(self, scope: Scope, depth: int) -> Node:
        sign, value = self.dice.choice(["==", "!="]), self.dice.choice(["0", "1", "True", "False"])
        return _truth(f"({{}} {sign} {value})", self.truth(scope, 0))

    def _bool(self, scope: Scope, depth: int) -> Node:
        return _truth("bool({})", self.proper(scope, depth).node)

    def _bit(self, scope: Scope, depth: int) -> Node | None:
        a = self.sized(scope)
        return _truth(f"{{}}[{self.dice.randrange(a.width)}]", a.node) if a else None

    def _dynamic_bit(self, scope: Scope, depth: int) -> Node | None:
        a = self.sized(scope)
        if a is None or a.width < 2:
            return None
        index = self.fit(self.number(scope, depth), 0, a.width - 1)
        return _truth("{}[{}]", a.node, index.node)

    def _truth_if(self, scope: Scope, depth: int) -> Node:
        kids = [self.truth(scope, depth) for _ in "12"]
        return _truth("({} if {} else {})", kids[0], self.condition(scope, depth), kids[1])

    def _truth_call(self, scope: Scope, depth: int) -> Node | None:
        made = self._call(scope, depth, truth=True)
        return made.node if made else None

    def _truth_memory(self, scope: Scope, depth: int) -> Node | None:
        found = [each for each in scope.memories if each.kind.truth]
        if not found:
            return None
        memory = self.dice.choice(found)
        index = self.fit(self.number(scope, depth), 0, memory.size - 1)
        return _truth(f"{memory.name}[{{}}]", index.node)

    def _state(self, scope: Scope, depth: int) -> Node | None:
        if not scope.states:
            return None
        states = self.dice.choice(scope.states)
        sign = self.dice.choice(["==", "==", "!="])
        member = self.dice.choice(states.members)
        return _truth(f"({states.name} {sign} {states.enum}.{member})")

    _NUMBERS: tuple[
        tuple[str, Callable[["_Expressions", Scope, int], Value | None]], ...
    ] = (
        ("", _sum), ("", _bitwise), ("multiply", _product), ("divide", _quotient),
        ("divide by signals", _quotient_by_number), ("negative divisors", _negative_quotient),
        ("shift left", _shift_left), ("shift right", _shift_right),
        ("shift by signals", _shift_by_number), ("invert", _invert), ("minus", _minus),
        ("conditional", _conditional), ("int()", _to_int), ("len", _len), ("abs", _abs),
        ("min max", _min_max), ("slices", _slice), ("concat", _concat), ("signed()", _signed),
        ("tuples", _table), ("memories", _memory), ("functions", _call),
    )  # fmt: skip
    _TRUTHS: tuple[
        tuple[str, Callable[["_Expressions", Scope, int], Node | None]], ...
    ] = (
        ("", _compare), ("", _compare), ("", _flag), ("chained", _chained), ("in", _in),
        ("logic", _logic),
        ("logic", _logic), ("bitwise truths", _bitwise_truths), ("bool()", _bool), ("bits", _bit),
        ("dynamic bits", _dynamic_bit), ("conditional", _truth_if), ("functions", _truth_call),
        ("memories", _truth_memory), ("state machines", _state),
        ("truths as numbers", _as_number),
    )  # fmt: skip


class _Statements(_Expressions):
    """Random statements."""

    def statements(self, scope: Scope, depth: int, most: int = 3) -> Node:
        """A block of statements."""
        return _block(
            *(self.statement(scope, depth) for _ in range(self.dice.choice([1, 1, most])))
        )

    def statement(self, scope: Scope, depth: int) -> Node:
        """A random statement."""
        makers = [
            make
            for name, make in self._STATEMENTS
            if (not name or self.has(name)) and (depth > 0 or make not in self._NESTED)
        ]
        for _ in range(4):
            made = self.dice.choice(makers)(self, scope, depth - 1)
            if made is not None:
                return made
        return self._assign(scope, 0) or self._store(scope, 0) or _line("pass")

    def assignment(self, scope: Scope, target: Named, depth: int = 2) -> Node:
        """Assign something to a signal."""
        if target.kind.truth:
            return _line(f"{target.name}.next = {{}}", self.truth(scope, depth - 1))
        value = self.fit_kind(self.number(scope, depth), target.kind)
        return _line(f"{target.name}.next = {{}}", value)

    def _assign(self, scope: Scope, depth: int) -> Node | None:
        return self.assignment(scope, self.dice.choice(scope.targets)) if scope.targets else None

    def _if(self, scope: Scope, depth: int) -> Node | None:
        arms = [(self.condition(scope, 2), self.statements(scope, depth, 2))]
        while self.has("elif") and self.chance(0.3) and len(arms) < 4:
            arms.append((self.condition(scope, 2), self.statements(scope, depth, 2)))
        otherwise = self.statements(scope, depth, 2) if self.chance(0.5) else _block()
        return _chain(arms, otherwise)

    def _elif_of_constants(self, scope: Scope, depth: int) -> Node | None:
        """What converters write as a case."""
        subject = self.subject(scope)
        span = range(subject.low, min(subject.high, subject.low + 20) + 1)
        labels = self.dice.sample(span, k=min(len(span), self.dice.choice([2, 2, 3])))
        arms = [
            (
                _truth("({} == {})", subject.node, _literal(label)),
                self.statements(scope, depth, 1),
            )
            for label in labels
        ]
        otherwise = self.statements(scope, depth, 1) if self.chance(0.6) else _block()
        return _chain(arms, otherwise)

    def _match(self, scope: Scope, depth: int) -> Node | None:
        subject = self.subject(scope)
        span = range(subject.low, min(subject.high, subject.low + 20) + 1)
        labels = self.dice.sample(span, k=min(len(span), self.dice.choice([2, 2, 3, 4])))
        arms: list[Node] = []
        while labels:
            patterns = [
                str(labels.pop()) for _ in range(min(len(labels), self.dice.choice([1, 1, 2])))
            ]
            head = f"case {' | '.join(patterns)}:\n{{}}"
            arms.append(Node("case", head, (self.statements(scope, depth, 1),)))
        if self.chance(0.8):
            arms.append(Node("case", "case _:\n{}", (self.statements(scope, depth, 1),)))
        return Node("match", "match {}:\n{}", (subject.node, Node("block", "", tuple(arms))))

    def _saturate(self, scope: Scope, depth: int) -> Node | None:
        targets = [each for each in scope.targets if not (each.kind.truth or each.kind.symbol)]
        if not targets:
            return None
        target = self.dice.choice(targets)
        low, high = target.kind.low, target.kind.high
        value = self.number(scope, 2).node
        set_to = f"{target.name}.next = {{}}"
        over = _truth(f"({{}} > {high})", value), _block(_line(set_to, _literal(high)))
        under = _truth(f"({{}} < {low})", value), _block(_line(set_to, _literal(low)))
        arms = [over, under]
        self.dice.shuffle(arms)
        return _chain(arms, _block(_line(set_to, value)))

    # variables

    def variables(self, scope: Scope) -> list[Node]:
        """New variables with their first values; they are in the scope from here on."""
        sorts = [sort for sort in ("int", "intbv", "bool") if self.has(f"{sort} variables")]
        made: list[Node] = []
        for _ in range(self.dice.choice([0, 0, 1, 2]) if sorts else 0):
            made.append(self._variable(scope, self.dice.choice(sorts)))
        return made

    def _variable(self, scope: Scope, sort: str) -> Node:
        name = self.fresh({"int": "n", "intbv": "v", "bool": "f"}[sort])
        if sort == "bool":
            node = _line(f"{name} = {{}}", _as_bool(self.truth(scope, 2)))
            scope.variables.append(Named(name, BIT, sort))
            scope.truths.append(_truth(name))
            return node
        kind = self.kind()
        if sort == "int":
            kind = replace(kind, modular=False)
            value = self.fit(self.number(scope, 2), kind.low, kind.high)
            node = _line(f"{name} = {{}}", _as_int(value))
            scope.numbers.append(_int(_number(name), (kind.low, kind.high)))
        else:
            node = _line(f"{name} = {{}}", self._new_intbv(scope, kind))
            scope.numbers.append(_of(name, kind, signal=False))
        scope.variables.append(Named(name, kind, sort))
        return node

    def _new_intbv(self, scope: Scope, kind: Kind) -> Node:
        maker = "modbv" if kind.modular else "intbv"
        value = self.number(scope, 2)
        if kind.low == 0 and kind.is_full and not kind.modular and self.chance(0.5):
            return self._sliced(value, kind.width).node
        if self.chance(0.5):
            initial = _literal(self.initial(kind))
        else:
            # An intbv that is made of another one takes the bounds of that.
            initial = _as_int(self.fit(value, kind.low, kind.high))
        if kind.low == 0 and kind.is_full:
            return _number(f"{maker}({{}})[{kind.width}:]", initial)
        return _number(f"{maker}({{}}, min={kind.low}, max={kind.high + 1})", initial)

    def _set_variable(self, scope: Scope, depth: int) -> Node | None:
        if not scope.variables:
            return None
        variable = self.dice.choice(scope.variables)
        if variable.sort == "bool":
            return _line(f"{variable.name} = {{}}", _as_bool(self.truth(scope, 2)))
        value = self.number(scope, 3)
        if variable.sort == "int":
            fitted = self.fit(value, variable.kind.low, variable.kind.high)
            return _line(f"{variable.name} = {{}}", _as_int(fitted))
        return _line(f"{variable.name}[:] = {{}}", self.fit_kind(value, variable.kind))

    def _in_place(self, scope: Scope, depth: int) -> Node | None:
        found = [each for each in scope.variables if each.sort == "intbv" and each.kind.is_full]
        return self._part(scope, self.dice.choice(found), "") if found else None

    def _signal_in_place(self, scope: Scope, depth: int) -> Node | None:
        found = [each for each in scope.targets if each.kind.is_full and not each.kind.truth]
        return self._part(scope, self.dice.choice(found), ".next") if found else None

    def _part(self, scope: Scope, target: Named, suffix: str) -> Node | None:
        """Assign to a bit or a slice; never to a sign bit."""
        width = target.kind.width - (target.kind.low < 0)
        if width < 1:
            return None
        if self.chance(0.3) and width > 1 and self.has("dynamic bits"):
            index = self.fit(self.number(scope, 1), 0, width - 1).node
            return _line(f"{target.name}{suffix}[{{}}] = {{}}", index, self.truth(scope, 2))
        low = self.dice.randrange(width)
        if self.chance(0.4):
            return _line(f"{target.name}{suffix}[{low}] = {{}}", self.truth(scope, 2))
        high = self.dice.randint(low + 1, width)
        value = self.fit(self.number(scope, 2), 0, (1 << (high - low)) - 1).node
        return _line(f"{target.name}{suffix}[{high}:{low}] = {{}}", value)

    def _augmented(self, scope: Scope, depth: int) -> Node | None:
        found = [each for each in scope.variables if each.sort != "bool"]
        if not found:
            return None
        variable = self.dice.choice(found)
        kind = variable.kind
        options: list[str] = []
        if kind.low <= 0 <= kind.high:
            options += [">>= 1", ">>= 3"] if self.has("shift right") else []
            options += ["//= 3", "//= 2"] if self.has("divide") else []
            options += ["%= 3"] if self.has("divide") and kind.high >= 2 else []
        if kind.modular and self.chance(0.6):
            sign = self.dice.choice(["+", "-", "&", "|", "^"] + ["*"] * self.has("multiply"))
            return _line(f"{variable.name} {sign}= {{}}", self.number(scope, 2).node)
        if kind.low == 0 and kind.is_full and self.chance(0.5):
            sign = self.dice.choice("&|^")
            value = self.fit(self.number(scope, 2), 0, kind.high)
            node = _as_int(value) if variable.sort == "int" else value.node
            return _line(f"{variable.name} {sign}= {{}}", node)
        if kind.low <= 0 and kind.high >= 3 and self.chance(0.6):
            return self._sum_up(scope, variable)
        if not options:
            return self._sum_up(scope, variable) if kind.low <= 0 and kind.high >= 3 else None
        return _line(f"{variable.name} {self.dice.choice(options)}")

    def _sum_up(self, scope: Scope, variable: Named) -> Node:
        """Assign half of what is possible, and add another half, or subtract it again."""
        half = variable.kind.high // 2
        first = self.fit(self.number(scope, 1), 0, half)
        second = self.fit(self.number(scope, 1), 0, half).node
        if variable.sort == "int":
            start = _line(f"{variable.name} = {{}}", _as_int(first))
        else:
            start = _line(f"{variable.name}[:] = {{}}", first.node)
        return Node("statement", f"{{}}\n{variable.name} += {{}}", (start, second))

    # loops

    def _range(self, count: int) -> str:
        """A range of indices below ``count``."""
        luck = self.dice.random()
        if luck < 0.6:
            return f"range({count})"
        if luck < 0.75:
            return f"range({count - 1}, -1, -1)"
        if luck < 0.9:
            return f"range({min(1, count - 1)}, {count})"
        return f"range(0, {count}, 2)"

    def _loop(self, scope: Scope, depth: int) -> Node | None:
        a = self.sized(scope)
        if a is None or a.width < 2:
            return None
        name = self.fresh("i")
        count = self.dice.randint(2, min(a.width, 9))
        inside = scope.copy()
        inside.numbers.append(_int(_number(name), (0, count - 1)))
        if self.has("bits"):
            inside.truths += [_truth(f"{{}}[{name}]", a.node)] * 3
        body: list[Node] = []
        places = [
            each for each in scope.variables
            if each.sort == "intbv" and each.kind.is_full
            and each.kind.width - (each.kind.low < 0) >= count
        ]  # fmt: skip
        if places and self.has("in place") and self.chance(0.6):
            place = self.dice.choice(places).name
            body.append(_line(f"{place}[{name}] = {{}}", self.truth(inside, 1)))
        for memory in scope.written:
            if memory.size >= count and self.chance(0.5):
                body.append(self._write(inside, memory, _number(name)))
        body += self.statements(inside, depth, 2).kids
        if self.has("breaks") and self.chance(0.3):
            word = self.dice.choice(["break", "continue"])
            stop = _chain([(self.condition(inside, 1), _block(_line(word)))], _block())
            body.insert(self.dice.randrange(len(body) + 1), stop)
        text = f"for {name} in {self._range(count)}:\n{{}}"
        return _line(text, _block(*body))

    def _popcount(self, scope: Scope, depth: int) -> Node | None:
        """Count bits into a new variable, and assign it."""
        a = self.sized(scope)
        if a is None or not (self.has("bits", "int variables") and scope.targets):
            return None
        n, i = self.fresh("n"), self.fresh("i")
        start = self.dice.choice([0, 0, 0, 1, 5])
        step = _line(f"{n} += {{}}", _truth(f"{{}}[{i}]", a.node))
        if self.chance(0.4):
            step = _chain(
                [(_truth(f"{{}}[{i}]", a.node), _block(_line(f"{n} = {n} + 1")))], _block()
            )
        inside = scope.copy()
        inside.numbers = [_int(_number(n), (start, start + a.width))]
        inside.targets = [each for each in scope.targets if not each.kind.truth]
        if not inside.targets:
            return None
        loop = Node("statement", f"for {i} in range({a.width}):\n{{}}", (_block(step),))
        use = self.assignment(inside, self.dice.choice(inside.targets), 1)
        return Node("statement", f"{n} = {start}\n{{}}\n{{}}", (loop, use))

    # calls and memories

    def _procedure(self, scope: Scope, depth: int) -> Node | None:
        if not scope.procedures:
            return None
        name, kind = self.dice.choice(scope.procedures)
        value = self.fit(self.number(scope, 2), kind.low, kind.high)
        return _line(f"{name}{{}})", value.node)

    def _store(self, scope: Scope, depth: int) -> Node | None:
        if not scope.written:
            return None
        memory = self.dice.choice(scope.written)
        return self._write(scope, memory, self.fit(self.number(scope, 1), 0, memory.size - 1).node)

    def _write(self, scope: Scope, memory: Named, index: Node) -> Node:
        if memory.kind.truth:
            value = self.truth(scope, 2)
        else:
            value = self.fit_kind(self.number(scope, 2), memory.kind)
        return _line(f"{memory.name}[{{}}].next = {{}}", index, value)

    _STATEMENTS: tuple[
        tuple[str, Callable[["_Statements", Scope, int], Node | None]], ...
    ] = (
        ("", _assign), ("", _assign), ("", _if), ("elif", _elif_of_constants), ("match", _match),
        ("saturate", _saturate), ("", _set_variable), ("in place", _in_place),
        ("signals in place", _signal_in_place), ("augmented", _augmented), ("loops", _loop),
        ("loops", _popcount), ("procedures", _procedure), ("memories", _store),
    )  # fmt: skip
    _NESTED = (_if, _elif_of_constants, _match, _loop)


@dataclass
class _Block:
    """A block function while it is made.

    Attributes:
        units: what stands in it.
        has_clock, has_reset: whether anything in it needs these.
        level: 0 of the top.
    """

    scope: Scope
    level: int
    kinds: list[Kind] = field(default_factory=list)
    units: list[Node] = field(default_factory=list)
    outputs: list[tuple[Named, int]] = field(default_factory=list)
    has_clock: bool = False
    has_reset: bool = False


class _Designs(_Statements):
    """Random blocks."""

    def __init__(self, dice: Random, features: frozenset[str]) -> None:
        super().__init__(dice, features)
        self.above: list[Node] = []
        self.common = Scope()
        self.children: list[Child] = []
        active = self.dice.choice([0, 1])
        isasync = self.has("async") and self.chance(0.5)
        self.reset = f"ResetSignal({1 - active}, active={active}, isasync={isasync})"

    def program(self) -> Program:
        """A random design."""
        for _ in range(self.dice.choice([0, 1]) if self.has("functions") else 0):
            self._function(self.above, self.common)
        self._table_of(self.above, self.common)
        if self.has("children"):
            for _ in range(self.dice.choice([0, 1])):
                self._child()
        inputs = [Named(self.fresh("a"), self.kind()) for _ in range(self.dice.choice([2, 3]))]
        inputs += [Named(self.fresh("b"), BIT) for _ in range(self.dice.choice([0, 1, 2]))]
        made = self._fill(_Block(self.common.copy(), 0), inputs, self.dice.choice([1, 1, 2]))
        return Program(
            Node("items", "", tuple(self.above)),
            Node("body", "", tuple(made.units)),
            tuple(inputs),
            tuple(made.outputs),
            self.reset if made.has_reset else "",
            self.features,
        )

    def _fill(self, made: _Block, inputs: Sequence[Named], count: int) -> _Block:
        """Put things into a block."""
        for port in inputs:
            made.scope.read(port, signal=True)
        if self.has("names"):
            name, value = self.fresh("K"), self.constant()
            made.units.append(Node("unit", f"{name} = {value}"))
            made.scope.numbers.append(_int(_number(name), (value, value)))
        self._table_of(made.units, made.scope)
        if self.has("functions") and self.chance(0.4):
            self._function(made.units, made.scope)
        rate = 0.3 if made.level == 0 else 0.1
        if self.has("state machines") and self.chance(rate):
            self._machine(made)
        if self.has("memories") and self.chance(rate):
            self._memory_of(made)
        if made.level == 0:
            for child in self.children:
                self._instances(made, child)
        for _ in range(count):
            self.dice.choice([self._comb, self._clocked])(made)
        while not made.outputs:
            self._comb(made)
        return made

    def _table_of(self, units: list[Node], scope: Scope) -> None:
        if self.has("tuples") and self.chance(0.5):
            name = self.fresh("rom")
            values = tuple(self.constant() for _ in range(self.dice.choice([2, 3, 4, 5, 8, 16])))
            units.append(Node("unit", f"{name} = {values!r}"))
            scope.tables.append((name, values))

    # signals

    def target(self, made: _Block, kind: Kind | None = None) -> Named:
        """A new signal that something drives: an output, or inside."""
        if kind is None:
            if made.kinds and self.chance(0.7):
                kind = self.dice.choice(made.kinds)
            else:
                kind = BIT if self.chance(0.25) else self.kind()
        initial = self.initial(kind)
        if self.chance(0.8):
            named = Named(self.fresh("y"), kind)
            made.outputs.append((named, initial))
        else:
            named = Named(self.fresh("s"), kind)
            made.units.append(Node("unit", f"{named.name} = Signal({kind.text(initial)})"))
        return named

    def _comb(self, made: _Block) -> None:
        targets = [self.target(made) for _ in range(self.dice.choice([1, 1, 2]))]
        self._drive(made, targets)

    def _drive(self, made: _Block, targets: Sequence[Named], shown: Named | None = None) -> None:
        """A combinational process that assigns all targets; ``shown``: a memory that it reads."""
        scope = made.scope.copy()
        scope.targets = list(targets)
        scope.written, scope.procedures = [], []
        lines = self.variables(scope)
        if shown is None:
            lines += [self.assignment(scope, target) for target in targets]
        else:
            index = self.fit(self.subject(scope), 0, shown.size - 1).node
            read = f"{targets[0].name}.next = {shown.name}[{{}}]"
            lines.append(_line(read, index))
        if shown is None and self.chance(0.7):
            lines += self.statements(scope, self.dice.choice([1, 1, 2]), 2).kids
        text = re.sub(r"len\(\w+\)", "", str(_block(*lines)))  # MyHDL does not count it
        signals = [str(each.node) for each in made.scope.numbers if each.width]
        if not any(_word(name).search(text) for name in signals):  # MyHDL wants one
            lines.append(self._first(made, targets[0]))
        name = self.fresh("comb")
        text = f"@always_comb\ndef {name}():\n{{}}"
        made.units.append(Node("unit", text, (_block(*lines),), name))
        for target in targets:
            made.scope.read(target, signal=True)

    def _first(self, made: _Block, target: Named) -> Node:
        """An assignment that certainly reads a signal."""
        signals = [each for each in made.scope.numbers if each.width]
        value = self.dice.choice(signals)
        if target.kind.truth:
            return _line(f"{target.name}.next = {{}}", _truth("({} != 0)", value.node))
        return _line(f"{target.name}.next = {{}}", self.fit_kind(value, target.kind))

    def _clocked(self, made: _Block) -> None:
        targets = [self.target(made) for _ in range(self.dice.choice([1, 1, 2, 3]))]
        for target in targets:
            made.scope.read(target, signal=True)
        self._register(made, targets, [], None)

    def _register(
        self,
        made: _Block,
        targets: Sequence[Named],
        written: Sequence[Named],
        first: Callable[[Scope], list[Node]] | None,
    ) -> None:
        """A clocked process; ``first`` are statements that it begins with."""
        scope = made.scope.copy()
        scope.targets, scope.written = list(targets), list(written)
        numbers = [each for each in targets if not each.kind.truth]
        if self.has("procedures") and numbers and self.chance(0.5):
            self._procedure_of(made, scope, self.dice.choice(numbers))
        lines = self.variables(scope)
        if first is not None:
            lines += first(scope)
        lines += self.statements(scope, self.dice.choice([1, 1, 2]), 3).kids
        text = str(_block(*lines))
        lines += [
            self.assignment(scope, each) for each in targets if f"{each.name}.next" not in text
        ]
        head, body = self._clocking(made, targets, _block(*lines), bool(written))
        name = self.fresh("clocked")
        made.has_clock = True
        made.units.append(Node("unit", f"{head}\ndef {name}():\n{{}}", (body,), name))

    def _clocking(
        self, made: _Block, targets: Sequence[Named], body: Node, writes: bool
    ) -> tuple[str, Node]:
        if not writes and self.has("always_seq") and self.chance(0.6):
            made.has_reset = True
            return "@always_seq(clk.posedge, reset=rst)", body
        numbers = [each for each in targets if not each.kind.truth]
        if self.has("explicit reset") and targets and self.chance(0.4):
            made.has_reset = True
            resets = [
                _line(
                    f"{each.name}.next = {{}}", _literal(min(max(0, each.kind.low), each.kind.high))
                )
                for each in (numbers or targets)
            ]
            active = "rst" if "active=1" in self.reset else "not rst"
            return "@always(clk.posedge)", _block(
                Node(
                    "chain",
                    "",
                    (Node("arm", "if {}:\n{}", (_truth(active), _block(*resets))), body),
                )
            )
        return "@always(clk.posedge)", body

    # functions

    def _function(self, units: list[Node], scope: Scope) -> None:
        """A function that returns a number or a truth, out of its parameters alone."""
        name = self.fresh("fn")
        sized = self.chance(0.4)
        kinds = [
            Kind(0, (1 << self.dice.choice([3, 4, 8])) - 1) for _ in range(self.dice.choice([1, 2]))
        ]
        if not sized and self.has("signed") and self.chance(0.4):
            kinds = [Kind(-(kind.high + 1) // 2, kind.high // 2) for kind in kinds]
        params = [self.fresh("p") for _ in kinds]
        result = BIT if self.chance(0.3) else replace(self.kind(), modular=False)
        inside = Scope()
        for param, kind in zip(params, kinds, strict=True):
            value = _of(param, kind, signal=True, bare=not sized)
            inside.numbers.append(value)
        lines: list[Node] = []
        for _ in range(self.dice.choice([0, 1, 1, 2])):
            stop = _block(self._return(inside, result))
            lines.append(_chain([(self.condition(inside, 1), stop)], _block()))
        lines.append(self._return(inside, result))
        text = f"def {name}({', '.join(params)}):\n{{}}"
        units.append(Node("unit", text, (_block(*lines),)))
        scope.functions.append(Function(name, tuple(kinds), result, sized))

    def _return(self, scope: Scope, result: Kind) -> Node:
        if result.truth:
            return _line("return {}", self.truth(scope, 2))
        value = self.number(scope, 2)
        if result.low == 0 and result.is_full and self.has("casts") and self.chance(0.5):
            return _line("return {}", self._sliced(value, result.width).node)
        return _line("return {}", self.fit(value, result.low, result.high).node)

    def _procedure_of(self, made: _Block, scope: Scope, target: Named) -> None:
        """A function in the block that assigns a signal."""
        name, param = self.fresh("put"), self.fresh("p")
        kind = Kind(0, (1 << self.dice.choice([3, 4, 8])) - 1)
        inside = Scope(numbers=[_of(param, kind, signal=True, bare=True)])
        inside.targets = [target]
        line = self.assignment(inside, target, 2)
        if self.chance(0.5):
            line = _chain([(self.condition(inside, 1), _block(line))], _block())
        if self.chance(0.3):  # the signal is a parameter, too
            formal = self.fresh("q")
            line = _renamed(line, target.name, formal)
            param, name = f"{formal}, {param}", f"{name}({target.name}, "
        text = f"def {name.partition('(')[0]}({param}):\n{{}}"
        made.units.append(Node("unit", text, (_block(line),)))
        scope.procedures.append((name if name.endswith(" ") else f"{name}(", kind))

    # memories and state machines

    def _memory_of(self, made: _Block) -> None:
        kind = BIT if self.chance(0.15) else self.kind()
        memory = Named(self.fresh("mem"), kind, size=self.dice.choice([2, 3, 4, 5, 8]))
        initial = self.initial(kind)
        text = f"{memory.name} = [Signal({kind.text(initial)}) for _ in range({memory.size})]"
        made.units.append(Node("unit", text))
        targets = [self.target(made) for _ in range(self.dice.choice([0, 1]))]
        for target in targets:
            made.scope.read(target, signal=True)
        made.scope.memories.append(memory)
        self._register(
            made, targets, [memory], lambda scope: [self._store(scope, 1) or _line("pass")]
        )

    def _machine(self, made: _Block) -> None:
        members = tuple("IDLE WORK WAIT DONE LAST".split()[: self.dice.choice([2, 3, 4, 5])])
        states = States(self.fresh("state"), self.fresh("kinds"), members)
        names = ", ".join(f'"{member}"' for member in members)
        encoding = self.dice.choice(["", "", ', encoding="one_hot"', ', encoding="binary"'])
        first = self.dice.choice(members) if self.has("initial values") else members[0]
        made.units += [
            Node("unit", f"{states.enum} = enum({names}{encoding})"),
            Node("unit", f"{states.name} = Signal({states.enum}.{first})"),
        ]
        made.scope.states.append(states)
        targets = [self.target(made) for _ in range(self.dice.choice([1, 1, 2]))]
        for target in targets:
            made.scope.read(target, signal=True)
        self._register(made, targets, [], lambda scope: [self._transitions(scope, states)])
        output, name = Named(self.fresh("y"), BIT), self.fresh("comb")
        made.outputs.append((output, 0))
        shows = _line(f"{output.name}.next = ({states.name} == {states.enum}.{members[-1]})")
        text = f"@always_comb\ndef {name}():\n{{}}"
        made.units.append(Node("unit", text, (_block(shows),), name))
        made.scope.read(output, signal=True)

    def _transitions(self, scope: Scope, states: States) -> Node:
        bodies: list[Node] = []
        for _ in states.members:
            goes = _line(f"{states.name}.next = {states.enum}.{self.dice.choice(states.members)}")
            step = _chain([(self.condition(scope, 1), _block(goes))], _block())
            lines = [step if self.chance(0.7) else goes]
            if scope.targets and self.chance(0.5):
                lines.append(self.statement(scope, 0))
            bodies.append(_block(*lines))
        if self.has("match") and self.chance(0.5):
            arms = [
                Node("case", f"case {states.enum}.{member}:\n{{}}", (body,))
                for member, body in zip(states.members, bodies, strict=True)
            ]
            return Node("match", f"match {states.name}:\n{{}}", (Node("block", "", tuple(arms)),))
        conditions = [_truth(f"({states.name} == {states.enum}.{each})") for each in states.members]
        arms_if = list(zip(conditions, bodies, strict=True))
        if self.chance(0.5) or len(arms_if) < 2:
            return _chain(arms_if, _block())
        return _chain(arms_if[:-1], arms_if[-1][1])

    # children

    def _child(self) -> None:
        """An entity with parameters."""
        name = self.fresh("child")
        width = ""
        values: dict[str, tuple[int, ...]] = {}
        made = _Block(self.common.copy(), 1)
        if self.has("generic widths") and self.chance(0.5):
            width = "W"
            values["W"] = tuple(self.dice.sample([2, 3, 4, 5, 8, 11, 16], k=2))
            made.kinds = [Kind(0, (1 << max(values["W"])) - 1, symbol="W", narrow=min(values["W"]))]
        for _ in range(self.dice.choice([0, 1, 2])):
            values[self.fresh("k")] = tuple(self.constant() for _ in "12")
        if self.chance(0.3):
            values[self.fresh("flag")] = tuple(self.dice.choice([0, 1]) for _ in "12")
        bare = self.has("constant actuals")
        inputs = [Named(self.fresh("a"), made.kinds[0] if width else self.kind())]
        for _ in range(self.dice.choice([0, 1, 2])):
            kind = self.dice.choice([BIT, self.kind()])
            inputs.append(Named(self.fresh("a"), kind, bare=bare and self.chance(0.6)))
        for param, each in values.items():
            if param.startswith("flag"):
                made.scope.truths.append(_truth(param))
            else:
                made.scope.numbers.append(_int(_number(param), (min(each), max(each))))
        self._fill(made, inputs, 1)
        self._write_child(name, made, inputs, values, width)

    def _write_child(
        self,
        name: str,
        made: _Block,
        inputs: Sequence[Named],
        values: dict[str, tuple[int, ...]],
        width: str,
    ) -> None:
        outputs = [output for output, _ in made.outputs]
        signature = [
            *(["clk"] if made.has_clock else []),
            *(["rst"] if made.has_reset else []),
            *(port.name for port in (*inputs, *outputs)),
            *values,
        ]
        plain = self.has("plain blocks") and not width and self.chance(0.4)
        text = (
            f"@{'block' if plain else 'merp.entity'}\ndef {name}({', '.join(signature)}):\n{{}}\n"
        )
        self.above.append(Node("unit", text, (Node("body", "", tuple(made.units)),)))
        self.children.append(
            Child(
                name, tuple(inputs), tuple(outputs), values, width, made.has_clock, made.has_reset
            )
        )

    def _instances(self, made: _Block, child: Child) -> None:
        made.has_clock |= child.has_clock
        made.has_reset |= child.has_reset
        if self.has("instance lists") and self.chance(0.5):
            self._instance_list(made, child)
            return
        for way in self.dice.sample([0, 1], k=self.dice.choice([1, 2, 2])):
            width = child.values[child.width][way] if child.width else 0
            actuals: dict[str, Node] = {}
            for port in child.inputs:
                actuals[port.name] = self._actual_of(made, port, width)
            outputs: list[Named] = []
            for port in child.outputs:
                kind = _settled(port.kind, width)
                output = self.target(made, kind)
                outputs.append(output)
                actuals[port.name] = _number(output.name)
            for param, values in child.values.items():
                truth = param.startswith("flag")
                actuals[param] = _number(str(bool(values[way]) if truth else values[way]))
            self._instantiate(made, child, actuals)
            for output in outputs:
                made.scope.read(output, signal=True)

    def _instance_list(self, made: _Block, child: Child) -> None:
        """Several instances between lists of signals; each input has one, or a signal for all."""
        way, size, i = self.dice.choice([0, 1]), self.dice.choice([2, 3, 4]), self.fresh("j")
        width = child.values[child.width][way] if child.width else 0
        actuals: dict[str, Node] = {}
        for at, port in enumerate(child.inputs):
            if at and self.chance(0.4):
                actuals[port.name] = self._actual_of(made, port, width)
            else:
                wires = self._wires(made, _settled(port.kind, width), size, "w")
                self._drive_all(made, wires)
                actuals[port.name] = _number(f"{wires.name}[{i}]")
        for port in child.outputs:
            wires = self._wires(made, _settled(port.kind, width), size, "mem")
            actuals[port.name] = _number(f"{wires.name}[{i}]")
            made.scope.memories.append(wires)
        for param, values in child.values.items():
            truth = param.startswith("flag")
            actuals[param] = _number(str(bool(values[way]) if truth else values[way]))
        self._instantiate(made, child, actuals, f" for {i} in range({size})")
        shown = self.target(made, made.scope.memories[-1].kind)
        self._drive(made, [shown], made.scope.memories[-1])

    def _wires(self, made: _Block, kind: Kind, size: int, stem: str) -> Named:
        wires = Named(self.fresh(stem), kind, size=size)
        text = kind.text(min(max(0, kind.low), kind.high))
        made.units.append(Node("unit", f"{wires.name} = [Signal({text}) for _ in range({size})]"))
        return wires

    def _drive_all(self, made: _Block, wires: Named) -> None:
        """A combinational process that assigns a list of signals."""
        scope, i = made.scope.copy(), self.fresh("i")
        signal = self.dice.choice([each for each in scope.numbers if each.width])
        if wires.kind.truth:
            value = _truth(f"({{}} > {i})", signal.node)
        else:
            index = _number(i)
            total = _int(_number("({} + {})", signal.node, index), (signal.low, signal.high + 9))
            value = self.fit_kind(total, wires.kind)
        line = _line(f"{wires.name}[{i}].next = {{}}", value)
        loop = _line(f"for {i} in range({wires.size}):\n{{}}", _block(line))
        name = self.fresh("comb")
        text = f"@always_comb\ndef {name}():\n{{}}"
        made.units.append(Node("unit", text, (_block(loop),), name))

    def _instantiate(
        self, made: _Block, child: Child, actuals: dict[str, Node], loop: str = ""
    ) -> None:
        wires = [name for name, has in (("clk", child.has_clock), ("rst", child.has_reset)) if has]
        if self.chance(0.5):
            given = [*wires, *(f"{name}={{}}" for name in actuals)]
            given[: len(wires)] = [f"{wire}={wire}" for wire in wires]
        else:
            given = [*wires, *("{}" for _ in actuals)]
        name = self.fresh("inst")
        text = f"{child.name}({', '.join(given)})"
        text = f"{name} = [{text}{loop}]" if loop else f"{name} = {text}"
        made.units.append(Node("unit", text, tuple(actuals.values()), name))

    def _actual_of(self, made: _Block, port: Named, width: int) -> Node:
        """What an input of a child is connected to."""
        kind = _settled(port.kind, width)
        if port.bare and self.chance(0.5):
            value = (
                self.dice.randint(max(kind.low, -50), min(kind.high, 50))
                if kind.high <= 50
                else (
                    self.dice.choice([kind.low, kind.high, self.dice.randint(kind.low, kind.high)])
                )
            )
            return _truth(str(bool(value))) if kind.truth else _literal(value)
        wire = Named(self.fresh("w"), kind)
        text = f"{wire.name} = Signal({kind.text(min(max(0, kind.low), kind.high))})"
        made.units.append(Node("unit", text))
        self._drive(made, [wire])
        return _truth(wire.name) if kind.truth else _number(wire.name)


def _renamed(node: Node, old: str, new: str) -> Node:
    """The source with another name."""
    kids = tuple(_renamed(kid, old, new) for kid in node.kids)
    return replace(node, text=_word(old).sub(new, node.text), kids=kids)


def _settled(kind: Kind, width: int) -> Kind:
    """A kind with its width known."""
    return Kind(0, (1 << width) - 1, modular=kind.modular) if kind.symbol else kind


def program(dice: Random, features: Collection[str] = EVERYTHING) -> Program:
    """A random design.

    Args:
        dice: decides everything.
        features: names in ``FEATURES``.

    Raises:
        ValueError: there is no such feature.
    """
    if unknown := sorted(set(features) - EVERYTHING):
        raise ValueError(f"no such feature: {', '.join(unknown)}")
    return _Designs(dice, frozenset(features)).program()


def programs(features: Collection[str] = EVERYTHING) -> st.SearchStrategy[Program]:
    """Random designs as a strategy of hypothesis, which shrinks them, too."""
    return st.randoms(use_true_random=False).map(lambda dice: program(dice, features))


# verdicts


def alone(feature: str) -> frozenset[str]:
    """The feature with those that it needs."""
    found = {feature}
    while more := {each for one in found for each in NEEDS.get(one, ())} - found:
        found |= more
    return frozenset(found)


def judged(
    found: Sequence[Program], engine: str, folder: Path, names: Sequence[str] = ()
) -> list[str]:
    """The verdict on each program, of ``side_by_side.verdicts``.

    Args:
        found: the programs. engine: ``ghdl`` or ``verilator``.
        folder: where files are written; each call has one of its own.
        names: of the designs; ``d0`` and so on if there are none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    said: dict[str, str] = {}
    designs: list[Design] = []
    chosen = list(names) or [f"d{number}" for number in range(len(found))]
    for name, each in zip(chosen, found, strict=True):
        design = imported(str(each), name, folder)
        if isinstance(design, Design):
            designs.append(design)
        else:
            said[name] = design
    said |= verdicts(designs, engine, folder)
    return [said[name] for name in chosen]


def imported(source: str, name: str, folder: Path) -> Design | str:
    """The design of a module's source, or why there is none; MyHDL reads its file again later."""
    path = folder / f"{name}.py"
    path.write_text(source, encoding="ascii")
    linecache.cache.pop(str(path), None)
    module = ModuleType(f"random_design_{name}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # of what is made smaller
            exec(compile(source, str(path), "exec"), module.__dict__)
    except Exception as error:
        return f"simulation: {type(error).__name__}: {error}"
    return Design(name, module.top, module.make, module.INPUTS, CYCLES)


# smaller programs


def _reduced(node: Node) -> Iterator[Node]:
    """The node with a part of it dropped or replaced, large steps first."""
    kids = node.kids
    if node.sort in ("block", "items", "body"):
        size = len(kids)
        while size:
            for at in range(0, len(kids), size):
                yield replace(node, kids=(*kids[:at], *kids[at + size :]))
            size //= 2
        for at in range(len(kids) - 1):  # as a signal and what drives it
            yield replace(node, kids=(*kids[:at], *kids[at + 2 :]))
        for at, kid in enumerate(kids):
            for inner in _blocks(kid):
                yield replace(node, kids=(*kids[:at], *inner.kids, *kids[at + 1 :]))
    elif node.sort == "chain":
        for at in range(len(kids) - 1):
            yield replace(node, kids=(*kids[:at], *kids[at + 1 :]))
    elif node.sort in ("number", "truth"):
        simplest = ("0", "1") if node.sort == "number" else ("False", "True")
        if node.text not in simplest:
            for text in simplest:
                yield Node(node.sort, text)
        if kids:
            yield from _below(node, node.sort)
    for at, kid in enumerate(kids):
        for other in _reduced(kid):
            yield replace(node, kids=(*kids[:at], other, *kids[at + 1 :]))


def _blocks(node: Node) -> Iterator[Node]:
    """The blocks of a statement, whose statements may take its place."""
    if node.sort in ("unit", "def"):
        return
    for kid in node.kids:
        if kid.sort == "block":
            yield kid
        elif kid.sort in ("arm", "case"):
            yield from _blocks(kid)


def _below(node: Node, sort: str) -> Iterator[Node]:
    """All nodes of a sort inside a node, the uppermost first."""
    for kid in node.kids:
        if kid.sort == sort:
            yield kid
    for kid in node.kids:
        yield from _below(kid, sort)


def reductions(of: Program) -> Iterator[Program]:
    """Smaller programs, some of which are not legal."""
    if of.reset:
        yield replace(of, reset="")
    for at in range(len(of.outputs)):
        if len(of.outputs) > 1:
            yield replace(of, outputs=(*of.outputs[:at], *of.outputs[at + 1 :]))
    for at in range(len(of.inputs)):
        yield replace(of, inputs=(*of.inputs[:at], *of.inputs[at + 1 :]))
    for body in _reduced(of.body):
        yield replace(of, body=body)
        # What nothing drives is no output.
        lost = [pair for pair in of.outputs if _word(pair[0].name).search(str(body)) is None]
        if lost and len(lost) < len(of.outputs):
            kept = tuple(pair for pair in of.outputs if pair not in lost)
            yield replace(of, body=body, outputs=kept)
    for above in _reduced(of.above):
        yield replace(of, above=above)
    for at, unit in enumerate(of.above.kids):
        if head := re.search(r"def (child\d+)\((.*)\):", unit.text):
            names = head[2].split(", ")
            wires = len({"clk", "rst"} & set(names))
            for number, name in enumerate(names[wires:]):
                rest = ", ".join(each for each in names if each != name)
                less = replace(unit, text=unit.text.replace(head[2], rest))
                above = replace(
                    of.above, kids=(*of.above.kids[:at], less, *of.above.kids[at + 1 :])
                )
                kids = tuple(_without(kid, head[1], wires, number) for kid in of.body.kids)
                yield replace(of, above=above, body=replace(of.body, kids=kids))


def _without(unit: Node, child: str, wires: int, number: int) -> Node:
    """An instance of a child without one of the actuals that follow clock and reset."""
    made = re.fullmatch(rf"(.*\b{child}\()([^()]*)(\).*)", unit.text)
    if made is None:
        return unit
    given = made[2].split(", ")
    del given[wires + number]
    kids = (*unit.kids[:number], *unit.kids[number + 1 :])
    return replace(unit, text=f"{made[1]}{', '.join(given)}{made[3]}", kids=kids)


def _is_proper(of: Program) -> bool:
    """Whether every signal is driven, and in every case, as in all designs at first.

    What is not has no value in HDL, so that a design might differ for another reason.
    """
    bodies = [of.body, *(kid for unit in of.above.kids for kid in unit.kids if kid.sort == "body")]
    outputs = [port.name for port, _ in of.outputs]
    return not any(map(_has_latch, bodies)) and all(
        _drives(body, outputs if body is of.body else ()) for body in bodies
    )


def _drives(body: Node, outputs: Sequence[str]) -> bool:
    """Whether a body drives its signals and ``outputs``."""
    text = str(body)
    signals = {*re.findall(r"^ *(\w+) = \[?Signal\(", text, re.MULTILINE), *outputs}
    driven = set(re.findall(r"\b(\w+)(?:\[.*\])?\.next\b", text))
    for unit in body.kids:
        if unit.name.startswith("inst"):  # what is an input of it begins with w
            driven.update(name for name in re.findall(r"\w+", str(unit)) if name[0] != "w")
        if put := re.match(r"def put\d+\(q\d+,", str(unit)):
            calls = put[0][4:].partition("(")[0]
            driven.update(re.findall(rf"\b{calls}\((\w+),", text))
    return driven >= signals


def _has_latch(node: Node) -> bool:
    """Whether a combinational process assigns a signal in some cases only; none does at first."""
    if node.text.startswith("@always_comb"):
        [block] = node.kids
        always = {kid.text.partition(".next = ")[0] for kid in block.kids}
        return not always.issuperset(re.findall(r"\b(\w+)\.next\b", str(block)))
    return any(map(_has_latch, node.kids))


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b{name}\b")


def symptom(verdict: str) -> str:
    """What is the same in the verdicts on designs with the same fault: no places, no numbers."""
    if verdict.startswith("differs: cycle"):
        return "differs: cycle"
    return re.sub(r"\S*/\S*|\d+", "", verdict)


def shrunk(
    of: Program,
    verdict: str,
    engine: str,
    folder: Path,
    seconds: float = 120,
    batch: int = 40,
) -> tuple[Program, str]:
    """A smaller program with the same symptom, and the verdict on it.

    Args:
        of: the program. verdict: on it.
        engine: of the verdicts. folder: where files are written.
        seconds: after these no more candidates are tried.
        batch: how many candidates there are in one simulation.
    """
    wanted = symptom(verdict)
    begun = monotonic()
    dice = Random(1)
    rounds = itertools.count()
    while monotonic() - begun < seconds:
        smaller = {
            str(each): each
            for each in reductions(of)
            if each.size() < of.size() and _is_proper(each)
        }
        left = sorted(smaller.values(), key=Program.size)
        rest = left[batch // 2 :]
        dice.shuffle(rest)
        left[batch // 2 :] = rest  # the smallest ones come first, and rarely keep the fault
        best: tuple[Program, str] | None = None
        while left and best is None and monotonic() - begun < seconds:
            tried, left = left[:batch], left[batch:]
            said = judged(tried, engine, folder / f"round{next(rounds)}")
            good = [pair for pair in zip(tried, said, strict=True) if symptom(pair[1]) == wanted]
            best = min(good, key=lambda pair: pair[0].size(), default=None)
        if best is None:
            break
        of, verdict = best
    return of, verdict


def counted(
    features: Collection[str], number: int, engine: str, folder: Path, seed: int = 1
) -> tuple[Counter[str], dict[str, str]]:
    """The verdicts on random designs: how many of each first word, and the first design of each.

    Args:
        features: of all of them. number: of designs. engine: of the verdicts.
        folder: where files are written. seed: of the designs.
    """
    found = [program(Random(f"{seed} {each}"), features) for each in range(number)]
    said = judged(found, engine, folder)
    counts = Counter(verdict.partition(":")[0] for verdict in said)
    firsts: dict[str, str] = {}
    for at, verdict in enumerate(said):
        firsts.setdefault(verdict.partition(":")[0], f"{folder / f'd{at}.py'}: {verdict}")
    return counts, firsts


def main() -> None:
    """Print the counts of verdicts for each feature alone, for none and for all."""
    parser = argparse.ArgumentParser(description=main.__doc__, allow_abbrev=False)
    parser.add_argument("--engine", choices=("ghdl", "verilator"), default="ghdl")
    parser.add_argument("--number", type=int, default=20, help="designs for each feature (20)")
    parser.add_argument("features", nargs="*", help="features, if not all")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        _print_counts(options.engine, options.number, Path(folder), options.features)


def _print_counts(engine: str, number: int, folder: Path, wanted: list[str]) -> None:
    cases = {name: alone(name) for name in wanted or FEATURES}
    cases |= {} if wanted else {"(none)": frozenset(), "(all)": EVERYTHING}
    for at, (name, features) in enumerate(cases.items()):
        counts, firsts = counted(features, number, engine, folder / f"case{at}")
        shown = ", ".join(f"{count} {word}" for word, count in counts.most_common())
        print(f"{name}: {shown}", flush=True)
        for word, first in firsts.items():
            if word != "equal":
                print(f"    {first[:200]}", flush=True)


if __name__ == "__main__":
    main()
