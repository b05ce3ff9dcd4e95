"""One run of a top: what goes in, and what a bench saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from merp.models.base.bits import Bits
from merp.models.base.errors import CheckFailed
from merp.testbenches.top.top import TopPorts

FULL_RATE = (1,)
RESET_CYCLES = 2
TAIL_CYCLES = 4  # after done: nothing may leave, nothing may be asked for, no counter may move


class Stuck(CheckFailed):
    """No word moved on any stream for the run's limit of cycles; the message names the state.

    Attributes:
        status: every status port then, as far as the bench could read them.
    """

    def __init__(self, message: str, status: Mapping[str, int] | None = None) -> None:
        super().__init__(message)
        self.status = dict(status or {})


@dataclass(frozen=True)
class DerivedSource:
    """A source whose words are made of those of an output, as a host makes a loss of scores.

    Attributes:
        stream: the output. words: of it, with the last of which so many (``given``) of the source
            can come, from the next cycle on.
    """

    stream: str
    words: int
    given: int

    def known(self, left: int) -> int:
        """Words of the source that there are when ``left`` words of the output have left."""
        return left // self.words * self.given


@dataclass(frozen=True)
class Run:
    """Stimulus of one run.

    Cycle t = 0 is the cycle of ``start``. A source that holds no word presents its next one in
    cycle t iff ``pattern[t mod len]``, and then holds it until it is taken; a sink is ready in
    cycle t iff ``pattern[t mod len]``.

    Attributes:
        config: value of every configuration port, by flattened name.
        words: raw words of every input stream, in order; ``tlast`` goes with the last. Where a
            beat has several elements, each of them is a word.
        stalls: pattern of a stream, by its name; full rate where none is given.
        answers: of input streams whose words are known only when others have left.
        reset_at: cycle in which ``rst`` rises for ``RESET_CYCLES``; the run then begins again from
            its first words. A run that is done before that is not reset.
        ends: of a stream that has several passes in the run, numbers of words with the last of
            which ``tlast`` goes, rising, the final one among them; with that one alone where none
            are given.
    """

    config: Mapping[str, int]
    words: Mapping[str, Bits]
    stalls: Mapping[str, Sequence[int]] = field(default_factory=dict)
    reset_at: int | None = None
    answers: Mapping[str, DerivedSource] = field(default_factory=dict)
    ends: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def under(
        self, stalls: Mapping[str, Sequence[int]] | None = None, reset_at: int | None = None
    ) -> Run:
        """The same run with stalled streams, and reset in a cycle."""
        return replace(self, stalls=stalls or {}, reset_at=reset_at)

    def pattern(self, stream: str) -> tuple[int, ...]:
        """The stall pattern of a stream."""
        return tuple(int(bool(bit)) for bit in self.stalls.get(stream, FULL_RATE))

    def check(self, ports: TopPorts) -> None:
        """Compare the run with the top that is to run it.

        Raises:
            ValueError: a configuration value, stream or pattern is missing, unknown or too large.
        """
        _same_names("config", self.config, [pin.name for pin in ports.config])
        _same_names("words", self.words, [pin.name for pin in ports.inputs])
        for pin in ports.config:
            if not 0 <= self.config[pin.name] < 1 << pin.width:
                raise ValueError(
                    f"{pin.name} must fit in {pin.width} bits, not {self.config[pin.name]}"
                )
        for pin in ports.inputs:
            largest = int(self.words[pin.name].max(initial=0))
            if largest >> pin.element:
                raise ValueError(
                    f"{pin.name}: a word must fit in {pin.element} bits, not {largest}"
                )
        unknown = set(self.stalls) - {pin.name for pin in ports.streams}
        if unknown:
            raise ValueError(f"stalls: no such stream: {', '.join(sorted(unknown))}")
        for name in self.stalls:
            if not any(self.pattern(name)):
                raise ValueError(f"stalls: the pattern of {name} never lets a word pass")
        single = [pin.name for pin in ports.inputs if pin.lanes == 1]
        unknown = set(self.answers) - set(single)
        unknown |= {each.stream for each in self.answers.values()} - {
            pin.name for pin in ports.outputs
        }
        if unknown:
            raise ValueError(f"answers: no such stream of one word: {', '.join(sorted(unknown))}")
        for name, each in self.answers.items():
            if min(each.words, each.given) < 1:
                raise ValueError(f"answers: {name} must give and take words, not {each}")
        unknown = set(self.ends) - {pin.name for pin in ports.streams}
        if unknown:
            raise ValueError(f"ends: no such stream: {', '.join(sorted(unknown))}")
        for pin in ports.streams:
            ends = list(self.ends.get(pin.name, ()))
            if ends != sorted(set(ends)) or any(end < 1 or end % pin.lanes for end in ends[:-1]):
                raise ValueError(f"ends: those of {pin.name} must rise, by whole beats: {ends}")
            if pin in ports.inputs and ends and ends[-1] != len(self.words[pin.name]):
                raise ValueError(f"ends: the last of {pin.name} must be its final word: {ends}")
        if self.reset_at is not None and self.reset_at < 1:
            raise ValueError(f"reset_at must be at least 1, not {self.reset_at}")


def _same_names(what: str, given: Mapping[str, Any], wanted: Sequence[str]) -> None:
    missing = sorted(set(wanted) - set(given))
    unknown = sorted(set(given) - set(wanted))
    if missing or unknown:
        raise ValueError(f"{what}: missing {missing}, unknown {unknown}")


@dataclass(frozen=True)
class Outcome:
    """What a bench saw of one run; the same in every engine but for ``seconds``.

    Attributes:
        words: words of each output stream, in order.
        transfers: words that passed each stream's pins (valid and ready both high).
        first, last: cycle of each stream's first and last transfer, -1 without one.
        status: every status port in the first cycle of ``status_done``.
        cycles: cycles from ``start`` to ``status_done``.
        resets: how often the run was reset.
        faults: broken rules of the protocol, one line each; empty in a clean run.
        seconds: wall time of the run.
    """

    words: Mapping[str, Sequence[int] | Bits]
    transfers: Mapping[str, int]
    first: Mapping[str, int]
    last: Mapping[str, int]
    status: Mapping[str, int]
    cycles: int
    resets: int
    faults: tuple[str, ...]
    seconds: float
