"""The word counters of a top: one for each of its streams."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.element_counter import counter_of
from merp.hdl.base.interface import DesignPorts
from merp.hdl.conversion.entity import Bit


def word_counters(clk: Bit, rst: Bit, start: Bit, ports: DesignPorts[Any]) -> list[Any]:
    """Count the words of each stream in the status of a top."""
    status = vars(ports.status)
    return [
        counter_of(stream)(clk, rst, start, stream=stream, words=status[words])
        for words, name in ports.counted.items()
        for stream in [vars(ports)[name]]
    ]
