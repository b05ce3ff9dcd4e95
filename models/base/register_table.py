"""A bundle of run-time registers as one table, which defines its signals, ranges and values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from merp.models.base.register_map import Setting, Settings

COUNT_MAX = (1 << 31) - 1  # largest value to compare a register with: the largest VHDL integer

DesignT = TypeVar("DesignT")
"""Parameters fixed at elaboration; they determine a range."""

RunT = TypeVar("RunT")
"""The computation and the design of a run; they determine a value."""


@dataclass(frozen=True)
class RunRegister(Generic[DesignT, RunT]):
    """A run-time register.

    A range is valid for each register alone. Some rules concern several registers: a map must fit
    the memories, and sizes must follow from each other. The software that computes the values
    checks these rules, see ``cnn_merp/sizing.py``.

    Attributes:
        name: of its signal in the bundle.
        least, most: the smallest and the largest legal value; the largest follows from the design.
        meaning: one line.
        value: computes the register's value for a run that fits the design.
        holds: the largest value that its signal can hold, if that is more than ``most``.
        single: whether its signal is a single bit instead of a vector.
    """

    name: str
    least: int
    most: Callable[[DesignT], int]
    meaning: str
    value: Callable[[RunT], int]
    holds: Callable[[DesignT], int] | None = None
    single: bool = False

    def capacity(self, design: DesignT) -> int:
        """Return the largest value that its signal can hold."""
        return (self.holds or self.most)(design)


def switch(name: str, meaning: str, value: Callable[[RunT], bool]) -> RunRegister[DesignT, RunT]:
    """Return a register of a single bit."""
    return RunRegister(name, 0, lambda design: 1, meaning, lambda run: int(value(run)), single=True)


@dataclass(frozen=True)
class RegisterTable(Generic[DesignT, RunT]):
    """The registers of a bundle, in the order of its signals.

    Attributes:
        bundle: name of the port; a register's port is named after it and the register.
    """

    bundle: str
    registers: tuple[RunRegister[DesignT, RunT], ...]

    def settings(self, design: DesignT) -> Settings:
        """Return range and meaning of every register, by the flattened name of its port."""
        return {
            f"{self.bundle}_{each.name}": Setting(each.least, each.most(design), each.meaning)
            for each in self.registers
        }

    def values(self, run: RunT) -> dict[str, int]:
        """Return the value of every register in a run, by the flattened name of its port."""
        return {f"{self.bundle}_{each.name}": each.value(run) for each in self.registers}
