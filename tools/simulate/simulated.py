"""The interface of a machine for simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from merp.cosim.machines.loader import part_that_runs
from merp.cosim.phases.expectation import RecordedPasses
from merp.cosim.phases.phase import HardwarePhase
from merp.models.arithmetic.compiled import Values
from merp.models.base.bits import Bits
from merp.models.base.counters import Counter
from merp.models.network.network import Layer, Network
from merp.testbenches.top.top import Top
from merp.tools.simulate.choice import SimulationChoice
from merp.tools.simulate.result import PassResult

Words = NDArray[Any]
"""Words of a network's numbers, of any type that holds them."""

Numbers = NDArray[np.generic]
"""Numbers or words, as the user gave them."""


def _none(outputs: Bits) -> None:
    """Ignore the outputs."""


@dataclass(frozen=True)
class Turn:
    """Passes of a phase of a layer, for a group or an image.

    Attributes:
        phase: the phase.
        layer: the layer.
        said: description for progress messages.
        passes: creates the passes.
        made: receives the outputs of the layer after all its turns.
        asked: whether the user requested it; otherwise the passes only prepare others.
    """

    phase: HardwarePhase
    layer: Layer
    said: str
    passes: Callable[[], RecordedPasses]
    made: Callable[[Bits], None] = _none
    asked: bool = True


class Sitting(NamedTuple):
    """Turns that run one after the other on one elaboration.

    Attributes:
        top: the elaboration.
        spans: turns that run together or not at all, because they read data that an earlier turn of
            the span left on the chip. No span reads such data of another span.
        cycles: cycles of all turns, by the machine's model; None if it has no model of them.
    """

    top: Top
    spans: Sequence[Sequence[Turn]]
    cycles: int | None = None

    @property
    def turns(self) -> list[Turn]:
        """The turns of all spans."""
        return [turn for span in self.spans for turn in span]


class CountedHalf(NamedTuple):
    """A half of a pass whose cycles have their own counters.

    Attributes:
        begins: prefix of the counters' names.
        whose: name of its slots for people.
    """

    begins: str
    whose: str


class SimulationPlan(NamedTuple):
    """The size of a simulation: passes, words by formula, and cycles by the model, if known."""

    passes: int
    words: int
    cycles: int | None


class Simulated(Protocol):
    """The simulation of a machine."""

    @property
    def counters(self) -> tuple[Counter, ...]:
        """Counters of cycles in its tops."""

    @property
    def unit(self) -> str:
        """Name of a computing unit."""

    @property
    def joint(self) -> int:
        """Axis of a layer's output maps along which its turns are joined."""

    @property
    def counted_halves(self) -> Mapping[str, CountedHalf]:
        """Counted halves by phase, for phases that have one."""

    def input_maps(self, network: Network, images: int, photograph: Path | None) -> Words:
        """Return the input of the network: (images, rows, columns, channels).

        Raises:
            BadInput: the file is no image, or has other channels.
        """

    def words_of(self, where: str, maps: Numbers, network: Network) -> Words:
        """Return the user's maps as words; ``where`` starts the error message.

        Raises:
            BadInput: they have another type, or a number that no word of the network represents.
        """

    def parameters(self, network: Network, seed: int, path: Path | None) -> Any:
        """Return kernels and biases before the step.

        Raises:
            BadInput: the file is wrong, or the machine takes no file.
        """

    def step(self, choice: SimulationChoice, image: Words, parameters: Any) -> Any:
        """Return the golden step, which feeds the passes and is compared with them.

        Raises:
            BadInput: a design does not support the request.
        """

    def sittings(self, choice: SimulationChoice, step: Any) -> Iterator[Sitting]:
        """Yield the sittings of the request, in the order of the run."""

    def turns(self, choice: SimulationChoice, layer: Layer) -> int:
        """Return the number of turns of each phase of a layer."""

    def planned(self, choice: SimulationChoice) -> SimulationPlan:
        """Return the size of the simulation."""

    def efficiency(self, choice: SimulationChoice, result: PassResult) -> float | None:
        """Return the efficiency by the cycle model, if it knows the pass."""

    def halves(self, choice: SimulationChoice, layer: Layer, phase: str) -> Mapping[str, int]:
        """Return the units of each half of a pass with two halves, by the prefix of its
        counters."""

    def about(self, choice: SimulationChoice, layer: Layer, phase: str) -> Mapping[str, Any]:
        """Return the description of the design for programs."""

    def hardware(self, choice: SimulationChoice, layer: Layer, phase: str) -> str:
        """Return the description of the design in a few words."""

    def numbers(self, network: Network, layer: Layer, outputs: Words) -> Values:
        """Return the exact numbers of a layer's output maps."""

    def shown(
        self, choice: SimulationChoice, step: Any, result: PassResult
    ) -> tuple[Values, Values]:
        """Return the numbers of the first image's input and output maps, in forward propagation."""


def simulated_of(network: Network, layers: Sequence[Layer]) -> Simulated:
    """Return the simulation of the machine of ``layers``, whose designs have one machine.

    Raises:
        BadInput: the first layer has no design.
    """
    found: Simulated = part_that_runs(network, layers, "simulated")
    return found
