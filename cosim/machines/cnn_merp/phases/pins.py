"""Words as they pass the pins: in the format in which their tensor lies in memory.

Models and hosts handle words of the arithmetic's format throughout.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from merp.models.arithmetic.stored import from_memory, to_memory, widened
from merp.models.base.bits import Bits
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.word_counters import stored_format


def stored_words(words: Bits, phase: str, port: str, design: EngineDesign, stream: str) -> Bits:
    """Words of the arithmetic's format, any shape, as they pass a port.

    Raises:
        ValueError: one of them is no number of the stored format; the message names the stream.
    """
    stored = stored_format(phase, port, design)
    if stored is None or stored == design.fmt:
        return words
    found = to_memory(words, design.fmt, stored)
    wrong = np.flatnonzero(from_memory(found, stored, design.fmt) != words)
    if wrong.size:
        first = int(words.reshape(-1)[wrong[0]])
        raise ValueError(f"{stream}: word {first:#x} is no number of {stored}")
    return found


def widened_words(words: Bits, phase: str, port: str, design: EngineDesign) -> Bits:
    """Words that passed a port, any shape, in the arithmetic's format."""
    return widened(words, stored_format(phase, port, design), design.fmt)


def as_stored(words: Bits, phase: str, port: str, design: EngineDesign) -> Bits:
    """Results in the arithmetic's format, any shape, rounded as they are when they leave."""
    stored = stored_format(phase, port, design)
    if stored is None or stored == design.fmt:
        return words
    return from_memory(to_memory(words, design.fmt, stored), stored, design.fmt)


def inputs_on_pins(
    words: Mapping[str, Bits], phase: str, streams: Mapping[str, str], design: EngineDesign
) -> dict[str, Bits]:
    """The words of a run, by stream, as they pass the pins; ``streams`` are by port.

    Raises:
        ValueError: a word is no number of the format that its stream has.
    """
    ports = {stream: port for port, stream in streams.items()}
    return {
        stream: stored_words(each, phase, ports[stream], design, stream)
        for stream, each in words.items()
    }
