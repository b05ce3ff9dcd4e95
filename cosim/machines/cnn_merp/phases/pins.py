"""Words on the pins, in the format in which their tensor is stored in memory.

Models and hosts always use words of the arithmetic's format.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from merp.models.arithmetic.stored import from_memory, to_memory, widened
from merp.models.base.bits import Bits
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.word_counters import stored_format


def stored_words(words: Bits, phase: str, port: str, design: EngineDesign, stream: str) -> Bits:
    """Convert words of the arithmetic's format, in any shape, to the words on a port.

    Raises:
        ValueError: a word is not a number of the stored format; the message names the stream.
    """
    stored = stored_format(phase, port, design)
    if stored is None or stored == design.fmt:
        return words
    found = to_memory(words, design.fmt, stored)
    wrong = np.flatnonzero(from_memory(found, stored, design.fmt) != words)
    if wrong.size:
        first = int(words.reshape(-1)[wrong[0]])
        raise ValueError(f"{stream}: word {first:#x} is not a number of {stored}")
    return found


def widened_words(words: Bits, phase: str, port: str, design: EngineDesign) -> Bits:
    """Convert words of a port, in any shape, to the arithmetic's format."""
    return widened(words, stored_format(phase, port, design), design.fmt)


def as_stored(words: Bits, phase: str, port: str, design: EngineDesign) -> Bits:
    """Round results in the arithmetic's format, in any shape, like the hardware's output."""
    stored = stored_format(phase, port, design)
    if stored is None or stored == design.fmt:
        return words
    return from_memory(to_memory(words, design.fmt, stored), stored, design.fmt)


def inputs_on_pins(
    words: Mapping[str, Bits], phase: str, streams: Mapping[str, str], design: EngineDesign
) -> dict[str, Bits]:
    """Return the words of a run on the pins, by stream; ``streams`` are by port.

    Raises:
        ValueError: a word is not a number of its stream's format.
    """
    ports = {stream: port for port, stream in streams.items()}
    return {
        stream: stored_words(each, phase, ports[stream], design, stream)
        for stream, each in words.items()
    }
