"""Where the memory of a schedule keeps the run-time registers of a pass.

The RTL compiler's paper, section III.A: the global control holds what each layer's passes differ
in. Chosen here: words of 32 bits, in which registers stand from bit 0 up in the order of
``array_settings``, none of them in two words.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.pass_registers import array_settings

SCHEDULE_BITS: Final = 32
"""Of a word of the schedule."""

MAX_PASSES: Final = 64
"""Passes of an image, at most: what the memory holds."""

OF_IMAGE: Final = ("update_config_first", "update_config_last")
"""Registers that tell KU whether its image is a batch's first, or last; all others are alike in
every image. A schedule sets them by its own count of images, and no word of a pass has them."""


@dataclass(frozen=True)
class RegisterPlace:
    """Where a register stands: ``width`` bits from ``low`` on, of word ``word`` of a pass."""

    word: int
    low: int
    width: int


@dataclass(frozen=True)
class ScheduleLayout:
    """The words of a pass.

    Attributes:
        places: of each register that they hold, by the flattened name of its port.
        words: of a pass.
    """

    places: dict[str, RegisterPlace]
    words: int

    @property
    def depth(self) -> int:
        """Words of the memory."""
        return MAX_PASSES * self.words


@cache
def schedule_layout(design: ArrayDesign) -> ScheduleLayout:
    """The words of a pass on ``design``."""
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
