"""What simulating asks of a machine."""

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
"""Words of a network's numbers, of whatever type holds them."""

Numbers = NDArray[np.generic]
"""Numbers or words, as somebody gave them."""


def _none(outputs: Bits) -> None:
    """Nobody wants them."""


@dataclass(frozen=True)
class Turn:
    """Passes of a phase of a layer, of a group or of an image.

    Attributes:
        said: what they are, for who waits. passes: makes them. made: is told the outputs of the
            layer when all its turns are over. asked: whether anybody did; else the passes only go
            before others.
    """

    phase: HardwarePhase
    layer: Layer
    said: str
    passes: Callable[[], RecordedPasses]
    made: Callable[[Bits], None] = _none
    asked: bool = True


class Sitting(NamedTuple):
    """Turns one after the other on one elaboration.

    Attributes:
        spans: turns that run together or not at all: what one of a span leaves on the chip, others
            of that span read. No span reads what another one has left there.
        cycles: of all turns, by the machine's model; None if it does not know them.
    """

    top: Top
    spans: Sequence[Sequence[Turn]]
    cycles: int | None = None

    @property
    def turns(self) -> list[Turn]:
        """Those of all spans."""
        return [turn for span in self.spans for turn in span]


class CountedHalf(NamedTuple):
    """The half of a pass whose cycles have counters of their own.

    Attributes:
        begins: what their names begin with. whose: its slots, for people.
    """

    begins: str
    whose: str


class SimulationPlan(NamedTuple):
    """What a simulation will take: passes, words by formula, cycles by the model if it knows."""

    passes: int
    words: int
    cycles: int | None


class Simulated(Protocol):
    """A machine as it is simulated."""

    @property
    def counters(self) -> tuple[Counter, ...]:
        """Of cycles, that its tops have."""

    @property
    def unit(self) -> str:
        """What a part of it is called that computes."""

    @property
    def joint(self) -> int:
        """Axis of a layer's output maps along which its turns follow each other."""

    @property
    def counted_halves(self) -> Mapping[str, CountedHalf]:
        """By phase, of phases that have one."""

    def input_maps(self, network: Network, images: int, photograph: Path | None) -> Words:
        """What goes into the network: (images, rows, columns, channels).

        Raises:
            BadInput: the file is no image, or has other channels.
        """

    def words_of(self, where: str, maps: Numbers, network: Network) -> Words:
        """The same of what was given, of that size; ``where`` opens the complaint.

        Raises:
            BadInput: of another type, or what no word of the network stands for.
        """

    def parameters(self, network: Network, seed: int, path: Path | None) -> Any:
        """Kernels and biases before the step.

        Raises:
            BadInput: of the file, or there is no way to give one.
        """

    def step(self, choice: SimulationChoice, image: Words, parameters: Any) -> Any:
        """The golden step that passes are fed from and compared with.

        Raises:
            BadInput: a design does not run what was chosen.
        """

    def sittings(self, choice: SimulationChoice, step: Any) -> Iterator[Sitting]:
        """All that was chosen, in the order in which it runs."""

    def turns(self, choice: SimulationChoice, layer: Layer) -> int:
        """How many turns each phase of a layer has."""

    def planned(self, choice: SimulationChoice) -> SimulationPlan:
        """What that will take."""

    def efficiency(self, choice: SimulationChoice, result: PassResult) -> float | None:
        """Efficiency by the cycle model, if it knows the pass."""

    def halves(self, choice: SimulationChoice, layer: Layer, phase: str) -> Mapping[str, int]:
        """Units of each half of a pass that has two, by what its counters begin with."""

    def about(self, choice: SimulationChoice, layer: Layer, phase: str) -> Mapping[str, Any]:
        """What the answer for machines says of the design."""

    def hardware(self, choice: SimulationChoice, layer: Layer, phase: str) -> str:
        """The same in a few words."""

    def numbers(self, network: Network, layer: Layer, outputs: Words) -> Values:
        """What output maps of a layer stand for, exactly."""

    def shown(
        self, choice: SimulationChoice, step: Any, result: PassResult
    ) -> tuple[Values, Values]:
        """Numbers of the first image's input and output maps, of forward propagation."""


def simulated_of(network: Network, layers: Sequence[Layer]) -> Simulated:
    """How the machine of ``layers`` is simulated; each has a design of one machine.

    Raises:
        BadInput: the first of them has no design.
    """
    found: Simulated = part_that_runs(network, layers, "simulated")
    return found
