"""Memory traffic of a network as rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from merp.models.network.network import Network
from merp.models.network.phases import PHASES
from merp.models.traffic.closed_form import LayerTraffic, Phase, network_traffic, total
from merp.models.traffic.footing import Footing
from merp.tools.library.rows import Row, Rows
from merp.tools.traffic.answer import traffic_json


class Traffic(Rows):
    """A row per layer and phase, from the closed form (CNN-MERP section IV).

    Keys of a row: ``layer``, ``kind``, ``phase``, ``operations``, ``bytes``, ``mb_per_gflop``
    (10^6 bytes per 10^9 operations).

    Attributes:
        network: whose traffic.
        batch: images of a step.
        footing: what was counted.
        layers: the same by layer, with the bytes of each stream.
    """

    def __init__(self, network: Network, batch: int, footing: Footing) -> None:
        self.network, self.batch, self.footing = network, batch, footing
        self.layers: tuple[LayerTraffic, ...] = network_traffic(network, batch, footing)
        title = f"Memory traffic of {network.name}, batch {batch}, footing {footing.name}"
        super().__init__(title, self._made())

    def _made(self) -> Iterator[Row]:
        for each in self.layers:
            for name in PHASES:
                phase: Phase | None = getattr(each, name)
                if phase is not None:
                    yield {
                        "layer": each.layer.name,
                        "kind": each.layer.kind,
                        "phase": name,
                        "operations": phase.operations,
                        "bytes": phase.bytes,
                        "mb_per_gflop": phase.mb_per_gflop,
                    }

    def total(self, phase: str = "step") -> Phase:
        """The sum over all layers of ``fp``, ``dp``, ``ku``, or of a whole training ``step``."""
        return total(self.layers, phase)

    def json(self) -> dict[str, Any]:
        """The answer of ``merp traffic --json``."""
        return traffic_json(self.network, self.layers, self.batch, self.footing)
