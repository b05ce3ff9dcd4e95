"""What is to be simulated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from merp.models.network.network import Layer, Network

if TYPE_CHECKING:
    from merp.testbenches.top.wave import Wave


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How picked layers are to run, before the machine checks it.

    Attributes:
        phase: a phase of the machine, or ``all``. images: in a run, 1 to ``MOST_IMAGES``.
        engine: of ``ENGINES``. cu_array: of ``ARRAYS``, or None for the engine's own.
        state: forward propagation writes the state that the backward phases read.
        delta_at: as of ``deltas_pooled``. wave: the name of the waveform that is asked for.
        rows: the first rows of one layer's input maps, in ``fp``; None runs all of them.
    """

    phase: str
    images: int
    engine: str
    cu_array: str | None = None
    state: bool = False
    delta_at: str | None = None
    wave: object = None
    rows: int | None = None


@dataclass(frozen=True)
class SimulationChoice:
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
