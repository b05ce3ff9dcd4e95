"""Kernel update on the array."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.mac_array.phases.array_step import ArrayStep
from merp.cosim.machines.mac_array.phases.backward_phase import BackwardPhase
from merp.cosim.machines.mac_array.phases.layout import Sent, atoms, beats, pair_of
from merp.cosim.phases.expectation import GroupPass
from merp.models.machines.mac_array.fixed_training import FixedRates
from merp.models.machines.mac_array.fixed_update import Pair
from merp.models.machines.mac_array.orders import (
    update_deltas,
    update_maps,
    update_parameters,
)
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.passes import update_pass
from merp.models.network.network import Layer


class Update(BackwardPhase):
    """Kernel update of the layers that share an array."""

    name: ClassVar[str] = "ku"

    def work(self, layer: Layer, rates: FixedRates, *, first: bool, last: bool) -> ArrayPass:
        """Return the update."""
        registers = rates.registers(layer, stochastic=self.network.fixed.stochastic)
        return update_pass(self.network, layer, registers, first=first, last=last, fused=self.fused)

    def keep(
        self, layer: Layer, image: int, step: ArrayStep, work: ArrayPass, record: RunRecord
    ) -> None:
        """Store the gradients; after the last image, the new kernels, biases and velocities."""

        def made(stream: str) -> Pair:
            return pair_of(record.words(stream), update_parameters, work, self.design)

        if not work.last:
            step.gradients[layer.name, image] = made("m_axis_gradient")
            return
        step.new[layer.name] = made("m_axis_kernel")
        if work.has_momentum:
            step.moving[layer.name] = made("m_axis_velocity")

    def own(self, layer: Layer, image: int, step: ArrayStep) -> GroupPass:
        """Return a pass that adds an image to the gradients.

        After the last image, kernels are new.
        """
        work = self.works_of(layer, image, step)[-1]
        design, noise = self.design, np.random.default_rng([image, 3])

        def moved(pair: Pair) -> Sent:
            return beats(pair, update_parameters, work, design, noise)

        old, moving = step.golden.before(layer)
        summed = step.golden.gradients(layer, image)
        clipped = {"saturated_gradient": sum(each.clipped for each in summed)}
        deltas = (step.delta_of if self.fused else step.sums_of)(layer, image)
        sent = {
            "map_in": atoms(step.input_of(layer, image), update_maps, work, design, noise),
            "delta_in": atoms(deltas, update_deltas, work, design, noise),
        }
        golden: dict[str, Sent] = {}
        if not work.first:
            sent["gradient_in"] = moved(step.gradients_of(layer, image - 1))
        if not work.last:
            golden["gradient_out"] = moved(Pair(*(each.words for each in summed)))
            return self.made(layer, work, sent, golden, clipped)
        new = step.golden.updated(layer)
        clipped["saturated_kernel"] = sum(each.kernels_clipped for each in new)
        clipped["saturated_velocity"] = sum(each.velocities_clipped for each in new)
        sent["kernel_in"] = moved(old)
        golden["kernel_out"] = moved(Pair(*(each.kernels for each in new)))
        if work.has_momentum:
            sent["velocity_in"] = moved(moving)
            golden["velocity_out"] = moved(Pair(*(each.velocities for each in new)))
        return self.made(layer, work, sent, golden, clipped)
