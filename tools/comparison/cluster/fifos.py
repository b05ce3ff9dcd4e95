"""Sizes of FIFOs on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from merp.models.base.errors import BadInput, shown
from merp.models.rows.layout import FIFOS, Place

MOST_ROWS = 1 << 20
SENT = ("maps", "sums", "deltas")


def read_fifos(texts: Sequence[str]) -> dict[str, int]:
    """Return the rows by kind of FIFO, from texts ``KIND=ROWS``.

    Raises:
        BadInput: an unknown kind, a repeated kind, or no number of rows.
    """
    sizes: dict[str, int] = {}
    for text in texts:
        kind, _, rows = text.partition("=")
        if kind not in FIFOS:
            near = "".join(f"; did you mean {n}?" for n in get_close_matches(kind, FIFOS, 1))
            raise BadInput(f"--fifo {shown(kind)}: allowed are {', '.join(FIFOS)}{near}")
        if kind in sizes:
            raise BadInput(f"--fifo {text}: {kind} is given twice: allowed is once")
        if not (rows.isascii() and rows.isdigit() and 1 <= int(rows[:8]) <= MOST_ROWS >= len(rows)):
            raise BadInput(f"--fifo {shown(text)}: must be KIND=ROWS, ROWS from 1 to {MOST_ROWS}")
        sizes[kind] = int(rows)
    return sizes


def sizes_of(given: dict[str, int], slices: int) -> dict[Place, int]:
    """Return the size of every FIFO of the given kinds, on a chain of ``slices`` slices."""
    return {
        (name, place): rows
        for kind, rows in given.items()
        for name in ([f"send {each}" for each in SENT] if kind == "send" else [kind])
        for place in range(slices)
    }
