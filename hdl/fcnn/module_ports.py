"""Ports that the modules have in common: status, and streams of one or several elements a beat."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from merp.hdl.base.interface import Member
from merp.hdl.base.signals import AxiStream, bits, flag
from merp.hdl.base.status import STATUS_WIDTH
from merp.models.base.counters import Counter


class ModuleStatus:
    """Flags and counters of a run; the counters restart with start.

    busy           a run is in progress
    done           the run has ended, and all words are counted; high until the next start
    framing_error  the last of an input was early or late; high until the next start
    """

    def __init__(self, counters: Iterable[Counter], words: Iterable[str]) -> None:
        self.busy, self.done, self.framing_error = flag(), flag(), flag()
        names = (*(each.name for each in counters), *words)
        vars(self).update({name: bits(STATUS_WIDTH) for name in names})


def status_of(counters: Iterable[Counter], words: Iterable[str]) -> Member[Any]:
    """Return the status of a module with these cycle counters and word counters."""
    return Member("status", lambda design: ModuleStatus(counters, words), kind=ModuleStatus)


def stream_of_words(name: str, words: str, lanes: Callable[[Any], int]) -> Member[Any]:
    """Return a stream.

    Args:
        name: of the stream.
        words: its word counter.
        lanes: maps a design to the elements of a beat.
    """
    return Member(
        name, lambda design: AxiStream(design.fmt.width, lanes(design)), words=words,
        kind=AxiStream,
    )  # fmt: skip
