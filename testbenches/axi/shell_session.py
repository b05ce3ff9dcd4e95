"""Software and neighbours of a top in its AXI shell, in MyHDL: the stimulus of ``run_block``.

Software is a generator: it yields the name of a register to read it, a pair of name and value to
write it, or a number of cycles to wait, and is sent the word read, or the response of the write.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

from merp.models.base.bits import Bits
from merp.testbenches.axi.axi_model import OKAY
from merp.testbenches.block.trace import Sample
from merp.testbenches.top.streams import Changes, Source
from merp.testbenches.top.top import TopPorts

Access = str | tuple[str, int] | int
Software = Generator[Access, int, None]
ALWAYS = (1,)
BUS_INPUTS = tuple(
    f"s_axi_{name}"
    for name in (
        "awaddr", "awvalid", "wdata", "wstrb", "wvalid", "bready", "araddr", "arvalid", "rready",
    )
)  # fmt: skip


class ShellSession:
    """One simulation.

    Attributes:
        words: what has come on each output stream since ``give``, by name.
        ended: software has nothing more to do.
        inputs: names of the ports that are driven.
    """

    def __init__(self, ports: TopPorts, offsets: Mapping[str, int], reset_cycles: int) -> None:
        """``offsets``: addresses of registers by name. ``reset_cycles``: of ``aresetn``, at first.

        ``software`` is to be set before the first cycle.
        """
        self.software: Software
        self._ports, self._offsets, self._reset_cycles = ports, offsets, reset_cycles
        self._sources: dict[str, Source] = {}
        self._access: Access | None = None
        self._waits = 0
        self._fallen: Changes = {}
        self.ended = False
        self.words: dict[str, list[int]] = {}
        self.inputs = (
            "aresetn",
            *BUS_INPUTS,
            *(f"{pin.name}_{f}" for pin in ports.inputs for f in ("tdata", "tvalid", "tlast")),
            *(f"{pin.name}_tkeep" for pin in ports.inputs if pin.keep),
            *(f"{pin.name}_tready" for pin in ports.outputs),
        )

    def give(self, words: Mapping[str, Bits]) -> None:
        """Reset what feeds and takes the streams, and give the sources words."""
        self._sources = {
            pin.name: Source(pin, [int(word) for word in words[pin.name]], ALWAYS)
            for pin in self._ports.inputs
            if pin.name in words
        }
        self.words = {pin.name: [] for pin in self._ports.outputs}
        self._fallen = {f"{pin.name}_tvalid": 0 for pin in self._ports.inputs}

    def __call__(self, cycle: int, seen: Sample) -> Changes:
        """Inputs of a cycle; ``seen`` are the pins a cycle earlier."""
        changes: Changes = {"aresetn": int(cycle >= self._reset_cycles)}
        if cycle == 0:
            changes |= dict.fromkeys(("s_axi_bready", "s_axi_rready"), 1)
            changes |= {f"{pin.name}_tready": 1 for pin in self._ports.outputs}
            changes |= {"s_axi_wstrb": 15}
            self.give({})
        for name, source in self._sources.items():
            if seen[f"{name}_tvalid"] and seen[f"{name}_tready"]:
                source.taken()
        for name, words in self.words.items():
            if cycle > self._reset_cycles and seen[f"{name}_tvalid"]:
                words.append(seen[f"{name}_tdata"])
        if cycle >= self._reset_cycles and not self.ended:
            self._software(seen, changes)
        changes |= self._fallen
        self._fallen = {}
        for source in self._sources.values():
            source.drive(cycle, changes)
        return changes

    def _software(self, seen: Sample, changes: Changes) -> None:
        """Go on with the access under way, or with the next one."""
        for channel in ("aw", "w", "ar"):
            if seen[f"s_axi_{channel}valid"] and seen[f"s_axi_{channel}ready"]:
                changes[f"s_axi_{channel}valid"] = 0
        answer = 0
        if isinstance(self._access, str):
            if not seen["s_axi_rvalid"]:
                return
            assert seen["s_axi_rresp"] == OKAY
            answer = seen["s_axi_rdata"]
        elif isinstance(self._access, tuple):
            if not seen["s_axi_bvalid"]:
                return
            answer = seen["s_axi_bresp"]
        elif isinstance(self._access, int) and self._waits > 1:
            self._waits -= 1
            return
        self._begin(answer, changes)

    def _begin(self, answer: int, changes: Changes) -> None:
        """Send software the answer, and begin what it wants next; nothing once it has ended."""
        try:
            first = self._access is None
            self._access = next(self.software) if first else self.software.send(answer)
        except StopIteration:
            self.ended = True
            return
        match self._access:
            case str(name):
                changes |= {"s_axi_araddr": self._offsets[name], "s_axi_arvalid": 1}
            case (name, value):
                changes |= {"s_axi_awaddr": self._offsets[name], "s_axi_awvalid": 1}
                changes |= {"s_axi_wdata": value, "s_axi_wvalid": 1}
            case int(cycles):
                self._waits = cycles
