"""Instances are wired by name: at most three of their arguments stand by position.

An instance is a call of a function decorated with ``@entity`` or ``@block``: by its name, by a name
that it was imported or assigned to, or out of a table or a choice of such functions.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkout import ROOT

HDL = ROOT / "hdl"
DECORATORS = {"entity", "block"}
MOST = 3


def module_of(path: Path) -> str:
    return ".".join(("merp", *path.relative_to(ROOT).with_suffix("").parts))


def is_block(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef):
        return False
    decorators = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    return any(ast.unparse(d).split(".")[-1] in DECORATORS for d in decorators)


def blocks_of(module: str, source: str) -> set[str]:
    """Blocks that a module defines, by their full names."""
    return {f"{module}.{node.name}" for node in ast.walk(ast.parse(source)) if is_block(node)}


def mentioned(node: ast.expr) -> Iterator[str]:
    """The names and dotted names of an expression, but for what a call in it makes of its own."""
    if isinstance(node, ast.Call):
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == "get"):
            return
        node = node.func.value
    while isinstance(node, ast.Subscript):  # what it is looked up by does not matter
        node = node.value
    if isinstance(node, ast.Name | ast.Attribute):
        yield ast.unparse(node)
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from mentioned(child)


def known_names(tree: ast.Module, module: str, blocks: set[str]) -> set[str]:
    """The names by which a module may reach a block: its own, imported, assigned from these."""
    known = {name.removeprefix(f"{module}.") for name in blocks}
    assigned: list[tuple[ast.expr, ast.expr]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full, local = f"{node.module}.{alias.name}", alias.asname or alias.name
                if full in blocks:
                    known.add(local)
                known |= {
                    f"{local}.{name.rpartition('.')[2]}"
                    for name in blocks
                    if name.rpartition(".")[0] == full
                }
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    prefix = f"{alias.name}."
                    known |= {
                        f"{alias.asname}.{name.removeprefix(prefix)}"
                        for name in blocks
                        if name.startswith(prefix)
                    }
        elif isinstance(node, ast.Assign):
            assigned += [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            assigned.append((node.target, node.value))
        elif isinstance(node, ast.For | ast.comprehension):
            assigned.append((node.target, node.iter))
    before = 0
    while before != len(known):
        before = len(known)
        for target, value in assigned:
            if not known.isdisjoint(mentioned(value)):
                known |= set(mentioned(target))
    return known


def offences(module: str, source: str, blocks: set[str]) -> list[str]:
    """Line and block of the instances that have more than ``MOST`` arguments by position."""
    tree = ast.parse(source)
    known = known_names(tree, module, blocks)
    return [
        f"{node.lineno}: {ast.unparse(node.func)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and not known.isdisjoint(mentioned(node.func))
        and (len(node.args) > MOST or any(isinstance(arg, ast.Starred) for arg in node.args))
    ]


SOURCES = {path: path.read_text() for path in sorted(HDL.rglob("*.py"))}
BLOCKS = {block for path, text in SOURCES.items() for block in blocks_of(module_of(path), text)}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_instances_are_wired_by_name(path: Path) -> None:
    assert offences(module_of(path), SOURCES[path], BLOCKS) == []


def test_there_are_blocks() -> None:
    assert len(BLOCKS) > 100
    assert "merp.hdl.arithmetic.fp_add.fp_add" in BLOCKS


HEAD = """
from myhdl import block
import merp.hdl.adder as adders
from merp.hdl import adder as module
from merp.hdl.adder import adder
from merp.hdl.adder import adder as plus
from merp.hdl.conversion.entity import entity

@entity(twin="elsewhere")
def own(clk, a, b, c):
    return ()

@block
def wired():
    @block
    def inner(clk, a, b, c):
        return ()
"""
TABLE = "    units = {'tree': adder, 'fused': None}\n"


@pytest.mark.parametrize(
    "call",
    [
        "adder({})",
        "own({})",
        "inner({})",
        "plus({}, fmt=fmt)",
        "module.adder({})",
        "adders.adder({})",
        "[adder({}) for _ in range(2)]",
        "(adder if wide else own)({})",
        "units[kind]({})",
        "units.get(kind, own)({})",
        "[unit({}) for unit in (adder, own)]",
    ],
)
def test_a_fourth_argument_by_position_is_seen(call: str) -> None:
    def found(arguments: str) -> int:
        text = f"{HEAD}{TABLE}    return {call.format(arguments)}\n"
        own = blocks_of("merp.hdl.top", text)
        return len(offences("merp.hdl.top", text, {*own, "merp.hdl.adder.adder"}))

    assert found("clk, a, b, c") == 1
    assert found("*wires") == 1
    assert found("clk, a, b, c=c") == 0
    assert found("clk=clk, **wires") == 0


@pytest.mark.parametrize(
    "call", ["min(a, b, c, d)", "adder(clk, a, b).of(a, b, c, d)", "kinds[adder](a, b, c, d)"]
)
def test_other_calls_are_left_alone(call: str) -> None:
    text = f"{HEAD}    return {call}\n"
    assert offences("merp.hdl.top", text, {"merp.hdl.adder.adder"}) == []
