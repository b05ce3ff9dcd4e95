"""Forward propagation on the array, pooling behind the sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from merp.cosim.engines.record import Record
from merp.cosim.phases.expectation import Pass, RecordedPasses
from merp.cosim.phases.mac_array.array_phase import ArrayPhase
from merp.cosim.phases.mac_array.array_step import ArrayStep
from merp.cosim.phases.mac_array.layout import atoms, beats, maps_of
from merp.models.arithmetic.fixed import Words
from merp.models.mac_array.fixed_training import FixedRates
from merp.models.mac_array.orders import forward_kernels, maps_in, outputs_of_forward
from merp.models.mac_array.passes import forward_pass
from merp.models.network.network import Layer
from merp.models.params.bits import Bits
from merp.models.params.mac_array.array_pass import ArrayPass


class Forward(ArrayPhase):
    """Forward propagation of the layers that share an array."""

    name: ClassVar[str] = "fp"

    def works(
        self, layer: Layer, rates: FixedRates, *, first: bool, last: bool
    ) -> tuple[ArrayPass, ...]:
        """One pass, alike of every image."""
        return (forward_pass(self.network, layer),)

    def own(self, layer: Layer, image: int, step: ArrayStep) -> Pass:
        """Maps leave; masks and places of maxima stay on the chip."""
        work = forward_pass(self.network, layer)
        wanted, design = step.golden.kept(layer, image), self.design
        noise = np.random.default_rng([image, 0])
        old, _ = step.golden.before(layer)
        sent = {
            "map_in": atoms(step.input_of(layer, image), maps_in, work, design, noise),
            "kernel_in": beats(old, forward_kernels, work, design, noise),
        }
        golden = {"map_out": atoms(wanted.found.maps, outputs_of_forward, work, design, noise)}
        clipped = {"saturated": wanted.found.clipped}
        return self.made(layer, work, sent, golden, clipped)

    def passes(self, layer: Layer, image: int, step: ArrayStep) -> RecordedPasses:
        """One pass."""
        record = yield self.own(layer, image, step)
        step.maps[layer.name, image] = self._maps(layer, record)

    def _maps(self, layer: Layer, record: Record) -> Words:
        work = forward_pass(self.network, layer)
        size = work.pooled_rows, work.pooled_columns, work.outputs
        return maps_of(record.words("m_axis_map"), outputs_of_forward, work, self.design, size)

    def outputs(self, layer: Layer, images: int, records: Sequence[Record]) -> Bits:
        """Output maps of all images, in full even if words are missing; words of 16 bits."""
        found = np.concatenate([self._maps(layer, record) for record in records])
        return found.view(np.uint16).astype(np.uint32)
