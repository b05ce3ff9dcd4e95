"""F-CNN's part of a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merp.models.machines.fcnn.params.conv_registers import COUNTERS as OF_CONVOLUTION
from merp.models.machines.fcnn.params.pool_registers import POOL_COUNTERS
from merp.models.machines.fcnn.phases import design_of
from merp.models.network.network import Layer
from merp.tools.machines.usual.simulated import InGroups
from merp.tools.simulate.choice import SimulationChoice

COUNTERS = tuple({each.name: each for each in (*OF_CONVOLUTION, *POOL_COUNTERS)}.values())
"""Counters of all modules; each module has some of them."""


class Modules(InGroups):
    """Each phase has a module of its own, and no data remains on the chip."""

    def about(self, choice: SimulationChoice, layer: Layer, phase: str) -> Mapping[str, Any]:
        """Return the size of the modules."""
        design = design_of(choice.network, layer)
        return {
            "design": layer.design,
            "lanes": design.lanes,
            "maps_at_once": design.maps_at_once,
            "kernel": design.convolution.k,
        }

    def hardware(self, choice: SimulationChoice, layer: Layer, phase: str) -> str:
        """Return the size of the modules as text."""
        design, k = design_of(choice.network, layer), layer.shape.k
        return f"{design.lanes} x {design.maps_at_once} kernels of {k}x{k}"


SIMULATED = Modules(unit="kernel", counters=COUNTERS)
