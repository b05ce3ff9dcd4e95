"""Bundles of run-time registers, made from their tables."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Self

from merp.hdl.base.signals import count, flag
from merp.models.base.register_table import DesignT, RegisterTable


class RegisterBundle:
    """A signal for each register of ``table`` as elaborated for ``design``, in the table's order.

    The fields are the names in the table.
    """

    def __init__(self, table: RegisterTable[DesignT, Any], design: DesignT) -> None:
        vars(self).update(
            {
                each.name: flag() if each.single else count(each.capacity(design))
                for each in table.registers
            }
        )

    def has(self, name: str) -> bool:
        """Whether the table has a register of this name."""
        return name in vars(self)

    def but(self, **signals: Any) -> Self:
        """The bundle with other signals in the place of some registers."""
        other = copy(self)
        vars(other).update(signals)
        return other

    def also(self, **signals: Any) -> Self:
        """The bundle with further registers; None is none."""
        return self.but(**{name: each for name, each in signals.items() if each is not None})

    def get(self, name: str) -> Any:
        """The signal of a register, or None if there is none of this name."""
        return vars(self).get(name)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The signal of a register."""
