"""The one kind of console that prints to people, on either stream."""

from __future__ import annotations

from typing import Any

from rich.console import Console


class Screen(Console):
    """A console that does not cut what is wider than it is, and leaves a lost reader to others."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, as ``Console.print`` does."""
        super().print(*objects, **{"crop": False} | options)

    def on_broken_pipe(self) -> None:
        """Raise the error that has just come; since 13.8 rich would end the process with 1."""
        raise
