"""The decorator of every block that becomes a VHDL entity (and Verilog module) of its own.

In simulation ``@entity`` is MyHDL's ``@block``; an entity that declares a twin is simulated by it
where ``behavioural`` asks for that. While ``convert`` elaborates a design, an entity
inside another one stands there as a stub that only remembers its arguments, so that the cost of a
conversion follows the number of distinct entities and not of instances. A plain ``@block`` inside
an entity is flattened into it.
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

quick_elaboration.install()  # whoever has entities elaborates

Bit = Any
"""A port of a single bit, ``Signal(bool())``. MyHDL's signals carry no types."""

Word = Any
"""A port of raw bits, ``Signal(intbv()[n:])``; where a block takes either, so is a single bit."""

_stubs_wanted = ContextVar("stubs_wanted", default=False)  # of this thread
_twins_wanted = ContextVar("twins_wanted", default=False)


@contextmanager
def stubs() -> Iterator[None]:
    """Within this context a call of an entity returns a stub without contents."""
    before = _stubs_wanted.set(True)
    try:
        yield
    finally:
        _stubs_wanted.reset(before)


@contextmanager
def behavioural() -> Iterator[None]:
    """Within this context entities that have a twin are built as their twin.

    It is for simulation. A conversion within it still converts the hardware.
    """
    before = _twins_wanted.set(True)
    try:
        yield
    finally:
        _twins_wanted.reset(before)


class Stub(Block):  # type: ignore[misc]
    """An entity inside another one while that is converted: arguments, no contents."""

    def __init__(
        self, entity: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType
    ) -> None:
        """``frame``: of the caller, whose variables MyHDL wants to know.

        MyHDL's own constructor finds them too, but looks at the source of the whole stack for it.
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
        twin: the entity that behaves as this one and is quicker to simulate, or None.
    """

    def __init__(self, func: Callable[..., Any], twin: Entity | None = None) -> None:
        super().__init__(func)
        self.twin = twin

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Instantiate the block, its twin or its stub.

        MyHDL finds the enclosing block by its depth on the stack, so ``Block`` has to be called
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
        # MyHDL infers this from the stack, and misses it in functions that help a block.
        instance.modctxt = True
        instance.entity = built
        return instance


def is_entity(instance: Any) -> bool:
    """Whether a block instance, or the stub of one, is of a block marked as an entity."""
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
        twin: an entity with the same parameters that gives the same bits in the same cycles. It is
            built in its place in a ``behavioural`` context, and never converted.
    """
    if func is not None:
        return Entity(func)
    return lambda function: Entity(function, twin)
