"""Local variables of the block functions that run: they name signals and instances.

A function's frame keeps its variables, as they were in the end, for as long as somebody holds it.
A block function is met while it runs, as MyHDL looks for the block around each instance and each
process. To be called at every call and return instead would take a third of a conversion.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

from merp.hdl.conversion._function_source import names_in
from merp.hdl.conversion.internals import Block

_CONSTRUCTOR = Block.__init__.__code__
_met: ContextVar[dict[int, tuple[Any, FrameType]] | None] = ContextVar("met", default=None)
"""The blocks that were met, by ``id``, each with the frame of its function."""


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
    scopes |= {key: _in_source_order(frame) for key, (_, frame) in met.items()}


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


def _in_source_order(frame: FrameType) -> dict[str, Any]:
    """Local variables in the order of the function's text; functions inside come last, by name."""
    found = frame.f_locals
    names = dict.fromkeys((*names_in(frame.f_code), *sorted(found)))
    return {name: found[name] for name in names if name in found}
