"""The drain of a gradient module: the sums of a pass become gradients, one per cycle."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.machines.fcnn.params.stream_design import StreamDesign

WINDOW = 1
"""Cycles from a beat to its masked window in a register."""

LEAVE = 2
"""Cycles from a gradient to its word at the port: the memory and the head register of the FIFO."""


@dataclass(frozen=True)
class GradientDrain:
    """Places and cycles of the drain after each pass of ``design``.

    Each map of a block has k*k + 1 elements: the bias first, then the kernel, row by row. The drain
    reads an element per cycle. It reads accumulator a of an element a cycles after accumulator 0.
    """

    design: StreamDesign

    @property
    def map_elements(self) -> int:
        """Gradients of an output map and an input map: a bias and a kernel."""
        return self.design.taps + 1

    @property
    def elements(self) -> int:
        """Gradients of a pass, also those of missing maps and of biases that are complete."""
        return self.design.maps_at_once * self.map_elements

    @property
    def terms(self) -> int:
        """Sums of an element, of all lanes."""
        return self.design.accumulators * self.design.lanes

    @property
    def settle(self) -> int:
        """Cycles from the last beat of a pass to the first read: the beat's sums are stored."""
        return WINDOW + self.design.mul_latency + 1 + self.design.add_latency

    @property
    def reading(self) -> int:
        """Cycles of reading, one per element, and the later accumulators of the last element."""
        return self.elements + self.design.accumulators - 1

    @property
    def pause(self) -> int:
        """Cycles without a beat after each pass: ``m (k^2 + 1) + mul_latency + 2 add_latency + 1``.

        The last sums are stored, and then all sums are read.
        """
        return self.settle - 1 + self.reading

    @property
    def tree_latency(self) -> int:
        """Cycles of the tree that adds the sums of an element."""
        return (self.terms - 1).bit_length() * self.design.add_latency

    @property
    def latency(self) -> int:
        """Cycles from the first read of an element to its gradient: read, select, align, add."""
        return self.design.accumulators + 1 + self.tree_latency

    @property
    def fifo_words(self) -> int:
        """Places for gradients.

        A pass reserves all of its places at once. At most ``latency`` gradients of the pass before
        are then on their way, even if a pass has one beat.
        """
        return self.elements + self.latency
