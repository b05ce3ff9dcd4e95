"""The parameters of two fused layers, fixed at elaboration."""

from __future__ import annotations

from typing import NamedTuple

from merp.models.machines.cnn_merp.params.design import EngineDesign


class FusedDesign(NamedTuple):
    """Elaboration of two layers fused in forward propagation.

    Attributes:
        first: of the first layer's engine.
        second: of each of the second layer's engines.
        groups: engines of the second layer, each for a group.
    """

    first: EngineDesign
    second: EngineDesign
    groups: int

    @property
    def multipliers(self) -> int:
        """Multipliers of all CUs."""
        second = self.groups * self.second.n_cu * self.second.taps
        return self.first.n_cu * self.first.taps + second
