"""Pins of a simulated top, for cocotb."""

from __future__ import annotations

from typing import Any

from merp.testbenches.top.streams import Read


def reader(dut: Any, name: str) -> Read:
    """A function that reads a pin; it raises ValueError where that is undefined."""
    handle = getattr(dut, name)

    def value() -> int:
        try:
            return int(handle.value)
        except ValueError as error:
            raise ValueError(f"{name} is undefined: {handle.value}") from error

    return value
