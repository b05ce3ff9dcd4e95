"""The status outputs of every top."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from merp.hdl.base.signals import bits, flag
from merp.models.base.counters import COUNTERS, Counter
from merp.models.base.register_map import FLAGS

STATUS_WIDTH = 40


class Status:
    """Status of a top: progress flags, and the counters against which the report is audited.

    ``words`` lists the word counters, ``counters`` those of cycles. All of them restart with
    ``start``.

    busy           out  a run is in progress
    done           out  the last output word was transferred; high until the next start
    framing_error  out  the last of an input was early or late; high until the next start
    """

    def __init__(self, words: Iterable[str] = (), counters: Iterable[Counter] = COUNTERS) -> None:
        names = (*(each.name for each in counters), *words)
        vars(self).update({name: flag() for name in FLAGS})
        vars(self).update({name: bits(STATUS_WIDTH) for name in names})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return the signal of a flag or a counter."""
