"""How far long work is, on standard error: a moving line on a terminal, else one each ten seconds.

Work that takes two seconds says what is before it, then how far it is, and in the end where its
time went. What is quicker says nothing.
"""

from __future__ import annotations

from contextlib import ExitStack
from threading import Event, Thread
from time import monotonic
from types import TracebackType

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from merp.tools.common.complaint import complain
from merp.tools.common.time_spent import TimeSpent, compilation_told

PATIENCE = 2.0  # seconds
PERIOD = 10.0  # seconds


class ProgressBar:
    """Shows how far the work of a verb is.

    Attributes:
        spent: where its time goes; a part of the work is done ``with bar.spent.on("simulating")``.
    """

    def __init__(self, verb: str, plan: str = "") -> None:
        """Of ``verb``; ``plan`` says what there is to do."""
        self.spent = TimeSpent()
        self._verb, self._plan = verb, plan
        self._pass = ""
        self._text = ""
        self._began = monotonic()
        self._shown = False
        self._done = Event()
        self._console = Console(stderr=True, markup=False, highlight=False)
        self._progress = Progress(
            SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn(),
            console=self._console, transient=True, disable=not self._console.is_terminal,
        )  # fmt: skip
        self._task = self._progress.add_task("", start=True)
        self._held = ExitStack()

    def __enter__(self) -> ProgressBar:
        """Start to wait."""
        self._held.enter_context(compilation_told(self.spent))
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def begin(self, name: str) -> None:
        """The pass ``name`` comes next."""
        self._pass = name
        self.say(name)

    def update(self, cycles: int, words: int) -> None:
        """Show ``cycles`` and ``words`` of the pass."""
        self.say(f"{self._pass}: {cycles:,} cycles, {words:,} words out")

    def count(self, done: int, of: int, text: str, before: int = 0) -> None:
        """Show that ``done`` of so many parts are done, ``before`` of them earlier."""
        self.say(text)
        if done > before:
            left = (monotonic() - self._began) / (done - before) * (of - done)
            self.say(f"{text}, about {left:,.0f} s left")

    def say(self, text: str) -> None:
        """Show how far the work is."""
        self._text = text
        self._progress.update(self._task, description=text)

    def _watch(self) -> None:
        """Wait beside the work, which may be a compiler that says nothing."""
        if self._done.wait(PATIENCE):
            return
        self._shown = True
        if self._plan:
            self._print(self._plan)
        if self._console.is_terminal:
            self._progress.start()
            return
        passed = PATIENCE
        while not self._done.wait(PERIOD):
            passed += PERIOD
            self._print(f"{self._text or 'at work'} ({passed:,.0f} s)")

    def _print(self, text: str) -> None:
        complain(text, f"merp {self._verb}")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Clear the bar; say where the time went, if all went well."""
        self._done.set()
        self._thread.join()
        self._progress.stop()
        self._held.close()
        seconds = self.spent.seconds()
        if self._shown and error is None and len(seconds) > 1:
            parts = ", ".join(f"{what} {s:,.1f}" for what, s in seconds.items() if s >= 0.05)
            self._print(f"{sum(seconds.values()):,.1f} s: {parts}")
