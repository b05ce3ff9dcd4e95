"""The plan of a network on a board as rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from merp.models.network.network import Network
from merp.tools.common.rows import Row, Rows
from merp.tools.plan.planned import planned
from merp.tools.plan.request import PlanKeywords


class Plan(Rows):
    """One row for each layer and phase (page "From a network to a board").

    The keys of a row are those of ``layers`` in ``merp plan --json``: ``name``, ``phase``,
    ``design``, ``input_part``, ``output_part``, ``passes``, ``bytes``, ``cycles``, ``seconds``,
    ``binds``, ...

    Attributes:
        seconds: seconds of a training step, with its bitstreams.
        images_per_second: images per second of a training step.
    """

    def __init__(self, network: Network, asked: PlanKeywords) -> None:
        self._plan = planned(network, asked)
        self.seconds, self.images_per_second = self._plan.seconds, self._plan.images_per_second
        title = f"Plan of {network.name} on {self._plan.board}, batch {asked.batch}"
        super().__init__(title, self._made())

    def _made(self) -> Iterator[Row]:
        yield from self._plan.answer()["layers"]

    def json(self) -> dict[str, Any]:
        """Return the answer of ``merp plan --json``."""
        return self._plan.answer()
