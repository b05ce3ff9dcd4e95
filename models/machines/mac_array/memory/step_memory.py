"""The arrays of a training step on the MAC array, and the part of each port in each pass.

Maps and deltas are stored as atoms, and parameters as beats, so that every word of a port has a
place of its own. Deltas are stored at pooled resolution. Parameters are in the order of FP, and
kernel update writes new ones over the old ones. Every other result has a place of its own, so that
each pass can be checked after the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from merp.models.base.errors import BadInput
from merp.models.machines.mac_array.orders import (
    delta_kernels,
    forward_kernels,
    maps_in,
    outputs_of_delta,
    outputs_of_forward,
    update_deltas,
    update_maps,
    update_parameters,
)
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign
from merp.models.machines.mac_array.params.design import Array as Unrolled
from merp.models.machines.mac_array.passes import sized
from merp.models.memory.layout import Array, Part
from merp.models.memory.nest import nest
from merp.models.memory.step_arrays import StepPass
from merp.models.memory.walk import Dimension, Walk
from merp.models.network.branches import previous, receiver
from merp.models.network.network import Layer, Network
from merp.models.network.phases import has_phase

IMAGES, TARGETS = "images", "targets"
Order = Callable[[ArrayPass, Unrolled], Iterable[tuple[int, int, int]]]
Places = NDArray[np.int64]


def board_order(network: Network) -> list[tuple[str, Layer]]:
    """Return phase and layer of each pass of an image.

    A layer's DP precedes its KU, which writes new parameters over those that DP reads.
    """
    back = [
        (phase, layer)
        for layer in reversed(network.layers)
        for phase in ("dp", "ku")
        if has_phase(network, layer, phase)
    ]
    return [*(("fp", layer) for layer in network.layers), *back]


@dataclass
class StepMemory:
    """The arrays of a training step whose loss is on the array, and its passes.

    Attributes:
        network: the network.
        design: the array.
        images: images of a step.
        loss: the loss, one of ``LOSSES`` of the design.
        arrays: the arrays by name.
        passes: the passes in the order of a step: image by image.

    Raises:
        BadInput: no walk has the order in which a port moves words. Or a layer reads maps of
            another size than the layer in front writes.
    """

    network: Network
    design: ArrayDesign
    images: int
    loss: str
    arrays: dict[str, Array] = field(init=False, default_factory=dict)
    passes: list[StepPass] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        """Go through the passes of a step."""
        each = {"fp": self._forward, "dp": self._delta, "ku": self._update}
        for image in range(self.images):
            for phase, layer in board_order(self.network):
                parts = each[phase](layer, image)
                self.passes.append(StepPass(layer.name, phase, image, parts))

    def _of(self, layer: Layer, phase: str) -> ArrayPass:
        of = sized(self.network, layer, phase)
        last = phase == "fp" and layer is self.network.layers[-1]
        return replace(of, loss=self.loss) if last else of

    def _maps(self, name: str, kinds: int, sizes: tuple[int, int, int]) -> tuple[int, ...]:
        """Add an array of maps, (maps, rows, columns), and return its size in atoms of an image.

        ``kinds``: 2 if the deltas of an image follow its maps.
        """
        maps, rows, columns = sizes
        blocks, pox = self.design.column_blocks(columns), self.design.pox
        shape = self.images, kinds, maps, rows, blocks, pox
        found = self.arrays.setdefault(name, Array.of(name, shape, WORD_BITS))
        if found.shape != shape:
            raise BadInput(
                f"{self.network.name}: {name}: it has {_by(found.shape)} words, and a pass needs "
                f"{_by(shape)}: allowed are layers that read maps as the layer in front writes them"
            )
        return maps, rows, blocks

    def _atoms(
        self, name: str, kinds: int, sizes: tuple[int, int, int], order: Order, of: ArrayPass,
        image: int, skip: int = 0,
    ) -> Part:  # fmt: skip
        """Return the atoms of an image in an order; ``skip`` kinds of an image precede them."""
        maps, rows, blocks = self._maps(name, kinds, sizes)
        at = _places(order, of, self.design)
        addresses = (at[:, 0] * rows + at[:, 1]) * blocks + at[:, 2]
        size = maps * rows * blocks
        if order is outputs_of_forward and of.loss is not None:
            addresses[addresses.size // 2 :] += size
        walk = self._walk(name, addresses)
        return Part(name, _scaled(walk.moved((image * kinds + skip) * size), self.design.pox))

    def _walk(self, name: str, addresses: Places) -> Walk:
        found = nest(addresses)
        if found is None:
            raise BadInput(
                f"{self.network.name}: {name}: no walk has the order of its words: allowed are "
                "maps that fit the array in one band"
            )
        return found

    def _beats(
        self, layer: Layer, array: str, order: Order, of: ArrayPass, image: int | None = None
    ) -> Part:
        """Return the parameters of a layer in an order; gradients have a place for each image."""
        tiles, pof = self.design.map_tiles(of.outputs), self.design.pof
        beats = of.inputs * of.taps + 1  # of a tile; the last one has biases
        name = f"{layer.name}.{array}"
        shape = (tiles, beats, pof) if image is None else (self.images - 1, tiles, beats, pof)
        self.arrays.setdefault(name, Array.of(name, shape, WORD_BITS))
        at = _places(order, of, self.design)
        beat = np.where(at[:, 1] < 0, beats - 1, at[:, 1] * of.taps + at[:, 2])
        walk = self._walk(name, at[:, 0] * beats + beat).moved((image or 0) * tiles * beats)
        return Part(name, _scaled(walk, pof))

    def _input(self, layer: Layer, order: Order, of: ArrayPass, image: int) -> Part:
        front, sizes = previous(self.network, layer), (of.inputs, of.rows, of.columns)
        name = IMAGES if front is None else f"{front.name}.maps"
        return self._atoms(name, 1, sizes, order, of, image)

    def _incoming(self, layer: Layer, order: Order, of: ArrayPass, image: int) -> Part:
        """Return the deltas of a layer's outputs; the last layer has them behind its maps."""
        sizes = of.outputs, of.pooled_rows, of.pooled_columns
        if layer is self.network.layers[-1]:
            return self._atoms(f"{layer.name}.maps", 2, sizes, order, of, image, skip=1)
        return self._atoms(f"{layer.name}.deltas", 1, sizes, order, of, image)

    def _forward(self, layer: Layer, image: int) -> dict[str, Part]:
        of = self._of(layer, "fp")
        sizes = of.outputs, of.pooled_rows, of.pooled_columns
        kinds = 1 if of.loss is None else 2
        name = f"{layer.name}.maps"
        parts = {
            "map_in": self._input(layer, maps_in, of, image),
            "kernel_in": self._beats(layer, "parameters", forward_kernels, of),
            "map_out": self._atoms(name, kinds, sizes, outputs_of_forward, of, image),
        }
        if of.loss is not None:
            self.arrays.setdefault(TARGETS, Array.of(TARGETS, (self.images,), WORD_BITS))
            parts["target_in"] = Part(TARGETS, Walk(image, 1))
        return parts

    def _delta(self, layer: Layer, image: int) -> dict[str, Part]:
        of, front = self._of(layer, "dp"), receiver(self.network, layer)
        assert front is not None
        name, sizes = f"{front.name}.deltas", (of.inputs, of.rows, of.columns)
        return {
            "map_in": self._incoming(layer, maps_in, of, image),
            "kernel_in": self._beats(layer, "parameters", delta_kernels, of),
            "map_out": self._atoms(name, 1, sizes, outputs_of_delta, of, image),
        }

    def _update(self, layer: Layer, image: int) -> dict[str, Part]:
        of = self._of(layer, "ku")

        def moved(array: str, number: int | None = None) -> Part:
            return self._beats(layer, array, update_parameters, of, number)

        parts = {
            "map_in": self._input(layer, update_maps, of, image),
            "delta_in": self._incoming(layer, update_deltas, of, image),
        }
        if image:
            parts["gradient_in"] = moved("gradients", image - 1)
        if image < self.images - 1:
            parts["gradient_out"] = moved("gradients", image)
            return parts
        parts["kernel_in"] = parts["kernel_out"] = moved("parameters")
        if self.design.momentum:
            parts["velocity_in"] = parts["velocity_out"] = moved("velocities")
        return parts


def _places(order: Order, of: ArrayPass, design: ArrayDesign) -> Places:
    return np.array(list(order(of, design.unrolled)), np.int64).reshape(-1, 3)


def _scaled(walk: Walk, size: int) -> Walk:
    """Return the walk in elements of one in words of ``size`` elements."""
    dimensions = tuple(Dimension(each.count, each.stride * size) for each in walk.dimensions)
    return Walk(walk.base * size, walk.words * size, dimensions)


def _by(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape))
