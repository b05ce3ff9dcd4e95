"""Host, memory and monitors around an accelerator with a memory port, one cycle at a time."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from merp.testbenches.memory.axi4_rules import Axi4Rules
from merp.testbenches.memory.axi_memory import AxiMemory
from merp.testbenches.memory.lite_pins import LiteHost

RESET_CYCLES = 6
BYTE = 8


@dataclass
class SeenPass:
    """A pass of an engine on the pins.

    Attributes:
        engine: number of the engine.
        began: cycle in which it began.
        ended: cycles until its interrupt; -1 before.
        moves: of each stream of all engines its elements, the first and the last cycle.
        crossed: beats on the bus and their bytes, by direction and the ID of their burst. Bytes of
            writes are those with a strobe.
    """

    engine: int
    began: int
    ended: int = -1
    moves: dict[int, list[int]] = field(default_factory=dict)
    crossed: dict[str, dict[int, list[int]]] = field(
        default_factory=lambda: {"read": {}, "write": {}}
    )

    def cross(self, way: str, number: int, size: int) -> None:
        """Count a beat of ``size`` bytes."""
        beats = self.crossed[way].setdefault(number, [0, 0])
        beats[0] += 1
        beats[1] += size


class BoardBench:
    """A host that writes registers, waits for the interrupt, and reads registers.

    Attributes:
        memory: the memory.
        rules: monitor of the memory's port.
        passes: the passes of engines, in the order of their starts.
        strobed: written bytes that a strobe marked.
        found: the registers that the host has read after the interrupt, by offset.
        interrupted: cycle of the interrupt; 0 before.
    """

    def __init__(
        self, memory: AxiMemory, writes: Sequence[tuple[int, int]], reads: Sequence[int]
    ) -> None:
        """Prepare a run.

        Args:
            memory: the memory.
            writes: offset and word of each access before the interrupt.
            reads: offset of each access behind it.
        """
        self.memory = memory
        self.rules = Axi4Rules(memory.port)
        self.passes: list[SeenPass] = []
        self.strobed = 0
        self.found: dict[int, int] = {}
        self.interrupted = 0
        self._host = LiteHost()
        self._writes = len(writes)
        self._reads = list(reads)
        self._latest: dict[int, SeenPass] = {}
        self._beginning = 0
        self._writers: deque[int] = deque()  # IDs of the requests whose beats are not complete
        for offset, word in writes:
            self._host.write(offset, word)

    @property
    def done(self) -> bool:
        """Whether the host has read all registers behind the interrupt."""
        return bool(self.interrupted) and len(self.found) == len(self._reads)

    def bursts(self, direction: str) -> dict[int, int]:
        """Return the number of bursts of a direction by their length in beats."""
        size = self.memory.port.beat_bytes
        lengths = (of // size for _, of, kind in self.memory.bursts if kind == direction)
        return dict(Counter(lengths))

    def drive(self, cycle: int, seen: Mapping[str, int]) -> Mapping[str, int]:
        """Take the pins of the cycle before, and return the inputs of a cycle."""
        if cycle < RESET_CYCLES:
            return {"rst": 1}
        pins = seen if cycle > RESET_CYCLES else {}
        if pins:
            self._sample(cycle - 1, pins)
        return {"rst": 0, **self.memory.step(pins), **self._host.step(pins)}

    def _sample(self, cycle: int, pins: Mapping[str, int]) -> None:
        self.rules.sample(pins)
        self._cross(pins)
        self._follow(cycle, pins)
        if pins["interrupt"] and not self.interrupted:
            self.interrupted = cycle
            for offset in self._reads:
                self._host.read(offset)
        answers = self._host.answers[self._writes :]
        self.found = {offset: word for offset, (_, word) in zip(self._reads, answers, strict=False)}

    def _cross(self, pins: Mapping[str, int]) -> None:
        """Count the beats of a cycle; they belong to the pass that began last.

        Engines share IDs, so a beat must not count for an earlier pass of another engine.
        """
        if pins["m_axi_awvalid"] and pins["m_axi_awready"]:
            self._writers.append(pins["m_axi_awid"])
        if pins["m_axi_wvalid"] and pins["m_axi_wready"]:
            size = pins["m_axi_wstrb"].bit_count()
            self.strobed += size
            number = self._writers[0]
            if pins["m_axi_wlast"]:
                self._writers.popleft()
            for each in self.passes[-1:]:
                each.cross("write", number, size)
        if pins["m_axi_rvalid"] and pins["m_axi_rready"]:
            for each in self.passes[-1:]:
                each.cross("read", pins["m_axi_rid"], self.memory.port.beat_bytes)

    def _follow(self, cycle: int, pins: Mapping[str, int]) -> None:
        starts = pins["begins"]
        for engine in range(starts.bit_length()):
            if not starts >> engine & 1:
                continue
            if not self._beginning >> engine & 1:
                self._latest[engine] = SeenPass(engine, cycle)
                self.passes.append(self._latest[engine])
            self._latest[engine].began = cycle  # a start can stay for several cycles
        self._beginning = starts
        for engine, each in self._latest.items():
            if pins["ends"] >> engine & 1 and each.ended < 0:
                each.ended = cycle - each.began
        moving, stream = pins["moves"], 0
        while moving:
            elements = moving & (1 << BYTE) - 1
            for each in self._latest.values() if elements else ():
                now = cycle - each.began
                moved = each.moves.setdefault(stream, [0, now, now])
                moved[0] += elements
                moved[2] = now
            moving, stream = moving >> BYTE, stream + 1
