"""Memory behind an AXI4 port: seeded latency, gaps, reordering between IDs, and errors.

It has no timing of a real memory, so no figure of performance comes from it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from merp.models.memory.params.memory_port import MemoryPort
from merp.testbenches.memory.read_memory import DECERR, OKAY


@dataclass(frozen=True)
class Conduct:
    """How the memory behaves.

    Attributes:
        latency: longest time from a request to its answer, in cycles; at least 1.
        rate: share of the cycles in which a channel is ready, or carries an answer that is due.
        data_rate: the same of the beats to write, in addition.
        mixed: whether answers of different IDs change order, and beats of their bursts mix.
        errors: response of each burst that touches a byte of these, in place of OKAY.
    """

    latency: int = 1
    rate: float = 1.0
    data_rate: float = 1.0
    mixed: bool = False
    errors: Sequence[tuple[range, int]] = ()


class AxiMemory:
    """Memory from address 0 on, one beat per cycle and channel.

    Attributes:
        data: its bytes. A burst that leaves them is answered with DECERR.
        bursts: address, bytes and direction of each burst, in the order of their requests.
    """

    def __init__(
        self, port: MemoryPort, data: bytearray, conduct: Conduct, seed: int, prefix: str = "m_axi_"
    ) -> None:
        self.port = port
        self.data = data
        self.conduct = conduct
        self.rng = Random(seed)
        self.prefix = prefix
        self.cycle = 0
        self.bursts: list[tuple[int, int, str]] = []
        self._writes: deque[tuple[int, int, int]] = deque()  # ID, address, beats
        self._beats: deque[tuple[int, int, int]] = deque()  # data, strobes, last
        self._reads: dict[int, deque[tuple[int, int, int, int]]] = {}
        self._answers: dict[int, deque[tuple[int, int]]] = {}
        self._r: dict[str, int] = {"rvalid": 0}
        self._b: dict[str, int] = {"bvalid": 0}
        self._order: deque[int] = deque()  # IDs of the reads, in the order of their beats

    def response(self, address: int, size: int) -> int:
        """Return the response to a burst."""
        if address + size > len(self.data):
            return DECERR
        for where, resp in self.conduct.errors:
            if address < where.stop and where.start < address + size:
                return resp
        return OKAY

    def step(self, seen: Mapping[str, int]) -> dict[str, int]:
        """Take the transfers of a cycle, and return the pins of the next one."""
        pins = {
            name.removeprefix(self.prefix): value
            for name, value in seen.items()
            if name.startswith(self.prefix)
        }
        if pins:
            self._take(pins)
        self.cycle += 1
        self._answer_writes()
        if not self._r["rvalid"]:
            self._r = self._next_read()
        if not self._b["bvalid"]:
            self._b = self._next_response()
        ready = {f"{name}ready": int(self._luck()) for name in ("aw", "w", "ar")}
        if self.conduct.data_rate < 1:
            ready["wready"] &= self.rng.random() < self.conduct.data_rate
        found = {**ready, **self._r, **self._b}
        return {self.prefix + name: value for name, value in found.items()}

    def _luck(self) -> bool:
        return self.conduct.rate >= 1 or self.rng.random() < self.conduct.rate

    def _take(self, pins: Mapping[str, int]) -> None:
        if pins["awvalid"] and pins["awready"]:
            beats = pins["awlen"] + 1
            self.bursts.append((pins["awaddr"], beats * self.port.beat_bytes, "write"))
            self._writes.append((pins["awid"], pins["awaddr"], beats))
        if pins["wvalid"] and pins["wready"]:
            self._beats.append((pins["wdata"], pins["wstrb"], pins["wlast"]))
        if pins["arvalid"] and pins["arready"]:
            self._read(pins["arid"], pins["araddr"], pins["arlen"] + 1)
        if pins["rvalid"] and pins["rready"]:
            self._r = {"rvalid": 0}
        if pins["bvalid"] and pins["bready"]:
            self._b = {"bvalid": 0}

    def _due(self) -> int:
        return self.cycle + self.rng.randint(1, self.conduct.latency)

    def _read(self, stream: int, address: int, beats: int) -> None:
        size = self.port.beat_bytes
        self.bursts.append((address, beats * size, "read"))
        resp, due = self.response(address, beats * size), self._due()
        queue = self._reads.setdefault(stream, deque())
        for beat in range(beats):
            begin = address + beat * size
            queue.append((due, begin if resp == OKAY else -1, resp, int(beat == beats - 1)))
            self._order.append(stream)

    def _answer_writes(self) -> None:
        """Write each burst whose beats have all arrived."""
        size = self.port.beat_bytes
        while self._writes and len(self._beats) >= self._writes[0][2]:
            stream, address, beats = self._writes.popleft()
            resp = self.response(address, beats * size)
            for beat in range(beats):
                data, strobes, last = self._beats.popleft()
                assert last == (beat == beats - 1), "WLAST in the wrong place"
                for byte in range(size):
                    if strobes >> byte & 1 and resp == OKAY:
                        self.data[address + beat * size + byte] = data >> 8 * byte & 0xFF
            self._answers.setdefault(stream, deque()).append((self._due(), resp))

    def _next_read(self) -> dict[str, int]:
        if not self._order or not self._luck():
            return {"rvalid": 0}
        stream = self._order[0]
        if self.conduct.mixed:
            due = [each for each, queue in self._reads.items() if queue and self._is_due(queue)]
            stream = self.rng.choice(due) if due else stream
        queue = self._reads[stream]
        if not self._is_due(queue):
            return {"rvalid": 0}
        self._order.remove(stream)
        _, begin, resp, last = queue.popleft()
        found = self.data[begin : begin + self.port.beat_bytes] if begin >= 0 else b""
        data = int.from_bytes(found, "little")
        return {"rvalid": 1, "rid": stream, "rdata": data, "rresp": resp, "rlast": last}

    def _next_response(self) -> dict[str, int]:
        due = [each for each, queue in self._answers.items() if queue and self._is_due(queue)]
        if not due or not self._luck():
            return {"bvalid": 0}
        stream = self.rng.choice(due) if self.conduct.mixed else due[0]
        return {"bvalid": 1, "bid": stream, "bresp": self._answers[stream].popleft()[1]}

    def _is_due(self, queue: Sequence[tuple[int, ...]] | deque[tuple[int, ...]]) -> bool:
        return queue[0][0] <= self.cycle
