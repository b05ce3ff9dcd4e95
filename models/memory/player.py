"""Golden model of the command processor: the effects of a list, in their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from merp.models.memory.params.commands import WALK_WORDS, Failure, Operation, ProcessorDesign

WORDS = {
    Operation.END: 0,
    Operation.WALK: WALK_WORDS,
    Operation.START: 1,
    Operation.WAIT: 2,
    Operation.EXPECT: 1,
    Operation.JUMP: 3,
    Operation.INTERRUPT: 0,
    Operation.LOAD: 1,
}
"""Number of words of operations for which it is fixed."""

COUNTED = (Operation.WRITE, Operation.RECORD)
"""Operations of one register or more."""


class Registers(Protocol):
    """Registers of all engines."""

    def write(self, index: int, word: int) -> bool:
        """Write a register, and return whether it was accepted."""
        ...

    def read(self, index: int) -> int | None:
        """Return a register, or None if there is none."""
        ...


@dataclass
class Outcome:
    """Result of a list.

    Attributes:
        effects: name and numbers of each effect, in order.
        failure: why it ended before its end.
        commands: commands that were begun; the last one is the failed one.
    """

    effects: list[tuple[str | int, ...]] = field(default_factory=list)
    failure: Failure = Failure.NONE
    commands: int = 0


class _Ended(Exception):
    """The list has ended, with a failure or without."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure


class Player:
    """A command processor.

    Args:
        design: its parameters.
        memory: returns the word of 32 bits at an address, in words.
        registers: the registers of the engines.
        most: commands after which a list without an end is given up.
    """

    def __init__(
        self,
        design: ProcessorDesign,
        memory: Callable[[int], int],
        registers: Registers,
        most: int = 100_000,
    ) -> None:
        self.design, self.memory, self.registers, self.most = design, memory, registers, most
        self.found = Outcome()
        self._place = self._left = 0

    def play(self, base: int, words: int) -> Outcome:
        """Play the list of ``words`` words at ``base``, in words; every wait ends in time.

        Raises:
            RuntimeError: the list has more than ``most`` commands.
        """
        self._place, self._left = base, words
        self.found = Outcome()
        try:
            while self.found.commands < self.most:
                self._command()
        except _Ended as ended:
            self.found.failure = ended.failure
            return self.found
        raise RuntimeError(f"the list has more than {self.most} commands")

    def _word(self) -> int:
        if not self._left:
            raise _Ended(Failure.SHORT)
        self._left -= 1
        self._place += 1
        return self.memory(self._place - 1)

    def _command(self) -> None:
        word = self._word()
        self.found.commands += 1
        operation, count, place = word >> 24, word >> 16 & 0xFF, word & 0xFFFF
        fixed = WORDS.get(operation)  # type: ignore[call-overload]
        legal = count == fixed if fixed is not None else operation in COUNTED and count > 0
        if operation == Operation.WALK:
            legal = legal and place < self.design.streams
        elif operation == Operation.WAIT:
            legal = legal and place < 1 << self.design.engines
        elif operation == Operation.LOAD:
            legal = legal and self.design.loads
        if not legal:
            raise _Ended(Failure.ILLEGAL)
        if operation == Operation.END:
            raise _Ended(Failure.NONE)
        play = getattr(self, f"_{Operation(operation).name.lower()}")
        play(count, place)

    def _tell(self, *effect: str | int) -> None:
        self.found.effects.append(effect)

    def _write(self, count: int, place: int) -> None:
        for at in range(count):
            word = self._word()
            self._tell("write", place + at & 0xFFFF, word)
            if not self.registers.write(place + at & 0xFFFF, word):
                raise _Ended(Failure.REFUSED)

    def _walk(self, count: int, place: int) -> None:
        for at in range(count):
            self._tell("walk", place, at, self._word())

    def _mask(self) -> int:
        mask = self._word()
        if mask >> self.design.streams:
            raise _Ended(Failure.ILLEGAL)
        return mask

    def _start(self, count: int, place: int) -> None:
        self._tell("start", self._mask())

    def _wait(self, count: int, place: int) -> None:
        self._tell("wait", self._mask(), self._word(), place)

    def _read(self, place: int) -> int:
        word = self.registers.read(place)
        self._tell("read", place)
        if word is None:
            raise _Ended(Failure.REFUSED)
        return word

    def _record(self, count: int, place: int) -> None:
        for at in range(count):
            self._tell("record", self._read(place + at & 0xFFFF))

    def _expect(self, count: int, place: int) -> None:
        wanted = self._word()
        if self._read(place) != wanted:
            raise _Ended(Failure.UNEXPECTED)

    def _jump(self, count: int, place: int) -> None:
        low, high, words = self._word(), self._word(), self._word()
        self._place = (high << 32 | low) % (1 << self.design.address_bits) >> 2
        self._left = words

    def _interrupt(self, count: int, place: int) -> None:
        self._tell("interrupt")

    def _load(self, count: int, place: int) -> None:
        self._tell("load", self._word())
        raise _Ended(Failure.NONE)
