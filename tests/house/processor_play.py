"""A list of commands that a command processor plays, with everything around the processor."""

from collections.abc import Mapping, Sequence
from random import Random

from block_bench import BlockBench, Recorded, Sample
from merp.hdl.base.signals import Stream
from merp.hdl.memory.command_processor import command_processor
from merp.hdl.memory.processor_ports import (
    EngineAccess,
    ListPorts,
    ProcessorStatus,
    StreamControl,
    WalkWrite,
)
from merp.models.memory.params.commands import ENGINE, WORD, ProcessorDesign
from merp.models.memory.player import Outcome, Player

DESIGN = ProcessorDesign(streams=5, engines=2)
WIDE = ProcessorDesign(streams=32, engines=1, address_bits=40)
LOADING = ProcessorDesign(streams=5, engines=2, loads=True)


def bench(design: ProcessorDesign) -> BlockBench:
    """Return the bench of a processor."""
    return BlockBench(
        command_processor,
        "clk rst",
        lists=ListPorts(design),
        engines=EngineAccess(design),
        streams=StreamControl(design),
        walk=WalkWrite(design),
        records=Stream(WORD),
        status=ProcessorStatus(design),
        design=design,
    )


class Engines:
    """Registers 0 to 59 of each engine; the first eight cannot be written."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.words: dict[int, int] = {}

    def exists(self, index: int) -> bool:
        """Return whether there is such a register."""
        return index // ENGINE < self.count and index % ENGINE < 60

    def write(self, index: int, word: int) -> bool:
        """Write a register, and return whether it was accepted."""
        accepted = self.exists(index) and index % ENGINE >= 8
        if accepted:
            self.words[index] = word
        return accepted

    def read(self, index: int) -> int | None:
        """Return a register, or None if there is none."""
        return self.words.get(index, 3 * index) if self.exists(index) else None


class Play:
    """A list in memory, engines that answer late, and streams that end after some cycles."""

    def __init__(
        self, words: Mapping[int, int], base: int, size: int, seed: int = 1,
        design: ProcessorDesign = DESIGN, pace: float = 1.0, abort_at: int = 1 << 30,
        slowest: int = 9, fail_at: int = 1 << 30, full_from: int = 1 << 30,
    ) -> None:  # fmt: skip
        self.words, self.base, self.size = words, base, size
        self.design, self.pace = design, pace
        self.abort_at, self.slowest, self.fail_at = abort_at, slowest, fail_at
        self.full_from = full_from  # records that find a place
        self.rng = Random(seed)
        self.engines = Engines(design.engines)
        self.effects: list[tuple[str | int, ...]] = []
        self.queue: list[int] = []
        self.answer: tuple[int, Mapping[str, int]] | None = None
        self.ends: dict[int, int] = {}
        self.interrupts = (1 << design.engines) - 1
        self.aborted: list[int] = []
        self.late = -1
        self.was_idle = False
        self.offered = False

    def listen(self, cycle: int, seen: Sample) -> None:
        """Note the effects of a cycle, as anything that is connected would."""
        if seen["fetch_clear"]:
            self.queue = []
            self.offered = False
        elif seen["commands_valid"] and seen["commands_ready"]:
            self.queue.pop(0)
            self.offered = False
        if seen["fetch_start"]:
            begin, count = seen["fetch_base"], seen["fetch_length"] + 1
            self.queue = [self.words.get(begin + at, 0) for at in range(count)]
        if seen["access_begin"]:
            self.begin_access(cycle, seen)
        if seen["walk_enable"]:
            self.effects.append(
                ("walk", seen["walk_stream"], seen["walk_index"], seen["walk_data"])
            )
        if seen["streams_start"]:
            self.effects.append(("start", seen["streams_start"]))
            for stream in range(self.design.streams):
                if seen["streams_start"] >> stream & 1:
                    self.ends[stream] = cycle + self.rng.randint(1, self.slowest)
        if seen["records_valid"] and seen["records_ready"]:
            self.effects.append(("record", seen["records_data"]))
        if seen.get("status_load_begins"):
            assert self.was_idle, "a bitstream is loaded while memory still owes something"
            self.effects.append(("load", seen["status_bitstream"]))
        if seen["status_interrupt"]:
            self.effects.append(("interrupt",))
        if seen["streams_clear"]:
            assert self.was_idle, "a walk is dropped while memory still owes something"
            self.ends = {}
        self.was_idle = bool(seen["streams_idle"] and seen["streams_stop"])

    def begin_access(self, cycle: int, seen: Sample) -> None:
        """Note an access to a register, and decide about its answer."""
        assert self.answer is None, "an access while another one is in progress"
        index, word = seen["access_index"], 0
        if seen["access_writes"] and index % ENGINE == 4 and seen["streams_stop"]:
            self.aborted.append(index // ENGINE)
            assert seen["access_data"] == 2
            refused = 0
        elif seen["access_writes"]:
            self.effects.append(("write", index, seen["access_data"]))
            refused = int(not self.engines.write(index, seen["access_data"]))
        else:
            self.effects.append(("read", index))
            found = self.engines.read(index)
            refused, word = int(found is None), found or 0
        due = cycle + self.rng.randint(1, 4)
        self.answer = due, {"access_refused": refused, "access_word": word}

    def drive(self, cycle: int, seen: Sample) -> Mapping[str, int]:
        """Return the inputs of a cycle."""
        if cycle:
            self.listen(cycle, seen)
        inputs = {"access_done": 0, "access_refused": 0}
        if self.answer and self.answer[0] <= cycle:
            inputs |= {"access_done": 1, **self.answer[1]}
            self.answer = None
        self.offered = bool(self.queue) and (self.offered or self.rng.random() < self.pace)
        done = sum(
            1 << stream
            for stream in range(self.design.streams)
            if self.ends.get(stream, 0) <= cycle
        )
        stopping = bool(cycle and seen["streams_stop"])
        self.late = cycle + 3 if not stopping else self.late
        return {
            **inputs,
            "rst": int(not cycle),
            "host_start": int(cycle == 1),
            "host_base": self.base,
            "host_words": self.size,
            "host_abort": int(cycle == self.abort_at),
            "commands_valid": int(self.offered),
            "commands_data": self.queue[0] if self.queue else 0,
            "fetch_idle": int(self.rng.random() < 0.7),
            "fetch_failed": 0,
            "interrupts": self.interrupts,
            "streams_done": done,
            "streams_idle": int(stopping and cycle > self.late),
            "streams_failed": int(cycle >= self.fail_at),
            "records_ready": int(self.recorded < self.full_from and self.rng.random() < self.pace),
        }

    @property
    def recorded(self) -> int:
        """Number of records so far."""
        return sum(each[0] == "record" for each in self.effects)

    def run(self, cycles: int) -> Recorded:
        """Play the list."""
        return bench(self.design).run(self.drive, cycles)

    def golden(self) -> Outcome:
        """Return the effects of the list by the golden player."""
        return Player(
            self.design, lambda place: self.words.get(place, 0), Engines(self.design.engines)
        ).play(self.base, self.size)


def placed(words: Sequence[int], base: int = 64) -> Mapping[int, int]:
    """Return the words by their addresses."""
    return {base + at: word for at, word in enumerate(words)}


def without_waits(outcome: Outcome) -> list[tuple[str | int, ...]]:
    """The effects that pins show, and the interrupt of the end."""
    shown = [each for each in outcome.effects if each[0] != "wait" and each != ("start", 0)]
    return [*shown, ("interrupt",)]


def check(play: Play, cycles: int = 2500) -> Recorded:
    """Play a list, and compare it with the golden player."""
    trace = play.run(cycles)
    golden = play.golden()
    assert play.effects == without_waits(golden)
    ends = trace.columns("status_busy", "status_done", "status_failure", "status_commands")[-1]
    assert ends == (0, 1, int(golden.failure), golden.commands)
    engines = list(range(play.design.engines)) if golden.failure else []
    assert play.aborted == engines
    return trace
