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

    def within(self, whole: str) -> None:
        """The passes that follow are those of ``whole``."""
        self._whole = f"{whole}: "

    def begin(self, name: str) -> None:
        """The pass ``name`` comes next."""
        self._pass = self._whole + name
        self.say(self._pass)

    def update(self, cycles: int, words: int) -> None:
        """So many ``cycles`` and ``words`` of the pass are done."""
        self.say(f"{self._pass}: {cycles:,} cycles, {words:,} words out")

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
