"""Words of a schedule: the register values of its passes, as its memory holds them.

source: the RTL compiler's paper, section III.A
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.schedule_layout import (
    MAX_PASSES,
    OF_IMAGE,
    schedule_layout,
)

ScheduleWords = NDArray[np.uint32]


def schedule_words(passes: Sequence[Mapping[str, int]], design: ArrayDesign) -> ScheduleWords:
    """Pack the register values of the passes of an image into words.

    The registers of ``OF_IMAGE`` are left out.

    Raises:
        ValueError: there are too many passes, a register is missing, or a value is out of range.
            The message names the pass, the register and the allowed values.
    """
    if not 1 <= len(passes) <= MAX_PASSES:
        raise ValueError(f"a schedule has 1 to {MAX_PASSES} passes, not {len(passes)}")
    layout = schedule_layout(design)
    found = np.zeros((len(passes), layout.words), np.uint32)
    for number, values in enumerate(passes):
        _check_names(number, values, {*layout.places, *OF_IMAGE})
        for name, place in layout.places.items():
            if not 0 <= values[name] < 1 << place.width:
                most = (1 << place.width) - 1
                raise ValueError(f"pass {number}: {name} must be 0 to {most}, not {values[name]}")
            found[number, place.word] |= np.uint32(values[name] << place.low)
    return found.reshape(-1)


def schedule_passes(words: ScheduleWords, design: ArrayDesign) -> list[dict[str, int]]:
    """Unpack words into the register values of each pass.

    Raises:
        ValueError: the words are not a whole number of passes, or there are too many passes.
    """
    layout = schedule_layout(design)
    passes, rest = divmod(len(words), layout.words)
    if rest or not 1 <= passes <= MAX_PASSES:
        raise ValueError(
            f"{len(words)} words: a schedule has 1 to {MAX_PASSES} passes of {layout.words} words"
        )
    return [
        {
            name: int(of_pass[place.word]) >> place.low & (1 << place.width) - 1
            for name, place in layout.places.items()
        }
        for of_pass in words.reshape(passes, layout.words)
    ]


def _check_names(number: int, values: Mapping[str, int], known: set[str]) -> None:
    wrong = sorted(known ^ set(values))
    if wrong:
        raise ValueError(f"pass {number}: registers missing or unknown: {', '.join(wrong)}")
