"""Mark blocks that become separate VHDL entities (and Verilog modules) by a decorator.

In simulation ``@entity`` is MyHDL's ``@block``. If an entity declares a behavioural model, the
context ``behavioural`` simulates the model instead. While ``convert`` elaborates a design, each
entity inside another one is replaced by a stub that only stores its arguments. Therefore the cost
of a conversion depends on the number of distinct entities, not of instances. A plain ``@block``
inside an entity is flattened into it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, overload

from merp.hdl.conversion import quick_elaboration
from merp.hdl.conversion._locals import Caller, meet
from merp.hdl.conversion.base.internals import Block, BlockDecorator, CallInfo, unique_block_name

quick_elaboration.install()  # users of entities elaborate

Bit = Any
"""A port of a single bit, ``Signal(bool())``. MyHDL's signals carry no types."""

Word = Any
"""A port of raw bits, ``Signal(intbv()[n:])``; where a block takes either, so is a single bit."""

_stubs_wanted = ContextVar("stubs_wanted", default=False)  # of this thread
_twins_wanted = ContextVar("twins_wanted", default=False)


@contextmanager
def stubs() -> Iterator[None]:
    """Return stubs without contents for calls of entities in this context."""
    before = _stubs_wanted.set(True)
    try:
        yield
    finally:
        _stubs_wanted.reset(before)


@contextmanager
def behavioural() -> Iterator[None]:
    """Build the behavioural models of entities in this context, if they have any.

    It is for simulation. A conversion within it still converts the hardware.
    """
    before = _twins_wanted.set(True)
    try:
        yield
    finally:
        _twins_wanted.reset(before)


class Stub(Block):  # type: ignore[misc]
    """An entity inside another one during its conversion: arguments, no contents."""

    def __init__(
        self, entity: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType
    ) -> None:
        """Store the call; ``frame`` is the caller's, whose variables MyHDL needs.

        MyHDL's own constructor finds them too, but reads the source of the whole stack for it.
        """
        meet(frame)
        caller = Caller(frame)
        name = caller.f_code.co_name
        symbols = {**caller.f_globals, **caller.f_locals}
        self.entity, self.func, self.args, self.kwargs = entity, entity.func, args, kwargs
        self.callinfo = CallInfo(name, True, symbols)
        self.callername, self.modctxt = name, True
        self.place = caller.f_code.co_filename, caller.frame.f_lineno
        self.name = self.__name__ = entity.func.__name__
        self.subs: list[Any] = []
        self.symdict: dict[str, Any] = {}
        self.sigdict: dict[str, Any] = {}
        self.memdict: dict[str, Any] = {}


class Entity(BlockDecorator):  # type: ignore[misc]
    """A block function marked as an entity.

    Attributes:
        twin: an entity with the same behaviour that simulates faster, or None.
    """

    def __init__(self, func: Callable[..., Any], twin: Entity | None = None) -> None:
        super().__init__(func)
        self.twin = twin

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Instantiate the block, its behavioural model or its stub.

        MyHDL finds the enclosing block by its depth on the stack. Therefore ``Block`` must be
        called
        from here and not from a helper.
        """
        if _stubs_wanted.get():
            return Stub(self, args, kwargs, sys._getframe(1))
        built = self.twin if self.twin is not None and _twins_wanted.get() else self
        name = unique_block_name(f"{built.func.__name__}{built.calls}")
        built.calls += 1
        instance = Block(
            built.func, built, name, built.srcfile, built.srcline, built.skipname, *args, **kwargs
        )
        # MyHDL infers this from the stack, and fails in helper functions of a block.
        instance.modctxt = True
        instance.entity = built
        return instance


def is_entity(instance: Any) -> bool:
    """Return whether a block instance or a stub belongs to a block marked as an entity."""
    return isinstance(getattr(instance, "entity", None), Entity)


@overload
def entity(func: Callable[..., Any]) -> Entity: ...


@overload
def entity(*, twin: Entity) -> Callable[[Callable[..., Any]], Entity]: ...


def entity(
    func: Callable[..., Any] | None = None, *, twin: Entity | None = None
) -> Entity | Callable[[Callable[..., Any]], Entity]:
    """Mark a block function as an entity.

    Its ports are signals or bundles of signals. Its parameters are int, bool, str, None,
    enumerations, functions and blocks, and lists, dicts and objects of these.

    Args:
        func: the block function.
        twin: the behavioural model, an entity with the same parameters that gives the same bits in
            the same cycles. A ``behavioural`` context builds it instead. It is never converted.
    """
    if func is not None:
        return Entity(func)
    return lambda function: Entity(function, twin)
