"""A whole simulation: all requested phases of all requested layers, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from merp.cosim.engines.job import Wanted
from merp.tools.common.progress import Progress
from merp.tools.simulate import report
from merp.tools.simulate.choice import SimulationChoice
from merp.tools.simulate.finished import Finished
from merp.tools.simulate.result import PassResult
from merp.tools.simulate.run import simulate
from merp.tools.simulate.simulated import Words, simulated_of
from merp.tools.simulate.waves import Waves


@dataclass(frozen=True, eq=False)
class SimulationOutcome:
    """The outcome of a simulation.

    Attributes:
        choice: the checked request.
        results: results of each layer and phase, in the order of the run.
        golden: the golden step that every word was compared with; it has the input of each layer.
    """

    choice: SimulationChoice
    results: Sequence[PassResult]
    golden: Any

    @property
    def passed(self) -> bool:
        """Whether every check of every pass holds."""
        return all(result.audit.passed for result in self.results)

    def answer(self, *, everything: bool) -> dict[str, Any]:
        """Return the answer for programs: of one layer, or ``runs`` and their ``total``."""
        return report.answer(self.choice, self.results, everything=everything)

    def files(self, answer: dict[str, Any]) -> dict[str, str | bytes]:
        """Return the files of the report and the pictures, by name."""
        return report.files(self.choice, self.results, answer, self.golden)

    def show(self, *, details: bool) -> None:
        """Print a row for each pass, or the tables of each."""
        report.show(self.choice, self.results, details=details)


def simulate_all(
    choice: SimulationChoice,
    image: Words,
    parameters: Any,
    finished: Finished | None,
    waves: Waves | None,
    progress: Progress,
) -> SimulationOutcome:
    """Run the requested simulation.

    Args:
        choice: the checked request.
        image: (images, rows, columns, channels) words, the input of the network.
        parameters: kernels and biases of its layers.
        finished: store of finished results, or None.
        waves: place of the waveform.
        progress: receives the progress.

    Raises:
        BadInput: the simulator is not installed.
        Stuck: no word moved for too long; the waveform shows where.
    """
    if waves is not None:
        choice = replace(choice, wave=waves.wave)
    machine = simulated_of(choice.network, choice.layers)
    golden = machine.step(choice, image, parameters)
    results: list[PassResult] = []
    sittings = list(machine.sittings(choice, golden))
    wanted = [Wanted(sitting.top, sitting.cycles) for sitting in sittings]
    for number, sitting in enumerate(sittings):
        with nullcontext() if waves is None else waves.kept(sitting.top.ports):
            results += simulate(
                sitting, machine.joint, choice.images, finished, choice.engine, choice.wave,
                progress, wanted[number:],
            )  # fmt: skip
    return SimulationOutcome(choice, results, golden)
