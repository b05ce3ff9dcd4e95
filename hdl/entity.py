"""The decorator of every block that becomes a VHDL entity (and Verilog module) of its own.

In simulation ``@entity`` is MyHDL's ``@block``. While ``merp.hdl.convert`` elaborates a design, an
entity inside another one stands there as a stub that only remembers its arguments, so that the
cost of a conversion follows the number of distinct entities and not of instances. A plain
``@block`` inside an entity is flattened into it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from myhdl._block import _Block, _uniqueify_name, block_decorator

_stubs_wanted = False


@contextmanager
def stubs() -> Iterator[None]:
    """Within this context a call of an entity returns a stub without contents."""
    global _stubs_wanted
    before, _stubs_wanted = _stubs_wanted, True
    try:
        yield
    finally:
        _stubs_wanted = before


def _empty(*_args: Any, **_kwargs: Any) -> tuple[()]:
    return ()


class entity(block_decorator):  # type: ignore[misc]
    """Mark a block function as an entity.

    Its ports are signals or bundles of signals, its parameters int, bool, str, None, tuples of
    these, enum members or frozen dataclasses.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Instantiate the block, or its stub.

        MyHDL finds the enclosing block by its depth on the stack, so ``_Block`` has to be called
        from here and not from a helper.
        """
        name = _uniqueify_name(f"{self.func.__name__}{self.calls}")
        self.calls += 1
        body = _empty if _stubs_wanted else self.func
        instance = _Block(
            body, self, name, self.srcfile, self.srcline, self.skipname, *args, **kwargs
        )
        # MyHDL infers this from the stack, and misses it in nested comprehensions.
        instance.modctxt = True
        instance.entity = self
        return instance
