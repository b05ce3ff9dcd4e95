"""How far long work is, told to whoever wants to know; nobody, as it stands."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from merp.tools.common.time_spent import TimeSpent


class Progress:
    """What long work tells of itself, line by line, to ``tell``.

    Attributes:
        spent: where its time goes; a part of it is done ``with progress.spent.on("simulating")``.
    """

    def __init__(self, tell: Callable[[str], object] | None = None) -> None:
        self.spent = TimeSpent()
        self._tell = tell
        self._pass = self._whole = ""
        self._began = monotonic()
        self._expected = self._passed = 0
        self._first: tuple[float, int] | None = None

    def within(self, whole: str) -> None:
        """The passes that follow are those of ``whole``."""
        self._whole = f"{whole}: "

    def begin(self, name: str) -> None:
        """The pass ``name`` comes next."""
        self._pass = self._whole + name
        self.say(self._pass)

    def expect(self, cycles: int | None) -> None:
        """All passes together take so many cycles, as a model says; None if it does not know."""
        self._expected = cycles or 0

    def kept(self, cycles: int) -> None:
        """So many of the expected cycles need not run: their passes are finished."""
        self._expected = max(0, self._expected - cycles)

    def passed(self, cycles: int) -> None:
        """A pass has ended, after so many cycles."""
        self._passed += cycles

    def update(self, cycles: int, words: int) -> None:
        """So many ``cycles`` and ``words`` of the pass are done."""
        text = f"{self._pass}: {cycles:,} cycles, {words:,} words out"
        self.say(text + self._ahead(self._passed + cycles))

    def _ahead(self, cycles: int) -> str:
        """The share of all cycles, and the seconds that the others will take at this speed."""
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
        """``done`` of so many parts are done, ``before`` of them earlier."""
        if done > before:
            left = (monotonic() - self._began) / (done - before) * (of - done)
            text = f"{text}, about {left:,.0f} s left"
        self.say(text)

    def say(self, text: str) -> None:
        """Tell how far the work is."""
        if self._tell is not None:
            self._tell(text)
