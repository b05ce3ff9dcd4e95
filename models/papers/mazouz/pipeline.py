"""A network as a pipeline: elements of each layer, and the turns in which they process its maps.

A design has a number P for each convolution layer: its parallel filters. The number of its parallel
input maps is the P of the previous layer. source: equations (19) and (20)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf

from merp.models.base.front import Costs, FrontPoint, front
from merp.models.base.ordered_sum import ordered_sum
from merp.models.network.network import Layer
from merp.models.papers.mazouz.elements import (
    ElementCost,
    convolution_cost,
    convolution_cycles,
    full_cost,
    full_cycles,
)


@dataclass(frozen=True)
class Pipeline:
    """A pipeline of convolution layers, followed by fully connected layers.

    Attributes:
        layers: the layers.
        train: whether the pipeline has backward propagation, too.
        unit: cost of k x k multiply-adds; None for the paper's elements.
    """

    layers: tuple[Layer, ...]
    train: bool
    unit: Callable[[int], ElementCost] | None = None

    @property
    def convolutions(self) -> tuple[Layer, ...]:
        """The convolution layers; a design has a number for each of them."""
        return tuple(layer for layer in self.layers if layer.kind == "conv")

    @property
    def inputs(self) -> int:
        """Input maps of the network, which are streamed in parallel: P of the images."""
        first = self.layers[0]
        return first.groups * first.shape.n

    def cycles(self, design: Sequence[int]) -> list[float]:
        """Return the cycles of a sample in FP, layer by layer."""
        pairs = self._pairs(design)
        return [self._cycles(place, *pair) for place, pair in enumerate(pairs)]

    def step_cycles(self, design: Sequence[int]) -> list[float]:
        """Return the cycles of FP, layer by layer; with training, BP doubles them.

        In BP, dF and dX run in parallel.
        """
        return [(2 if self.train else 1) * each for each in self.cycles(design)]

    def units(self, design: Sequence[int]) -> list[int]:
        """Return the elements of each layer; for a fully connected layer, the elements per head."""
        return [self._units(place, *pair) for place, pair in enumerate(self._pairs(design))]

    def cost(self, design: Sequence[int]) -> ElementCost:
        """Return the cost of the elements of all layers."""
        total = ElementCost(0, 0, 0)
        for place, pair in enumerate(self._pairs(design)):
            total += self._cost(place, *pair)
        return total

    def choices(self) -> list[list[int]]:
        """Return for each layer the numbers that a point of the front can have.

        Of all numbers with the same turns for the layer's filters, only the smallest is returned.
        The next layer has as many input maps or, with groups, an integer fraction of them. The
        comparison includes the turns of these maps.
        """
        filters = [layer.groups * layer.shape.m for layer in self.convolutions]
        return [sorted({-(-most // turns) for turns in range(1, most + 1)}) for most in filters]

    def front(self, dsp: float, lut: float | None = None) -> list[FrontPoint]:
        """Return the Pareto-optimal designs in cycles per sample and DSP slices, fastest first.

        With a limit ``lut``, LUT is a third objective. Block RAM is proportional to LUT.
        """
        limits = (inf, dsp) if lut is None else (inf, dsp, lut)
        return front(self.choices(), partial(self.costs, count=len(limits)), limits, self.inputs)

    def costs(self, place: int, before: int, own: int, count: int) -> Costs:
        """Return the cycles, DSP and LUT of a convolution layer.

        The costs of the last one include all layers after it.
        """
        last = place == len(self.convolutions) - 1
        places = range(place, len(self.layers)) if last else (place,)
        pairs = [(before, own), *((own, 0) for _ in places[1:])]
        cycles = ordered_sum(
            self._cycles(each, *pair) for each, pair in zip(places, pairs, strict=True)
        )
        cost = ElementCost(0, 0, 0)
        for each, pair in zip(places, pairs, strict=True):
            cost += self._cost(each, *pair)
        return ((2 if self.train else 1) * cycles, cost.dsp, cost.lut)[:count]

    def _pairs(self, design: Sequence[int]) -> list[tuple[int, int]]:
        """Return for each layer the previous number and its own.

        The own number of a fully connected layer is 0.
        """
        full = len(self.layers) - len(design)
        before = [self.inputs, *design[:-1], *[design[-1]] * full]
        return list(zip(before, [*design, *[0] * full], strict=True))

    def _cycles(self, place: int, before: int, own: int) -> float:
        layer = self.layers[place]
        shape = layer.shape
        if layer.kind == "fc":
            return self._full_cycles(place, before)
        turns = layer.groups * _turns(shape.m, own) * _turns(shape.n, before)
        columns, rows = shape.out_columns * shape.stride, shape.out_rows * shape.stride
        return turns * convolution_cycles(columns, rows, shape.k, first=place == 0)

    def _full_cycles(self, place: int, before: int) -> int:
        """Return the cycles of a fully connected layer, which reads maps as they are streamed."""
        front = self.layers[place - 1]
        if front.kind == "fc":  # its heads are output one after the other
            return full_cycles(1, 1, 0, front.shape.m)
        maps, shape = front.groups * front.shape.m, front.shape
        turns = _turns(maps, before)
        return full_cycles(shape.pooled_columns, shape.pooled_rows, shape.k, turns)

    def _units(self, place: int, before: int, own: int) -> int:
        layer = self.layers[place]
        if layer.kind == "fc":
            return before if self.layers[place - 1].kind == "conv" else 1
        return min(own, layer.shape.m) * min(before, layer.shape.n)

    def _cost(self, place: int, before: int, own: int) -> ElementCost:
        layer, units = self.layers[place], self._units(place, before, own)
        k = layer.shape.k
        unit = None if self.unit is None else self.unit(k)
        if layer.kind == "fc":
            return full_cost(layer.shape.m, units, train=self.train, unit=unit)
        columns = layer.shape.out_columns * layer.shape.stride
        return convolution_cost(k, columns, train=self.train, unit=unit) * units


def _turns(maps: int, at_once: int) -> int:
    return -(-maps // min(maps, at_once))
