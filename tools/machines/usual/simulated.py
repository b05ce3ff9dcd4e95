"""A floating-point machine's part of a simulation: a turn for each group of a layer in a phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from merp.cosim.machines.loader import phases_of
from merp.cosim.phases.expectation import RecordedPasses
from merp.cosim.phases.phase import HardwarePhase
from merp.models.arithmetic.compiled import Values
from merp.models.arithmetic.words import to_values
from merp.models.base.bits import Bits
from merp.models.base.counters import COUNTERS, Counter
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import Parameters
from merp.models.golden.initial import parameters as initial_parameters
from merp.models.network.machine import CycleCount
from merp.models.network.network import Layer, Network
from merp.models.network.phases import called, made_by, phase_on
from merp.models.network.registry import cycles_of
from merp.tools.common.given_words import given_words
from merp.tools.common.input_maps import input_maps
from merp.tools.common.kernel_file import read_kernels
from merp.tools.common.storable import check_storable
from merp.tools.simulate.choice import SimulationChoice
from merp.tools.simulate.first_rows import step_of
from merp.tools.simulate.result import PassResult
from merp.tools.simulate.simulated import CountedHalf, Numbers, SimulationPlan, Sitting, Turn


@dataclass(frozen=True, kw_only=True)
class InGroups:
    """A machine whose engines keep no data from one group to the next.

    Attributes:
        unit: name of a computing part of it.
        counters: cycle counters of its tops.
        counted_halves: as in ``Simulated``.
    """

    unit: str
    counters: tuple[Counter, ...] = COUNTERS
    counted_halves: Mapping[str, CountedHalf] = field(default_factory=dict)
    joint = -1

    def input_maps(self, network: Network, images: int, photograph: Path | None) -> Bits:
        """Return the words of the photograph, or random words."""
        return input_maps(network, images, photograph)

    def words_of(self, where: str, maps: Numbers, network: Network) -> Bits:
        """Convert numbers to the format by rounding; ``uint32`` arrays are words of the format.

        Raises:
            BadInput: ``given_words`` or ``check_storable`` refuses them.
        """
        words = given_words(where, maps, network.fmt)
        check_storable(where, words, network.fmt, network.stored_input)
        return words

    def parameters(self, network: Network, seed: int, path: Path | None) -> Parameters:
        """Return initial parameters from the seed, replaced by the parameters in the file."""
        found = initial_parameters(network, seed)
        return found if path is None else read_kernels(path, network, found)

    def step(self, choice: SimulationChoice, image: Bits, parameters: Parameters) -> Any:
        """Return the step of whole layers, or of a layer's first rows."""
        network = choice.network
        layers = [network.layer(layer.name) for layer in choice.layers]
        golden = GoldenStep(network, layers, image, parameters, pooled=choice.before)
        if choice.rows is None:
            return golden
        return step_of(network, layers[0], choice.layers[0], golden)

    def sittings(self, choice: SimulationChoice, step: Any) -> Iterator[Sitting]:
        """Yield a sitting for each phase of layers with the same design, a turn for each group."""
        for phase, layers in phases_chosen(choice):
            spans = []
            for layer in layers:
                made = partial(_keep, step, made_by(choice.network, layer, phase.name).name)
                for group in groups_of(layer, choice.group):
                    name = called(phase.network, layer, phase.name)
                    said = f"{name} {phase.name} group {group}"
                    turn = Turn(phase, layer, said, _group(phase, layer, group, step), made)
                    spans.append([turn])
            cycles = self._all_cycles(choice, layers, phase.name)
            yield Sitting(phase.top(choice.array), spans, cycles)

    def turns(self, choice: SimulationChoice, layer: Layer) -> int:
        """Return one turn for each group."""
        return len(groups_of(layer, choice.group))

    def planned(self, choice: SimulationChoice) -> SimulationPlan:
        """Return modelled cycles. The model only supports deltas at the resolution of the sums."""
        passes, words, cycles = 0, 0, list[int | None]()
        for phase, layers in phases_chosen(choice):
            cycles.append(self._all_cycles(choice, layers, phase.name))
            for layer in layers:
                groups = len(groups_of(layer, choice.group))
                passes += groups
                words += groups * sum(phase.words(layer, choice.images).values())
        return SimulationPlan(passes, words, _sum(cycles))

    def _all_cycles(
        self, choice: SimulationChoice, layers: Sequence[Layer], phase: str
    ) -> int | None:
        """Return the cycles of the selected groups of some layers, with kernel loading."""
        found = []
        for layer in layers:
            cycles, groups = self._cycles(choice, layer, phase), groups_of(layer, choice.group)
            whole = None if cycles is None else cycles.kernel_load + cycles.total
            found.append(None if whole is None else whole * len(groups) // layer.groups)
        return _sum(found)

    def _cycles(self, choice: SimulationChoice, layer: Layer, phase: str) -> CycleCount | None:
        if choice.before and phase_on(choice.network, layer, phase).backward:
            return None
        return cycles_of(choice.network, layer, phase, choice.images)

    def efficiency(self, choice: SimulationChoice, result: PassResult) -> float | None:
        """Return the efficiency from the cycles of all groups."""
        layer = result.layer
        cycles = self._cycles(choice, layer, result.phase)
        if cycles is None:
            return None
        runs = layer.groups / len(groups_of(layer, choice.group))
        return result.audit.ideal * runs / cycles.total

    def halves(self, choice: SimulationChoice, layer: Layer, phase: str) -> dict[str, int]:
        """Return no halves."""
        return {}

    def about(self, choice: SimulationChoice, layer: Layer, phase: str) -> Mapping[str, Any]:
        """Return the name of the design."""
        return {"design": layer.design}

    def hardware(self, choice: SimulationChoice, layer: Layer, phase: str) -> str:
        """Return the name of the design as text."""
        return f"design {layer.design}"

    def numbers(self, network: Network, layer: Layer, outputs: Bits) -> Values:
        """Return outputs in the network's format."""
        return to_values(outputs, network.fmt)

    def shown(
        self, choice: SimulationChoice, step: Any, result: PassResult
    ) -> tuple[Values, Values]:
        """Return the arrays of the groups that ran."""
        assert result.outputs is not None
        group, n, x = choice.group, result.layer.shape.n, step.x(result.layer)
        maps = x if group is None else x[..., group * n : (group + 1) * n]
        fmt = choice.network.fmt
        return to_values(maps[0], fmt), to_values(result.outputs[0], fmt)


def groups_of(layer: Layer, group: int | None) -> Sequence[int]:
    """Return the groups of a layer that are run."""
    return range(layer.groups) if group is None else (group,)


def phases_chosen(choice: SimulationChoice) -> Iterator[tuple[HardwarePhase, Sequence[Layer]]]:
    """Yield the phases to run, each with the consecutive layers that share its design."""
    return phases_of(
        choice.network, choice.layers, choice.phases, state=choice.state, before=choice.before
    )


def _group(
    phase: HardwarePhase, layer: Layer, group: int, step: Any
) -> Callable[[], RecordedPasses]:
    def passes() -> RecordedPasses:
        yield phase.golden_pass(layer, group, step)

    return passes


def _sum(cycles: Sequence[int | None]) -> int | None:
    """Return the sum; None if a summand is unknown."""
    known = [each for each in cycles if each is not None]
    return sum(known) if len(known) == len(cycles) else None


def _keep(step: Any, name: str, outputs: Bits) -> None:
    """Store the hardware's output as the next layer's input."""
    step.made[name] = outputs
