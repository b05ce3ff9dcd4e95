"""A progress bar for work of more than two seconds; only on a terminal, and gone when done."""

from __future__ import annotations

from time import monotonic
from types import TracebackType

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

PATIENCE = 2.0  # seconds


class ProgressBar:
    """Shows how far the work is: of a pass, its clock cycles and its words."""

    def __init__(self) -> None:
        self._pass = ""
        self._began = monotonic()
        console = Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("building")
        self._shown = False

    def __enter__(self) -> ProgressBar:
        """Start to wait."""
        return self

    def begin(self, name: str) -> None:
        """The pass ``name`` comes next."""
        self._pass = name

    def update(self, cycles: int, words: int) -> None:
        """Show ``cycles`` and ``words`` of the pass."""
        self.say(f"{self._pass}: {cycles:,} cycles, {words:,} words out")

    def say(self, text: str) -> None:
        """Show how far the work is."""
        if not self._shown and monotonic() - self._began > PATIENCE:
            self._progress.start()
            self._shown = True
        self._progress.update(self._task, description=text)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Clear the bar."""
        if self._shown:
            self._progress.stop()
