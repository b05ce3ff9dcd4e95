"""Report the progress of long work to a callback; by default nobody receives it."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from merp.tools.common.time_spent import TimeSpent


class Progress:
    """Reports the progress of long work to ``tell``, line by line.

    Attributes:
        spent: time spent by activity; code runs ``with progress.spent.on("simulating")``.
    """

    def __init__(self, tell: Callable[[str], object] | None = None) -> None:
        self.spent = TimeSpent()
        self._tell = tell
        self._pass = self._whole = ""
        self._began = monotonic()
        self._expected = self._passed = 0
        self._first: tuple[float, int] | None = None

    def within(self, whole: str) -> None:
        """Name the work that the following passes belong to."""
        self._whole = f"{whole}: "

    def begin(self, name: str) -> None:
        """Start the pass ``name``."""
        self._pass = self._whole + name
        self.say(self._pass)

    def expect(self, cycles: int | None) -> None:
        """Set the modelled cycles of all passes together; None if they are unknown."""
        self._expected = cycles or 0

    def kept(self, cycles: int) -> None:
        """Subtract cycles of finished passes, which need not run, from the expected cycles."""
        self._expected = max(0, self._expected - cycles)

    def passed(self, cycles: int) -> None:
        """End a pass that took ``cycles`` cycles."""
        self._passed += cycles

    def update(self, cycles: int, words: int) -> None:
        """Report the ``cycles`` and ``words`` of the pass that are done."""
        text = f"{self._pass}: {cycles:,} cycles, {words:,} words out"
        self.say(text + self._ahead(self._passed + cycles))

    def _ahead(self, cycles: int) -> str:
        """Return the share of all cycles, and the remaining seconds at the current speed."""
        now = monotonic()
        since, before = self._first = self._first or (now, cycles)
        if not self._expected:
            return ""
        text = f", {min(1, cycles / self._expected):.0%} of all cycles"
        if cycles == before:
            return text
        left = (now - since) / (cycles - before) * max(0, self._expected - cycles)
        return f"{text}, about {left:,.0f} s left"

    def count(self, done: int, of: int, text: str, before: int = 0) -> None:
        """Report that ``done`` of ``of`` parts are done, ``before`` of them in an earlier run."""
        if done > before:
            left = (monotonic() - self._began) / (done - before) * (of - done)
            text = f"{text}, about {left:,.0f} s left"
        self.say(text)

    def say(self, text: str) -> None:
        """Send a line to the callback."""
        if self._tell is not None:
            self._tell(text)
