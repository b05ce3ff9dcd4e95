"""The console for all output to people, on either stream."""

from __future__ import annotations

from typing import Any

from rich.console import Console


class Screen(Console):
    """A console that does not cut wide lines, and lets the caller handle a lost reader."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, as ``Console.print`` does."""
        super().print(*objects, **{"crop": False} | options)

    def on_broken_pipe(self) -> None:
        """Raise the current error. Since version 13.8 rich would end the process with status 1."""
        raise
