"""All small faults of the hardware, from its syntax tree, in the same order each time.

A fault stands in a process or in a function that processes call: what an elaboration computes in
Python is left alone. ``KINDS`` says what is changed.
"""

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trial import ROOT

KINDS = {
    "operator": "an operator becomes another one",
    "condition": "a comparison is off by its edge, a condition is negated or loses a part",
    "comparison": "a comparison is made as the one before or behind it in the process",
    "constant": "a number is one more or one less, a truth value the other one",
    "dropped": "an assignment is left out",
    "reset": "an assignment of a reset is left out",
    "range": "a range of bits is one place off",
}
RESETS = {"rst", "clear", "clearing"}
"""What the condition of a reset names."""

OTHERS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """A fault that can be planted.

    Attributes:
        file, row: where. process: the function that it stands in. kind: of ``KINDS``.
        line: the statement, or its head. fault: what it becomes.
        nth: which one of those in the process that read alike, from 1 on.
        start, end: bytes of the file that are replaced. by: what takes their place.
    """

    file: str
    row: int
    process: str
    kind: str
    line: str
    fault: str
    nth: int
    start: int
    end: int
    by: str

    @property
    def name(self) -> tuple[str, str, str, str, int]:
        """What stays the same when other lines of the file change."""
        return self.file, self.process, self.line, self.fault, self.nth

    @property
    def text(self) -> str:
        """The file with the fault in it."""
        source = (ROOT / self.file).read_bytes()
        return (source[: self.start] + self.by.encode() + source[self.end :]).decode()


def files() -> list[Path]:
    """The files of the hardware; the converter is none."""
    return sorted(path for path in (ROOT / "hdl").rglob("*.py") if path.parts[-2] != "conversion")


def faults(path: Path) -> list[Fault]:
    """Every fault of a file, in the order of its text."""
    source = path.read_bytes()
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))

    def span(node: ast.stmt | ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            lines[node.lineno - 1] + node.col_offset,
            lines[node.end_lineno - 1] + node.end_col_offset,
        )

    found: list[Fault] = []
    alike: Counter[tuple[str, str, str]] = Counter()
    for process in _processes(ast.parse(source)):
        borrowed = _borrowed(process)
        for statement, in_reset, rest in _statements(process.body, False):
            heads = _heads(statement)
            pointless = _pointless(statement, rest)
            begin, end = span(statement)[0], span(heads[-1] if heads else statement)[1]
            changes: list[tuple[str, tuple[int, int], str]] = []
            if (
                statement not in pointless
                and heads
                and isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr)
            ):
                changes.append(("reset" if in_reset else "dropped", span(statement), "pass"))
            for head in heads:
                for node in ast.walk(head):
                    if isinstance(node, ast.expr) and node not in pointless:
                        for kind, other in (*_others(node), *borrowed.get(node, ())):
                            changes.append((kind, span(node), f"({ast.unparse(other)})"))
            if isinstance(statement, ast.If):
                test = statement.test
                negated = ast.UnaryOp(ast.Not(), test)
                changes.append(("condition", span(test), f"({ast.unparse(negated)})"))
            for kind, (first, last), by in changes:
                old = " ".join(source[begin:end].decode().split())
                changed = source[begin:first] + by.encode() + source[last:end]
                new = " ".join(changed.decode().split())
                key = process.name, old, new
                alike[key] += 1
                name = str(path.relative_to(ROOT))
                found.append(
                    Fault(name, statement.lineno, process.name, kind, old, new, alike[key],
                          first, last, by)
                )  # fmt: skip
    return found


def all_faults() -> list[Fault]:
    """Every fault of the hardware."""
    return [fault for path in files() for fault in faults(path)]


def _processes(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Processes, and plain functions: blocks are elaborations and are left out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            decorators = {ast.unparse(each).split("(")[0] for each in node.decorator_list}
            if decorators & {"always", "always_comb", "compiled"}:
                yield node


def _statements(
    body: list[ast.stmt], in_reset: bool
) -> Iterator[tuple[ast.stmt, bool, list[ast.stmt]]]:
    """All statements inside, each with whether a reset's condition stands above it, and with those
    behind it.
    """
    for place, statement in enumerate(body):
        yield statement, in_reset, body[place + 1 :]
        if isinstance(statement, ast.If):
            names = {node.id for node in ast.walk(statement.test) if isinstance(node, ast.Name)}
            yield from _statements(statement.body, in_reset or bool(names & RESETS))
            yield from _statements(statement.orelse, in_reset)
        elif isinstance(statement, ast.For | ast.While):
            yield from _statements(statement.body, in_reset)


def _pointless(statement: ast.stmt, rest: list[ast.stmt]) -> set[ast.AST]:
    """What a declaration of a variable has that no fault is made of.

    ``variable = intbv(0)[width:]``: without it there is no program, and the zero is not read if the
    variable is set before it is used.
    """
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return set()
    bits = statement.value
    call = bits.value if isinstance(bits, ast.Subscript) else bits
    if not isinstance(call, ast.Call) or ast.unparse(call.func) not in ("intbv", "modbv"):
        return set()
    found: set[ast.AST] = {statement}
    if _sets(statement.targets[0].id, rest):
        found.add(call.args[0])
    return found


def _sets(name: str, body: list[ast.stmt]) -> bool:
    """Whether statements set the whole of a variable before they use it."""
    for statement in body:
        if not _mentions(name, statement):
            continue
        if isinstance(statement, ast.If):
            arms = statement.body, statement.orelse
            return not _mentions(name, statement.test) and all(_sets(name, arm) for arm in arms)
        return (
            isinstance(statement, ast.Assign)
            and ast.unparse(statement.targets[0]) == f"{name}[:]"
            and not _mentions(name, statement.value)
        )
    return False


def _mentions(name: str, node: ast.AST) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))


