"""Forward propagation on the array, with pooling behind the sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.mac_array.phases.array_phase import ArrayPhase
from merp.cosim.machines.mac_array.phases.array_step import ArrayStep
from merp.cosim.machines.mac_array.phases.layout import atoms, beats, maps_of, targets
from merp.cosim.phases.expectation import GroupPass, RecordedPasses
from merp.models.arithmetic.fixed import Words
from merp.models.base.bits import Bits
from merp.models.machines.mac_array.fixed_training import FixedRates
from merp.models.machines.mac_array.orders import forward_kernels, maps_in, outputs_of_forward
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.passes import forward_pass
from merp.models.network.network import Layer


@dataclass(frozen=True)
class ArrayForwardPhase(ArrayPhase):
    """Forward propagation of the layers that share an array.

    Attributes:
        loss: one of ``models.params.mac_array.design.LOSSES``. The array outputs its deltas after
            the outputs of the last layer. None: the host computes the deltas.
    """

    loss: str | None = None

    name: ClassVar[str] = "fp"

    def works(
        self, layer: Layer, rates: FixedRates, *, first: bool, last: bool
    ) -> tuple[ArrayPass, ...]:
        """Return one pass, equal for every image."""
        return (self._pass(layer),)

    def _pass(self, layer: Layer) -> ArrayPass:
        last = layer is self.network.layers[-1]
        return forward_pass(self.network, layer, self.loss if last else None)

    def own(self, layer: Layer, image: int, step: ArrayStep) -> GroupPass:
        """Return a pass that outputs maps. Masks and positions of maxima remain on the chip."""
        work = self._pass(layer)
        wanted, design = step.golden.kept(layer, image), self.design
        noise = np.random.default_rng([image, 0])
        old, _ = step.golden.before(layer)
        sent = {
            "map_in": atoms(step.input_of(layer, image), maps_in, work, design, noise),
            "kernel_in": beats(old, forward_kernels, work, design, noise),
        }
        plain = replace(work, loss=None)
        out = atoms(wanted.found.maps, outputs_of_forward, plain, design, noise)
        clipped = {"saturated": wanted.found.clipped}
        if work.loss is not None:
            lost = step.golden.lost(image, wanted.found.maps)
            out = out.then(atoms(lost.deltas, outputs_of_forward, plain, design, noise))
            clipped["saturated_loss"] = lost.clipped
            sent["target_in"] = targets(step.golden.label(image))
        return self.made(layer, work, sent, {"map_out": out}, clipped)

    def passes(self, layer: Layer, image: int, step: ArrayStep) -> RecordedPasses:
        """Run one pass."""
        record = yield self.own(layer, image, step)
        left = record.words("m_axis_map")
        step.maps[layer.name, image] = self._maps(layer, left)
        if self._pass(layer).loss is not None:
            step.deltas[layer.name, image] = self._maps(layer, left[left.size // 2 :])

    def _maps(self, layer: Layer, words: Bits) -> Words:
        work = forward_pass(self.network, layer)
        size = work.pooled_rows, work.pooled_columns, work.outputs
        return maps_of(words, outputs_of_forward, work, self.design, size)

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> Bits:
        """Return the 16-bit output maps of all images, in full even if words are missing."""
        words = [record.words("m_axis_map") for record in records]
        found = np.concatenate([self._maps(layer, each) for each in words])
        return found.view(np.uint16).astype(np.uint32)
