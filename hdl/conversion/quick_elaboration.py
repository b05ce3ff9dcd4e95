"""Answer MyHDL's questions to Python about sources and callers quickly, for every design.

At every instance and every process, MyHDL requests the whole stack of callers, with the source line
of each, and uses two of them. It also reads and tokenizes the source of a process again for every
instance. For AlexNet's forward engine this takes nine tenths of an elaboration. It also searches
every process for attributes to resolve, and four in ten have none.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import sys
from functools import cache, reduce
from operator import or_
from types import FrameType
from typing import Any

from merp.hdl.conversion._locals import Caller, meet
from merp.hdl.conversion.base import internals
from merp.hdl.conversion.base.function_source import source_of

DEEPEST = 6
"""Frames that MyHDL looks at."""

_FUTURE = reduce(
    or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
"""Flags that a function's own code may have been compiled with."""


class _Inspect:
    """``inspect`` for MyHDL."""

    @staticmethod
    def stack() -> list[tuple[Any, str, int, str]]:
        """Return the functions from the caller outwards: frame, file, line, function."""
        frame: FrameType | None = sys._getframe(1)
        meet(frame)
        frames: list[tuple[Any, str, int, str]] = []
        while frame is not None and len(frames) < DEEPEST:
            caller = Caller(frame)
            frame, code = caller.frame, caller.f_code
            frames.append((caller, code.co_filename, frame.f_lineno, code.co_name))
            frame = frame.f_back
        return frames

    @staticmethod
    def getsourcelines(function: Any) -> tuple[Any, int]:
        """Return the line where a block begins, which MyHDL prints; it needs no text."""
        if not inspect.isfunction(function):
            return inspect.getsourcelines(function)
        line = function.__code__.co_firstlineno
        return line, line

    def __getattr__(self, name: str) -> Any:
        """Return all other attributes of ``inspect``."""
        return getattr(inspect, name)


def tree_of(function: Any) -> Any:
    """Return a syntax tree of a function, as MyHDL makes it; its caller may change it."""
    code = function.__code__
    source = source_of(code)
    flags = ast.PyCF_ONLY_AST | code.co_flags & _FUTURE
    tree: Any = compile(source.text, "<unknown>", "exec", flags=flags, dont_inherit=True)
    tree.sourcefile, tree.lineoffset = source.file, source.before
    return tree


@cache
def _resolves(text: str) -> bool:
    """Return whether a process has attributes that MyHDL resolves."""
    tree = ast.parse(text)
    found = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return not found <= internals.UNRESOLVED


class _Resolver:
    """MyHDL's search for attributes in a process, if there are any to be found."""

    def __init__(self, process: Any) -> None:
        self._process = process
        process.objlist = []

    def visit(self, tree: Any) -> Any:
        """Return the tree of the process with its attributes resolved."""
        if not _resolves(source_of(self._process.funcobj.__code__).text):
            return tree
        return internals.AttributeResolver(self._process).visit(tree)


def install() -> None:
    """Install the replacements in MyHDL, for all later elaborations."""
    internals.inspect_with(_Inspect())
    internals.parse_with(tree_of)
    internals.resolve_with(_Resolver)
