"""A progress bar for work of more than two seconds; only on a terminal, and gone when done."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from types import TracebackType

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

PATIENCE = 2.0  # seconds


class ProgressBar:
    """Shows the pass that runs, its clock cycles and its words."""

    def __init__(self, passes: Sequence[str]) -> None:
        self._passes = passes
        self._pass = 0
        self._cycles = -1
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

    def update(self, cycles: int, words: int) -> None:
        """Show ``cycles`` and ``words`` of a pass; fewer cycles than before begin the next one."""
        if cycles < self._cycles:
            self._pass = min(self._pass + 1, len(self._passes) - 1)
        self._cycles = cycles
        if not self._shown and monotonic() - self._began > PATIENCE:
            self._progress.start()
            self._shown = True
        text = f"{self._passes[self._pass]}: {cycles:,} cycles, {words:,} words out"
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
