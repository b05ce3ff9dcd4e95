"""Bundles of run-time registers, generated from their tables."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Self

from merp.hdl.base.signals import count, flag
from merp.models.base.register_table import DesignT, RegisterTable


class RegisterBundle:
    """One signal for each register of ``table`` that ``design`` has, in the order of the table.

    The fields have the names of the table.
    """

    def __init__(self, table: RegisterTable[DesignT, Any], design: DesignT) -> None:
        vars(self).update(
            {
                each.name: flag() if each.single else count(each.capacity(design))
                for each in table.registers
            }
        )

    def has(self, name: str) -> bool:
        """Check whether the table has a register of this name."""
        return name in vars(self)

    def but(self, **signals: Any) -> Self:
        """Return the bundle with other signals in place of some registers."""
        other = copy(self)
        vars(other).update(signals)
        return other

    def also(self, **signals: Any) -> Self:
        """Return the bundle with further registers; None adds nothing."""
        return self.but(**{name: each for name, each in signals.items() if each is not None})

    def get(self, name: str) -> Any:
        """Return the signal of a register, or None if no register has this name."""
        return vars(self).get(name)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return the signal of a register."""
