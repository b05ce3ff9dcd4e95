"""What is to be simulated, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from merp.cosim.audit.audit import Audit
from merp.models.arithmetic.compiled import Bits
from merp.models.network.network import Layer, Network
from merp.models.params.cnn_merp.design import Design


@dataclass(frozen=True)
class Choice:
    """What is to be simulated.

    Attributes:
        network: with its designs. layers: those to run, in order.
        phases: those to run. group: the group to run, or None for all.
        images: in a run. engine, array: what runs it. vcd: waveform file, or None.
        state: forward propagation also writes the state for the way back.
        before: deltas are stored at pooled resolution, and expanded before the engine.
    """

    network: Network
    layers: tuple[Layer, ...]
    phases: tuple[str, ...]
    group: int | None
    images: int
    engine: str
    array: str
    vcd: Path | None
    state: bool
    before: bool

    def groups(self, layer: Layer) -> Sequence[int]:
        """The groups of a layer that are run."""
        return range(layer.groups) if self.group is None else (self.group,)

    def forward_design(self, layer: Layer) -> Design:
        """The design on which forward propagation of a layer runs."""
        return replace(self.network.design(layer), state=self.state)


@dataclass(frozen=True)
class Result:
    """One phase of one layer: the audit of its groups, and what the hardware made.

    Attributes:
        audit: all groups that were run.
        elaboration_sha: of what ran. build_seconds: what its elaboration or build took.
        outputs: in forward propagation (images, pooled_rows, pooled_columns, maps of the groups
            run) words, else None.
    """

    layer: Layer
    phase: str
    audit: Audit
    elaboration_sha: str
    build_seconds: float
    outputs: Bits | None = None
