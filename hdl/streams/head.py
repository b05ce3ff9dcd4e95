"""The read port of a FIFO."""

from __future__ import annotations

from merp.hdl.base.signals import bits, flag


class Head:
    """A word that waits for its reader."""

    def __init__(self, width: int) -> None:
        self.word = bits(width)
        self.valid = flag()  # a word waits
        self.take = flag()  # the reader takes the word in this cycle
