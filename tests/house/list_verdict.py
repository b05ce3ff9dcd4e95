"""The end of a random list: memory, bursts and failure against its golden list."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from drawn_lists import DrawnList
from list_golden import GoldenList
from list_trigger import Trigger

from merp.models.memory.bursts import bursts_of
from merp.models.memory.params.commands import Failure
from merp.models.memory.params.subsystem import LIST, SubsystemDesign
from merp.models.memory.walk import Run
from merp.testbenches.memory.axi_memory import AxiMemory
from merp.testbenches.memory.read_memory import OKAY


@dataclass
class Playing:
    """A list that is being played.

    Attributes:
        drawn: the list.
        before: bytes of memory at its begin.
        golden: what it does if nothing disturbs it.
        polls: the host reads the status again and again, instead of waiting for interrupts.
        abort, reset: when the host ends it, and when everything is reset.
        requests: direction, stream, address in bytes and beats of each burst.
        ended: number of the written bursts whose last beat has crossed.
        aborted: cycle of the abort; 0 before.
    """

    drawn: DrawnList
    before: bytes
    golden: GoldenList
    began: int
    polls: bool
    abort: Trigger | None = None
    reset: Trigger | None = None
    requests: list[tuple[str, int, int, int]] = field(default_factory=list)
    ended: int = 0
    aborted: int = 0


class ListVerdict:
    """Compare the end of a list with its golden list."""

    def __init__(
        self, design: SubsystemDesign, memory: AxiMemory, now: Playing, where: str
    ) -> None:
        self.design, self.memory, self.now, self.where = design, memory, now, where
        self.golden = now.golden
        self.readers = [name for name, _ in design.interface.readers]
        self.writers = [name for name, _ in design.interface.writers]

    def check(self, state: Mapping[str, int] | None) -> None:
        """Check the end of a list.

        Raises:
            AssertionError: it is not an end that the golden list allows.
        """
        waited = dict.fromkeys(self.golden.waited, 0)
        if state is not None:
            self._check_failure(state)
            most = max(0, state["commands"] - bool(state["failure"]))
            begun = GoldenList(self.design, self.now.before, *self.now.drawn.place, most)
            waited = begun.waited
            ended = sum(way == "aw" for way, *_ in self.now.requests)
            assert self.now.ended == ended, f"{self.where}: a burst without its beats"
        self._follow_list()
        for number, stream in enumerate(self.readers):
            if stream != LIST:
                self._check_order(stream, self._requests("ar", number), waited[stream])
        for number, stream in enumerate(self.writers):
            self._check_order(stream, self._requests("aw", number), waited[stream])
        wanted = self._written()
        if wanted != self.memory.data:
            pairs = enumerate(zip(wanted, self.memory.data, strict=True))
            at = next(at for at, (want, found) in pairs if want != found)
            raise AssertionError(
                f"{self.where}: byte {at:#x} is {self.memory.data[at]:#x}, not {wanted[at]:#x}, "
                f"before {self.now.before[at]:#x}; {state}"
            )

    def _beats(self, stream: str) -> list[list[tuple[int, int]]]:
        size = self.design.port.beat_bytes
        return [
            [(burst.address * size, burst.beats) for burst in walk.bursts]
            for walk in self.golden.walks[stream]
        ]

    def _requests(self, way: str, number: int) -> list[tuple[int, int]]:
        return [
            (address, beats)
            for kind, each, address, beats in self.now.requests
            if kind == way and each == number
        ]

    def _check_order(self, stream: str, found: list[tuple[int, int]], waited: int) -> None:
        """The bursts of a stream are the first ones of its walks, and all that were waited for."""
        walks = self._beats(stream)
        wanted = [burst for walk in walks for burst in walk]
        least = sum(map(len, walks[:waited]))
        extra = next((at for at, each in enumerate(found) if each not in wanted[at : at + 1]), None)
        if extra is not None:
            raise AssertionError(
                f"{self.where}: burst {extra} of {stream} is {found[extra]}, "
                f"not {wanted[extra : extra + 1]}"
            )
        assert len(found) >= least, f"{self.where}: {stream} has {len(found)} of {least} bursts"

    def _follow_list(self) -> None:
        mover, size = dict(self.design.interface.readers)[LIST], self.design.port.beat_bytes
        parts = [
            [
                (each.address * size, each.beats)
                for each in bursts_of([Run(place // 4, words)], mover)
            ]
            for place, words, _ in self.now.drawn.parts
            if words
        ]
        part = at = 0
        for found in self._requests("ar", self.readers.index(LIST)):
            while part < len(parts) and found != (parts[part] + [(-1, -1)])[at]:
                part, at = part + 1, 0
            assert part < len(parts), f"{self.where}: {found} is not a burst of the list"
            at += 1

    def _written(self) -> bytearray:
        """Return memory after each burst whose beats have all arrived, in the order of bursts."""
        data = bytearray(self.now.before)
        parts = [
            iter([(walk, part) for walk in self.golden.walks[stream] for part in walk.parts])
            for stream in self.writers
        ]
        requests = [each[1:] for each in self.now.requests if each[0] == "aw"]
        for at, (number, address, beats) in enumerate(requests):
            walk, (first, count) = next(parts[number])
            enough = first + count <= len(walk.words)
            assert enough, f"{self.where}: {self.writers[number]} wrote words that it never got"
            okay = self.memory.response(address, beats * self.design.port.beat_bytes) == OKAY
            if at < self.now.ended and okay:
                walk.write(data, first, count)
        return data

    def _failed(self) -> set[tuple[int, int]]:
        """Number and burst of each error response."""
        names = [*self.design.numbers, LIST]
        size, found = self.design.port.beat_bytes, set()
        for way, number, address, beats in self.now.requests:
            name = (self.readers if way == "ar" else self.writers)[number]
            if self.memory.response(address, beats * size) != OKAY:
                found.add((names.index(name), address))
        return found

    def _check_failure(self, state: Mapping[str, int]) -> None:
        """Check why a list ended, and at which command."""
        golden, now = self.golden, self.now
        failure, commands = Failure(state["failure"]), state["commands"]
        told = f"{self.where}: {failure.name} at command {commands}, golden: {golden.failure!r} at "
        told += f"{golden.commands}, {state}"
        errors = self._failed()
        if (failure, commands) == (golden.failure, golden.commands):
            if golden.stuck_on and failure == Failure.TIME:
                mask = sum(1 << self.design.numbers[each] for each in golden.stuck_on)
                assert state["waiting"] & mask == mask, told
        else:
            early = commands <= golden.commands
            assert early, told
            if failure == Failure.TIME:
                assert golden.limits.get(commands, 1 << 32) < 200, told
            elif failure == Failure.ABORTED:
                assert now.aborted, told
            else:
                assert failure == Failure.MEMORY, told
        if failure == Failure.MEMORY:
            assert (state["error_stream"], state["error_address"]) in errors, f"{told} {errors}"
        elif not failure and golden.complete:
            streams = {stream for stream, _ in errors} - {len(self.design.numbers)}
            assert not streams, f"{told}: an error of {streams} is ignored"
