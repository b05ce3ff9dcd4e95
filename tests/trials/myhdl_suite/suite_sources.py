"""What the source text of a block says: why it is no hardware, which signals it drives.

Nothing here asks a converter. A process is hardware if it waits at one place, for ever.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from merp.hdl.conversion.base.internals import FOLDER

CALLS = {
    "print": "print",
    "delay": "delay",
    "open": "file access",
    "now": "simulation time",
    "join": "join",
}
"""What hardware cannot do, by the function that does it."""
STOPS = "ends the simulation"
OF_BENCHES = frozenset({"print", "delay", "simulation time", "join", STOPS})
"""Reasons that a stimulus has rather than a design."""


@cache
def tree_of(function: Callable[..., Any]) -> ast.AST:
    """The syntax tree of a function; an empty one where its source is not there."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
        return ast.parse(source).body[0]
    except (OSError, TypeError, SyntaxError):
        return ast.Module([], [])


def is_library(function: Callable[..., Any]) -> bool:
    """Whether a function is one of MyHDL itself."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code is not None and Path(code.co_filename).resolve().is_relative_to(FOLDER)


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a tree but those of blocks that it defines inside."""
    for node in ast.iter_child_nodes(tree):
        if not _is_decorated(node, "block"):
            yield node
            yield from nodes(node)


def _is_decorated(node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.FunctionDef):
        return False
    words = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
    return any(ast.unparse(word).rpartition(".")[2] == name for word in words)


def names_in(function: Callable[..., Any]) -> dict[str, Any]:
    """What the names in a function mean that it does not define itself."""
    plain = inspect.unwrap(function)
    found = dict(getattr(plain, "__globals__", {}))
    code = getattr(plain, "__code__", None)
    cells = getattr(plain, "__closure__", None) or ()
    for name, cell in zip(code.co_freevars if code else (), cells, strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # it is not bound yet
            continue
    return found


@cache
def reasons(function: Callable[..., Any]) -> frozenset[str]:
    """Why a block function, with the functions that it calls, is no hardware."""
    return frozenset(_reasons(function, set()))


def _reasons(function: Callable[..., Any], known: set[Any]) -> Iterator[str]:
    known.add(function)
    names = names_in(function)
    for node in nodes(tree_of(function)):
        if isinstance(node, ast.Raise) and node.exc and "StopSimulation" in ast.unparse(node.exc):
            yield STOPS
        if isinstance(node, ast.FunctionDef) and _is_decorated(node, "instance"):
            yield from _waits(node)
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func).rpartition(".")[2]
        if called in CALLS:
            yield CALLS[called]
        helper = names.get(called)
        if isinstance(helper, FunctionType) and helper not in known:
            if not is_library(helper):
                yield from _reasons(helper, known)


def _waits(process: ast.FunctionDef) -> Iterator[str]:
    """What is wrong with the waiting of a generator."""
    loops = [node for node in process.body if isinstance(node, ast.While)]
    endless = [loop for loop in loops if isinstance(loop.test, ast.Constant) and loop.test.value]
    everywhere = sum(isinstance(node, ast.Yield) for node in ast.walk(process))
    if not endless or process.body[-1] is not endless[0]:
        yield "a process that ends"
        return
    plainly = [
        node
        for node in endless[0].body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield)
    ]
    if everywhere != 1 or len(plainly) != 1:
        yield "a process that waits in several places"


def edges(function: Callable[..., Any]) -> Iterator[tuple[ast.expr, str]]:
    """The expressions for signals whose edges a function waits for, and which edge."""
    for node in nodes(tree_of(function)):
        if isinstance(node, ast.Attribute) and node.attr in ("posedge", "negedge"):
            yield node.value, node.attr


def driven(function: Callable[..., Any]) -> Iterator[ast.expr]:
    """The expressions for signals that a function, or a process in it, drives."""
    for node in nodes(tree_of(function)):
        if isinstance(node, ast.Attribute) and node.attr == "next":
            yield node.value
        elif isinstance(node, ast.Attribute) and node.attr == "driven":
            if isinstance(node.ctx, ast.Store):
                yield node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("assign", "driver"):
                yield node.func.value


def value_of(expression: ast.expr, names: Mapping[str, Any]) -> Any:
    """What a name, an attribute or an element is; a whole list for an element that moves."""
    try:
        if isinstance(expression, ast.Name):
            return names[expression.id]
        if isinstance(expression, ast.Attribute):
            return getattr(value_of(expression.value, names), expression.attr)
        if isinstance(expression, ast.Subscript):
            whole = value_of(expression.value, names)
            return whole if isinstance(whole, list | tuple) else None
    except (KeyError, AttributeError):
        return None
    return None
