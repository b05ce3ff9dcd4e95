"""What every top tells of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merp.hdl.base.signals import bits, flag
from merp.models.base.counters import COUNTERS
from merp.models.base.register_map import FLAGS

STATUS_WIDTH = 40


class Status:
    """What a top tells: progress, and the counters that the report is audited against.

    ``words`` are the ports whose words are counted, too. Counters restart with ``start``.

    busy           out  a run is under way
    done           out  the last output word has left; until the next start
    framing_error  out  an input's last came early or late; until the next start
    """

    def __init__(self, words: tuple[str, ...] = ()) -> None:
        names = (*(each.name for each in COUNTERS), *words)
        vars(self).update({name: flag() for name in FLAGS})
        vars(self).update({name: bits(STATUS_WIDTH) for name in names})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The signal of a flag or a counter."""
