"""What is to be simulated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from merp.models.network.network import Layer, Network

if TYPE_CHECKING:
    from merp.testbenches.top.wave import Wave


@dataclass(frozen=True)
class Choice:
    """What is to be simulated.

    Attributes:
        network: with its designs. layers: those to run, in order.
        phases: those to run. group: the group to run, or None for all.
        images: in a run. engine, array: what runs it. wave: the waveform, or None.
        state: forward propagation also writes the state for backward propagation.
        before: deltas are stored at pooled resolution, and expanded before the engine.
        rows: of the input maps, where the layer runs on its first ones alone, else None.
    """

    network: Network
    layers: tuple[Layer, ...]
    phases: tuple[str, ...]
    group: int | None
    images: int
    engine: str
    array: str
    wave: Wave | None
    state: bool
    before: bool
    rows: int | None
