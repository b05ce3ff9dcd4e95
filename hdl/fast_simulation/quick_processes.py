"""MyHDL's processes with the same meaning and fewer calls.

A process reads and assigns signals through methods, each of which is a call; most of them make
three calls. After elaboration, the objects behind the names of a process are known. The bodies of
the methods can therefore be inlined: ``if word[3]: total.next = total + 1`` becomes

    if word._val._val >> 3 & 1:
        _value = total._val._val + 1
        if total._next._val != _value:
            total.next = _value

An expression is rewritten only if a plain integer can replace MyHDL's signal, slice or intbv. Such
places are conditions, comparisons, sums, indices and the values assigned to signals. All other
expressions stay as they are, and so does each process with an unsupported statement.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import NamedTuple

import myhdl

from merp.hdl.conversion.base.internals import VERSION
from merp.hdl.conversion.quick_elaboration import tree_of
from merp.hdl.fast_simulation._quick_names import Answers, FreeNames
from merp.hdl.fast_simulation._quick_rewrite import rewritten


class _Compiled(NamedTuple):
    code: CodeType | None
    answers: Answers
    """Answers about the names; the code is right for processes with the same answers."""


_compiled: dict[CodeType, list[_Compiled]] = {}


def quick_process(process: Callable[[], None]) -> Callable[[], None]:
    """Return a function that behaves like ``process`` and is faster if possible.

    It has the cells and globals of the process, so both see the same names after any change.
    """
    if myhdl.__version__ != VERSION or not isinstance(process, FunctionType):
        return process
    names = FreeNames(process)
    known = _compiled.setdefault(process.__code__, [])
    found = next((each for each in known if names.same(each.answers)), None)
    if found is None:
        found = _Compiled(_compile(process, names), names.answers)
        known.append(found)
    return process if found.code is None else names.bind(found.code)


def _compile(process: FunctionType, names: FreeNames) -> CodeType | None:
    tree = tree_of(process)
    ast.increment_lineno(tree, tree.lineoffset)
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef) or not rewritten(function, names):
        return None
    function.decorator_list, function.returns = [], None
    block = ast.parse(f"def block({', '.join(names.shared)}): pass")
    around = block.body[0]
    assert isinstance(around, ast.FunctionDef)
    around.body = [function]
    ast.fix_missing_locations(block)
    module = compile(block, process.__code__.co_filename, "exec", dont_inherit=True)
    return _within(_within(module))


def _within(code: CodeType) -> CodeType:
    """Return the code of the only function that ``code`` defines."""
    (found,) = (each for each in code.co_consts if isinstance(each, CodeType))
    return found
