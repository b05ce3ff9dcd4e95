"""The rules of AXI on the pins of a top behind its AXI shell.

Checked in every cycle, on every port: once valid, a transfer's payload and valid hold until it is
taken; no response without its request; from ``RESET_CYCLES`` of reset on, and after it, nothing is
undefined and no output is valid. ``read(name)`` gives a function that reads a pin and raises
ValueError where that is undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from merp.testbenches.top.streams import Monitor, Read, StreamPins
from merp.testbenches.top.top import Pin, TopPorts

PREFIX = "s_axi_"
RESET_CYCLES = 3
"""Cycles of ``aresetn`` after which nothing is valid: two registers, and those of the engine."""

CHANNELS = {
    "aw": ("awaddr",),
    "w": ("wdata", "wstrb"),
    "b": ("bresp",),
    "ar": ("araddr",),
    "r": ("rdata", "rresp"),
}
"""Payload of every channel of AXI4-Lite; a second field stands above 32 bits of the first."""


class LiteMonitor:
    """Watches an AXI4-Lite interface.

    Attributes:
        channels: a monitor per channel, by its name in ``CHANNELS``.
        begun: responses that have become valid, taken or not, by channel.
    """

    def __init__(self, read: Callable[[str], Read]) -> None:
        self.channels = {
            channel: Monitor(Pin(PREFIX + channel, 1), _pins(read, channel, fields), None)
            for channel, fields in CHANNELS.items()
        }
        self.begun = {"b": 0, "r": 0}
        self.faults: list[str] = []

    def sample(self, t: int) -> None:
        """Look at the pins just before the edge that ends cycle ``t``."""
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
        """Broken rules of every channel."""
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
    """A monitor per stream of the top.

    supply: words that each input's source has. ends: as of a ``Run``.
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
    """Streams that would move a word now; between runs there are none."""
    pins = [f"{stream.name}_tvalid" for stream in ports.outputs]
    pins += [f"{stream.name}_tready" for stream in ports.inputs]
    return [pin for pin in pins if read(pin)()]


def valid_outputs(ports: TopPorts, read: Callable[[str], Read]) -> list[str]:
    """Outputs that are valid now; in reset there may be none."""
    pins = [f"{stream.name}_tvalid" for stream in ports.outputs]
    return [pin for pin in (*pins, PREFIX + "bvalid", PREFIX + "rvalid") if read(pin)()]
