"""The plan of a network on a board as rows."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike, fspath
from typing import Any

from merp.models.base.state_field import STATES
from merp.models.machines.cnn_merp.plan.fit import FITS
from merp.models.machines.cnn_merp.plan.plan import GOALS
from merp.models.machines.cnn_merp.plan.planned import Plan as OnBoard
from merp.models.network.network import Network
from merp.tools.common.boards import open_board
from merp.tools.library.checks import flag, one_of, text, whole_number
from merp.tools.library.rows import Row, Rows
from merp.tools.plan.answer import plan_json
from merp.tools.plan.fit import fitted_json, fitted_plan
from merp.tools.plan.fuse import fused_plan


class Plan(Rows):
    """A row per layer and phase (page "From a network to a board").

    Keys of a row are those of ``layers`` in ``merp plan --json``: ``name``, ``phase``, ``design``,
    ``input_part``, ``output_part``, ``passes``, ``bytes``, ``cycles``, ``seconds``, ``binds``, ...

    Attributes:
        seconds: of a training step, with its bitstreams.
        images_per_second: of the same.
    """

    def __init__(
        self,
        network: Network,
        board: str | PathLike[str],
        batch: int,
        goal: object,
        state_bits: object,
        apart: object,
        fuse: object,
        fit: object,
    ) -> None:
        images = whole_number("batch", batch, 1, 1 << 16)
        aim, state = one_of("goal", goal, GOALS), one_of("state_bits", state_bits, STATES)
        place, alone = open_board(fspath(board)), flag("apart", apart)
        pair = None if fuse is None else text("fuse", fuse)

        def planned(each: Network, goal: str) -> OnBoard:
            return fused_plan(each, place, images, goal, state, apart=alone, fuse=pair)

        self._fitted = fitted_plan(network, one_of("fit", fit, FITS), aim, planned)
        self._plan = self._fitted.plan
        self.seconds, self.images_per_second = self._plan.seconds, self._plan.images_per_second
        title = f"Plan of {network.name} on {self._plan.board.name}, batch {images}"
        super().__init__(title, self._made())

    def _made(self) -> Iterator[Row]:
        yield from plan_json(self._plan)["layers"]

    def json(self) -> dict[str, Any]:
        """The answer of ``merp plan --json``."""
        return fitted_json(self._fitted)
