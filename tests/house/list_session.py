"""A host that plays random lists on a subsystem, one after the other, and disturbs them.

Host, engines and memory follow each other cycle by cycle, in MyHDL or around exported hardware. At
the end of each list, memory must hold what the golden list and the bursts on the port say.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from drawn_lists import SIZE, UNITS, Drawing, DrawnList
from list_golden import QUEUE, WORK, EngineRegisters, GoldenList, Word
from list_memory import put_words
from list_system import STATE

from merp.models.memory.bursts import bursts_of
from merp.models.memory.params.commands import Failure
from merp.models.memory.params.subsystem import LIST, SubsystemDesign
from merp.models.memory.walk import Run
from merp.testbenches.memory.axi4_rules import Axi4Rules
from merp.testbenches.memory.axi_memory import AxiMemory, Conduct
from merp.testbenches.memory.lite_pins import LiteHost, LiteRegisters
from merp.testbenches.memory.read_memory import DECERR, OKAY, SLVERR

Pins = Mapping[str, int]
LIMIT = 30_000
"""Cycles after which a list is a hang."""

AFTER_ABORT = 6000
"""Cycles after an abort until the list must have ended."""

EVENTS: dict[str, Callable[[Pins], int]] = {
    "a cycle": lambda pins: 1,
    "AR": lambda pins: pins["m_axi_arvalid"],
    "AW": lambda pins: pins["m_axi_awvalid"],
    "AW taken": lambda pins: pins["m_axi_awvalid"] and pins["m_axi_awready"],
    "W": lambda pins: pins["m_axi_wvalid"] and not pins["m_axi_wlast"],
    "WLAST": lambda pins: pins["m_axi_wvalid"] and pins["m_axi_wlast"],
    "B": lambda pins: pins["m_axi_bvalid"],
    "R": lambda pins: pins["m_axi_rvalid"],
    "RLAST": lambda pins: pins["m_axi_rvalid"] and pins["m_axi_rlast"],
    "a sum": lambda pins: pins["streams_sum_valid"] and pins["streams_sum_ready"],
    "a copy": lambda pins: pins["streams_target_valid"] and pins["streams_target_ready"],
    "an access": lambda pins: pins["engines_adder_awvalid"] or pins["engines_copier_arvalid"],
}
"""Moments for an abort or a reset, by the pins of the cycle before."""


class Engine:
    """An engine at the streams of a subsystem. It takes and offers words at random rates."""

    def __init__(self, name: str, size: int, rng: Random) -> None:
        self.name, self.size, self.rng = name, size, rng
        self.readers, self.writer = UNITS[name]
        self.registers = EngineRegisters()
        self.bus = LiteRegisters(self.registers, f"engines_{name}_", rng.getrandbits(32))
        self.rate = 1.0
        self._aborts = 0
        self._taken: dict[str, deque[Word]] = {each: deque() for each in self.readers}
        self._made: deque[int] = deque()
        self._left = dict.fromkeys(self.readers, 0)
        self._offered = False

    def step(self, pins: Pins) -> dict[str, int]:
        """Take the transfers of a cycle, and return the pins of the next one."""
        if pins:
            self._move(pins)
        busy = self.registers.left
        inputs = self.bus.step(pins)
        if self.registers.aborts > self._aborts:
            self._aborts = self.registers.aborts
            self._made.clear()
            self._offered = False
        if not self.registers.left or not busy:  # before a run, at its start, and behind it
            self._left = dict.fromkeys(self.readers, self.registers.left)
            for each in self._taken.values():
                each.clear()
        for name, taken in self._taken.items():
            wants = self._left[name] > 0 and len(taken) < QUEUE and self.rng.random() < self.rate
            inputs[f"streams_{name}_ready"] = int(wants)
        self._offered = bool(self._made) and (self._offered or self.rng.random() < self.rate)
        inputs[f"streams_{self.writer}_valid"] = int(self._offered)
        inputs[f"streams_{self.writer}_data"] = self._made[0] if self._offered else 0
        inputs[f"streams_{self.writer}_last"] = self.rng.getrandbits(1)
        return inputs

    def _move(self, pins: Pins) -> None:
        for name in self.readers:
            if pins[f"streams_{name}_valid"] and pins[f"streams_{name}_ready"]:
                keep = pins.get(f"streams_{name}_keep", -1)
                self._taken[name].append((pins[f"streams_{name}_data"], keep))
                self._left[name] -= 1
        if pins[f"streams_{self.writer}_valid"] and pins[f"streams_{self.writer}_ready"]:
            self._made.popleft()
            self._offered = False
            self.registers.count += 1
        if all(self._taken.values()) and len(self._made) < QUEUE:
            words = [taken.popleft() for taken in self._taken.values()]
            self._made.append(WORK[self.name](words, self.size))
            self.registers.left -= 1
        self.registers.pending = int(
            self.registers.pending or self._ended(self.registers.count, self.registers.words)
        )

    def _ended(self, count: int, words: int) -> bool:
        return count == words > 0 and not self._made and not self.registers.left


@dataclass
class Trigger:
    """A moment: the first cycle that is ``delay`` cycles after ``times`` cycles with an event."""

    event: str
    times: int
    delay: int

    def now(self, pins: Pins) -> bool:
        """Whether this is the moment. It is called once a cycle."""
        if self.times > 0:
            self.times -= bool(EVENTS[self.event](pins))
            return False
        self.delay -= 1
        return self.delay == -1


def drawn_trigger(rng: Random) -> Trigger:
    """A trigger that often comes within a list."""
    event = rng.choice(["a cycle"] * 4 + list(EVENTS))
    times = rng.randint(1, 700) if event == "a cycle" else rng.choice([1, 2, 3, rng.randint(1, 40)])
    return Trigger(event, times, rng.randrange(7))


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


class ListSession:
    """Play a number of lists.

    Attributes:
        done: whether all lists have been played.
        counts: how many lists ended in which way.
    """

    def __init__(self, design: SubsystemDesign, seed: str, lists: int) -> None:
        self.design, self.seed, self.lists = design, seed, lists
        self.rng = Random(seed)
        self.map = design.registers("1.2.3")
        self.drawing = Drawing(self.rng, design)
        self.data = bytearray(self.rng.randbytes(SIZE))
        self.done = False
        self.played = 0
        self.counts: Counter[str] = Counter()
        self.cycle = 0
        self.now: Playing | None = None
        self._reset = 5
        self._power_up()

    def _power_up(self) -> None:
        """Begin again after a reset; memory keeps its bytes."""
        seed = self.rng.getrandbits(32)
        self.memory = AxiMemory(self.design.port, self.data, self._conduct(), seed)
        self.rules = Axi4Rules(self.design.port)
        self.host = LiteHost()
        movers = dict(self.design.writers)
        self.engines = [
            Engine(name, movers[writer].word_bytes, self.rng) for name, (_, writer) in UNITS.items()
        ]
        self._asked = self._found = 0
        self._drop = False
        self._settled = False
        self._pins: Pins = {}
        self._script = self._play()

    def _conduct(self) -> Conduct:
        rng = self.rng
        return Conduct(
            latency=rng.choice([1, 1, 4, 12, 30]), rate=rng.choice([1.0, 1.0, 0.7, 0.3]),
            data_rate=rng.choice([1.0, 0.5]), mixed=rng.random() < 0.5,
        )  # fmt: skip

    def drive(self, cycle: int, seen: Pins) -> Mapping[str, int]:
        """Return the inputs of a cycle."""
        self.cycle = cycle
        if self._reset:
            self._reset -= 1
            if not self._reset:
                self._power_up()
            return self._silence()
        pins = self._pins = seen if self._settled else {}
        self._settled = True
        port = {name: value for name, value in pins.items() if name.startswith("m_axi_")}
        if pins:
            self.rules.sample(port)
            self._watch(pins, port)
        if self._reset:
            return self._silence()
        inputs = {"rst": 0}
        next(self._script, None)
        inputs |= self.host.step(pins) | self.memory.step(port)
        for engine in self.engines:
            inputs |= engine.step(pins)
        pending = [engine.registers.pending << at for at, engine in enumerate(self.engines)]
        return inputs | {"interrupts": sum(pending)}

    def _silence(self) -> Mapping[str, int]:
        """Return the inputs of a cycle in reset."""
        self._settled = False
        valid = [f"s_axi_{each}valid" for each in ("aw", "w", "ar")]
        valid += ["m_axi_bvalid", "m_axi_rvalid"]
        for engine, (readers, writer) in UNITS.items():
            valid += [f"engines_{engine}_bvalid", f"engines_{engine}_rvalid"]
            valid += [f"streams_{writer}_valid", *(f"streams_{each}_ready" for each in readers)]
        return {**dict.fromkeys(valid, 0), "rst": 1, "interrupts": 0}

    def _watch(self, pins: Pins, port: Pins) -> None:
        """Follow the bursts of a list, and disturb it."""
        now = self.now
        for way in ("ar", "aw"):
            if pins[f"m_axi_{way}valid"] and pins[f"m_axi_{way}ready"]:
                found = (pins[f"m_axi_{way}id"], pins[f"m_axi_{way}addr"], pins[f"m_axi_{way}len"])
                assert now is not None, f"{self._where}: {way} {found} without a list"
                now.requests.append((way, found[0], found[1], found[2] + 1))
        if now is None:
            return
        if pins["m_axi_wvalid"] and pins["m_axi_wready"] and pins["m_axi_wlast"]:
            now.ended += 1
        assert self.cycle - now.began < LIMIT, f"{self._where}: a hang"
        late = now.aborted and self.cycle - now.aborted > AFTER_ABORT
        assert not late, f"{self._where}: no end after an abort"
        if now.abort is not None and now.abort.now(pins):
            self._write("control", 2)
            now.aborted = self.cycle
        if now.reset is not None and now.reset.now(pins):
            self.counts["reset"] += 1
            self.memory.step(port)  # it takes the transfers of the last cycle
            self._finish(now, None)
            self._reset = self.rng.randint(1, 4)

    @property
    def _where(self) -> str:
        return f"seed {self.seed}, list {self.played}, cycle {self.cycle}"

    def _write(self, name: str, word: int) -> None:
        self.host.write(self.map[name].offset, word)
        self._asked += 1

    def _read(self, name: str) -> Iterator[None]:
        """Read a register; the word is the last answer."""
        self.host.read(self.map[name].offset)
        self._asked += 1
        asked = self._asked
        while len(self.host.answers) < asked:
            yield
        response, self._found = self.host.answers[asked - 1]
        assert response == OKAY, f"{self._where}: {name} is refused"

    def _play(self) -> Iterator[None]:
        """What the host does."""
        yield
        self._write("interrupt_enable", 1)
        while self.played < self.lists:
            now = self._begin()
            base, size = now.drawn.place
            for name, word in (("list_low", base), ("list_words", size), ("control", 1)):
                self._write(name, word)
            while True:
                while not self.host.idle or not (now.polls or self._pins.get("interrupt")):
                    yield
                self._write("interrupt", 1)
                yield from self._read("status")
                if self._found & 3 == 2:
                    break
            state = {}
            for name in STATE:
                yield from self._read(f"status_{name}")
                state[name] = self._found
            # The list may have ended between the first clear and the read of the status.
            self._write("interrupt", 1)
            while not self.host.idle:
                yield
            self._finish(now, state)
            if self.rng.random() < 0.03:
                self._reset = self.rng.randint(1, 4)
                yield
        self.done = True

    def _begin(self) -> Playing:
        """Draw a list, place it in memory, and decide what disturbs it."""
        rng = self.rng
        drawn = self.drawing.draw(self._drop)
        for place, _, words in drawn.parts:
            put_words(self.data, place, words)
        before = bytes(self.data)
        golden = GoldenList(self.design, before, *drawn.place)
        now = self.now = Playing(drawn, before, golden, self.cycle, rng.random() < 0.2)
        kind = rng.choices(["calm", "abort", "errors", "reset", "both"], (45, 22, 20, 8, 5))[0]
        if kind in ("abort", "both"):
            now.abort = drawn_trigger(rng)
        if kind == "reset":
            now.reset = drawn_trigger(rng)
        if drawn.stuck:
            now.abort = Trigger("a cycle", rng.randint(1, 2500), 0)
        errors = self._errors(now) if kind in ("errors", "both") else []
        conduct = self._conduct()
        self.memory.conduct = Conduct(**{**vars(conduct), "errors": errors})
        for engine in self.engines:
            engine.rate = rng.choice([1.0, 0.8, 0.3])
        return now

    def _errors(self, now: Playing) -> list[tuple[range, int]]:
        """One or two places where memory answers with an error."""
        rng, found = self.rng, []
        bursts = [
            (walk.bursts, walk.mover) for walks in now.golden.walks.values() for walk in walks
        ]
        for place, size, _ in now.drawn.parts[:1]:
            if size and (rng.random() < 0.15 or not bursts):
                mover = dict(self.design.interface.readers)[LIST]
                bursts = [(list(bursts_of([Run(place // 4, size)], mover)), mover)]
        for _ in range(rng.choice([1, 1, 2])):
            if bursts:
                chosen = rng.choice(rng.choice(bursts)[0])
                beat = chosen.address + rng.randrange(chosen.beats)
                byte = beat * self.design.port.beat_bytes
                found.append((range(byte, byte + 1), rng.choice([SLVERR, DECERR])))
        return found

    def _finish(self, now: Playing, state: Mapping[str, int] | None) -> None:
        """Check a list that has ended; without a state, a reset has ended it."""
        assert not self.rules.faults, f"{self._where}: {self.rules.faults[:3]}"
        verdict = ListVerdict(self.design, self.memory, now, self._where)
        verdict.check(state)
        if state is not None:
            assert not self.rules.owed, f"{self._where}: memory owes something after the end"
            failure = Failure(state["failure"])
            self.counts[failure.name.lower()] += 1
            if failure:
                running = [each.name for each in self.engines if each.registers.left]
                assert not running, f"{self._where}: {running} not aborted"
            self._drop = not failure and not now.golden.complete
        self.played += 1
        self.now = None


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
