"""Seconds of an image and of a batch: the longer one of the slots and the DRAM transfers.

The model has four assumptions. All kernels are loaded before a layer starts. The other buffers are
double. Gradients are transferred while they are computed. Pooling and un-pooling are passes over
DRAM.

Two rates were fitted to the nine latencies of table II. Of 80 models with different assumptions,
each with its own two rates, 77 meet these latencies within 2.5 %. The agreement is therefore weak
evidence for this model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from merp.models.base.ordered_sum import ordered_sum
from merp.models.machines.mac_array.array_cycles import delta_slots, forward_slots, update_slots
from merp.models.machines.mac_array.geometry import Geometry
from merp.models.machines.mac_array.params.design import Array

KERNEL_RATE = 0.676
"""Share of the memory's peak that kernels and gradients reach; fitted."""

MAP_RATE = 0.162
"""Share of the memory's peak that maps reach; fitted."""

LAST_IMAGE = 3
"""Additional transfers of the last image, each as large as the kernels.

They are the old kernels, the new kernels, and the past gradients.
"""


@dataclass(frozen=True)
class BoardArray:
    """The array on a board.

    Attributes:
        maps: output maps that the array computes concurrently.
        hertz: clock frequency.
        bytes_s: peak bandwidth of the memory.
        word_bytes: bytes of a word.
        double: gradients are transferred during the convolution, not before it.
        kernel_rate, map_rate: shares of the peak bandwidth that kernels and maps reach.
    """

    maps: int
    hertz: float
    bytes_s: float
    word_bytes: int = 2
    double: bool = True
    kernel_rate: float = KERNEL_RATE
    map_rate: float = MAP_RATE

    @property
    def array(self) -> Array:
        """The unrolled sizes of the array."""
        return Array(pof=self.maps)

    def image(self, layer: Geometry, phase: str) -> float:
        """Return the seconds of one image in a phase of a layer."""
        inputs = layer.groups * layer.n * layer.rows * layer.columns
        sums = layer.groups * layer.m * layer.out_rows * layer.out_columns
        outputs = layer.groups * layer.m * layer.pooled_rows * layer.pooled_columns
        moving, pooling = self._maps(inputs + sums), self._maps(sums + outputs) * layer.pooled
        kernels = self._kernels(layer.kernels)
        if phase == "fp":
            computing = forward_slots(layer, self.array) / self.hertz
            return kernels + max(computing, moving) + pooling
        if phase == "dp":
            if not layer.propagates:
                return pooling if layer.updates else 0.0  # un-pooling for KU
            computing = delta_slots(layer, self.array) / self.hertz
            return kernels + max(computing, moving) + pooling
        if not layer.updates:
            return 0.0
        computing = update_slots(layer, self.array) / self.hertz
        gradients = 2 * kernels
        return moving + (max(computing, gradients) if self.double else computing + gradients)

    def update(self, layer: Geometry) -> float:
        """Return the additional seconds of KU for the last image of a batch."""
        return LAST_IMAGE * self._kernels(layer.kernels) * layer.updates

    def _kernels(self, count: int) -> float:
        return count * self.word_bytes / (self.kernel_rate * self.bytes_s)

    def _maps(self, count: int) -> float:
        return count * self.word_bytes / (self.map_rate * self.bytes_s)


def image_seconds(machine: BoardArray, layers: Iterable[Geometry]) -> float:
    """Return the seconds of an image that is not the last of its batch."""
    return ordered_sum(
        machine.image(layer, phase) for layer in layers for phase in ("fp", "dp", "ku")
    )


def update_seconds(machine: BoardArray, layers: Iterable[Geometry]) -> float:
    """Return the additional seconds of the last image of a batch."""
    return ordered_sum(machine.update(layer) for layer in layers)
