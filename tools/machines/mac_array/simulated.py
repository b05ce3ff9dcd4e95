"""The MAC array's part of a simulation: all passes of a step on one elaboration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from merp.cosim.machines.loader import phase_of
from merp.cosim.machines.mac_array.phases.array_phase import CYCLES, ArrayPhase, usual_rates
from merp.cosim.machines.mac_array.phases.array_step import ArrayStep
from merp.cosim.machines.mac_array.phases.built import check_one_array, check_runs
from merp.cosim.machines.mac_array.phases.step_order import step_order
from merp.models.arithmetic.compiled import Values
from merp.models.arithmetic.fixed import LEAST, MOST, Words, to_numbers, to_words
from merp.models.arithmetic.words import to_values
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.formats import BINARY32
from merp.models.base.given import name_of
from merp.models.golden.loss import LOSSES
from merp.models.machines.mac_array.array_flow import array_cycles
from merp.models.machines.mac_array.fixed_golden_step import FixedGoldenStep
from merp.models.machines.mac_array.fixed_training import Pairs, at_rest, initial_model
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.passes import design_of, fraction_in
from merp.models.network.network import Layer, Network
from merp.tools.common.given_numbers import given_numbers, refuse_first
from merp.tools.common.input_maps import float_maps
from merp.tools.simulate.choice import SimulationChoice
from merp.tools.simulate.result import PassResult
from merp.tools.simulate.simulated import CountedHalf, Numbers, SimulationPlan, Sitting, Turn


class MacArray:
    """The MAC array: an image passes forward and backward before the next image starts."""

    counters = CYCLES
    unit = "MAC"
    counted_halves: Mapping[str, CountedHalf] = {}
    joint = 0

    def input_maps(self, network: Network, images: int, photograph: Path | None) -> Words:
        """Return the words of the photograph, or random words."""
        numbers = to_values(float_maps(network.input, images, BINARY32, photograph), BINARY32)
        return to_words(numbers, network.fixed.input).words

    def words_of(self, where: str, maps: Numbers, network: Network) -> Words:
        """Convert numbers with the fraction of the input: floats are rounded, others must be exact.

        Raises:
            BadInput: another type, or a number that no word represents.
        """
        fraction = network.fixed.input
        if maps.dtype.kind == "u" and maps.dtype.itemsize == 4:
            raise BadInput(f"{where}: type {maps.dtype}, of words: allowed are numbers")
        numbers = given_numbers(where, maps)
        words = to_words(np.nan_to_num(numbers, nan=np.inf), fraction).words
        off = np.abs(to_numbers(words, fraction) - numbers)
        most = 2.0 ** -(fraction + 1) if maps.dtype.kind == "f" else 0.0
        low, high = to_numbers(np.array([LEAST, MOST], np.int16), fraction)
        kept = f"numbers from {low:g} to {high:g}, as fractions: input = {fraction}"
        refuse_first(where, maps, ~(off <= most), kept)
        return words

    def parameters(self, network: Network, seed: int, path: Path | None) -> Pairs:
        """Return initial parameters from the seed."""
        if path is not None:
            raise BadInput(f"{name_of('kernels')}: {network.name} is in fixed point: omit it")
        return initial_model(network, seed).parameters

    def step(
        self, choice: SimulationChoice, image: Words, parameters: Pairs, loss: str = LOSSES[0]
    ) -> ArrayStep:
        """Return a step with arbitrary labels: image i has class i. ``loss`` is one of ``LOSSES``.

        Raises:
            BadInput: layers are on several arrays.
        """
        network, images = choice.network, choice.images
        check_one_array(network, network.layers)
        rates = usual_rates(design_of(network, network.layers[0]), images)
        labels = np.arange(images, dtype=np.int64) % network.layers[-1].biases
        model = at_rest(parameters)
        return ArrayStep(FixedGoldenStep(network, image, labels, model, rates, loss))

    def sittings(self, choice: SimulationChoice, step: ArrayStep) -> Iterator[Sitting]:
        """Yield all turns on one array, which stores masks and positions of maxima of an image.

        Therefore the turns of an image belong together. Gradients, which grow from image to image,
        are stored in memory.
        """
        spans, of_each = [], list(_turns(choice))
        for image in range(choice.images):
            turns = []
            for phase, layer, asked in of_each:
                of_image = "" if choice.images == 1 else f" image {image + 1}"
                said = f"{layer.name} {phase.name}{of_image}"
                passes = partial(phase.passes, layer, image, step)
                turns.append(Turn(phase, layer, said, passes, asked=asked))
            spans.append(turns)
        yield Sitting(spans[0][0].phase.top(choice.array), spans, self.planned(choice).cycles)

    def turns(self, choice: SimulationChoice, layer: Layer) -> int:
        """Return one turn for each image."""
        return choice.images

    def planned(self, choice: SimulationChoice) -> SimulationPlan:
        """Return the numbers of passes, words and cycles of the simulation.

        They include passes that were not requested, but whose results a requested pass needs.
        """
        passes, words, cycles = 0, 0, 0
        for phase, layer, _ in _turns(choice):
            words += sum(phase.words(layer, choice.images).values())
            for image in range(choice.images):
                works = _works(phase, layer, image, choice.images)
                passes += len(works)
                for work in works:
                    design = phase.design
                    flow = array_cycles(work, design, kernel_first=design.kernel_first)
                    cycles += flow.total
        return SimulationPlan(passes, words, cycles)

    def efficiency(self, choice: SimulationChoice, result: PassResult) -> float | None:
        """Return the efficiency of all passes of all images."""
        phase = _phase(choice, result.phase)
        cycles = sum(
            array_cycles(work, phase.design, kernel_first=phase.design.kernel_first).total
            for image in range(choice.images)
            for work in _works(phase, result.layer, image, choice.images)
        )
        return result.layer.operations(choice.images) / 2 / phase.design.macs / cycles

    def halves(self, choice: SimulationChoice, layer: Layer, phase: str) -> dict[str, int]:
        """Return no halves."""
        return {}

    def about(self, choice: SimulationChoice, layer: Layer, phase: str) -> Mapping[str, Any]:
        """Return the numbers of parallel pixels and maps."""
        design = design_of(choice.network, layer)
        return {
            "design": layer.design,
            "pox": design.pox,
            "poy": design.poy,
            "pof": design.pof,
            "macs": design.macs,
        }

    def hardware(self, choice: SimulationChoice, layer: Layer, phase: str) -> str:
        """Return the same as text."""
        design = design_of(choice.network, layer)
        return f"{design.pox}x{design.poy} pixels of {design.pof} maps in parallel"

    def numbers(self, network: Network, layer: Layer, outputs: Bits) -> Values:
        """Convert outputs with the fraction of their maps."""
        words = outputs.astype(np.uint16).view(np.int16)
        return to_numbers(words, network.fixed.of(layer.name).map)

    def shown(
        self, choice: SimulationChoice, step: ArrayStep, result: PassResult
    ) -> tuple[Values, Values]:
        """Convert both arrays with their fractions."""
        assert result.outputs is not None
        layer, network = result.layer, choice.network
        inputs = step.input_of(layer, 0)[0]
        return (
            to_numbers(inputs, fraction_in(network, layer)),
            self.numbers(network, layer, result.outputs[0]),
        )


def _phase(choice: SimulationChoice, name: str) -> ArrayPhase:
    found = phase_of(choice.network, choice.network.layers[0], name, before=choice.before)
    assert isinstance(found, ArrayPhase)
    return found


def _turns(choice: SimulationChoice) -> Iterator[tuple[ArrayPhase, Layer, bool]]:
    """Yield phases and layers of an image in the order of a step, and whether they were requested.

    Raises:
        BadInput: the array does not support a phase.
    """
    order = step_order(choice.network, choice.layers, choice.phases, pooled=choice.before)
    for name, layer, asked in order:
        phase = _phase(choice, name)
        check_runs(phase, layer)
        yield phase, layer, asked


def _works(phase: ArrayPhase, layer: Layer, image: int, images: int) -> tuple[ArrayPass, ...]:
    rates = usual_rates(phase.design, images)
    return phase.works(layer, rates, first=image == 0, last=image == images - 1)


MAC_ARRAY = MacArray()
