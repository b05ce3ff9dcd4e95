"""CNN-MERP as it is simulated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from merp.cosim.machines.cnn_merp.phases import backward, fused_forward
from merp.cosim.machines.loader import phases_of
from merp.cosim.phases.expectation import RecordedPasses
from merp.cosim.phases.phase import Phase
from merp.models.arithmetic.compiled import Values
from merp.models.arithmetic.words import to_values
from merp.models.base.bits import Bits
from merp.models.base.counters import COUNTERS
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import Parameters
from merp.models.golden.initial import parameters as initial_parameters
from merp.models.machines.cnn_merp.cycles import layer_cycles
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.fused_pair import fused_design, fused_layers
from merp.models.machines.cnn_merp.one_pass import backward_design
from merp.models.network.network import Layer, Network
from merp.models.network.phases import ONE_PASS, PAIR, called, made_by
from merp.tools.common.given_words import given_words
from merp.tools.common.input_maps import input_maps
from merp.tools.common.kernel_file import read_kernels
from merp.tools.common.storable import check_storable
from merp.tools.simulate.choice import Choice
from merp.tools.simulate.first_rows import step_of
from merp.tools.simulate.result import Result
from merp.tools.simulate.simulated import CountedHalf, Numbers, Planned, Sitting, Turn

HALVES = {
    ONE_PASS: CountedHalf(backward.HALF, "delta propagation's"),
    PAIR: CountedHalf(fused_forward.HALF, "the first layer's"),
}


class CnnMerp:
    """CNN-MERP: each phase has an engine of its own, and nothing stays on the chip."""

    counters = COUNTERS
    unit = "CU"
    counted_halves = HALVES
    joint = -1

    def input_maps(self, network: Network, images: int, photograph: Path | None) -> Bits:
        """Words of the photograph, or random ones."""
        return input_maps(network, images, photograph)

    def words_of(self, where: str, maps: Numbers, network: Network) -> Bits:
        """Numbers rounded into the format, or ``uint32`` words of it; none stored far from itself.

        Raises:
            BadInput: ``given_words`` or ``check_storable`` refuses them.
        """
        words = given_words(where, maps, network.fmt)
        check_storable(where, words, network.fmt, network.stored_input)
        return words

    def parameters(self, network: Network, seed: int, path: Path | None) -> Parameters:
        """Initial ones from the seed, but for those of the file."""
        found = initial_parameters(network, seed)
        return found if path is None else read_kernels(path, network, found)

    def step(self, choice: Choice, image: Bits, parameters: Parameters) -> Any:
        """That of whole layers, or of a layer's first rows."""
        network = choice.network
        layers = [network.layer(layer.name) for layer in choice.layers]
        golden = GoldenStep(network, layers, image, parameters, pooled=choice.before)
        if choice.rows is None:
            return golden
        return step_of(network, layers[0], choice.layers[0], golden)

    def sittings(self, choice: Choice, step: Any) -> Iterator[Sitting]:
        """One for each phase of the layers that share a design, a turn for each group."""
        for phase, layers in _phases(choice):
            spans = []
            for layer in layers:
                made = partial(_keep, step, made_by(choice.network, layer, phase.name).name)
                for group in groups_of(layer, choice.group):
                    name = called(phase.network, layer, phase.name)
                    said = f"{name} {phase.name} group {group}"
                    turn = Turn(phase, layer, said, _group(phase, layer, group, step), made)
                    spans.append([turn])
            yield Sitting(phase.top(choice.array), spans)

    def turns(self, choice: Choice, layer: Layer) -> int:
        """One for each group."""
        return len(groups_of(layer, choice.group))

    def planned(self, choice: Choice) -> Planned:
        """The model knows deltas at the resolution of the sums only."""
        passes, words, cycles = 0, 0, 0
        for phase, layers in _phases(choice):
            for layer in layers:
                groups = len(groups_of(layer, choice.group))
                passes += groups
                words += groups * sum(phase.words(layer, choice.images).values())
                if choice.before and phase.name not in ("fp", PAIR):
                    continue
                known = layer_cycles(choice.network, layer, phase.name, choice.images)
                cycles += known.phase * groups // layer.groups if known else 0
        unknown = choice.before and not set(choice.phases) <= {"fp", PAIR}
        return Planned(passes, words, None if unknown else cycles)

    def efficiency(self, choice: Choice, result: Result) -> float | None:
        """The model knows deltas at the resolution of the sums only."""
        if result.phase not in ("fp", PAIR) and choice.before:
            return None
        cycles = layer_cycles(choice.network, result.layer, result.phase, choice.images)
        return cycles.efficiency if cycles is not None else None

    def halves(self, choice: Choice, layer: Layer, phase: str) -> dict[str, int]:
        """Of a pass for both backward phases, or for two layers; else nothing."""
        if phase == ONE_PASS:
            both = backward_design(choice.network, layer)
            return {HALVES[phase].begins: both.propagation.n_cu, "update": both.update.n_cu}
        if phase == PAIR:
            pair = fused_design(choice.network, *fused_layers(choice.network))
            return {HALVES[phase].begins: pair.first.n_cu, "second": pair.groups * pair.second.n_cu}
        return {}

    def about(self, choice: Choice, layer: Layer, phase: str) -> Mapping[str, Any]:
        """Kinds of CUs, and how many."""
        design = design_of(choice.network, layer)
        halves = self.halves(choice, layer, phase)
        return {
            "cu_kind": design.cu_kind,
            "ku_kind": design.ku_kind,
            "design": layer.design,
            "n_cu": design.n_cu,
            **({"halves": halves} if halves else {}),
        }

    def hardware(self, choice: Choice, layer: Layer, phase: str) -> str:
        """CUs, their size and kind."""
        design = design_of(choice.network, layer)
        updates = phase in ("ku", ONE_PASS)
        kind = f"{design.cu_kind}, by {design.ku_kind}" if updates else design.cu_kind
        halves = list(self.halves(choice, layer, phase).values())
        cus = f"{design.n_cu} CUs of {design.k}x{design.k}"
        if phase == ONE_PASS:
            cus = f"{' + '.join(map(str, halves))} of {cus}"
        elif phase == PAIR:
            designs = [design_of(choice.network, each) for each in fused_layers(choice.network)]
            shares = zip(halves, designs, strict=True)
            cus = " + ".join(f"{n} of {each.n_cu} CUs of {each.k}x{each.k}" for n, each in shares)
        return f"{cus} ({kind})"

    def numbers(self, network: Network, layer: Layer, outputs: Bits) -> Values:
        """Of the network's format."""
        return to_values(outputs, network.fmt)

    def shown(self, choice: Choice, step: Any, result: Result) -> tuple[Values, Values]:
        """Of the groups that ran."""
        assert result.outputs is not None
        group, n, x = choice.group, result.layer.shape.n, step.x(result.layer)
        maps = x if group is None else x[..., group * n : (group + 1) * n]
        fmt = choice.network.fmt
        return to_values(maps[0], fmt), to_values(result.outputs[0], fmt)


def groups_of(layer: Layer, group: int | None) -> Sequence[int]:
    """The groups of a layer that are run."""
    return range(layer.groups) if group is None else (group,)


def _phases(choice: Choice) -> Iterator[tuple[Phase, Sequence[Layer]]]:
    return phases_of(
        choice.network, choice.layers, choice.phases, state=choice.state, before=choice.before
    )


def _group(phase: Phase, layer: Layer, group: int, step: Any) -> Callable[[], RecordedPasses]:
    def passes() -> RecordedPasses:
        yield phase.golden_pass(layer, group, step)

    return passes


def _keep(step: Any, name: str, outputs: Bits) -> None:
    """The next layer takes what the hardware made."""
    step.made[name] = outputs


CNN_MERP = CnnMerp()
