"""What every architecture is asked for, in the same words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from merp.models.network.network import Layer, Network
from merp.models.network.planning import BEST, FITS


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a plan is asked for.

    Attributes:
        batch: images of a step. scope: names of the layers that are planned and counted.
        word_bits: of memory and links; None for the paper's own (CNN-MERP's: the network's).
        fit: ``best``: designs are sized for the board; ``shipped``: those of the network file.
        costs: unit costs, ``paper`` or ``ours``.
        extra: what an architecture alone knows, by name; all of its own are there.
    """

    batch: int = 128
    scope: tuple[str, ...]
    word_bits: int | None = None
    fit: str = BEST
    costs: str = "paper"
    extra: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the names."""
        if self.fit not in FITS or self.costs not in ("paper", "ours"):
            raise ValueError(f"fit {self.fit!r}, costs {self.costs!r}")

    def plain(self) -> dict[str, str | int | float | bool | None]:
        """As a record has them."""
        shared = {"word_bits": self.word_bits, "fit": self.fit, "costs": self.costs}
        return {**shared, **self.extra}

    def layers(self, network: Network) -> list[Layer]:
        """Layers of the scope, in the network's order."""
        return [layer for layer in network.layers if layer.name in self.scope]
