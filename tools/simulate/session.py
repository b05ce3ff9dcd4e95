"""A whole simulation: every phase of every layer that was chosen, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from merp.cosim.architectures import phases_of
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import Parameters
from merp.models.params.bits import Bits
from merp.tools.common.progress import Progress
from merp.tools.simulate import report
from merp.tools.simulate.choice import Choice
from merp.tools.simulate.finished import Finished
from merp.tools.simulate.first_rows import step_of
from merp.tools.simulate.result import Result
from merp.tools.simulate.run import simulate
from merp.tools.simulate.waves import Waves


@dataclass(frozen=True, eq=False)
class Simulated:
    """What came of a simulation.

    Attributes:
        choice: what was simulated. results: of each layer and phase, in the order of the run.
        golden: the step that every word was compared with; it knows the input of each layer.
    """

    choice: Choice
    results: Sequence[Result]
    golden: GoldenStep

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


def simulate_all(
    choice: Choice,
    image: Bits,
    parameters: Parameters,
    finished: Finished | None,
    waves: Waves | None,
    progress: Progress,
) -> Simulated:
    """Simulate what was chosen.

    Args:
        image: (images, rows, columns, channels) words, what goes into the network.
        parameters: kernels and biases of its layers.
        finished: where finished layers are kept, and taken from. waves: the waveform's place.
        progress: is told how far it is.

    Raises:
        BadInput: an engine's simulator is not installed.
        Stuck: no word moved for too long; the waveform shows where.
    """
    if waves is not None:
        choice = replace(choice, wave=waves.wave)
    network = choice.network
    layers = [network.layer(layer.name) for layer in choice.layers]
    golden = GoldenStep(network, layers, image, parameters, pooled=choice.before)
    if choice.rows is not None:
        golden = step_of(network, layers[0], choice.layers[0], golden)
    results: list[Result] = []
    for phase, sharing in phases_of(
        choice.network, choice.layers, choice.phases, state=choice.state, before=choice.before
    ):
        with nullcontext() if waves is None else waves.kept(phase.top(choice.array).ports):
            results += simulate(
                phase, sharing, choice.group, golden, finished, choice.engine, choice.array,
                choice.wave, progress,
            )  # fmt: skip
    return Simulated(choice, results, golden)
