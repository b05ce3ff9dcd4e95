"""Find the Pareto front of a pipeline by calculating the costs of all its designs.

It is the reference for the exact search.
"""

from __future__ import annotations

from math import inf, prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from merp.models.base.errors import BadInput
from merp.models.base.front import FrontPoint, survivors
from merp.models.papers.mazouz.pipeline import Pipeline

MOST: Final = 10**8
"""Most designs that are enumerated."""

_Costs = NDArray[np.float64]


def enumerated(pipeline: Pipeline, dsp: float, lut: float | None = None) -> list[FrontPoint]:
    """Return the result of ``Pipeline.front``, from all possible numbers of filters per layer.

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
    for first in range(numbers[0]):  # one at a time: all together would not fit memory
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
    """Return the costs of a layer by the previous layer's number and its own, both from 1.

    The first layer has only one previous number, that of the input.
    """
    fronts = range(1, before + 1) if before else (pipeline.inputs,)
    return np.array(
        [[pipeline.costs(place, each, n, count) for n in range(1, own + 1)] for each in fronts]
    )


def _within(costs: _Costs, limits: tuple[float, ...], first: int) -> list[FrontPoint]:
    """Return the designs within the limits; of designs that differ only in cycles, the fastest."""
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
