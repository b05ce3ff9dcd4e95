"""A whole simulation: every phase of every layer that was chosen, one after the other."""

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
    """What came of a simulation.

    Attributes:
        choice: what was simulated. results: of each layer and phase, in the order of the run.
        golden: the step that every word was compared with; it knows the input of each layer.
    """

    choice: SimulationChoice
    results: Sequence[PassResult]
    golden: Any

    @property
    def passed(self) -> bool:
        """Whether every check of every pass holds."""
        return all(result.audit.passed for result in self.results)

    def answer(self, *, everything: bool) -> dict[str, Any]:
        """The answer for machines: of one layer, or ``runs`` and their ``total``."""
        return report.answer(self.choice, self.results, everything=everything)

    def files(self, answer: dict[str, Any]) -> dict[str, str | bytes]:
        """Report and pictures, by name."""
        return report.files(self.choice, self.results, answer, self.golden)

    def show(self) -> None:
        """Print the tables."""
        report.show(self.choice, self.results)


def simulate_all(
    choice: SimulationChoice,
    image: Words,
    parameters: Any,
    finished: Finished | None,
    waves: Waves | None,
    progress: Progress,
) -> SimulationOutcome:
    """Simulate what was chosen.

    Args:
        image: (images, rows, columns, channels) words, what goes into the network.
        parameters: kernels and biases of its layers.
        finished: where finished work is kept, and taken from. waves: the waveform's place.
        progress: is told how far it is.

    Raises:
        BadInput: an engine's simulator is not installed.
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
