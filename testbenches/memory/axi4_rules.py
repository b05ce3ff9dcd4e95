"""The rules of AXI4 on a port to memory, checked in every cycle.

Source: AMBA AXI (ARM IHI 0022), A3.2 (handshakes), A3.3 (dependencies), A3.4 (bursts).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from merp.models.memory.params.memory_port import BOUNDARY, MemoryPort

CHANNELS = {
    "aw": ("id", "addr", "len", "size", "burst"),
    "w": ("data", "strb", "last"),
    "b": ("id", "resp"),
    "ar": ("id", "addr", "len", "size", "burst"),
    "r": ("id", "data", "resp", "last"),
}
INCR = 1


class Axi4Rules:
    """A monitor of a port.

    Attributes:
        faults: the rules that were broken, each with its cycle.
        bytes: bytes of the beats of each direction, by "read" and "write".
    """

    def __init__(self, port: MemoryPort, prefix: str = "m_axi_") -> None:
        self.port = port
        self.prefix = prefix
        self.faults: list[str] = []
        self.bytes = {"read": 0, "write": 0}
        self._cycle = 0
        self._held: dict[str, tuple[int, ...] | None] = dict.fromkeys(CHANNELS)
        self._reads: dict[int, deque[int]] = {}
        self._lengths: deque[tuple[int, int]] = deque()
        self._ended = 0
        self._beat = 0
        self._written: dict[int, int] = {}

    @property
    def owed(self) -> int:
        """Bursts that were requested, and that memory has not answered completely."""
        reads = sum(map(len, self._reads.values()))
        return reads + len(self._lengths) + sum(self._written.values())

    def sample(self, seen: Mapping[str, int]) -> None:
        """Check the pins of a cycle, just before the edge that ends it."""
        pins = {
            name.removeprefix(self.prefix): value
            for name, value in seen.items()
            if name.startswith(self.prefix)
        }
        self._cycle += 1
        for channel, fields in CHANNELS.items():
            valid, ready = pins[f"{channel}valid"], pins[f"{channel}ready"]
            payload = tuple(pins[channel + field] for field in fields)
            before = self._held[channel]
            if before is not None and not (valid and payload == before):
                self._fault(f"{channel.upper()} changed before its transfer")
            self._held[channel] = payload if valid and not ready else None
        for channel in ("ar", "aw"):
            if pins[f"{channel}valid"]:
                self._check_address(channel, pins)
        self._follow(pins)

    def _fault(self, text: str) -> None:
        self.faults.append(f"cycle {self._cycle}: {text}")

    def _check_address(self, channel: str, pins: Mapping[str, int]) -> None:
        address, size = pins[f"{channel}addr"], self.port.beat_bytes
        last = address + (pins[f"{channel}len"] + 1) * size - 1
        if address // BOUNDARY != last // BOUNDARY:
            self._fault(f"{channel.upper()} crosses a boundary of 4 KiB")
        if address % size or 1 << pins[f"{channel}size"] != size:
            self._fault(f"{channel.upper()} is not of whole beats")
        if pins[f"{channel}burst"] != INCR:
            self._fault(f"{channel.upper()} is not INCR")

    def _follow(self, pins: Mapping[str, int]) -> None:
        """Check that responses belong to requests, in order of each ID."""
        self._follow_reads(pins)
        self._follow_writes(pins)

    def _follow_reads(self, pins: Mapping[str, int]) -> None:
        if pins["rvalid"]:
            queue = self._reads.get(pins["rid"])
            if not queue:
                self._fault("R without a request")
            elif pins["rlast"] != (queue[0] == 1):
                self._fault("RLAST in the wrong place")
            elif pins["rready"]:
                self.bytes["read"] += self.port.beat_bytes
                queue[0] -= 1
                if not queue[0]:
                    queue.popleft()
        if pins["arvalid"] and pins["arready"]:
            self._reads.setdefault(pins["arid"], deque()).append(pins["arlen"] + 1)

    def _follow_writes(self, pins: Mapping[str, int]) -> None:
        if pins["bvalid"]:
            if not self._written.get(pins["bid"]):
                self._fault("B without a burst")
            elif pins["bready"]:
                self._written[pins["bid"]] -= 1
        if pins["awvalid"] and pins["awready"]:
            self._lengths.append((pins["awid"], pins["awlen"]))
        if pins["wvalid"] and pins["wready"]:
            self.bytes["write"] += self.port.beat_bytes
            if not pins["wstrb"]:
                self._fault("W writes nothing")
            self._beat += 1
            if pins["wlast"]:
                self._ended += 1
                self._check_length()

    def _check_length(self) -> None:
        if not self._lengths:
            self._fault("W before its AW")  # legal, but this manager never does it
            return
        stream, length = self._lengths.popleft()
        if self._beat != length + 1:
            self._fault("WLAST in the wrong place")
        self._beat = 0
        self._written[stream] = self._written.get(stream, 0) + 1
