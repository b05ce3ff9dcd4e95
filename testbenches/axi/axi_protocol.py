"""The rules of AXI on the pins of a top in its AXI shell.

They are checked in every cycle, on every port:

- Once valid is high, payload and valid stay stable until the transfer.
- Each response follows its request.
- After ``RESET_CYCLES`` of reset, no pin is undefined.
- After ``RESET_CYCLES`` of reset, and in the first cycle after reset, no output is valid.

``read(name)`` returns a function that reads a pin. This function raises ValueError if the pin is
undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from merp.testbenches.top.streams import Monitor, Read, StreamPins
from merp.testbenches.top.top import Pin, TopPorts

PREFIX = "s_axi_"
RESET_CYCLES = 3
"""Cycles of ``aresetn`` after which no output is valid: two registers, and those of the engine."""

CHANNELS = {
    "aw": ("awaddr",),
    "w": ("wdata", "wstrb"),
    "b": ("bresp",),
    "ar": ("araddr",),
    "r": ("rdata", "rresp"),
}
"""Payload of every channel of AXI4-Lite; a second field is placed above 32 bits of the first."""


class LiteMonitor:
    """A monitor of an AXI4-Lite interface.

    Attributes:
        channels: a monitor per channel, by its name in ``CHANNELS``.
        begun: number of responses that have become valid, transferred or not, by channel.
    """

    def __init__(self, read: Callable[[str], Read]) -> None:
        self.channels = {
            channel: Monitor(Pin(PREFIX + channel, 1), _pins(read, channel, fields), None)
            for channel, fields in CHANNELS.items()
        }
        self.begun = {"b": 0, "r": 0}
        self.faults: list[str] = []

    def sample(self, t: int) -> None:
        """Sample the pins just before the edge that ends cycle ``t``."""
        requests = {
            "b": min(self.channels["aw"].count, self.channels["w"].count),
            "r": self.channels["ar"].count,
        }
        for channel, monitor in self.channels.items():
            monitor.sample(t)
            if channel in requests and monitor.valid:
                taken = monitor.count - (1 if monitor.ready else 0)
                self.begun[channel] = taken + 1
                if taken >= requests[channel]:
                    self.faults.append(f"{monitor.name}: response without request (cycle {t})")

    def all_faults(self) -> list[str]:
        """Return the violated rules of all channels."""
        return self.faults + [f for monitor in self.channels.values() for f in monitor.faults]


def _pins(read: Callable[[str], Read], channel: str, fields: tuple[str, ...]) -> StreamPins:
    readers = [read(PREFIX + field) for field in fields]
    return StreamPins(
        data=lambda: sum(reader() << (32 * place) for place, reader in enumerate(readers)),
        valid=read(f"{PREFIX}{channel}valid"),
        ready=read(f"{PREFIX}{channel}ready"),
        last=lambda: 0,
    )


def stream_monitors(
    ports: TopPorts,
    read: Callable[[str], Read],
    supply: Mapping[str, int],
    ends: Mapping[str, Sequence[int]],
) -> dict[str, Monitor]:
    """Create a monitor for each stream of the top.

    ``supply``: number of words of each input's source. ``ends``: as in ``Run``.
    """
    return {
        stream.name: Monitor(
            stream,
            StreamPins.of(stream, read),
            supply.get(stream.name),
            ends.get(stream.name, ()),
        )
        for stream in ports.streams
    }


def eager_streams(ports: TopPorts, read: Callable[[str], Read]) -> list[str]:
    """Return the pins that are ready or valid now; between runs there must be none."""
    pins = [f"{stream.name}_tvalid" for stream in ports.outputs]
    pins += [f"{stream.name}_tready" for stream in ports.inputs]
    return [pin for pin in pins if read(pin)()]


def valid_outputs(ports: TopPorts, read: Callable[[str], Read]) -> list[str]:
    """Return the outputs that are valid now; in reset there must be none."""
    pins = [f"{stream.name}_tvalid" for stream in ports.outputs]
    return [pin for pin in (*pins, PREFIX + "bvalid", PREFIX + "rvalid") if read(pin)()]
