"""A phase of a training step: what it does, and which layers have it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a network knows machines, whose phases these are
    from merp.models.network.network import Layer, Network

FORWARD, DELTAS, UPDATE = "fp", "dp", "ku"
"""The parts of a step: every phase does one of them, or several in one pass."""


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A phase of a training step, as hardware runs it: one pass over a group of a layer.

    Attributes:
        name: as options, records and files write it.
        title: what a pass does.
        does: the parts of a step that it does.
        layers: super layers that a pass runs, one behind the other.
        has: whether a layer of a network has it.
        lacks: why a layer does not have it, and what is allowed.
    """

    name: str
    title: str
    does: tuple[str, ...]
    layers: int = 1
    has: Callable[[Network, Layer], bool]
    lacks: Callable[[Network, Layer], str]

    @property
    def forward(self) -> bool:
        """Whether maps come in, and maps leave."""
        return FORWARD in self.does

    @property
    def backward(self) -> bool:
        """Whether the deltas of the layer's output come in."""
        return not self.forward

    @property
    def propagates(self) -> bool:
        """Whether the deltas of the layer's input leave."""
        return DELTAS in self.does

    @property
    def updates(self) -> bool:
        """Whether kernels and biases change."""
        return UPDATE in self.does

    @property
    def combined(self) -> bool:
        """Whether it does several parts of a step at once."""
        return len(self.does) > 1

    @property
    def fuses(self) -> bool:
        """Whether it runs more than one layer."""
        return self.layers > 1

    @property
    def counted_as(self) -> str:
        """The name under which its bytes are counted: fused layers have their shares of ``fp``."""
        return FORWARD if self.fuses else self.name
