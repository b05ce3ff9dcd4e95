"""The layout of a pass's run-time registers in the memory of a schedule.

In the RTL compiler's paper, section III.A, the global control holds the parameters of each layer's
passes. The layout is a choice of merp. A word has 32 bits. Registers are packed from bit 0 up in
the order of ``array_settings``. No register crosses a word boundary.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.pass_registers import array_settings

SCHEDULE_BITS: Final = 32
"""Bits of a word of the schedule."""

MAX_PASSES: Final = 64
"""Most passes of an image; the memory holds this number of passes."""

OF_IMAGE: Final = ("update_config_first", "update_config_last")
"""Registers of KU that mark the first and the last image of a batch.

All other registers are the same for every image. The hardware of the schedule sets these two from
its count of images. Therefore the words of a pass do not contain them.
"""


@dataclass(frozen=True)
class RegisterPlace:
    """Location of a register: ``width`` bits from bit ``low`` of word ``word`` of a pass."""

    word: int
    low: int
    width: int


@dataclass(frozen=True)
class ScheduleLayout:
    """The words of a pass.

    Attributes:
        places: location of each register, by the flattened name of its port.
        words: words per pass.
    """

    places: dict[str, RegisterPlace]
    words: int

    @property
    def depth(self) -> int:
        """Words of the schedule's memory."""
        return MAX_PASSES * self.words


@cache
def schedule_layout(design: ArrayDesign) -> ScheduleLayout:
    """Return the layout of a pass on ``design``."""
    places: dict[str, RegisterPlace] = {}
    word = low = 0
    for name, setting in array_settings(design).items():
        if name in OF_IMAGE:
            continue
        width = max(1, setting.most.bit_length())
        if low + width > SCHEDULE_BITS:
            word, low = word + 1, 0
        places[name] = RegisterPlace(word, low, width)
        low += width
    return ScheduleLayout(places, word + 1)
