"""Status of a pass, as a top of the MAC array reports it."""

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
    """Status of the array: progress, and the counters against which the report is audited.

    busy           out  a pass is in progress
    done           out  the last output word was transferred; until the next start
    framing_error  out  the last of an input was early or late; until the next start
    """

    def __init__(self, design: ArrayDesign) -> None:
        ports = (*PORT_WORDS, *(VELOCITY_WORDS if design.momentum else ()))
        ports += TARGET_WORDS if design.loss else ()
        names = (*(each.name for each in counters_of(design)), *ports)
        vars(self).update({name: flag() for name in FLAGS})
        vars(self).update({name: bits(STATUS_WIDTH) for name in names})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return the signal of a flag or a counter."""
