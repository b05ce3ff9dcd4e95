"""The head of a FIFO, as its reader sees it."""

from __future__ import annotations

from merp.hdl.base.signals import bits, flag


class Head:
    """A word that waits, and that its reader takes."""

    def __init__(self, width: int) -> None:
        self.word = bits(width)
        self.valid = flag()  # a word waits
        self.take = flag()  # it is taken in this cycle
