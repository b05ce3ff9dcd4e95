"""Functions that numba compiles as soon as compiling pays off; until then Python runs them.

Importing numba and compiling a function take seconds, and a small network needs neither. Both
variants run the same source. The tests compare their results bit by bit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, update_wrapper
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

PATIENCE = 50_000
"""Iterations of innermost loops that Python runs of a function before numba compiles it."""

PATIENCE_KEPT = 5_000
"""The same limit if numba is loaded and its cache has the function: it then loads in 50 ms."""

prange = range
"""A loop of independent iterations; threads share them if the function is compiled in parallel."""

_waiting: list[Callable[[], None]] = []


class Compiled(Generic[P, R]):
    """A function of the package in Python and compiled.

    Attributes:
        python: the function as it is written; it calls the Python variants of other such functions.
        machine: the same function; numba compiles it for the types of each call.
    """

    def __init__(
        self, function: Callable[P, R], turns: Callable[..., int] | None, options: dict[str, Any]
    ) -> None:
        update_wrapper(self, function)
        self._function: Any = function
        self._turns = turns
        self._options = options
        self._left = PATIENCE

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the Python variant while that is fast, then the compiled variant."""
        if self._turns is None or self._left < 0:
            return self.machine(*args, **kwargs)
        self._left -= self._turns(*args, **kwargs)
        if self._left < PATIENCE - PATIENCE_KEPT and "numba" in sys.modules and self._is_kept:
            self._left = -1
        if self._left < 0:
            return self.machine(*args, **kwargs)
        import numpy as np  # every caller has imported it

        with np.errstate(all="ignore"):  # compiled code does not warn either
            result: R = _plain(self.python(*args, **kwargs))
        return result

    @cached_property
    def python(self) -> Callable[P, R]:
        """The function in Python."""
        return self._with(prange, lambda other: other.python)

    @cached_property
    def machine(self) -> Callable[P, R]:
        """The compiled function."""
        numba = _numba()
        from merp.models.base.numba_cache import KEPT  # imports numba

        function = self._with(numba.prange, lambda other: other.machine)
        compiled: Callable[P, R] = numba.njit(cache=KEPT, **self._options)(function)
        return compiled

    @cached_property
    def _is_kept(self) -> bool:  # looked up once, to speed up calls with few iterations
        from merp.models.base.numba_cache import is_kept

        return is_kept(self.machine)

    def _with(self, loop: Any, way: Callable[[Compiled[..., Any]], Any]) -> Any:
        """Copy the function, with one variant of each function that it calls bound to its name."""
        written = self._function
        names = dict(written.__globals__)
        for name in written.__code__.co_names:
            if isinstance(names.get(name), Compiled):
                names[name] = way(names[name])
            elif names.get(name) is prange and name == "prange":
                names[name] = loop
        copy = FunctionType(
            written.__code__, names, written.__name__, written.__defaults__, written.__closure__
        )
        copy.__kwdefaults__ = written.__kwdefaults__
        copy.__module__, copy.__qualname__ = written.__module__, written.__qualname__
        return copy


def compiled(
    turns: Callable[..., int] | None = None, **options: Any
) -> Callable[[Callable[P, R]], Compiled[P, R]]:
    """Mark a function that numba compiles.

    Args:
        turns: computes the iterations of the innermost loops from the arguments of a call. Without
            it, Python never runs the function itself.
        options: of ``numba.njit``; ``cache`` is set here.
    """

    def mark(function: Callable[P, R]) -> Compiled[P, R]:
        return Compiled(function, turns, options)

    return mark


@contextmanager
def when_numba_is_loaded(act: Callable[[], None]) -> Iterator[None]:
    """Inside the context, call ``act`` as soon as numba is loaded, or immediately if it is
    loaded.
    """
    if "numba" in sys.modules:
        act()
        yield
        return
    _waiting.append(act)
    try:
        yield
    finally:
        if act in _waiting:
            _waiting.remove(act)


def _plain(result: Any) -> Any:
    """Convert a result of Python to the types that numba returns, without NumPy scalars."""
    import numpy as np

    if type(result) is tuple:
        return tuple(map(_plain, result))
    return result.item() if isinstance(result, np.generic) else result


def _numba() -> Any:
    import numba  # takes a third of a second

    while _waiting:
        _waiting.pop()()
    return numba
