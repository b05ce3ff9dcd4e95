"""All streams of an engine on one port: words, memory, the rules of AXI4, turns, stops, errors."""

from collections.abc import Mapping
from random import Random

import pytest
from movers import config_inputs, drawn_walk

from block_bench import BlockBench, Recorded, Replays, Sample
from marks import in_full
from merp.hdl.memory.axi4 import Axi4
from merp.hdl.memory.memory_interface import memory_interface, ports_of
from merp.models.memory.bursts import bursts_of
from merp.models.memory.params.interface import InterfaceDesign
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover
from merp.models.memory.walk import Dimension, Walk
from merp.testbenches.memory.axi4_rules import Axi4Rules
from merp.testbenches.memory.axi_memory import AxiMemory, Conduct

PORT = MemoryPort(data_bits=64, burst_beats=16, turn_beats=32)
SIZE = 1 << 16


def design(readers: tuple[int, ...], writers: tuple[int, ...]) -> InterfaceDesign:
    """Streams of these widths."""

    def movers(letter: str, widths: tuple[int, ...]) -> tuple[tuple[str, Mover], ...]:
        return tuple(
            (f"{letter}{at}", Mover(port=PORT, word_bits=width, places=32, bursts=8))
            for at, width in enumerate(widths)
        )

    return InterfaceDesign(port=PORT, readers=movers("r", readers), writers=movers("w", writers))


FIVE = design((16, 64, 8), (32, 16))
ONES = design((64,), (64,))


class Session:
    """Every stream makes its walk once, over a memory."""

    def __init__(
        self, interface: InterfaceDesign, walks: Mapping[str, Walk], conduct: Conduct,
        seed: int = 1, rate: float = 1.0, stop_at: int = 1 << 30,
    ) -> None:  # fmt: skip
        self.interface, self.walks, self.rate, self.stop_at = interface, walks, rate, stop_at
        self.rng = Random(seed)
        self.memory = AxiMemory(PORT, bytearray(self.rng.randbytes(SIZE)), conduct, seed)
        self.before = bytes(self.memory.data)
        self.rules = Axi4Rules(PORT)
        self.movers = dict((*interface.readers, *interface.writers))
        self.written = {
            name: [self.rng.getrandbits(mover.word_bits) for _ in range(walks[name].total)]
            for name, mover in interface.writers
        }
        self.read: dict[str, list[tuple[int, int]]] = {name: [] for name, _ in interface.readers}
        self.taken = dict.fromkeys(self.written, 0)
        self.inputs: dict[str, int] = {}

    def drive(self, cycle: int, seen: Sample) -> Mapping[str, int]:
        if cycle:
            self.rules.sample(seen)
            self.listen(seen)
        pins = {} if cycle < 2 else self.memory.step(seen)
        inputs = {"rst": int(cycle < 2), **pins}
        for name, walk in self.walks.items():
            inputs[f"streams_{name}_start"] = int(cycle == 2)
            inputs[f"streams_{name}_stop"] = int(cycle >= self.stop_at)
            inputs[f"streams_{name}_clear"] = 0
            inputs.update(config_inputs(walk, self.movers[name], f"streams_{name}_config"))
        for name in self.read:
            inputs[f"streams_{name}_source_ready"] = int(self.rng.random() < self.rate)
        for name, words in self.written.items():
            inputs.update(self.offer(name, words, cycle))
        return inputs

    def listen(self, seen: Sample) -> None:
        for name in self.read:
            source = f"streams_{name}_source"
            if seen[f"{source}_valid"] and seen[f"{source}_ready"]:
                self.read[name].append((seen[f"{source}_data"], seen[f"{source}_last"]))
        for name in self.written:
            sink = f"streams_{name}_sink"
            if seen[f"{sink}_valid"] and seen[f"{sink}_ready"]:
                self.taken[name] += 1
                self.inputs[f"{sink}_valid"] = 0

    def offer(self, name: str, words: list[int], cycle: int) -> Mapping[str, int]:
        sink = f"streams_{name}_sink"
        more = cycle > 2 and self.taken[name] < len(words)
        if more and not self.inputs.get(f"{sink}_valid") and self.rng.random() < self.rate:
            self.inputs.update({f"{sink}_valid": 1, f"{sink}_data": words[self.taken[name]]})
        return {f"{sink}_valid": 0, f"{sink}_data": 0} | {
            key: value for key, value in self.inputs.items() if key.startswith(sink)
        }

    def run(self, cycles: int) -> Recorded:
        bench = BlockBench(
            memory_interface,
            "clk rst",
            streams=ports_of(self.interface),
            m_axi=Axi4(PORT),
            design=self.interface,
        )
        trace = bench.run(self.drive, cycles)
        assert self.rules.faults == []
        return trace

    def words(self, name: str) -> list[tuple[int, int]]:
        """What a stream that is read has to carry."""
        walk, size = self.walks[name], self.movers[name].word_bytes
        found = [
            int.from_bytes(self.before[at * size : (at + 1) * size], "little")
            for at in walk.addresses()
        ]
        return [(word, int(at == len(found) - 1)) for at, word in enumerate(found)]

    def content(self) -> bytes:
        """What memory has to hold in the end."""
        data = bytearray(self.before)
        for name, words in self.written.items():
            size = self.movers[name].word_bytes
            for at, word in zip(self.walks[name].addresses(), words, strict=True):
                data[at * size : (at + 1) * size] = word.to_bytes(size, "little")
        return bytes(data)

    def idle(self, trace: Recorded) -> list[int]:
        return [trace.column(f"streams_{name}_idle")[-1] for name in self.walks]


