"""Status of a top with two halves: the cycles of one half are counted separately."""

from __future__ import annotations

from merp.hdl.base.status import Status
from merp.models.base.counters import COUNTERS


class HalvesStatus(Status):
    """Status of a top of two halves.

    ``words`` are the word counters, ``cycles`` the counters of the half that is counted separately.
    """

    def __init__(self, words: tuple[str, ...], cycles: tuple[str, ...]) -> None:
        super().__init__((*words, *cycles))

    def of_half(self, cycles: tuple[str, ...]) -> Status:
        """Return the counters called ``cycles`` under the names of a status, without its flags.

        Its flags are no ports.
        """
        half = Status()
        for name, each in zip(cycles, COUNTERS, strict=True):
            setattr(half, each.name, getattr(self, name))
        return half