def _heads(statement: ast.stmt) -> list[ast.expr]:
    """The expressions of a statement without those of statements inside it; no docstring."""
    if isinstance(statement, ast.If | ast.While):
        return [statement.test]
    if isinstance(statement, ast.For):
        return [statement.iter]
    if isinstance(statement, ast.Assign):
        return [*statement.targets, statement.value]
    if isinstance(statement, ast.AugAssign):
        return [statement.target, statement.value]
    if isinstance(statement, ast.Return) and statement.value is not None:
        return [statement.value]
    if isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Constant):
        return [statement.value]
    return []


def _borrowed(process: ast.FunctionDef) -> dict[ast.expr, list[tuple[str, ast.expr]]]:
    """For each comparison of a process, what it becomes with the operator and the right side of
    another one: of the nearest before it and of the nearest behind it whose right side differs.
    """
    every = [
        node
        for statement, _, _ in _statements(process.body, False)
        for head in _heads(statement)
        for node in ast.walk(head)
        if isinstance(node, ast.Compare) and len(node.ops) == 1
    ]
    every.sort(key=lambda node: (node.lineno, node.col_offset))
    found: dict[ast.expr, list[tuple[str, ast.expr]]] = {}
    for place, node in enumerate(every):
        (right,) = node.comparators
        sides = {ast.unparse(node.left), ast.unparse(right)}
        # A number that is one more or one less is a fault of its own.
        texts = {
            ast.unparse(ast.Compare(node.left, node.ops, [each])) for _, each in _others(right)
        }
        found[node] = []
        for others in (reversed(every[:place]), every[place + 1 :]):
            for each in others:
                if ast.unparse(each.comparators[0]) not in sides:
                    other = ast.Compare(node.left, each.ops, each.comparators)
                    if ast.unparse(other) not in texts:
                        texts.add(ast.unparse(other))
                        found[node].append(("comparison", other))
                    break
    return found


def _others(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """What may stand in a node's place."""
    other = copy.deepcopy(node)
    if isinstance(other, ast.BinOp) and type(other.op) in OTHERS:
        other.op = OTHERS[type(other.op)]()  # type: ignore[assignment]
        yield "operator", other
    elif isinstance(other, ast.Compare) and type(other.ops[0]) in OTHERS:
        other.ops[0] = OTHERS[type(other.ops[0])]()  # type: ignore[call-overload]
        yield "condition", other
    elif isinstance(other, ast.BoolOp):
        for place in range(len(other.values)):
            rest = other.values[:place] + other.values[place + 1 :]
            yield "condition", rest[0] if len(rest) == 1 else ast.BoolOp(other.op, rest)
        yield "condition", ast.BoolOp(OTHERS[type(other.op)](), other.values)  # type: ignore[arg-type]
    elif isinstance(other, ast.UnaryOp) and isinstance(other.op, ast.Not):
        yield "condition", other.operand
    elif isinstance(other, ast.Constant) and isinstance(other.value, bool):
        yield "constant", ast.Constant(not other.value)
    elif isinstance(other, ast.Constant) and isinstance(other.value, int):
        yield "constant", ast.Constant(other.value + 1)
        if other.value > 0:
            yield "constant", ast.Constant(other.value - 1)
    elif isinstance(other, ast.Subscript) and isinstance(other.slice, ast.Slice):
        if ast.unparse(other.value) in ("intbv(0)", "modbv(0)"):
            return  # so many bits of zero are the same wherever they are taken from
        high, low = other.slice.lower, other.slice.upper  # of bits: [high:low]
        step = ast.Add() if low is None else ast.Sub()
        low = low or ast.Constant(0)
        if high is not None:
            other.slice.lower = ast.BinOp(high, step, ast.Constant(1))
            other.slice.upper = ast.BinOp(low, step, ast.Constant(1))
            yield "range", other