def drawn(interface: InterfaceDesign, seed: int) -> dict[str, Walk]:
    """Walks that keep apart: what is written in the upper half, each stream in its own part."""
    rng = Random(seed)
    walks = {name: drawn_walk(rng, mover, far=60) for name, mover in interface.readers}
    part = SIZE // 2 // len(interface.writers)
    for at, (name, mover) in enumerate(interface.writers):
        while True:
            walk = drawn_walk(rng, mover, far=60)
            addresses = list(walk.addresses())
            if len(set(addresses)) == len(addresses) and max(addresses) < part // 8:
                break
        base = (SIZE // 2 + at * part) // mover.word_bytes
        walks[name] = Walk(base + walk.base, walk.words, walk.dimensions)
    return walks


CONDUCTS = [
    Conduct(),
    Conduct(latency=30, mixed=True),
    Conduct(latency=8, rate=0.6, mixed=True),
    Conduct(data_rate=0.1),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize("conduct", CONDUCTS)
@pytest.mark.parametrize("interface", [FIVE, ONES])
@pytest.mark.parametrize("seed", [0, *in_full(1, 2)])
def test_random_walks_of_all_streams(
    interface: InterfaceDesign, conduct: Conduct, seed: int
) -> None:
    session = Session(interface, drawn(interface, seed), conduct, seed, rate=1.0 - 0.2 * seed)
    trace = session.run(3000)
    for name in session.read:
        assert session.read[name] == session.words(name)
    assert session.memory.data == session.content()
    assert session.idle(trace) == [1] * len(session.walks)
    for name in session.walks:
        assert trace.column(f"streams_{name}_finished")[-1] == 1
    for direction, names in (("read", session.read), ("write", session.written)):
        beats = sum(
            burst.beats
            for name in names
            for burst in bursts_of(session.walks[name].runs(), session.movers[name])
        )
        assert session.rules.bytes[direction] == beats * PORT.beat_bytes


@pytest.mark.parametrize("conduct", [Conduct(data_rate=0.1), Conduct(rate=0.4)])
def test_a_request_waits_for_its_data_to_be_near(conduct: Conduct) -> None:
    """W is slow, and AW far ahead of it, or AW stalls: the order of the writers is kept."""
    walks = {
        "w0": Walk(0, 1, (Dimension(40, 9),)),
        "w1": Walk(4096, 1, (Dimension(40, 9),)),
        "r0": Walk(0, 1),
    }
    pair = design((64,), (64, 64))
    session = Session(pair, walks, conduct)
    session.run(1500)
    assert session.memory.data == session.content()


def test_both_directions_carry_a_beat_in_every_cycle() -> None:
    walks = {"r0": Walk(0, 1000), "w0": Walk(4096, 1000)}
    session = Session(ONES, walks, Conduct(latency=4))
    trace = session.run(1100)
    start = trace.column("streams_r0_start").index(1)
    assert trace.column("m_axi_arvalid").index(1) == start + 6
    for channel in ("r", "w"):
        beats = [at for at, high in enumerate(trace.column(f"m_axi_{channel}valid")) if high]
        assert len(beats) == 1000
        assert beats[-1] - beats[0] == 999
    assert session.read["r0"] == session.words("r0")
    assert session.memory.data == session.content()


@pytest.mark.sample(2)
@pytest.mark.parametrize("stop_at", [5, 20, 41, 77, 120, 200])
def test_a_stopped_interface_becomes_idle_and_goes_on_after_a_reset(stop_at: int) -> None:
    first = Session(FIVE, drawn(FIVE, 1), CONDUCTS[2], 1, rate=0.5, stop_at=stop_at)
    begin = stop_at + 150
    last = Session(FIVE, drawn(FIVE, 2), CONDUCTS[1], 2)

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        if cycle < begin:
            return first.drive(cycle, seen)
        if cycle == begin:
            assert all(seen[f"streams_{name}_idle"] for name in first.walks)
            return {**last.drive(0, {}), "m_axi_rvalid": 0, "m_axi_bvalid": 0}
        return last.drive(cycle - begin, seen)

    bench = BlockBench(
        memory_interface, "clk rst", streams=ports_of(FIVE), m_axi=Axi4(PORT), design=FIVE
    )
    bench.run(drive, begin + 1500)
    assert first.rules.faults == []
    assert last.rules.faults == []
    for name in last.read:
        assert last.read[name] == last.words(name)
    assert last.memory.data == last.content()
    stopped = first.memory.data
    wanted = first.content()
    assert all(
        now in (old, new) for now, old, new in zip(stopped, first.before, wanted, strict=True)
    )


@pytest.mark.ghdl
def test_memory_interface_vhdl(replays: Replays) -> None:
    replays(Session(FIVE, drawn(FIVE, 3), CONDUCTS[2], 3, rate=0.8).run(700), lint=True)
