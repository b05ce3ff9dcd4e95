"""Record local variables of the block functions that run, to name signals and instances.

A function's frame keeps the final values of its variables as long as it is referenced. This module
gets the frame of a block function while the function runs, because MyHDL then searches the block
around each instance and each process. A hook at every call and return would take a third of a
conversion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType, FrameType
from typing import Any

from merp.hdl.conversion._comprehensions import bound_around
from merp.hdl.conversion.base.function_source import names_in
from merp.hdl.conversion.base.internals import Block

_CONSTRUCTOR = Block.__init__.__code__
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_met: ContextVar[dict[int, tuple[Any, FrameType]] | None] = ContextVar("met", default=None)
"""The blocks found so far, by ``id``, each with the frame of its function."""


@contextmanager
def noted_locals(scopes: dict[int, dict[str, Any]]) -> Iterator[None]:
    """Keep the local variables of block functions that run.

    ``scopes`` gets them by ``id`` of the block's instance.
    """
    met: dict[int, tuple[Any, FrameType]] = {}
    before = _met.set(met)
    try:
        yield
    finally:
        _met.reset(before)
    scopes |= {
        key: in_source_order(frame.f_code, frame.f_locals) for key, (_, frame) in met.items()
    }


def meet(frame: FrameType | None) -> None:
    """Remember the innermost block function among ``frame`` and its callers."""
    met = _met.get()
    if met is None:
        return
    while frame is not None and (caller := frame.f_back) is not None:
        if caller.f_code is _CONSTRUCTOR:
            block = caller.f_locals["self"]
            if frame.f_code is getattr(block.func, "__code__", None):
                met[id(block)] = block, frame
                return
        frame = caller


class Caller:
    """A function that calls a block or declares a process, with its variables so far.

    The variables of comprehensions do not belong to it. Since Python 3.12 most comprehensions have
    no frame of their own. Their variables are then in the frame of the function, and hide variables
    of the same name. Therefore a variable is omitted on every version if a comprehension around the
    call binds its name.

    Attributes:
        frame: frame of the function.
        f_code, f_globals: as in the frame.
    """

    def __init__(self, frame: FrameType) -> None:
        """Take ``frame``, of the function or of a comprehension in it."""
        while frame.f_code.co_name in _COMPREHENSIONS and frame.f_back is not None:
            frame = frame.f_back
        self.frame = frame
        self.f_code, self.f_globals = frame.f_code, frame.f_globals

    @property
    def f_locals(self) -> Mapping[str, Any]:
        """The local variables."""
        found = self.frame.f_locals
        hidden = bound_around(self.f_code, self.frame.f_lasti)
        return {name: found[name] for name in found if name not in hidden} if hidden else found


def in_source_order(code: CodeType, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return variables of a function in the order of its text; others come last, by name."""
    names = dict.fromkeys((*names_in(code), *sorted(variables)))
    return {name: variables[name] for name in names if name in variables}
