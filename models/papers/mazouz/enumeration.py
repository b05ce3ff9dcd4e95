"""The front of a pipeline's designs by pricing every one: what the exact search is held against."""

from __future__ import annotations

from math import inf, prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from merp.models.base.errors import BadInput
from merp.models.base.front import FrontPoint, survivors
from merp.models.papers.mazouz.pipeline import Pipeline

MOST: Final = 10**8
"""Designs that are priced."""

_Costs = NDArray[np.float64]


def enumerated(pipeline: Pipeline, dsp: float, lut: float | None = None) -> list[FrontPoint]:
    """Return what ``Pipeline.front`` does, of every number of elements that a layer can have.

    Raises:
        BadInput: there are more than ``MOST`` designs.
    """
    numbers = [layer.groups * layer.shape.m for layer in pipeline.convolutions]
    if (designs := prod(numbers)) > MOST:
        raise BadInput(f"{designs:,} designs: enumerate prices at most {MOST:,}")
    limits = (inf, dsp) if lut is None else (inf, dsp, lut)
    tables = [
        _table(pipeline, place, before, own, len(limits))
        for place, (before, own) in enumerate(zip([0, *numbers], numbers, strict=False))
    ]
    found: list[FrontPoint] = []
    for first in range(numbers[0]):  # one at a time, so that all fit into memory
        costs = tables[0][0, first]
        costs = costs.reshape((1,) * (len(numbers) - 1) + (len(limits),))
        for place in range(1, len(numbers)):
            own = tables[place][first] if place == 1 else tables[place]
            costs = costs + own.reshape(
                own.shape[:-1] + (1,) * (len(numbers) - 1 - place) + (len(limits),)
            )
        found = survivors([*found, *_within(costs, limits, first)])
    return found


def _table(pipeline: Pipeline, place: int, before: int, own: int, count: int) -> _Costs:
    """Costs of a layer by the number in front of it and its own, 1 first; the first has one."""
    fronts = range(1, before + 1) if before else (pipeline.inputs,)
    return np.array(
        [[pipeline.costs(place, each, n, count) for n in range(1, own + 1)] for each in fronts]
    )


def _within(costs: _Costs, limits: tuple[float, ...], first: int) -> list[FrontPoint]:
    """Designs within the limits; of those that differ in cycles alone, the fastest."""
    flat = costs.reshape(-1, len(limits))
    places = np.flatnonzero((flat <= limits).all(axis=1))
    places = places[np.lexsort(flat[places].T)]  # by the last cost first, by cycles last
    rest = flat[places, 1:]
    new = np.ones(len(places), bool)
    new[1:] = (rest[1:] != rest[:-1]).any(axis=1)
    designs = np.stack(np.unravel_index(places[new], costs.shape[:-1]), axis=1) + 1
    return [
        FrontPoint(tuple(price), (first + 1, *design))
        for price, design in zip(flat[places[new]].tolist(), designs.tolist(), strict=True)
    ]
