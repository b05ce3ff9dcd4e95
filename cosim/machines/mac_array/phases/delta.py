"""Delta propagation on the array, with the masks that forward propagation left on the chip."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.mac_array.phases.array_step import ArrayStep
from merp.cosim.machines.mac_array.phases.backward_phase import BackwardPhase
from merp.cosim.machines.mac_array.phases.layout import atoms, beats, maps_of
from merp.cosim.phases.expectation import GroupPass
from merp.models.machines.mac_array.fixed_training import FixedRates
from merp.models.machines.mac_array.orders import delta_kernels, maps_in, outputs_of_delta
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.passes import delta_pass
from merp.models.network.branches import receiver
from merp.models.network.network import Layer


class ArrayDeltaPhase(BackwardPhase):
    """Delta propagation of the layers that share an array."""

    name: ClassVar[str] = "dp"

    def work(self, layer: Layer, rates: FixedRates, *, first: bool, last: bool) -> ArrayPass:
        """Return the pass, equal for every image.

        Raises:
            ValueError: the layer reads its input in an order that differs from the masks on the
                chip.
        """
        work, front = (
            delta_pass(self.network, layer, fused=self.fused),
            receiver(self.network, layer),
        )
        assert front is not None
        shape = front.shape
        if work.relu and (work.rows, work.columns) != (shape.pooled_rows, shape.pooled_columns):
            raise ValueError(
                f"masks of {front.name} are of maps of {shape.pooled_rows} x "
                f"{shape.pooled_columns}, and the layer reads flattened maps: allowed are square "
                f"maps of at most {self.design.max_kernel} rows"
            )
        return work

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

    def keep(
        self, layer: Layer, image: int, step: ArrayStep, work: ArrayPass, record: RunRecord
    ) -> None:
        """Store the deltas of the outputs of the layer in front."""
        front = receiver(self.network, layer)
        assert front is not None
        size = work.rows, work.columns, work.inputs
        left = maps_of(record.words("m_axis_map"), outputs_of_delta, work, self.design, size)
        forth = step.golden.kept(front, image).found.maps
        step.deltas[front.name, image] = left.reshape(forth.shape)
