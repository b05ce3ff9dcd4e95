"""A network as a pipeline: elements of each layer, and the turns in which they take its maps.

A design is a number P for each convolution layer: filters that it has at a time, over as many input
maps as the layer in front has filters. source: equations (19) and (20)
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
    """Convolution layers, then fully connected ones.

    Attributes:
        train: whether it propagates back, too.
        unit: what k x k multiply-adds cost; None for the paper's elements.
    """

    layers: tuple[Layer, ...]
    train: bool
    unit: Callable[[int], ElementCost] | None = None

    @property
    def convolutions(self) -> tuple[Layer, ...]:
        """Layers that a design has a number for."""
        return tuple(layer for layer in self.layers if layer.kind == "conv")

    @property
    def inputs(self) -> int:
        """Maps that stream in, all at once: P of the images."""
        first = self.layers[0]
        return first.groups * first.shape.n

    def cycles(self, design: Sequence[int]) -> list[float]:
        """Return the cycles of a sample in FP, layer by layer."""
        pairs = self._pairs(design)
        return [self._cycles(place, *pair) for place, pair in enumerate(pairs)]

    def step_cycles(self, design: Sequence[int]) -> list[float]:
        """Return those of FP and, in training, BP, in which dF and dX are at the same time."""
        return [(2 if self.train else 1) * each for each in self.cycles(design)]

    def units(self, design: Sequence[int]) -> list[int]:
        """Return the elements of each layer; of a fully connected one, for each of its heads."""
        return [self._units(place, *pair) for place, pair in enumerate(self._pairs(design))]

    def cost(self, design: Sequence[int]) -> ElementCost:
        """Return what the elements cost."""
        total = ElementCost(0, 0, 0)
        for place, pair in enumerate(self._pairs(design)):
            total += self._cost(place, *pair)
        return total

    def choices(self) -> list[list[int]]:
        """Return the numbers of each layer that a front can have.

        Of all numbers with which its filters take the same turns the smallest. The next layer's
        input maps are as many, or with groups a whole part of them: their turns change with these.
        """
        filters = [layer.groups * layer.shape.m for layer in self.convolutions]
        return [sorted({-(-most // turns) for turns in range(1, most + 1)}) for most in filters]

    def front(self, dsp: float, lut: float | None = None) -> list[FrontPoint]:
        """Return the designs that none beats in cycles of a sample and DSP, fastest first.

        Where ``lut`` limits, too, in all three; block RAM is in proportion to the LUT.
        """
        limits = (inf, dsp) if lut is None else (inf, dsp, lut)
        return front(self.choices(), partial(self.costs, count=len(limits)), limits, self.inputs)

    def costs(self, place: int, before: int, own: int, count: int) -> Costs:
        """Cycles, DSP and LUT of a convolution layer; with the last one of all behind it, too."""
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
        """Numbers in front of each layer and of its own; fully connected ones have none."""
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
        """A fully connected layer takes the maps of the convolution in front as they stream."""
        front = self.layers[place - 1]
        if front.kind == "fc":  # its heads are there one after the other
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
