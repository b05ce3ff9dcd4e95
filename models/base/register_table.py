"""A bundle of run-time registers as one table: from it come its signals, ranges and values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from merp.models.base.register_map import Setting, Settings

COUNT_MAX = (1 << 31) - 1  # what a register may have to be compared with: the largest VHDL integer

DesignT = TypeVar("DesignT")
"""What is fixed at elaboration: a range follows from it."""

RunT = TypeVar("RunT")
"""What a run computes, and on which design: a value follows from it."""


@dataclass(frozen=True)
class RunRegister(Generic[DesignT, RunT]):
    """A run-time register.

    A range holds for the register on its own. What only registers together can break (a map larger
    than the memories, sizes that do not follow from each other) is checked by the software that
    makes the values, see ``cnn_merp/sizing.py``.

    Attributes:
        name: of its signal in the bundle.
        least, most: the smallest and the largest legal value; the largest follows from the design.
        meaning: one line.
        value: what a run, which fits the design, writes into it.
        holds: the largest value that its signal holds, where that is more than ``most``.
        single: whether its signal is a single bit and no vector.
    """

    name: str
    least: int
    most: Callable[[DesignT], int]
    meaning: str
    value: Callable[[RunT], int]
    holds: Callable[[DesignT], int] | None = None
    single: bool = False

    def capacity(self, design: DesignT) -> int:
        """The largest value that its signal holds."""
        return (self.holds or self.most)(design)


def switch(name: str, meaning: str, value: Callable[[RunT], bool]) -> RunRegister[DesignT, RunT]:
    """A register of a single bit."""
    return RunRegister(name, 0, lambda design: 1, meaning, lambda run: int(value(run)), single=True)


@dataclass(frozen=True)
class RegisterTable(Generic[DesignT, RunT]):
    """The registers of a bundle, in the order of its signals.

    Attributes:
        bundle: name of the port; a register's port is called after it and the register.
    """

    bundle: str
    registers: tuple[RunRegister[DesignT, RunT], ...]

    def settings(self, design: DesignT) -> Settings:
        """Legal range and meaning of every register, by the flattened name of its port."""
        return {
            f"{self.bundle}_{each.name}": Setting(each.least, each.most(design), each.meaning)
            for each in self.registers
        }

    def values(self, run: RunT) -> dict[str, int]:
        """Value of every register in a run, by the flattened name of its port."""
        return {f"{self.bundle}_{each.name}": each.value(run) for each in self.registers}
