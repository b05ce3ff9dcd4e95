"""Options that every architecture has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from merp.models.network.network import Layer, Network
from merp.models.network.planning import BEST, FITS

Setting = str | int | float | bool | None
"""Value of an option."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a plan.

    Attributes:
        batch: images of a step.
        scope: names of the layers that are planned and counted.
        word_bits: of memory and links; None for the paper's own (for CNN-MERP, the network's).
        fit: ``best``: designs are sized for the board; ``shipped``: those of the network file.
        costs: unit costs, ``paper`` or ``ours``.
        extra: options of a single architecture, by name; all of them are set.
    """

    batch: int = 128
    scope: tuple[str, ...]
    word_bits: int | None = None
    fit: str = BEST
    costs: str = "paper"
    extra: Mapping[str, Setting] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the names."""
        if self.fit not in FITS or self.costs not in ("paper", "ours"):
            raise ValueError(f"fit {self.fit!r}, costs {self.costs!r}")

    def plain(self) -> dict[str, Setting]:
        """Return the options as a record stores them."""
        shared = {"word_bits": self.word_bits, "fit": self.fit, "costs": self.costs}
        return {**shared, **self.extra}

    def layers(self, network: Network) -> list[Layer]:
        """Return the layers of the scope, in the network's order."""
        return [layer for layer in network.layers if layer.name in self.scope]
