"""A backward phase of the array, after a pass that expands pooled deltas, if necessary."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.mac_array.phases.array_phase import ArrayPhase
from merp.cosim.machines.mac_array.phases.array_step import ArrayStep
from merp.cosim.machines.mac_array.phases.layout import atoms, maps_of
from merp.cosim.phases.expectation import GroupPass, RecordedPasses
from merp.models.machines.mac_array.fixed_training import FixedRates
from merp.models.machines.mac_array.geometry import expanding_phase
from merp.models.machines.mac_array.orders import pooling_in, pooling_out
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.network.network import Layer


class BackwardPhase(ArrayPhase):
    """Delta propagation or kernel update of the layers that share an array."""

    @abstractmethod
    def work(self, layer: Layer, rates: FixedRates, *, first: bool, last: bool) -> ArrayPass:
        """Return the phase's own pass of an image.

        Args:
            layer: the layer.
            rates: rates of the update.
            first: whether the image is the first of its batch.
            last: whether the image is the last of its batch.
        """

    @abstractmethod
    def keep(
        self, layer: Layer, image: int, step: ArrayStep, work: ArrayPass, record: RunRecord
    ) -> None:
        """Store the results of the phase's own pass in the step."""

    def works(
        self, layer: Layer, rates: FixedRates, *, first: bool, last: bool
    ) -> tuple[ArrayPass, ...]:
        """Return un-pooling, if this phase is the first that needs it, and the phase's own pass."""
        own = self.work(layer, rates, first=first, last=last)
        if own.pool == 1 or self.fused or expanding_phase(layer.trainable) != self.name:
            return (own,)
        return replace(own, phase="upsample"), own

    def passes(self, layer: Layer, image: int, step: ArrayStep) -> RecordedPasses:
        """Run the passes.

        Un-pooling reads positions of maxima, so forward propagation must have run.
        """
        *before, work = self.works_of(layer, image, step)
        for each in before:
            record = yield self._unpooling(layer, each, image, step)
            size = each.out_rows, each.out_columns, each.outputs
            left = record.words("m_axis_map")
            step.sums[layer.name, image] = maps_of(left, pooling_in, each, self.design, size)
        record = yield self.own(layer, image, step)
        self.keep(layer, image, step, work, record)

    def golden_passes(self, layer: Layer, image: int, step: ArrayStep) -> tuple[GroupPass, ...]:
        """Return the phase's own pass, after un-pooling if it is a separate pass."""
        *before, _ = self.works_of(layer, image, step)
        unpooling = (self._unpooling(layer, each, image, step) for each in before)
        return (*unpooling, self.own(layer, image, step))

    def works_of(self, layer: Layer, image: int, step: ArrayStep) -> tuple[ArrayPass, ...]:
        """Return the passes of an image of a step."""
        first, last = image == 0, image == step.images - 1
        return self.works(layer, step.golden.rates, first=first, last=last)

    def _unpooling(self, layer: Layer, work: ArrayPass, image: int, step: ArrayStep) -> GroupPass:
        design, noise = self.design, np.random.default_rng([image, 2])
        pooled, wanted = step.delta_of(layer, image), step.golden.sums(layer, image)
        sent = {"map_in": atoms(pooled, pooling_out, work, design, noise)}
        golden = {"map_out": atoms(wanted, pooling_in, work, design, noise)}
        return self.made(layer, work, sent, golden, {})
