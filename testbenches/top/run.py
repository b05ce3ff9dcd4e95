"""One run of a top: its stimulus and its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from merp.models.base.bits import Bits
from merp.models.base.errors import CheckFailed
from merp.models.memory.bus_record import BusRecord
from merp.testbenches.top.top import TopPorts

FULL_RATE = (1,)
RESET_CYCLES = 2
TAIL_CYCLES = 4  # after done: no output word, no ready input, no change of a counter


class Stuck(CheckFailed):
    """No word moved on any stream for the run's limit of cycles; the message shows the state.

    Attributes:
        status: values of the status ports at that time, as far as the bench could read them.
    """

    def __init__(self, message: str, status: Mapping[str, int] | None = None) -> None:
        super().__init__(message)
        self.status = dict(status or {})


@dataclass(frozen=True)
class DerivedSource:
    """A source whose words depend on an output, as a host calculates loss deltas from scores.

    Attributes:
        stream: the output.
        words: after each ``words`` words of the output, ``given`` further words of the source are
            available, from the next cycle on.
        given: words of the source per ``words`` words of the output.
    """

    stream: str
    words: int
    given: int

    def known(self, left: int) -> int:
        """Return the available words of the source after ``left`` words of the output."""
        return left // self.words * self.given


@dataclass(frozen=True)
class Run:
    """Stimulus of one run.

    Cycle t = 0 is the cycle of ``start``. A source without a held word presents its next word in
    cycle t iff ``pattern[t mod len]``. It then holds the word until the transfer. A sink is ready
    in cycle t iff ``pattern[t mod len]``.

    Attributes:
        config: value of every configuration port, by flattened name.
        words: raw words of every input stream, in order; ``tlast`` is high with the last word. If
            a beat has several elements, each of them is a word.
        stalls: pattern of a stream, by its name. The default is full rate.
        answers: sources whose words depend on output words, by input stream.
        reset_at: cycle in which ``rst`` rises for ``RESET_CYCLES``; the run then begins again from
            its first words. A run that is done before that is not reset.
        ends: word counts of a stream with several passes in the run: ``tlast`` is high with the
            last word of each. They rise, and include the final word. Without an entry, ``tlast``
            is high with the final word only.
        outputs: expected words of every output stream. An engine with a memory reserves their
            places; the other engines do not need them.
    """

    config: Mapping[str, int]
    words: Mapping[str, Bits]
    stalls: Mapping[str, Sequence[int]] = field(default_factory=dict)
    reset_at: int | None = None
    answers: Mapping[str, DerivedSource] = field(default_factory=dict)
    ends: Mapping[str, Sequence[int]] = field(default_factory=dict)
    outputs: Mapping[str, int] = field(default_factory=dict)

    def under(
        self, stalls: Mapping[str, Sequence[int]] | None = None, reset_at: int | None = None
    ) -> Run:
        """Return the same run with stalled streams and a reset in cycle ``reset_at``."""
        return replace(self, stalls=stalls or {}, reset_at=reset_at)

    def pattern(self, stream: str) -> tuple[int, ...]:
        """Return the stall pattern of a stream."""
        return tuple(int(bool(bit)) for bit in self.stalls.get(stream, FULL_RATE))

    def check(self, ports: TopPorts) -> None:
        """Check that the run fits the ports of a top.

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
                raise ValueError(f"ends: values of {pin.name} must rise, by whole beats: {ends}")
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
    """The observations of a bench in one run; the same in every engine except ``seconds``.

    Attributes:
        words: words of each output stream, in order.
        transfers: words that passed each stream's pins (valid and ready both high); empty on
            hardware, whose pins nobody sees.
        first, last: cycle of each stream's first and last transfer, -1 without a transfer; empty
            on hardware.
        status: every status port in the first cycle of ``status_done``.
        cycles: cycles from ``start`` to ``status_done``.
        resets: number of resets during the run.
        faults: violated rules of the protocol, one line each; empty in a clean run.
        seconds: wall time of the run.
        crossed: words of each stream on the bus to memory; empty without a memory.
        bus: traffic on this bus, if the run was a list of its own.
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
    crossed: Mapping[str, int] = field(default_factory=dict)
    bus: BusRecord | None = None
