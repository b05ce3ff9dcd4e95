"""Delta propagation on the array, with the masks that forward propagation left on the chip."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from merp.cosim.machines.mac_array.phases.array_phase import ArrayPhase
from merp.cosim.machines.mac_array.phases.array_step import ArrayStep
from merp.cosim.machines.mac_array.phases.layout import atoms, beats, maps_of
from merp.cosim.phases.expectation import GroupPass, RecordedPasses
from merp.models.machines.mac_array.fixed_training import FixedRates
from merp.models.machines.mac_array.orders import delta_kernels, maps_in, outputs_of_delta
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.passes import delta_pass
from merp.models.network.branches import previous
from merp.models.network.network import Layer


class ArrayDeltaPhase(ArrayPhase):
    """Delta propagation of the layers that share an array."""

    name: ClassVar[str] = "dp"

    def works(
        self, layer: Layer, rates: FixedRates, *, first: bool, last: bool
    ) -> tuple[ArrayPass, ...]:
        """Return one pass, equal for every image.

        Raises:
            ValueError: the layer reads its input in an order that differs from the masks on the
                chip.
        """
        work, front = (
            delta_pass(self.network, layer, fused=self.fused),
            previous(self.network, layer),
        )
        assert front is not None
        shape = front.shape
        if work.relu and (work.rows, work.columns) != (shape.pooled_rows, shape.pooled_columns):
            raise ValueError(
                f"masks of {front.name} are of maps of {shape.pooled_rows} x "
                f"{shape.pooled_columns}, and the layer reads flattened maps: allowed are square "
                f"maps of at most {self.design.max_kernel} rows"
            )
        return (work,)

    def own(self, layer: Layer, image: int, step: ArrayStep) -> GroupPass:
        """Return a pass that outputs the deltas of the layer in front.

        Forward propagation of that layer must have run on the same chip.
        """
        work = delta_pass(self.network, layer, fused=self.fused)
        wanted, design = step.golden.left(layer, image), self.design
        noise = np.random.default_rng([image, 1])
        old, _ = step.golden.before(layer)
        deltas = (step.delta_of if self.fused else step.sums_of)(layer, image)
        sent = {
            "map_in": atoms(deltas, maps_in, work, design, noise),
            "kernel_in": beats(old, delta_kernels, work, design, noise),
        }
        golden = {"map_out": atoms(wanted.maps, outputs_of_delta, work, design, noise)}
        return self.made(layer, work, sent, golden, {"saturated": wanted.clipped})

    def passes(self, layer: Layer, image: int, step: ArrayStep) -> RecordedPasses:
        """Run one pass."""
        record = yield self.own(layer, image, step)
        work = delta_pass(self.network, layer, fused=self.fused)
        front = previous(self.network, layer)
        assert front is not None
        size = work.rows, work.columns, work.inputs
        left = maps_of(record.words("m_axis_map"), outputs_of_delta, work, self.design, size)
        forth = step.golden.kept(front, image).found.maps
        step.deltas[front.name, image] = left.reshape(forth.shape)
