"""How far long work is, on standard error: a moving line on a terminal, else one each ten seconds.

Work that takes two seconds says what is before it, then how far it is, and in the end where its
time went. What is quicker says nothing.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from threading import Event, Thread
from types import TracebackType

from rich.progress import Progress as Line
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from merp.models.base.ordered_sum import ordered_sum
from merp.tools.common.complaint import complain
from merp.tools.common.progress import Progress
from merp.tools.common.screen import Screen
from merp.tools.common.time_spent import compilation_told

PATIENCE = 2.0  # seconds
PERIOD = 10.0  # seconds
SHOWN = 0.05  # seconds: a part that took less would read 0.0


class ProgressBar(Progress):
    """Shows how far the work of a verb is."""

    def __init__(self, verb: str, plan: str = "") -> None:
        """Of ``verb``; ``plan`` says what there is to do."""
        super().__init__()
        self._verb, self._plan = verb, plan
        self._text = ""
        self._shown = False
        self._done = Event()
        self._console = Screen(stderr=True, markup=False, highlight=False)
        self._line = Line(
            SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn(),
            console=self._console, transient=True, disable=not self._console.is_terminal,
        )  # fmt: skip
        self._task = self._line.add_task("", start=True)
        self._held = ExitStack()

    def __enter__(self) -> ProgressBar:
        """Start to wait."""
        self._held.enter_context(compilation_told(self.spent))
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def say(self, text: str) -> None:
        """Show how far the work is."""
        self._text = text
        self._line.update(self._task, description=text)

    def announce(self, text: str) -> None:
        """Print at once what long work is about to do."""
        self._plan = ""
        self._print(text)

    def _watch(self) -> None:
        """Wait beside the work, which may be a compiler that says nothing."""
        if self._done.wait(PATIENCE):
            return
        self._shown = True
        if self._plan:
            self._print(self._plan)
        if self._console.is_terminal:
            with suppress(OSError):
                self._line.start()
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
        with suppress(OSError):  # the terminal may be gone, and the work is not the worse for it
            self._line.stop()
        self._held.close()
        seconds = self.spent.seconds()
        if self._shown and error is None and len(seconds) > 1:
            parts = ", ".join(f"{what} {s:,.1f}" for what, s in seconds.items() if s >= SHOWN)
            self._print(f"{ordered_sum(seconds.values()):,.1f} s: {parts}")
