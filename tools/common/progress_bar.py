"""Show progress on standard error: a moving line on a terminal, else a line every ten seconds.

Work that takes two seconds prints its plan, then its progress, and at its end the time of each
activity. Quicker work prints nothing.
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
SHOWN = 0.05  # seconds: a shorter part would read 0.0


class ProgressBar(Progress):
    """Shows the progress of a verb."""

    def __init__(self, verb: str, plan: str = "") -> None:
        """Show the progress of ``verb``; ``plan`` describes the work."""
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
        """Start the thread that watches the work."""
        self._held.enter_context(compilation_told(self.spent))
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def say(self, text: str) -> None:
        """Show how far the work is."""
        self._text = text
        self._line.update(self._task, description=text)

    def announce(self, text: str) -> None:
        """Print immediately the description of long work."""
        self._plan = ""
        self._print(text)

    def _watch(self) -> None:
        """Print progress from a thread, because a compiler may run for long without output."""
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
        """Clear the bar; print the time of each activity, if the work succeeded."""
        self._done.set()
        self._thread.join()
        with suppress(OSError):  # the terminal may be closed, which does not affect the work
            self._line.stop()
        self._held.close()
        seconds = self.spent.seconds()
        if self._shown and error is None and len(seconds) > 1:
            parts = ", ".join(f"{what} {s:,.1f}" for what, s in seconds.items() if s >= SHOWN)
            self._print(f"{ordered_sum(seconds.values()):,.1f} s: {parts}")
