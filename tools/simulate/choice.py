"""The request of a simulation after the checks of its machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from merp.models.network.network import Layer, Network

if TYPE_CHECKING:
    from merp.testbenches.top.wave import Wave


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a run before the checks of its machine.

    Attributes:
        phase: a phase of the machine, or ``all``.
        images: images of a run, 1 to ``MOST_IMAGES``.
        engine: one of ``ENGINES``.
        cu_array: one of ``ARRAYS``, or None for the engine's default.
        state: forward propagation writes the ReLU/pooling mask that the backward phases read.
        delta_at: as for ``deltas_pooled``.
        wave: name of the waveform file, if any.
        rows: number of the first rows of one layer's input maps to run in ``fp``; None runs all.
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
    """A checked request of a simulation.

    Attributes:
        network: network with its designs.
        layers: layers to run, in order.
        phases: phases to run.
        group: the group to run, or None for all.
        images: images of a run.
        engine: the simulator.
        array: the simulated CU array, one of ``ARRAYS``.
        wave: the waveform, or None.
        state: forward propagation also writes the ReLU/pooling mask for backward propagation.
        before: deltas are stored at pooled resolution, and expanded before the engine.
        rows: number of the first rows of the input maps, if the layer runs on them only, else None.
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
