"""Kernel update on the array, after a pass that expands pooled deltas, if necessary."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from merp.cosim.machines.mac_array.phases.array_phase import ArrayPhase
from merp.cosim.machines.mac_array.phases.array_step import ArrayStep
from merp.cosim.machines.mac_array.phases.layout import Sent, atoms, beats, maps_of, pair_of
from merp.cosim.phases.expectation import GroupPass, RecordedPasses
from merp.models.machines.mac_array.fixed_training import FixedRates
from merp.models.machines.mac_array.fixed_update import Pair
from merp.models.machines.mac_array.orders import (
    pooling_in,
    pooling_out,
    update_deltas,
    update_maps,
    update_parameters,
)
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.passes import update_pass
from merp.models.network.network import Layer


class Update(ArrayPhase):
    """Kernel update of the layers that share an array."""

    name: ClassVar[str] = "ku"

    def works(
        self, layer: Layer, rates: FixedRates, *, first: bool, last: bool
    ) -> tuple[ArrayPass, ...]:
        """Return un-pooling, if pooled deltas were not expanded before, and the update."""
        registers = rates.registers(layer, stochastic=self.network.fixed.stochastic)
        own = update_pass(self.network, layer, registers, first=first, last=last, fused=self.fused)
        if own.pool == 1 or self.fused:
            return (own,)
        return replace(own, phase="upsample"), own

    def passes(self, layer: Layer, image: int, step: ArrayStep) -> RecordedPasses:
        """Run the passes.

        Un-pooling reads positions of maxima, so forward propagation must have run.
        """
        *before, work = self._works_of(layer, image, step)
        design = self.design
        for each in before:
            record = yield self._unpooling(layer, each, image, step)
            size = each.out_rows, each.out_columns, each.outputs
            left = record.words("m_axis_map")
            step.sums[layer.name, image] = maps_of(left, pooling_in, each, design, size)
        record = yield self.own(layer, image, step)

        def made(stream: str) -> Pair:
            return pair_of(record.words(stream), update_parameters, work, design)

        if not work.last:
            step.gradients[layer.name, image] = made("m_axis_gradient")
            return
        step.new[layer.name] = made("m_axis_kernel")
        if work.has_momentum:
            step.moving[layer.name] = made("m_axis_velocity")

    def golden_passes(self, layer: Layer, image: int, step: ArrayStep) -> tuple[GroupPass, ...]:
        """Return the update, after un-pooling if it is a separate pass."""
        *before, _ = self._works_of(layer, image, step)
        unpooling = (self._unpooling(layer, each, image, step) for each in before)
        return (*unpooling, self.own(layer, image, step))

    def _works_of(self, layer: Layer, image: int, step: ArrayStep) -> tuple[ArrayPass, ...]:
        first, last = image == 0, image == step.images - 1
        return self.works(layer, step.golden.rates, first=first, last=last)

    def _unpooling(self, layer: Layer, work: ArrayPass, image: int, step: ArrayStep) -> GroupPass:
        design, noise = self.design, np.random.default_rng([image, 2])
        pooled, wanted = step.delta_of(layer, image), step.golden.sums(layer, image)
        sent = {"map_in": atoms(pooled, pooling_out, work, design, noise)}
        golden = {"map_out": atoms(wanted, pooling_in, work, design, noise)}
        return self.made(layer, work, sent, golden, {})

    def own(self, layer: Layer, image: int, step: ArrayStep) -> GroupPass:
        """Return a pass that adds an image to the gradients.

        After the last image, kernels are new.
        """
        work = self._works_of(layer, image, step)[-1]
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
