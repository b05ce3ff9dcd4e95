"""Evaluate the fit of two rates to nine latencies.

There are two tests. First, a machine whose rates are fitted to two networks must predict the third
network. Second, a fit of two numbers without any machine must not be as good. The report prints
both results next to the nine latencies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from merp.models.machines.mac_array.comparison.paper import DESIGNS, IMAGES, PaperDesign, epoch
from merp.models.machines.mac_array.rtl_compiler.latency import (
    KERNEL_RATE,
    MAP_RATE,
    image_seconds,
    update_seconds,
)

BATCH: Final = 40
"""Batch size of the predicted latency."""


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """The epoch of a design, predicted with the rates of the other designs.

    Attributes:
        times: the factor of the network's maps.
        kernel_rate, map_rate: rates fitted to the six latencies of the other designs.
        printed, found: printed and predicted seconds of an epoch, for batches of ``BATCH``.
    """

    times: int
    kernel_rate: float
    map_rate: float
    printed: float
    found: float

    @property
    def error(self) -> float:
        """Relative error of the predicted seconds."""
        return self.found / self.printed - 1


def held_out(design: PaperDesign) -> HeldOut:
    """Predict a design with the rates that minimize the worst error of the other designs."""
    others = [(each, each.layers()) for each in DESIGNS if each is not design]

    def worst(kernel_rate: float, map_rate: float) -> float:
        errors = []
        for each, layers in others:
            rated = replace(each.machine, kernel_rate=kernel_rate, map_rate=map_rate)
            image, update = image_seconds(rated, layers), update_seconds(rated, layers)
            errors += [
                abs(IMAGES * (image + update / batch) / printed - 1)
                for batch, printed in each.epochs.items()
            ]
        return max(errors)

    kernel_rate, map_rate = least_worst(worst, (KERNEL_RATE, MAP_RATE))
    rated = replace(design.machine, kernel_rate=kernel_rate, map_rate=map_rate)
    return HeldOut(
        times=design.times,
        kernel_rate=kernel_rate,
        map_rate=map_rate,
        printed=design.epochs[BATCH],
        found=epoch(rated, design.layers(), BATCH),
    )


@dataclass(frozen=True, kw_only=True)
class WithoutMachine:
    """Seconds of an image as a X + b X^2, for X times the maps of the smallest network."""

    linear: float
    square: float

    def seconds(self, design: PaperDesign) -> float:
        """Return the seconds of an image, without an update."""
        return self.linear * design.times + self.square * design.times**2

    def error(self, design: PaperDesign) -> float:
        """Return the error relative to the printed seconds."""
        return self.seconds(design) / design.each_image - 1


def without_machine() -> WithoutMachine:
    """Fit the two numbers to the three networks, with the least worst error."""

    def worst(linear: float, square: float) -> float:
        found = WithoutMachine(linear=linear, square=square)
        return max(abs(found.error(each)) for each in DESIGNS)

    linear, square = least_worst(worst, (DESIGNS[0].each_image, DESIGNS[0].each_image / 10))
    return WithoutMachine(linear=linear, square=square)


def least_worst(
    worst: Callable[[float, float], float], near: tuple[float, float]
) -> tuple[float, float]:
    """Return two positive numbers that minimize ``worst``, within a factor of two of ``near``.

    Along each number the error has a single minimum. Therefore a ternary search finds it. A search
    by steps would stop on the ridge where two errors are equal.
    """

    def second(first: float) -> float:
        return _lowest(lambda number: worst(first, number), near[1])

    first = _lowest(lambda number: worst(number, second(number)), near[0])
    return first, second(first)


def _lowest(of: Callable[[float], float], near: float) -> float:
    low, high = near / 2, near * 2
    while high - low > 3e-4 * near:
        third = (high - low) / 3
        if of(low + third) < of(high - third):
            high -= third
        else:
            low += third
    return (low + high) / 2
