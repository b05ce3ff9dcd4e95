"""F-CNN's part of a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merp.models.machines.fcnn.params.conv_registers import COUNTERS as OF_CONVOLUTION
from merp.models.machines.fcnn.params.pool_registers import POOL_COUNTERS
from merp.models.machines.fcnn.phases import POOL, UNPOOL, design_of
from merp.models.network.network import Layer
from merp.tools.machines.usual.simulated import InGroups
from merp.tools.simulate.choice import SimulationChoice

COUNTERS = tuple({each.name: each for each in (*OF_CONVOLUTION, *POOL_COUNTERS)}.values())
"""Counters of all modules; each module has some of them."""


class Modules(InGroups):
    """Each phase has a module of its own, and no data remains on the chip."""

    def about(self, choice: SimulationChoice, layer: Layer, phase: str) -> Mapping[str, Any]:
        """Return the size of the modules: kernels of convolutions, blocks of full connections."""
        design = design_of(choice.network, layer)
        return {
            "design": layer.design,
            "lanes": design.lanes,
            "maps_at_once": design.maps_at_once,
            "kernel": design.convolution.k if design.convolves else None,
            "block": design.block,
            "blocks": design.blocks,
        }

    def hardware(self, choice: SimulationChoice, layer: Layer, phase: str) -> str:
        """Return the size of the modules as text."""
        design = design_of(choice.network, layer)
        if phase in (POOL.name, UNPOOL.name):
            return f"{design.lanes} lanes"
        if not design.convolves:
            return f"{design.blocks} x {design.block}x{design.block} block"
        return f"{design.lanes} x {design.maps_at_once} kernels of {layer.shape.k}x{layer.shape.k}"


SIMULATED = Modules(unit="kernel", counters=COUNTERS)
