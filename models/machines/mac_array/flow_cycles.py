"""Cycles of a pass by cause, and the latencies of the blocks that determine them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Latency:
    """Latencies of the blocks: cycles between two events.

    Attributes:
        first: from start to the first transfer on every port.
        expanded: from the transfer of a pooled atom to the transfer of its first expanded atom.
        kernel_there, atom_there: from a transfer to the first slot that can use it.
        all_there: the same for the last atom of a port.
        computed: from the last slot that reads a memory location to the first atom that may
            overwrite it. In FP and DP, from the last slot of a band to the band after the next
            one. In KU, from the last slot of a tile to the deltas of the tile after the next one.
        copied: from the last slot of a tile or sweep to the first read of its sums.
        drained: from the last read of these sums to the last slot of the next tile or sweep.
        read_out: from the last read of a group to the first read of an atom from the output buffer.
        leaves: from the read of that atom to its transfer.
        freed: from the read of the last atom in a buffer half to the first read of sums for it.
        loss: from the transfer of an output to the first possible transfer of its delta.
        gradient, kernel: from the read of a sum to the transfer of the gradient, or of the new
            kernel.
        expands: from start to the cycle before the first expanded atom, in a pass that expands
            pooled deltas.
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
    """Cycles of a pass by cause; ``fill`` is before the first slot, ``drain`` after the last."""

    issue: int
    stall_kernel: int
    stall_input: int
    stall_output: int
    fill: int
    drain: int

    @property
    def total(self) -> int:
        """All cycles, from the one after start to the last word or the last read of a sum."""
        stalls = self.stall_kernel + self.stall_input + self.stall_output
        return self.issue + stalls + self.fill + self.drain


class Slots:
    """Issues each slot as soon as its operands are available, and counts stall cycles by cause."""

    def __init__(self) -> None:
        self.first = -1
        self.issued = 0
        self.now = 1
        """The next cycle in which a slot may be issued."""
        self.kernel = self.input = self.output = 0

    def issue(self, *, kernel: int, there: int, output: int) -> None:
        """Issue a slot, given the cycles when its kernel words, maps and output space are ready."""
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
        """Return the cycles of a pass whose last word, or read of a sum, is in cycle ``end``."""
        return ArrayCycles(
            issue=self.issued,
            stall_kernel=self.kernel,
            stall_input=self.input,
            stall_output=self.output,
            fill=self.first - 1,
            drain=end - (self.now - 1),
        )
