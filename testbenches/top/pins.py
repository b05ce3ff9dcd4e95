"""Pins of a simulated top, for cocotb."""

from __future__ import annotations

from typing import Any

from merp.testbenches.top.streams import Read


def reader(dut: Any, name: str) -> Read:
    """Return a function that reads a pin. It raises ValueError if the pin is undefined."""
    handle = getattr(dut, name)

    def value() -> int:
        try:
            return int(handle.value)
        except ValueError as error:
            raise ValueError(f"{name} is undefined: {handle.value}") from error

    return value
