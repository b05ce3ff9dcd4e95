"""MyHDL's processes with the same meaning and fewer calls.

A process reads and assigns signals through methods, each a call and most of them three. What its
names stand for is known once its block is elaborated, so what the methods would do can stand in the
process itself: ``if word[3]: total.next = total + 1`` becomes

    if word._val._val >> 3 & 1:
        _value = total._val._val + 1
        if total._next._val != _value:
            total.next = _value

An expression is rewritten only where a plain integer does as well as the signal, slice or intbv
that MyHDL would have there: as a condition, in a comparison or sum, as an index, as what a signal
is assigned. All else stays as it is, and so does each process with a statement not known here.
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
    """What was asked of the names; the code is right where they are the same."""


_compiled: dict[CodeType, list[_Compiled]] = {}


def quick_process(process: Callable[[], None]) -> Callable[[], None]:
    """A function that does what ``process`` does, quicker where that is possible.

    It has the cells and globals of the process: both see the same names, whenever they change.
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
    """The code of the one function that ``code`` makes."""
    (found,) = (each for each in code.co_consts if isinstance(each, CodeType))
    return found
