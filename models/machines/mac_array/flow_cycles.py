"""Cycles of a pass by cause, and the constants of the blocks from which they follow."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Latency:
    """Cycles between events, of the blocks.

    Attributes:
        first: from start to the first transfer of every port.
        expanded: from the transfer of a pooled atom to that of its first one behind.
        kernel_there, atom_there: from a transfer to the first slot that can have it.
        all_there: the same of a port's last atom.
        computed: from the last slot that wants a place to the first atom that may take it: from a
            band's, to the band after the next; from a tile's in KU, to the deltas of the tile after
            the next.
        copied: from a tile's or sweep's last slot to the first read of its sums.
        drained: from their last read to the next tile's or sweep's last slot.
        read_out: from a group's last read to the first atom's read from the output buffer.
        leaves: from that to its transfer.
        freed: from the read of a half's last atom to the first read of sums for it.
        loss: from the transfer of an output to the first cycle that may have that of its delta.
        gradient, kernel: from the read of a sum to the transfer of what becomes of it.
        expands: from start to the cycle before the first atom that a pooled one becomes.
    """

    first: int = 1
    expanded: int = 2
    kernel_there: int = 1
    atom_there: int = 2
    all_there: int = 1
    computed: int = 2
    copied: int = 7
    drained: int = 1
    read_out: int = 8
    leaves: int = 4
    freed: int = 1
    loss: int = 7
    gradient: int = 9
    kernel: int = 19
    expands: int = 2


@dataclass(frozen=True)
class ArrayCycles:
    """Cycles of a pass by cause; ``fill`` before the first slot, ``drain`` after the last."""

    issue: int
    stall_kernel: int
    stall_input: int
    stall_output: int
    fill: int
    drain: int

    @property
    def total(self) -> int:
        """All of them: from the cycle behind start to the last word, or the last sum's read."""
        stalls = self.stall_kernel + self.stall_input + self.stall_output
        return self.issue + stalls + self.fill + self.drain


class Slots:
    """Slots one after the other, each when what it wants is there; counts why others are not."""

    def __init__(self) -> None:
        self.first = -1
        self.issued = 0
        self.now = 1
        """The next cycle that may have a slot."""
        self.kernel = self.input = self.output = 0

    def issue(self, *, kernel: int, there: int, output: int) -> None:
        """Issue a slot whose kernel words, maps and room for sums are there from such cycles on."""
        start = max(self.now, kernel, there, output)
        if self.first < 0:
            self.first = start
        else:
            waits_kernel = max(self.now, min(kernel, start))
            waits_input = max(waits_kernel, min(there, start))
            self.kernel += waits_kernel - self.now
            self.input += waits_input - waits_kernel
            self.output += start - waits_input
        self.issued += 1
        self.now = start + 1

    def cycles(self, end: int) -> ArrayCycles:
        """All of a pass whose last word or read is at ``end``."""
        return ArrayCycles(
            issue=self.issued,
            stall_kernel=self.kernel,
            stall_input=self.input,
            stall_output=self.output,
            fill=self.first - 1,
            drain=end - (self.now - 1),
        )
