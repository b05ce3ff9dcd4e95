"""Read the source text of a block: why it is not hardware, and which signals it drives.

This module uses no converter. A process is hardware if it waits at one place, forever.
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
"""Actions without a hardware equivalent, by their function."""
STOPS = "ends the simulation"
OF_BENCHES = frozenset({"print", "delay", "simulation time", "join", STOPS})
"""Reasons that apply to a stimulus, not to a design."""


@cache
def tree_of(function: Callable[..., Any]) -> ast.AST:
    """Return the syntax tree of a function; an empty one if its source is missing."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
        return ast.parse(source).body[0]
    except (OSError, TypeError, SyntaxError):
        return ast.Module([], [])


def is_library(function: Callable[..., Any]) -> bool:
    """Return whether a function belongs to MyHDL itself."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code is not None and Path(code.co_filename).resolve().is_relative_to(FOLDER)


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes of a tree, without those of inner blocks."""
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
    """Return the objects of the names in a function that it does not define itself."""
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
    """Return why a block function, with the functions that it calls, is not hardware."""
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
    """Yield the faults in the waiting of a generator."""
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
    """Yield the expressions for signals whose edges a function waits for, and the edge."""
    for node in nodes(tree_of(function)):
        if isinstance(node, ast.Attribute) and node.attr in ("posedge", "negedge"):
            yield node.value, node.attr


def driven(function: Callable[..., Any]) -> Iterator[ast.expr]:
    """Yield the expressions for signals that a function, or a process in it, drives."""
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
    """Return the object of a name, an attribute or an element; a list for a variable element."""
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
