"""Layers in one piece, on the machine of their designs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from merp.models.network.network import Network
from merp.models.network.registry import network_asked
from merp.tools.common.fields import PHASE
from merp.tools.common.progress import Progress
from merp.tools.simulate.choice import RunOptions, SimulationChoice
from merp.tools.simulate.choose import choose
from merp.tools.simulate.finished import Finished, fingerprint
from merp.tools.simulate.kept_files import KeptFiles
from merp.tools.simulate.picked import check_resume, check_room, check_wave_of, pick
from merp.tools.simulate.plan import plan_line
from merp.tools.simulate.request import Simulate
from merp.tools.simulate.session import SimulationOutcome as Found
from merp.tools.simulate.session import simulate_all
from merp.tools.simulate.simulated import Simulated, SimulationPlan, Words, simulated_of
from merp.tools.simulate.waves import Waves


@dataclass(frozen=True)
class Pieces:
    """The chosen layers, and their machine."""

    choice: SimulationChoice
    machine: Simulated

    @property
    def engine(self) -> str:
        """The simulator that runs them."""
        return self.choice.engine

    @property
    def plan(self) -> str:
        """A line with passes, words and cycles."""
        return plan_line(self._planned)

    @cached_property
    def _planned(self) -> SimulationPlan:
        return self.machine.planned(self.choice)

    def maps(self, photograph: Path | None) -> Words:
        """Return the machine's default maps."""
        return self.machine.input_maps(self.choice.network, self.choice.images, photograph)

    def parameters(self, seed: int, path: Path | None) -> Any:
        """Return the machine's parameters."""
        return self.machine.parameters(self.choice.network, seed, path)

    def finished(
        self, maps: Words, seed: int, sources: Mapping[str, bytes], kept: Callable[[str], KeptFiles]
    ) -> Finished:
        """Return the store for results of layers, phases and turns."""
        return Finished(kept(fingerprint(self.choice, maps, seed, sources)), self.choice)

    def run(
        self,
        maps: Words,
        parameters: Any,
        finished: Finished | None,
        waves: Waves | None,
        progress: Progress,
    ) -> Found:
        """Simulate the request."""
        progress.expect(self._planned.cycles)
        return simulate_all(self.choice, maps, parameters, finished, waves, progress)


def pieces(
    network: Network, asked: Simulate, read: Callable[[Network, Simulated], Words | None]
) -> tuple[Pieces, Words | None]:
    """Return the layers in one piece, and the maps of the user, if any.

    Args:
        network: the network.
        asked: the request.
        read: reads the user's maps, for a network with its designs, and its machine.

    Raises:
        BadInput: options contradict each other, or the network.
    """
    network = network_asked(network, asked.architecture, asked.images or 1)
    picked = pick(network, asked.layer, asked.group, asked.cus)
    machine = simulated_of(picked.network, picked.layers)
    maps = read(picked.network, machine)
    options = RunOptions(
        phase=asked.phase or PHASE,
        images=(asked.images or 1) if maps is None else len(maps),
        engine=asked.engine,
        cu_array=asked.cu_array,
        state=asked.state,
        delta_at=asked.delta_at,
        wave=asked.wave,
        rows=asked.rows,
    )
    choice = choose(picked, options)
    check_wave_of(asked.wave_of, wave=asked.wave is not None)
    check_resume(asked.resume, output=asked.output is not None, wave=asked.wave is not None)
    check_room(choice)
    return Pieces(choice, machine), maps
