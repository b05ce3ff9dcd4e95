"""The passes of a plan for ``merp simulate --board``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merp.models.base.bits import Bits
from merp.models.golden.initial import Parameters
from merp.models.network.network import Network
from merp.tools.common.boards import open_board
from merp.tools.common.input_maps import input_maps
from merp.tools.common.progress import Progress
from merp.tools.machines.cnn_merp.simulated import CNN_MERP
from merp.tools.machines.cnn_merp.tiles.choice import TilesChoice, choose
from merp.tools.machines.cnn_merp.tiles.draw import cycles_of_drawn, planned_work
from merp.tools.machines.cnn_merp.tiles.finished import FinishedUnits, fingerprint
from merp.tools.machines.cnn_merp.tiles.report import answer, files, show
from merp.tools.machines.cnn_merp.tiles.result import TilesResult
from merp.tools.machines.cnn_merp.tiles.session import simulate_plan
from merp.tools.simulate.kept_files import KeptFiles
from merp.tools.simulate.picked import check_resume
from merp.tools.simulate.request import SimulateOptions
from merp.tools.simulate.simulated import Simulated
from merp.tools.simulate.waves import Waves


@dataclass(frozen=True)
class PassesResult:
    """The result of passes."""

    choice: TilesChoice
    results: list[TilesResult]

    @property
    def passed(self) -> bool:
        """Whether every check of every pass succeeded."""
        return not any(result.failures for result in self.results)

    def answer(self, *, everything: bool) -> dict[str, Any]:
        """Return the complete answer, for every request."""
        return answer(self.choice, self.results)

    def files(self, answer: dict[str, Any]) -> dict[str, str]:
        """Return the answer and the tables."""
        return files(self.choice, self.results, answer)

    def show(self, *, details: bool) -> None:
        """Print a row for each layer and phase, or for each port."""
        show(self.choice, self.results, details=details)


@dataclass(frozen=True)
class Passes:
    """The selected passes."""

    choice: TilesChoice

    @property
    def engine(self) -> str:
        """The engine that runs them."""
        return self.choice.engine

    @property
    def plan(self) -> str:
        """Passes, bytes and cycles."""
        return planned_work(self.choice)

    def maps(self, photograph: Path | None) -> Bits:
        """Return the maps of the plan's batch."""
        return input_maps(self.choice.plan.network, self.choice.plan.batch, photograph)

    def parameters(self, seed: int, path: Path | None) -> Parameters:
        """Return the parameters of all layers."""
        return CNN_MERP.parameters(self.choice.plan.network, seed, path)

    def finished(
        self, maps: Bits, seed: int, sources: Mapping[str, bytes], kept: Callable[[str], KeptFiles]
    ) -> FinishedUnits:
        """Return the finished units of passes. The choice includes the seed."""
        return FinishedUnits(kept(fingerprint(self.choice, maps, sources)), self.choice)

    def run(
        self,
        maps: Bits,
        parameters: Parameters,
        finished: FinishedUnits | None,
        waves: Waves | None,
        progress: Progress,
    ) -> PassesResult:
        """Run all selected passes."""
        progress.expect(cycles_of_drawn(self.choice))
        return PassesResult(
            self.choice, simulate_plan(self.choice, maps, parameters, finished, progress)
        )


def passes(
    network: Network, asked: SimulateOptions, read: Callable[[Network, Simulated], Bits | None]
) -> tuple[Passes, Bits | None]:
    """Return the passes of a plan, and the maps of the user, if any.

    Raises:
        BadInput: options exclude each other, or do not fit the network or the board.
    """
    assert asked.board is not None
    maps = read(network, CNN_MERP)
    images = (asked.images or 1) if maps is None else len(maps)
    choice = choose(network, open_board(asked.board), asked, images)
    check_resume(asked.resume, output=asked.output is not None, wave=False)
    return Passes(choice), maps
