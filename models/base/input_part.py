"""Where the input maps of a pass stand among those of its layer.

A layer whose input maps do not fit the memories at once runs in passes over parts of them, in
ascending order: the sums of one part go out, and are what those of the next part start at.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class InputPart:
    """A part of a layer's input maps.

    Attributes:
        first: no input maps were added to the sums before: they start at the biases.
        last: none are added after: the sums are finished.
        added: the sums start at maps of another layer that come in, and biases on top.
    """

    first: bool = True
    last: bool = True
    added: bool = False

    @property
    def partial_in(self) -> bool:
        """Whether sums start at those of the part before."""
        return not self.first

    @property
    def partial_out(self) -> bool:
        """Whether sums leave for the part that follows."""
        return not self.last

    @property
    def biases(self) -> bool:
        """Whether the pass reads biases, or, in the kernel update, makes new ones."""
        return self.first


WHOLE = InputPart()
"""All input maps at once."""

ADDING = InputPart(added=True)
"""The same, and another layer's output is added to the sums."""


def part_of(index: int, parts: int, *, added: bool = False) -> InputPart:
    """Part ``index`` of ``parts``; ``added``: the first starts at maps that come in."""
    return InputPart(index == 0, index == parts - 1, added and index == 0)
