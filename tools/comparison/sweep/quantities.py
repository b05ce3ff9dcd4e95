"""The quantities of a sweep over an architecture: figures of its records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from merp.models.comparison.figure import Figure, derived
from merp.models.comparison.record import FULL, Record


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A figure of a record.

    Attributes:
        label, says: its name and description.
        unit: unit in tables and pictures.
        scale: divisor for this unit.
        digits: decimals.
        of: returns the figure; None if the record has none.
    """

    label: str
    says: str
    unit: str
    scale: float = 1
    digits: int = 1
    of: Callable[[Record], Figure | None]


def _joule_per_image(record: Record) -> Figure | None:
    energy = record.energy_j
    return None if energy is None else derived(energy.value / record.batch, energy)


QUANTITIES: Final[Mapping[str, Quantity]] = {
    "images_per_s": Quantity(
        label="throughput",
        says="batch after batch",
        unit="images/s",
        of=lambda record: record.images_per_s,
    ),
    "step_s": Quantity(
        label="step",
        says="time of a batch",
        unit="ms",
        scale=1e-3,
        digits=3,
        of=lambda record: record.interval_s,
    ),
    "busy": Quantity(
        label="busy",
        says="share of multiplier-cycles with useful work, including fill and drain",
        unit="%",
        scale=0.01,
        of=lambda record: record.busy,
    ),
    "memory_mb_per_gflop": Quantity(
        label="memory",
        says="to memory and host",
        unit="MB/GFlop",
        digits=3,
        of=lambda record: record.mb_per_gflop(FULL),
    ),
    "link_mb_per_gflop": Quantity(
        label="links",
        says="from board to board",
        unit="MB/GFlop",
        digits=3,
        of=lambda record: record.mb_per_gflop(("link",)),
    ),
    "joule_per_image": Quantity(
        label="energy", says="of the boards at work", unit="J/image", digits=3, of=_joule_per_image
    ),
}
"""All quantities."""
