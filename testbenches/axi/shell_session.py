"""Stimulus of ``run_block`` for a top in its AXI shell: software and stream partners, in MyHDL.

Software is a generator. It yields its accesses:

- the name of a register, to read it; the generator then receives the word
- a pair of name and value, to write it; the generator then receives the response
- a number of cycles, to wait
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
    """The stimulus of one simulation.

    Attributes:
        words: words received on each output stream since ``give``, by name.
        ended: whether software has finished.
        inputs: names of the driven ports.
    """

    def __init__(self, ports: TopPorts, offsets: Mapping[str, int], reset_cycles: int) -> None:
        """``offsets``: addresses of registers by name.

        ``reset_cycles``: length of the initial reset by ``aresetn``. The caller sets ``software``
        before the first cycle.
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
        """Reset the sources and sinks of the streams, and pass words to the sources."""
        self._sources = {
            pin.name: Source(pin, [int(word) for word in words[pin.name]], ALWAYS)
            for pin in self._ports.inputs
            if pin.name in words
        }
        self.words = {pin.name: [] for pin in self._ports.outputs}
        self._fallen = {f"{pin.name}_tvalid": 0 for pin in self._ports.inputs}

    def __call__(self, cycle: int, seen: Sample) -> Changes:
        """Return the inputs of a cycle; ``seen`` are the pins a cycle earlier."""
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
        """Continue the current access, or begin the next one."""
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
        """Send the answer to software, and begin its next access; none once it has ended."""
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
