"""A host that plays random lists on a subsystem, one after the other, and disturbs them.

Host, engines and memory follow each other cycle by cycle, in MyHDL or around exported hardware. At
the end of each list, memory must hold what the golden list and the bursts on the port say.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random

from drawn_lists import SIZE, UNITS, Drawing
from list_engine import Engine
from list_golden import GoldenList
from list_loads import ListLoads
from list_memory import put_words
from list_system import STATE
from list_trigger import drawn_trigger
from list_verdict import ListVerdict, Playing

from merp.models.memory.bursts import bursts_of
from merp.models.memory.params.commands import Failure
from merp.models.memory.params.subsystem import LIST, LOADS, Loader, SubsystemDesign
from merp.models.memory.walk import Run
from merp.testbenches.memory.axi4_rules import Axi4Rules
from merp.testbenches.memory.axi_memory import AxiMemory, Conduct
from merp.testbenches.memory.lite_pins import LiteHost
from merp.testbenches.memory.read_memory import DECERR, OKAY, SLVERR

Pins = Mapping[str, int]
LIMIT = 30_000
"""Cycles after which a list is a hang."""

AFTER_ABORT = 6000
"""Cycles after an abort until the list must have ended."""


class ListSession:
    """Play a number of lists.

    Attributes:
        done: whether all lists have been played.
        counts: how many lists ended in which way.
    """

    def __init__(self, design: SubsystemDesign, seed: str, lists: int) -> None:
        self.design, self.seed, self.lists = design, seed, lists
        self.rng = Random(seed)
        self.loads = ListLoads() if design.loader == Loader.ICAPE2 else None
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
        if self.loads and seen:
            self.loads.sample(seen, self.rules.owed, self._where)
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
            while self.loads and self.loads.busy:
                yield
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
            for name in (*STATE, *(LOADS if self.design.loads else ())):
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
        self._check_loads(now, state)
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

    def _check_loads(self, now: Playing, state: Mapping[str, int] | None) -> None:
        """Check the loads of a list that has ended."""
        if self.loads is None:
            return
        loads = now.golden.loads
        if state is None:
            self.loads.broken_off(loads)
            return
        if state["failure"] or state["commands"] != now.golden.commands:
            loads = []
        assert state["load"] == len(loads), f"{self._where}: {state}, loads {loads}"
        assert not loads or state["bitstream"] == loads[0], f"{self._where}: {state}"
        self.loads.ended(loads, self._where)
        self.counts["load"] += len(loads)
