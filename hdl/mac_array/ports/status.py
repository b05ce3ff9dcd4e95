"""What a top of the MAC array tells of a pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merp.hdl.base.signals import bits, flag
from merp.hdl.base.status import STATUS_WIDTH
from merp.models.base.register_map import FLAGS
from merp.models.machines.mac_array.params.array_counters import (
    PORT_WORDS,
    TARGET_WORDS,
    VELOCITY_WORDS,
    counters_of,
)
from merp.models.machines.mac_array.params.design import ArrayDesign


class ArrayStatus:
    """What the array tells: progress, and the counters that the report is audited against.

    busy           out  a pass is under way
    done           out  the last output word has left; until the next start
    framing_error  out  an input's last came early or late; until the next start
    """

    def __init__(self, design: ArrayDesign) -> None:
        ports = (*PORT_WORDS, *(VELOCITY_WORDS if design.momentum else ()))
        ports += TARGET_WORDS if design.loss else ()
        names = (*(each.name for each in counters_of(design)), *ports)
        vars(self).update({name: flag() for name in FLAGS})
        vars(self).update({name: bits(STATUS_WIDTH) for name in names})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The signal of a flag or a counter."""
