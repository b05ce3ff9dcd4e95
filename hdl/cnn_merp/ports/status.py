"""What a top of two halves tells of a run: the cycles of one of them are counted apart."""

from __future__ import annotations

from merp.hdl.base.status import Status
from merp.models.base.counters import COUNTERS


class HalvesStatus(Status):
    """Status of a top of two halves.

    ``words`` are the counters of words, ``cycles`` those of the half that is counted apart.
    """

    def __init__(self, words: tuple[str, ...], cycles: tuple[str, ...]) -> None:
        super().__init__((*words, *cycles))

    def of_half(self, cycles: tuple[str, ...]) -> Status:
        """The counters called ``cycles`` under the names of a status; its flags are no ports."""
        half = Status()
        for name, each in zip(cycles, COUNTERS, strict=True):
            setattr(half, each.name, getattr(self, name))
        return half
