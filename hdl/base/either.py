"""Select one of two words, or one of two bundles of signals field by field."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.conversion.entity import Bit, Word


@block
def either(choice: Bit, one: Word, other: Word, y: Word) -> Any:
    """Select ``one`` if ``choice`` is high, else ``other``."""

    @always_comb
    def choose() -> None:
        if choice:
            y.next = one
        else:
            y.next = other

    return choose


@block
def either_bundle(choice: Bit, one: Any, other: Any, y: Any) -> Any:
    """Select each field of a bundle in the same way; all three bundles have one class."""
    return [
        either(choice=choice, one=getattr(one, name), other=getattr(other, name), y=signal)
        for name, signal in vars(y).items()
    ]
