"""A phase of a training step: its work, and the layers that have it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a network imports machines, which have these phases
    from merp.models.network.network import Layer, Network

FORWARD, DELTAS, UPDATE = "fp", "dp", "ku"
"""The parts of a step: every phase does one of them, or several in one pass."""


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A phase of a training step, as hardware runs it: one pass over a group of a layer.

    Attributes:
        name: as options, records and files write it.
        title: description of a pass.
        does: the parts of a step that it does.
        layers: number of consecutive super layers that a pass runs.
        has: whether a layer of a network has the phase.
        lacks: why a layer does not have the phase, and the allowed phases.
        part_of: name of the phase whose bytes include its own; empty: it is counted by itself.
    """

    name: str
    title: str
    does: tuple[str, ...]
    layers: int = 1
    has: Callable[[Network, Layer], bool]
    lacks: Callable[[Network, Layer], str]
    part_of: str = ""

    @property
    def forward(self) -> bool:
        """Whether it reads and outputs maps."""
        return FORWARD in self.does

    @property
    def backward(self) -> bool:
        """Whether it reads the deltas of the layer's output."""
        return not self.forward

    @property
    def propagates(self) -> bool:
        """Whether it outputs the deltas of the layer's input."""
        return DELTAS in self.does

    @property
    def updates(self) -> bool:
        """Whether kernels and biases change."""
        return UPDATE in self.does

    @property
    def combined(self) -> bool:
        """Whether it does several parts of a step in one pass."""
        return len(self.does) > 1

    @property
    def fuses(self) -> bool:
        """Whether it runs more than one layer."""
        return self.layers > 1

    @property
    def counted_as(self) -> str:
        """The name under which its bytes are counted: fused layers have shares of ``fp``."""
        return FORWARD if self.fuses else self.part_of or self.name
