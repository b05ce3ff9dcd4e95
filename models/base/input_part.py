"""The part of a layer's input maps that a pass processes.

If the input maps of a layer do not fit the memories together, the layer runs in several passes.
Each pass processes a part of the input maps, in ascending order. The next part continues from the
partial sums of the part before.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class InputPart:
    """A part of a layer's input maps.

    Attributes:
        first: this is the first part; its sums start at the biases.
        last: this is the last part; its sums are finished.
        added: the sums start at the streamed maps of another layer, plus the biases.
    """

    first: bool = True
    last: bool = True
    added: bool = False

    @property
    def partial_in(self) -> bool:
        """Whether the sums start at the partial sums of the part before."""
        return not self.first

    @property
    def partial_out(self) -> bool:
        """Whether the pass outputs partial sums for the next part."""
        return not self.last

    @property
    def biases(self) -> bool:
        """Whether the pass reads biases, or, in the kernel update, computes new biases."""
        return self.first


WHOLE = InputPart()
"""All input maps in one part."""

ADDING = InputPart(added=True)
"""All input maps in one part, with another layer's output added to the sums."""


def part_of(index: int, parts: int, *, added: bool = False) -> InputPart:
    """Return part ``index`` of ``parts``; with ``added``, the first part starts at streamed
    maps.
    """
    return InputPart(index == 0, index == parts - 1, added and index == 0)
