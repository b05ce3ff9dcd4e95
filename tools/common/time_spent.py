"""Measure the time of a command by activity. Each second counts for the innermost activity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic

from merp.models.base.compiled_code import when_numba_is_loaded

COMPILING = "compiling by numba"
OTHER = "other"


class TimeSpent:
    """Seconds by activity."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._seconds: dict[str, float] = {}
        self._clock = clock
        self._inside = [OTHER]
        self._since = clock()

    def begin(self, what: str) -> None:
        """Start to count time for ``what``."""
        self._book()
        self._inside.append(what)

    def end(self) -> None:
        """Count time again for the activity before the last ``begin``."""
        self._book()
        self._inside.pop()

    def turn(self, what: str) -> None:
        """Count time for ``what`` in place of the activity that began last."""
        self._book()
        self._inside[-1] = what

    @contextmanager
    def on(self, what: str) -> Iterator[None]:
        """Count the time inside for ``what``."""
        self.begin(what)
        try:
            yield
        finally:
            self.end()

    def recount(self, source: str, target: str, seconds: float) -> None:
        """Move ``seconds`` of ``source``, or all that it has, to ``target``."""
        self._book()
        moved = min(seconds, self._seconds.get(source, 0.0))
        self._seconds[source] = self._seconds.get(source, 0.0) - moved
        self._seconds[target] = self._seconds.get(target, 0.0) + moved

    def seconds(self) -> dict[str, float]:
        """Return the seconds so far, the largest first."""
        self._book()
        return dict(sorted(self._seconds.items(), key=lambda each: -each[1]))

    def _book(self) -> None:
        now, what = self._clock(), self._inside[-1]
        self._seconds[what] = self._seconds.get(what, 0.0) + now - self._since
        self._since = now


@contextmanager
def compilation_told(spent: TimeSpent) -> Iterator[None]:
    """Inside, count the compilation of numba as an activity of its own, for every caller."""
    with ExitStack() as stack:

        def listen() -> None:
            from numba.core import event

            class Listener(event.Listener):
                """Receives the start and end of each compilation, also of nested ones."""

                def on_start(self, event: object) -> None:
                    spent.begin(COMPILING)

                def on_end(self, event: object) -> None:
                    spent.end()

            stack.enter_context(event.install_listener("numba:compile", Listener()))

        with when_numba_is_loaded(listen):
            yield
